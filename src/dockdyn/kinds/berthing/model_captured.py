"""Small motions of a berthing about the captured configuration at rest, and the regulator made from them.

Units: SI: rad, rad/s, N m; matrices in those of the states.
Source: linearisation by automatic differentiation; regulator as in `control.lqr`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.linalg import block_diag
from jaxtyping import Array, Float

from dockdyn.control.lqr import Weights, riccati
from dockdyn.control.tree_plant import modal_columns, moving_columns, regulated, turning_axes, turning_columns
from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.model import Berthing
from dockdyn.mechanics.trees.composite_bodies import normalised

Square = Float[Array, "n n"]


class Captured(NamedTuple):
    """δ̇ = w, and its acceleration: (δ, w)˙ = a (δ, w) + b τ."""

    a: Float[Array, "states states"]
    b: Float[Array, "states torques"]
    motions: Float[Array, "all half"]  # N: velocities of both trees by w
    modal_mass: Square  # of the modes of both trees
    modal_stiffness: Square


def captured(model: Berthing, joints: tuple[int, ...], wheel: bool) -> Captured:
    """The linear form of the model's own accelerations, what the impact joined held, by automatic differentiation.

    Args:
        model: welded by its impact.
        joints: those with motors that are not locked, by number.
        wheel: whether a torque acts on the base; it comes before those of the joints.

    δ are what is left of all coordinates once the weld, locks and the conserved momenta (linear; without a wheel angular,
    too) are taken off: all velocities are N w. Momentum that the system has makes it drift as a whole, which changes
    nothing in the linear form.
    """
    start = model.initial()
    trees = (model.sides[0].tree, model.sides[1].tree)
    first = model.sides[0].velocities.shape[0]
    total = first + model.sides[1].velocities.shape[0]
    kept = regulated(trees, joints, wheel)
    rest = State(start.q, (jnp.zeros(first), jnp.zeros(total - first)), start.mode, start.memory)
    plant = model.plant(rest)

    def momenta(v: Float[Array, "n"]) -> Array:
        found = plant._replace(v=v).momentum()
        linear = found.linear[: len(moving_columns(trees[0]))]
        return linear if wheel else jnp.concatenate([linear, found.angular[jnp.array(turning_axes(trees[0]))]])

    rows = jnp.concatenate([plant.rows, jax.jacfwd(momenta)(jnp.zeros(total))])
    others = jnp.array([column for column in range(total) if column not in kept], int)
    at = jnp.array(kept, int)
    dependent = -jnp.linalg.solve(rows[:, others], rows[:, at])
    motions = jnp.zeros((total, len(kept))).at[at].set(jnp.eye(len(kept))).at[others].set(dependent)
    modal = len(modal_columns(trees))
    driven = jnp.array(kept[: len(kept) - modal], int)

    def acceleration(delta: Array, w: Array, torques: Array) -> Array:
        moved, v = motions @ delta, motions @ w
        parts = (slice(None, first), slice(first, None))
        q = tuple(
            normalised(jax.tree.map(lambda a, b: a + b, here, tree.rate(here, moved[part])))
            for tree, here, part in zip(trees, start.q, parts, strict=True)
        )
        x = State(q, (v[:first], v[first:]), start.mode, start.memory)
        found, _ = model.respond(model.plant(x), jnp.zeros(first).at[driven].add(torques))
        return found[at]

    half = len(kept)
    zero = (jnp.zeros(half), jnp.zeros(half), jnp.zeros(driven.shape[0]))
    stiff, damp, gain = jax.jacfwd(acceleration, argnums=(0, 1, 2))(*zero)
    a = jnp.block([[jnp.zeros((half, half)), jnp.eye(half)], [stiff, damp]])
    b = jnp.concatenate([jnp.zeros_like(gain), gain])
    modes = jnp.array(modal_columns(trees), int)
    springs = [
        jax.hessian(lambda eta, tree=tree, here=here: tree.potential_energy(replace(here, modes=eta)))(here.modes)
        for tree, here in zip(trees, start.q, strict=True)
    ]
    return Captured(a, b, motions, plant.mass[jnp.ix_(modes, modes)], block_diag(*springs))


def _cost(found: Captured, weights: Weights, base: int, joints: int) -> tuple[Square, Square]:
    """Matrices of the cost: xᵀ Q x + τᵀ R τ, for so many axes of the base and joints."""
    modes = found.modal_mass.shape[0]
    angles = [1 / weights.attitude**2] * base + [1 / weights.angle**2] * joints
    rates = [1 / weights.rate**2] * (base + joints)
    half = len(angles)
    parts = [jnp.diag(jnp.stack(part)) if half else jnp.zeros((0, 0)) for part in (angles, rates)]
    energies = [
        part / (2 * weights.energy) if modes else jnp.zeros((0, 0))
        for part in (found.modal_stiffness, found.modal_mass)
    ]
    return block_diag(parts[0], energies[0], parts[1], energies[1]), jnp.diag(1 / weights.torque**2)


class Design(NamedTuple):
    """A regulator and what it was made for."""

    plant: Captured
    state_cost: Float[Array, "states states"]
    torque_cost: Float[Array, "torques torques"]
    gain: Float[Array, "torques states"]  # K of `dockdyn.control.lqr.Regulator`


def design(model: Berthing, joints: tuple[int, ...], wheel: bool, weights: Weights) -> Design:
    """The regulator; traceable. Its gain is not finite, or does not stabilise, where the Riccati equation has no solution."""
    found = captured(model, joints, wheel)
    base = len(turning_columns(model.sides[0].tree)) if wheel else 0
    q, r = _cost(found, weights, base, len(joints))
    x = riccati(found.a, found.b, q, r)
    return Design(found, q, r, jnp.linalg.solve(r, found.b.T @ x))
