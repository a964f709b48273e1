"""The experiment that identifies a robot: a sine sweep along a line, P₀ → P₁ → P₀ → P₂ → P₀ …, within the robot's limits."""

from __future__ import annotations

import math

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError

SAMPLES = 100_000_000  # of a plan, at most
FINE = 8  # instants a period at which limits are checked
ROUNDS = 30  # of making a sweep fit its limits
type Row = Float[np.ndarray, "n"]


@record
class SineSweep:
    """A sine whose frequency rises steadily: X̄(t) = A sin(ω(t) t), ω(t) = 2π (f₀ + (f₁ − f₀) t/(2 T)) (SITS eq. 23).

    The frequency at the instant t, the derivative of the phase, then runs from `start` to `end`. A limit makes the
    amplitude smaller where the frequency would break it, and with a limit on the acceleration the motion grows from rest
    and returns to it; without limits it starts at full speed, as in SITS eq. 24.
    """

    amplitude: float = 0.025  # A, m
    start: float = 0.0  # f₀, Hz
    end: float = 20.0  # f₁, Hz
    duration: float = 3.0  # T, s
    speed_limit: float = math.inf  # m/s
    acceleration_limit: float = math.inf  # m/s²
    ramp: float | None = None  # s, at either end

    def __post_init__(self):
        if self.end < self.start:
            raise ScenarioError(f"--to {self.end:g} Hz: must be at least --from, {self.start:g} Hz")
        if 2 * self.easing() > self.duration:
            raise ScenarioError(f"--ramp {self.easing():g} s: must be at most half the duration of {self.duration:g} s")

    def easing(self) -> float:
        """Return how long the motion grows and dies away (s): as given, or a cycle, a quarter of the duration at most."""
        if self.ramp is not None:
            return self.ramp
        if math.isinf(self.acceleration_limit):
            return 0.0
        middling = max(self.start, 0.25 * self.end, 1e-9)
        return min(1 / middling, self.duration / 4)

    def times(self, period: float) -> Row:
        """Return instants of the samples (s), both ends included."""
        return np.arange(round(self.duration / period) + 1) * period

    def frequency(self, time: Row) -> Row:
        """Return Hz, at an instant."""
        return self.start + (self.end - self.start) * time / self.duration

    def phase(self, time: Row) -> Row:
        """Return ω(t) t, rad."""
        return 2 * np.pi * (self.start + (self.end - self.start) * time / (2 * self.duration)) * time

    def envelope(self, time: Row, speed: float, acceleration: float) -> Row:
        """Return the amplitude (m) at an instant that stays below a speed and an acceleration were it steady."""
        turning = np.maximum(2 * np.pi * self.frequency(time), 1e-9)
        # a smooth least of the three, so that the envelope has no corner that accelerates
        inverse = self.amplitude**-4.0 + (turning / speed) ** 4 + (turning**2 / acceleration) ** 4
        size = inverse**-0.25 if math.isfinite(speed) or math.isfinite(acceleration) else self.amplitude + 0 * time
        ramp = self.easing()
        if ramp:
            share = np.clip(np.minimum(time, self.duration - time) / ramp, 0.0, 1.0)
            size = size * share**3 * (10 - 15 * share + 6 * share**2)
        return size

    def planned(self, period: float) -> tuple[Row, Row]:
        """Return times (s) and positions (m) about P₀; ScenarioError where the limits leave no motion."""
        count = self.duration / period
        if not 10 <= count <= SAMPLES:
            raise ScenarioError(
                f"--period {period:g} s: must be a tenth of the duration of {self.duration:g} s or less"
            )
        if self.end > 0.4 / period:
            raise ScenarioError(f"--to {self.end:g} Hz: must be at most 0.4 of the sampling rate, {0.4 / period:g} Hz")
        speed, acceleration = self.speed_limit, self.acceleration_limit
        fine = np.arange(FINE * round(count) + 1) * period / FINE
        for _ in range(ROUNDS):
            motion = self.envelope(fine, speed, acceleration) * np.sin(self.phase(fine))
            rate = np.gradient(motion, fine, edge_order=2)
            # at the ends the robot is at rest before and after
            jerked = np.gradient(rate, fine)[2:-2]
            excess = np.abs(rate).max() / self.speed_limit, np.abs(jerked).max() / self.acceleration_limit
            if max(excess) <= 1.0:
                break
            speed /= max(1.002 * excess[0], 1.0)
            acceleration /= max(1.002 * excess[1], 1.0)
        else:
            raise ScenarioError("--speed-limit, --acceleration-limit: no sweep stays below them; lengthen the --ramp")
        time = self.times(period)
        return time, self.envelope(time, speed, acceleration) * np.sin(self.phase(time))
