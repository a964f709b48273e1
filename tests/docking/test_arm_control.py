"""Control of an arm in a mechanism: of trees of links beside jointed bodies, and by what its laws promise."""

import copy

import numpy as np
import pytest
from plain_tables import acting, by_name, listed
from scipy.spatial.transform import Rotation

import dockdyn

HAND, RADIUS = np.array([1.0, 0.0, 0.0]), 1.1  # m, on the last link; of the payload's ball
JOINTS = ("j1", "j2", "j3", "j4")
LAWS = {
    "detumble": {"law": "detumble", "time": 12.0, "limit": [9.0, 8, 6, 4], "base_limit": 3.0, "base_capacity": 60.0},
    "thrusters": {
        "law": "detumble",
        "time": 9.0,
        "limit": [90.0, 80, 60, 40],
        "thruster_force": 5.0,
        "thruster_torque": 4.0,
        "thruster_angular_impulse": 40.0,
    },
    "null-space": {"law": "reaction-null-space", "damping": [40.0, 30, 20, 10], "limit": [20.0, 20, 20, 20]},
    "joint-pd": {
        "law": "joint-pd",
        "stiffness": [20.0, 30, 10, 5],
        "damping": [60.0, 50, 40, 20],
        "limit": [6.0, 6, 6, 6],
        "base_stiffness": 40.0,
        "base_damping": 300.0,
        "base_limit": 2.0,
    },
}
QUICK = ("detumble", "null-space")


def link(draw, name, mass):
    turn = Rotation.random(rng=draw).as_matrix()
    inertia = turn @ np.diag(mass * draw.uniform(0.2, 0.35, 3)) @ turn.T
    return {"name": name, "mass": mass, "inertia": inertia.tolist()}


def caught(seed, law):
    """A spacecraft with an arm of four hinges whose hand has caught a payload by a rigid latch, all of it moving."""
    draw = np.random.default_rng([71, seed])
    bodies, centre = [link(draw, "sc", 400.0)], np.zeros(3)
    place, turn = np.zeros(3), Rotation.identity()
    for number, name in enumerate(JOINTS):
        axis, mount, own = draw.normal(size=3), draw.uniform(-1, 1, 3), draw.uniform(-0.5, 0.5, 3)
        joint = {
            "kind": "revolute",
            "axis": (axis / np.linalg.norm(axis)).tolist(),
            "position": (mount - centre).tolist(),
        }
        joint |= {"start": draw.uniform(-1, 1), "start_rate": draw.uniform(-0.02, 0.02)}
        joint |= {"damping": draw.uniform(0, 2) * (number == 1)}
        carrier = bodies[-1]["name"]
        bodies.append(link(draw, name, draw.uniform(10, 20)))
        bodies[-1] |= {"on": carrier, "position": (mount - centre + own).tolist(), "joint": joint}
        place, turn = (
            place + turn.apply(mount),
            turn * Rotation.from_rotvec(joint["start"] * axis / np.linalg.norm(axis)),
        )
        centre = own
    normal = -turn.apply([1.0, 0.0, 0.0])  # from the payload to the hand
    payload = link(draw, "payload", 200.0) | {
        "position": (place + turn.apply(HAND) - RADIUS * normal).tolist(),
        "attitude": [1.0, 0.0, 0.0, 0.0],
        "velocity": (0.1 * normal + draw.uniform(-0.02, 0.02, 3)).tolist(),
        "rate": draw.uniform(-0.02, 0.02, 3).tolist(),
    }
    grip = {"kind": "latch", "name": "grip", "between": ["j4", "payload"], "grip": "weld", "axis": normal.tolist()}
    grip |= {"anchor": [(HAND - centre).tolist(), (RADIUS * normal).tolist()], "reach": 0.01, "lateral": 0.01}
    return {
        "schema": 2,
        "duration": 6.0,
        "body": by_name([*bodies, payload]),
        **acting(grip),
        "control": LAWS[law] | {"body": "sc"},
        "integrator": {"tolerance": 1e-11},
        "output": {"interval": 0.5},
    }


