"""FMUs for model exchange of contacts that remember: bristles are states, dents and bonds are decided at events."""

import numpy as np
import pytest
from fmu_files import needs_compiler
from helpers.refusals import refused
from sticking_ball import ball_on_plane

import dockdyn
from dockdyn.exchange.comparison import check_fmu, run_beside
from dockdyn.exchange.fmu import fmu_of, unit_of

HERTZ = {"law": "hertz", "exponent": 1.5, "stiffness": 1e8}
LUGRE = {"law": "lugre", "coefficient": 0.2, "presliding": 2e-5, "retardation_time": 1e-4}
COULOMB = {"law": "coulomb", "coefficient": 0.1}
LAWS = {
    "lugre": (HERTZ, LUGRE),
    "elastic-plastic": (
        {"law": "elastic-plastic", "stiffness": 4e6, "yield_force": 300.0, "plastic_stiffness": 5e5},
        COULOMB,
    ),
    "zener": ({"law": "zener", "stiffness": 1e6, "series_stiffness": 2e6, "relaxation_time": 1e-3}, LUGRE),
    "jkr": ({"law": "jkr", "stiffness": 1e8, "pull_off_force": 10.0}, LUGRE),
}


def check_beside_run(scenario, fmi, file, **allowed):
    """Look that an FMU for model exchange passes the validator, and moves as the run, by as much (SI) as `allowed`."""
    unit = unit_of(scenario, integrated=False)
    file.write_bytes(fmu_of(unit, fmi))
    assert check_fmu(file).findings == []
    dataset = dockdyn.simulate(scenario)
    _, found = run_beside(file, scenario, unit.outputs, dataset)
    for one in unit.outputs:
        if one.variable in allowed:
            known = dataset[one.variable].values[(slice(None), *one.place)]
            assert np.abs(found[one.name] - known).max() < allowed[one.variable], one.name
    return dataset


@needs_compiler
@pytest.mark.full_cases(*(f"{fmi}-{law}" for fmi in (2, 3) for law in LAWS if (fmi, law) != (3, "lugre")))
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("fmi", [2, 3])
def test_bounces_are_those_of_the_run(fmi, law, load, tmp_path):
    """Of a ball that bounces off a plane; FMPy tells of steps at communication points alone."""
    tables = ball_on_plane([0.25, -0.1, -0.4], [3.0, 6.0, -5.0], *LAWS[law])
    scenario = load(tables | {"duration": 0.02, "output": {"interval": 2e-3}})
    dataset = check_beside_run(scenario, fmi, tmp_path / "bounce.fmu", position=1e-8, velocity=1e-6, rate=1e-4)
    assert np.ptp(dataset["velocity"].sel(body="ball", axis="z").values) > 0.4


@needs_compiler
@pytest.mark.full
def test_bristles_turn_with_a_curved_surface(load, tmp_path):
    """A ball slides over another one by a quarter of a radian, and the normal with it."""
    soft = {"law": "spring-dashpot", "stiffness": 1e3}
    tables = ball_on_plane([0.3, 0.1, -0.1], [1.0, 8.0, -5.0], soft, LUGRE | {"presliding": 1e-3})
    tables["body"]["anvil"]["surface"]["top"] = {"shape": "sphere", "centre": [0.0, 0.0, -0.1], "radius": 0.1}
    scenario = load(tables | {"output": {"interval": 2e-3}})
    # CVode's own error, of 1e-10 a step
    dataset = check_beside_run(scenario, 3, tmp_path / "over.fmu", position=5e-7, velocity=5e-6, rate=2e-4)
    normal = dataset["position"].sel(body="ball").values - dataset["position"].sel(body="anvil").values + [0, 0, 0.1]
    pressed = np.linalg.norm(normal, axis=1) < 0.14
    turn = normal[pressed] / np.linalg.norm(normal[pressed], axis=1)[:, None]
    assert np.arccos(turn[-1] @ turn[0]) > 0.2


def test_what_steps_decide_is_refused(load):
    friction = {"law": "stick-slip", "coefficient": 0.2, "stiffness_ratio": 0.8}
    with refused("contact.hit.friction.law = 'stick-slip': decides as steps end what it remembers"):
        unit_of(load(ball_on_plane([0.1, 0.0, -0.4], [0.0, 0.0, 0.0], HERTZ, friction)), integrated=False)
