"""What is observed of a berthing: shapes, energies, momenta, forces.

Units: SI: m, m/s, J, N, N s, N m s.
Source: definitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.pair import contact_kinematics
from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.model import HOLDS, Berthing
from dockdyn.kinds.berthing.model_rebound import RESTING, Rebound
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Motion
from dockdyn.mechanics.trees.momentum import together


def observe(model: Berthing, x: State) -> dict[str, Array]:
    """Named quantities at an instant; chaser and target along the first axis of momenta."""
    plant = model.plant(x)
    given = model.actuation(plant)
    torques = plant.forces(given)
    signal = model.signal(jnp.zeros(()), x)
    found = model.accelerations(x, plant, torques, signal)
    chaser = model.sides[0].tree
    momenta = plant.momenta()
    linear, angular = (jnp.stack([getattr(part, name) for part in momenta]) for name in ("linear", "angular"))
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
        "hold_force": _holding_force(model, found.held),
        "torque": torques,
        "wheel_torque": given.wheel,
        "thruster_force": given.thrust,
        "thruster_torque": given.jets,
        "outline": _outlines(plant.motions),
        "kinetic_energy": 0.5 * plant.v @ plant.mass @ plant.v,
        "potential_energy": sum(
            (side.tree.potential_energy(q) for side, q in zip(model.sides, x.q, strict=True)), jnp.zeros(())
        ),
        "work": x.memory.work,
        "contact_work": x.memory.contact_work,
        "wheel_momentum": x.memory.wheel,
        "thruster_impulse": x.memory.impulse,
        "thruster_turning_impulse": x.memory.turning_impulse,
        "thruster_use": x.memory.used,
        "spin_momentum": together(momenta).spin(),
        "linear_momentum": linear.sum(0),
        "angular_momentum": angular.sum(0) + wheel,
        "linear_momentum_scale": jnp.linalg.norm(linear, axis=-1).sum(),
        "angular_momentum_scale": jnp.linalg.norm(angular, axis=-1).sum() + jnp.linalg.norm(wheel),
        **_contact_state(model, x, plant.motions, signal, found.normal),
    }


def _contact_state(
    model: Berthing, x: State, motions: Sequence[Motion], signal: tuple[Any, ...], needed: Float[Array, ""]
) -> dict[str, Array]:
    """Depth, sliding and force of a contact that acts after t = 0; `needed` is what would keep it at rest."""
    if model.contact is None:
        return {}
    contact, where = model.contact, model.places(x, motions)
    meeting = contact_kinematics(contact.feature, contact.surface, *where)
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


def _outlines(motions: Sequence[Motion]) -> Float[Array, "2 links 3"]:
    """Origins of all link frames (m, inertial) of chaser and target, in the order of the tree; NaN pads the shorter."""
    found = [jnp.stack(motion.position) for motion in motions]
    longest = max(len(part) for part in found)
    padded = [jnp.pad(part, ((0, longest - len(part)), (0, 0)), constant_values=jnp.nan) for part in found]
    return jnp.stack(padded)


def _holding_force(model: Berthing, force: Float[Array, "rows"]) -> Float[Array, "3"]:
    """Force (N, inertial) by which what the law joined is held on the chaser's side; zero where nothing is."""
    if model.law.name not in HOLDS:
        return jnp.zeros(3)
    return jnp.zeros(3).at[:2].set(force[:2]) if model.planar else force[:3]
