"""An ATI Net F/T sensor that is not there: it answers requests and streams records.

Units: N, N m, s.
"""

from __future__ import annotations

import math

from dockdyn.realtime.devices.device import BadPacket, Reading
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, Three
from dockdyn.realtime.devices.netft import (
    ERROR_SUMMARY,
    RECORDS,
    SATURATED,
    STARTS,
    NetFT,
    NetFTSettings,
    RequestCommand,
)

_LARGEST_COUNT = 2**31 - 1


class EmulatedNetFT:
    """The sensor: streams at its rate (records/s) once asked to, `buffered` records in a packet where asked for such.

    It measures `internal_rate` times a second from when its power is on: by that the F/T sequence of its records grows.
    """

    def __init__(
        self,
        settings: NetFTSettings | None = None,
        errors: SensorErrors | None = None,
        rate: float = 1000.0,
        buffered: int = 8,
        internal_rate: float = 7000.0,
    ) -> None:
        if not 1 <= buffered <= RECORDS:
            raise ValueError(f"a packet holds 1 to {RECORDS} records, not {buffered}")
        self.codec = NetFT(settings or NetFTSettings())
        self.errors = errors or SensorErrors()
        self.rate, self.buffered, self.internal_rate = rate, buffered, internal_rate
        self.status = 0  # bits of faults besides those of saturation
        self._bias = (0.0,) * 6
        self._raw = (0.0,) * 6
        self._together = 0  # records in a packet; 0 while it does not stream
        self._left: int | None = None  # records to come; None without end
        self._rdt = self._ft = 0
        self._stalled = False
        self._powered = 0.0
        self._began, self._told = 0.0, 0
        self._waiting = b""

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Take a request. A bad one is counted and not answered, as by the sensor; a start makes the sensor count from one."""
        try:
            command, samples = self.codec.decode_request(packet)
        except BadPacket:
            return []
        if command == RequestCommand.STOP:
            self._together = 0
        elif command == RequestCommand.BIAS:
            self._bias = self._raw
        elif command in STARTS:
            self._together = 1 if command == RequestCommand.REAL_TIME else self.buffered
            self._left = samples or None
            self._rdt, self._told, self._waiting = 0, 0, b""
            self._began = time
        return []

    def restart(self, time: float) -> None:
        """Begin as after its power was off: it waits to be asked."""
        self._together, self._waiting = 0, b""
        self._rdt = self._ft = 0
        self._powered = time

    @property
    def next(self) -> float:
        """When its next record is due; infinity while it does not stream."""
        return self._began + self._told / self.rate if self._together else math.inf

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that it is not well."""
        self.status = ERROR_SUMMARY if failed else 0

    def stall(self, stalled: bool) -> None:
        """Go on sending records of one measurement, or no longer."""
        self._stalled = stalled

    def tick(self, time: float, force: Three, torque: Three, ahead: float = 0.0) -> list[bytes]:
        """Return the packets that are due at a time, or so far `ahead` (s) of it, of the true force and torque."""
        packets = []
        for _ in range(RECORDS):
            if not self._together or time + ahead < self._began + self._told / self.rate - 1e-9:
                break
            self._waiting += self._record(time, force, torque)
            if self._left is not None:
                self._left -= 1
            if len(self._waiting) == 36 * self._together or self._left == 0:
                packets.append(self._waiting)
                self._waiting = b""
            if self._left == 0:
                self._together = 0
        return packets

    def _record(self, time: float, force: Three, torque: Three) -> bytes:
        if not (self._stalled and self._rdt):
            told_force, told_torque = self.errors.measure(time, force, torque)
            self._raw = told_force + told_torque
            due = self._began + self._told / self.rate
            self._ft = round((due - self._powered) * self.internal_rate) + 1
        mine = self.codec.settings
        resolution = (mine.newtons / mine.counts_per_force,) * 3 + (mine.newton_metres / mine.counts_per_torque,) * 3
        values, saturated = [], self.errors.saturated
        for value, bias, step in zip(self._raw, self._bias, resolution, strict=True):
            limit = _LARGEST_COUNT * step
            saturated |= not abs(value - bias) <= limit  # NaN, which counts cannot tell, too
            values.append(max(-limit, min(limit, value - bias)))
        self._rdt, self._told = self._rdt + 1, self._told + 1
        status = self.status | (ERROR_SUMMARY | SATURATED if saturated else 0)
        return self.codec.encode_record(Reading(tuple(values[:3]), tuple(values[3:]), self._rdt, status), self._ft)
