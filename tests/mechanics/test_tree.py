"""Trees of links against Pinocchio, against Lagrange's equations from coordinates alone, and against what must be kept."""

from __future__ import annotations

import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.trees.assembly import Link, tree_of
from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
from dockdyn.results.plan import jit_once

COORDINATES = {"revolute": 1, "prismatic": 1, "spherical": 3, "locked": 0}
BASE_COORDINATES = {"free": 6, "planar": 3, "fixed": 0}

compiled = jit_once(lambda tree, q, v: (*tree.dynamics(q, v), tree.potential_energy(q), tree.kinetic_energy(q, v)))
stiffness = jit_once(lambda tree, q: jax.hessian(tree.potential_energy)(q).modes.modes)


def dynamics(tree: Tree, q: Configuration, v: np.ndarray):
    """Mass matrix, bias, motion, potential and kinetic energy, as NumPy's."""
    return jax.tree.map(np.asarray, compiled(tree, q, jnp.asarray(v)))


def scalar_first(rotation: Rotation) -> np.ndarray:
    return rotation.as_quat(scalar_first=True)


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """Moments of inertia (kg m²) that a body can have."""
    axes = Rotation.random(rng=rng).as_matrix()
    return axes @ np.diag(mass * rng.uniform(0.2, 0.35, 3)) @ axes.T


def random_link(rng: np.random.Generator, name: str, parent: str | None, joint: str, **given) -> Link:
    mass = rng.uniform(1, 9)
    numbers = {
        "axis": rng.normal(size=3),
        "mount": rng.uniform(-1, 1, 3),
        "mount_turn": Rotation.random(rng=rng).as_matrix(),
        "mass": mass,
        "centre": rng.normal(size=3) * 0.3,
        "inertia": random_inertia(rng, mass),
    }
    return Link(name=name, parent=parent, joint=joint, **{**numbers, **given})


class Case(NamedTuple):
    """A tree somewhere, and the coordinates that the tests keep of it."""

    links: list[Link]  # in the tree's order
    base: str
    tree: Tree
    origin: Rotation  # of the base where its coordinates are zero
    coordinates: np.ndarray  # base: place (m) and rotation vector; joints: rad, m, rotation vectors; modes
    rates: np.ndarray


def own_size(case: Case, link: Link) -> int:
    """Coordinates of a link's joint, or of the base."""
    return BASE_COORDINATES[case.base] if link.parent is None else COORDINATES[link.joint]


def case(rng: np.random.Generator, links: list[Link], base: str) -> Case:
    tree = tree_of(links, base)
    links = sorted(links, key=lambda link: tree.layout.names.index(link.name))
    modes = sum(link.beam.count for link in links if link.beam is not None)
    count = BASE_COORDINATES[base] + sum(COORDINATES[link.joint] for link in links if link.parent is not None)
    coordinates = rng.uniform(-1, 1, count + modes)
    coordinates[count:] *= 0.3
    return Case(links, base, tree, Rotation.random(rng=rng), coordinates, rng.normal(size=count + modes))


def configuration(case: Case) -> Configuration:
    """The library's, from the coordinates."""
    x = case.coordinates
    place, turn, joints, balls = np.zeros(3), np.zeros(3), [], []
    for link in case.links:
        own, x = np.split(x, [own_size(case, link)])
        if link.parent is None:
            if case.base == "free":
                place, turn = own[:3], own[3:]
            elif case.base == "planar":
                place[:2], turn[2] = own[:2], own[2]
        elif link.joint == "spherical":
            balls.append(scalar_first(Rotation.from_rotvec(own)))
        else:
            joints.extend(own)
    return Configuration(
        position=jnp.asarray(case.origin.apply(place)),
        attitude=jnp.asarray(scalar_first(case.origin * Rotation.from_rotvec(turn))),
        joints=jnp.asarray(joints, float),
        balls=jnp.asarray(balls, float).reshape(-1, 4),
        modes=jnp.asarray(x),
    )


# --- against Pinocchio -----------------------------------------------------------------------------------------


def random_tree(seed: int, size: int, base: str) -> Case:
    """Rigid links with joints of all kinds, each on any link before it."""
    rng = np.random.default_rng(seed)
    links = [random_link(rng, "link 0", None, "locked")]
    for index in range(1, size + 1):
        parent = f"link {rng.integers(max(0, index - 3), index)}"
        joint = rng.choice(list(COORDINATES), p=[0.5, 0.2, 0.2, 0.1])
        links.append(random_link(rng, f"link {index}", parent, str(joint)))
    return case(rng, links, base)


