"""Gravity seen from an orbit, in exact arithmetic; kinetic energies of trees in the plane and in space."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.trees import planar
from dockdyn.mechanics.trees.assembly import Link, tree_of
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.momentum import momentum
from dockdyn.mechanics.trees.planar import Pair, PlanarTree
from dockdyn.mechanics.trees.spatial import SpatialTree
from dockdyn.programs import Program

MU, RADIUS = 3.986004418e14, 6.731290e6  # m³/s², m
RATE_SQUARED = MU / RADIUS**3


def orbit(gradient=False, eccentricity=0.0, anomaly=0.0):
    return Orbit(*map(jnp.asarray, (MU, RADIUS, eccentricity, anomaly)), gradient, eccentricity == 0.0)


# --- gravity -----------------------------------------------------------------------------------------------------------


def exactly(values):
    return [Decimal(float(value)) for value in values]


def tidal_decimal(offset, radius=RADIUS):
    """−μ/|r + ρ| − μ r·ρ/R³ + μ/R and its gradient for r along x, in 60 digits."""
    mu, big = Decimal(MU), Decimal(radius)
    x, y, z = exactly(offset)
    distance = ((big + x) ** 2 + y**2 + z**2).sqrt()
    value = -mu / distance - mu * x / big**2 + mu / big
    pull = mu / distance**3
    return value, (pull * (big + x) - mu / big**2, pull * y, pull * z)


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0, 1e4, 1e6])
def test_tidal_potential_and_force_lose_no_digits(size):
    random = np.random.default_rng(3)
    field = orbit()

    @jax.jit
    def value_and_gradient(offset):
        return jax.value_and_grad(lambda o: field.tidal(jnp.asarray(RADIUS), o[0], o @ o))(offset)

    for direction in [*np.eye(3), *random.normal(size=(5, 3))]:
        offset = direction * size
        with localcontext(prec=60):
            value, gradient = tidal_decimal(offset)
        found = value_and_gradient(offset)
        scale = RATE_SQUARED * (offset @ offset)
        assert abs(float(found[0]) - float(value)) < 1e-15 * scale + 1e-10 * abs(float(value))
        assert np.asarray(found[1]) == pytest.approx(
            np.array(gradient, float), rel=1e-10, abs=1e-15 * RATE_SQUARED * size
        )


def test_tidal_potential_of_a_millimetre_in_relative_digits():
    for offset in ([1e-3, 0.0, 0.0], [0.0, 2e-3, 0.0], [3e-4, 5e-4, 1e-3]):
        with localcontext(prec=60):
            value, _ = tidal_decimal(offset)
        found = orbit().tidal(jnp.asarray(RADIUS), jnp.asarray(offset[0]), jnp.asarray(np.dot(offset, offset)))
        assert float(found) == pytest.approx(float(value), rel=1e-10)


@pytest.mark.parametrize("radius", [500.0, RADIUS])
def test_gradient_over_an_extended_body(radius):
    """Six lumps on the axes of a turned body: their potential less that of all in the middle, in 60 digits."""
    arms, mass = np.array([3.0, 1.5, 0.7]), 20.0  # m, kg a lump
    turn = Rotation.from_rotvec([0.4, -0.7, 0.5]).as_matrix()
    centre = np.array([4.0, -7.0, 2.0])
    inertia = (
        2 * mass * np.diag([arms[1] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[2] ** 2, arms[0] ** 2 + arms[1] ** 2])
    )
    lumps = np.concatenate([turn @ np.diag(arms), -turn @ np.diag(arms)], axis=1).T
    with localcontext(prec=60):
        total = sum(tidal_decimal(centre + lump, radius)[0] for lump in lumps) - 6 * tidal_decimal(centre, radius)[0]
        expected = float(total) * mass
    # what the frame's fall adds is linear in the places, and so nothing over symmetric lumps
    there = (np.array([1.0, 0.0, 0.0]) + centre / radius) @ turn
    field = Orbit(*map(jnp.asarray, (MU, radius, 0.0, 0.0)), True, True)
    along, squared, trace = jnp.asarray(centre[0]), jnp.asarray(centre @ centre), jnp.asarray(np.trace(inertia))
    found = field.spread_out(jnp.asarray(radius), along, squared, trace, jnp.asarray(there @ inertia @ there))
    assert float(found) == pytest.approx(expected, rel=max(1e-9, 20 * (arms[0] / radius) ** 2))


@pytest.mark.parametrize("eccentricity", [0.0, 0.01, 0.3, 0.8, 0.97])
@pytest.mark.parametrize("anomaly", [0.0, 2.0, -3.1])
def test_reference_orbit_is_a_two_body_motion(eccentricity, anomaly):
    """Integrated from where the orbit begins, in units of the semi-major axis, for two and a half periods."""
    e = eccentricity
    semi_latus = 1 - e**2
    start = semi_latus / (1 + e * np.cos(anomaly)) * np.array([np.cos(anomaly), np.sin(anomaly)])
    moving = np.array([-np.sin(anomaly), e + np.cos(anomaly)]) / np.sqrt(semi_latus)
    times = np.linspace(0, 5 * np.pi, 40)
    motion = solve_ivp(
        lambda _, y: np.concatenate([y[2:], -y[:2] / np.hypot(*y[:2]) ** 3]),
        (0, times[-1]),
        np.concatenate([start, moving]),
        method="DOP853",
        rtol=3e-14,
        atol=1e-14,
        t_eval=times,
    )
    found = orbit(eccentricity=e, anomaly=anomaly)
    seen = jax.jit(jax.vmap(found.reference))(jnp.asarray(times / np.sqrt(RATE_SQUARED)))
    places = np.asarray(seen.radius)[None] * np.array([seen.x, seen.y]) / RADIUS
    assert places == pytest.approx(motion.y[:2], abs=1e-9)


# --- trees -------------------------------------------------------------------------------------------------------------


def tensor(random, mass):
    axes = Rotation.random(rng=random).as_matrix()
    return axes @ np.diag(mass * random.uniform(0.2, 0.35, 3)) @ axes.T


def planar_links(random):
    """A tree in the x–y plane: both kinds of joint, both senses of hinges, mounts that turn, one link turned over."""
    over = np.diag([1.0, -1.0, -1.0])
    joints = [
        ("revolute", 1.0),
        ("prismatic", 0.0),
        ("revolute", -1.0),
        ("locked", 0.0),
        ("revolute", 1.0),
        ("prismatic", 0.0),
    ]
    parents = ["base", "one", "two", "three", "one", "base"]
    names = ["one", "two", "three", "four", "five", "six"]
    found = [Link("base", mass=30.0, centre=(0.2, -0.1, 0.0), inertia=tensor(random, 30.0))]
    for k, (name, parent, (joint, sense)) in enumerate(zip(names, parents, joints, strict=True)):
        mass, angle = random.uniform(1, 9), random.uniform(-3, 3)
        axis = (0.0, 0.0, sense) if joint == "revolute" else (np.cos(angle), np.sin(angle), 0.0)
        turn = Rotation.from_rotvec([0, 0, random.uniform(-3, 3)]).as_matrix() @ (over if k == 1 else np.eye(3))
        found.append(
            Link(
                name,
                parent,
                joint=joint,
                axis=axis,
                mount=(*random.uniform(-1, 1, 2), 0.0),
                mount_turn=turn,
                mass=mass,
                centre=(*random.normal(size=2) * 0.3, 0.0),
                inertia=tensor(random, mass),
            )
        )
    return found


def placed(links, position, attitude, joints):
    """Centres of mass and rotations of all links in axes of statement: a walk from the base outwards."""
    found, at = {"base": (position, attitude)}, 0
    for link in links[1:]:
        origin, turn = found[link.parent]
        origin, turn = origin + turn @ jnp.asarray(link.mount), turn @ link.mount_turn
        axis = jnp.asarray(link.axis)
        if link.joint == "revolute":
            turn = turn @ turned(axis * joints[at])
        elif link.joint == "prismatic":
            origin = origin + turn @ axis * joints[at]
        at += link.joint != "locked"
        found[link.name] = origin, turn
    turns = jnp.stack([found[link.name][1] for link in links])
    return jnp.stack([found[link.name][0] + found[link.name][1] @ jnp.asarray(link.centre) for link in links]), turns


@jax.jit
def turned(x):
    """The rotation by a rotation vector of up to two radians, as a series."""
    skew, found = jnp.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]]), jnp.eye(3)
    for term in range(26, 0, -1):
        found = jnp.eye(3) + skew @ found / term
    return found


def energy_about_the_centre(links, joints, spin, rates):
    """Kinetic energy (J) less that of the centre of mass, by differentiating places and rotations."""
    paths = lambda s: placed(links, jnp.zeros(3), turned(spin * s), joints + s * rates)  # noqa: E731
    (_, turns), (moving, turning) = jax.jvp(paths, (0.0,), (1.0,))
    masses = jnp.array([link.mass for link in links])
    drift = masses @ moving / masses.sum()
    energy = 0.5 * masses @ jnp.sum((moving - drift) ** 2, 1)
    for link, turn, change in zip(links, turns, turning, strict=True):
        skew = turn.T @ change
        rate = jnp.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        energy += 0.5 * rate @ jnp.asarray(link.inertia) @ rate
    return energy


@pytest.mark.parametrize("seed", range(3))
def test_kinetic_energy_of_a_planar_tree(seed, monkeypatch):
    """The last with arrays in place of scalars, as of larger trees."""
    monkeypatch.setattr(planar, "SMALL_NATIVE", 3 if seed == 2 else 32)
    random = np.random.default_rng(seed)
    links = planar_links(random)

    @Program
    def energies(joints, spin, rates):
        """As of three trees, and by differentiating."""
        plane, tree = (tree_of(links, base=base) for base in ("planar", "free"))
        plane, space = PlanarTree.of(plane), SpatialTree(tree)
        turning = jnp.zeros(3).at[2].set(spin)
        # the whole energy of the general tree has the centre of mass in it
        q = Configuration(jnp.zeros(3), jnp.eye(4)[0], joints, jnp.zeros((0, 4)), jnp.zeros(0))
        v = jnp.concatenate([jnp.zeros(3), turning, rates])
        whole = momentum("free", q, tree.dynamics(q, v)[0], v)
        drifting = 0.5 * whole.linear @ whole.linear / whole.mass
        found = (
            plane.kinetic(plane.placed(joints, spin, rates)),
            space.kinetic(joints, turning, rates),
            tree.kinetic_energy(q, v) - drifting,
        )
        return found, energy_about_the_centre(links, joints, turning, rates)

    for _ in range(3):
        found, expected = energies(random.uniform(-2, 2, 5), random.normal(), random.normal(size=5))
        assert np.array(found) == pytest.approx(float(expected), rel=1e-12)


def links_in_space(random):
    joints = ["revolute", "prismatic", "revolute", "locked", "revolute"]
    links = [Link("base", mass=12.0, centre=random.normal(size=3) * 0.2, inertia=tensor(random, 12.0))]
    for k, (name, joint) in enumerate(zip("abcde", joints, strict=True)):
        axis = random.normal(size=3)
        links.append(
            Link(
                name,
                ["base", "a", "b", "a", "d"][k],
                joint=joint,
                axis=axis / np.linalg.norm(axis),
                mount=random.uniform(-1, 1, 3),
                mount_turn=Rotation.random(rng=random).as_matrix(),
                mass=2.0 + k,
                centre=random.normal(size=3) * 0.3,
                inertia=tensor(random, 2.0 + k),
            )
        )
    return links


def changed(link, amount, direction):
    """A link of another mass, elsewhere and turned."""
    turn = turned(amount * direction)
    return replace(
        link,
        mass=link.mass * (1 + amount),
        inertia=link.inertia * (1 + amount**2),
        centre=jnp.asarray(link.centre) + amount * direction,
        mount=jnp.asarray(link.mount) - amount * direction,
        mount_turn=jnp.asarray(link.mount_turn) @ turn,
        axis=turn @ jnp.asarray(link.axis),
    )


@pytest.mark.full
def test_kinetic_energy_of_a_tree_in_space():
    """Its value, its slopes in closed form, and how these change with motion, masses, places and axes of the links."""
    random = np.random.default_rng(11)
    links = links_in_space(random)
    directions = random.normal(size=(len(links), 3))
    motion = (random.uniform(-2, 2, 4), random.normal(size=3), random.normal(size=4))

    def of(energy, slope):
        """Value, slopes, and their changes along the motion and over the numbers of the links."""

        def at(amount, x):
            return energy([changed(*one) for one in zip(links, [amount] * 6, directions, strict=True)], *x)

        @Program
        def found(amount, x):
            slopes = slope(at, 1)
            along = jax.jvp(lambda x: slopes(amount, x), (x,), (x,))[1]
            over = jax.jvp(lambda amount: slopes(amount, x), (amount,), (jnp.ones(()),))[1]
            return at(amount, x), slopes(amount, x), along, over

        return found(0.2, motion)

    found = of(lambda links, *x: SpatialTree(tree_of(links)).kinetic(*x), jax.grad)
    expected = of(energy_about_the_centre, jax.jacfwd)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


def test_kinetic_energy_by_numbers_of_its_links():
    """Differentiated backwards over the masses of the links, with the motion held and beside it."""
    links = links_in_space(np.random.default_rng(5))
    motion = (jnp.array([0.3, -0.2, 1.1, 0.7]), jnp.array([0.1, -0.4, 0.2]), jnp.array([0.5, 0.2, -0.3, 0.8]))

    def heavier(energy):
        def of(factors, *motion):
            return energy([replace(one, mass=one.mass * f) for one, f in zip(links, factors, strict=True)], *motion)

        return of

    factors = jnp.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3])
    every = (0, 1, 2, 3)
    found = Program(jax.grad(heavier(lambda links, *x: SpatialTree(tree_of(links)).kinetic(*x)), every))(
        factors, *motion
    )
    expected = Program(jax.jacfwd(heavier(energy_about_the_centre), every))(factors, *motion)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


SOME = planar_links(np.random.default_rng(5))


@Program
def links_placed(attitude, joints):
    return placed(SOME, jnp.zeros(3), turned(jnp.zeros(3).at[2].set(attitude)), joints)


@Program
def potentials(field, joints, t, centre, attitude, q):
    """Of the plane's tree and of the one in space."""
    plane = PlanarTree.of(tree_of(SOME, base="planar"))
    flat = plane.placed(joints, jnp.asarray(0.0), jnp.zeros(5))
    space = SpatialTree(tree_of(SOME))
    return (
        plane.potential(field, t, Pair(centre[0], centre[1]), attitude, flat),
        space.potential(field, t, centre, q, joints),
    )


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("radius", [80.0, RADIUS])
def test_potential_of_trees(gradient, radius):
    """Of links about their common centre, in 60 digits; the gradient's part from each link's own inertia, McCullagh."""
    random = np.random.default_rng(5)
    links = planar_links(random)
    joints, attitude, centre, t = random.uniform(-1, 1, 5), 0.7, np.array([0.3, -0.5, 0.0]), 1.3
    field = Orbit(*map(jnp.asarray, (MU, radius, 0.0, 0.4)), gradient, True)
    angle = 0.4 + np.sqrt(MU / radius**3) * t
    places, turns = map(np.asarray, links_placed(np.float64(attitude), joints))
    masses = np.array([link.mass for link in links])
    places = places - masses @ places / masses.sum() + centre
    upright = Rotation.from_rotvec([0, 0, -angle]).as_matrix()  # to axes whose x points up
    expected = 0.0
    for link, place, turn in zip(links, places, turns, strict=True):
        with localcontext(prec=60):
            expected += link.mass * float(tidal_decimal(upright @ place, radius)[0])
        if gradient:
            r = np.array([radius, 0.0, 0.0]) + upright @ place
            distance = np.linalg.norm(r)
            up = (upright @ turn).T @ r / distance
            inertia = np.asarray(link.inertia)
            expected -= MU / (2 * distance**3) * (np.trace(inertia) - 3 * up @ inertia @ up)
    q = np.array([np.cos(attitude / 2), 0.0, 0.0, np.sin(attitude / 2)])
    for found in potentials(field, joints, np.float64(t), centre, np.float64(attitude), q):
        assert float(found) == pytest.approx(expected, rel=1e-10)
