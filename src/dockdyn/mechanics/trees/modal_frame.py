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
    Screw,
    acceleration_at_lever,
    row_of_motions,
)
from dockdyn.mechanics.trees.screws import left_jacobian
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once
from dockdyn.trees import Module, field

type Shapes = tuple[Vector, ...] | Vector  # of few modes one after another; of many as a vector of rows over modes


class Shortening(Module):
    """How bending moves a place of a beam back along it: by −½ ηᵀ `bow` η."""

    along: Float[Array, "3"]  # unit vector from the beam's root, axes of the frame at rest
    bow: Float[Array, "modes modes"]  # m per square of a modal coordinate

    def shift(self, coordinates: Sequence[Scalar], others: Sequence[Scalar]) -> Vector:
        """Return −ηᵀ bow η′ along the beam: of modal coordinates and their rates the velocity, of rates alone the acceleration
        where these stay, of coordinates alone twice the place."""
        return Vector.of(self.along) * -(jnp.stack(coordinates) @ self.bow @ jnp.stack(others))

    def by_mode(self, coordinates: Sequence[Scalar]) -> list[Vector]:
        """Return what the rate of one of each mode makes of the velocity."""
        along = Vector.of(self.along)
        return [along * -rate for rate in self.bow @ jnp.stack(coordinates)]


class ModalFrame(Module):
    """A frame that moves against that of its link at rest: by Σ shift η at `place`, where that is a beam's less its shortening,
    and by the rotation vector Σ turn η."""

    place: Vector  # m, axes of the frame at rest
    arm: Vector  # m, its origin from there, its own axes
    shift: Shapes  # m per unit of η, by mode
    turn: Shapes  # rad per unit of η
    carrier: int = field(static=True)  # the link's frame at rest, by its place among the bodies of the tree
    numbers: tuple[int, ...] = field(static=True)  # of the modes among the coordinates of all trees
    massless: bool = field(static=True)
    shortening: Shortening | None = None

    def placed(self, carrier: Placed, motions: Motions | Sequence[JointMotion]) -> Placed:
        """Return the frame, where the link's frame at rest is `carrier`; `motions` are those of the coordinates of all
        trees."""
        (shift, turn), (moving, turning) = (self._moved(motions, part) for part in (0, 1))
        attitude = carrier.pose.attitude * Quaternion.exponential(turn)
        rotation, point = once(attitude.matrix()), carrier.point(self.place + shift)
        spin = carrier.rate + carrier.rotation @ Vector.of(left_jacobian(turn.array(), turning.array()))
        lever = rotation @ self.arm
        velocity = carrier.velocity(point) + carrier.rotation @ moving + spin.cross(lever)
        twist = Twist(velocity, rotation.transposed_times(spin))
        return once(Placed(Pose(point + lever, attitude), twist, rotation, spin))

    def drift(self, carrier: Placed, carried: Rates, body: Placed, motions: Motions | Sequence[JointMotion]) -> Rates:
        """Return the acceleration of the frame where those of the modes are zero, `carried` being that of the frame at rest."""
        (_, turn), (moving, turning) = (self._moved(motions, part) for part in (0, 1))
        rate = turning.array()
        swinging, swung_round = jax.jvp(lambda angle: left_jacobian(angle, rate), (turn.array(),), (rate,))
        spin = carried.spin + carrier.rate.cross(carrier.rotation @ Vector.of(swinging))
        spin = spin + carrier.rotation @ Vector.of(swung_round)
        lever = body.rotation @ self.arm
        velocity = carried.at(carrier, body.pose.position - lever) + carrier.rate.cross(carrier.rotation @ moving) * 2.0
        if self.shortening is not None:
            rates = self._numbers(motions, 1)
            velocity = velocity + carrier.rotation @ self.shortening.shift(rates, rates)
        return Rates(velocity + acceleration_at_lever(spin, body.rate, lever), spin)

    def screws(
        self, carrier: Placed, body: Placed, place: Vector, motions: Motions | Sequence[JointMotion]
    ) -> tuple[Screw, ...]:
        """Return what each mode does to the frame, at `place` (m) from the common centre, and to all that it carries."""
        bent = self.bent(carrier, body, place, motions)
        shifts = _rows(self.shift)
        if self.shortening is not None:
            shorter = self.shortening.by_mode(self._numbers(motions, 0))
            shifts = [shift + less for shift, less in zip(shifts, shorter, strict=True)]
        return tuple(bent.screw(shift, turn) for shift, turn in zip(shifts, _rows(self.turn), strict=True))

    def bent(self, carrier: Placed, body: Placed, place: Vector, motions: Motions | Sequence[JointMotion]) -> BentFrame:
        """Return the frame as its modes have bent it, at `place` (m) from the common centre."""
        _, angle = self._moved(motions, 0)
        jacobian = Matrix.of(left_jacobian(angle.array(), jnp.eye(3)))
        return BentFrame(self, carrier.rotation, jacobian, place - body.rotation @ self.arm)

    def _moved(self, motions: Motions | Sequence[JointMotion], part: int) -> tuple[Vector, Vector]:
        """Return the shift and rotation vector by the modal coordinates (part 0), or the rates of these two (1)."""
        if not isinstance(self.shift, tuple):
            row = row_of_motions(motions, self.numbers, part)
            return _sum_of_rows(self.shift, row), _sum_of_rows(self.turn, row)
        coordinates, numbers = (self._numbers(motions, one) for one in (0, part))
        shift = _sum_of_shapes(numbers, self.shift)
        if self.shortening is not None:
            shift = shift + self.shortening.shift(coordinates, numbers) * (1.0 if part else 0.5)
        assert isinstance(self.turn, tuple)
        return shift, _sum_of_shapes(numbers, self.turn)

    def _numbers(self, motions: Motions | Sequence[JointMotion], part: int) -> list[Scalar]:
        """Return the modal coordinates (part 0), or their rates (1)."""
        return [motions[number][part] for number in self.numbers]


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
        return self.screw(_sum_of_rows(self.frame.shift, rates), _sum_of_rows(self.frame.turn, rates))

    def efforts(self, load: Load) -> Float[Array, "modes *loads"]:
        """Return the effort of a load about the common centre on each mode, without shortening."""
        force = self.rotation.transposed_times(load.force)
        moment = self.rotation.transposed_times(load.moment - self.point.cross(load.force))
        return _work_of_rows(self.frame.shift, force) + _work_of_rows(self.frame.turn, self.jacobian @ moment)


