"""A force sensor that sends its readings by itself, which is not there.

Units: N, N m, s.
"""

from __future__ import annotations

from collections.abc import Callable

from dockdyn.realtime.devices.device import Reading
from dockdyn.realtime.devices.emulated.sensor import SensorErrors, Three


class StreamingSensor:
    """The sensor: streams at its rate (readings/s) from the beginning; a saturated reading has the lowest status bit.

    `encode` makes packets of them.
    """

    SATURATED, FAILED = 1, 2

    def __init__(
        self, encode: Callable[[Reading], bytes], errors: SensorErrors | None = None, rate: float = 1000.0
    ) -> None:
        self.encode = encode
        self.errors = errors or SensorErrors()
        self.rate = rate
        self.status = 0  # bits of faults besides that of saturation
        self._told = 0
        self._before = 0  # readings before it was last restarted

    def receive(self, time: float, packet: bytes) -> list[bytes]:
        """Do nothing: it takes nothing."""
        return []

    def restart(self, time: float) -> None:
        """Begin as after its power was off: it counts from one again."""
        self._before = self._told

    @property
    def next(self) -> float:
        """When its next reading is due."""
        return self._told / self.rate

    def fail(self, failed: bool) -> None:
        """Tell, or no longer, that it is not well."""
        self.status = self.FAILED if failed else 0

    def stall(self, stalled: bool) -> None:
        """Do nothing: it has no word for that."""

    def tick(self, time: float, force: Three, torque: Three, ahead: float = 0.0) -> list[bytes]:
        """Return the reading that is due at a time, or so far `ahead` (s) of it, of the true force and torque."""
        if time + ahead < self._told / self.rate - 1e-9:
            return []
        self._told += 1
        told_force, told_torque = self.errors.measure(time, force, torque)
        status = self.status | (self.SATURATED if self.errors.saturated else 0)
        return [self.encode(Reading(told_force, told_torque, self._told - self._before, status))]
