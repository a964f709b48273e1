"""What a force sensor makes of the true force and torque before it tells them.

Units: N, N m, s.
"""

from __future__ import annotations

import math
import random

from dockdyn.realtime.devices.device import ZERO
from dockdyn.records import record

Three = tuple[float, float, float]
Span = tuple[float, float]
NEVER: Span = (math.inf, math.inf)


@record
class SensorSettings:
    """Errors of a sensor: bias, drift per second, noise (standard deviation), step of its numbers (0: none), largest values.

    In the span `frozen` (s, from and to) it repeats what it told last; in the span `not_a_number` it tells NaN.
    """

    force_bias: Three = ZERO
    torque_bias: Three = ZERO
    force_drift: Three = ZERO
    torque_drift: Three = ZERO
    force_noise: float = 0.0
    torque_noise: float = 0.0
    force_step: float = 0.0
    torque_step: float = 0.0
    largest_force: float = math.inf
    largest_torque: float = math.inf
    frozen: Span = NEVER
    not_a_number: Span = NEVER


class SensorErrors:
    """A sensor with errors; the noise depends on the seed and on how many readings there were."""

    def __init__(self, settings: SensorSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or SensorSettings()
        self.saturated = False  # whether a number of the last reading is at its largest
        self.frozen = self.not_a_number = False  # as in their spans
        self._random = random.Random(seed)
        self._last: tuple[Three, Three] | None = None

    def measure(self, time: float, force: Three, torque: Three) -> tuple[Three, Three]:
        """Return what the sensor tells of the true force and torque."""
        mine = self.settings
        if self.not_a_number or _is_within(time, mine.not_a_number):
            return (math.nan,) * 3, (math.nan,) * 3
        if (self.frozen or _is_within(time, mine.frozen)) and self._last:
            return self._last
        told_force = self._told(time, force, mine.force_bias, mine.force_drift, mine.force_noise, mine.force_step)
        told_torque = self._told(time, torque, mine.torque_bias, mine.torque_drift, mine.torque_noise, mine.torque_step)
        self.saturated = _reaches_limit(told_force, mine.largest_force) or _reaches_limit(
            told_torque, mine.largest_torque
        )
        self._last = _limit_values(told_force, mine.largest_force), _limit_values(told_torque, mine.largest_torque)
        return self._last

    def _told(self, time: float, true: Three, bias: Three, drift: Three, noise: float, step: float) -> Three:
        x, y, z = (
            value + offset + rate * time + (noise * self._random.gauss(0, 1) if noise else 0.0)
            for value, offset, rate in zip(true, bias, drift, strict=True)
        )
        return (round(x / step) * step, round(y / step) * step, round(z / step) * step) if step else (x, y, z)


def _is_within(time: float, span: Span) -> bool:
    return span[0] <= time < span[1]


def _reaches_limit(values: Three, largest: float) -> bool:
    return any(abs(each) >= largest for each in values)


def _limit_values(values: Three, largest: float) -> Three:
    x, y, z = (max(-largest, min(largest, each)) for each in values)
    return x, y, z