class Pinocchio(NamedTuple):
    """The same tree there."""

    model: object
    place: np.ndarray
    columns: np.ndarray  # of Pinocchio, in the order of the velocities here
    holders: list[tuple]  # of every link: its joint there, and where it is in that joint's frame


def pinocchio_model(pin, case: Case) -> Pinocchio:
    """Joints are added depth first: Pinocchio's mass matrix needs the joints of a branch together."""
    model, holders, places = pin.Model(), {}, {}
    model.gravity = pin.Motion.Zero()
    starts = np.cumsum([own_size(case, link) for link in case.links])
    own = dict(zip((link.name for link in case.links), np.split(case.coordinates, starts), strict=False))

    def joint_model(link: Link):
        if link.parent is None:
            return pin.JointModelFreeFlyer() if case.base == "free" else pin.JointModelPlanar()
        if link.joint == "spherical":
            return pin.JointModelSpherical()
        kind = pin.JointModelRevoluteUnaligned if link.joint == "revolute" else pin.JointModelPrismaticUnaligned
        return kind(np.asarray(link.axis) / np.linalg.norm(link.axis))

    def place(x: np.ndarray, link: Link) -> np.ndarray:
        if link.parent is None and case.base == "planar":
            return np.array([*x[:2], np.cos(x[2]), np.sin(x[2])])
        return np.array([*x[:-3], *Rotation.from_rotvec(x[-3:]).as_quat()]) if len(x) >= 3 else x

    def add(link: Link) -> None:
        if link.parent is None:
            on, seat = 0, pin.SE3(case.origin.as_matrix(), np.zeros(3))
        else:
            on, there = holders[link.parent]
            seat = there * pin.SE3(np.asarray(link.mount_turn), np.asarray(link.mount))
        if own_size(case, link):
            joint = model.addJoint(on, joint_model(link), seat, link.name)
            on, seat, places[joint] = joint, pin.SE3.Identity(), (link.name, place(own[link.name], link))
        holders[link.name] = on, seat
        model.appendBodyToJoint(on, pin.Inertia(link.mass, np.asarray(link.centre), link.inertia), seat)
        for child in case.links:
            if child.parent == link.name:
                add(child)

    add(case.links[0])
    columns = {
        name: np.arange(model.joints[joint].nv) + model.joints[joint].idx_v for joint, (name, _) in places.items()
    }
    return Pinocchio(
        model,
        np.concatenate([places[joint][1] for joint in sorted(places)]),
        np.concatenate([columns[link.name] for link in case.links if link.name in columns]),
        [holders[link.name] for link in case.links],
    )


@pytest.mark.parametrize(
    ("seed", "size", "base"),
    [(0, 12, "free"), (2, 9, "fixed"), (3, 11, "planar"), (5, 0, "free")],
)
def test_rigid_trees_against_pinocchio(seed, size, base):
    """Mass matrix, bias, places, twists and their rates at constant velocities of random trees."""
    pin = pytest.importorskip("pinocchio", reason="cross-check with Pinocchio (tests only)")
    case = random_tree(seed, size, base)
    model, place, columns, holders = pinocchio_model(pin, case)
    data, v, there_v = model.createData(), case.rates, np.zeros(model.nv)
    there_v[columns] = v
    mass = pin.crba(model, data, place)
    mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(columns, columns)]
    bias = pin.nonLinearEffects(model, data, place, there_v)[columns]
    pin.forwardKinematics(model, data, place, there_v, np.zeros(model.nv))

    found, h, motion, *_ = dynamics(case.tree, configuration(case), v)
    scale = np.abs(mass).max()
    np.testing.assert_allclose(found, mass, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(h, bias, rtol=0, atol=1e-12 * np.abs(bias).max())
    for index, (joint, there) in enumerate(holders):
        world = data.oMi[joint] * there
        np.testing.assert_allclose(motion.position[index], world.translation, rtol=0, atol=1e-13)
        np.testing.assert_allclose(motion.rotation[index], world.rotation, rtol=0, atol=1e-13)
        np.testing.assert_allclose(motion.twist[index], there.actInv(data.v[joint]).vector, rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.bias[index], there.actInv(data.a[joint]).vector, rtol=0, atol=1e-11)
        np.testing.assert_allclose(case.tree.jacobian(motion, index) @ v, motion.twist[index], rtol=0, atol=1e-12)


# --- against Lagrange's equations from coordinates alone -----------------------------------------------------------


def rodrigues(turn):
    """Rotation matrix of a rotation vector that is not zero."""
    angle = jnp.sqrt(turn @ turn)
    across = jnp.cross(jnp.eye(3), turn / angle)
    return jnp.eye(3) + jnp.sin(angle) * across + (1 - jnp.cos(angle)) * across @ across


def clamped(power, degree, x):
    """ξ^power P_degree(2ξ − 1) and two derivatives."""
    unit = np.eye(degree + 1)[degree]
    p, d, dd = (
        np.polynomial.legendre.legval(2 * x - 1, np.polynomial.legendre.legder(unit, k)) * 2**k for k in range(3)
    )
    if power == 1:
        return x * p, p + x * d, 2 * d + x * dd
    return x**2 * p, 2 * x * p + x**2 * d, 2 * p + 4 * x * d + x**2 * dd


def clamped_free(index, x):
    """The modes of a cantilever as textbooks print them, one at the tip, and two derivatives."""
    root = (1.8751040687119611, 4.694091132974175, 7.854757438237613)[index]
    sigma = (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))
    c, s, cosine, sine = np.cosh(root * x), np.sinh(root * x), np.cos(root * x), np.sin(root * x)
    raw = c - cosine - sigma * (s - sine), s + sine - sigma * (c - cosine), c + cosine - sigma * (s + sine)
    return tuple(value * root**order / (2 * (-1) ** index) for order, value in enumerate(raw))


