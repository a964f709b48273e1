"""A robot that is not there: it sends its pose each cycle and takes any newer command in it.

Units: m, rad, s.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from dockdyn.realtime.devices.decimals import DEGREE
from dockdyn.realtime.devices.device import BadPacket, ToolCommand, ToolPose
from dockdyn.realtime.devices.egm import EGM
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.raw_udp import RawUDP, RawUDPSettings
from dockdyn.realtime.devices.rotations import divide_quaternions, quaternion_of_vector, vector_of_quaternion
from dockdyn.records import record

NOT_WELL = 1  # a bit of a status


class CommandCodec(Protocol):
    """What takes a command out of a packet."""

    def decode_command(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return a command and its sequence; BadPacket where it is none."""

    def forget(self) -> None:
        """Forget a connection: the next packet is the first."""


@record
class Convergence:
    """When a motion of ABB's EGM is over: once the robot has been nearer to its reference than `distance` (m, along each
    axis) and `turn` (rad) for a `time` (s), as CondTime and the limits of EGMActPose say."""

    time: float = 1.0
    distance: float = 1e-3
    turn: float = 0.5 * DEGREE

    def holds(self, reference: ToolCommand, actual: ToolPose) -> bool:
        """Return whether the robot is near its reference."""
        apart = max(abs(one - other) for one, other in zip(reference.position, actual.position, strict=True))
        turned, wanted = (quaternion_of_vector(each.rotation_vector) for each in (actual, reference))
        return (
            apart <= self.distance
            and math.hypot(*vector_of_quaternion(divide_quaternions(turned, wanted))) <= self.turn
        )


class CommandedRobot:
    """The robot: commands that are bad, stale or come after a stop are counted by their names in `ignored`.

    Its `status` is told with every pose. With a `convergence` its motion is over by itself, counted from its first command,
    and its messages are numbered from zero with each connection.
    """

    def __init__(
        self,
        codec: CommandCodec,
        tell: Callable[[float, ToolPose], bytes],
        cycle: CycleSettings,
        start: ToolPose,
        convergence: Convergence | None = None,
    ) -> None:
        self.codec = codec
        self.status = 0
        self.ignored: Counter[str] = Counter()
        self.cycle = MasterCycle(cycle, ToolCommand(start.position, start.rotation_vector))
        self.convergence = convergence
        self._tell = tell
        self._told = 0 if convergence is None else -1
        self._away = 0.0  # when the robot was last not near its reference

    def reconnect(self, time: float, start: ToolPose) -> None:
        """Begin anew where the robot is; commands may count from any number."""
        self.codec.forget()
        self.cycle.restart(time, ToolCommand(start.position, start.rotation_vector))
        self._told = self._told if self.convergence is None else -1

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that it is not well."""
        self.status = NOT_WELL if failed else 0

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and be silent."""
        self.cycle.stop(cause)

    def tick(self, time: float, actual: ToolPose) -> list[bytes]:
        """Return the message of a cycle that begins, if one is due: where the robot is."""
        if not self.cycle.begin(time):
            return []
        if self.convergence is not None:
            if self.cycle.waiting or not self.convergence.holds(self.cycle.setpoint, actual):
                self._away = time
            if time - self._away >= self.convergence.time:
                self.cycle.stop("converged")
                return []
        self._told += 1
        return [self._tell(time, replace(actual, sequence=self._told, status=self.status))]

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take a command; the robot answers in its next cycle."""
        if self.cycle.stopped:
            self.ignored["stopped"] += 1
            return []
        try:
            command, _ = self.codec.decode_command(packet)
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
            return []
        self.cycle.answer(command)
        return []


def emulate_raw_robot(settings: RawUDPSettings, cycle: CycleSettings, start: ToolPose) -> CommandedRobot:
    """Return a robot that speaks the packets of a server's settings."""
    codec = RawUDP(settings.other_side)
    return CommandedRobot(codec, lambda _, pose: codec.encode_pose(pose), cycle, start)


def emulate_egm(
    cycle: CycleSettings, start: ToolPose, convergence: Convergence | None = None, queued: bool = True
) -> CommandedRobot:
    """Return an ABB robot in position guidance; its status has the bits of `egm`.

    Late answers in a row stop it as its CommTimeout does; until then it goes on to its last reference. It takes the next of
    the commands that wait, one a cycle, so that one that comes late makes all behind it late; else, not `queued`, the newest.
    """
    codec = EGM()

    def tell(time: float, pose: ToolPose) -> bytes:
        return codec.encode_robot(pose, round(1000 * time))

    return CommandedRobot(codec, tell, replace(cycle, queued=queued), start, convergence or Convergence())
