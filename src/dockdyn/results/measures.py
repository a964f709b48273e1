"""Figures that the summary of a run and the cases of a campaign share: one definition, of arrays of NumPy or of JAX.

Functions that take `data` want a dataset or a mapping of arrays by the names that it has, time first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def number(value: Any) -> float | None:
    """A float, or None for what the run did not reach."""
    return float(value) if np.isfinite(value) else None


def ratio(error: Any, scale: Any) -> Any:
    """An error relative to a scale; the error itself where there is no scale."""
    positive = scale > 0
    if isinstance(positive, bool | np.bool):
        return error / scale if positive else error
    return positive.__array_namespace__().where(positive, error / scale, error)


GIVEN = {  # impulses from outside by momentum
    "linear": ("thruster_impulse", "gravity_impulse"),
    "angular": ("thruster_turning_impulse", "gravity_turning_impulse"),
}


def kept(data: Mapping[Any, Any], name: str) -> Any:
    """The `linear` or `angular` momentum that should not change: without what thrusters and gravity gave."""
    momentum = data[f"{name}_momentum"]
    for impulse in GIVEN[name]:
        if impulse in data:
            momentum = momentum - data[impulse]
    return momentum


def given_by_contacts(data: Mapping[Any, Any]) -> Any:
    """Change (J) since t = 0 of the energy of motion and of springs inside, less the work of control."""
    energy = data["kinetic_energy"]
    if "internal_energy" in data:
        energy = energy + data["internal_energy"]
    change = energy - energy[0]
    return change - data["control_work"] if "control_work" in data else change


def changed_by_contacts(data: Mapping[Any, Any]) -> Any:
    """The same (J) without what a capture took, which is none of the contacts' doing."""
    change = given_by_contacts(data)
    return change + data["catch_taken"] if "catch_taken" in data else change


def drift(momentum: Any, scale: Any) -> Any:
    """Largest change of a momentum since t = 0, relative to the largest sum of the bodies' magnitudes."""
    return ratio(departure(momentum).max(), getattr(scale, "values", scale).max())


def departure(momentum: Any) -> Any:
    """How far a momentum is from its start at each instant, by size."""
    values = getattr(momentum, "values", momentum)
    change = (values - values[0]).reshape(values.shape[0], -1)
    return ((change**2).sum(axis=1)) ** 0.5


def work_energy_error(data: Mapping[Any, Any]) -> Any:
    """Largest difference between the contact forces' work and the change of energy, relative to the largest energy.

    The energy is the kinetic one, with that of springs inside, less the work of control.
    """
    error, energy = given_by_contacts(data) - data["work"], data["kinetic_energy"]
    return ratio(abs(getattr(error, "values", error)).max(), getattr(energy, "values", energy).max())


def energy_error(changes: Any, energy: Any) -> Any:
    """The largest change (J) of energy over a whole contact, NaN where it is not whole, relative to the largest `energy`."""
    whole = changes.__array_namespace__().isfinite(changes)
    largest = (abs(changes) * 1.0).max(initial=0.0, where=whole)
    return ratio(largest, getattr(energy, "values", energy).max())


def contact_totals(onsets: Any, approaches: Any, peaks: Any, peak_times: Any, impulses: Any) -> dict[str, Any]:
    """All contacts together: how many, how hard; NaN for what did not happen.

    `onsets` (s) and `approaches` (m/s) have an entry for each contact, NaN being none; the others one for each part of a
    contact, however it is divided: peak normal force (N), its time (s), impulse (N s); zeros where there is no contact.
    """
    xp = onsets.__array_namespace__()
    there = xp.isfinite(onsets)
    touched = xp.any(there)
    peak = peaks.max(initial=0.0)
    # a part with the largest force; without any there is a zero to point at
    when = xp.concat([peak_times.ravel(), xp.zeros(1)])[xp.argmax(xp.concat([peaks.ravel(), xp.zeros(1)]))]
    return {
        "contact_count": xp.sum(there),
        "peak_normal_force_N": xp.where(touched, peak, 0.0),
        "contact_impulse_N_s": xp.sum(impulses),
        "first_contact_s": xp.where(touched, onsets.min(initial=xp.inf, where=there), xp.nan),
        "peak_time_s": xp.where(touched & (peak > 0), when, xp.nan),
        "largest_approach_speed_m_s": xp.where(touched, approaches.max(initial=-xp.inf, where=there), xp.nan),
    }


def latch_attempt(captures: Any, entries: Any, spare: Any) -> tuple[Any, Any, Any, Any]:
    """Whether and in which row a latch fell in, and whether and in which row the attempt that counts began.

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


def capture_totals(captured: Any, time: Any, entry: Any, needed: Any, caught: Mapping[Any, Any]) -> dict[str, Any]:
    """Whether, when (s) and how the latch caught the probe, and by which margin of speed (m/s); NaN for what did not happen."""
    return {
        "captured": captured,
        "capture_time_s": time,
        "capture_speed_margin_m_s": entry - needed,
        "capture_impulse_along_N_s": caught["capture_impulse_along"],
        "capture_impulse_across_N_s": caught["capture_impulse_across"],
        "capture_energy_loss_J": caught["capture_loss"],
    }


def settled_rows(time: Any, releases: Any, delay: Any, slack: float) -> Any:
    """Rows of a log, at times in order, in which the last delayed force of contacts that ended at `releases` (s) has acted.

    −1 where the run ended before, or for a release that is NaN. A row at most `slack` (s) after an instant is of that instant.
    """
    xp = time.__array_namespace__()
    instants = releases + delay
    found = xp.searchsorted(time, instants - min(1e-9, slack))
    row = xp.minimum(found, time.shape[0] - 1)
    return xp.where((found < time.shape[0]) & (time[row] - instants <= slack), row, -1)


def control_totals(data: Mapping[Any, Any], attitude_hold: bool) -> dict[str, Any]:
    """What control of a body did; none where there is no control."""
    if "control_work" not in data:
        return {}
    error, wheel = (getattr(data[name], "values", data[name]) for name in ("attitude_error", "wheel_momentum"))
    return {
        "control_work_J": data["control_work"][-1],
        "attitude_error_end_rad": (error[-1] ** 2).sum() ** 0.5 if attitude_hold else None,
        "peak_wheel_momentum_N_m_s": abs(wheel).max(),
        "thruster_use_N_s": data["thruster_use"][-1, 0],
        "thruster_use_N_m_s": data["thruster_use"][-1, 1],
    }
