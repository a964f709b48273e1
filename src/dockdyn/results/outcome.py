"""Whether the outcome of an approach is still open at the end of a run, and how long it takes to see it.

A run is judged at the end of its duration. Its outcome is open then where the latch has not caught the probe and

- bodies touch, or the delayed force of a contact has yet to act; or
- the probe still comes nearer: with a latch, its tip is short of the end of the ramp and moves towards it along the docking
  axis (of a mechanism: the striker of an open latch is short of where it is caught and moves towards it along the seat's
  axis); without one, a feature is apart from its surface and approaches it; or
- some latches of a mechanism hold, but not all.

What is left is then the way still to go over the speed at the end: the time at which a probe that goes on unhindered is at
the end of the ramp, or touches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dockdyn.deferred import Bool, Float
from dockdyn.results.measures import Either

OUTCOME = {  # by name in a dataset: unit and words
    "outcome_is_open": ("1", "whether the outcome is open at the end: 1 yes, 0 no"),
    "approach_left": ("s", "time the probe would still take, unhindered"),
}
PEAK = "peak"  # so begin the last words of figures that later events only enlarge
GROW = {  # so begin those of others, by their table
    "contact": ("count", "impulse", "approach_speed"),
    "port": ("",),  # all its figures: the largest loads
    "bushing": ("turn",),
    "beam": ("spin_share",),
    "latch": ("travel", "bounces"),
    "thruster": ("impulse",),
    "control": ("wheel_momentum", "thruster_"),
}
TIMES = {"": "capture_time_s", "contact": "onset_s", "latch": "time_s"}  # figures that are moments, by their table
SLOWED = 2.0  # times the way left over the speed at the end: contact slows the probe
IN_CONTACT = 0.1  # of the duration: what a contact is given to end where no case says how long one takes
type Cases = Float[np.ndarray, "cases"]


def outcome_left(acting: Either, captured: Either, at_end: Mapping[str, Any], length: Either | None) -> dict[str, Any]:
    """Return what `OUTCOME` names: whether it is open, and the time left, NaN where the probe does not approach.

    Args:
        acting: whether contacts last, or their delayed forces.
        captured: whether the latch caught the probe.
        at_end: what is observed at the end: with a latch its `latch_travel` (m) and `latch_rate` (m/s), or those of several,
            else `depth` (m) and `depth_rate` (m/s), each (contacts,). Arrays of NumPy or of JAX.
        length: of the latch's ramp (m); None without a latch.
    """
    if length is None:
        way, speed = -at_end["depth"], at_end["depth_rate"]
    else:
        way, speed = length - at_end["latch_travel"].reshape(-1), at_end["latch_rate"].reshape(-1)
    xp = speed.__array_namespace__()
    nearer = (way > 0) & (speed > 0)
    approaching = xp.any(nearer) & ~captured
    left = xp.min(xp.where(nearer, way / xp.where(nearer, speed, 1.0), xp.inf), initial=xp.inf)
    return {
        "outcome_is_open": (acting | approaching) & ~captured,
        "approach_left": xp.where(approaching, left, xp.nan),
    }


def undecided_cases(figures: Mapping[str, Cases], count: int) -> Bool[np.ndarray, "cases"]:
    """Return which of so many cases end while their outcome is open."""
    return figures.get("outcome_open", np.zeros(count)) == 1


def only_grows(figure: str) -> bool:
    """Return whether later events only enlarge a figure."""
    table, last = figure.partition(".")[0], figure.rpartition(".")[2]
    return last.startswith((PEAK, *GROW.get("port" if table == "body" else table, ())))


def is_moment(figure: str) -> bool:
    """Return whether a figure is the moment of what happens once."""
    table, _, last = figure.rpartition(".")
    return TIMES.get(table.partition(".")[0]) == last


def still_open(
    figure: str,
    relation: str,
    limit: bool | float,
    values: Cases,
    met: Bool[np.ndarray, "cases"],
    figures: Mapping[str, Cases],
) -> Bool[np.ndarray, "cases"]:
    """Return in which cases, with these `values` of its figure, it is open whether a requirement is met.

    In all undecided ones but where what follows cannot change it: a figure that only grows has passed its limit, a moment
    has come, or is overdue.
    """
    undecided = undecided_cases(figures, len(met))
    upper = relation.startswith("<")
    if only_grows(figure) and relation != "==":
        return undecided & (met if upper else ~met)
    if is_moment(figure):
        overdue = figures["end_time_s"] >= limit if upper and "end_time_s" in figures else False
        return undecided & np.isnan(values) & ~np.asarray(overdue)
    return undecided


def ways_undecided(figures: Mapping[str, Cases], undecided: Bool[np.ndarray, "cases"]) -> dict[str, int]:
    """Return how far undecided cases have come, in words, and how many."""
    nothing = np.full(undecided.size, np.nan)
    touched = figures.get("contact.count", np.ones(undecided.size)) > 0
    touched |= np.isfinite(figures.get("latch.speed_margin_m_s", nothing))  # on the ramp of the latch
    nearing = np.isfinite(figures.get("approach_left_s", nothing))
    ways = {
        "not decided: no contact yet": undecided & ~touched,
        "not decided: approaches, after a contact or in one": undecided & touched & nearing,
        "not decided: in contact, without coming nearer": undecided & touched & ~nearing,
    }
    return {words: int(holds.sum()) for words, holds in ways.items() if holds.any()}


def deciding_duration(figures: Mapping[str, Cases], undecided: Bool[np.ndarray, "cases"]) -> float | None:
    """Return a duration (s) by which the undecided cases should have been decided; None where there are none.

    To the end of the run are added twice the time that the slowest of them still needs at its speed, and the longest time
    that a case took from its first contact to its capture (a tenth of the duration where none was captured). Rounded up to
    two digits.
    """
    if not undecided.any() or "end_time_s" not in figures:
        return None
    end = float(np.max(figures["end_time_s"][undecided]))
    left = figures["approach_left_s"][undecided]
    caught = figures.get("capture_time_s", np.full(undecided.size, np.nan)) - figures.get("contact.onset_s", 0.0)
    caught = caught[np.isfinite(caught)]
    contact = max(float(caught.max()), 0.0) if caught.size else IN_CONTACT * end
    least = end + SLOWED * float(np.max(left[np.isfinite(left)], initial=0.0)) + contact
    digit = 10.0 ** (math.floor(math.log10(least)) - 1)
    return float(f"{math.ceil(least / digit) * digit:.6g}")
