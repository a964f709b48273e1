"""Bodies joined to a tree that floats in space, each seen from its own centre of mass; links may bend by modes.

The tree moves as its common centre of mass and the attitude of its root say, and as its joints do: so linear momentum is kept
to rounding. In named scalars, as free bodies are, for the time loop; trees of many modes in arrays are in `composite_bodies`.

Units: SI: m, rad; joints rad or m, kg m² or kg.
Source: Featherstone 2008, Rigid Body Dynamics Algorithms, chapters 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, mean_by_mass
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.bent_inertia import Bent
from dockdyn.mechanics.trees.modal_frame import ModalFrame, Vibration
from dockdyn.mechanics.trees.partial_motion import (
    JointMotion,
    Motions,
    Rates,
    Screw,
    acceleration_at_lever,
    times_rates,
)
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.programs import trace_once
from dockdyn.trees import Module, field


class Joint(Module):
    """How a body is held on the one that carries it; where the coordinate is zero it is turned by `seat`."""

    seat: Quaternion  # its axes → those of what carries it
    mount: Vector  # m, the joint from the centre of mass of what carries it, in the axes of that
    arm: Vector  # m, the body's centre of mass from the joint, its axes
    axis: Vector  # unit vector, the body's axes; of no use where it is locked
    moved: Float[Array, ""]  # kg m² or kg, which a motor reflects
    kind: Literal["revolute", "prismatic", "locked"] = field(static=True)
    carrier: int = field(static=True)  # its place among the bodies of the tree
    number: int | None = field(static=True)  # of the joint among those of all trees that move; None of a locked one
    led: tuple[Float[Array, ""], Float[Array, ""]] | None = (
        None  # by that coordinate: what its own is times it, and what more
    )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number of its coordinate; none of a locked one."""
        return () if self.number is None else (self.number,)

    def motion(self, motions: Motions | Sequence[JointMotion]) -> JointMotion:
        """Return its own coordinate and the rate of it; `motions` are those of the joints of all trees."""
        assert self.number is not None  # of a joint that moves
        coordinate, speed = motions[self.number]
        return (
            (coordinate, speed) if self.led is None else (self.led[0] * coordinate + self.led[1], self.led[0] * speed)
        )

    def placed(self, carrier: Placed, motions: Motions | Sequence[JointMotion]) -> Placed:
        """Return the body on what carries it; `motions` are those of the joints of all trees."""
        attitude, rate = carrier.pose.attitude * self.seat, self.seat.matrix().transposed_times(carrier.twist.rate)
        if self.kind == "revolute" and self.number is not None:
            coordinate, speed = self.motion(motions)
            turn = Quaternion.exponential(self.axis * coordinate)
            attitude, rate = attitude * turn, turn.matrix().transposed_times(rate) + self.axis * speed
        rotation, point = once(attitude.matrix()), carrier.point(self.mount)
        spin, lever = rotation @ rate, rotation @ self.arm
        place, velocity = point + lever, carrier.velocity(point) + spin.cross(lever)
        if self.kind == "prismatic" and self.number is not None:
            coordinate, speed = self.motion(motions)
            along = rotation @ self.axis
            place, velocity = place + along * coordinate, velocity + spin.cross(along * coordinate) + along * speed
        return once(Placed(Pose(place, attitude), Twist(velocity, rate), rotation, spin))

    def drift(self, carrier: Placed, carried: Rates, body: Placed, motions: Motions | Sequence[JointMotion]) -> Rates:
        """Return the acceleration of the body where those of joints are zero, `carried` being that of what carries it."""
        if self.number is None:
            return Rates(carried.at(carrier, body.pose.position), carried.spin)
        turning = carrier.rate.cross(body.rotation @ self.axis * self.motion(motions)[1])
        if self.kind == "prismatic":
            return Rates(carried.at(carrier, body.pose.position) + turning * 2.0, carried.spin)
        spin, lever = carried.spin + turning, body.rotation @ self.arm
        return Rates(
            carried.at(carrier, body.pose.position - lever) + acceleration_at_lever(spin, body.rate, lever), spin
        )

    def screw(self, carrier: Placed, body: Placed, place: Vector, motions: Motions | Sequence[JointMotion]) -> Screw:
        """Return what the joint, one that moves, of a body at `place` (m, from the common centre) does."""
        along = body.rotation @ (self.axis if self.led is None else self.axis * self.led[0])
        if self.kind == "prismatic":
            return Screw(along, Vector.zero())
        return Screw((place - body.rotation @ self.arm).cross(along), along)


