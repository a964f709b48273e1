"""Chaser and target of arrays of links, as laws of the chaser's arm see them.

Units: SI: N m, rad, rad/s.
Source: equations of motion with constraints; momentum from the rows of the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.control.actuators import Actuation
from dockdyn.control.plant import Response, Row
from dockdyn.mechanics.constrained import constrained
from dockdyn.mechanics.trees.composite_bodies import BASES, Configuration, Motion, Tree
from dockdyn.mechanics.trees.momentum import Momentum, momentum, together


class TreePlant(NamedTuple):
    """Chaser and target at an instant, as one system: M v̇ + h = forces + Aᵀ f, A v̇ + drift = 0; the chaser comes first.

    A `Plant`.
    """

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

    @property
    def axes(self) -> list[int]:
        return turning_axes(self.trees[0])

    def attitude(self) -> Float[Array, "4"]:
        return self.q[0].attitude

    def place(self) -> Float[Array, "3"]:
        return self.q[0].position

    def turning(self) -> Float[Array, "3"]:
        tree = self.trees[0]
        turning = self.v[jnp.array(turning_columns(tree), int)]
        return jnp.zeros(3).at[jnp.array(turning_axes(tree), int)].set(turning)

    def joints(self) -> tuple[Row, Row]:
        return self.q[0].joints, self.v[jnp.array(self.trees[0].joint_columns(), int)]

    def modes(self) -> tuple[Row, Row]:
        rates = self.v[jnp.array(modal_columns(self.trees), int)]
        return jnp.concatenate([self.q[0].modes, self.q[1].modes]), rates

    def momenta(self) -> list[Momentum]:
        """Those of chaser and target without the wheel."""
        parts = (slice(None, self.own), slice(self.own, None))
        return [
            momentum(tree.layout.base, q, self.mass[part, part], self.v[part])
            for tree, q, part in zip(self.trees, self.q, parts, strict=True)
        ]

    def momentum(self) -> Momentum:
        return together(self.momenta())

    def forces(self, given: Actuation) -> Row:
        """Return generalised forces on the chaser of what actuators give."""
        tree = self.trees[0]
        at, base = jnp.array(tree.joint_columns(), int), moving_columns(tree)
        found = jnp.zeros(self.own).at[at].set(given.motors)
        found = found.at[jnp.array(base, int)].add(given.thrust[: len(base)])
        turning = (given.wheel + given.jets)[jnp.array(turning_axes(tree), int)]
        return found.at[jnp.array(turning_columns(tree), int)].add(turning)

    def rigid_response(self, given: Actuation) -> Response:
        tree, forces = self.trees[0], self.forces(given)
        base, at = (jnp.array(columns, int) for columns in (turning_columns(tree), tree.joint_columns()))
        frozen = jnp.eye(self.v.shape[0])[jnp.array(modal_columns(self.trees), int)]
        rows = jnp.concatenate([self.rows, frozen])
        load = (-self.bias).at[: forces.shape[0]].add(forces)[:, None]
        loads = jnp.concatenate([load, jnp.eye(self.v.shape[0])[:, at]], axis=1)
        drift = jnp.zeros((rows.shape[0], loads.shape[1])).at[: self.rows.shape[0], 0].set(self.drift)
        found, _ = constrained(self.mass, rows, drift, loads)
        return Response(found[base, 0], found[at, 0], found[base, 1:], found[at, 1:])


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


def regulated(trees: tuple[Tree, Tree], joints: tuple[int, ...], wheel: bool) -> list[int]:
    """Columns, among the velocities of both trees, of what a regulator of these joints, by number, holds: those of δ̇."""
    at = trees[0].joint_columns()
    return [*(turning_columns(trees[0]) if wheel else []), *(at[joint] for joint in joints), *modal_columns(trees)]