POINTS, WEIGHTS = np.polynomial.legendre.leggauss(24)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


def rows(beam: Beam, x, order):
    """Derivatives by ξ of the displacement along y and z and of the twist, by modal coordinate; ξ along the first axis."""
    y, z, twist = beam.modes
    found = np.zeros((*np.shape(x), 3, beam.count))
    for axis, first, modes in ((0, 0, y), (1, y, z), (2, y + z, twist)):
        for k in range(modes):
            bending = clamped_free(k, x) if beam.basis == "cantilever" else clamped(2, k, x)
            found[..., axis, first + k] = (clamped(1, k, x) if axis == 2 else bending)[order]
    return found


class Bent(NamedTuple):
    """A beam from its modal coordinates."""

    beam: Beam
    eta: jax.Array

    def place(self, x):
        """Of sections; the arc keeps its length to second order: they fall short by half the integral of slope²."""
        across = rows(self.beam, x, 0)[..., :2, :] @ self.eta
        along = self.beam.length * x
        if self.beam.stiffening:
            slopes = rows(self.beam, np.multiply.outer(x, POINTS), 1)[..., :2, :] @ self.eta / self.beam.length
            along = along - 0.5 * along * (jnp.sum(slopes**2, axis=-1) @ WEIGHTS)
        return jnp.concatenate([along[..., None], across], axis=-1)

    def turn(self, x):
        """Rotation vector of the section (rad): the slopes themselves."""
        y, z = rows(self.beam, x, 1)[:2] @ self.eta / self.beam.length
        return jnp.stack([rows(self.beam, x, 0)[2] @ self.eta, -z, y])

    def energy(self):
        """Of bending and twisting (J)."""
        curvature = rows(self.beam, POINTS, 2)[:, :2] @ self.eta / self.beam.length**2
        twist = rows(self.beam, POINTS, 1)[:, 2] @ self.eta / self.beam.length
        stiff = jnp.stack([self.beam.bending_y, self.beam.bending_z])
        return 0.5 * self.beam.length * WEIGHTS @ (curvature**2 @ stiff + self.beam.torsion * twist**2)


