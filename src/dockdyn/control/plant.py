"""What control acts on and what a law answers: the interface all laws share.

A law is an Equinox module with its gains and references as fields and one method, `act`. It keeps no state of its own:
what depends on the past (the wheel's momentum, what thrusters have used) is part of the plant.

Units: SI: N m, rad, rad/s.
Source: definition of the interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.control.actuators import Actuation, Actuators
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import BASES, Configuration, Motion, Tree
from dockdyn.mechanics.trees.momentum import Momentum, momentum, together

Row = Float[Array, "n"]


class Plant(NamedTuple):
    """Chaser and target at an instant, as one system: M v̇ + h = forces + Aᵀ f, A v̇ + drift = 0; the chaser comes first."""

    trees: tuple[Tree, Tree]
    q: tuple[Configuration, Configuration]
    v: Row  # of both
    mass: Float[Array, "n n"]  # M
    bias: Row  # h
    rows: Float[Array, "rows n"]  # A: what the impact joined, locked joints
    drift: Float[Array, "rows"]
    wheel: Float[Array, "3"]  # N m s, momentum of the base's wheel, base axes
    used: Float[Array, "2"]  # N s, N m s: what thrusters have used
    motions: Sequence[Motion]  # of the links of both

    @property
    def own(self) -> int:
        """Velocities of the chaser."""
        return self.trees[0].layout.columns()[2]

    def turning(self) -> Float[Array, "3"]:
        """Angular velocity of the chaser's base (rad/s, base axes)."""
        return _base_rate(self.trees[0], self.v)

    def momenta(self) -> list[Momentum]:
        """Those of chaser and target without the wheel."""
        parts = (slice(None, self.own), slice(self.own, None))
        return [
            momentum(tree.layout.base, q, self.mass[part, part], self.v[part])
            for tree, q, part in zip(self.trees, self.q, parts, strict=True)
        ]

    def momentum(self) -> Momentum:
        """That of both as one system."""
        return together(self.momenta())

    def rigid_response(self, forces: Row, columns: list[int]) -> tuple[Row, Float[Array, "n columns"]]:
        """v̇ under generalised forces on the chaser, and what v̇ gains by a unit force in each of the columns.

        Flexible links keep the shape they have: what a law that does not see vibration takes the system for.
        """
        frozen = jnp.eye(self.v.shape[0])[jnp.array(modal_columns(self.trees), int)]
        rows = jnp.concatenate([self.rows, frozen])
        unit = jnp.eye(self.v.shape[0])[:, jnp.array(columns, int)]
        loads = jnp.concatenate([(-self.bias).at[: forces.shape[0]].add(forces)[:, None], unit], axis=1)
        drift = jnp.zeros((rows.shape[0], loads.shape[1])).at[: self.rows.shape[0], 0].set(self.drift)
        found, _ = constrained(self.mass, rows, drift, loads)
        return found[:, 0], found[:, 1:]


class Law(Protocol):
    """What every law of control is."""

    def act(self, plant: Plant, actuators: Actuators) -> Actuation:
        """What the actuators give, within their limits."""
        ...


def _base_rate(tree: Tree, v: Row) -> Float[Array, "3"]:
    """Angular velocity of the base (rad/s, base axes)."""
    found, axes = jnp.zeros(3), turning_axes(tree)
    return found.at[jnp.array(axes, int)].set(v[jnp.array(turning_columns(tree), int)])


def turning_columns(tree: Tree) -> list[int]:
    """Velocity columns of the base's angular velocity."""
    return {"free": [3, 4, 5], "planar": [2], "fixed": []}[tree.layout.base]


def turning_axes(tree: Tree) -> list[int]:
    """The base's axes that these are about."""
    return {"free": [0, 1, 2], "planar": [2], "fixed": []}[tree.layout.base]


def moving_columns(tree: Tree) -> list[int]:
    """Velocity columns of the base's translation; its axes have the same numbers."""
    return list(range(BASES[tree.layout.base] - len(turning_columns(tree))))


def modal_columns(trees: tuple[Tree, Tree]) -> list[int]:
    """Columns of modal rates among the velocities of both."""
    found, first = [], 0
    for tree in trees:
        _, modes, count = tree.layout.columns()
        found += [first + column for own in modes for column in own]
        first += count
    return found


def attitude_error(reference: Float[Array, "4"], attitude: Float[Array, "4"]) -> Float[Array, "3"]:
    """Rotation vector (rad, base axes) from a reference attitude of the base to that it has."""
    return (Quaternion.of(reference).conjugate() * Quaternion.of(attitude)).logarithm().array()
