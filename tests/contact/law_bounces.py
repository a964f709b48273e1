"""Two bodies that meet along a line, for tests of contact laws: everything is known beforehand.

Two bodies of reduced mass m close at speed v along a line through both centres of mass, so depth d obeys m d̈ = −f(d, ḋ).

The integrator keeps the relative error of a step below 1e-10 where the force is smooth, and a contact takes a hundred steps
or more: 1e-8 is asked for. Laws that start as d^1.5 or have kinks say so beside their test.
"""

import numpy as np
import pytest
from plain_tables import contacts_by_name
from scipy.spatial.transform import Rotation

import dockdyn

SMOOTH = 1e-8  # relative
ONSET = 0.05  # s
DURATION = 3.0  # s


def scene(masses, speed, normal_law, friction=None, duration=DURATION):
    """A point of the chaser meets a plane of the target after ONSET, along a line that no axis shares."""
    line = np.array([0.48, -0.6, 0.64])
    turns = [Rotation.from_rotvec([0.3, -1.1, 0.7]), Rotation.from_rotvec([-0.9, 0.2, 1.6])]
    attitudes = [turn.as_quat(scalar_first=True) for turn in turns]
    far, ahead, origin = 0.9, 0.7, np.array([0.3, 0.1, -0.2])  # m
    drift = np.array([0.02, -0.01, 0.03])  # m/s
    contact = {"between": ["tip", "wall"], "normal": normal_law}
    if friction is not None:
        contact["friction"] = friction
    return {
        "schema": 2,
        "duration": duration,
        "chaser": {
            "mass": masses[0],
            "inertia": [80, 90, 100],
            "position": origin + line * (far + ahead + speed * ONSET),
            "velocity": drift - 0.7 * speed * line,
            "attitude": attitudes[0],
            "feature": {"tip": {"position": turns[0].inv().apply(-far * line)}},
        },
        "target": {
            "mass": masses[1],
            "inertia": [200, 150, 180],
            "position": origin,
            "velocity": drift + 0.3 * speed * line,
            "attitude": attitudes[1],
            "surface": {
                "wall": {
                    "shape": "plane",
                    "point": turns[1].inv().apply(ahead * line),
                    "normal": turns[1].inv().apply(line),
                }
            },
        },
        "contact": contacts_by_name([contact]),
        "output": {"interval": 0.1},
    }, line


def bounce(run, masses, speed, normal_law, duration=DURATION):
    """The summary's only contact, and the speed of separation at the end over the closing speed."""
    content, line = scene(masses, speed, normal_law, duration=duration)
    dataset = run(content)
    assert dataset.attrs["finished"], dataset.attrs["status"]
    (contact,) = dockdyn.summarise(dataset)["contacts"]
    assert contact["onset_s"] == pytest.approx(ONSET, rel=1e-12)
    assert contact["approach_speed_m_s"] == pytest.approx(speed, rel=1e-12)
    assert np.abs(dataset.rate.values).max() < 1e-12
    velocity = dataset.velocity.values[-1]
    return contact, float((velocity[0] - velocity[1]) @ line) / speed


def reduced(masses):
    return masses[0] * masses[1] / sum(masses)
