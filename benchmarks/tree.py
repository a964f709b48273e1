"""Accelerations of trees of links, M v̇ = −h: flexible arm, long chains, and a rigid arm beside Pinocchio. One process."""

import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin
from jax.scipy.linalg import cho_factor, cho_solve

from dockdyn.backend import BACKENDS, VARIABLE
from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.programs import Program

REPEATS = 5
LONG = 3.0  # s that a program runs before it is timed
EVALUATIONS = 2_000  # in one compiled loop, each at the place that the one before leads to
MASS, INERTIA = 5.0, np.diag([0.2, 0.4, 0.5])  # kg, kg m², of the links of rigid arms
AHEAD = (0.8, 0.0, 0.0)  # m, of the next joint
AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))


def beam(modes: int) -> Beam:
    """8.13 m, 20 kg, 881 N m²."""
    numbers = (8.13, 20.0, 881.0, 881.0, 1.0, 0.0, 0.0)
    return Beam(*map(jnp.asarray, numbers), modes=(modes, 0, 0), basis="polynomial", stiffening=True)


def flexible_arm(modes: int):
    """A spacecraft, two flexible links, a hand and its payload, in a plane: 6 velocities and the modes of both links."""
    hand = {"mass": 0.2, "centre": (0.1, 0, 0), "inertia": np.diag([0.0, 7e-4, 7e-4])}
    links = [
        Link("spacecraft", mass=10_000.0, inertia=np.diag([4e4, 4e4, 4e4])),
        Link("upper", "spacecraft", mount=(0, 2.45, 0), beam=beam(modes)),
        Link("lower", "upper", at=1.0, beam=beam(modes)),
        Link("hand", "lower", at=1.0, **hand),
        Link("payload", "hand", joint="locked", mount=(0.2, 0, 0), mass=1000.0, inertia=np.diag([500.0] * 3)),
    ]
    return tree_of(links, "planar")


def rigid_arm(joints: int):
    """A free base and a chain of rigid links on hinges about z, y and x in turn."""
    links = [Link("base", mass=MASS * 20, inertia=INERTIA * 20)]
    for index in range(joints):
        parent = links[-1].name
        given = {"axis": AXES[index % 3], "mount": AHEAD, "mass": MASS, "centre": (0.4, 0, 0), "inertia": INERTIA}
        links.append(Link(f"link {index}", parent, **given))
    return tree_of(links)


def start(tree, seed: int = 0):
    """A configuration with bent joints, and velocities."""
    rng = np.random.default_rng(seed)
    layout, joints = tree.layout, len(tree.joint_rest)
    attitude = jnp.array([1.0, 0.0, 0.0, 0.0])
    angles, modes = jnp.asarray(rng.uniform(-1, 1, joints)), jnp.asarray(rng.uniform(-0.1, 0.1, sum(layout.modes)))
    q = Configuration(jnp.zeros(3), attitude, angles, jnp.zeros((0, 4)), modes)
    return q, jnp.asarray(rng.uniform(-0.1, 0.1, len(tree.names())))


def best(work, count: int) -> float:
    """Seconds per unit of `work` when it is done in `count` units: the best of several."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times) / count


def measure(tree) -> dict[str, tuple[float, float]]:
    """By backend, seconds of one evaluation, and those that the program took to be traced and compiled."""

    def many(tree, q, v):
        def once(_, state):
            q, v, summed = state
            mass, h, _ = tree.dynamics(q, v)
            rates = cho_solve(cho_factor(mass), -h)
            moved = Configuration(q.position, q.attitude, q.joints + 1e-9 * rates[0], q.balls, q.modes)
            return moved, v, summed + rates

        return jax.lax.fori_loop(0, EVALUATIONS, once, (q, v, jnp.zeros_like(v)))

    q, v = start(tree)
    found = {}
    for backend in BACKENDS:
        os.environ[VARIABLE] = backend
        program = Program(many)
        began = time.perf_counter()
        jax.block_until_ready(program(tree, q, v))
        compiled = time.perf_counter() - began
        while time.perf_counter() - began < compiled + LONG:  # so that machine code is written better meanwhile
            jax.block_until_ready(program(tree, q, v))
        found[backend] = best(lambda run=program: jax.block_until_ready(run(tree, q, v)), EVALUATIONS), compiled
    return found


def pinocchio_arm(joints: int):
    """The same free arm there, its configuration and velocities."""
    model = pin.Model()
    model.gravity = pin.Motion.Zero()
    holder = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(holder, pin.Inertia(MASS * 20, np.zeros(3), INERTIA * 20), pin.SE3.Identity())
    kinds = pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX
    for index in range(joints):
        seat = pin.SE3(np.eye(3), np.array(AHEAD))
        holder = model.addJoint(holder, kinds[index % 3](), seat, f"link {index}")
        model.appendBodyToJoint(holder, pin.Inertia(MASS, np.array([0.4, 0, 0]), INERTIA), pin.SE3.Identity())
    return model


def pinocchio_time(joints: int) -> tuple[float, float]:
    """Seconds of its articulated-body algorithm, the call from Python (0.2 us) included; largest difference to ours."""
    tree, model = rigid_arm(joints), pinocchio_arm(joints)
    data = model.createData()
    q, v = start(tree)
    place, speeds = np.concatenate([np.zeros(6), [1.0], q.joints]), np.asarray(v)
    load = np.zeros(model.nv)
    mass, h, _ = jax.jit(lambda q, v: tree.dynamics(q, v))(q, v)
    difference = np.abs(np.linalg.solve(mass, -h) - pin.aba(model, data, place, speeds, load)).max()

    def work():
        for _ in range(EVALUATIONS):
            pin.aba(model, data, place, speeds, load)

    return best(work, EVALUATIONS), difference


def main() -> None:
    jax.config.update("jax_enable_compilation_cache", False)
    print(f"{os.cpu_count()} cores; best of {REPEATS}; one evaluation of the accelerations, in a loop of {EVALUATIONS}")
    print("tree                                       velocities      native  compiled in         xla  compiled in")

    def row(name, tree):
        found = measure(tree)
        told = " ".join(f"{each * 1e6:9.2f} us {compiled:10.1f} s" for each, compiled in found.values())
        print(f"  {name:42} {len(tree.names()):8} {told}", flush=True)
        return found["native"][0]

    for modes in (0, 1, 2, 3, 4):
        row(f"plane arm of 5 bodies, {modes} modes a flexible link", flexible_arm(modes))
    arm = row("free rigid arm of 6 joints", rigid_arm(6))
    for joints in (3, 7, 15, 30, 31):
        row(f"free rigid chain of {joints + 1} links", rigid_arm(joints))
    theirs, difference = pinocchio_time(6)
    arm_velocities = len(rigid_arm(6).names())
    print(f"  {f'the same arm, Pinocchio {pin.__version__} (aba)':42} {arm_velocities:8} {theirs * 1e6:9.2f} us")
    print(f"  ratio: {arm / theirs:.2f}; largest difference of accelerations: {difference:.1e}")


if __name__ == "__main__":
    main()
