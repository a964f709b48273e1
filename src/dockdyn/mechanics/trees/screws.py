"""Stacks of screws and small matrices: products, changes of frame, exponentials. The stack's axes come first.

A screw or twist is (v, ω), six components; v belongs to the point at the origin of the frame it is written in.

Units: SI: m, rad, m/s, rad/s; matrices those of the caller.
Source: Murray, Li and Sastry 1994, A Mathematical Introduction to Robotic Manipulation, chapter 2.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rotation import SMALL_ANGLE, Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import trace_once


@trace_once
def matrix_product(a: Float[Array, "*stack i j"], b: Float[Array, "*stack j k"]) -> Float[Array, "*stack i k"]:
    """Return the matrix products; XLA fuses this, while its own product of stacks costs a call for every matrix."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


@trace_once
def apply_matrix(a: Float[Array, "*stack i j"], x: Float[Array, "*stack j"]) -> Float[Array, "*stack i"]:
    """Return matrices times vectors."""
    return (a * x[..., None, :]).sum(-1)


def transpose_each(a: Float[Array, "*stack i j"]) -> Float[Array, "*stack j i"]:
    """Return each matrix of a stack transposed."""
    return jnp.swapaxes(a, -1, -2)


@trace_once
def cross_product(a: Float[Array, "*stack 3"], b: Float[Array, "*stack 3"]) -> Float[Array, "*stack 3"]:
    """Return the vector products; one of the two may have fewer axes."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return jnp.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], -1)


def axial_vector(products: Float[Array, "*stack 3 3"]) -> Float[Array, "*stack 3"]:
    """Return Σ a × b of Σ a bᵀ."""
    apart = products - transpose_each(products)
    return jnp.stack([apart[..., 1, 2], apart[..., 2, 0], apart[..., 0, 1]], -1)


def cross_matrix(a: Float[Array, "*stack 3"]) -> Float[Array, "*stack 3 3"]:
    """Return the matrices of vector products: cross_matrix(a) b = a × b."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    zero = jnp.zeros_like(x)
    return jnp.stack([jnp.stack(row, -1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))], -2)


@trace_once
def screw_bracket(a: Float[Array, "*stack 6"], b: Float[Array, "*stack 6"]) -> Float[Array, "*stack 6"]:
    """Return the rate of the screws b that are carried along by the twists a, all in one frame at rest."""
    turning = a[..., 3:]
    moved = cross_product(turning, b[..., :3]) + cross_product(a[..., :3], b[..., 3:])
    return jnp.concatenate([moved, cross_product(turning, b[..., 3:])], -1)


@trace_once
def screws_seen(
    rotation: Float[Array, "3 3"], position: Float[Array, "3"], screws: Float[Array, "*count 6"]
) -> Float[Array, "*count 6"]:
    """Return screws of one frame in the one in which `rotation` and `position` (m) place it."""
    spin = apply_matrix(rotation, screws[..., 3:])
    return jnp.concatenate([apply_matrix(rotation, screws[..., :3]) + cross_product(position, spin), spin], -1)


@trace_once
def to_inner_frame(
    rotation: Float[Array, "3 3"], position: Float[Array, "3"], screw: Float[Array, "6"]
) -> Float[Array, "6"]:
    """Return a screw in the frame that `rotation` and `position` (m) place in its own: the way back."""
    back, spin = transpose_each(rotation), screw[3:]
    return jnp.concatenate([apply_matrix(back, screw[:3] + cross_product(spin, position)), apply_matrix(back, spin)])


def rotation_matrix(turn: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Return the rotation matrix of a rotation vector (rad)."""
    return Quaternion.exponential(Vector.of(turn)).matrix().array()


def left_jacobian(turn: Float[Array, "*stack 3"], rate: Float[Array, "*stack 3"]) -> Float[Array, "*stack 3"]:
    """Return the angular velocity of the rotation by `turn` (rad), in fixed axes, when `turn` changes at `rate`."""
    squared = (turn * turn).sum(-1)[..., None]
    small = squared < SMALL_ANGLE
    safe = jnp.where(small, 1.0, squared)
    angle = jnp.sqrt(safe)
    first = jnp.where(small, 0.5 - squared / 24 * (1 - squared / 30), (1 - jnp.cos(angle)) / safe)
    second = jnp.where(small, 1 / 6 - squared / 120 * (1 - squared / 42), (angle - jnp.sin(angle)) / (safe * angle))
    once = cross_product(turn, rate)
    return rate + first * once + second * cross_product(turn, once)
