"""Joints of a mechanism: balances, welds, hinges beside stiff bushings, frames, phases, what is refused."""

import numpy as np
import pytest
from mechanism_cases import (
    FOUR,
    PARTS,
    THREE,
    changed,
    energy_error,
    momentum_error,
    motion,
    moved,
    quaternion,
    simulated,
)
from plain_tables import acting
from scipy.spatial.transform import Rotation

from dockdyn.pages import report_html
from dockdyn.report.wording import format_significant

DELAY = {"loop": {"delay": 0.02}}
ELBOW = {
    "kind": "revolute",
    "position": [0.8, 0.0, 0.0],
    "axis": [0.2, 1.0, 0.3],
    "stiffness": 120.0,
    "damping": 4.0,
    "friction": 0.1,
    "regularisation": 0.01,
    "rest": 0.1,
    "start": 0.15,
    "start_rate": -0.2,
    "moved_inertia": 1.5,
    "torque": 3.0,
    "stroke": [-0.05, 0.16],
    "stop_stiffness": 900.0,
    "stop_damping": 8.0,
}
BOOM = {
    "on": "arm",
    "mass": 6.0,
    "inertia": [0.3, 0.4, 0.5],
    "position": [0.0, -0.3, 0.4],
    "attitude": quaternion([0.3, 0.1, -0.2]),
    "joint": {
        "kind": "prismatic",
        "axis": [0.0, 0.3, 1.0],
        "stiffness": 60.0,
        "damping": 2.0,
        "force": 4.0,
        "moved_mass": 3.0,
        "start_rate": 0.1,
    },
}
LEAF = {
    "on": "target",
    "mass": 15.0,
    "inertia": [2.0, 1.0, 2.5],
    "position": [1.2, 0.2, 0.1],
    "joint": {"kind": "revolute", "position": [0.5, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "stiffness": 3.0},
}
PLATE = {
    "on": "boom",
    "mass": 3.0,
    "inertia": [0.2, 0.1, 0.2],
    "position": [0.1, 0.0, 0.3],
    "joint": {"kind": "locked"},
}


MOVING = {"moved_mass": 5.0}


def tied(case):
    """Four bodies with the arm on a hinge, and further links on arm and target; struts with reflected inertia close loops."""
    found = changed(case)
    found["body"]["arm"]["joint"] = ELBOW
    found["body"] |= {"boom": BOOM, "leaf": LEAF, "plate": PLATE}
    found["strut"]["rod"]["moved_mass"] = 8.0
    found["strut"] |= {
        "brace": {
            "moved_mass": 5.0,
            "between": ["plate", "tug"],
            "anchor": [[0.0, 0.1, 0.0], [0.3, 0.2, 0.3]],
            "stiffness": 90.0,
        },
        "stay": {
            "moved_mass": 5.0,
            "between": ["leaf", "visitor"],
            "anchor": [[0.0, 0.1, 0.0], [0.3, 0.2, 0.3]],
            "damping": 3.0,
        },
    }
    del found["bushing"]
    return found


JOINED = tied(FOUR)


@pytest.fixture(scope="module")
def delayed(load):
    return simulated(load, changed(JOINED, **DELAY))


@pytest.mark.full
@pytest.mark.parametrize("name", [pytest.param("at once", marks=pytest.mark.full), "delayed"])
def test_momenta_and_energy(request, load, name):
    """With contacts on links, friction there and in a hinge, end stops, motors, inertia that these and struts between links
    reflect."""
    data = request.getfixturevalue("delayed") if name == "delayed" else simulated(load, JOINED)
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-9


@pytest.mark.full
def test_the_case_is_worth_it(delayed):
    """Both contacts press, the hinge meets its upper stop, all joints move, and motors have worked."""
    data = delayed
    assert set(np.unique(data.episode_contact)) == {0, 1}
    assert list(data.joint.values) == ["arm", "boom", "leaf", "plate"]
    assert list(data.joint_unit.values) == ["rad", "m", "rad", "1"]
    angle = data.joint_angle.values
    assert angle[:, 0].max() > 0.16 and (np.ptp(angle, axis=0)[:3] > 0.02).all() and not angle[:, 3].any()
    assert np.ptp(data.work.values) > 0.05 * float(data.kinetic_energy[0])


def test_bodies_stay_where_joints_let_them(delayed):
    """The hinge's place and axis, seen from both sides; what is welded does not turn."""
    data = delayed

    def turns(name):
        return Rotation.from_quat(data.attitude.sel(body=name).values, scalar_first=True)

    tug, arm = turns("tug"), turns("arm")
    joint = data.position.sel(body="tug").values + tug.apply(ELBOW["position"])
    turn = Rotation.from_quat(FOUR["body"]["arm"]["attitude"], scalar_first=True)
    lever = turn.inv().apply(np.subtract(ELBOW["position"], FOUR["body"]["arm"]["position"]))
    np.testing.assert_allclose(data.position.sel(body="arm").values + arm.apply(lever), joint, rtol=0, atol=1e-12)
    axis = np.array(ELBOW["axis"]) / np.linalg.norm(ELBOW["axis"])
    between = (tug.inv() * arm * turn.inv()).as_rotvec()
    np.testing.assert_allclose(between, data.joint_angle.sel(joint="arm").values[:, None] * axis, rtol=0, atol=1e-12)
    boom, plate = turns("boom"), turns("plate")
    np.testing.assert_allclose((boom.inv() * plate).magnitude(), 0, atol=1e-12)


def test_what_passes_through_a_joint_is_the_rest_of_the_load(delayed):
    """The load on a leaf of a tree is that of the joint and of its one strut, which the element itself reports."""
    data = delayed
    turns = Rotation.from_quat(data.attitude.sel(body="leaf").values, scalar_first=True)
    through = data.joint_force.sel(joint="leaf").values
    total = data.load_force.sel(point="leaf centre of mass").values
    rest = turns.apply(total - through)  # by the strut, along its line
    other = Rotation.from_quat(data.attitude.sel(body="visitor").values, scalar_first=True)
    line = data.position.sel(body="leaf").values + turns.apply([0.0, 0.1, 0.0])
    line -= data.position.sel(body="visitor").values + other.apply([0.3, 0.2, 0.3])
    across = np.cross(rest, line / np.linalg.norm(line, axis=1, keepdims=True))
    assert np.abs(rest).max() > 0.1
    np.testing.assert_allclose(across, 0, atol=1e-9 * np.abs(rest).max())


@pytest.mark.full
def test_the_report_tells_of_joints(delayed):
    """How far each has moved, in degrees and millimetres, what passed through it, and figures of hinges and slides."""
    data = delayed
    page = report_html(data)
    assert "Angle and rate of each hinge" in page and "Travel and speed of each slide" in page
    largest = float(np.degrees(data.joint_angle.sel(joint="arm")).max())
    assert f">{format_significant(largest)}<" in page
    through = float(np.linalg.norm(data.joint_moment.sel(joint="plate"), axis=1).max())
    assert f">{format_significant(through)}<" in page


@pytest.mark.full
def test_the_frame_does_not_matter(load):
    """The scene turned, shifted and seen from a frame that moves: the same contacts, the same loads in the bodies' axes."""
    turn, shift, boost = [0.7, -1.1, 0.4], [30.0, -20.0, 5.0], [0.2, -0.1, 0.3]
    case = changed(JOINED, integrator={"step": 0.002}, **DELAY)
    here, there = simulated(load, case), simulated(load, moved(case, turn, shift, boost))
    for times in ("episode_onset", "episode_release"):
        np.testing.assert_allclose(there[times], here[times], rtol=0, atol=1e-9)
    seen = (
        "rate",
        "normal_force",
        "load_force",
        "joint_angle",
        "joint_rate",
        "joint_force",
        "joint_moment",
        "internal_energy",
    )
    for name in seen:
        size = np.abs(here[name].values).max()
        np.testing.assert_allclose(there[name], here[name], rtol=0, atol=1e-8 * size, err_msg=name)


@pytest.mark.full
def test_a_weld_makes_one_body(load):
    """The tug and its arm welded together, and one body of both, through contacts and delay."""
    case = changed(FOUR, **DELAY)
    case["body"]["arm"]["joint"] = {"kind": "locked"}
    del case["bushing"]
    one = changed(case)
    tug, arm = one["body"]["tug"], one["body"].pop("arm")
    turn = Rotation.from_quat(arm["attitude"], scalar_first=True)
    masses = np.array([tug["mass"], arm["mass"]])
    places = np.array([np.zeros(3), arm["position"]])
    centre = masses @ places / masses.sum()
    tensors = [np.array(tug["inertia"]), turn.as_matrix() @ np.array(arm["inertia"]) @ turn.as_matrix().T]
    whole = np.zeros((3, 3))
    for mass, place, tensor in zip(masses, places - centre, tensors, strict=True):
        whole += tensor + mass * (place @ place * np.eye(3) - np.outer(place, place))
    attitude = Rotation.from_quat(tug["attitude"], scalar_first=True)
    start = np.array(tug["position"]) + attitude.apply(centre)
    speed = np.array(tug["velocity"]) + attitude.apply(np.cross(tug["rate"], centre))
    tug |= {"mass": masses.sum(), "inertia": whole.tolist(), "position": start.tolist(), "velocity": speed.tolist()}
    tips = arm["feature"]["tips"]
    tips["about"] = (turn.apply([0, 0, 0]) + arm["position"] - centre).tolist()
    tips["axis"] = turn.apply([1.0, 0.0, 0.0]).tolist()
    tips["position"] = (turn.apply(tips["position"]) + arm["position"] - centre).tolist()
    tug["feature"] = {"tips": tips}
    for element in one["strut"].values():
        if element["between"][1] == "tug":
            element["anchor"][1] = (np.array(element["anchor"][1]) - centre).tolist()
    steps = {"integrator.step": 0.002}
    welded, whole_body = simulated(load, case, steps), simulated(load, one, steps)
    assert whole_body.episode.size == welded.episode.size >= 2
    np.testing.assert_allclose(welded.episode_onset, whole_body.episode_onset, rtol=0, atol=1e-9)
    for name in ("attitude", "rate"):
        np.testing.assert_allclose(
            motion(welded)[name][:, [0, 2, 3]], motion(whole_body)[name], rtol=0, atol=1e-9, err_msg=name
        )
    for name in ("position", "velocity"):
        found = welded[name].sel(body=["target", "visitor"])
        np.testing.assert_allclose(found, whole_body[name].sel(body=["target", "visitor"]), rtol=0, atol=1e-9)


def hinged(joint=None, element=()):
    """Two bodies, one of them on the other by a joint or by elements, that turn about an axis and are pulled by a strut."""
    return {
        "schema": 2,
        "duration": 3.0,
        "body": {
            "bus": {"mass": 50.0, "inertia": [9.0, 7.0, 11.0], "rate": [0.02, -0.01, 0.03]},
            "wing": {
                "on": "bus",
                "mass": 12.0,
                "inertia": [1.5, 2.0, 1.0],
                "position": [1.4, 0.1, -0.1],
                **({} if joint is None else {"joint": joint}),
            },
        },
        **acting(
            {
                "kind": "strut",
                "name": "spring",
                "between": ["bus", "wing"],
                "anchor": [[0.5, 0.4, 0.0], [0.0, 0.5, 0.1]],
                "stiffness": 8.0,
                "free_length": 0.7,
            },
            *element,
        ),
        "output": {"interval": 0.1},
    }


@pytest.mark.full
def test_a_stiff_bushing_comes_near_a_hinge(load):
    """Soft about the hinge's axis alone and well damped: twice as stiff, half as far from it."""
    about_z = hinged(
        {"kind": "revolute", "position": [0.6, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "stiffness": 2.0, "damping": 0.3}
    )
    exact = simulated(load, about_z)
    assert np.ptp(exact.joint_angle.values) > 0.05
    distances = []
    for stiff in (2e4, 4e4):
        bushing = {
            "kind": "bushing",
            "name": "root",
            "between": ["wing", "bus"],
            "position": [0.6, 0.0, 0.0],
            "stiffness": [stiff] * 3,
            "turning_stiffness": [stiff, stiff, 2.0],
            "damping": [stiff / 20] * 3,
            "turning_damping": [stiff / 20, stiff / 20, 0.3],
        }
        data = simulated(load, hinged(element=[bushing]), {"integrator.tolerance": 1e-9})
        distances.append(max(np.abs(motion(data)[name] - motion(exact)[name]).max() for name in PARTS))
    assert distances[0] < 1e-3
    np.testing.assert_allclose(distances[1] / distances[0], 0.5, atol=0.1)


@pytest.mark.full
def test_a_phase_starts_a_motor(load):
    """A motor that a phase turns on gives a constant acceleration about a principal axis, by both bodies' inertia."""
    joint = {
        "kind": "revolute",
        "position": [0.0, 0.0, 0.0],
        "axis": [0.0, 0.0, 1.0],
        "torque": 0.0,
        "moved_inertia": 2.0,
    }
    case = hinged(joint)
    case["body"]["bus"].pop("rate")
    case["body"]["wing"]["position"] = [0.0, 0.0, 1.0]
    del case["strut"]
    case["phase"] = {"rest": {}, "turn": {"when": {"lasting": 1.0}, "set": {"body.wing.joint.torque": "0.6 N m"}}}
    data = simulated(load, case)
    reduced = 2.0 + 1 / (1 / 11.0 + 1 / 1.0)
    expected = 0.5 * 0.6 / reduced * np.maximum(data.time.values - 1.0, 0.0) ** 2
    np.testing.assert_allclose(data.joint_angle.sel(joint="wing"), expected, rtol=0, atol=1e-12)
    assert energy_error(data) < 1e-12


@pytest.mark.full
def test_the_approach_is_of_a_port_at_the_end_of_a_bent_arm(load):
    """Joints stand where they begin: the port is as far from the other one as stated, on its axis, and closes as stated."""
    case = changed(THREE, duration=0.02, output={"interval": 0.01}, loop={}, contact={}, strut={})
    case["approach"] |= {"pitch": 0.0, "roll": 0.0, "yaw_rate": 0.0, "lateral_offset": [0.0, 0.0]}
    case["approach"]["lateral_velocity"] = [0.0, 0.0]
    elbow = {"kind": "revolute", "position": [0.5, 0.0, 0.1], "axis": [0.0, 0.3, 1.0], "start": 0.7}
    case["body"]["ring"]["joint"] = elbow
    data = simulated(load, case)
    target, ring = (data.sel(body=name).isel(time=0) for name in ("target", "ring"))
    turn, own = (Rotation.from_quat(body.attitude.values, scalar_first=True) for body in (target, ring))
    port = target.position.values + turn.apply([1.0, 0.0, 0.0])
    apart = turn.inv().apply(ring.position.values - port)
    np.testing.assert_allclose(apart, [case["approach"]["distance"], 0, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(own.apply([1.0, 0, 0]), turn.apply([-1.0, 0, 0]), rtol=0, atol=1e-12)
    carried = target.velocity.values + turn.apply(np.cross(target.rate.values, turn.inv().apply(ring.position.values)))
    closing = turn.inv().apply(ring.velocity.values - carried)
    np.testing.assert_allclose(closing, [-case["approach"]["closing_speed"], 0, 0], rtol=0, atol=1e-12)
    angle = (Rotation.from_quat(data.attitude.values[0, 0], scalar_first=True).inv() * own).magnitude()
    np.testing.assert_allclose(angle, elbow["start"], rtol=0, atol=1e-12)


def wrong(**joint):
    return hinged({"kind": "revolute", "position": [0.6, 0.0, 0.0], "axis": [0.0, 0.0, 1.0]} | joint)


def on_nothing():
    case = wrong()
    case["body"]["wing"].pop("on")
    return case


def phased(key, **joint):
    return wrong(**joint) | {"phase": {"a": {}, "b": {"when": {"lasting": 1.0}, "set": {key: 1.0}}}}


WRONG = {
    "on nothing": (on_nothing(), "joint: holds a body on another one; state on"),
    "no axis": (wrong(axis=[0, 0, 0]), "axis = [0, 0, 0]: must not be the zero vector"),
    "unknown kind": (wrong(kind="hinge"), "revolute"),
    "rest without spring": (wrong(rest=0.1), "rest: is that of a spring; state the stiffness"),
    "stroke without stops": (wrong(stroke=[0.0, 1.0]), "stroke and stop_stiffness belong together"),
    "stops without a stroke": (wrong(stop_damping=1.0), "stop_damping: is of stroke, which is not stated"),
    "regularised without friction": (wrong(regularisation=0.1), "regularisation: is of friction, which is not stated"),
    "stroke backwards": (
        wrong(stroke=[1.0, 0.0], stop_stiffness=1.0),
        "stroke must be two numbers, the smallest first",
    ),
    "friction below zero": (wrong(friction=-1.0), "friction = -1"),
    "no regularisation": (wrong(friction=1.0, regularisation=0.0), "regularisation = 0"),
    "a force about an axis": (wrong(force=1.0), "force"),
    "a phase of a joint without parts": (
        phased("body.wing.joint.torque"),
        "no joint in which anything acts 'body.wing.joint'",
    ),
    "a phase sets where it began": (
        phased("body.wing.joint.start", torque=0.0, start=0.1),
        "states and phases may set; ",
    ),
}


@pytest.mark.parametrize(("case", "words"), WRONG.values(), ids=WRONG)
def test_bad_input_gives_one_line(check_file_refused, case, words):
    """With what is allowed."""
    check_file_refused(case, words)
