"""Control of an arm in an assembly: beside that of berthings, whose model is another, and by what its laws promise."""

from __future__ import annotations

import numpy as np
import pytest
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


def berthing(draw, control):
    """A spacecraft with an arm of four hinges that has caught a payload, all of it moving."""
    links = [link(draw, "sc", 400.0)]
    for number, name in enumerate(JOINTS):
        axis = draw.normal(size=3)
        links.append(
            link(draw, name, draw.uniform(10, 20))
            | {
                "parent": links[-1]["name"],
                "axis": (axis / np.linalg.norm(axis)).tolist(),
                "mount": draw.uniform(-1, 1, 3).tolist(),
                "centre": draw.uniform(-0.5, 0.5, 3).tolist(),
                "start": draw.uniform(-1, 1),
                "start_rate": draw.uniform(-0.02, 0.02),
                "damping": draw.uniform(0, 2) * (number == 1),
            }
        )
    content = {
        "schema": 1,
        "kind": "berthing",
        "duration": 6.0,
        "chaser": {"link": links},
        "target": {"link": [link(draw, "payload", 200.0)], "rate": draw.uniform(-0.02, 0.02, 3).tolist()},
        "contact": {"chaser": "j4", "chaser_position": HAND.tolist(), "target": "payload", "target_radius": RADIUS},
        "impact": {"law": "weld", "normal": "hand"},
        "control": control,
        "integrator": {"tolerance": 1e-12},
        "output": {"interval": 0.5},
    }
    normal = np.asarray(dockdyn.load(content).content.model().normal)
    content["target"]["velocity"] = (0.1 * normal + draw.uniform(-0.02, 0.02, 3)).tolist()
    return content


def assembly(content, model):
    """The same bodies by their centres of mass, the payload held by a rigid latch from the start."""
    links, centre = content["chaser"]["link"], np.zeros(3)
    bodies = [{key: links[0][key] for key in ("name", "mass", "inertia")}]
    for one in links[1:]:
        mount, own = np.asarray(one["mount"]) - centre, np.asarray(one["centre"])
        joint = {"kind": "revolute", "axis": one["axis"], "position": mount.tolist(), "start": one["start"]}
        joint |= {"start_rate": one["start_rate"], "damping": one["damping"]}
        body = {key: one[key] for key in ("name", "mass", "inertia")}
        bodies.append(body | {"on": one["parent"], "position": (mount + own).tolist(), "joint": joint})
        centre = own
    target, v = model.sides[1].configuration, np.asarray(model.sides[1].velocities)
    turn = Rotation.from_quat(np.asarray(target.attitude), scalar_first=True)
    payload = {key: content["target"]["link"][0][key] for key in ("name", "mass", "inertia")} | {
        "position": (np.asarray(target.position) - np.asarray(model.sides[0].configuration.position)).tolist(),
        "attitude": turn.as_quat(scalar_first=True).tolist(),
        "velocity": turn.apply(v[:3]).tolist(),
        "rate": v[3:6].tolist(),
    }
    normal = turn.inv().apply(np.asarray(model.normal))  # from the payload to the hand
    grip = {"kind": "latch", "name": "grip", "between": ["j4", "payload"], "grip": "weld", "axis": normal.tolist()}
    grip |= {"anchor": [(HAND - centre).tolist(), (RADIUS * normal).tolist()], "reach": 0.01, "lateral": 0.01}
    return {
        "schema": 1,
        "kind": "assembly",
        "duration": content["duration"],
        "body": [*bodies, payload],
        "element": [grip],
        "control": content["control"] | {"body": "sc"},
        "integrator": {"tolerance": 1e-11},
        "output": content["output"],
    }


@pytest.mark.parametrize("law", [law if law in QUICK else pytest.param(law, marks=pytest.mark.full) for law in LAWS])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 4))])
def test_laws_do_what_they_do_in_a_berthing(law, seed):
    content = berthing(np.random.default_rng([71, seed]), LAWS[law])
    model = dockdyn.load(content).content.model()
    expected, run = dockdyn.simulate(content), dockdyn.simulate(assembly(content, model))
    np.testing.assert_allclose(run.time, expected.time, atol=1e-9)
    pairs = {"joint_angle": "joint_angle", "control_work": "work"}
    for name in ("wheel_momentum", "wheel_torque", "thruster_use", "thruster_impulse", "thruster_force"):
        pairs[name] = name
    for own, other in pairs.items():
        size = np.abs(expected[other].values).max()
        np.testing.assert_allclose(run[own], expected[other], rtol=0, atol=1e-7 * size, err_msg=own)
    efforts = expected.torque.values[:, 6:]
    np.testing.assert_allclose(run.motor_effort, efforts, rtol=0, atol=1e-6 * np.abs(efforts).max())


def caught(seed, law):
    """The assembly of a berthing, and its content."""
    content = berthing(np.random.default_rng([71, seed]), LAWS[law])
    return assembly(content, dockdyn.load(content).content.model())


