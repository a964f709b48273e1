"""Free trees of links: a published arm of five bodies, and what any tree keeps as it moves."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from lagrangian_tree import POINTS, WEIGHTS, Bent, rows
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tree_cases import Case, branches, case, configuration, dynamics, made, random_link

from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.tree_building import Link
from dockdyn.programs import Program
from dockdyn.results.plan import jit_once

stiffness = jit_once(lambda tree, q: jax.hessian(tree.potential_energy)(q).modes.modes)


LENGTH, HAND = 8.13, 0.2  # m
RATES = np.radians([0, 8.36e-1, -1.81, 9.03e-1])  # rad/s: base, shoulder, elbow, wrist
FOLDED = np.radians([67.3, 45.4, 0])  # rad: shoulder, elbow, wrist


def five_bodies(modes: int, payload: bool = True, joint: str = "revolute") -> Case:
    """A spacecraft with an arm of two flexible links and a hand that may hold a payload (Cyril et al., tables 1 and 2).

    Joint angles are zero where table 2 has them.
    """
    numbers = {"length": LENGTH, "mass": 20.0, "bending_y": 881.0, "bending_z": 881.0, "torsion": 1.0}
    leaves = {name: jnp.asarray(number) for name, number in numbers.items()}
    still = {name: jnp.asarray(0.0) for name in ("polar_inertia", "damping")}
    link = Beam(modes=(modes, 0, 0), basis="polynomial", stiffening=True, **leaves, **still)
    turns = [Rotation.from_rotvec([0, 0, angle]).as_matrix() for angle in FOLDED]
    centre = Rotation.from_rotvec([0, 0, -FOLDED.sum()]).apply([0, 1, 0]) + np.array([HAND, 0, 0])  # 1 m along y
    hand = {"mass": 0.2, "centre": (HAND / 2, 0, 0), "inertia": np.eye(3) * 0.2 * HAND**2 / 12}
    links = [
        Link("spacecraft", mass=10_000.0, inertia=np.diag([1.0, 1.0, 40_000.0])),
        Link("link 1", "spacecraft", joint=joint, mount=(0, 2.45, 0), mount_turn=turns[0], beam=link),
        Link("link 2", "link 1", joint=joint, mount_turn=turns[1], at=1.0, beam=link),
        Link("hand", "link 2", joint=joint, mount_turn=turns[2], at=1.0, **hand),
        Link("payload", "hand", joint="locked", mass=1000.0, centre=centre, inertia=np.diag([1.0, 1.0, 500.0])),
    ][: 5 if payload else 4]
    rates = np.concatenate([np.zeros(2), RATES if joint == "revolute" else RATES[:1], np.zeros(2 * modes)])
    return Case(links, "planar", made(links, "planar"), Rotation.identity(), np.zeros(len(rates)), rates)


@pytest.mark.full
def test_five_bodies_before_impact():
    """Energy, momentum and speed of the hand's tip that the tables give by hand."""
    case_ = five_bodies(0, payload=False)
    q, v = configuration(case_), case_.rates
    motion = dynamics(case_.tree, q, v)[2]
    tip = motion.rotation[3] @ (motion.twist[3][:3] + np.cross(motion.twist[3][3:], [HAND, 0, 0]))
    found = kept(case_, q, v)
    np.testing.assert_allclose(tip[:2], [0.018293, 0.099208], atol=6e-7)  # m/s
    np.testing.assert_allclose(found.linear[:2], [-2.004428, 1.926514], atol=6e-7)  # N s
    assert found.kinetic == pytest.approx(0.137194, abs=6e-7)  # J


@pytest.mark.full
@pytest.mark.parametrize(
    ("given", "frequencies"),
    [({"modes": 4, "payload": False, "joint": "locked"}, {0: 0.2819, 1: 1.246, 2: 4.37}), ({"modes": 3}, {-1: 37.8})],
)
def test_five_bodies_vibrate(given, frequencies):
    """Known frequencies (rad/s), lowest with locked joints and highest with free ones."""
    case_ = five_bodies(**given)
    q = configuration(case_)
    mass = dynamics(case_.tree, q, 0 * case_.rates)[0]
    modes = slice(-len(q.modes), None)
    flexibility = np.linalg.inv(mass)[modes, modes]  # all else is free to move
    squares = np.sort(np.linalg.eigvals(flexibility @ np.asarray(stiffness(case_.tree, q))).real)
    for which, expected in frequencies.items():
        assert np.sqrt(squares[which]) == pytest.approx(expected, rel=2e-3)


