"""Prismatic and spherical joints in the kind `berthing`: motion, locks, units, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import tomlkit
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.kinds.berthing.run import build, strike
from dockdyn.kinds.berthing.stiffness import stiffness

TURNED = Rotation.from_rotvec([0.3, -0.2, 0.5])


def body(name, parent, joint, mass, **given):
    mounted = {} if parent is None else {"parent": parent, "joint": joint}
    return {"name": name, **mounted, "mass": mass, "inertia": [0.2 * mass, 0.3 * mass, 0.25 * mass], **given}


def content(**given):
    """An arm of two balls and a slide in space, with control of the slide."""
    links = [
        body("bus", None, None, 200.0),
        body("boom", "bus", "spherical", 9.0, mount=[0.0, 1.0, 0.0], start=[0.3, -0.2, 0.5], centre=[0.6, 0.1, 0.0]),
        body("slide", "boom", "prismatic", 4.0, mount=[1.5, 0.0, 0.0], axis=[1.0, 0.2, 0.0], start=0.2),
        body("hand", "slide", "spherical", 2.0, mount_attitude=TURNED.as_quat(scalar_first=True).tolist()),
    ]
    links[1] |= {"start_rate": [0.02, -0.03, 0.05]}
    links[2] |= {"start_rate": 0.01, "stiffness": "30 N/m"}
    links[3] |= {"start_rate": ["0.1 deg/s", 0.0, 0.2], "coordinate": "wrist"}
    return {
        "schema": 1,
        "kind": "berthing",
        "duration": 2.0,
        "chaser": {"link": links, "rate": [0.01, 0.02, -0.01]},
        "target": {"link": [body("payload", None, None, 50.0)], "velocity": [0.0, -0.3, 0.0]},
        "contact": {"chaser": "hand", "target": "payload", "target_position": [0.1, 0.4, 0.0]},
        "impact": {"law": "pin", "lock": ["wrist"]},
        "control": {"law": "joint-pd", "stiffness": ["20 N/m"], "damping": ["8 N s/m"], "limit": ["0.5 N"]},
        **given,
    }


@pytest.mark.full
def test_balls_and_a_slide_in_space(load):
    """What is free moves, what is locked does not, and nothing is lost but what control takes."""
    dataset = dockdyn.simulate(load(content()))
    summary = dockdyn.summarise(dataset)
    assert summary["linear_momentum_error"] < 1e-10
    assert summary["angular_momentum_error"] < 1e-10
    assert summary["energy_error"] < 1e-8
    assert list(dataset.joint.values) == ["slide"] and list(dataset.ball.values) == ["boom", "wrist"]
    locked = dataset.coordinate_rate.sel(coordinate=["wrist.x", "wrist.y", "wrist.z"])
    assert float(abs(locked).max()) < 1e-12
    wrist, boom = dataset.ball_attitude.sel(ball="wrist").values, dataset.ball_attitude.sel(ball="boom").values
    np.testing.assert_allclose(wrist, np.tile([1.0, 0, 0, 0], (len(wrist), 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(boom[0], TURNED.as_quat(scalar_first=True), rtol=0, atol=1e-15)
    turn = Rotation.from_quat(boom[0], scalar_first=True).inv() * Rotation.from_quat(boom[-1], scalar_first=True)
    assert turn.magnitude() > 0.01
    force = dataset.torque.sel(coordinate="slide").values
    error = dataset.joint_angle.values[:, 0] - 0.2
    rate = dataset.coordinate_rate.sel(coordinate="slide").values
    np.testing.assert_allclose(force, np.clip(-20 * error - 8 * rate, -0.5, 0.5), rtol=0, atol=1e-12)


def test_the_impact_stops_a_locked_ball(load):
    """All three of its rates, and by that the other joints'."""
    scenario = load(content())
    model = build(scenario.content)
    found, state = strike(model)
    names = model.sides[0].tree.names()
    after = dict(zip(names, np.asarray(found.velocities[0]), strict=True))
    before = dict(zip(names, np.asarray(model.sides[0].velocities), strict=True))
    assert before["wrist.z"] == 0.2 and max(abs(after[f"wrist.{axis}"]) for axis in "xyz") < 1e-15
    assert abs(after["boom.z"] - before["boom.z"]) > 1e-3 and float(found.lock_loss) > 0
    balls = np.asarray(state.q[0].balls)
    np.testing.assert_allclose(balls, [TURNED.as_quat(scalar_first=True), [1, 0, 0, 0]], rtol=0, atol=1e-15)


def test_a_quaternion_or_a_rotation_vector(load):
    """Both say the same start; what is written back gives the same again."""
    quaternion = TURNED.as_quat(scalar_first=True).tolist()
    one = load(content()).content.chaser.link[1]
    other = load(content(), {"chaser.link.boom.start": quaternion}).content.chaser.link[1]
    np.testing.assert_allclose(one.attitude(), other.attitude(), rtol=0, atol=1e-15)
    written = load(content()).text()
    assert 'stiffness = "30.0 N/m"' in written and 'start = "0.2 m"' in written
    assert load(tomlkit.parse(written).unwrap()).text() == written