def frames(case: Case, x):
    """Place and rotation of every link frame, with its beam bent, from the coordinates."""
    found, start = {}, 0
    modes = len(x) - sum(link.beam.count for link in case.links if link.beam is not None)
    for link in case.links:
        own = x[start : start + own_size(case, link)]
        start += own_size(case, link)
        if link.parent is None:
            place, rotation = jnp.zeros(3), jnp.asarray(case.origin.as_matrix())
            if case.base == "free":
                place, rotation = rotation @ own[:3], rotation @ rodrigues(own[3:])
            elif case.base == "planar":
                place = rotation @ jnp.array([own[0], own[1], 0.0])
                rotation = rotation @ rodrigues(jnp.array([0.0, 0.0, 1.0]) * own[2])
        else:
            place, rotation, parent = found[link.parent]
            if link.at is not None:
                place = place + rotation @ parent.place(link.at)
                rotation = rotation @ rodrigues(parent.turn(link.at))
            place = place + rotation @ jnp.asarray(link.mount)
            rotation = rotation @ link.mount_turn
            axis = jnp.asarray(link.axis) / jnp.linalg.norm(jnp.asarray(link.axis))
            if link.joint == "revolute":
                rotation = rotation @ rodrigues(axis * own[0])
            elif link.joint == "prismatic":
                place = place + rotation @ axis * own[0]
            elif link.joint == "spherical":
                rotation = rotation @ rodrigues(own)
        bent = None
        if link.beam is not None:
            bent = Bent(link.beam, x[modes : modes + link.beam.count])
            modes += link.beam.count
        found[link.name] = place, rotation, bent
    return found


def angular_velocity(rotation, rotating):
    """In body axes, from a rotation matrix and its rate."""
    own = rotation.T @ rotating
    return jnp.stack([own[2, 1], own[0, 2], own[1, 0]])


def velocities(case: Case, x, rates):
    """The library's velocities: base twist in base axes, joints' rates, those of balls in body axes, modes."""
    found, start = [], 0
    base = case.links[0].name
    (_, rotation), (moving, rotating) = jax.jvp(lambda x: frames(case, x)[base][:2], (x,), (rates,))
    twist = jnp.concatenate([rotation.T @ moving, angular_velocity(rotation, rotating)])
    for link in case.links:
        part = slice(start, start + own_size(case, link))
        start = part.stop
        if link.parent is None:
            own = twist if case.base == "free" else twist[jnp.array([0, 1, 5])] if case.base == "planar" else twist[:0]
        elif link.joint == "spherical":
            own = angular_velocity(*jax.jvp(rodrigues, (x[part],), (rates[part],)))
        else:
            own = rates[part]
        found.append(own)
    return jnp.concatenate([*found, rates[start:]])


def energy(case: Case, x, rates):
    """Kinetic energy (J) of rigid bodies and of the points of beams.

    A section turns about the link's x axis only, at the link's angular velocity about it plus the rate of twist: what
    bending makes of that axis is left out, as it is in the library.
    """

    def seen(x):
        found, centres, points, twists = frames(case, x), [], [], []
        for link in case.links:
            place, rotation, bent = found[link.name]
            centres.append(place + rotation @ jnp.asarray(link.centre))
            if bent is not None:
                points.append(place + bent.place(POINTS) @ rotation.T)
                twists.append(rows(link.beam, POINTS, 0)[:, 2] @ bent.eta)
        return [found[link.name][1] for link in case.links], centres, points, twists

    now, (rotating, moving, flowing, twisting) = jax.jvp(seen, (x,), (rates,))
    total, flexible = 0.0, 0
    for index, link in enumerate(case.links):
        omega = angular_velocity(now[0][index], rotating[index])
        total += 0.5 * link.mass * moving[index] @ moving[index] + 0.5 * omega @ jnp.asarray(link.inertia) @ omega
        if link.beam is not None:
            squares = jnp.sum(flowing[flexible] ** 2, axis=1)
            spin = link.beam.polar_inertia * link.beam.length * (omega[0] + twisting[flexible]) ** 2
            total += 0.5 * WEIGHTS @ (link.beam.mass * squares + spin)
            flexible += 1
    return total


def potential(case: Case, x):
    """Of beams and joint springs (J)."""
    total, start = 0.0, 0
    found = frames(case, x)
    for link in case.links:
        own = x[start : start + own_size(case, link)]
        start += own_size(case, link)
        if link.parent is not None and link.joint in ("revolute", "prismatic"):
            total += 0.5 * link.stiffness * (own[0] - link.rest) ** 2
        if link.beam is not None:
            total += found[link.name][2].energy()
    return total


