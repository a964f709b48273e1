"""A tree's configuration as a row of numbers and quaternions, in which each velocity is the rate of its number.

So along q ⊕ s v (`mechanics.retraction`) velocities are v throughout: the base's is that of its origin in inertial axes, where
the tree's own are in base axes. A base in the plane has its angle for a quaternion; a joint that is held has no number.

Units: SI: m, rad, m/s, rad/s; modal coordinates in m or rad.
Source: own construction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.retraction import Attitudes
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import BASES, Configuration, Row
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.vector import Vector

type Numbers = Float[Array, "numbers"]


class TreeRow(NamedTuple):
    """A tree whose configuration is told in a row."""

    bodies: TreeBodies
    begun: Configuration  # of which heights in the plane and joints that are held stay

    @property
    def attitudes(self) -> Attitudes:
        """Where the angular velocities of quaternions begin in its row of velocities."""
        free = self._free()
        base = [3] if self._base == "free" else []
        return (*base, *(free.index(own[0]) for own in self._joints() if len(own) > 1))

    @property
    def count(self) -> int:
        """How many velocities its row has."""
        return len(self._free())

    @property
    def size(self) -> int:
        """How many numbers its row has."""
        return self.count + len(self.attitudes)

    @property
    def _base(self) -> str:
        return self.bodies.tree.layout.base

    def _free(self) -> list[int]:
        """Return the columns of the tree's velocities that the row has."""
        _, _, count = self.bodies.tree.layout.columns()
        return [column for column in range(count) if column not in self.bodies.locked]

    def _joints(self) -> list[list[int]]:
        """Return the columns of each joint that moves, held or not, in the order of the links."""
        return [own for own in self.bodies.tree.layout.columns()[0] if own]

    def numbers(self, q: Configuration) -> Numbers:
        """Return a configuration in a row."""
        attitude, parts = Quaternion.of(q.attitude), list[Array]()
        if self._base == "free":
            parts += [q.position, attitude.normalised().array()]
        elif self._base == "planar":
            parts += [q.position[:2], attitude.planar_angle()[None]]
        joints, balls = iter(q.joints), iter(q.balls)
        for own in self._joints():
            if len(own) > 1:
                parts.append(Quaternion.of(next(balls)).normalised().array())
            else:
                angle = next(joints)
                parts += [] if own[0] in self.bodies.locked else [angle[None]]
        return jnp.concatenate([*parts, q.modes])

    def configuration(self, row: Numbers) -> Configuration:
        """Return the configuration of a row."""
        position, attitude, at = self.begun.position, self.begun.attitude, BASES[self._base]
        if self._base == "free":
            position, attitude, at = row[:3], row[3:7], at + 1
        elif self._base == "planar":
            zero = jnp.zeros(())
            position = jnp.concatenate([row[:2], position[2:]])
            attitude = Quaternion.exponential(Vector(zero, zero, row[2])).array()
        joints, balls = list[Array](), list[Array]()
        for own in self._joints():
            if len(own) > 1:
                balls.append(row[at : at + 4])
                at += 4
            elif own[0] in self.bodies.locked:
                joints.append(self.begun.joints[len(joints)])
            else:
                joints.append(row[at])
                at += 1
        return Configuration(
            position,
            attitude,
            jnp.stack(joints) if joints else jnp.zeros(0),
            jnp.stack(balls) if balls else jnp.zeros((0, 4)),
            row[at:],
        )

    def row(self, q: Configuration, v: Row) -> Row:
        """Return the tree's velocities in a row."""
        return self._turned(q, v, to_inertial=True)[np.array(self._free(), int)]

    def velocities(self, q: Configuration, row: Row) -> Row:
        """Return the tree's velocities of a row."""
        _, _, count = self.bodies.tree.layout.columns()
        return self._turned(q, jnp.zeros(count).at[np.array(self._free(), int)].set(row), to_inertial=False)

    def _turned(self, q: Configuration, v: Row, to_inertial: bool) -> Row:
        """Return velocities with that of the base's origin in inertial axes, or in those of the base."""
        axes = {"free": 3, "planar": 2, "fixed": 0}[self._base]
        turn = Quaternion.of(q.attitude).matrix().array()[:axes, :axes]
        return jnp.concatenate([(turn if to_inertial else turn.T) @ v[:axes], v[axes:]])
