"""Two free bodies held together by a latch: constraints switched on, an impulse when they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.contact.latch import HELD, Caught, ConeLatch
from dockdyn.impact.contact_matrix import contact_matrix, holding, velocity_jump
from dockdyn.integrate.model import Rate, State, pack, unpack
from dockdyn.mechanics.vector import Vector

if TYPE_CHECKING:
    from dockdyn.models.free_flight import FreeFlight


def slip(model: FreeFlight, latch: ConeLatch, q: Any, v: Any) -> Float[Array, "rows"]:
    """The velocities that the constraints end (`ConeLatch.slip`)."""
    return latch.slip(*model.places(State(q, v, None, None)))


def jacobian(model: FreeFlight, latch: ConeLatch, x: State) -> Float[Array, "rows 12"]:
    """A, slip = A v."""
    return jax.jacfwd(lambda v: slip(model, latch, x.q, unpack(v, x.v)))(pack(x.v))


def held(model: FreeFlight, latch: ConeLatch, x: State, free: Rate) -> tuple[Rate, Float[Array, "rows"]]:
    """The rates that keep the slip at zero, and the force (N) and moment (N m) on the tip's body that do it, inertial.

    `free` are the rates without constraints. The forces act on both bodies at the tip, so momentum is kept.
    """
    _, change = jax.jvp(lambda q, v: slip(model, latch, q, v), (x.q, x.v), (free.q, free.v))
    rows, mass = jacobian(model, latch, x), model.mass_matrix()
    force = holding(mass, rows, change)
    v = unpack(pack(free.v) + velocity_jump(rows, mass, force), x.v)
    return Rate(free.q, v, free.memory), force


def still(model: FreeFlight, latch: ConeLatch, x: State) -> tuple[Any, Float[Array, "rows"]]:
    """Velocities without slip, momentum kept, and the impulse (N s, N m s) on the tip's body that makes them so."""
    rows, mass = jacobian(model, latch, x), model.mass_matrix()
    impulse = holding(mass, rows, slip(model, latch, x.q, x.v))
    return unpack(pack(x.v) + velocity_jump(rows, mass, impulse), x.v), impulse


def caught(model: FreeFlight, latch: ConeLatch, x: State) -> tuple[Any, Any]:
    """Velocities and memory once the latch has fallen in: a plastic impact of the constraints."""
    v, impulse = still(model, latch, x)
    places = model.places(x)
    axis = latch.axis(*places).array()
    along = impulse[:3] @ axis
    across = jnp.linalg.norm(impulse[:3] - along * axis)
    lost = model.kinetic_energy(x) - model.kinetic_energy(State(x.q, v, x.mode, x.memory))
    return v, (x.memory[0] - lost, Caught(latch.rate(*places), along, across, lost), *x.memory[2:])


def holding_load(model: FreeFlight, latch: ConeLatch, x: State, delayed: Any) -> tuple[Vector, Vector]:
    """Force (N) and moment (N m) at the tip by which the latch holds the chaser, inertial; zero while it does not."""
    _, force = held(model, latch, x, model.free_rate(x, delayed))
    side = 1.0 if latch.feature_on_chaser else -1.0
    force = jnp.where(x.mode[-1] == HELD, side * force, 0.0)
    return Vector.of(force[:3]), Vector.of(force[3:]) if latch.hold == "weld" else Vector.zero()


def observed(model: FreeFlight, latch: ConeLatch, x: State) -> dict[str, Array]:
    """What the latch shows at an instant: travel, rate, force and state, the speed it takes, what it did when it caught."""
    places = model.places(x)
    travel, _ = latch.travel(*places)
    rows = jacobian(model, latch, x)[:3]
    axis = latch.axis(*places).array()
    mass = 1 / (axis @ contact_matrix(rows, model.mass_matrix()) @ axis)
    found = x.memory[1]
    return {
        "latch_travel": travel,
        "latch_rate": latch.rate(*places),
        "latch_force": latch.force(x.mode[-1], *places).array(),
        "latch_mode": x.mode[-1],
        "latch_needed_speed": latch.ramp.needed_speed(mass),
        **{f"capture_{name}": value for name, value in found._asdict().items()},
    }
