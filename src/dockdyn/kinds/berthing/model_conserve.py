"""Velocities brought back to the momentum that a berthing must keep, and to what is held.

Units: SI: m/s, rad/s, N s, N m s.
Source: projection in the norm of the kinetic energy; own construction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.control.tree_plant import TreePlant, moving_columns, turning_axes
from dockdyn.impact.laws.contact_matrix import holding, velocity_jump
from dockdyn.integrate.model import State
from dockdyn.mechanics.rotation import Quaternion

if TYPE_CHECKING:
    from dockdyn.kinds.berthing.model import Berthing


def momenta(plant: TreePlant, v: Float[Array, "n"]) -> Float[Array, "kept"]:
    """Linear and angular momentum of both about the inertial origin, without the wheel: in the plane x, y and z."""
    found = plant._replace(v=v).momentum()
    tree = plant.trees[0]
    axes = jnp.array(turning_axes(tree), int)
    return jnp.concatenate([found.linear[jnp.array(moving_columns(tree), int)], found.angular[axes]])


def projected(model: Berthing, x: State) -> State:
    """`x` with the velocities nearest to its own, by kinetic energy, that have the conserved momentum and obey the holds."""
    plant = model.plant(x)
    wheel = Quaternion.of(x.q[0].attitude).matrix().array() @ x.memory.wheel
    tree = plant.trees[0]
    moving, turning = jnp.array(moving_columns(tree), int), jnp.array(turning_axes(tree), int)
    given = jnp.concatenate([x.memory.impulse[moving], (x.memory.turning_impulse - wheel)[turning]])
    rows = jnp.concatenate([jax.jacfwd(lambda v: momenta(plant, v))(plant.v), plant.rows])
    assert model.conserved is not None
    wanted = jnp.concatenate([model.conserved + given, jnp.zeros(plant.rows.shape[0])])
    impulse = holding(plant.mass, rows, rows @ plant.v - wanted)
    v = plant.v + velocity_jump(rows, plant.mass, impulse)
    return State(x.q, model.split(v), x.mode, x.memory)
