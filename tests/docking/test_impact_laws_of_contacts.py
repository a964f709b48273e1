"""Impact laws on contacts: beside `dockdyn.impact` on mass matrices written down here, with joints as constraints."""

import numpy as np
import pytest
from struck_states import RADIUS, impacts, struck_arm

from dockdyn import impact

LAWS = {
    "newton": {"restitution": 0.4, "friction": 0.2},
    "energetic": {"restitution": 0.6, "friction": 0.3},
    "poisson": {"restitution": 0.3, "friction": 0.6},
    "frictionless": {"restitution": 0.8},
    "energy-friction": {"energy_ratio": 0.97, "friction_ratio": 0.9},
}
CASES = [(law, joints) for law in LAWS for joints in (0, 2)]
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 10))]


def row(here, first, other, point, axis):
    """J of the velocity of the first body against the other at a point along an axis, of velocities and rates of all."""
    found = np.zeros((len(here.position), 6))
    for body, sign in ((first, 1.0), (other, -1.0)):
        lever = point - here.position[body]
        found[body] = sign * np.concatenate([axis, here.turn[body].T @ np.cross(lever, axis)])
    return found.ravel()


def turning(here, first, other, axis):
    """J of the rate of the first body against the other about an axis."""
    found = np.zeros((len(here.position), 6))
    for body, sign in ((first, 1.0), (other, -1.0)):
        found[body, 3:] = sign * here.turn[body].T @ axis
    return found.ravel()


def joint_rows(content, here):
    """Five rows that each joint forbids: the place of the joint, and turning across its axis."""
    found, names = [], list(content["body"])
    for number, body in enumerate(content["body"].values()):
        if "joint" not in body:
            continue
        carrier = names.index(body["on"])
        point = here.position[carrier] + here.turn[carrier] @ np.array(body["joint"]["position"])
        axis = here.turn[carrier] @ np.array(body["joint"]["axis"])
        found += [row(here, number, carrier, point, one) for one in np.eye(3)]
        across = np.linalg.svd(axis[None])[2][1:]
        found += [turning(here, number, carrier, one) for one in across]
    return np.array(found) if found else None


def mass_matrix(content):
    found = np.zeros((6 * len(content["body"]),) * 2)
    for number, body in enumerate(content["body"].values()):
        at = 6 * number
        found[at : at + 3, at : at + 3] = body["mass"] * np.eye(3)
        found[at + 3 : at + 6, at + 3 : at + 6] = body["inertia"]
    return found


def contact_rows(content, here):
    """Rows along the plane's normal and two tangents, where the ball is deepest."""
    tip, last = len(content["body"]) - 2, len(content["body"]) - 1
    (ball,), (plane,) = (
        list(content["body"].values())[n][what].values() for n, what in ((tip, "feature"), (last, "surface"))
    )
    normal = here.turn[last] @ np.array(plane["normal"])
    centre = here.position[tip] + here.turn[tip] @ np.array(ball["position"])
    axes = [normal, *np.linalg.svd(normal[None])[2][1:]]
    return np.array([row(here, tip, last, centre - RADIUS * normal, axis) for axis in axes])


def momenta(content, here):
    """Linear momentum and that about the origin of places, and how large their parts are."""
    masses = np.array([body["mass"] for body in content["body"].values()])[:, None]
    spins = [
        turn @ (np.array(body["inertia"]) @ rate)
        for turn, body, rate in zip(here.turn, content["body"].values(), here.rate, strict=True)
    ]
    linear, angular = masses * here.velocity, np.cross(here.position, masses * here.velocity) + np.array(spins)
    return linear.sum(axis=0), angular.sum(axis=0), np.abs(linear).sum(), np.abs(angular).sum()


@pytest.mark.full_cases("0-energy-friction-0")
@pytest.mark.parametrize(
    ("law", "joints"),
    [pytest.param(*case, marks=[pytest.mark.full] * (case != ("energy-friction", 0))) for case in CASES],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_contact_is_struck_as_by_the_mass_matrix(seed, joints, law):
    content = struck_arm(np.random.default_rng([60, seed]), {"law": law, **LAWS[law]}, joints)
    (_, before, after), *_ = impacts(content)
    mass, rows, held = mass_matrix(content), contact_rows(content, before), joint_rows(content, before)
    moving = before.motion().ravel()
    if held is None:
        matrix = impact.contact_matrix(rows, mass)
    else:
        assert np.abs(held @ moving).max() < 1e-12
        matrix = impact.constrained_contact_matrix(rows, mass, held)
    name = {"energy-friction": "energy-pair"}.get(law, law)
    expected = impact.resolve_impact(name, matrix, rows @ moving, **LAWS[law])
    changed = moving + np.asarray(impact.velocity_jump(rows, mass, expected.impulse, held))
    np.testing.assert_allclose(after.motion().ravel(), changed, rtol=1e-10, atol=1e-11)
    assert after.impulse[0] - before.impulse[0] == pytest.approx(float(expected.impulse[0]), rel=1e-10)
    loss = 0.5 * (moving @ mass @ moving - changed @ mass @ changed)
    assert before.work - after.work == pytest.approx(loss, rel=1e-9)
    was, now = momenta(content, before), momenta(content, after)
    assert np.abs(was[0] - now[0]).max() < 1e-12 * was[2]
    assert np.abs(was[1] - now[1]).max() < 1e-12 * was[3]
