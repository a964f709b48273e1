"""Bodies joined to trees, beside Pinocchio: accelerations, loads on links, reactions of joints, a motion of two seconds."""

import jax
import numpy as np
import pytest
from mechanism_cases import simulated
from plain_tables import by_name
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.results.plan import jit_once

pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")

PARENTS = {"upper": "bus", "lower": "upper", "panel": "bus", "mast": "bus", "tool": "lower"}
KINDS = {"upper": "revolute", "lower": "revolute", "panel": "revolute", "mast": "prismatic", "tool": "locked"}


def inertia(rng, mass):
    axes = Rotation.random(rng=rng).as_matrix()
    return axes @ np.diag(mass * rng.uniform(0.2, 0.35, 3)) @ axes.T


def body(rng, name):
    mass = rng.uniform(1, 9)
    return {"name": name, "mass": mass, "inertia": inertia(rng, mass).tolist()}


def joined(rng, name, acting):
    """A body on the one before it in `PARENTS`, with all that may act in its joint, if `acting`."""
    kind = KINDS[name]
    joint = {"kind": kind, "position": rng.uniform(-1, 1, 3).tolist()}
    if kind != "locked":
        joint |= {"axis": rng.normal(size=3).tolist(), "start": rng.uniform(-1, 1), "start_rate": rng.normal()}
    if kind != "locked" and acting:
        joint |= {"stiffness": rng.uniform(1, 5), "damping": rng.uniform(1, 3), "rest": rng.normal()}
        joint |= {"torque": 0.7, "moved_inertia": 0.4} if kind == "revolute" else {"force": -1.3, "moved_mass": 2.0}
    turn = Rotation.random(rng=rng).as_quat(scalar_first=True).tolist()
    place = rng.uniform(-1, 1, 3).tolist()
    return {**body(rng, name), "on": PARENTS[name], "position": place, "attitude": turn, "joint": joint}


def random_case(seed, acting=True):
    rng = np.random.default_rng(seed)
    bus = body(rng, "bus") | {
        "position": rng.normal(size=3).tolist(),
        "velocity": rng.normal(size=3).tolist(),
        "attitude": Rotation.random(rng=rng).as_quat(scalar_first=True).tolist(),
        "rate": rng.normal(size=3).tolist(),
    }
    bodies = [bus, *(joined(rng, name, acting) for name in PARENTS)]
    return {"schema": 2, "duration": 2.0, "body": by_name(bodies), "output": {"interval": 0.1}}


