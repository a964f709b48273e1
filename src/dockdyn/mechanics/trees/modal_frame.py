"""Frames of a flexible link that its modes move, and what of the modes' inertia moves none of them.

The link's mass moves as a rigid body with its mean axes: there the modes have neither linear nor angular momentum, so that what
is left of their kinetic energy is that of modal rates alone. Sections of the link where something sits are frames without mass.

Units: SI: m, rad; modal coordinates those of the caller.
Source: mean axes of a link, Canavin and Likins 1977, J. Spacecraft and Rockets 14:724; the inertia about them as constant,
Waszak and Schmidt 1988, J. Aircraft 25:563.
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.partial_motion import JointMotion, Rates, Screw, swung
from dockdyn.mechanics.trees.screws import left_jacobian
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once


class ModalFrame(eqx.Module):
    """A frame that moves against that of its link at rest: by Σ shift η at `place`, and by the rotation vector Σ turn η."""

    place: Vector  # m, axes of the frame at rest
    arm: Vector  # m, its origin from there, its own axes
    shift: tuple[Vector, ...]  # m per unit of η, by mode
    turn: tuple[Vector, ...]  # rad per unit of η
    carrier: int = eqx.field(static=True)  # the link's frame at rest, by its place among the bodies of the tree
    numbers: tuple[int, ...] = eqx.field(static=True)  # of the modes among the coordinates of all trees
    massless: bool = eqx.field(static=True)

    def placed(self, carrier: Placed, motions: Sequence[JointMotion]) -> Placed:
        """The frame, where the link's frame at rest is `carrier`; `motions` are those of the coordinates of all trees."""
        (shift, turn), (moving, turning) = (self._moved(motions, part) for part in (0, 1))
        attitude = carrier.pose.attitude * Quaternion.exponential(turn)
        rotation, point = once(attitude.matrix()), carrier.point(self.place + shift)
        spin = carrier.rate + carrier.rotation @ Vector.of(left_jacobian(turn.array(), turning.array()))
        lever = rotation @ self.arm
        velocity = carrier.velocity(point) + carrier.rotation @ moving + spin.cross(lever)
        twist = Twist(velocity, rotation.transposed_times(spin))
        return once(Placed(Pose(point + lever, attitude), twist, rotation, spin))

    def drift(self, carrier: Placed, carried: Rates, body: Placed, motions: Sequence[JointMotion]) -> Rates:
        """Acceleration of the frame where those of the modes are zero, `carried` being that of the frame at rest."""
        (_, turn), (moving, turning) = (self._moved(motions, part) for part in (0, 1))
        rate = turning.array()
        swinging, swung_round = jax.jvp(lambda angle: left_jacobian(angle, rate), (turn.array(),), (rate,))
        spin = carried.spin + carrier.rate.cross(carrier.rotation @ Vector.of(swinging))
        spin = spin + carrier.rotation @ Vector.of(swung_round)
        lever = body.rotation @ self.arm
        velocity = carried.at(carrier, body.pose.position - lever) + carrier.rate.cross(carrier.rotation @ moving) * 2.0
        return Rates(velocity + swung(spin, body.rate, lever), spin)

    def screws(self, carrier: Placed, body: Placed, place: Vector, motions: Sequence[JointMotion]) -> tuple[Screw, ...]:
        """What each mode does to the frame, at `place` (m) from the common centre, and to all that it carries."""
        _, angle = self._moved(motions, 0)
        jacobian = Matrix.of(left_jacobian(angle.array(), jnp.eye(3)))  # transposed: a row is what one axis makes
        point = place - body.rotation @ self.arm
        found = []
        for shift, turn in zip(self.shift, self.turn, strict=True):
            spin = carrier.rotation @ jacobian.transposed_times(turn)
            found.append(Screw(carrier.rotation @ shift + point.cross(spin), spin))
        return tuple(found)

    def _moved(self, motions: Sequence[JointMotion], part: int) -> tuple[Vector, Vector]:
        """Shift and rotation vector by the modal coordinates (part 0), or the rates of these two (1)."""
        numbers = [motions[number][part] for number in self.numbers]
        return _sum(numbers, self.shift), _sum(numbers, self.turn)


def _sum(numbers: Sequence[Scalar], shapes: Sequence[Vector]) -> Vector:
    """The sum of shapes, each times its number."""
    parts = [shape * number for shape, number in zip(shapes, numbers, strict=True)]
    return sum(parts, Vector.zero())


class Vibration(eqx.Module):
    """What of a link's modal mass moves none of its momenta: kinetic energy ½ η̇ᵀ m η̇."""

    mass: Float[Array, "modes modes"]
    numbers: tuple[int, ...] = eqx.field(static=True)  # of the modes among the coordinates of all trees

    def kinetic_energy(self, rates: Sequence[Scalar]) -> Scalar:
        """Kinetic energy (J) at the rates of the coordinates of all trees."""
        moving = jnp.stack([rates[number] for number in self.numbers])
        return 0.5 * moving @ self.mass @ moving

    def between(self, one: int, other: int) -> Scalar | None:
        """Its entry of the mass matrix for two coordinates; None where it has none."""
        if one not in self.numbers or other not in self.numbers:
            return None
        return self.mass[self.numbers.index(one), self.numbers.index(other)]