class Kept(NamedTuple):
    """What is kept, momenta about the inertial origin."""

    linear: np.ndarray  # kg m/s
    angular: np.ndarray  # kg m²/s
    scales: np.ndarray  # what the two add up to without their directions
    kinetic: float  # J
    energy: float


def kept(case: Case, q: Configuration, v: np.ndarray) -> Kept:
    """From places, rotations and twists of the links and the mass of their parts."""
    mass, _, motion, stored, _ = dynamics(case.tree, q, v)
    kinetic = 0.5 * v @ mass @ v
    first = len(v) - sum(link.beam.count for link in case.links if link.beam is not None)
    linear, angular = [], []
    for position, rotation, twist, link in zip(motion.position, motion.rotation, motion.twist, case.links, strict=True):
        omega = twist[3:]
        masses, arms, speeds = np.array([link.mass]), np.array([link.centre], float), np.zeros((1, 3))
        spin = np.asarray(link.inertia) @ omega
        if link.beam is not None:
            beam, part = link.beam, slice(first, first + link.beam.count)
            first = part.stop
            eta, rates = np.asarray(q.modes)[part.start - len(v) :][: beam.count], v[part]
            places, flowing = jax.jvp(lambda eta, beam=beam: Bent(beam, eta).place(POINTS), (eta,), (rates,))
            masses, arms = np.append(masses, WEIGHTS * float(beam.mass)), np.concatenate([arms, places])
            speeds = np.concatenate([speeds, flowing])
            polar = WEIGHTS * float(beam.polar_inertia * beam.length)
            spin = spin + np.array([polar @ (omega[0] + rows(beam, POINTS, 0)[:, 2] @ rates), 0, 0])
        pushes = masses[:, None] * ((twist[:3] + np.cross(omega, arms) + speeds) @ rotation.T)
        linear.append(pushes)
        angular.append(np.cross(position + arms @ rotation.T, pushes))
        angular.append((rotation @ spin)[None])
    linear, angular = np.concatenate(linear), np.concatenate(angular)
    sizes = np.array([np.linalg.norm(part, axis=1).sum() for part in (linear, angular)])
    return Kept(linear.sum(axis=0), angular.sum(axis=0), sizes, kinetic, kinetic + stored)


def simulate(case: Case, v: np.ndarray, duration: float, tolerance: float, samples: int = 6, load=None):
    """Configurations and velocities at `samples` times; no loads but `load` on the velocities."""
    start, back = ravel_pytree((configuration(case), jnp.asarray(v)))
    load = jnp.zeros(len(v)) if load is None else jnp.asarray(load)

    @Program
    def flow(_, y):
        q, v = back(y)
        mass, h, _ = case.tree.dynamics(q, v)
        return ravel_pytree((case.tree.rate(q, v), jnp.linalg.solve(mass, load - h)))[0]

    times = np.linspace(0, duration, samples)
    found = solve_ivp(flow, (0, duration), start, "DOP853", times, rtol=tolerance, atol=tolerance)
    assert found.success, found.message
    return [back(jnp.asarray(y)) for y in found.y.T]


@pytest.mark.full_cases("branches-1.0", "five bodies-20.0")
@pytest.mark.parametrize(("name", "duration"), [("rigid", 5.0), ("five bodies", 20.0), ("branches", 1.0)])
def test_free_trees_keep_momentum_and_energy(name, duration):
    """Rigid links with a ball joint in space, a plane flexible arm with its payload, flexible branches in space."""
    rng = np.random.default_rng(7)
    if name == "rigid":
        kinds = ("locked", "spherical", "revolute", "prismatic", "spherical")
        made = [random_link(rng, str(k), str(k - 1) if k else None, kind) for k, kind in enumerate(kinds)]
        case_ = case(rng, made, "free")
    elif name == "branches":
        case_ = case(rng, branches(rng), "free")
        case_.coordinates[-12:] *= 0.1
        case_.rates[-12:] *= 0.1
    else:
        case_ = five_bodies(2)
    tolerance = 1e-10
    states = simulate(case_, case_.rates, duration, tolerance)
    found = [kept(case_, q, np.asarray(v)) for q, v in states]
    scales = np.max([now.scales for now in found], axis=0)
    for now in found:
        assert np.abs(now.linear - found[0].linear).max() < 100 * tolerance * scales[0]
        assert np.abs(now.angular - found[0].angular).max() < 100 * tolerance * scales[1]
    assert np.ptp([now.energy for now in found]) < 100 * tolerance * max(now.kinetic for now in found)
    places = np.array([np.asarray(q.position) for q, _ in states])
    assert np.ptp(places, axis=0).max() > 0.001  # m: it moved
