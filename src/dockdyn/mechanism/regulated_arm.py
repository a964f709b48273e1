"""Small motions of an arm and of what latches hold to it, about the start at rest, and the regulator made from them.

Units: SI: rad, rad/s, N m; matrices in those of the states.
Source: linearisation by automatic differentiation; regulator as in `control.lqr`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dockdyn.control.lqr import Weights, solve_riccati
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.integrate.model import State, pack_tree, unpack_tree
from dockdyn.mechanics.rigid_body import pair_momentum
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.grips import lines_of
from dockdyn.mechanism.loads import reflected_inertia
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import BendingLink
from dockdyn.mechanism.outside import with_pushes
from dockdyn.trees import flatten, map_leaves, unflatten

type Square = Float[Array, "n n"]


class Arm(NamedTuple):
    """What a regulator acts on: a base by number, joints by number, and whether a torque acts on the base, too."""

    base: int
    joints: tuple[int, ...]
    wheel: bool


class Captured(NamedTuple):
    """δ̇ = w, and its acceleration: (δ, w)˙ = a (δ, w) + b τ."""

    a: Float[Array, "states states"]
    b: Float[Array, "states torques"]
    modal_mass: Square
    modal_stiffness: Square


class Design(NamedTuple):
    """A regulator and what it was made for."""

    plant: Captured
    state_cost: Float[Array, "states states"]
    torque_cost: Float[Array, "torques torques"]
    gain: Float[Array, "torques states"]  # K of `dockdyn.control.lqr.Regulator`


def modes_of(model: Mechanism) -> list[int]:
    """Return the numbers of the modes of flexible links."""
    return [mode for one in model.elements if isinstance(one, BendingLink) for mode in one.modes]


def turning_axes(model: Mechanism) -> list[int]:
    """Return the axes about which bases turn."""
    return [2] if model.moving.directions == 2 else [0, 1, 2]


def linearise_arm(model: Mechanism, arm: Arm) -> Captured:
    """Return the linear form of the model's own accelerations about its start at rest, by automatic differentiation.

    δ are what is left of all coordinates once rigid latches, locked joints and the conserved momenta (linear; without a wheel
    angular, too) are taken off: attitude of the base, joints, modes. Momentum that the system has makes it drift as a whole,
    which changes nothing in the linear form. Neither contacts nor gravity along an orbit count.
    """
    model = replace(model, steered=None, gravity=None, groups=())
    start, moving = model.initial(), model.moving
    assert isinstance(moving, MovingBodies)
    like = map_leaves(jnp.zeros_like, start.v)
    still, total, axes = pack_tree(like), pack_tree(like).shape[0], jnp.array(turning_axes(model))
    kept, locked = _held_and_locked(model, arm, like)
    elements, modes = model.elements_at(start), len(modes_of(model))
    here = model.placement(State(start.q, like, start.mode, start.memory))
    held = lines_of(model.grips, start.memory.elements, here.bodies)

    def constrained(v: Float[Array, "n"]) -> Array:
        placed = moving.placed(here_q, unpack_tree(v, like))
        poses, twists = ([getattr(one, name) for one in placed.bodies] for name in ("pose", "twist"))
        linear, angular, _, _ = pair_momentum(model.bodies, tuple(poses), tuple(twists))
        bent = moving.momentum_of_bending(placed)
        found = [(linear + bent[0]).array()[: 2 if moving.planar else 3]]
        if not arm.wheel:
            found.append((angular + bent[1]).array()[axes])
        if held is not None:
            rates = jnp.stack([jnp.concatenate([one.velocity.array(), one.rate.array()]) for one in twists])
            found.append(jnp.einsum("kbi,bi->k", held.rows, rates))
        return jnp.concatenate([*found, v[jnp.array(locked, int)]])

    here_q = start.q.shifted(-model.base_position(start))
    rows = jax.jacfwd(constrained)(still)
    others, at = jnp.array([column for column in range(total) if column not in kept], int), jnp.array(kept, int)
    dependent = -jnp.linalg.solve(rows[:, others], rows[:, at])
    motions = jnp.zeros((total, len(kept))).at[at].set(jnp.eye(len(kept))).at[others].set(dependent)
    turning = len(axes) if arm.wheel else 0

    def acceleration(delta: Array, w: Array, torques: Array) -> Array:
        moved = moving.rate(start.q, unpack_tree(motions @ delta, like))
        q = map_leaves(lambda a, b: a + b, start.q, moved).retracted()
        x = State(q, unpack_tree(motions @ w, like), start.mode, start.memory)
        now_here = model.placement(x)
        now = model.loaded(x, now_here, model.signal(jnp.zeros(()), x))
        loads = with_pushes(now.loads, now.pushes)
        places, efforts = now_here.bodies, list(now.efforts)
        about = [place.rotation.transposed_times(load.moment) for load, place in zip(loads, places, strict=True)]
        if turning:
            about[arm.base] = about[arm.base] + Vector.of(jnp.zeros(3).at[axes].set(torques[:turning]))
        for number, torque in zip(arm.joints, torques[turning:], strict=True):
            efforts[number] = efforts[number] + torque
        lines = lines_of(model.grips, x.memory.elements, places)
        inertia = reflected_inertia(elements, now_here)
        found = moving.respond(now_here, [load.force for load in loads], about, efforts, inertia, lines)
        return pack_tree(found.rates)[at]

    half, count = len(kept), turning + len(arm.joints)
    zero = jnp.zeros(half), jnp.zeros(half), jnp.zeros(count)
    stiff, damp, gain = jax.jacfwd(acceleration, argnums=(0, 1, 2))(*zero)
    a = jnp.block([[jnp.zeros((half, half)), jnp.eye(half)], [stiff, damp]])
    b = jnp.concatenate([jnp.zeros_like(gain), gain])
    modal = jnp.array(kept[half - modes :], int)

    def energy(rates: Array) -> Array:
        return model.kinetic_energy(
            State(start.q, unpack_tree(still.at[modal].set(rates), like), start.mode, start.memory)
        )

    springs = [one.element.stiffness for one in model.elements if isinstance(one, BendingLink)]
    squares = [one if one.ndim == 2 else jnp.diag(one) for one in springs]
    mass = jax.hessian(energy)(jnp.zeros(modes)) if modes else jnp.zeros((0, 0))
    return Captured(a, b, mass, jax.scipy.linalg.block_diag(*squares) if squares else jnp.zeros((0, 0)))


def _held_and_locked(model: Mechanism, arm: Arm, like: Velocities) -> tuple[list[int], list[int]]:
    """Return which of all velocities, as a row, a regulator holds, in its order, and which are of locked joints."""
    moving = model.moving
    assert isinstance(moving, MovingBodies)
    leaves, structure = flatten(like)
    ends = np.cumsum([leaf.size for leaf in leaves])
    numbers = [np.arange(end - leaf.size, end).reshape(leaf.shape) for leaf, end in zip(leaves, ends, strict=True)]
    labels = unflatten(structure, numbers)
    coordinates = moving.coordinate_rates(labels)
    found: list[int] = []
    if arm.wheel:
        found += _turning_columns(moving, arm.base, labels)
    found += [int(coordinates[number]) for number in (*arm.joints, *modes_of(model))]
    locked = []
    for tree, own in zip(moving.linked, labels.trees, strict=True):
        locked += [int(own[column]) for column in tree.locked]
    return found, locked


def _turning_columns(moving: MovingBodies, base: int, labels: Velocities) -> list[int]:
    """Return which of all velocities, as a row, are those of a base's turning."""
    for tree, own in zip(moving.linked, labels.trees, strict=True):
        if base == tree.members[0]:
            columns = {"free": (3, 4, 5), "planar": (2,)}[tree.tree.layout.base]
            return [int(own[column]) for column in columns]
    rate = labels.roots[moving.roots().index(base)].rate
    return [int(rate.x), int(rate.y), int(rate.z)]


