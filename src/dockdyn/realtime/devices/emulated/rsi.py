"""A KUKA robot with RobotSensorInterface that is not there.

Units: m, rad, s.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.rotations import (
    divide_quaternions,
    multiply_quaternions,
    quaternion_of_vector,
    vector_of_quaternion,
)
from dockdyn.realtime.devices.rsi import MOST_DECIMALS, RSI, RSIBehaviour, RSIRobot, RSISettings

SMALLEST = 1e-300  # rad, instead of no turn at all


class EmulatedRSI:
    """The robot: sends its pose each cycle and takes the answers that echo the cycle's IPOC; stopped, it is silent.

    `robot` says what is set on its controller: the `timeout` of ETHERNET (cycles), the `precision` (decimals of mm and degrees
    that it tells). POSCORR cuts corrections off without a word: `correction_limit` each way along an axis,
    `correction_turn_limit` in all. POSCORRMON stops it at one farther than `monitor_limit` or `monitor_turn_limit` (m, rad).
    """

    def __init__(
        self, settings: RSISettings, robot: RSIRobot, start: ToolPose, behaviour: RSIBehaviour | None = None
    ) -> None:
        self.codec = RSI(replace(settings, decimals=min(robot.precision, MOST_DECIMALS)))
        self.robot, self.behaviour = robot, behaviour or RSIBehaviour()
        self.ignored: Counter[str] = Counter()  # answers that were none, and why
        self.cut_off = 0  # corrections that POSCORR has cut off
        self._ipoc = self.behaviour.first_ipoc - settings.period
        period = 1e-3 * settings.period
        cycle = CycleSettings(period, robot.timeout, self.behaviour.in_a_row, self.behaviour.applies_after)
        self._start = ToolCommand(start.position, start.rotation_vector)
        self.cycle = MasterCycle(cycle, self._start)

    def reconnect(self, time: float, start: ToolPose) -> None:
        """Switch RSI on again where the robot is; corrections are from there."""
        self._start = ToolCommand(start.position, start.rotation_vector)
        self.cycle.restart(time, self._start)

    def fail(self, failed: bool) -> None:
        """Do nothing: it has no word for that."""

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and be silent."""
        self.cycle.stop(cause)

    def tick(self, time: float, actual: ToolPose) -> list[bytes]:
        """Return the message of a cycle that begins, if one is due: where the robot is."""
        relative = self.codec.settings.relative
        if not self.cycle.begin(time, None if self.behaviour.hold or relative else self._start):
            return []
        self._ipoc = (self._ipoc + self.codec.settings.period) % 2**self.behaviour.clock_bits
        told = replace(actual, sequence=self._ipoc, status=self.cycle.late)
        return [self.codec.encode_robot(told, self.cycle.setpoint if self.behaviour.told_corrected else self._start)]

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
        self._take_correction(correction)
        return []

    def _take_correction(self, correction: ToolCommand) -> None:
        """Take a correction as POSCORR and POSCORRMON let it through."""
        base = self.cycle.wanted if self.codec.settings.relative else self._start
        wanted = correct_pose(base, correction)
        limit, turn_limit = self.robot.correction_limit, self.robot.correction_turn_limit
        asked = tuple(new - old for new, old in zip(wanted.position, self._start.position, strict=True))
        shift = tuple(max(-limit, min(limit, each)) for each in asked)
        turned, programmed = (quaternion_of_vector(each.rotation_vector) for each in (wanted, self._start))
        turn = vector_of_quaternion(divide_quaternions(turned, programmed))
        share = min(1.0, turn_limit / max(math.hypot(*turn), SMALLEST))
        if shift != asked or share < 1.0:
            self.cut_off += 1
            wanted = correct_pose(self._start, ToolCommand(shift, tuple(share * each for each in turn)))
        if math.hypot(*shift) > self.robot.monitor_limit or share * math.hypot(*turn) > self.robot.monitor_turn_limit:
            self.cycle.stop("correction too large")
            return
        self.cycle.answer(wanted)


def correct_pose(base: ToolCommand, correction: ToolCommand) -> ToolCommand:
    """Return a pose shifted and turned in the axes of the robot's base."""
    position = tuple(each + shift for each, shift in zip(base.position, correction.position, strict=True))
    turned = multiply_quaternions(
        quaternion_of_vector(correction.rotation_vector), quaternion_of_vector(base.rotation_vector)
    )
    return ToolCommand(position, vector_of_quaternion(turned))
