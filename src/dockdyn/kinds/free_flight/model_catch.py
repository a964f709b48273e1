"""Two free bodies held together by the compliant catch of a latch: a load that both feel, equal and opposite.

Units: m, rad, s, kg, kg m², N, N m, J.
Source: Kelvin–Voigt element between two bodies; its work in closed form, own derivation, in the page of theory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
from jaxtyping import Array

from dockdyn.contact.catch import Catch, Seat
from dockdyn.contact.latch import HELD, ConeLatch
from dockdyn.integrate.model import Flag, Scalar, State
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector, once

if TYPE_CHECKING:
    from dockdyn.kinds.free_flight.model import FreeFlight


def seat(latch: ConeLatch, time: Scalar, chaser: Placed, target: Placed) -> Seat:
    """The seat of a tip that is caught now, at `time` (s)."""
    own, other = latch.sides(chaser, target)
    turn = None
    if latch.hold == "weld":
        turn = other.pose.attitude.conjugate() * own.pose.attitude
    return Seat(other.local(latch.point(chaser, target)), turn, time, jnp.zeros(()))


def _stretch(latch: ConeLatch, found: Seat, chaser: Placed, target: Placed) -> tuple[Vector, ...]:
    """How far the tip is from its seat (m), and for a weld how far its body has turned (rotation vector, rad); inertial."""
    own, other = latch.sides(chaser, target)
    moved = latch.point(chaser, target) - other.point(found.place)
    if found.turn is None:
        return (moved,)
    turned = own.pose.attitude * (other.pose.attitude * found.turn).conjugate()
    return moved, turned.logarithm()


def _is_held(x: State) -> Flag:
    """Whether the latch has fallen in."""
    return x.mode[-1] >= HELD


def catch_load(model: FreeFlight, latch: ConeLatch, catch: Catch, x: State) -> tuple[Vector, Vector]:
    """Force (N) and moment (N m) of the catch on the chaser at the tip, inertial; zero while nothing is caught."""
    places = model.places(x)

    def load() -> tuple[Vector, Vector]:
        found = catch.load(_stretch(latch, x.memory[2], *places), latch.slip(*places))
        side = 1.0 if latch.feature_on_chaser else -1.0
        return found[0] * side, found[1] * side if len(found) == 2 else Vector.zero()

    return once(jax.lax.cond(_is_held(x), load, lambda: (Vector.zero(), Vector.zero())))


def catch_power(model: FreeFlight, latch: ConeLatch, catch: Catch, x: State) -> Scalar:
    """What the dampers of the catch take (W)."""
    return jnp.where(_is_held(x), catch.dissipated(latch.slip(*model.places(x))), 0.0)


def catch_sizes(model: FreeFlight, latch: ConeLatch, catch: Catch, x: State) -> tuple[Scalar, ...]:
    """Size of the catch's force (N), of the way it has yielded (m), and for a weld of its moment (N m)."""
    force, moment = catch_load(model, latch, catch, x)
    yielded = _stretch(latch, x.memory[2], *model.places(x))[0]
    sizes = (size(force), jnp.where(_is_held(x), size(yielded), 0.0))
    return sizes if catch.turning is None else (*sizes, size(moment))


def size(vector: Vector) -> Scalar:
    """The length of a vector; its derivative at zero is zero."""
    squared = vector.dot(vector)
    # no choice by the sign: kernels that each compute it may round it to either side of zero
    return squared / jnp.sqrt(jnp.maximum(squared, 1e-300))


def first_swing(model: FreeFlight, latch: ConeLatch, catch: Catch) -> Scalar:
    """Time (s) within which every mode of the bodies in the catch has swung once to one side and back.

    Half the period at which the slowest could swing, π √(m/k + J/kᵩ): m the reduced mass, J the lesser of the bodies'
    largest moments of inertia about the tip (by Frobenius norm, at least the largest).
    """
    chaser, target = model.bodies
    longest = chaser.mass * target.mass / (chaser.mass + target.mass) / catch.stiffness
    if catch.turning is not None:
        seat = Vector.of(latch.cone.apex) + Vector.of(latch.cone.axis) * (latch.entry - latch.ramp.length)
        levers = latch.bodies_of(Vector.of(latch.feature.position), seat)
        about_tip = [
            jnp.linalg.norm(body.inertia) + body.mass * lever.dot(lever)
            for body, lever in zip(model.bodies, levers, strict=True)
        ]
        longest += jnp.minimum(*about_tip) / catch.turning[0]
    return jnp.pi * jnp.sqrt(longest)


def catch_observed(model: FreeFlight, latch: ConeLatch, catch: Catch, x: State) -> dict[str, Array]:
    """What the catch shows at an instant: how far it yields, its energy, how long its first swing takes."""
    found, places = x.memory[2], model.places(x)
    yielded = _stretch(latch, found, *places)
    stored = jnp.where(_is_held(x), catch.stored(yielded), 0.0)
    return {
        "catch_travel": jnp.where(_is_held(x), size(yielded[0]), 0.0),
        "catch_moment": catch_load(model, latch, catch, x)[1].array(),
        "catch_stored": stored,
        "catch_dissipated": found.dissipated,
        "catch_taken": stored + found.dissipated,
        "catch_stroke": catch.stroke,
        "catch_swing": first_swing(model, latch, catch),
    }
