"""Derivatives of runs by the methods adaptive and implicit: beside central differences, what is struck at t = 0 included."""

import numpy as np
import pytest
from plain_tables import by_name

import dockdyn
from dockdyn.results.linearised import Numbers, slopes_along
from dockdyn.scenario.setups import setup_named

STRUCK = {"law": "newton", "restitution": 0.4, "friction": 0.1}


def swinging(seed, struck=False):
    """A base with two links on springs and dampers, drawn at random; a ball that touches the last one at t = 0 strikes it."""
    draw = np.random.default_rng([96, seed])
    bodies = [{"name": "base", "mass": draw.uniform(20, 60), "inertia": [12.0, 14.0, 16.0]}]
    bodies[0] |= {"rate": draw.uniform(-0.1, 0.1, 3).tolist()}
    for number in (1, 2):
        axis = draw.normal(size=3)
        joint = {
            "kind": "revolute",
            "axis": axis.tolist(),
            "position": [0.4, 0.0, 0.0],
            "start": draw.uniform(-0.3, 0.3),
        }
        joint |= {
            "start_rate": draw.uniform(-0.3, 0.3),
            "stiffness": draw.uniform(2, 20),
            "damping": draw.uniform(0.1, 2),
        }
        link = {
            "name": f"link{number}",
            "on": bodies[-1]["name"],
            "mass": draw.uniform(2, 9),
            "inertia": [0.3, 0.4, 0.5],
        }
        bodies.append(link | {"position": [0.9, draw.uniform(-0.1, 0.1), 0.05], "joint": joint})
    content = {"schema": 2, "duration": 1.5, "output": {"interval": 0.1}}
    content["integrator"] = {"method": "adaptive", "tolerance": 1e-12}
    if struck:
        for one in bodies[1:]:
            one["joint"] |= {"start": 0.0}
        tip = np.array([0.0, 0.0, 0.2])
        place = sum((np.array(one["position"]) for one in bodies[1:]), np.zeros(3)) + tip
        bodies[2]["feature"] = {"tip": {"position": tip.tolist()}}
        wall = {"name": "wall", "mass": 30.0, "inertia": [2.0, 2.0, 2.0], "position": place.tolist()}
        wall |= {"velocity": [0.0, 0.1, -0.9]}
        wall["surface"] = {"face": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, -1]}}
        bodies.append(wall)
        content["contact"] = {"hit": {"between": ["tip", "face"], "impact": STRUCK}}
    return dockdyn.load(content | {"body": by_name(bodies)})


def figures(run):
    ends = {f"angle {n}": float(run.joint_angle[-1, n]) for n in range(2)}
    ends |= {f"rate {axis}": float(run.rate[-1, 0, axis]) for axis in range(3)}
    return ends | {"energy": float(run.kinetic_energy[-1]), "work": float(run.work[-1])}


def figures_with_slopes(scenario, key):
    """What a run ends with, and its derivatives."""
    own = Numbers.of(scenario.content)
    direction = (own.values == dict_value(scenario, key)).astype(float)
    assert direction.sum() == 1
    return slopes_along(setup_named("mechanism").linearised(scenario), own.values, direction, figures)


def held_against_differences(scenario, key, by):
    """Derivatives of what a run ends with, and central differences."""
    value, (found, slopes) = dict_value(scenario, key), figures_with_slopes(scenario, key)
    up, down = (figures(dockdyn.simulate(scenario.at({key: value * (1 + side * by)}))) for side in (1, -1))
    assert found == pytest.approx(figures(dockdyn.simulate(scenario)), rel=1e-9, abs=1e-12)
    sizes = {name: abs((up[name] - down[name]) / (2 * value * by)) for name in slopes}
    assert max(sizes.values()) > 1e-4
    for name, slope in slopes.items():
        assert slope == pytest.approx(
            (up[name] - down[name]) / (2 * value * by), rel=1e-5, abs=1e-6 * max(sizes.values())
        ), name


def dict_value(scenario, key):
    body, *rest = key.removeprefix("body.").split(".")
    one = scenario.content.named(body)
    for part in rest:
        one = getattr(one, part)
    return one


CASES = [
    (seed, struck, key)
    for seed, struck in ((0, False), (1, False), (2, True), (3, True))
    for key in ("body.link1.joint.stiffness", "body.link2.mass", "body.link2.joint.start_rate")
]


@pytest.mark.full
@pytest.mark.parametrize(("seed", "struck", "key"), CASES)
def test_derivatives_are_differences_of_runs(seed, struck, key):
    held_against_differences(swinging(seed, struck), key, 1e-4)


@pytest.mark.full
@pytest.mark.parametrize(("seed", "struck", "key"), [CASES[1], CASES[6]])
def test_derivatives_by_the_implicit_method_are_differences_of_runs(seed, struck, key):
    """Of a run by the explicit one, too, which takes other steps."""
    explicit = swinging(seed, struck)
    implicit = explicit.at({"integrator.method": "implicit", "integrator.tolerance": 1e-10})
    held_against_differences(implicit, key, 1e-4)
    found, other = (figures_with_slopes(one, key)[1] for one in (implicit, explicit))
    size = max(map(abs, other.values()))
    assert found == {name: pytest.approx(slope, rel=1e-6, abs=1e-7 * size) for name, slope in other.items()}
