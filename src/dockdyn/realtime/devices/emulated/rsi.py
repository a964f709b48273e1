"""A KUKA robot with RobotSensorInterface that is not there.

Units: m, rad, s.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

from dockdyn.realtime.devices.device import BadPacket, Command, Pose
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.rotations import multiply, quaternion_of_vector, vector_of_quaternion
from dockdyn.realtime.devices.rsi import RSI, RSISettings


@dataclass(frozen=True)
class RSIRobotSettings:
    """What a robot's configuration says besides `RSISettings`.

    Where it does not `hold`, a cycle without an answer counts as one with corrections of zero (HOLDON="0"). A correction
    farther than these (m, rad) from the start stops the robot, as its monitors of corrections do.
    """

    late_limit: int = 100
    in_a_row: bool = False
    applies_after: int = 1
    hold: bool = True
    largest_shift: float = math.inf
    largest_turn: float = math.inf
    first_ipoc: int = 4208000000


class EmulatedRSI:
    """The robot: sends its pose each cycle and takes the answers that echo the cycle's IPOC; stopped, it is silent."""

    def __init__(self, settings: RSISettings, robot: RSIRobotSettings, start: Pose) -> None:
        self.codec = RSI(settings)
        self.robot = robot
        self.ignored: Counter[str] = Counter()  # answers that were none, and why
        self._ipoc = robot.first_ipoc - settings.period
        period = 1e-3 * settings.period
        cycle = CycleSettings(period, robot.late_limit, robot.in_a_row, robot.applies_after)
        self._start = Command(start.position, start.rotation_vector)
        self.cycle = MasterCycle(cycle, self._start)

    def reconnect(self, time: float, start: Pose) -> None:
        """Switch RSI on again where the robot is; corrections are from there."""
        self._start = Command(start.position, start.rotation_vector)
        self.cycle.restart(time, self._start)

    def fail(self, failed: bool) -> None:
        """It has no word for that: nothing."""

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and be silent."""
        self.cycle.stop(cause)

    def tick(self, time: float, actual: Pose) -> list[bytes]:
        """The message of a cycle that begins, if one is due: where the robot is."""
        relative = self.codec.settings.relative
        if not self.cycle.begin(time, None if self.robot.hold or relative else self._start):
            return []
        self._ipoc += self.codec.settings.period
        told = replace(actual, sequence=self._ipoc, status=self.cycle.late)
        return [self.codec.encode_robot(told, self.cycle.setpoint)]

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take an answer. One to another cycle's message is not taken, so that this cycle's is late."""
        if self.cycle.stopped:
            self.ignored["stopped"] += 1
            return []
        try:
            correction, ipoc = self.codec.decode_answer(packet)
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
            return []
        if ipoc != self._ipoc:
            self.ignored["wrong IPOC"] += 1
            return []
        self._correct(correction)
        return []

    def _correct(self, correction: Command) -> None:
        base = self.cycle.wanted if self.codec.settings.relative else self._start
        wanted = correct(base, correction)
        shift = math.dist(wanted.position, self._start.position)
        turn = math.hypot(*correction.rotation_vector)
        if shift > self.robot.largest_shift or turn > self.robot.largest_turn:
            self.cycle.stop("correction too large")
            return
        self.cycle.answer(wanted)


def correct(base: Command, correction: Command) -> Command:
    """A pose shifted and turned in the axes of the robot's base."""
    position = tuple(each + shift for each, shift in zip(base.position, correction.position, strict=True))
    turned = multiply(quaternion_of_vector(correction.rotation_vector), quaternion_of_vector(base.rotation_vector))
    return Command(position, vector_of_quaternion(turned))