def with_a_tool(content, joint):
    """The same with a tool on the hand, held by such a joint."""
    found = copy.deepcopy(content)
    tool = link(np.random.default_rng(3), "tool", 6.0) | {"on": "j4", "position": [0.2, 0.1, 0.3], "joint": joint}
    bodies = listed(found["body"])
    found["body"] = by_name([*bodies[:-1], tool, bodies[-1]])  # before the payload
    return found


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(2))
def test_laws_do_the_same_to_trees_of_links(law, seed):
    """A tool that is locked to the hand: by a joint that is held, which makes the arm a tree of links, and by a weld."""
    content = caught(seed, law)
    held = {"kind": "revolute", "axis": [0.0, 0.0, 1.0], "position": [0.1, 0.0, 0.2], "locked": True}
    weld, linked = (with_a_tool(content, joint) for joint in ({"kind": "locked", "position": [0.1, 0.0, 0.2]}, held))
    for key in ("limit", "stiffness", "damping"):
        if key in linked["control"]:
            linked["control"][key] = [*linked["control"][key], 1.0]
    run, other = (dockdyn.simulate(one) for one in (weld, linked))
    names = ("wheel_momentum", "wheel_torque", "thruster_use", "thruster_impulse", "thruster_force", "control_work")
    for name in ("joint_angle", *names, "position", "attitude"):
        size = np.abs(run[name].values).max()
        np.testing.assert_allclose(other[name], run[name], rtol=0, atol=1e-7 * size, err_msg=name)
    efforts = run.motor_effort.values
    np.testing.assert_allclose(other.motor_effort[:, :4], efforts, rtol=0, atol=1e-6 * np.abs(efforts).max())


def first_efforts(content):
    """What the motors give at t = 0."""
    return dockdyn.simulate(content | {"duration": 0.01, "output": {"interval": 0.01}}).motor_effort.values[0]


def turning_as_one(seed, law):
    """A mechanism that turns as one body: the grip ends no slip, and nothing bends."""
    content, turning = caught(seed, law), np.array([0.01, -0.02, 0.05])
    payload = content["body"]["payload"]
    content["body"]["sc"]["rate"] = turning.tolist()
    for name in JOINTS:
        content["body"][name]["joint"]["start_rate"] = 0.0
    turn = Rotation.from_quat(payload["attitude"], scalar_first=True)
    payload |= {"velocity": np.cross(turning, payload["position"]).tolist(), "rate": turn.inv().apply(turning).tolist()}
    return content


@pytest.mark.parametrize(
    "law", [pytest.param(law, marks=[pytest.mark.full] * (law != "thrusters")) for law in LAWS if law != "null-space"]
)
def test_what_a_computer_gives_is_all_that_momentum_and_energy_change_by(law):
    content = caught(4, law)
    content["control"] |= {"period": 0.15}
    run = dockdyn.simulate(content)
    assert run.attrs["finished"] and np.ptp(run.motor_effort.values, axis=0).min() > 0
    total = run.kinetic_energy + run.internal_energy - run.work - run.control_work
    assert np.ptp(total.values) < 1e-8 * run.kinetic_energy.values[0]
    for kind, given in (("linear", "thruster_impulse"), ("angular", "thruster_turning_impulse")):
        left = (run[f"{kind}_momentum"] - run[given]).values
        assert np.ptp(left, axis=0).max() < 1e-9 * np.abs(left).max()


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
def test_a_short_period_tends_to_a_law_that_acts_at_every_instant(law):
    """The difference falls with the period, as half a period of delay does."""
    end = {}
    for period in (None, 0.04, 0.02):
        content = caught(6, law) | {"duration": 2.0}
        if period is not None:
            content["control"] |= {"period": period}
        end[period] = dockdyn.simulate(content).joint_angle.values[-1]
    coarse, fine = (np.linalg.norm(end[period] - end[None]) for period in (0.04, 0.02))
    assert 1.9 < coarse / fine < 2.1


