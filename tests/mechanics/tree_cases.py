"""Random trees of links, rigid and flexible, and what the library makes of them."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial.transform import Rotation

from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.results.plan import jit_once

COORDINATES = {"revolute": 1, "prismatic": 1, "spherical": 3, "locked": 0}
BASE_COORDINATES = {"free": 6, "planar": 3, "fixed": 0}

compiled = jit_once(lambda tree, q, v: (*tree.dynamics(q, v), tree.potential_energy(q), tree.kinetic_energy(q, v)))


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


def made(links: list[Link], base: str) -> Tree:
    """The tree of links, in one program: its operations one by one take longer to compile."""
    return jit_once(lambda: tree_of(links, base))()


def own_size(case: Case, link: Link) -> int:
    """Coordinates of a link's joint, or of the base."""
    return BASE_COORDINATES[case.base] if link.parent is None else COORDINATES[link.joint]


def case(rng: np.random.Generator, links: list[Link], base: str) -> Case:
    tree = made(links, base)
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
