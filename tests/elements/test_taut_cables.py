"""Cables in space that are exactly as long as their anchors are apart at the start: only rounding says which way they go."""

import numpy as np
import pytest
from plain_tables import acting, by_name
from scipy.spatial.transform import Rotation

import dockdyn

QUICK, COUNT = (0, 1, 2, 3), 60


def turn_of(body):
    return Rotation.from_quat(body["attitude"], scalar_first=True)


def turning(draw, bodies, along):
    """All turn as one about the origin: the cable gets no longer until they part on their tangents."""
    spin = draw.normal(0, 0.1, 3)
    for one in bodies:
        one |= {"velocity": np.cross(spin, one["position"]).tolist(), "rate": turn_of(one).inv().apply(spin).tolist()}
    return []


def sideways(draw, bodies, along):
    """Across the cable, one way and the other."""
    speed = draw.normal(0, 0.1, 3)
    speed -= speed @ along * along
    bodies[0]["velocity"], bodies[1]["velocity"] = speed.tolist(), (-speed).tolist()
    return []


def pushed(draw, bodies, along):
    """At rest, and pushed away along the cable by a thruster."""
    push = {"kind": "thruster", "name": "jet", "body": "b1", "position": [0.0] * 3, "force": draw.uniform(0.01, 5)}
    return [push | {"direction": turn_of(bodies[1]).inv().apply(along).tolist()}]


def free(draw, bodies, along):
    """Any motion."""
    for one in bodies:
        one |= {"velocity": draw.normal(0, 0.05, 3).tolist(), "rate": draw.normal(0, 0.1, 3).tolist()}
    return []


MOTIONS = (turning, sideways, pushed, free)


def taut(seed, slack=0.0):
    """Two bodies with a cable between them that is `slack` (m) longer than the way."""
    draw = np.random.default_rng([54, seed])
    bodies = [
        {
            "name": f"b{number}",
            "mass": draw.uniform(5, 50),
            "inertia": draw.uniform(2, 3, 3).tolist(),
            "position": (draw.normal(size=3) + np.array([3.0 * number, 0, 0])).tolist(),
            "attitude": Rotation.random(rng=draw).as_quat(scalar_first=True).tolist(),
        }
        for number in range(2)
    ]
    anchors = draw.uniform(-0.5, 0.5, (2, 3))
    ends = [np.array(one["position"]) + turn_of(one).apply(anchor) for one, anchor in zip(bodies, anchors, strict=True)]
    way = ends[1] - ends[0]
    length = float(np.linalg.norm(way))
    cable = {"kind": "cable", "name": "line", "between": ["b0", "b1"], "anchor": anchors.tolist()}
    cable |= {"free_length": length + slack, "stiffness": 10 ** draw.uniform(1, 5)}
    cable |= {"damping": draw.integers(2) * 10 ** draw.uniform(-1, 2.5)}
    more = MOTIONS[seed % len(MOTIONS)](draw, bodies, way / length)
    content = {"schema": 2, "duration": 2.0, "body": by_name(bodies), **acting(cable, *more)}
    return content | {"integrator": {"tolerance": 1e-10}}


@pytest.mark.full_cases("0", "2", "1")
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.full] * (seed not in QUICK)) for seed in range(COUNT)]
)
def test_a_cable_that_is_just_taut_is_the_limit_of_one_that_is_a_little_slack(seed):
    run, slack = dockdyn.simulate(taut(seed)), dockdyn.simulate(taut(seed, 1e-10))
    assert run.attrs["finished"] and slack.attrs["finished"]
    assert dockdyn.summarise(run)["work_energy_error"] < 1e-8
    assert dockdyn.summarise(run)["linear_momentum_error"] < 1e-11
    way = np.abs(run.position.values - run.position.values[0]).max()
    np.testing.assert_allclose(run.position, slack.position, rtol=0, atol=1e-6 * way)