@pytest.mark.full
@pytest.mark.parametrize("law", ["detumble", "null-space"])
def test_laws_take_links_that_bend_as_rigid(law):
    """Straight at the start, a flexible link is to the law what the rigid one is that has its mass."""
    content = turning_as_one(3, law)
    rigid = first_efforts(content)
    beam = {"kind": "beam", "root": [-0.4, 0.0, 0.0], "axis": [1.0, 0.0, 0.0], "across": [0.0, 1.0, 0.0]}
    beam |= {"length": 0.8, "mass_per_length": 5.0, "bending_stiffness": [50.0, 80.0], "bending_modes": [2, 1]}
    content["body"][JOINTS[1]]["flexible"] = beam
    np.testing.assert_allclose(first_efforts(content), rigid, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_what_compliant_grips_hold_counts_as_welded():
    rigid = turning_as_one(5, "detumble")
    ((name, latch),) = rigid["latch"].items()
    grip = latch | {"grip": "compliant", "stiffness": 2e4, "damping": 100.0}
    compliant = rigid | {"latch": {name: grip, "twin": grip}}
    np.testing.assert_allclose(first_efforts(compliant), first_efforts(rigid), rtol=1e-9)


@pytest.mark.full
@pytest.mark.parametrize(("law", "period"), [("detumble", None), ("joint-pd", None), ("detumble", 0.25)])
def test_control_acts_in_its_phases_alone(law, period):
    """A computer is told so at its next sample, which is at the instant here."""
    content = caught(1, law)
    if period is not None:
        content["control"]["period"] = period
    content["phase"] = {"loose": {}, "held": {"when": {"lasting": 1.0}}}
    content["phase"]["free"] = {"when": {"lasting": 2.0}}
    content["control"]["phases"] = ["held"]
    run = dockdyn.simulate(content | {"duration": 4.0})
    acts = (run.time.values > 1.0) & (run.time.values <= 3.0)
    gives = np.abs(run.motor_effort.values).max(axis=1) > 0
    assert (gives == acts).all()
    total = (run.kinetic_energy + run.internal_energy - run.work - run.control_work).values
    assert np.ptp(total) < 1e-8 * run.kinetic_energy.values[0]
    momentum = run.angular_momentum.values
    assert np.ptp(momentum, axis=0).max() < 1e-9 * np.abs(momentum).max()


@pytest.mark.full
@pytest.mark.parametrize("period", [None, 0.25])
def test_control_of_a_body_acts_in_its_phases_alone(period):
    content = caught(2, "joint-pd")
    content["phase"] = {"loose": {}, "held": {"when": {"lasting": 1.0}}}
    content["control"] = {"law": "attitude-hold", "base_stiffness": 9.0, "base_damping": 50.0, "body": "sc"}
    content["control"] |= {"phases": ["held"]} | ({} if period is None else {"period": period})
    run = dockdyn.simulate(content)
    torque = np.abs(run.wheel_torque.values).max(axis=1)
    assert (torque[run.time.values < 1.0] == 0).all() and (torque[run.time.values > 1.0] > 0).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limit": [1.0, 2.0]}, "]: has 2 entries for 4 joints (j1, j2, j3, j4); must have 4"),
        ({"body": "payload"}, "control.law: detumble: no joint moves in the tree of 'payload'"),
        ({"phases": ["late"]}, "control.phases: no phase 'late'"),
        ({"period": 1e-7}, "takes 6e.07 samples for a duration of 6 s"),
        ({"period": 0.1, "thruster": {}}, "unknown key"),
    ],
)
def test_what_fits_no_arm_is_refused(change, words):
    content = caught(0, "detumble")
    content["control"] |= change
    with pytest.raises(dockdyn.ScenarioError, match=words.replace("(", r"\(").replace(")", r"\)")):
        dockdyn.load(content)


@pytest.mark.full
def test_an_arm_takes_no_command_step_by_step():
    stepper = dockdyn.stepper(dockdyn.load(caught(0, "detumble")), period=0.1)
    with pytest.raises(dockdyn.ScenarioError, match="moves an arm at all times; must be left out to command a body"):
        stepper.step(np.zeros((2, 3)))
    stepper.step()
    assert stepper.time == pytest.approx(0.1)