class JointedBodies(Module):
    """A body, the root, and those joined to it by hinges, slides and welds; frames of flexible links, which modes move."""

    bodies: tuple[RigidBody, ...]  # the root first, each after what carries it; frames without mass among them
    joints: tuple[Joint | ModalFrame, ...]  # of all but the root
    members: tuple[int, ...] = field(static=True)  # numbers of the bodies among all
    vibrations: tuple[Vibration, ...] = ()  # of flexible links

    @trace_once
    def placed(self, centre: Pose, twist: Twist, motions: Motions | Sequence[JointMotion]) -> tuple[Placed, ...]:
        """Return the bodies, their common centre of mass and the root's attitude moving as `centre` and `twist` say; `motions`
        are those of the joints of all trees."""
        resting = self.resting(centre.attitude, twist.rate, motions)
        middle, drift = self.middle(resting)
        place, velocity = once((centre.position - middle, twist.velocity - drift))
        return tuple(one.moved(place, velocity) for one in resting)

    @trace_once
    def resting(
        self, attitude: Quaternion, rate: Vector, motions: Motions | Sequence[JointMotion]
    ) -> tuple[Placed, ...]:
        """Return the bodies with the root's centre of mass at rest at the origin."""
        found = [Placed.of(Pose(Vector.zero(), attitude.normalised()), Twist(Vector.zero(), rate))]
        for joint in self.joints:
            found.append(joint.placed(found[joint.carrier], motions))
        return tuple(found)

    def centred(self, pose: Pose, twist: Twist, motions: Motions | Sequence[JointMotion]) -> tuple[Pose, Twist]:
        """Return where the common centre of mass is, and how it moves, with the root at `pose` and `twist`."""
        middle, drift = self.middle(self.resting(pose.attitude, twist.rate, motions))
        return Pose(pose.position + middle, pose.attitude.normalised()), Twist(twist.velocity + drift, twist.rate)

    def numbers(self) -> list[tuple[int, ...]]:
        """Return the numbers of its coordinates among those of all trees, that of a joint alone, those of a link's modes
        together, in the order of its bodies."""
        return list(dict.fromkeys(joint.numbers for joint in self.joints if joint.numbers))

    def beyond(self, body: int) -> set[int]:
        """Return a body and all that it carries, by their places in the tree."""
        found = {body}
        for number, joint in enumerate(self.joints, start=1):
            if joint.carrier in found:
                found.add(number)
        return found

    def weighs(self, body: int) -> bool:
        """Return whether a body or anything that it carries has mass."""
        return not self.beyond(body) <= self.massless()

    def massless(self) -> set[int]:
        """Return the frames without mass that modes move, by their places in the tree."""
        return {
            number for number, one in enumerate(self.joints, start=1) if isinstance(one, ModalFrame) and one.massless
        }

    def loose(self) -> list[Vibration]:
        """Return the vibrations whose modes move nothing that has mass: each mode answers by itself."""
        heavy = {
            number
            for body, joint in enumerate(self.joints, start=1)
            if isinstance(joint, ModalFrame) and (self.weighs(body) or joint.shortening is not None)
            for number in joint.numbers
        }
        return [one for one in self.vibrations if one.orthogonal and not heavy & set(one.numbers)]

    def bent(self, placed: Sequence[Placed], motions: Motions | Sequence[JointMotion]) -> dict[int, Bent]:
        """Return the inertia of the links that bend, by their places in the tree; without those of which it stays."""
        found = {one.body: one.bent(self.bodies[one.body], placed[one.body], motions) for one in self.vibrations}
        return {body: bent for body, bent in found.items() if bent is not None}

    def needed(
        self,
        placed: Sequence[Placed],
        bent: Mapping[int, Bent],
        rates: Sequence[Twist],
        accelerations: Mapping[int, Scalar] | None = None,
    ) -> list[tuple[Vector, Vector]]:
        """Return what each body needs, force (N, inertial) and torque about its centre of mass (N m, body axes).

        So their twists change at these `rates`, and coordinates at `accelerations`, by number; without them these keep their
        rates.
        """
        found, frames = [], self.massless()
        for number, (body, one, rate) in enumerate(zip(self.bodies, placed, rates, strict=True)):
            if number in frames:
                found.append((Vector.zero(), Vector.zero()))
                continue
            force, torque = (bent[number].body if number in bent else body).needed(one.twist, rate)
            found.append((force, torque + bent[number].moment if number in bent else torque))
        if accelerations is None:
            return found
        for vibration in self.vibrations:
            if vibration.body in bent:
                force, torque = found[vibration.body]
                own = jnp.stack([accelerations[number] for number in vibration.numbers])
                found[vibration.body] = force, torque + times_rates(bent[vibration.body].by_mode, own)
        return found

    def kinetic_energies(self, placed: Sequence[Placed], motions: Motions | Sequence[JointMotion]) -> list[Scalar]:
        """Return the kinetic energies (J) of the bodies, of flexible links with that of their vibration."""
        bent = self.bent(placed, motions)
        bodies = [bent[number].body if number in bent else body for number, body in enumerate(self.bodies)]
        found = [body.kinetic_energy(one.twist) for body, one in zip(bodies, placed, strict=True)]
        for vibration in self.vibrations:
            found[vibration.body] += vibration.kinetic_energy(motions)
            if vibration.body in bent:
                found[vibration.body] += placed[vibration.body].twist.rate.dot(bent[vibration.body].spin)
        return found

    def reflected_energy(self, motions: Motions | Sequence[JointMotion]) -> Scalar:
        """Return the kinetic energy (J) of what motors in its joints reflect."""
        moving = [(moved, motions[number][1]) for number, moved in self.moved().items()]
        return sum((0.5 * moved * rate**2 for moved, rate in moving), jnp.zeros(()))

    def moved(self) -> dict[int, Scalar]:
        """Return what motors reflect (kg m² or kg) at the coordinates of joints, by number."""
        joints = [joint for joint in self.joints if isinstance(joint, Joint) and joint.led is None]
        return {joint.number: joint.moved for joint in joints if joint.number is not None}

    def mass(self) -> Scalar:
        """Return the mass of all (kg)."""
        return sum((body.mass for body in self.bodies), jnp.zeros(()))

    def middle(self, places: Sequence[Placed]) -> tuple[Vector, Vector]:
        """Return the place (m) and velocity (m/s) of the common centre of mass."""
        positions, velocities = [place.pose.position for place in places], [place.twist.velocity for place in places]
        return self.mean(positions), self.mean(velocities)

    def mean(self, vectors: Sequence[Vector]) -> Vector:
        """Return the mean of vectors of the bodies, weighted by their masses."""
        heavy = [number for number in range(len(self.bodies)) if number not in self.massless()]
        return mean_by_mass([self.bodies[number] for number in heavy], [vectors[number] for number in heavy])