def first_efforts(content):
    """What the motors give at t = 0."""
    return dockdyn.simulate(content | {"duration": 0.01, "output": {"interval": 0.01}}).motor_effort.values[0]


def turning_as_one(seed, law):
    """An assembly that turns as one body: the grip ends no slip, and nothing bends."""
    content, turning = caught(seed, law), np.array([0.01, -0.02, 0.05])
    payload = content["body"][-1]
    content["body"][0]["rate"] = turning.tolist()
    for one in content["body"][1:-1]:
        one["joint"]["start_rate"] = 0.0
    turn = Rotation.from_quat(payload["attitude"], scalar_first=True)
    payload |= {"velocity": np.cross(turning, payload["position"]).tolist(), "rate": turn.inv().apply(turning).tolist()}
    return content


@pytest.mark.full
@pytest.mark.parametrize("law", ["detumble", "null-space"])
def test_laws_take_links_that_bend_as_rigid(law):
    """Straight at the start, a flexible link is to the law what the rigid one is that has its mass."""
    content = turning_as_one(3, law)
    rigid = first_efforts(content)
    beam = {"kind": "beam", "root": [-0.4, 0.0, 0.0], "axis": [1.0, 0.0, 0.0], "across": [0.0, 1.0, 0.0]}
    beam |= {"length": 0.8, "mass_per_length": 5.0, "bending_stiffness": [50.0, 80.0], "bending_modes": [2, 1]}
    content["body"][2]["flexible"] = beam
    np.testing.assert_allclose(first_efforts(content), rigid, rtol=1e-9, atol=1e-12)


def test_what_compliant_grips_hold_counts_as_welded():
    rigid = turning_as_one(5, "detumble")
    grip = rigid["element"][0] | {"grip": "compliant", "stiffness": 2e4, "damping": 100.0}
    compliant = rigid | {"element": [grip, grip | {"name": "twin"}]}
    np.testing.assert_allclose(first_efforts(compliant), first_efforts(rigid), rtol=1e-9)


@pytest.mark.parametrize("law", ["detumble", pytest.param("joint-pd", marks=pytest.mark.full)])
def test_control_acts_in_its_phases_alone(law):
    content = caught(1, law)
    content["phase"] = [{"name": "loose"}, {"name": "held", "when": {"lasting": 1.0}}]
    content["phase"].append({"name": "free", "when": {"lasting": 2.0}})
    content["control"]["phases"] = ["held"]
    run = dockdyn.simulate(content | {"duration": 4.0})
    acts = (run.time.values > 1.0) & (run.time.values <= 3.0)
    gives = np.abs(run.motor_effort.values).max(axis=1) > 0
    assert (gives == acts).all()
    total = (run.kinetic_energy + run.internal_energy - run.work - run.control_work).values
    assert np.ptp(total) < 1e-8 * run.kinetic_energy.values[0]
    momentum = run.angular_momentum.values
    assert np.ptp(momentum, axis=0).max() < 1e-9 * np.abs(momentum).max()


@pytest.mark.parametrize("period", [pytest.param(None, marks=pytest.mark.full), 0.25])
def test_control_of_a_body_acts_in_its_phases_alone(period):
    content = caught(2, "joint-pd")
    content["phase"] = [{"name": "loose"}, {"name": "held", "when": {"lasting": 1.0}}]
    content["control"] = {"law": "attitude-hold", "base_stiffness": 9.0, "base_damping": 50.0, "body": "sc"}
    content["control"] |= {"phases": ["held"]} | ({} if period is None else {"period": period})
    run = dockdyn.simulate(content)
    torque = np.abs(run.wheel_torque.values).max(axis=1)
    assert (torque[run.time.values < 1.0] == 0).all() and (torque[run.time.values > 1.0] > 0).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limit": [1.0, 2.0]}, "control.limit: has 2 entries for 4 joints (j1, j2, j3, j4)"),
        ({"body": "payload"}, "control.law: detumble: no joint moves in the tree of 'payload'"),
        ({"phases": ["late"]}, "control.phases: no phase 'late'"),
        ({"period": 0.1}, "unknown key"),
    ],
)
def test_what_fits_no_arm_is_refused(change, words):
    content = caught(0, "detumble")
    content["control"] |= change
    with pytest.raises(dockdyn.ScenarioError, match=words.replace("(", r"\(").replace(")", r"\)")):
        dockdyn.load(content)


def test_an_arm_takes_no_command_step_by_step():
    stepper = dockdyn.stepper(dockdyn.load(caught(0, "detumble")), period=0.1)
    with pytest.raises(dockdyn.ScenarioError, match="moves an arm at all times; must be left out to command a body"):
        stepper.step(np.zeros((2, 3)))
    stepper.step()
    assert stepper.time == pytest.approx(0.1)