def _rows(shapes: Shapes) -> Sequence[Vector]:
    """Return shapes as vectors, by mode."""
    if isinstance(shapes, tuple):
        return shapes
    return [Vector(shapes.x[mode], shapes.y[mode], shapes.z[mode]) for mode in range(shapes.x.shape[0])]


def _sum_of_rows(shapes: Shapes, numbers: Float[Array, "modes *loads"]) -> Vector:
    """Return the sum of shapes in rows, each times its number."""
    assert isinstance(shapes, Vector)
    return Vector(shapes.x @ numbers, shapes.y @ numbers, shapes.z @ numbers)


def _work_of_rows(shapes: Shapes, load: Vector) -> Float[Array, "modes *loads"]:
    """Return the product of each shape in rows with a load, or with each of several."""
    assert isinstance(shapes, Vector)
    if load.x.ndim:
        return jnp.stack([shapes.x, shapes.y, shapes.z], axis=1) @ load.array()
    return shapes.dot(load)


def _sum_of_shapes(numbers: Sequence[Scalar], shapes: Sequence[Vector]) -> Vector:
    """Return the sum of shapes, each times its number."""
    parts = [shape * number for shape, number in zip(shapes, numbers, strict=True)]
    return sum(parts, Vector.zero())


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

    def between(self, one: int, other: int) -> Scalar | None:
        """Return its entry of the mass matrix for two coordinates; None where it has none."""
        if one not in self.numbers or other not in self.numbers:
            return None
        row, column = self.numbers.index(one), self.numbers.index(other)
        if self.mass.ndim == 1:
            return self.mass[row] if row == column else None
        return self.mass[row, column]

    def bent(self, body: RigidBody, placed: Placed, motions: Motions | Sequence[JointMotion]) -> Bent | None:
        """Return the inertia of the link, at rest the `body`, as it is `placed` and bent; None where that is not known."""
        if self.bending is None:
            return None
        return self.bending.at(body, placed.twist.rate, [motions[number] for number in self.numbers])
