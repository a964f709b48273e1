"""The hyperperiod of a sampled loop: how many instants of each kind until all its periods meet again.

Units: periods s, counted in hold periods.
Source: multirate sampled systems; own construction.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Literal, NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.stability.encoder_history import rows_needed
from dockdyn.stability.loop import Loop

EDGE = 1e-9  # of a hold period: instants closer than this coincide
MOST = 200  # instants of a kind in a cycle
MOST_COMMANDS = 500  # that a delay may keep under way


class TimingError(ValueError):
    """Instants of a loop that never meet, or meet too late: `of` is the number of it to change, its "period" or "delay"."""

    def __init__(self, of: Literal["period", "delay"], words: str):
        super().__init__(words)
        self.of = of


class Hyperperiod(NamedTuple):
    """What is fixed about a loop's instants, whatever its numbers."""

    holds: int  # in a cycle
    samples: int  # of the sensor in a cycle; 0: the force is measured continuously or when the dynamics step
    steps: int  # of the dynamics in a cycle; 0: continuous
    commands: int  # that a delay may keep under way
    averages: bool = False  # whether a sample is the mean of the force since the last one
    encoded: int = 0  # positions of the robot at the steps that are kept

    def instants(self, count: int) -> set[Fraction]:
        """Return `count` instants spread over a cycle, in hold periods."""
        return {Fraction(i * self.holds, count) for i in range(count)}


def hyperperiod_of(loop: Loop) -> Hyperperiod:
    """Return the hyperperiod of a loop, or the one that fits many.

    Raises TimingError when the periods have no common multiple that is short enough.
    """
    hold = np.asarray(loop.hold, float)
    sensor = share_of_hold("sensor", loop.sensor_period, hold)
    steps = share_of_hold("dynamics", loop.dynamics_period if loop.is_stepped() else None, hold)
    holds = lcm(sensor.numerator or 1, steps.numerator or 1)
    samples, stepped = (int(holds / ratio) if ratio else 0 for ratio in (sensor, steps))
    most = max(holds, samples, stepped)
    if most > MOST:
        raise TimingError(
            "period", f"hold, sensor and dynamics meet again after {most} instants; must be at most {MOST}"
        )
    under_way = int(np.max(np.ceil(np.asarray(loop.delay) / hold - EDGE), initial=0)) + 1 + loop.applies_after
    if under_way > MOST_COMMANDS:
        raise TimingError("delay", f"the delay is {under_way - 1} hold periods; must be at most {MOST_COMMANDS - 1}")
    encoded = 0 if loop.compensated_mass is None else rows_needed(loop.delay, loop.steps_period())
    return Hyperperiod(holds, samples, stepped, 1 << (under_way - 1).bit_length(), averages_samples(loop), encoded)


def averages_samples(loop: Loop) -> bool:
    """Return whether samples are means over their period. Another window is not known here: its samples are taken as
    instants'."""
    if loop.averaging is None or (loop.sensor_period is None and not loop.is_stepped()):
        return False
    apart = np.asarray(loop.averaging, float) - np.asarray(loop.sample_period(), float)
    return bool(np.all(np.abs(apart) <= EDGE * np.asarray(loop.hold, float)))


def share_of_hold(name: str, period: object, hold: Float[np.ndarray, "*loops"]) -> Fraction:
    """Return a period (s) in hold periods (s), zero where there is none. TimingError where the two have no simple ratio."""
    if period is None:
        return Fraction(0)
    quotients = np.unique(np.round(np.asarray(period, float) / hold, 9))
    ratio = Fraction(float(quotients[0])).limit_denominator(MOST)
    if len(quotients) > 1 or abs(float(ratio) - quotients[0]) > EDGE or ratio.numerator > MOST:
        given = " to ".join(f"{quotient:g}" for quotient in sorted({quotients[0], quotients[-1]}))
        words = f"the {name} period is {given} hold periods; must be one ratio of whole numbers up to {MOST}"
        raise TimingError("period", words)
    return ratio
