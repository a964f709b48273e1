"""Momentum of trees of links, one or several together, read from their mass matrices.

Units: SI: kg, m, N s, N m s.
Source: definitions of linear and angular momentum; rows of M v, Featherstone 2008, section 2.9.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Configuration


class Momentum(NamedTuple):
    """Mass, its centre and its momenta, inertial axes."""

    mass: Float[Array, ""]  # kg
    centre: Float[Array, "3"]  # m
    linear: Float[Array, "3"]  # N s
    angular: Float[Array, "3"]  # N m s, about the inertial origin

    def spin(self) -> Float[Array, "3"]:
        """Return the angular momentum about the centre of mass (N m s)."""
        return self.angular - jnp.cross(self.centre, self.linear)


def momentum_of_tree(base: str, q: Configuration, mass: Float[Array, "n n"], v: Float[Array, "n"]) -> Momentum:
    """Return that of a tree on a free or planar base with mass matrix M at q: the base's rows of M v, and of M its centre.

    In the plane the centre counts in the plane alone.
    """
    found, zero = mass @ v, jnp.zeros(())
    turn = Quaternion.of(q.attitude).matrix().array()
    if base == "planar":
        centre = jnp.stack([mass[2, 1], -mass[2, 0], zero]) / mass[0, 0]
        linear, angular = jnp.stack([found[0], found[1], zero]), jnp.stack([zero, zero, found[2]])
    else:
        centre = jnp.stack([mass[5, 1], mass[3, 2], mass[4, 0]]) / mass[0, 0]
        linear, angular = found[:3], found[3:6]
    linear = turn @ linear
    return Momentum(mass[0, 0], q.position + turn @ centre, linear, turn @ angular + jnp.cross(q.position, linear))
