"""The initial state as docking engineers state it: relative to the target's docking axis."""

from __future__ import annotations

from typing import Annotated

import jax.numpy as jnp
from pydantic import Field

from dockdyn.contact.feature import Feature, SphereTip
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion, from_x_axis, roll_pitch_yaw
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.parts import Direction

Angle = quantity("rad", "an angle")
AngularRate = quantity("rad/s", "an angular rate")
Speed = quantity("m/s", "a speed")


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

    def start(self, feature: Feature, surface: Surface, pose: Pose, twist: Twist) -> tuple[Pose, Twist]:
        """Pose and twist of the chaser, whose `feature` approaches `surface` of the target at `pose` and `twist`."""
        target = Placed.of(pose, twist)
        mouth, direction = surface.docking_frame()
        docking = from_x_axis(direction)
        turn = Quaternion.of(jnp.array([0.0, 0.0, 0.0, 1.0]))  # half a turn about z: face to face
        own = from_x_axis(Vector.of(jnp.asarray(self.axis, float) / jnp.linalg.norm(jnp.asarray(self.axis, float))))
        misaligned = roll_pitch_yaw(self.roll, self.pitch, self.yaw)
        attitude = (pose.attitude * docking * turn * misaligned * own.conjugate()).normalised()
        rotation = attitude.matrix()

        tip = feature.radius if isinstance(feature, SphereTip) else 0.0
        across = docking.matrix() @ Vector.of(jnp.array([0.0, *self.lateral_offset]))
        place = mouth + direction * (self.distance + tip) + across
        point = target.point(place)
        drift = docking.matrix() @ Vector.of(jnp.array([-1.0 * self.closing_speed, *self.lateral_velocity]))
        velocity = target.velocity(point) + target.rotation @ drift

        spin = rotation @ (own.matrix() @ Vector.of(jnp.array([self.roll_rate, self.pitch_rate, self.yaw_rate])))
        rate = target.rate + spin
        lever = rotation @ Vector.of(feature.position)
        return (
            Pose(point - lever, attitude),
            Twist(velocity - rate.cross(lever), rotation.transposed_times(rate)),
        )
