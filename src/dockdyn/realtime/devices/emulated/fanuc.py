"""A FANUC robot with Stream Motion that is not there.

Units: m, rad, s.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from dockdyn.realtime.devices.device import BadPacket, Command, Pose
from dockdyn.realtime.devices.emulated.cycle import CycleSettings, MasterCycle
from dockdyn.realtime.devices.fanuc import REQUEST_SIZE, Fanuc, FanucRequest, FanucSettings

NOT_WELL = 1  # a bit of a status


class EmulatedFanuc:
    """The robot: tells where it is once asked to; answers may be late from its first command on, and the last one ends them."""

    def __init__(self, settings: FanucSettings, cycle: CycleSettings, start: Pose) -> None:
        self.codec = Fanuc(settings)
        self.ignored: Counter[str] = Counter()
        self.status = 0
        self.started = False
        self.cycle = MasterCycle(cycle, Command(start.position, start.rotation_vector))
        self._told = 0

    def reconnect(self, time: float, start: Pose) -> None:
        """Be ready for a start where the robot is."""
        self.started = False
        self.cycle.restart(time, Command(start.position, start.rotation_vector), waiting=True)

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that it is not well."""
        self.status = NOT_WELL if failed else 0

    def stop(self, cause: str) -> None:
        """Stop where the robot is, and be silent."""
        self.cycle.stop(cause)

    def tick(self, time: float, actual: Pose) -> list[bytes]:
        """The message of a cycle that begins, if one is due: where the robot is."""
        if not self.started or not self.cycle.begin(time):
            return []
        self._told += 1
        told = replace(actual, sequence=self._told, status=self.status)
        return [self.codec.encode_robot(told, round(1000 * time))]

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take a request or a command; what is none, or comes after a stop, is counted by its name."""
        if self.cycle.stopped:
            self.ignored["stopped"] += 1
            return []
        try:
            if len(packet) == REQUEST_SIZE:
                self._request(time, self.codec.decode_request(packet))
            else:
                self._command(*self.codec.decode_command(packet))
        except BadPacket as bad:
            self.ignored[bad.error.words] += 1
        return []

    def _request(self, time: float, request: FanucRequest) -> None:
        self.started = request == FanucRequest.START
        self.codec.forget()
        self.cycle.restart(time, self.cycle.setpoint, waiting=True)

    def _command(self, command: Command, last: int) -> None:
        self.cycle.answer(command)
        if last:
            self.cycle.restart(self.cycle.next, command, waiting=True)
