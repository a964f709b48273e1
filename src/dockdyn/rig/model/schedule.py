"""Which event of a rig falls on which tick of a cycle, after which all periods meet again.

Units: periods s; ticks whole numbers.
Source: own construction.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import lcm
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import jnp
from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import MOST, Hyperperiod, hyperperiod_of, share_of_hold
from dockdyn.trees import map_leaves

SLOW = 0.5  # largest turn (rad) of the robot's fastest motion in a tick of continuous dynamics
REACH = 2.0  # largest |A| · tick of a robot that is read at ages which change
MOST_ROWS = 1_000_000  # ticks remembered
SMOOTH = 0.05  # the same of the contact's oscillation

Flag = Any  # a bool that is known when the program is built, or that it computes


def choose_branch[Tree](flag: Flag, yes: Callable[[], Tree], no: Tree) -> Tree:
    """Return `yes()` where the flag holds, else `no`; only one of them is in the program where the flag is known."""
    if isinstance(flag, bool):
        return yes() if flag else no
    return map_leaves(partial(jnp.where, flag), yes(), no)


class RigSchedule(NamedTuple):
    """What is fixed about the instants of a rig, whatever its numbers; a flag a tick of the cycle."""

    hyperperiod: Hyperperiod
    ticks: int  # in a cycle
    samples: tuple[bool, ...]  # the sensor measures; continuous dynamics without period of the sensor: it is asked only
    asks: tuple[bool, ...]  # the compensator is asked, and what is observed kept; digital dynamics step
    holds: tuple[bool, ...]  # the command is renewed
    late: int  # ticks by which the position that the hold takes is old
    rows: int  # ticks that are remembered
    segments: int  # parts into which ticks divide the window of a sensor that averages

    @property
    def continuous_force(self) -> bool:
        """Whether the force acts continuously, not as a held sample."""
        return not (self.hyperperiod.samples or self.hyperperiod.steps)


def rig_schedule(
    loop: Loop,
    longest_delay: float,
    window: float = 0.0,
    asked: float | None = None,
    steady: bool = True,
    finer: int = 1,
    remembers: bool = False,
) -> RigSchedule:
    """Return the schedule of a loop with plain numbers.

    Its samples are at most `longest_delay` (s) old and means over a `window` (s).

    Delays that are not `steady`, and contacts in hardware of which one `remembers`, take ticks that are short beside the
    robot's motion.
    `asked` is the period (s) of the compensator of continuous dynamics; without it, gains on the velocity of model or
    robot act continuously, and what else it computes is renewed with the command.

    Ticks are as long as all instants allow and, for continuous dynamics, as the integration of the motion between them
    needs, and `finer` times shorter. ValueError for a loop without hold, for periods that never meet, and for a delay of
    more ticks than can be remembered.
    """
    if loop.hold is None:
        raise ValueError(
            "a rig needs a hold or digital dynamics with a period: its robot is told something at instants"
        )
    hyperperiod = hyperperiod_of(loop)
    hold = float(loop.hold)
    half = Fraction(0)
    if loop.dynamics == "half-period":
        assert loop.dynamics_period is not None
        half = share_of_hold("dynamics", loop.dynamics_period / 2, np.asarray(hold))
    stepping = asking = hyperperiod.instants(hyperperiod.steps)
    if (
        every := share_of_hold("compensator", asked, np.asarray(hold))
        if asked is not None and not hyperperiod.steps
        else 2 * half
    ):
        whole = lcm(hyperperiod.holds, every.numerator)
        hyperperiod = hyperperiod._replace(holds=whole, samples=hyperperiod.samples * whole // hyperperiod.holds)
        asking = {every * i for i in range(int(whole / every))}
    sampling = hyperperiod.instants(hyperperiod.samples)
    holding = hyperperiod.instants(hyperperiod.holds)
    parts = lcm(*(at.denominator for at in stepping | asking | sampling | holding), half.denominator)
    if not hyperperiod.steps:
        parts *= _tick_parts(loop, hold / parts)
    elif not steady and loop.robot is not None:  # read by a series, which has its reach
        parts *= max(1, int(np.ceil(np.linalg.norm(loop.robot.state) * hold / parts / REACH)))
    elif remembers:
        parts *= max(1, int(np.ceil(_fastest_motion(loop) * hold / parts / REACH)))
    parts *= finer
    ticks = parts * hyperperiod.holds
    if ticks > 4 * MOST:
        raise ValueError(f"a cycle of the rig has {ticks} instants; must have at most {4 * MOST}")
    grid = [Fraction(i, parts) for i in range(ticks)]
    asks = tuple(at in (asking or holding) for at in grid)
    samples = tuple(at in sampling for at in grid) if sampling else asks
    needed = int(np.ceil(longest_delay / (hold / parts) + 1e-9)) + 2
    if needed > MOST_ROWS:
        raise ValueError(
            f"a delay of {longest_delay:g} s lasts {needed:.3g} of the rig's instants; must last at most {MOST_ROWS}"
        )
    rows = 1 << (needed - 1).bit_length()
    segments = int(np.ceil(window / (hold / parts) - 1e-9)) + 1
    return RigSchedule(
        hyperperiod, ticks, samples, asks, tuple(at in holding for at in grid), int(half * parts), rows, segments
    )


def _fastest_motion(loop: Loop) -> float:
    """Return the rate (1/s) of the robot's fastest motion; zero of one that follows at once."""
    return 0.0 if loop.robot is None else float(np.abs(np.linalg.eigvals(np.asarray(loop.robot.state))).max())


def _tick_parts(loop: Loop, tick: float) -> int:
    """Return into how many parts a tick (s) of continuous dynamics is divided: at least two ticks a hold, and as motion
    needs."""
    fastest = _fastest_motion(loop)
    natural = float(np.sqrt(float(loop.stiffness) / float(loop.effective_mass)))
    needed = max(
        fastest * tick / SLOW, natural * tick / SMOOTH, 2 * tick / float(loop.hold if loop.hold is not None else tick)
    )
    return max(1, int(np.ceil(needed - 1e-9)))
