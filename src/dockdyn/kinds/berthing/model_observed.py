"""What is observed of a berthing: shapes, energies, momenta, forces.

Units: SI: m, m/s, J, N, N s, N m s.
Source: definitions.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.model import State
from dockdyn.kinds.berthing.model import Berthing
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.composite_bodies import Motion
from dockdyn.mechanics.trees.momentum import together
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.state import Acting


def observe(model: Berthing, x: State) -> dict[str, Array]:
    """Named quantities at an instant; chaser and target along the first axis of momenta."""
    plant = model.plant(x)
    given = model.actuation(plant)
    torques = plant.forces(given)
    signal = model.signal(jnp.zeros(()), x)
    found = model.acting(x, torques, signal)
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
        "hold_force": found.grips[0].array() if found.grips else jnp.zeros(3),
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
        "contact_work": x.memory.mechanism.work,
        "wheel_momentum": x.memory.wheel,
        "thruster_impulse": x.memory.impulse,
        "thruster_turning_impulse": x.memory.turning_impulse,
        "thruster_use": x.memory.used,
        "spin_momentum": together(momenta).spin(),
        "linear_momentum": linear.sum(0),
        "angular_momentum": angular.sum(0) + wheel,
        "linear_momentum_scale": jnp.linalg.norm(linear, axis=-1).sum(),
        "angular_momentum_scale": jnp.linalg.norm(angular, axis=-1).sum() + jnp.linalg.norm(wheel),
        **_contact_state(model, x, found),
    }


def _contact_state(model: Berthing, x: State, now: Acting) -> dict[str, Array]:
    """Depth, sliding and force of a contact that acts after t = 0."""
    contact = model.contact
    if contact is None:
        return {}
    places = model.mechanism.placement(model.of_mechanism(x)).bodies
    found = contact.state(x.mode[0], places[contact.first], places[contact.second], exact=True)
    return {
        "depth": found.depth,
        "depth_rate": found.rate,
        "sliding_speed": found.sliding_speed,
        "normal_force": now.rests[0] if isinstance(contact, ImpactContact) else found.normal_force,
    }


def _outlines(motions: Sequence[Motion]) -> Float[Array, "2 links 3"]:
    """Origins of all link frames (m, inertial) of chaser and target, in the order of the tree; NaN pads the shorter."""
    found = [jnp.stack(motion.position) for motion in motions]
    longest = max(len(part) for part in found)
    padded = [jnp.pad(part, ((0, longest - len(part)), (0, 0)), constant_values=jnp.nan) for part in found]
    return jnp.stack(padded)
