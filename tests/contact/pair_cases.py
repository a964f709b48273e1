"""Pairs of things at random, on bodies that are placed, turned and moving at random, and how they meet."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.contact import Cone, Cylinder, Intersection, Plane, Sphere, Torus
from dockdyn.contact.pairs import BallOnSurface, CapsuleOnCapsule, CapsuleOnRing, CapsuleOnSurface, RingOnPlane
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.scenario.meshes.brick_tree import BrickTree
from dockdyn.scenario.meshes.spline_bounds import steepest_of

ORIGIN, UP = np.zeros(3), np.array([0.0, 0.0, 1.0])
BOX = Intersection(
    tuple(Plane.of(0.3 * sign * axis, sign * axis) for axis in np.eye(3) for sign in (1, -1))
)  # a cube, 0.6 m wide


def gridded(surface, low, high, spacing):
    """A surface by its distances at the nodes of bricks of one size."""
    return field_from(BrickTree(partial(distances_of, surface), np.array([[low] * 3, [high] * 3]), spacing))


def field_from(tree):
    """The surface of the spline in a tree of bricks."""
    coefficients, children = tree.arrays(tree.bricks())
    steepest = steepest_of(coefficients, tree.spacings(), children == 0)
    numbers = {"coefficients": coefficients, "children": children, "steepest": steepest}
    return replace(tree.surface(), **{name: jnp.asarray(value) for name, value in numbers.items()})


@Program
def distances_of(surface, points):
    """Signed distances of points, a row for each."""
    return over_rows(lambda point: surface.signed_distance(Vector.of(point)), points)


SURFACES = {
    "plane": Plane.of((0.1, -0.2, 0.05), (1.0, 2.0, 3.0)),
    "sphere": Sphere(jnp.array([0.1, 0.2, 0.0]), jnp.array(0.3), inside=False),
    "cone": Cone.of((-0.4, 0.0, 0.1), (1.0, 0.2, 0.0), 0.7, 0.5),
    "pin": Cylinder.of((0.1, 0.0, 0.0), (0.0, 1.0, 1.0), 0.2),
    "torus": Torus.of((0.0, 0.1, 0.0), (0.3, 0.0, 1.0), 0.4, 0.05),
    "box": BOX,
    "grid": gridded(Torus.of((0.0, 0.1, 0.0), (0.3, 0.0, 1.0), 0.4, 0.2), -1.5, 1.6, 0.15),
}


def unit(rng):
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def ends(rng, reach=1.0):
    return rng.uniform(-reach, reach, (2, 3))


def pair_of(name, rng):
    """A pair with numbers at random; `name` is a class, with a surface where it has one."""
    radius = rng.uniform(0.0, 0.1)
    kind, _, surface = name.partition(" on ")
    if name == "capsule on capsule":
        found = CapsuleOnCapsule(ends(rng), radius, ends(rng), rng.uniform(0.0, 0.1))
    elif name == "capsule on ring":
        found = CapsuleOnRing(ends(rng), radius, rng.uniform(-0.3, 0.3, 3), unit(rng), rng.uniform(0.1, 0.8), 0.03)
    elif name == "ring on plane":
        found = RingOnPlane(rng.uniform(-0.3, 0.3, 3), unit(rng), rng.uniform(0.1, 0.8), 0.03, ORIGIN, unit(rng))
    elif kind == "ball":
        found = BallOnSurface(rng.uniform(-0.7, 0.7, 3), radius, SURFACES[surface])
    else:
        found = CapsuleOnSurface(ends(rng, 0.7), radius, SURFACES[surface])
    return jax.tree.map(lambda leaf: np.asarray(leaf, float), found)


PAIRS = [
    "capsule on capsule",
    "capsule on ring",
    "ring on plane",
    *(f"{kind} on {surface}" for kind in ("ball", "capsule") for surface in SURFACES),
]


def rows_of(name, count, seed=0):
    """A group: as many pairs, and the motions of both bodies, each leaf with a leading axis."""
    rng = np.random.default_rng(seed)
    rows = [(pair_of(name, rng), motion_of(rng), motion_of(rng)) for _ in range(count)]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *rows)


def motion_of(rng):
    """Position (m), attitude, velocity (m/s) and angular velocity (rad/s) of a body."""
    attitude = rng.normal(size=4)
    return rng.uniform(-0.1, 0.1, 3), attitude / np.linalg.norm(attitude), unit(rng), unit(rng)


AT_REST = ORIGIN, np.array([1.0, 0.0, 0.0, 0.0]), ORIGIN, ORIGIN


def placed(motion, time=0.0):
    """The body `time` s later, to first order."""
    position, attitude, velocity, rate = motion
    turned = attitude + time * Quaternion.of(attitude).rate(Vector.of(rate)).array()
    return Placed.of(
        Pose(Vector.of(position + time * velocity), Quaternion.of(turned).normalised()), Twist.of(velocity, rate)
    )


def numbers(touch):
    """A meeting as depth, normal and point."""
    return touch.depth, touch.normal.array(), touch.point.array()


def meeting(pair, own, other, time=0.0):
    """Depth, normal and point of a pair on two moving bodies."""
    return numbers(pair.touch(placed(own, time), placed(other, time)))


@Program
def meetings(rows, time=0.0):
    """Depths, normals and points of a group, some time (s) later."""
    return over_rows(lambda *row: meeting(*row, time), *rows)


@Program
def rates(rows):
    """Time derivatives of depths, normals and points of a group."""
    return over_rows(lambda *row: jax.jvp(lambda time: meeting(*row, time), (0.0,), (1.0,))[1], *rows)


def at_rest(pair):
    """Depth, normal and point (NumPy) of a pair on two bodies that are not turned or moved, and their derivatives.

    The derivatives are those of a first body that moves and turns about all axes.
    """
    moving = (*AT_REST[:2], np.array([0.3, -0.7, 0.5]), np.array([0.2, 0.4, -0.9]))
    rows = jax.tree.map(lambda leaf: np.asarray(leaf, float)[None], (pair, moving, AT_REST))
    return tuple(tuple(np.asarray(part)[0] for part in parts) for parts in (meetings(rows), rates(rows)))


def still(pairs, count):
    """A group of pairs on bodies that are not turned or moved."""
    motion = tuple(np.tile(part, (count, 1)) for part in AT_REST)
    return pairs, motion, motion
