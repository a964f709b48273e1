"""A FANUC robot with Stream Motion that is not there.

Units: m, rad, s.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, PacketError, ToolCommand, ToolPose
from dockdyn.realtime.devices.emulated.queue import QueuedCycle, QueueSettings
from dockdyn.realtime.devices.fanuc import (
    MOVING,
    RECEIVED,
    REQUEST_SIZES,
    SYSTEM_READY,
    WAITING,
    Fanuc,
    FanucBehaviour,
    FanucRequest,
    FanucSettings,
)

AT_REST = 1e-9  # m or rad in a cycle
_EXTENDED = struct.Struct(">3f")
_EXTENDED_AT = 52  # in a command


class EmulatedFanuc:
    """The robot: tells where it is each cycle of a `period` (s), once asked to, and takes a command out of its queue."""

    def __init__(
        self, settings: FanucSettings, period: float, start: ToolPose, behaviour: FanucBehaviour | None = None
    ) -> None:
        self.codec = Fanuc(settings)
        self.behaviour = behaviour or FanucBehaviour()
        self.ignored: Counter[str] = Counter()
        self.failed = False
        self.started = False
        mine = self.behaviour
        queue = QueueSettings(period, mine.packet_stack, mine.start_move, mine.coast)
        self.cycle = QueuedCycle(queue, ToolCommand(start.position, start.rotation_vector))
        self._told = 0
        self._next = 0.0

    def reconnect(self, time: float, start: ToolPose) -> None:
        """Make it ready for a start where the robot is."""
        self.started = False
        self._begin(time, ToolCommand(start.position, start.rotation_vector))

    def _begin(self, time: float, place: ToolCommand) -> None:
        self.codec.forget()
        self.cycle.restart(time, place)
        self._next = time

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that its system is not ready."""
        self.failed = failed

    def stop(self, cause: str) -> None:
        """Stop where the robot is."""
        self.cycle.stop(cause)

    def tick(self, time: float, actual: ToolPose) -> list[bytes]:
        """Return the message of a cycle that begins, if one is due: where the robot is."""
        if not self.started or time < self._next - 1e-9:
            return []
        self._next += self.cycle.settings.period
        self.cycle.begin(time)
        if self.cycle.stopped and self.behaviour.silent_when_stopped:
            return []
        self._told += 1
        told = replace(actual, sequence=self._told)
        return [self.codec.encode_robot(told, round(1000 * time), self._state(), tuple(self.behaviour.extended))]

    def _state(self) -> int:
        """Return the bits that it tells. A stop by its own queue leaves the system ready, one from outside does not."""
        cycle = self.cycle
        if cycle.stopped:
            return SYSTEM_READY if cycle.stopped == "no command in the queue" and not self.failed else 0
        moves = max(cycle.step.sizes) > AT_REST
        waits = cycle.waiting or moves or self.behaviour.waits_at_rest
        received = not cycle.waiting
        ready = 0 if self.failed else SYSTEM_READY
        return WAITING * waits | RECEIVED * received | ready | MOVING * moves

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take a request or a command; what is none, or comes after a stop, is counted by its name."""
        if self.cycle.stopped:
            self.ignored["stopped"] += 1
            return []
        try:
            if len(packet) in REQUEST_SIZES:
                return self._request(time, self.codec.decode_request(packet))
            self._command(packet)
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
        return []

    def _request(self, time: float, request: FanucRequest) -> list[bytes]:
        newest = self.behaviour.newest_version
        if request in (FanucRequest.VERSION, FanucRequest.CAPABILITY):
            milliseconds = round(1000 * self.cycle.settings.period)
            return [] if not newest else [self.codec.encode_answer(request, newest, milliseconds)]
        if self.codec.settings.version > (newest or 1):
            raise BadPacket(PacketError.WRONG_HEADER)  # an alarm, and no status
        self.started = request == FanucRequest.START
        self._begin(time, self.cycle.setpoint)
        return []

    def _command(self, packet: bytes) -> None:
        before = self.codec.sequence.last
        command, last = self.codec.decode_command(packet)
        missing = 0 if before is None else (self.codec.sequence.last or 0) - before - 1
        if any(
            abs(a - b) > 1e-3
            for a, b in zip(_EXTENDED.unpack_from(packet, _EXTENDED_AT), self.behaviour.extended, strict=True)
        ):
            self.stop("a step of extended axes")
            return
        if missing and self.behaviour.refills:
            for _ in range(missing):
                self._queue(self.cycle.newest)
        self._queue(command)
        self.cycle.ending = self.cycle.ending or bool(last)

    def _queue(self, command: ToolCommand) -> None:
        if not self.cycle.answer(command):
            self.ignored["queue full"] += 1
