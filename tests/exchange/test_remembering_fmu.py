"""FMUs for model exchange of contacts that remember: stretches are states, slipping, dents and bonds are decided at events."""

import numpy as np
import pytest
from explicit_host import ExplicitHost
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
    "stick-slip": (HERTZ, {"law": "stick-slip", "coefficient": 0.2, "stiffness_ratio": 0.8}),
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


FOOT = 0.02  # m
SOFT = {"law": "hertz", "exponent": 1.5, "stiffness": 2e6}
SEVERAL = {
    "lugre": (SOFT, LUGRE),
    "elastic-plastic": (
        {"law": "elastic-plastic", "stiffness": 4e5, "yield_force": 20.0, "plastic_stiffness": 5e4},
        COULOMB,
    ),
    "zener": ({"law": "zener", "stiffness": 1e5, "series_stiffness": 2e5, "relaxation_time": 1e-3}, LUGRE),
    "jkr": ({"law": "jkr", "stiffness": 5e6, "pull_off_force": 1.0}, LUGRE),
    "stick-slip": (
        {"law": "spring-dashpot", "stiffness": 1e5, "damping": 20.0},
        {"law": "stick-slip", "coefficient": 0.3, "stiffness": 5e4},
    ),
}


def block_on_feet(normal, friction):
    """A block that comes down on its four feet one after the other."""
    corners = [[x, y, -FOOT] for x in (-0.05, 0.05) for y in (-0.04, 0.04)]
    tables = ball_on_plane([0.2, -0.1, -0.3], [0.8, 1.1, 2.0], normal, friction)
    body = tables["body"]["ball"] | {"inertia": [2e-3, 2.5e-3, 3e-3], "position": [0.0, 0.0, 2 * FOOT + 2e-4]}
    tables["body"]["ball"] = body | {"feature": {"tip": {"positions": corners, "radius": FOOT}}}
    return tables | {"duration": 0.02, "output": {"interval": 2e-3}, "integrator": {"tolerance": 1e-11}}


@needs_compiler
@pytest.mark.full
@pytest.mark.parametrize("law", SEVERAL)
def test_each_of_several_pairs_remembers(law, load, tmp_path):
    allowed = {"position": 1e-8, "velocity": 1e-6, "rate": 2e-5}
    dataset = check_beside_run(load(block_on_feet(*SEVERAL[law])), 3, tmp_path / "feet.fmu", **allowed)
    assert np.ptp(dataset["velocity"].sel(body="ball", axis="z").values) > 0.2


STICKING = {
    "sliding straight on": ([0.25, 0.0, -0.4], [0.0, 6.0, 0.0], HERTZ, {}),
    "sliding that turns": ([0.25, -0.1, -0.4], [3.0, 6.0, -5.0], HERTZ, {"rolling": 1e-3, "spinning": 1e-3}),
    "one spring": (
        [0.25, -0.1, -0.4],
        [3.0, 6.0, -5.0],
        {"law": "spring-dashpot", "stiffness": 1e6},
        {"stiffness": 4e5, "static_coefficient": 0.3, "stribeck_speed": 0.02},
    ),
}


@pytest.mark.full_cases("sliding straight on", "sliding that turns")
@pytest.mark.parametrize("way", STICKING)
def test_an_explicit_host_that_stops_at_events_finds_where_slices_stick(way, load):
    """However closely it integrates, and on whichever side of an event it stops."""
    velocity, rate, normal, more = STICKING[way]
    friction = (
        {"law": "stick-slip", "coefficient": 0.2} | ({} if "stiffness" in more else {"stiffness_ratio": 0.8}) | more
    )
    tables = ball_on_plane(velocity, rate, normal, friction)
    scenario = load(tables | {"duration": 0.006, "output": {"interval": 1e-3}, "integrator": {"tolerance": 1e-13}})
    dataset, unit = dockdyn.simulate(scenario), unit_of(scenario, integrated=False)
    host = ExplicitHost(unit)
    for tolerance, early in ((1e-8, False), (1e-10, True)):
        found, events = host.integrate(dataset.time.values, tolerance, early)
        assert events > 2
        for one in unit.outputs:
            if one.variable in ("position", "velocity"):
                known = dataset[one.variable].values[(slice(None), *one.place)]
                assert np.abs(found[one.name] - known).max() < {"position": 1e-8, "velocity": 1e-6}[one.variable]


TURNING, TILT, WIDE, HIGH = 0.8, 0.4, 0.1, 0.06  # rad/s, rad, m, m


def test_bristles_that_part_and_touch_again_under_a_pin_are_straight(load):
    """Of a rim that a pin holds at its middle above a plane, and that turns from one side over none to the other: energy of
    bristles at depths and slidings that are known."""
    rim = {"shape": "circle", "centre": [0, 0, 0], "normal": [0, 0, 1], "major_radius": WIDE, "radius": 0.05}
    normal, friction = (
        {"law": "spring-dashpot", "stiffness": 2e3},
        {"law": "lugre", "coefficient": 0.3, "presliding": 0.02},
    )
    content = {
        "schema": 2,
        "duration": 1.15,
        "body": {
            "a": {"mass": 10.0, "inertia": [1.0] * 3, "position": [0, 0, HIGH], "rate": [0, -TURNING, 0]}
            | {"attitude": {"axis": [0, 1, 0], "angle": TILT}, "feature": {"rim": rim}},
            "b": {"fixed": True, "surface": {"floor": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}}},
        },
        "contact": {"c": {"between": ["rim", "floor"], "normal": normal, "friction": friction}},
        "connection": {"pin": {"between": ["a", "b"], "anchor": [[0, 0, 0], [0, 0, HIGH]], "grip": "pin"}},
        "output": {"interval": 0.005},
    }
    scenario = load(content)
    dataset, unit = dockdyn.simulate(scenario), unit_of(scenario, integrated=False)
    found, _ = ExplicitHost(unit).integrate(dataset.time.values, 1e-9)
    assert dataset["depth"].values[:, 0].min() < -5e-3
    (name,) = [one.name for one in unit.outputs if one.variable == "contact_energy"]
    known = dataset["contact_energy"].values[:, 0]
    # where it touches again is no event of the run
    np.testing.assert_allclose(found[name], known, atol=1e-3 * known.max())


def test_what_steps_decide_is_refused(load, own_files):
    own_files({"mine.py": OWN})
    normal = {"law": "mine:Counts", "stiffness": 1e5}
    with refused("contact.hit.normal.law = 'mine:Counts': decides as steps end what it remembers"):
        unit_of(load(ball_on_plane([0.1, 0.0, -0.4], [0.0, 0.0, 0.0], normal, COULOMB)), integrated=False)


OWN = """
import dockdyn
import jax.numpy as jnp


class Counts(dockdyn.NormalLaw):
    stiffness: float

    def first_memory(self):
        return jnp.zeros(())

    def after(self, memory):
        return self

    def renewed(self, memory, depth):
        return memory + 1.0

    def force(self, depth, rate):
        return self.stiffness * depth
"""
