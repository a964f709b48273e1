"""A tree's configuration as a row of numbers and quaternions, in which each velocity is the rate of its number.

So along q ⊕ s v (`mechanics.retraction`) velocities are v throughout. A base that moves is told by the tree's common centre of
mass, in inertial axes, and its own attitude; in the plane its angle stands for that. A joint that is held has no number.

Units: SI: m, rad, m/s, rad/s; modal coordinates in m or rad.
Source: own construction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
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
        free = self._free_columns()
        base = [3] if self._base == "free" else []
        return (
            *base,
            *(free.index(own[0]) for own in self._joint_columns() if len(own) > 1 and not self._is_held(own)),
        )

    @property
    def width(self) -> int:
        """How many velocities its row has."""
        return len(self._free_columns())

    @property
    def size(self) -> int:
        """How many numbers its row has."""
        return self.width + len(self.attitudes)

    @property
    def _base(self) -> str:
        return self.bodies.tree.layout.base

    def _free_columns(self) -> list[int]:
        """Return the columns of the tree's velocities that the row has."""
        _, _, count = self.bodies.tree.layout.columns()
        return [column for column in range(count) if column not in self.bodies.locked]

    def _joint_columns(self) -> list[list[int]]:
        """Return the columns of each joint that moves, held or not, in the order of the links."""
        return [own for own in self.bodies.tree.layout.columns()[0] if own]

    def _is_held(self, columns: list[int]) -> bool:
        """Return whether the joint of these columns is held, and so has no number."""
        return columns[0] in self.bodies.locked

    @property
    def _axes(self) -> int:
        """Along how many axes the centre of mass can move."""
        return {"free": 3, "planar": 2, "fixed": 0}[self._base]

    def _centre(self, q: Configuration) -> Float[Array, "3"]:
        """Return the common centre of mass (m, inertial)."""
        return q.position + Quaternion.of(q.attitude).matrix().array() @ self.bodies.tree.centre(q)

    def _drift(self, q: Configuration, v: Row) -> Float[Array, "axes"]:
        """Return the velocity of the common centre of mass (m/s, inertial) along the axes that it can move along."""
        return jax.jvp(self._centre, (q,), (self.bodies.tree.rate(q, v),))[1][: self._axes]

    def numbers(self, q: Configuration) -> Numbers:
        """Return a configuration in a row."""
        attitude, parts = Quaternion.of(q.attitude), [self._centre(q)[: self._axes]]
        if self._base == "free":
            parts.append(attitude.normalised().array())
        elif self._base == "planar":
            parts.append(attitude.planar_angle()[None])
        joints, balls = iter(q.joints), iter(q.balls)
        for own in self._joint_columns():
            if len(own) > 1:
                found = Quaternion.of(next(balls)).normalised().array()
            else:
                found = next(joints)[None]
            parts += [] if self._is_held(own) else [found]
        return jnp.concatenate([*parts, q.modes])

    def configuration(self, row: Numbers) -> Configuration:
        """Return the configuration of a row."""
        attitude, at = self.begun.attitude, BASES[self._base]
        if self._base == "free":
            attitude, at = row[3:7], at + 1
        elif self._base == "planar":
            zero = jnp.zeros(())
            attitude = Quaternion.exponential(Vector(zero, zero, row[2])).array()
        joints, balls = list[Array](), list[Array]()
        for own in self._joint_columns():
            ball = len(own) > 1
            found, begun = (balls, self.begun.balls) if ball else (joints, self.begun.joints)
            if self._is_held(own):
                found.append(begun[len(found)])
            elif ball:
                found.append(row[at : at + 4])
                at += 4
            else:
                found.append(row[at])
                at += 1
        whole = Configuration(
            self.begun.position,
            attitude,
            jnp.stack(joints) if joints else jnp.zeros(0),
            jnp.stack(balls) if balls else jnp.zeros((0, 4)),
            row[at:],
        )
        axes = self._axes
        moved = whole.position[:axes] + row[:axes] - self._centre(whole)[:axes]
        return replace(whole, position=jnp.concatenate([moved, whole.position[axes:]]))

    def row(self, q: Configuration, v: Row) -> Row:
        """Return the tree's velocities in a row."""
        return jnp.concatenate([self._drift(q, v), v[np.array(self._free_columns()[self._axes :], int)]])

    def velocities(self, q: Configuration, row: Row) -> Row:
        """Return the tree's velocities of a row."""
        axes, (_, _, count) = self._axes, self.bodies.tree.layout.columns()
        v = jnp.zeros(count).at[np.array(self._free_columns()[axes:], int)].set(row[axes:])
        turn = Quaternion.of(q.attitude).matrix().array()[:axes, :axes]
        return v.at[:axes].set(turn.T @ (row[:axes] - self._drift(q, v)))
