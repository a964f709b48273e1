"""What figures of runs are made of: one definition, of arrays of NumPy or of JAX.

Functions that take `data` want a dataset or a mapping of arrays by the names that it has, time first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Either = Any  # a number, or an array of NumPy or of JAX
BEFORE = 1e-9  # s; a row so little before an instant is of that instant, too


def finite_or_none(value: Either) -> float | None:
    """Return a float, or None for what the run did not reach."""
    return float(value) if np.isfinite(value) else None


def sum_in_order(values: Either) -> Either:
    """Return the sum over the first axis, one after the other, as a page's programs add: NumPy adds in an order of its own."""
    if isinstance(values, np.ndarray) and values.shape[0]:
        return np.cumsum(values, axis=0)[-1]
    return values.sum(axis=0)


def relative_error(error: Either, scale: Either) -> Either:
    """Return an error relative to a scale; the error itself where there is no scale."""
    positive = scale > 0
    if isinstance(positive, bool | np.bool):
        return error / scale if positive else error
    return positive.__array_namespace__().where(positive, error / scale, error)


GIVEN = {  # impulses from outside by momentum
    "linear": ("thruster_impulse", "gravity_impulse"),
    "angular": ("thruster_turning_impulse", "gravity_turning_impulse"),
}

ENERGIES = ("kinetic_energy", "internal_energy")  # of motion, which every run tells, and of what is inside
WORKS = {"control_work": "control", "gravity_work": "gravity"}  # from outside, and what does it


def conserved_momentum(data: Mapping[Any, Any], name: str) -> Either:
    """Return the `linear` or `angular` momentum that should not change: without what thrusters and gravity gave."""
    momentum = data[f"{name}_momentum"]
    for impulse in GIVEN[name]:
        if impulse in data:
            momentum = momentum - data[impulse]
    return momentum


def given_by_contacts(data: Mapping[Any, Any]) -> Either:
    """Return the change (J) since t = 0 of the energy of motion and of springs inside, less the work of control and of
    gravity."""
    first, *others = (data[name] for name in ENERGIES if name in data)
    energy = sum(others, first)
    change = energy - energy[0]
    for work in WORKS:
        if work in data:
            change = change - data[work]
    return change


def given_terms(data: Mapping[Any, Any]) -> list[tuple[str, float]]:
    """Return the variables whose sum, with these signs, `given_by_contacts` is but for what it is at the start."""
    signs = dict.fromkeys(ENERGIES, 1.0) | dict.fromkeys(WORKS, -1.0)
    return [(name, sign) for name, sign in signs.items() if name in data]


def work_since_start(data: Mapping[Any, Any]) -> Either:
    """Return the work (J) of contacts and all else inside, but for what latches took that fall in as the run begins."""
    return data["work"] - data["work"][0]


def from_outside(data: Mapping[Any, Any]) -> str:
    """Return what from outside has done work in a run, in words; empty where nothing has."""
    return " and ".join(words for work, words in WORKS.items() if work in data)


def acts_beside_contacts(data: Mapping[Any, Any]) -> bool:
    """Return whether something inside a dataset's bodies stores, takes or gives energy beside contacts: elements, thrusters,
    joints that move, links that bend; not a latch of which it is told what it has taken."""
    moves = "joint_unit" in data and bool((data["joint_unit"] != "1").any())
    acts = "element" in data and data["element"].size > ("catch_taken" in data)
    return acts or moves or any(name in data for name in ("fixed_thruster", "mode"))


def stores_inside(data: Mapping[Any, Any]) -> bool:
    """Return whether the balance of energy counts what is stored inside: by what acts beside contacts, or in the catch of a
    latch.

    A catch takes nothing that is not told: what contacts change is known without it (`changed_by_contacts`).
    """
    return acts_beside_contacts(data) or "catch_stored" in data


def describe_work_sources(data: Mapping[Any, Any]) -> str:
    """Return what does the work that a dataset of a run with contacts has as `work`, in words."""
    if "catch_taken" in data:
        return "contacts, less what the latch takes"
    return "contacts, elements and joints" if acts_beside_contacts(data) else "the contact forces"


def changed_by_contacts(data: Mapping[Any, Any]) -> Either:
    """Return the same (J) without what a capture took, which is none of the contacts' doing."""
    change = given_by_contacts(data)
    if "catch_taken" not in data:
        return change
    lost = data["catch_taken"]  # what a catch stores counts as energy inside
    return change + (lost - data["catch_stored"] if "catch_stored" in data else lost)


def momentum_drift(momentum: Any, scale: Any) -> Either:  # noqa: ANN401, arrays of a dataset too
    """Return the largest change of a momentum since t = 0, relative to the largest sum of the bodies' magnitudes."""
    return relative_error(momentum_departure(momentum).max(), getattr(scale, "values", scale).max())


def momentum_departure(momentum: Any) -> Either:  # noqa: ANN401, an array of a dataset too
    """Return how far a momentum is from its start at each instant, by size."""
    values = getattr(momentum, "values", momentum)
    change = (values - values[0]).reshape(values.shape[0], -1)
    return ((change**2).sum(axis=1)) ** 0.5


def latch_attempt(captures: Either, entries: Either, spare: Either) -> tuple[Either, Either, Either, Either]:
    """Return whether and in which row a latch fell in, and whether and in which row the attempt that counts began.

    Over the rows of a log in time order: `captures` where the latch holds, `entries` where the probe comes onto the ramp,
    `spare` the speed (m/s) that it has there above the least one that latches. The attempt that counts is the one that
    succeeded, or came nearest to.
    """
    xp = captures.__array_namespace__()
    rows = xp.arange(captures.shape[0])
    captured, caught = xp.any(captures), xp.argmax(captures)
    last = xp.max(xp.where(entries & (rows < caught), rows, -1))
    best = xp.argmax(xp.where(entries, spare, -xp.inf))
    counts = xp.where(captured, last, best)
    return captured, caught, xp.any(entries) & (counts >= 0), counts


def first_time(holds: Either, time: Either) -> Either:
    """Return the first `time` (s) of rows at which something holds; NaN where it never does."""
    xp = time.__array_namespace__()
    return xp.where(xp.any(holds), time[xp.argmax(holds)], xp.nan)


def settled_rows(time: Either, releases: Either, delay: Either, slack: Either | float) -> Either:
    """Return rows of a log, at times in order, in which the last delayed force of contacts that ended at `releases` (s) has
    acted.

    −1 where the run ended before, or for a release that is NaN. A row at most `slack` (s) after an instant is of that instant;
    of rows with one time the last one.
    """
    xp = time.__array_namespace__()
    instants = releases + delay
    found = xp.searchsorted(time, instants - BEFORE)
    row = xp.minimum(found, time.shape[0] - 1)
    row = xp.searchsorted(time, time[row], side="right") - 1
    return xp.where((found < time.shape[0]) & (time[row] - instants <= slack), row, -1)