def lagrange(case: Case, x, rates):
    """Velocities of the library, and in them mass matrix and bias; potential and kinetic energy. Undamped."""

    def function(x, rates):
        stored, kinetic = potential(case, x), energy(case, x, rates)
        return kinetic - stored, (stored, kinetic)

    def slopes(x, rates):
        return jax.grad(function, argnums=(0, 1), has_aux=True)(x, rates)

    count = len(x)
    along_x = jnp.zeros((count + 1, count)).at[count].set(rates)
    along_rates = jnp.eye(count + 1, count)
    (force, _), (_, changes), energies = jax.vmap(
        lambda dx, dr: jax.jvp(slopes, (x, rates), (dx, dr), has_aux=True), out_axes=(None, 0, None)
    )(along_x, along_rates)
    mass, bias = changes[:count], changes[count] - force
    inverse = jnp.linalg.inv(jax.jacfwd(lambda r: velocities(case, x, r))(rates))
    v, changing = jax.jvp(lambda x: velocities(case, x, rates), (x,), (rates,))
    here = inverse.T @ mass @ inverse
    return v, here, inverse.T @ bias - here @ changing, *energies


def beam(modes, rng, basis="polynomial", stiffening=True, polar=0.3) -> Beam:
    stiff = rng.uniform(100, 900, 3)
    return Beam(
        length=jnp.asarray(rng.uniform(1, 3)),
        mass=jnp.asarray(rng.uniform(2, 9)),
        bending_y=jnp.asarray(stiff[0]),
        bending_z=jnp.asarray(stiff[1]),
        torsion=jnp.asarray(stiff[2]),
        polar_inertia=jnp.asarray(polar),
        damping=jnp.asarray(0.0),
        modes=modes,
        basis=basis,
        stiffening=stiffening,
    )


def planar_arm(rng, **given):
    """A base with an arm of two flexible links and a rigid hand, as a plane robot's."""
    flat = {"axis": (0, 0, 1), "mount": (0, 0, 0), "mount_turn": np.eye(3), "centre": (0.4, 0, 0)}
    light = {**flat, "mass": 0.0, "inertia": np.zeros((3, 3))}
    return [
        random_link(rng, "base", None, "locked"),
        random_link(
            rng, "upper", "base", "revolute", **{**light, "mount": (0, 1, 0)}, beam=beam((3, 0, 0), rng, **given)
        ),
        random_link(rng, "lower", "upper", "revolute", **light, at=1.0, beam=beam((2, 0, 0), rng, **given)),
        random_link(rng, "hand", "lower", "revolute", **flat, at=1.0, stiffness=3.0, rest=0.4),
    ]


def one_link(rng, **given):
    """A base with one link that bends both ways and twists, and a rigid hand."""
    return [
        random_link(rng, "base", None, "locked"),
        random_link(rng, "boom", "base", "revolute", beam=beam((1, 1, 1), rng, **given)),
        random_link(rng, "hand", "boom", "revolute", at=1.0, stiffness=3.0, rest=0.4),
    ]


def branches(rng, **given):
    """All joints, beams that bend both ways and twist, branches at a tip and halfway."""
    return [
        random_link(rng, "base", None, "locked", beam=beam((1, 1, 1), rng, **given)),
        random_link(rng, "boom", "base", "spherical", beam=beam((2, 1, 1), rng, **given), at=1.0),
        random_link(rng, "plate", "boom", "revolute", at=0.4, stiffness=5.0, rest=0.2),
        random_link(rng, "slider", "boom", "prismatic", at=1.0, beam=beam((0, 2, 0), rng, **given), stiffness=7.0),
        random_link(rng, "probe", "slider", "locked", at=0.8),
        random_link(rng, "tail", "base", "revolute", beam=beam((0, 0, 0), rng, **given)),
        random_link(rng, "fin", "plate", "locked", beam=beam((1, 0, 2), rng, **given)),
    ]


@pytest.mark.parametrize(
    ("make", "base", "given"),
    [
        (one_link, "free", {}),
        *(
            pytest.param(*others, marks=pytest.mark.full)
            for others in (
                (planar_arm, "planar", {}),
                (planar_arm, "planar", {"stiffening": False, "polar": 0.0}),
                (planar_arm, "fixed", {"basis": "cantilever"}),
                (branches, "free", {}),
                (branches, "planar", {}),
                (branches, "fixed", {"stiffening": False}),
            )
        ),
    ],
)
def test_equations_of_motion_against_lagrange(make, base, given):
    """Mass matrix, bias and energies from positions alone, differentiated."""
    rng = np.random.default_rng(len(base) + 10 * len(given))
    case_ = case(rng, make(rng, **given), base)
    independent = jit_once(lambda x, r: lagrange(case_, x, r))
    v, mass, bias, stored, kinetic = map(np.asarray, independent(case_.coordinates, case_.rates))
    q = configuration(case_)
    found, h, _, *energies = dynamics(case_.tree, q, v)
    # quadrature of hyperbolic functions is not exact, and accelerations magnify that
    near, nearer = (1e-13, 1e-10) if given.get("basis") != "cantilever" else (1e-12, 1e-10)
    accelerations = np.linalg.solve(mass, bias)
    np.testing.assert_allclose(found, mass, rtol=0, atol=near * np.abs(mass).max())
    np.testing.assert_allclose(h, bias, rtol=0, atol=near * np.abs(bias).max())
    np.testing.assert_allclose(
        np.linalg.solve(found, h), accelerations, rtol=0, atol=nearer * np.abs(accelerations).max()
    )
    np.testing.assert_allclose(energies, [stored, kinetic], rtol=10 * near)