def _cost_matrices(found: Captured, weights: Weights, base: int, joints: int) -> tuple[Square, Square]:
    """Return the matrices of the cost, xᵀ Q x + τᵀ R τ, for so many axes of the base and joints."""
    modes = found.modal_mass.shape[0]
    angles = [1 / weights.attitude**2] * base + [1 / weights.angle**2] * joints
    rates = [1 / weights.rate**2] * (base + joints)
    parts = [jnp.diag(jnp.stack(part)) if part else jnp.zeros((0, 0)) for part in (angles, rates)]
    energies = [
        part / (2 * weights.energy) if modes else jnp.zeros((0, 0))
        for part in (found.modal_stiffness, found.modal_mass)
    ]
    return jax.scipy.linalg.block_diag(parts[0], energies[0], parts[1], energies[1]), jnp.diag(1 / weights.torque**2)


def design_regulator(model: Mechanism, arm: Arm, weights: Weights) -> Design:
    """Return the regulator; traceable. Without a solution its gain is not finite, or does not stabilise."""
    found = linearise_arm(model, arm)
    base = len(turning_axes(model)) if arm.wheel else 0
    q, r = _cost_matrices(found, weights, base, len(arm.joints))
    x = solve_riccati(found.a, found.b, q, r)
    return Design(found, q, r, jnp.linalg.solve(r, found.b.T @ x))
