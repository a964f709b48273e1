"""Captures as rows of the mechanism, beside those that berthing has by equations of its own."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from mechanisms import added, random_inertia, twists, vector

import dockdyn
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.moving_bodies import MovingBodies
from dockdyn.mechanism.connections import Connection
from dockdyn.mechanism.strikes import stop, strike


def random_link(draw, name, mass):
    return {"name": name, "mass": mass, "inertia": random_inertia(draw, mass).tolist()}


def random_berthing(draw, law):
    """An arm of two joints that takes a payload at its hand, as a berthing."""
    base, payload = random_link(draw, "sc", 1000.0), random_link(draw, "payload", 200.0)
    links = []
    for name, parent, mass in (("upper", "sc", 15.0), ("fore", "upper", 12.0)):
        axis = draw.normal(size=3)
        links.append(
            random_link(draw, name, mass)
            | {
                "parent": parent,
                "axis": (axis / np.linalg.norm(axis)).tolist(),
                "mount": draw.uniform(-1, 1, 3).tolist(),
                "centre": draw.uniform(-0.5, 0.5, 3).tolist(),
                "start": draw.uniform(-1, 1),
                "start_rate": draw.uniform(-0.1, 0.1),
            }
        )
    return {
        "schema": 1,
        "kind": "berthing",
        "duration": 1.0,
        "chaser": {"link": [base, *links]},
        "target": {
            "rate": draw.uniform(-0.02, 0.02, 3).tolist(),
            "velocity": draw.uniform(-0.02, 0.02, 3).tolist(),
            "link": [payload],
        },
        "contact": {
            "chaser": "fore",
            "chaser_position": [1.0, 0.0, 0.0],
            "target": "payload",
            "target_radius": 1.1,
        },
        "impact": {"law": law, "normal": "hand"},
    }


def same_bodies(content, model):
    """The bodies of a berthing as a mechanism: by their centres of mass, the target's last."""
    links = content["chaser"]["link"]
    bodies = [RigidBody.of(one["mass"], jnp.asarray(one["inertia"])) for one in (*links, *content["target"]["link"])]
    level, centre, joints = Quaternion.of(jnp.array([1.0, 0.0, 0.0, 0.0])), np.zeros(3), []
    for number, link in enumerate(links[1:]):
        mount, own = vector(np.asarray(link["mount"]) - centre), np.asarray(link["centre"])
        joints.append(Joint(level, mount, vector(own), vector(link["axis"]), jnp.zeros(()), "revolute", number, number))
        centre = own
    moving = MovingBodies(tuple(bodies), (JointedBodies(tuple(bodies[:3]), tuple(joints), (0, 1, 2)),))
    still = Twist(vector(np.zeros(3)), vector(np.zeros(3)))
    base, target = (
        Pose(seen(side.configuration.position), Quaternion.of(side.configuration.attitude)) for side in model.sides
    )
    speeds = model.sides[1].velocities
    turn = target.attitude.matrix()
    payload = Twist(turn @ seen(speeds[:3]), seen(speeds[3:6]))
    motions = [(jnp.asarray(link["start"]), jnp.asarray(link["start_rate"])) for link in links[1:]]
    return moving, *moving.begun([base, base, base, target], [still, still, still, payload], motions)


def seen(numbers):
    return vector(np.asarray(numbers))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("law", ["pin", "weld"])
def test_a_hand_that_takes_a_payload(law, seed):
    draw = np.random.default_rng([55, seed])
    content = random_berthing(draw, law)
    model = dockdyn.load(content).content.model()
    moving, q, v = same_bodies(content, model)
    here = moving.placed(q, v)
    hand = np.array([1.0, 0.0, 0.0]) - np.asarray(content["chaser"]["link"][2]["centre"])
    connection = Connection(jnp.asarray(hand), 2, 3, law)
    after = twists(moving, q, added(v, strike(moving, here, connection.rows(here.bodies), stop).change))
    chaser, target = (np.asarray(one) for one in model.struck().velocities)
    base, payload = here.bodies[0].rotation.array(), here.bodies[3].rotation.array()
    assert np.asarray(after[0]) == pytest.approx(np.r_[base @ chaser[:3], chaser[3:6]], abs=1e-14)
    assert np.asarray(after[3]) == pytest.approx(np.r_[payload @ target[:3], target[3:6]], abs=1e-14)
