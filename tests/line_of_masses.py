"""Masses on a line with springs, dampers and friction between them, and a latch behind a ramp: by SciPy, event by event.

Equations are written here from the textbook, coordinates are places; nothing of dockdyn is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

EXACT = {"method": "DOP853", "rtol": 3e-13, "atol": 1e-15}


@dataclass
class LineOfMasses:
    """The masses `probe` and `probe + 1` meet: the first carries a ramp, the second a latch spring."""

    masses: list[float]  # kg
    springs: dict[
        tuple[int, int], tuple[float, float]
    ]  # between two masses: N/m, N s/m; relaxed where both are at rest
    probe: int
    stiffness: float  # N/m, of the latch spring
    angle: float  # rad
    length: float  # m
    preload: float = 0.0  # N
    friction: float = 0.0
    regularisation: float = 1e-5  # m/s
    rubbing: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)  # N, m/s: friction of guides

    def travel(self, y: np.ndarray) -> float:
        """How far (m) the probe is in the latch."""
        return float(y[self.probe] - y[self.probe + 1])

    def rate(self, y: np.ndarray) -> float:
        count = len(self.masses)
        return float(y[count + self.probe] - y[count + self.probe + 1])

    def ramp_force(self, y: np.ndarray) -> float:
        """The wedge: the spring's force times the tangent of the ramp's angle and that of friction."""
        rate = self.rate(y)
        sliding = rate / math.hypot(rate, self.regularisation)
        spring = self.preload + self.stiffness * math.tan(self.angle) * self.travel(y)
        return spring * math.tan(self.angle + math.atan(self.friction * sliding))

    def flow(self, y: np.ndarray, stage: str) -> np.ndarray:
        """The rate of places and speeds in a stage: out, ramp or held."""
        count = len(self.masses)
        q, v, load = y[:count], y[count:], np.zeros(count)
        for (i, j), (k, c) in self.springs.items():
            push = k * (q[i] - q[j]) + c * (v[i] - v[j])
            load[i] -= push
            load[j] += push
        for (i, j), (most, slow) in self.rubbing.items():
            rate = v[i] - v[j]
            push = most * rate / math.hypot(rate, slow)
            load[i] -= push
            load[j] += push
        a, b = self.probe, self.probe + 1
        if stage == "ramp":
            load[a] -= self.ramp_force(y)
            load[b] += self.ramp_force(y)
        rates = load / np.array(self.masses)
        if stage == "held":
            rates[a] = rates[b] = (load[a] + load[b]) / (self.masses[a] + self.masses[b])
        return np.concatenate([v, rates])

    def run(
        self, q: list[float], v: list[float], duration: float, times: np.ndarray | None = None, most: float = math.inf
    ) -> Course:
        """The motion from places (m) and speeds (m/s), sampled at `times`; of a probe that begins before the ramp.

        It ends after the `most` changes of stage.
        """
        y, now, stage, found = np.array([*q, *v], float), 0.0, "out", Course()
        while now < duration and len(found.changes) < most:
            events = {
                "out": [(lambda t, y: self.travel(y), 1, "ramp")],
                "ramp": [
                    (lambda t, y: self.travel(y), -1, "out"),
                    (lambda t, y: self.travel(y) - self.length, 1, "held"),
                ],
                "held": [],
            }[stage]
            guards = []
            for function, direction, _ in events:
                guard = lambda t, y, function=function: function(t, y)  # noqa: E731, attributes of its own
                guard.terminal, guard.direction = True, direction
                guards.append(guard)
            part = solve_ivp(
                lambda t, y, stage=stage: self.flow(y, stage),
                (now, duration),
                y,
                events=guards or None,
                dense_output=times is not None,
                **EXACT,
            )
            if times is not None:
                inside = times[(times >= now) & ((times < part.t[-1]) | (part.t[-1] == duration))]
                found.samples.append(part.sol(inside).T)
            y, now = part.y[:, -1], float(part.t[-1])
            found.greatest = max(found.greatest, float((part.y[self.probe] - part.y[self.probe + 1]).max()))
            if part.status != 1:
                break
            stage = next(events[i][2] for i, hits in enumerate(part.t_events) if len(hits))
            found.changes.append((now, stage))
            if stage == "held":
                y = self.caught(y)
        return found

    def caught(self, y: np.ndarray) -> np.ndarray:
        """The state once the two have met plastically."""
        count, a, b = len(self.masses), self.probe, self.probe + 1
        after = y.copy()
        shared = self.masses[a] * y[count + a] + self.masses[b] * y[count + b]
        after[[count + a, count + b]] = shared / (self.masses[a] + self.masses[b])
        return after


@dataclass
class Course:
    """What a run of masses on a line did."""

    changes: list[tuple[float, str]] = field(default_factory=list)  # when (s) which stage began
    samples: list[np.ndarray] = field(default_factory=list)  # places and speeds, row by row
    greatest: float = -math.inf  # m, the largest travel at a step

    @property
    def capture_time(self) -> float | None:
        """When the latch fell in (s); None where it did not."""
        return next((time for time, stage in self.changes if stage == "held"), None)


def least_speed(line: LineOfMasses, moving: int, period: float, low: float, high: float, relative: float) -> float:
    """The least speed (m/s) of the first `moving` masses at the ramp's beginning that latches at the first attempt.

    By halving between one that does not and one that does.
    """

    def latches(speed: float) -> bool:
        count = len(line.masses)
        speeds = [speed if i < moving else 0.0 for i in range(count)]
        places = [-1e-12 if i < moving else 0.0 for i in range(count)]
        changes = line.run(places, speeds, period, most=2).changes
        return len(changes) > 1 and changes[1][1] == "held"

    assert not latches(low) and latches(high)
    while high - low > relative * high:
        middle = (low + high) / 2
        low, high = (low, middle) if latches(middle) else (middle, high)
    return (low + high) / 2
