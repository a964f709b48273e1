"""Long steps while nothing touches: the bound holds, and a short touch between two of them is found."""

import jax.numpy as jnp
import numpy as np
import pytest
from mechanism_cases import quaternion, simulated
from plain_tables import by_name, contacts_by_name
from scipy.spatial.transform import Rotation

from dockdyn.mechanism.coasting import LONGEST, time_apart
from dockdyn.results.plan import jit_once

IDLE = {  # nothing acts with it, but it might
    "body": "a",
    "position": [0.0, 0.0, 0.0],
    "direction": [1.0, 0.0, 0.0],
    "force": 0.0,
}
ARM, RADIUS, RATE, TOUCH = 2.0, 0.05, 0.4, 8e-7  # m, m, rad/s, m
SPHERE = 0.3  # m


def sweep(**more):
    """A ball on a long arm sweeps past a soft wall, less than a micrometre in it; each body turns on undisturbed."""
    return {
        "schema": 2,
        "duration": 2.0,
        "body": {
            "arm": {
                "mass": 1e6,
                "inertia": [1e6] * 3,
                "rate": [0.0, 0.0, RATE],
                "attitude": quaternion([0.0, 0.0, -RATE]),
                "feature": {"tip": {"position": [ARM, 0.0, 0.0], "radius": RADIUS}},
            },
            "wall": {
                "mass": 1e6,
                "inertia": [1e6] * 3,
                "surface": {
                    "face": {"shape": "plane", "point": [ARM + RADIUS - TOUCH, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
                },
            },
        },
        "contact": {"tip": {"between": ["tip", "face"], "normal": {"law": "hertz", "stiffness": 1.0, "exponent": 1.0}}},
        **more,
    }


@pytest.mark.full
@pytest.mark.parametrize("push", [{}, {"thruster": {"idle": IDLE | {"body": "arm"}}}], ids=["free", "acting"])
def test_a_touch_shorter_than_a_step_is_found(load, push):
    """It begins and ends where the circle's chord says; on the way there and from there steps are long."""
    data = simulated(load, sweep(**push))
    half = np.arccos(1 - TOUCH / ARM) / RATE
    assert 2 * half < LONGEST / 4
    np.testing.assert_allclose(data.episode_onset, [1.0 - half], rtol=0, atol=1e-8)
    np.testing.assert_allclose(data.episode_release, [1.0 + half], rtol=0, atol=1e-8)
    assert data.attrs["steps"] < 0.6 * 2.0 / 0.005
    short = simulated(load, sweep(integrator={"step": 1e-3}, **push))
    np.testing.assert_allclose(data.episode_peak_force, short.episode_peak_force, rtol=1e-5)


@jit_once
def bound(content):
    model = content.model()
    x = model.initial()
    return time_apart(model, x, model.outputs(jnp.zeros(()), x))


@pytest.mark.full
def test_bodies_on_which_nothing_acts_fly_to_their_contact(load):
    """In a few steps, as two bodies in free flight do, whatever the least step; where something may act, in many."""
    case = sweep(duration=30.0)
    case["body"]["arm"] |= {"rate": [0.0, 0.0, 0.0], "position": [-3.0, 0.0, 0.0], "velocity": [0.15, 0.0, 0.0]}
    case["body"]["arm"]["attitude"] = [1.0, 0.0, 0.0, 0.0]
    free = simulated(load, case)
    np.testing.assert_allclose(free.episode_onset, [(3.0 - TOUCH) / 0.15], rtol=1e-9)
    pushed = simulated(load, case | {"thruster": {"idle": IDLE | {"body": "arm"}}})
    assert free.attrs["steps"] < pushed.attrs["steps"] - 0.9 * 20.0 / LONGEST
    np.testing.assert_allclose(pushed.episode_onset, free.episode_onset, rtol=1e-9)


@pytest.mark.full_cases("8-acting")
@pytest.mark.parametrize("push", [{}, {"thruster": {"idle": IDLE}}], ids=["free", "acting"])
@pytest.mark.parametrize("seed", range(12))
def test_nothing_begins_within_the_time(load, seed, push):
    """Two bodies that fly and turn undisturbed, in closed form: their balls and rods keep off the sphere so long."""
    rng = np.random.default_rng(seed)
    places, velocities, rates = rng.uniform(-1, 1, (2, 3)), rng.normal(size=(2, 3)), 3 * rng.normal(size=(2, 3))
    attitudes = Rotation.random(2, rng=rng)
    places[0] *= (1.2 + rng.exponential(0.2)) / np.linalg.norm(places[0] - places[1])
    tips, centre = rng.uniform(-0.3, 0.3, (4, 3)), rng.uniform(-0.2, 0.2, 3)
    bodies = [
        {
            "name": name,
            "mass": 5.0,
            "inertia": [2.0] * 3,
            "position": place.tolist(),
            "velocity": velocity.tolist(),
            "rate": attitude.inv().apply(rate).tolist(),
            "attitude": attitude.as_quat(scalar_first=True).tolist(),
        }
        for name, place, velocity, rate, attitude in zip("ab", places, velocities, rates, attitudes, strict=True)
    ]
    bodies[0]["feature"] = {
        "tips": {"positions": tips[:2].tolist(), "radius": RADIUS},
        "rod": {"shape": "edge", "points": tips[2:].tolist(), "radius": RADIUS},
    }
    bodies[1]["surface"] = {"ball": {"shape": "sphere", "centre": centre.tolist(), "radius": SPHERE}}
    law = {"normal": {"law": "hertz", "stiffness": 1.0, "exponent": 1.0}}
    contacts = [{"between": [name, "ball"], **law} for name in ("tips", "rod")]
    case = {
        "schema": 2,
        "duration": 1.0,
        "body": by_name(bodies),
        "contact": contacts_by_name(contacts),
        **push,
    }
    promised = float(bound(load(case).content))

    def gap(time):
        moved = places + velocities * time
        turned = [Rotation.from_rotvec(rate * time) * attitude for rate, attitude in zip(rates, attitudes, strict=True)]
        points = np.vstack([tips[:2], tips[2] + np.linspace(0, 1, 41)[:, None] * (tips[3] - tips[2])])
        middle = moved[1] + turned[1].apply(centre)
        away = moved[0] + turned[0].apply(points) - middle
        return np.linalg.norm(away, axis=1).min() - SPHERE - RADIUS

    gaps = np.array([gap(time) for time in np.linspace(0.0, promised, 200)])
    assert 0 < promised <= (LONGEST if push else np.inf) or gap(0.0) <= 0
    assert (gaps[:-1] > 0).all() or gap(0.0) <= 0
