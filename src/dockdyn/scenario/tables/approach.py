"""The initial state as docking engineers state it: relative to the target's docking axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import Field

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.parts import Direction

if TYPE_CHECKING:
    from dockdyn.contact.surfaces.surface import Surface
    from dockdyn.control.controller import FreeBody
    from dockdyn.control.reference import TargetReference
    from dockdyn.mechanics.rigid_body import Pose, Twist
    from dockdyn.mechanics.rotation import Quaternion
    from dockdyn.mechanics.vector import Scalar, Vector

Angle = quantity("rad", "an angle")
AngularRate = quantity("rad/s", "an angular rate")
Speed = quantity("m/s", "a speed")


class Tip(NamedTuple):
    """What approaches a port: a ball, or a point where the radius is zero."""

    position: Float[Array, "3"]  # m, body axes from the centre of mass
    radius: Scalar | float = 0.0  # m


class Port(NamedTuple):
    """Where the chaser docks: its tip, the target's surface, the chaser's axis that points against the docking axis."""

    tip: Tip
    surface: Surface
    axis: Float[Array, "3"]

    def attitude(self, target: Quaternion, turned: Quaternion) -> Quaternion:
        """Return the chaser's attitude, face to face with the target but for a rotation about its own axes, `axis` as x."""

        from dockdyn.mechanics.rotation import Quaternion, from_x_axis

        docking = from_x_axis(self.surface.docking_frame()[1])
        about = Quaternion.of(jnp.array([0.0, 0.0, 0.0, 1.0]))  # half a turn about z: face to face
        return (target * docking * about * turned * self.own_axes().conjugate()).normalised()

    def own_axes(self) -> Quaternion:
        """Return the turn from axes of which x is the chaser's `axis` to its own."""

        from dockdyn.mechanics.rotation import from_x_axis
        from dockdyn.mechanics.vector import Vector

        return from_x_axis(Vector.of(self.axis / jnp.linalg.norm(self.axis)))

    def place(self, distance: Scalar | float, across: Sequence[Scalar | float]) -> Vector:
        """Return where the tip's centre is (m, target's axes), its surface at a `distance` (m) and offset from the port."""

        from dockdyn.mechanics.rotation import from_x_axis
        from dockdyn.mechanics.vector import Vector

        mouth, direction = self.surface.docking_frame()
        aside = from_x_axis(direction).matrix() @ Vector.of(jnp.array([0.0, *across]))
        return mouth + direction * (distance + self.tip.radius) + aside

    def motion(self, chaser: FreeBody, target: FreeBody) -> dict[str, Array]:
        """Return how the chaser's port moves before the target's, as an approach states it: place, velocity, rotation and rate.

        The place is that of the tip's surface in axes of which x is the docking axis; the rotation vector is that from face
        to face, in axes of which x is the chaser's `axis`.
        """

        from dockdyn.mechanics.rotation import Quaternion, from_x_axis
        from dockdyn.mechanics.vector import Vector

        docking, own = from_x_axis(self.surface.docking_frame()[1]).matrix(), self.own_axes()
        attitudes = Quaternion.of(target.attitude), Quaternion.of(chaser.attitude)
        turn, rotation = (attitude.matrix() for attitude in attitudes)
        rates = turn @ Vector.of(target.rate), rotation @ Vector.of(chaser.rate)
        lever = rotation @ Vector.of(self.tip.position)
        away = Vector.of(chaser.position - target.position) + lever
        drift = Vector.of(chaser.velocity - target.velocity) + rates[1].cross(lever) - rates[0].cross(away)
        tip = docking.transposed_times(turn.transposed_times(away) - self.place(0.0, (0.0, 0.0)))
        level = Quaternion.of(jnp.array([1.0, 0.0, 0.0, 0.0]))
        turned = own.conjugate() * self.attitude(attitudes[0], level).conjugate() * attitudes[1] * own
        spin = own.matrix().transposed_times(rotation.transposed_times(rates[1] - rates[0]))
        return {
            "port_position": tip.array(),
            "port_velocity": docking.transposed_times(turn.transposed_times(drift)).array(),
            "port_rotation": turned.logarithm().array(),
            "port_rate": spin.array(),
        }

    def reference(
        self, position: Float[Array, "3"], velocity: Float[Array, "3"], attitude: Float[Array, "4"]
    ) -> TargetReference:
        """Return the chaser's pose and velocity with which its tip is at a `position` before the port and moves over it."""

        from dockdyn.control.reference import TargetReference
        from dockdyn.mechanics.rotation import Quaternion, from_x_axis
        from dockdyn.mechanics.vector import Vector

        level = Quaternion.of(jnp.array([1.0, 0.0, 0.0, 0.0]))
        turn = self.attitude(level, Quaternion.of(attitude))
        lever = turn.matrix() @ Vector.of(self.tip.position)
        drift = from_x_axis(self.surface.docking_frame()[1]).matrix() @ Vector.of(velocity)
        centre = self.place(position[0], (position[1], position[2])) - lever
        return TargetReference(centre.array(), drift.array(), turn.array())


class ApproachSection(Section):
    """Misalignments and rates of the chaser's feature at the mouth of the target's surface, seen from the target.

    The docking axis points out of the mouth of the first contact's surface. Nominally the chaser's `axis` points against
    it, and the chaser's third axis along the target's third lateral direction. Offsets and velocities are those of the
    feature; roll, pitch and yaw turn the chaser about its own axes (`axis` is roll), yaw first.
    """

    closing_speed: Speed
    distance: quantity("m", "a distance", least=0) = 0.0
    lateral_offset: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] = [0.0, 0.0]  # noqa: RUF012
    lateral_velocity: Annotated[
        list[quantity("m/s", "a velocity", component=True)], Field(min_length=2, max_length=2)
    ] = [0.0, 0.0]  # noqa: RUF012
    roll: Angle = 0.0
    pitch: Angle = 0.0
    yaw: Angle = 0.0
    roll_rate: AngularRate = 0.0
    pitch_rate: AngularRate = 0.0
    yaw_rate: AngularRate = 0.0
    axis: Direction = [1.0, 0.0, 0.0]  # noqa: RUF012

    def start(self, tip: Tip, surface: Surface, pose: Pose, twist: Twist) -> tuple[Pose, Twist]:
        """Return the pose and twist of the chaser, whose `tip` approaches `surface` of the target at `pose` and `twist`."""

        from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
        from dockdyn.mechanics.rotation import from_x_axis, roll_pitch_yaw
        from dockdyn.mechanics.vector import Vector

        target = Placed.of(pose, twist)
        port = Port(tip, surface, jnp.asarray(self.axis, float))
        docking, own = from_x_axis(surface.docking_frame()[1]), port.own_axes()
        misaligned = roll_pitch_yaw(self.roll, self.pitch, self.yaw)
        attitude = port.attitude(pose.attitude, misaligned)
        rotation = attitude.matrix()

        point = target.point(port.place(self.distance, self.lateral_offset))
        drift = docking.matrix() @ Vector.of(jnp.array([-1.0 * self.closing_speed, *self.lateral_velocity]))
        velocity = target.velocity(point) + target.rotation @ drift

        spin = rotation @ (own.matrix() @ Vector.of(jnp.array([self.roll_rate, self.pitch_rate, self.yaw_rate])))
        rate = target.rate + spin
        lever = rotation @ Vector.of(tip.position)
        return (
            Pose(point - lever, attitude),
            Twist(velocity - rate.cross(lever), rotation.transposed_times(rate)),
        )
