"""Joints of a mechanism that follow others: beside Pinocchio with the constraint put in, and what is refused."""

import numpy as np
import pytest
from plain_tables import by_name, listed

import dockdyn
from dockdyn.results.plan import jit_once


def drawn(seed: int, links: int = 5) -> dict:
    """A tree in space, two of whose joints follow others that come before or after them."""
    rng = np.random.default_rng(seed)
    bodies = [
        {"name": "b0", "mass": 9.0, "inertia": rng.uniform(2, 3, 3).tolist(), "rate": rng.normal(size=3).tolist()}
    ]
    leaders = [1, 2, 3, 4, 5]
    followers = rng.permutation(leaders)[:2]
    free = [number for number in leaders if number not in followers]
    for number in range(1, links + 1):
        kind = str(rng.choice(["revolute", "prismatic"]))
        joint = {"position": rng.uniform(-1, 1, 3).tolist(), "axis": rng.normal(size=3).tolist()}
        if number in followers:
            ratio, offset = rng.uniform(-2, 2, 2).tolist()
            joint |= {
                "kind": "mimic",
                "moves": kind,
                "follows": f"b{rng.choice(free)}",
                "ratio": ratio,
                "offset": offset,
            }
        else:
            joint |= {"kind": kind, "start": float(rng.normal()), "start_rate": float(rng.normal())}
            joint |= {"stiffness": float(rng.uniform(0, 3)), "damping": float(rng.uniform(0, 3))}
        turn = rng.normal(size=4)
        bodies.append(
            {
                "name": f"b{number}",
                "on": f"b{rng.integers(max(0, number - 2), number)}",
                "mass": float(rng.uniform(1, 3)),
                "inertia": rng.uniform(0.5, 0.9, 3).tolist(),
                "position": rng.uniform(-1, 1, 3).tolist(),
                "attitude": (turn / np.linalg.norm(turn)).tolist(),
                "joint": joint,
            }
        )
    return {"schema": 2, "duration": 1.0, "body": by_name(bodies)}


@jit_once
def at_start(content):
    model = content.model()
    x = model.initial()
    return model.acting(x, model.placement(x), ()).rates.joints


def in_depth(bodies, carrier):
    for body in bodies:
        if body["on"] == carrier:
            yield body
            yield from in_depth(bodies, body["name"])


def built(pin, case):
    """Pinocchio's model of the bodies, each joint free, and how each coordinate is made of those that lead: A q + b."""
    model = pin.Model()
    at = {"b0": model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "b0")}
    centres = {"b0": pin.SE3.Identity()}  # the body's place at zero, from its joint's frame
    model.appendBodyToJoint(
        at["b0"], pin.Inertia(9.0, np.zeros(3), np.diag(case["body"]["b0"]["inertia"])), centres["b0"]
    )
    for body in in_depth(listed(case["body"])[1:], "b0"):  # as Pinocchio's numbers must be
        joint, quat = body["joint"], body["attitude"]
        axis = np.array(joint["axis"]) / np.linalg.norm(joint["axis"])
        place = pin.SE3(np.eye(3), np.array(joint["position"]))
        slides = joint.get("moves", joint["kind"]) == "prismatic"
        sort = (pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned)(axis)
        name, carrier = body["name"], body["on"]
        at[name] = model.addJoint(at[carrier], sort, centres[carrier] * place, name)
        turn = pin.Quaternion(quat[0], quat[1], quat[2], quat[3]).matrix()
        centres[name] = place.inverse() * pin.SE3(turn, np.array(body["position"]))
        model.appendBodyToJoint(
            at[name], pin.Inertia(body["mass"], np.zeros(3), np.diag(body["inertia"])), centres[name]
        )
    model.gravity = pin.Motion.Zero()
    return model, at


@pytest.mark.full_cases("2")
@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(3, 11))])
def test_accelerations_are_those_of_pinocchio_with_the_constraint_put_in(seed):
    """q = A p + b of the leaders' p: Aᵀ M A p̈ = Aᵀ (τ − h), with M and h of the tree whose joints are all free."""
    pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")
    case = drawn(seed)
    found = np.asarray(at_start(dockdyn.load(case).content))
    model, at = built(pin, case)
    joints = {name: body["joint"] for name, body in case["body"].items() if name != "b0"}
    leading = [name for name, joint in joints.items() if joint["kind"] != "mimic"]
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    a = np.zeros((model.nv, 6 + len(leading)))
    a[:6, :6] = np.eye(6)
    v[3:6] = case["body"]["b0"]["rate"]
    for name, joint in joints.items():
        leader, ratio, offset = joint.get("follows", name), joint.get("ratio", 1.0), joint.get("offset", 0.0)
        number = model.joints[at[name]].idx_v
        a[number, 6 + leading.index(leader)] = ratio
        q[model.joints[at[name]].idx_q] = ratio * joints[leader]["start"] + offset
        v[number] = ratio * joints[leader]["start_rate"]
        if leader == name:
            tau[number] = -joint["stiffness"] * joint["start"] - joint["damping"] * joint["start_rate"]
    data = model.createData()
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    expected = np.linalg.solve(a.T @ mass @ a, a.T @ (tau - pin.nonLinearEffects(model, data, q, v)))[6:]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 6))])
def test_a_run_keeps_the_constraint_and_momentum(seed):
    case = drawn(seed)
    run = dockdyn.simulate(dockdyn.load(case))
    summary = dockdyn.summarise(run)
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-9
    assert summary["work_energy_error"] < 1e-6
    for body in listed(case["body"])[1:]:
        if body["joint"]["kind"] == "mimic":
            own, leader = (run.joint_angle.sel(joint=name) for name in (body["name"], body["joint"]["follows"]))
            expected = body["joint"]["ratio"] * leader + body["joint"]["offset"]
            np.testing.assert_allclose(own, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("follows", "words"),
    [
        ("b9", "body.b2.joint.follows = 'b9': no body with a joint that moves"),
        ("b2", "no body with a joint that moves"),
    ],
)
def test_what_there_is_not_cannot_be_followed(follows, words):
    case = drawn(1)
    case["body"]["b2"]["joint"] = {
        "kind": "mimic",
        "position": [0.0, 0.0, 0.0],
        "axis": [1.0, 0.0, 0.0],
        "follows": follows,
    }
    with pytest.raises(dockdyn.ScenarioError, match=words):
        dockdyn.load(case)
