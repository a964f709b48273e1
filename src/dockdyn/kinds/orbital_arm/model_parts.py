"""Parts of the kind `orbital-arm`: what touches, what holds, and who has the payload.

Units: SI: m, kg, N s.
Source: Gibson and Murphey, sections III and IV.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.contact.surfaces.surface import Surface
from dockdyn.impact.laws.by_name import StatedLaw
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.planar import PlanarTree
from dockdyn.mechanics.trees.spatial import SpatialTree

Three = Float[Array, "3"]
Turn = Float[Array, "3 3"]


class Mode(NamedTuple):
    """What only jumps."""

    phase: Int[Array, ""]  # of the schedule
    since: Scalar  # s, when it began
    latched: Flag
    released: Flag  # the payload belongs to the station
    resting: Bool[Array, "contacts"]
    place: Three  # m, of the payload where it was caught, station axes
    attitude: Float[Array, "4"]  # payload → station axes there


class Touch(eqx.Module):
    """Points of the payload and surfaces of the station."""

    points: Float[Array, "points 3"]  # m, payload axes
    surfaces: tuple[Surface, ...]  # station axes
    link: int = eqx.field(static=True)  # the payload


class Latch(eqx.Module):
    """An impact on one of the surfaces closes it."""

    surface: int = eqx.field(static=True)
    weld: bool = eqx.field(static=True)  # holds the payload's attitude, too
    guest: int = eqx.field(static=True)  # link, locked to the station, that is the payload once it has been handed over


class Law(eqx.Module):
    """How velocities jump at an impact."""

    impact: StatedLaw
    rest_speed: Scalar  # m/s


class Loop(eqx.Module):
    """Two points of two links that stay together: a closed loop of the tree."""

    points: Float[Array, "2 3"]  # m, axes of the links
    off: Turn  # attitude of the second link in the axes of the first, kept by a weld
    links: tuple[int, int] = eqx.field(static=True)
    weld: bool = eqx.field(static=True)


def across(normal: Three, planar: bool) -> Float[Array, "tangents 3"]:
    """Unit vectors across a unit normal; one in the plane."""
    if planar:
        return jnp.stack([-normal[1], normal[0], jnp.zeros(())])[None]
    least = jnp.eye(3)[jnp.argmin(jnp.abs(normal))]
    first = jnp.cross(normal, least)
    first = first / jnp.linalg.norm(first)
    return jnp.stack([first, jnp.cross(normal, first)])


def handed_over_in_plane(bodies: PlanarTree, payload: int, guest: int, mode: Mode) -> PlanarTree:
    """The bodies with the payload's mass in the arm's hand or, released, at the station."""
    arm = jnp.where(mode.released, 0.0, 1.0)
    mass, inertia, tensor = bodies.mass, bodies.inertia, bodies.tensor
    station = 1.0 - arm
    # the numbers of the link are those with all joints at zero
    turn = Quaternion.of(mode.attitude).matrix().array() @ bodies.still[payload].T
    centre = turn[:2, :2] @ bodies.centre[payload]
    return eqx.tree_at(
        lambda b: (b.mass, b.inertia, b.tensor, b.mount, b.centre),
        bodies,
        (
            mass.at[guest].set(station * mass[payload]).at[payload].multiply(arm),
            inertia.at[guest].set(station * inertia[payload]).at[payload].multiply(arm),
            tensor.at[guest].set(station * (turn @ tensor[payload] @ turn.T)).at[payload].multiply(arm),
            bodies.mount.at[guest].set(mode.place[:2]),
            bodies.centre.at[guest].set(centre),
        ),
    )


def handed_over(bodies: SpatialTree, payload: int, guest: int, mode: Mode) -> SpatialTree:
    """The same in space."""
    arm = jnp.where(mode.released, 0.0, 1.0)
    links = bodies.tree.links
    inertia = links.inertia.at[guest].set((1.0 - arm) * links.inertia[payload]).at[payload].multiply(arm)
    turn = Quaternion.of(mode.attitude).matrix().array()
    return eqx.tree_at(
        lambda b: (b.tree.links.inertia, b.tree.links.mount, b.tree.links.mount_turn),
        bodies,
        (inertia, links.mount.at[guest].set(mode.place), links.mount_turn.at[guest].set(turn)),
    )