FLAT = {"motion": "planar"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"chaser.link.slide.start": "5 deg"},
            r"chaser.link.slide.start = '5 deg': must be a length \(the joint is prismatic",
        ),
        ({"chaser.link.slide.start_rate": "5 deg/s"}, "start_rate = '5 deg/s': must be a speed"),
        ({"chaser.link.slide.stiffness": "5 N m/rad"}, "stiffness = '5 N m/rad': must be a stiffness.*N/m"),
        ({"chaser.link.slide.damping": -1}, "damping = -1: must be a damping coefficient.*at least 0 N"),
        ({"chaser.link.slide.joint": "revolute"}, "stiffness = '30 N/m': must be a stiffness.*N.m/rad"),
        ({"chaser.link.slide.joint": "locked"}, "start = 0.2: a locked joint has no start"),
        ({"chaser.link.boom.start": [1, 0]}, r"must be a rotation vector \(three angles\) or a unit quaternion"),
        ({"chaser.link.boom.start": [1, 1, 0, 0]}, "within 1e-3 of unit length"),
        ({"chaser.link.boom.start_rate": 0.3}, "must be three rates"),
        ({"chaser.link.boom.start_rate": ["3 m/s", 0, 0]}, "must be an angular rate"),
        ({"chaser.link.boom.stiffness": 3}, "a spherical joint has no stiffness"),
        ({"chaser.link.bus.start": 3}, "the base has no start"),
        ({"chaser.link.bus.mount_attitude": [1, 0, 0, 0]}, "leave out `mount_attitude`"),
        ({"chaser.link.slide.mount_attitude": [1, 1, 0, 0]}, "mount_attitude.*unit length"),
        ({"chaser.link.slide.coordinate": "wrist"}, "two joints have the coordinate 'wrist'"),
        ({"impact.lock": ["hand"]}, "'hand' is no joint"),
        ({"control.stiffness": ["20 N m/rad"]}, r"control.*stiffness.0 = '20 N m/rad'.*N/m.*slide is prismatic"),
        ({"control.limit": [1, 2]}, r"limit: has 2 entries for 1 joints \(slide\)"),
        (FLAT, "link boom: .*spherical joints leave the plane"),
    ],
)
def test_wrong_joints_are_refused_in_one_line(load, changes, words):
    with pytest.raises(dockdyn.ScenarioError, match=words) as caught:
        load(content(), changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"joint": "revolute", "axis": [1.0, 0.0, 0.0]}, "axis of its revolute joint must be along z"),
        ({"joint": "revolute", "mount_attitude": [0.8, 0.6, 0.0, 0.0]}, "axis of its revolute joint must be along z"),
        ({"joint": "prismatic"}, "axis of its prismatic joint must be across z"),
        ({"joint": "locked", "beam": {"length": 1.0, "mass": 1.0, "bending": 9.0}}, "a beam's z axis must be along z"),
    ],
)
def test_what_leaves_the_plane_is_refused(load, given, words):
    turned = [0.8, 0.6, 0.0, 0.0] if "beam" in given else None
    hand = body("hand", "bus", None, 1.0) | given | ({"mount_attitude": turned} if turned else {})
    links = {"chaser": {"link": [body("bus", None, None, 9.0), hand]}, "control": {"law": "none"}, "motion": "planar"}
    with pytest.raises(dockdyn.ScenarioError, match=f"link hand: .*{words}"):
        load(content(**links, impact={"law": "pin"}))


def test_joints_that_turn_the_same_mass_are_refused(load):
    """Two about one axis, with nothing between them: the mass matrix is singular."""
    links = [
        body("bus", None, None, 9.0),
        {"name": "frame", "parent": "bus"},
        body("hand", "frame", "revolute", 1.0),
    ]
    given = {"chaser": {"link": links}, "control": {"law": "none"}, "motion": "planar", "impact": {"law": "pin"}}
    with pytest.raises(dockdyn.ScenarioError, match="chaser frame, chaser hand together move no mass"):
        dockdyn.simulate(load(content(**given)))


def decoupled(**changes):
    """In the plane: a damped hinge at the centres of base and link, and a sprung slide through the centre."""
    links = [
        body("bus", None, None, 200.0),
        body("rotor", "bus", "revolute", 4.0, damping="500 N m s/rad"),
        body("mover", "bus", "prismatic", 5.0, axis=[1.0, 0.0, 0.0], stiffness="30 N/m"),
    ]
    return content(
        motion="planar",
        chaser={"link": links, "velocity": [0.1, 0.0, 0.0]},
        target={"link": [body("payload", None, None, 50.0)]},
        contact={"chaser": "bus", "chaser_position": [1.0, 0.0, 0.0], "target": "payload", "target_radius": "0.5 m"},
        impact={"law": "frictionless", "restitution": 0.3, "normal": [-1.0, 0.0, 0.0]},
        control={"law": "none"},
        **changes,
    )


@pytest.mark.parametrize(
    ("law", "turning", "moving"),
    [
        ({"law": "frictionless", "restitution": 0.3}, 0.25 * (200 + 5), 200 + 4),
        # bus, payload and mover about their common centre, the payload 1.5 m from all the others
        ({"law": "weld"}, 0.25 * (200 + 5 + 50) + 1.5**2 * 209 * 50 / 259, 200 + 4 + 50),
    ],
)
def test_stiffness_of_a_damper_beside_a_spring(load, law, turning, moving):
    """Decay d/J over frequency √(k/μ), J and μ the reduced inertia and mass of what turns and moves against each other."""
    scenario = load(decoupled() | {"impact": {**law, "normal": [-1.0, 0.0, 0.0]}})
    model = build(scenario.content)
    struck, _ = strike(model)
    decay, frequency = 500 * (1 / (0.25 * 4) + 1 / turning), np.sqrt(30 * (1 / 5 + 1 / moving))
    assert stiffness(model, struck, 10.0) == pytest.approx(decay / frequency, rel=1e-9)