class Twin:
    """The same bodies there."""

    def __init__(self, case):
        self.model, self.bodies = pin.Model(), case["body"]
        self.model.gravity = pin.Motion.Zero()
        self.frames, self.joints = {}, {}
        for name in self.bodies:  # in this order Pinocchio has them depth first
            self.add(name)
        self.data = self.model.createData()

    def add(self, name):
        """Frames of bodies are at their centres of mass, those of joints at the joints, with the axes of the bodies."""
        one = self.bodies[name]
        tensor = pin.Inertia(one["mass"], np.zeros(3), np.array(one["inertia"]))
        if "on" not in one:
            joint = self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
            seat = pin.SE3.Identity()
        else:
            on, carrier = self.frames[one["on"]]
            turn = Rotation.from_quat(one["attitude"], scalar_first=True).as_matrix()
            place, at = np.array(one["position"]), np.array(one["joint"]["position"])
            mount, seat = carrier * pin.SE3(turn, at), pin.SE3(np.eye(3), turn.T @ (place - at))
            joint, kind = on, one["joint"]["kind"]
            if kind != "locked":
                axis = turn.T @ np.array(one["joint"]["axis"])
                made = pin.JointModelRevoluteUnaligned if kind == "revolute" else pin.JointModelPrismaticUnaligned
                joint = self.model.addJoint(on, made(axis / np.linalg.norm(axis)), mount, name)
            else:
                seat = mount * seat
        self.frames[name] = joint, seat
        if joint not in self.joints.values():
            self.joints[name] = joint
        self.model.appendBodyToJoint(joint, tensor, seat)

    def column(self, name):
        return self.model.joints[self.joints[name]].idx_v

    def start(self):
        bus = self.bodies["bus"]
        turn = Rotation.from_quat(bus["attitude"], scalar_first=True)
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        q[:3], q[3:7] = bus["position"], turn.as_quat()
        v[:3], v[3:6] = turn.inv().apply(bus["velocity"]), bus["rate"]
        for name, joint in self.joints.items():
            if name != "bus":
                at = self.model.joints[joint]
                q[at.idx_q], v[at.idx_v] = (self.bodies[name]["joint"][key] for key in ("start", "start_rate"))
        return q, v

    def efforts(self, q, v):
        tau = np.zeros(self.model.nv)
        for name, joint in self.joints.items():
            own, at = self.bodies[name].get("joint", {}), self.model.joints[joint]
            if "stiffness" in own:
                spring = own["stiffness"] * (own["rest"] - q[at.idx_q]) - own["damping"] * v[at.idx_v]
                tau[at.idx_v] = spring + own.get("torque", own.get("force"))
        return tau

    def acceleration(self, q, v):
        """By the mass matrix, with what motors reflect on its diagonal."""
        mass = pin.crba(self.model, self.data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        for name in self.joints:
            own = self.bodies[name].get("joint", {})
            mass[self.column(name), self.column(name)] += own.get("moved_inertia", own.get("moved_mass", 0.0))
        return np.linalg.solve(mass, self.efforts(q, v) - pin.nonLinearEffects(self.model, self.data, q, v))

    def centre(self, name, q, v, a):
        """Acceleration of a body's centre of mass, inertial, and rate of its angular velocity, body axes."""
        pin.forwardKinematics(self.model, self.data, q, v, a)
        joint, seat = self.frames[name]
        moving, changing = seat.actInv(self.data.v[joint]), seat.actInv(self.data.a[joint])
        turn = (self.data.oMi[joint] * seat).rotation
        return turn @ (changing.linear + np.cross(moving.angular, moving.linear)), changing.angular


@jit_once
def at_start(content):
    model = content.model()
    x = model.initial()
    here = model.placement(x)
    now = model.acting(x, here, ())
    return now.bodies, now.rates.joints, model.observe(x, ())


@pytest.mark.full_cases("0", "1", "2")
@pytest.mark.parametrize("seed", range(4))
def test_accelerations_loads_and_reactions(load, seed):
    """Five links on a free base: hinges, a slide, a weld; springs, dampers, motors and what these reflect."""
    case = random_case(seed)
    twin = Twin(case)
    q, v = twin.start()
    a = twin.acceleration(q, v)
    bodies, joints, seen = jax.tree.map(np.asarray, at_start(load(case).content))
    moving = [name for name in PARENTS if KINDS[name] != "locked"]
    np.testing.assert_allclose(joints, [a[twin.column(name)] for name in moving], rtol=0, atol=1e-9 * np.abs(a).max())
    for number, name in enumerate(["bus", *PARENTS]):
        linear, angular = twin.centre(name, q, v, a)
        found = bodies[number].velocity.array(), bodies[number].rate.array()
        for one, other in zip(found, (linear, angular), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(a).max(), err_msg=name)
        # what is reported of a body is all that accelerates it
        turn = Rotation.from_quat(seen["attitude"][number], scalar_first=True)
        mass = twin.bodies[name]["mass"]
        force = turn.inv().apply(mass * linear)
        np.testing.assert_allclose(seen["load_force"][number], force, rtol=0, atol=1e-9 * mass * np.abs(a).max())
    # Newton and Euler from the leaves inwards: what passes through a joint, motors and springs among it
    pin.rnea(twin.model, twin.data, q, v, a)
    for number, name in enumerate(PARENTS):
        if KINDS[name] == "locked":
            continue
        through = twin.data.f[twin.joints[name]]
        size = np.abs(through.vector).max()
        np.testing.assert_allclose(seen["joint_force"][number], through.linear, rtol=0, atol=1e-9 * size, err_msg=name)
        np.testing.assert_allclose(seen["joint_moment"][number], through.angular, rtol=0, atol=1e-9 * size)

    # a weld passes on all that its leaf needs
    tool, arm = (
        len(PARENTS),
        np.subtract(*(np.array(at["position"]) for at in (twin.bodies["tool"], twin.bodies["tool"]["joint"]))),
    )
    arm = Rotation.from_quat(twin.bodies["tool"]["attitude"], scalar_first=True).inv().apply(arm)
    force, moment = seen["load_force"][tool], seen["load_moment"][tool]
    size = np.abs([force, moment]).max()
    np.testing.assert_allclose(seen["joint_force"][tool - 1], force, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(seen["joint_moment"][tool - 1], moment + np.cross(arm, force), rtol=0, atol=1e-12 * size)


LINES = (
    ("lower", "bus", 5.0),
    ("mast", "tool", 2.0),
    ("panel", "upper", 9.0),
)  # bodies, mass that a strut reflects (kg)


@pytest.mark.full
def test_inertia_that_struts_between_links_reflect(load):
    """(M + Jᵀ m J) v̇ = τ − h − Jᵀ m J̇ v, with Pinocchio's Jacobians and accelerations of the anchors."""
    case = random_case(11)
    rng = np.random.default_rng(12)
    anchors = rng.uniform(-0.5, 0.5, (len(LINES), 2, 3))
    case["strut"] = {
        f"strut{n}": {"between": [a, b], "anchor": anchors[n].tolist(), "moved_mass": mass}
        for n, (a, b, mass) in enumerate(LINES)
    }
    twin = Twin(case)
    model, points = twin.model, []
    for (first, second, _), pair in zip(LINES, anchors, strict=True):
        for name, place in ((first, pair[0]), (second, pair[1])):
            joint, seat = twin.frames[name]
            frame = pin.Frame(
                f"{first}{second}{name}", joint, 0, seat * pin.SE3(np.eye(3), place), pin.FrameType.OP_FRAME
            )
            points.append(model.addFrame(frame))
    twin.data = data = model.createData()
    q, v = twin.start()
    free, tau = twin.acceleration(q, v), twin.efforts(q, v)
    bias = pin.nonLinearEffects(model, data, q, v)
    mass = pin.crba(model, data, q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    for name in twin.joints:
        own = twin.bodies[name].get("joint", {})
        mass[twin.column(name), twin.column(name)] += own.get("moved_inertia", own.get("moved_mass", 0.0))
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for line, (_, _, moved) in enumerate(LINES):
        ends = points[2 * line : 2 * line + 2]
        place, speed, drift, rows = (
            np.subtract(*pair)
            for pair in zip(
                *(
                    (
                        data.oMf[end].translation,
                        pin.getFrameVelocity(model, data, end, world).linear,
                        pin.getFrameClassicalAcceleration(model, data, end, world).linear,
                        pin.getFrameJacobian(model, data, end, world)[:3],
                    )
                    for end in ends
                ),
                strict=True,
            )
        )
        length = np.linalg.norm(place)
        along = place / length
        row, rate = along @ rows, along @ speed
        mass += moved * np.outer(row, row)
        bias = bias + moved * row * (along @ drift + (speed @ speed - rate**2) / length)
    a = np.linalg.solve(mass, tau - bias)
    assert np.abs(a - free).max() > 0.1 * np.abs(a).max()
    bodies, joints, _ = jax.tree.map(np.asarray, at_start(load(case).content))
    moving = [name for name in PARENTS if KINDS[name] != "locked"]
    np.testing.assert_allclose(joints, [a[twin.column(name)] for name in moving], rtol=0, atol=1e-9 * np.abs(a).max())
    for number, name in enumerate(["bus", *PARENTS]):
        linear, angular = twin.centre(name, q, v, a)
        np.testing.assert_allclose(bodies[number].velocity.array(), linear, rtol=0, atol=1e-9 * np.abs(a).max())
        np.testing.assert_allclose(bodies[number].rate.array(), angular, rtol=0, atol=1e-9 * np.abs(a).max())


@pytest.mark.full
def test_a_branched_tree_moves_as_in_pinocchio(load):
    """The motion of two seconds, integrated there by DOP853."""
    case = random_case(7)
    twin, data = Twin(case), simulated(load, case)
    q, v = twin.start()

    def derivative(_, y):
        q, v = y[: len(twin.start()[0])], y[len(twin.start()[0]) :]
        turn = Rotation.from_quat(q[3:7])
        x, y_, z, w = q[3:7]
        p = v[3:6]
        spin = 0.5 * np.array([w * p[0] + y_ * p[2] - z * p[1], w * p[1] + z * p[0] - x * p[2],
                               w * p[2] + x * p[1] - y_ * p[0], -x * p[0] - y_ * p[1] - z * p[2]])  # fmt: skip
        unit = q.copy()
        unit[3:7] = turn.as_quat()
        return np.concatenate([turn.apply(v[:3]), spin, v[6:], twin.acceleration(unit, v)])

    times = data.time.values
    found = solve_ivp(
        derivative, (0, times[-1]), np.concatenate([q, v]), "DOP853", t_eval=times, rtol=1e-11, atol=1e-12
    )
    rows = found.y.T
    np.testing.assert_allclose(data.position.sel(body="bus"), rows[:, :3], rtol=0, atol=1e-7)
    for name in PARENTS:
        if KINDS[name] == "locked":
            continue
        at = twin.model.joints[twin.joints[name]]
        np.testing.assert_allclose(data.joint_angle.sel(joint=name), rows[:, at.idx_q], rtol=0, atol=1e-7)
        np.testing.assert_allclose(data.joint_rate.sel(joint=name), rows[:, len(q) + at.idx_v], rtol=0, atol=1e-6)
    for number, row in enumerate(rows):
        pin.forwardKinematics(twin.model, twin.data, row[: len(q)])
        for name in ("tool", "mast"):
            joint, seat = twin.frames[name]
            place = (twin.data.oMi[joint] * seat).translation
            np.testing.assert_allclose(data.position.sel(body=name)[number], place, rtol=0, atol=1e-7)
