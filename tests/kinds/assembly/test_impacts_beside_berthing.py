"""A payload that flies onto the hand of an arm: the impact in an assembly beside that of the kind berthing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from struck_states import impacts

import dockdyn
from dockdyn.programs import Program

HAND, RADIUS = np.array([1.0, 0.0, 0.0]), 1.1  # m, on the last link; of the payload's ball
LAWS = {
    "energy-friction": ({"r_e": 0.6, "r_f": 0.4}, {"energy_ratio": 0.6, "friction_ratio": 0.4}),
    "energetic": ({"restitution": 0.5, "friction": 0.3},) * 2,
}


def random_link(draw, name, mass):
    turn = Rotation.random(rng=draw).as_matrix()
    return {
        "name": name,
        "mass": mass,
        "inertia": (turn @ np.diag(mass * draw.uniform(0.2, 0.35, 3)) @ turn.T).tolist(),
    }


def berthing(draw, law):
    """An arm of two joints on a spacecraft at rest, and a payload that comes towards its hand."""
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
                "start_rate": draw.uniform(-0.01, 0.01),
            }
        )
    content = {
        "schema": 1,
        "kind": "berthing",
        "duration": 1.0,
        "chaser": {"link": [random_link(draw, "sc", 1000.0), *links]},
        "target": {"link": [random_link(draw, "payload", 200.0)], "rate": draw.uniform(-0.02, 0.02, 3).tolist()},
        "contact": {"chaser": "fore", "chaser_position": HAND.tolist(), "target": "payload", "target_radius": RADIUS},
        "impact": {"law": law, "normal": "hand", **LAWS[law][0]},
    }
    normal = np.asarray(dockdyn.load(content).content.model().normal)
    content["target"]["velocity"] = (0.2 * normal + draw.uniform(-0.02, 0.02, 3)).tolist()
    return content


def assembly(content, model):
    """The same bodies by their centres of mass, the payload where it touches the hand."""
    law, links = content["impact"]["law"], content["chaser"]["link"]
    centre, bodies = np.zeros(3), [{key: links[0][key] for key in ("name", "mass", "inertia")}]
    for link in links[1:]:
        mount, own = np.asarray(link["mount"]) - centre, np.asarray(link["centre"])
        joint = {"kind": "revolute", "axis": link["axis"], "position": mount.tolist()}
        joint |= {"start": link["start"], "start_rate": link["start_rate"]}
        body = {key: link[key] for key in ("name", "mass", "inertia")}
        bodies.append(body | {"on": link["parent"], "position": (mount + own).tolist(), "joint": joint})
        centre = own
    bodies[-1]["feature"] = [{"name": "hand", "position": (HAND - centre).tolist(), "radius": 0.0}]
    target = model.sides[1].configuration
    turn = Rotation.from_quat(np.asarray(target.attitude), scalar_first=True)
    bodies.append(
        {key: content["target"]["link"][0][key] for key in ("name", "mass", "inertia")}
        | {
            "position": (np.asarray(target.position) - np.asarray(model.sides[0].configuration.position)).tolist(),
            "attitude": turn.as_quat(scalar_first=True).tolist(),
            "velocity": turn.apply(np.asarray(model.sides[1].velocities)[:3]).tolist(),
            "rate": np.asarray(model.sides[1].velocities)[3:6].tolist(),
            "surface": [{"name": "ball", "shape": "sphere", "centre": [0, 0, 0], "radius": RADIUS}],
        }
    )
    contact = {"feature": "hand", "surface": "ball", "impact": {"law": law, **LAWS[law][1]}}
    return {"schema": 1, "kind": "assembly", "duration": 0.01, "body": bodies, "contact": [contact]}


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 5))])
@pytest.mark.parametrize("law", ["energy-friction", pytest.param("energetic", marks=pytest.mark.full)])
def test_the_hand_is_struck_as_in_a_berthing(law, seed):
    content = berthing(np.random.default_rng([61, seed]), law)
    model = dockdyn.load(content).content.model()
    expected = Program(lambda model: model.struck())(model)
    (time, _, after), *_ = impacts(assembly(content, model))
    assert time == 0.0
    chaser, target = (np.asarray(one) for one in expected.velocities)
    for body, speeds in ((0, chaser), (3, target)):
        np.testing.assert_allclose(after.velocity[body], after.turn[body] @ speeds[:3], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(after.rate[body], speeds[3:6], rtol=1e-10, atol=1e-12)
    assert after.impulse[0] == pytest.approx(float(expected.impact.impulse[0]), rel=1e-10)
    assert -after.work == pytest.approx(float(expected.impact.energy_loss), rel=1e-9)
