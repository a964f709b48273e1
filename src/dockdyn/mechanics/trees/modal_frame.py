"""Frames of a flexible link that its modes move, and what of the modes' inertia moves none of them.

The link's mass moves as a rigid body with its mean axes: there the modes have neither linear nor angular momentum, so that what
is left of their kinetic energy is that of modal rates alone. Sections of the link where something sits are frames without mass.

Units: SI: m, rad; modal coordinates those of the caller.
Source: mean axes of a link, Canavin and Likins 1977, J. Spacecraft and Rockets 14:724; the inertia about them as constant,
Waszak and Schmidt 1988, J. Aircraft 25:563.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.bent_inertia import Bent, BentInertia
from dockdyn.mechanics.trees.partial_motion import (
    JointMotion,
    Load,
    Motions,
    Rates,
    Row,
    Screw,
    acceleration_at_lever,
    product_of_each,
    row_of_motions,
    times_rates,
)
from dockdyn.mechanics.trees.screws import left_jacobian
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once
from dockdyn.trees import Module, field


class Shortening(Module):
    """How bending moves a place of a beam back along it: by −½ ηᵀ `bow` η."""

    along: Float[Array, "3"]  # unit vector from the beam's root, axes of the frame at rest
    bow: Float[Array, "modes modes"]  # m per square of a modal coordinate

    def slopes(self, coordinates: Row) -> Row:
        """Return bow η: by how much the rate of one of each mode moves the place back along the beam."""
        return self.bow @ coordinates


class ModalFrame(Module):
    """A frame that moves against that of its link at rest: by Σ shift η at `place`, where that is a beam's less its shortening,
    and by the rotation vector Σ turn η."""

    place: Vector  # m, axes of the frame at rest
    arm: Vector  # m, its origin from there, its own axes
    shift: Vector  # m per unit of η, a row over modes along each axis
    turn: Vector  # rad per unit of η
    carrier: int = field(static=True)  # the link's frame at rest, by its place among the bodies of the tree
    numbers: tuple[int, ...] = field(static=True)  # of the modes among the coordinates of all trees
    massless: bool = field(static=True)
    shortening: Shortening | None = None

    def placed(self, carrier: Placed, motions: Motions | Sequence[JointMotion]) -> Placed:
        """Return the frame, where the link's frame at rest is `carrier`; `motions` are those of the coordinates of all
        trees."""
        coordinates, rates = (row_of_motions(motions, self.numbers, part) for part in (0, 1))
        turn, turning, shift, moving = (
            times_rates(shapes, one) for shapes in (self.turn, self.shift) for one in (coordinates, rates)
        )
        if self.shortening is not None:
            along, slopes = Vector.of(self.shortening.along), self.shortening.slopes(coordinates)
            shift, moving = shift - along * (0.5 * (slopes @ coordinates)), moving - along * (slopes @ rates)
        attitude = carrier.pose.attitude * Quaternion.exponential(turn)
        rotation, point = once(attitude.matrix()), carrier.point(self.place + shift)
        spin = carrier.rate + carrier.rotation @ Vector.of(left_jacobian(turn.array(), turning.array()))
        lever = rotation @ self.arm
        velocity = carrier.velocity(point) + carrier.rotation @ moving + spin.cross(lever)
        twist = Twist(velocity, rotation.transposed_times(spin))
        return once(Placed(Pose(point + lever, attitude), twist, rotation, spin))

    def drift(self, carrier: Placed, carried: Rates, body: Placed, motions: Motions | Sequence[JointMotion]) -> Rates:
        """Return the acceleration of the frame where those of the modes are zero, `carried` being that of the frame at rest."""
        coordinates, rates = (row_of_motions(motions, self.numbers, part) for part in (0, 1))
        rate = times_rates(self.turn, rates).array()
        turn = times_rates(self.turn, coordinates).array()
        swinging, swung_round = jax.jvp(lambda angle: left_jacobian(angle, rate), (turn,), (rate,))
        spin = carried.spin + carrier.rate.cross(carrier.rotation @ Vector.of(swinging))
        spin = spin + carrier.rotation @ Vector.of(swung_round)
        lever = body.rotation @ self.arm
        moving, velocity = times_rates(self.shift, rates), carried.at(carrier, body.pose.position - lever)
        if self.shortening is not None:
            along = Vector.of(self.shortening.along)
            moving = moving - along * (self.shortening.slopes(coordinates) @ rates)
            velocity = velocity - carrier.rotation @ along * (self.shortening.slopes(rates) @ rates)
        velocity = velocity + carrier.rate.cross(carrier.rotation @ moving) * 2.0
        return Rates(velocity + acceleration_at_lever(spin, body.rate, lever), spin)

    def screw(self, carrier: Placed, body: Placed, place: Vector, motions: Motions | Sequence[JointMotion]) -> Screw:
        """Return what the modes do to the frame, at `place` (m) from the common centre, and to all that it carries."""
        shifts = self.shift
        if self.shortening is not None:
            slopes = self.shortening.slopes(row_of_motions(motions, self.numbers, 0))
            shifts = shifts - Vector.of(self.shortening.along) * slopes
        return self.bent(carrier, body, place, motions).screw(shifts, self.turn)

    def bent(self, carrier: Placed, body: Placed, place: Vector, motions: Motions | Sequence[JointMotion]) -> BentFrame:
        """Return the frame as its modes have bent it, at `place` (m) from the common centre."""
        angle = times_rates(self.turn, row_of_motions(motions, self.numbers, 0))
        jacobian = Matrix.of(left_jacobian(angle.array(), jnp.eye(3)))
        return BentFrame(self, carrier.rotation, jacobian, place - body.rotation @ self.arm)


class BentFrame(NamedTuple):
    """A frame as its modes have bent it; a rate of them moves what it carries by a screw about the common centre."""

    frame: ModalFrame
    rotation: Matrix  # of the link at rest
    jacobian: Matrix  # transposed: a row is what the rotation vector's rate along one axis makes of the spin
    point: Vector  # m, the place that modes move, from the common centre

    def screw(self, shift: Vector, turn: Vector) -> Screw:
        """Return what such rates of shift and turn (axes of the link at rest) do to all that the frame carries."""
        spin = self.rotation @ self.jacobian.transposed_times(turn)
        return Screw(self.rotation @ shift + self.point.cross(spin), spin)

    def screw_of(self, rates: Float[Array, "modes *loads"]) -> Screw:
        """Return what rates of all modes, without shortening, do together."""
        return self.screw(times_rates(self.frame.shift, rates), times_rates(self.frame.turn, rates))

    def efforts(self, load: Load) -> Float[Array, "modes *loads"]:
        """Return the effort of a load about the common centre on each mode, without shortening."""
        force = self.rotation.transposed_times(load.force)
        moment = self.rotation.transposed_times(load.moment - self.point.cross(load.force))
        return product_of_each((self.frame.shift, self.frame.turn), (force, self.jacobian @ moment))


class Vibration(Module):
    """What a link's modes have of kinetic energy beside that of a rigid body in its mean axes: ½ η̇ᵀ m η̇, and where it is known
    what bending does to the inertia of that body."""

    mass: Float[Array, "modes modes"] | Float[Array, "modes"]  # of modes that are orthogonal in mean axes a number each
    bending: BentInertia | None
    numbers: tuple[int, ...] = field(static=True)  # of the modes among the coordinates of all trees
    body: int = field(static=True)  # the link's mass, by its place among the bodies of the tree

    @property
    def orthogonal(self) -> bool:
        """Whether no mode has momentum, nor inertia together with another one."""
        return self.mass.ndim == 1 and self.bending is None

    def kinetic_energy(self, motions: Motions | Sequence[JointMotion]) -> Scalar:
        """Return ½ η̇ᵀ m η̇ (J) at the motions of the coordinates of all trees."""
        rates = row_of_motions(motions, self.numbers, 1)
        return 0.5 * rates @ (self.mass * rates if self.mass.ndim == 1 else self.mass @ rates)

    def matrix(self) -> Float[Array, "modes modes"]:
        """Return the mass matrix of its modes."""
        return jnp.diag(self.mass) if self.mass.ndim == 1 else self.mass

    def bent(self, body: RigidBody, placed: Placed, motions: Motions | Sequence[JointMotion]) -> Bent | None:
        """Return the inertia of the link, at rest the `body`, as it is `placed` and bent; None where that is not known."""
        if self.bending is None:
            return None
        coordinates, rates = (row_of_motions(motions, self.numbers, part) for part in (0, 1))
        return self.bending.at(body, placed.twist.rate, coordinates, rates)
