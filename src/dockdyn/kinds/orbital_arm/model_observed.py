"""What is observed of an arm in orbit: where its links are, what it touches, energies and momenta.

Units: SI: m, rad, J, N m s.
Source: definitions.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.integrate.model import Scalar
from dockdyn.integrate.variational.mechanical import Numbers, Point, Row, velocities
from dockdyn.kinds.orbital_arm.model import Mode, OrbitalArm
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.planar import Pair, PlanarTree
from dockdyn.mechanics.trees.spatial import SpatialTree
from dockdyn.mechanics.vector import Vector


class Bodies(NamedTuple):
    """All links against the base, in base axes; what moves counts the base's turning, not its translation, and may or may not
    count the drift of the common centre."""

    mass: Float[Array, "links"]
    origin: Float[Array, "links 3"]  # m
    centre: Float[Array, "links 3"]  # m
    drift: Float[Array, "links 3"]  # m/s, of the centres
    spin: Float[Array, "links 3"]  # N m s, about the centres


def _bodies_of(held: PlanarTree | SpatialTree, joints: Row, turning: Array, rates: Row) -> Bodies:
    """Where the links are and how they move, about the common centre of mass."""
    if isinstance(held, PlanarTree):
        placed = held.placed(joints, turning, rates)
        links = range(len(held.parents))

        def stacked(pair: Pair) -> Float[Array, "links 3"]:
            return jnp.stack([jnp.array([pair.x[link], pair.y[link], 0.0], float) for link in links])

        rate = jnp.stack([jnp.asarray(placed.rate[link], float) for link in links])
        spin = jnp.zeros((len(links), 3)).at[:, 2].set(held.inertia * rate)
        return Bodies(held.mass, stacked(placed.origin), stacked(placed.centre), stacked(placed.drifting), spin)
    poses, mass = held.poses(joints), held.masses()
    momenta = jnp.stack(held.moving(poses, turning, rates).momenta)
    linear, centre = momenta[:, :3], held.centres(poses)
    safe = jnp.where(mass == 0, 1.0, mass)[:, None]
    spin = momenta[:, 3:] - jnp.cross(centre, linear)
    return Bodies(mass, jnp.stack(poses.position), centre, linear / safe, spin)


def observe(model: OrbitalArm, t: Scalar, q: Numbers, p: Row, mode: Mode) -> dict[str, Array]:
    """Named quantities at an instant."""
    v, mass = velocities(model, t, Point(q, p, mode))
    position, attitude, joints, moving, turning, rates = model.split(q, v)
    found = _bodies_of(model.held(mode), joints, turning, rates)
    zero = jnp.zeros(())
    if model.planar:
        position, moving = jnp.stack([*position, zero]), jnp.stack([*moving, zero])
        turned = jnp.stack([jnp.cos(attitude / 2), zero, zero, jnp.sin(attitude / 2)])
        spin = jnp.stack([zero, zero, turning])
    else:
        turned, spin = attitude, turning
    turn = Quaternion.of(turned).matrix().array()
    whole = found.mass.sum()
    middle, drift = found.mass @ found.centre / whole, found.mass @ found.drift / whole
    base = position - turn @ middle
    relative = found.drift - drift
    angular = found.spin + found.mass[:, None] * jnp.cross(found.centre - middle, relative)
    energy = 0.5 * v @ mass @ v
    potential = energy - model.lagrangian(t, q, v, mode)
    spinning = turn @ angular.sum(0)
    orbital = (spinning + whole * jnp.cross(position, moving))[2]
    links = len(model.bodies.parents)
    return {
        "joint_angle": joints,
        "joint_rate": rates,
        "set_point": _set_points(model, t, joints, mode),
        "torque": model.torques(t, joints, rates, mode),
        "base_position": base,
        "base_attitude": turned,
        "base_rate": spin,
        **_against_orbit(model, t, attitude),
        "centre_position": position,
        "centre_velocity": moving,
        # the frame of a payload that has been handed over is none of the scenario's
        "outline": (base + found.origin @ turn.T)[: links - (model.latch is not None)],
        "kinetic_energy": energy,
        "potential_energy": potential,
        "orbit_invariant": energy + potential - (0.0 if model.orbit is None else model.orbit.mean_motion() * orbital),
        "linear_momentum": whole * moving,
        "angular_momentum": spinning,
        "linear_momentum_scale": (found.mass * jnp.linalg.norm(moving + relative @ turn.T, axis=-1)).sum(),
        "angular_momentum_scale": jnp.linalg.norm(angular, axis=-1).sum(),
        "phase": mode.phase,
        "latched": mode.latched.astype(int),
        "released": mode.released.astype(int),
        **touching(model, q, mode),
    }


def _against_orbit(model: OrbitalArm, t: Scalar, attitude: Array) -> dict[str, Array]:
    """How far the station has turned (rad) against where the orbital frame would have taken it."""
    turned = jnp.zeros(())
    if model.orbit is not None:
        turned = model.orbit.anomaly(t) - model.orbit.anomaly(jnp.zeros(()))
    if model.planar:
        return {"theta": attitude - turned}
    frame = Quaternion.exponential(Vector.of(turned * jnp.array([0.0, 0.0, 1.0])))
    off = (frame * Quaternion.of(model.start[3:7])).conjugate() * Quaternion.of(attitude)
    return {"attitude_error_orbit": jnp.linalg.norm(off.logarithm().array())}


def _set_points(model: OrbitalArm, t: Scalar, joints: Row, mode: Mode) -> Row:
    """Angles (rad) that control drives the joints to; the joints' own without control."""
    if model.control is None:
        return joints
    return model.control.reference(mode.phase, t - mode.since)[0]


def touching(model: OrbitalArm, q: Numbers, mode: Mode) -> dict[str, Array]:
    """Points of the payload (m, station axes), and their distances from the surfaces; also once it is handed over."""
    if model.touch is None:
        return {}
    places = model.places(q)
    if model.latch is not None:
        stowed = mode.place + model.touch.points @ Quaternion.of(mode.attitude).matrix().array().T
        places = jnp.where(mode.released, stowed, places)
    gaps = [surface.signed_distance(Vector.of(place)) for place in places for surface in model.touch.surfaces]
    return {"contact_place": places, "gap": jnp.stack(gaps)}
