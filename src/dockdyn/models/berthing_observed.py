"""What is observed of a berthing: shapes, energies, momenta, forces."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.scipy.linalg import block_diag
from jaxtyping import Array, Float

from dockdyn.contact.pair import meet
from dockdyn.integrate.model import State
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.tree import Configuration, Motion, Tree
from dockdyn.models.berthing import HOLDS, Berthing
from dockdyn.models.rebound import RESTING, Rebound

Row = Float[Array, "n"]


def observe(model: Berthing, x: State) -> dict[str, Array]:
    """Named quantities at an instant; chaser and target along the first axis of momenta."""
    found = [side.tree.dynamics(q, v) for side, q, v in zip(model.sides, x.q, x.v, strict=True)]
    masses, biases, motions = zip(*found, strict=True)
    signal = model.sense(jnp.zeros(()), x).signal
    dynamics = block_diag(*masses), jnp.concatenate(biases), list(motions)
    accelerated = model.accelerations(x, signal, dynamics)
    chaser = model.sides[0].tree
    momenta = [momentum(side.tree, q, mass @ v) for side, q, mass, v in zip(model.sides, x.q, masses, x.v, strict=True)]
    linear, angular = (jnp.stack(parts) for parts in zip(*momenta, strict=True))
    wheel = Quaternion.of(x.q[0].attitude).matrix().array() @ x.memory.wheel
    tips = jnp.einsum("lim,lm->li", chaser.links.tip_shift, chaser.modal_coordinates(x.q[0]))
    return {
        "joint_angle": x.q[0].joints,
        "ball_attitude": x.q[0].balls,
        "coordinate_rate": x.v[0],
        "target_coordinate_rate": x.v[1],
        "base_position": jnp.stack([q.position for q in x.q]),
        "base_attitude": jnp.stack([q.attitude for q in x.q]),
        "modal_coordinate": x.q[0].modes,
        "tip_deflection": jnp.linalg.norm(tips, axis=-1),
        "hold_force": holding_force(model, accelerated.held),
        "torque": model.torques(x),
        "outline": outlines(motions),
        "kinetic_energy": sum((0.5 * v @ mass @ v for mass, v in zip(masses, x.v, strict=True)), jnp.zeros(())),
        "potential_energy": sum(
            (side.tree.potential_energy(q) for side, q in zip(model.sides, x.q, strict=True)), jnp.zeros(())
        ),
        "work": x.memory.work,
        "contact_work": x.memory.contact_work,
        "wheel_momentum": x.memory.wheel,
        "linear_momentum": linear.sum(0),
        "angular_momentum": angular.sum(0) + wheel,
        "linear_momentum_scale": jnp.linalg.norm(linear, axis=-1).sum(),
        "angular_momentum_scale": jnp.linalg.norm(angular, axis=-1).sum() + jnp.linalg.norm(wheel),
        **contact_state(model, x, list(motions), signal, accelerated.normal),
    }


def contact_state(
    model: Berthing, x: State, motions: list[Motion], signal: tuple[Any, ...], needed: Array
) -> dict[str, Array]:
    """Depth, sliding and force of a contact that acts after t = 0; `needed` is what would keep it at rest."""
    if model.contact is None:
        return {}
    contact, where = model.contact, model.places(x, motions)
    meeting = meet(contact.feature, contact.surface, *where)
    if isinstance(contact, Rebound):
        normal = jnp.where(x.mode[0] == RESTING, needed, 0.0)
    else:
        normal = meeting.normal.dot(signal[0])
    return {
        "depth": meeting.depth,
        "depth_rate": meeting.rate,
        "sliding_speed": jnp.sqrt(meeting.sliding.dot(meeting.sliding)),
        "normal_force": normal,
    }


def outlines(motions: tuple[Motion, ...]) -> Float[Array, "2 links 3"]:
    """Origins of all link frames (m, inertial) of chaser and target, in the order of the tree; NaN pads the shorter."""
    found = [motion.position for motion in motions]
    longest = max(len(part) for part in found)
    padded = [jnp.pad(part, ((0, longest - len(part)), (0, 0)), constant_values=jnp.nan) for part in found]
    return jnp.stack(padded)


def holding_force(model: Berthing, force: Float[Array, "rows"]) -> Float[Array, "3"]:
    """Force (N, inertial) by which what the law joined is held on the chaser's side; zero where nothing is."""
    if model.law.name not in HOLDS:
        return jnp.zeros(3)
    return jnp.zeros(3).at[:2].set(force[:2]) if model.planar else force[:3]


def momentum(tree: Tree, q: Configuration, momenta: Row) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    """Linear momentum (N s) and angular momentum about the inertial origin (N m s) of a tree on a free or planar base.

    `momenta` are the generalised ones, M v.
    """
    turn = Quaternion.of(q.attitude).matrix().array()
    zero = jnp.zeros(())
    if tree.layout.base == "planar":
        linear, angular = jnp.stack([momenta[0], momenta[1], zero]), jnp.stack([zero, zero, momenta[2]])
    else:
        linear, angular = momenta[:3], momenta[3:6]
    linear = turn @ linear
    return linear, turn @ angular + jnp.cross(q.position, linear)