# --- what a free tree keeps ----------------------------------------------------------------------------------------

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
    return Case(links, "planar", tree_of(links, "planar"), Rotation.identity(), np.zeros(len(rates)), rates)


def test_five_bodies_before_impact():
    """Energy, momentum and speed of the hand's tip that the tables give by hand."""
    case_ = five_bodies(0, payload=False)
    q, v = configuration(case_), case_.rates
    motion = dynamics(case_.tree, q, v)[2]
    tip = motion.rotation[3] @ (motion.twist[3, :3] + np.cross(motion.twist[3, 3:], [HAND, 0, 0]))
    found = kept(case_, q, v)
    np.testing.assert_allclose(tip[:2], [0.018293, 0.099208], atol=6e-7)  # m/s
    np.testing.assert_allclose(found.linear[:2], [-2.004428, 1.926514], atol=6e-7)  # N s
    assert found.kinetic == pytest.approx(0.137194, abs=6e-7)  # J


@pytest.mark.parametrize(
    ("given", "frequencies"),
    [
        ({"modes": 4, "payload": False, "joint": "locked"}, {0: 0.2819, 1: 1.246, 2: 4.37}),
        ({"modes": 3}, {-1: 37.8}),
    ],
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

    @jax.jit
    def flow(_, y):
        q, v = back(y)
        mass, h, _ = case.tree.dynamics(q, v)
        return ravel_pytree((case.tree.rate(q, v), jnp.linalg.solve(mass, load - h)))[0]

    times = np.linspace(0, duration, samples)
    found = solve_ivp(flow, (0, duration), start, "DOP853", times, rtol=tolerance, atol=tolerance)
    assert found.success, found.message
    return [back(jnp.asarray(y)) for y in found.y.T]


@pytest.mark.parametrize(
    ("name", "duration"),
    [("rigid", 5.0), ("five bodies", 20.0), ("branches", 1.0)],
)
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


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("links", "base", "message"),
    [
        ([Link("a")], "flying", "base is 'flying'; must be one of free, planar, fixed"),
        (
            [Link("a"), Link("b", "a", joint="helical")],
            "free",
            "link 'b': joint is 'helical'; must be one of revolute, ",
        ),
        ([Link("a"), Link("b", "c")], "free", "link 'b': its parent 'c' is no link"),
        ([Link("a"), Link("b", "c"), Link("c", "b")], "free", "links b, c form a loop"),
        ([Link("a"), Link("b", "b")], "free", "links b form a loop"),
        ([Link("a"), Link("b")], "free", "2 links have no parent (a, b)"),
        ([Link("a", "b"), Link("b", "a")], "free", "0 links have no parent"),
        ([], "free", "0 links have no parent"),
        ([Link("a"), Link("b", "a"), Link("b", "a")], "free", "two links are called 'b'"),
        ([Link("a"), Link("b", "a", at=0.5)], "free", "link 'b': at = 0.5: its parent 'a' has no beam"),
    ],
)
def test_no_tree(links, base, message):
    """One line that names the link and what is wrong."""
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        tree_of(links, base)
    assert "\n" not in str(caught.value)


def test_links_in_any_order():
    """Parents may come after their children."""
    rng = np.random.default_rng(3)
    links = [random_link(rng, name, parent, "revolute") for name, parent in (("a", None), ("b", "a"), ("c", "b"))]
    straight, mixed = tree_of(links), tree_of([links[2], links[0], links[1]])
    assert straight.layout == mixed.layout
    assert all(np.array_equal(one, other) for one, other in zip(straight.links, mixed.links, strict=True))
