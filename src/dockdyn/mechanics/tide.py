"""Force and torque of gravity on a rigid body beside a reference that falls freely along an orbit.

Units: SI: m, N, N m.
Source: gradient of the potential of `dockdyn.mechanics.orbit`; torque 3 μ/r³ r̂ × I r̂, Hughes 1986, Spacecraft Attitude
Dynamics, section 8.1.
"""

from __future__ import annotations

from functools import partial

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.orbit import Orbit, Reference
from dockdyn.mechanics.rigid_body import Placed, RigidBody
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.programs import trace_once

type Three = Float[Array, "3"]


@trace_once
def tidal_pull(orbit: Orbit, at: Reference, body: RigidBody, here: Placed, away: Vector) -> tuple[Vector, Vector]:
    """Return the force on a body `away` (m, inertial) from the reference, less that of the frame's own fall, and torque about
    its centre of mass; both inertial."""
    turn, place = here.rotation.array(), away.array()
    towards = _direction_of_gravity(at, place, turn)
    by_place, by_towards = jax.grad(partial(_tidal_energy, orbit, at, body), argnums=(0, 1))(place, towards)
    force = by_place + turn @ by_towards / at.radius
    return once((Vector.of(-force), Vector.of(turn @ jnp.cross(towards, by_towards))))


@trace_once
def tidal_energy(orbit: Orbit, at: Reference, body: RigidBody, here: Placed, away: Vector) -> Scalar:
    """Return the energy (J) of which `tidal_pull` is the gradient."""
    place = away.array()
    return _tidal_energy(orbit, at, body, place, _direction_of_gravity(at, place, here.rotation.array()))


def _direction_of_gravity(at: Reference, place: Three, turn: Float[Array, "3 3"]) -> Three:
    """Return the direction in which gravity comes to a place (m), over the radius, in the axes of a body turned so."""
    return (jnp.stack([at.x, at.y, jnp.zeros(())]) + place / at.radius) @ turn


def _tidal_energy(orbit: Orbit, at: Reference, body: RigidBody, place: Three, towards: Three) -> Scalar:
    """Return the energy (J) by the place and, in body axes, by the direction in which gravity comes (over the radius)."""
    up = jnp.stack([at.x, at.y, jnp.zeros(())])
    along, squared = up @ place, place @ place
    energy = body.mass * orbit.tidal(at.radius, along, squared)
    if not orbit.gradient:
        return energy
    about = towards @ (body.inertia @ towards)
    return energy + orbit.spread_out(at.radius, along, squared, jnp.trace(body.inertia), about)
