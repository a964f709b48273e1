"""How a robot goes on that gets no commands: at its last speed, or slower and slower.

Units: m, rad, s.
"""

from __future__ import annotations

import math

from dockdyn.realtime.devices.device import ZERO, ToolCommand
from dockdyn.realtime.devices.rotations import (
    Numbers,
    divide_quaternions,
    multiply_quaternions,
    quaternion_of_vector,
    vector_of_quaternion,
)
from dockdyn.records import record


@record
class ToolStep:
    """A shift and a turn, in the axes of the base, from one cycle to the next."""

    shift: Numbers = ZERO
    turn: Numbers = ZERO

    @classmethod
    def between(cls, one: ToolCommand, other: ToolCommand) -> ToolStep:
        """Return the step that leads from one pose to another, the short way round."""
        turn = divide_quaternions(
            quaternion_of_vector(other.rotation_vector), quaternion_of_vector(one.rotation_vector)
        )
        shift = tuple(b - a for a, b in zip(one.position, other.position, strict=True))
        return cls(shift, vector_of_quaternion(turn))

    @property
    def sizes(self) -> tuple[float, float]:
        """Length (m) and angle (rad)."""
        return math.hypot(*self.shift), math.hypot(*self.turn)

    def scaled(self, by: float) -> ToolStep:
        """Return a part of it."""
        return ToolStep(tuple(by * each for each in self.shift), tuple(by * each for each in self.turn))

    def from_pose(self, pose: ToolCommand) -> ToolCommand:
        """Return the pose that it leads to."""
        turned = multiply_quaternions(quaternion_of_vector(self.turn), quaternion_of_vector(pose.rotation_vector))
        position = tuple(a + b for a, b in zip(pose.position, self.shift, strict=True))
        return ToolCommand(position, vector_of_quaternion(turned))
