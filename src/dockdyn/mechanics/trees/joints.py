"""Where a link sits on its parent, and how its joint and the parent's bending move it.

Units: SI: m, rad, m/s, rad/s; modal coordinates in m or rad.
Source: Murray, Li and Sastry 1994, A Mathematical Introduction to Robotic Manipulation, chapter 3; bent seats, own derivation.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.screws import (
    apply_matrix,
    cross_product,
    left_jacobian,
    matrix_product,
    rotation_matrix,
    transpose_each,
)
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.programs import trace_once

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.composite_bodies import Links

type Three = Float[Array, "3"]
type Six = Float[Array, "6"]
type Turn = Float[Array, "3 3"]


@trace_once
def rotation_about(axis: Three, angle: Scalar) -> Turn:
    """Return the rotation by an angle (rad) about a unit vector."""
    return turn_about(axis, angle).matrix().array()


@trace_once
def turn_about(axis: Three, angle: Scalar) -> Quaternion:
    """Return the same as a quaternion, whose sign goes on with the angle from turn to turn."""
    part = axis * jnp.sin(angle / 2)
    return Quaternion(jnp.cos(angle / 2), part[0], part[1], part[2])


@trace_once
def carried_on(rotation: Turn, position: Three, turn: Turn, place: Three) -> tuple[Turn, Three]:
    """Return the pose of a link, its parent being at `rotation` and `position` (m), it at `turn` and `place` against that."""
    return matrix_product(rotation, turn), position + apply_matrix(rotation, place)


def straight_seat(link: Links) -> tuple[Turn, Three]:
    """Return axes and place (m) of a joint, in the frame of a parent that does not bend."""
    return link.mount_turn, link.mount.at[0].add(link.attach_place)


@trace_once
def bent_seat(link: Links, eta: Float[Array, "width"]) -> tuple[Turn, Three]:
    """Return the same on a parent's beam with modal coordinates `eta`."""
    bend, place, _ = _beam_section(link, eta)
    return matrix_product(bend, link.mount_turn), place + apply_matrix(bend, link.mount)


@trace_once
def seat_attitude(link: Links, eta: Float[Array, "width"] | None) -> Quaternion:
    """Return the axes of a joint in the frame of its parent, on a beam with modal coordinates `eta` or on one without."""
    mount = Quaternion.from_matrix(Matrix.of(link.mount_turn))
    if eta is None:
        return mount
    return Quaternion.exponential(Vector.of(apply_matrix(link.attach_turn, eta))) * mount


@trace_once
def seat_motion(
    link: Links, eta: Float[Array, "width"], rates: Float[Array, "width"]
) -> tuple[Float[Array, "width 6"], Six, Six]:
    """Return screws of the parent's modes where a link sits, their twist, and its rate at constant modal rates; the parent's
    frame."""
    turn, turning = apply_matrix(link.attach_turn, eta), apply_matrix(link.attach_turn, rates)
    _, place, shortened = _beam_section(link, eta)
    shift = link.attach_shift.at[0].add(-shortened)
    spins = left_jacobian(turn[None], transpose_each(link.attach_turn))
    screws = jnp.concatenate([transpose_each(shift) + cross_product(place[None], spins), spins], -1)
    twist = apply_matrix(transpose_each(screws), rates)
    moving, spin = apply_matrix(shift, rates), twist[3:]
    curving = -(rates @ apply_matrix(link.attach_shortening, rates))
    _, spinning = jax.jvp(lambda turn: left_jacobian(turn, turning), (turn,), (turning,))
    drift = (cross_product(moving, spin) + cross_product(place, spinning)).at[0].add(curving)
    return screws, twist, jnp.concatenate([drift, spinning])


def _beam_section(link: Links, eta: Float[Array, "width"]) -> tuple[Turn, Three, Float[Array, "width"]]:
    """Return the rotation and place (m) of the beam's section, and its shortening by the modal coordinates."""
    shortened = apply_matrix(link.attach_shortening, eta)
    place = apply_matrix(link.attach_shift, eta).at[0].add(link.attach_place - 0.5 * (eta @ shortened))
    return rotation_matrix(apply_matrix(link.attach_turn, eta)), place, shortened


@partial(trace_once, static=("joint",))
def joint_screws(rotation: Turn, position: Three, axis: Three, joint: str) -> list[Six]:
    """Return twists of a link by unit rates of its joint, in the axes of `rotation` and about the origin of `position` (m).

    A hinge turns about its axis, a ball about those of its link.
    """
    if joint == "spherical":
        return [_hinge_screw(rotation[:, axis], position) for axis in range(3)]
    along = apply_matrix(rotation, axis)
    if joint == "prismatic":
        return [jnp.concatenate([along, jnp.zeros(3)])]
    return [_hinge_screw(along, position)] if joint == "revolute" else []


def _hinge_screw(axis: Three, place: Three) -> Six:
    return jnp.concatenate([cross_product(place, axis), axis])
