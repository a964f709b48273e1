"""How near a latch came that never fell in, and by what it was missed."""

from __future__ import annotations

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.wording import format_significant
from dockdyn.results.run import Run

VARIABLES = {  # by name in a dataset: unit and words
    "latch_nearest_time": ("s", "when the striker of a latch that did not fall in was nearest to where it is caught"),
    "latch_nearest_gap": ("m", "how far it was short of there along the axis then, negative beyond; as sampled"),
    "latch_nearest_aside": ("m", "how far it was beyond the latch's lateral then, negative within; as sampled"),
}
MOST = 3  # latches that a sentence tells one by one


def missed_latches(run: Run) -> dict[str, np.ndarray]:
    """Return what `VARIABLES` names, NaN of a latch that fell in; nothing where there is none.

    It falls in once the striker is neither short along the axis nor beyond `lateral`: nearest is by the distance from there.
    """
    if "latch_gap" not in run.sampled:
        return {}
    valid = run.log.valid
    time = np.concatenate([run.log.time[valid], run.time])
    gap, aside, held = (
        np.concatenate([run.log.seen[name][valid], run.sampled[name]])
        for name in ("latch_gap", "latch_aside", "latch_held")
    )
    nearest = _distance(gap, aside).argmin(axis=0)
    each, missed = np.arange(gap.shape[1]), ~(held > 0).any(axis=0)
    found = (time[nearest], gap[nearest, each], aside[nearest, each])
    return {name: np.where(missed, values, np.nan) for name, values in zip(VARIABLES, found, strict=True)}


def describe_missed(dataset: Dataset) -> list[str]:
    """Return a sentence of each of the latches that missed their striker most, and of how many others there are.

    Nothing where the striker came to the ramp of the only latch, of which the report tells how far it went.
    """
    on_ramp = "latch_entry_speed" in dataset and np.isfinite(dataset.latch_entry_speed)
    if "latch_nearest_gap" not in dataset or on_ramp:
        return []
    gap, aside = dataset.latch_nearest_gap.values, dataset.latch_nearest_aside.values
    missed = [int(index) for index in np.argsort(-_distance(gap, aside)) if np.isfinite(gap[index])]
    told = [
        f"Latch {str(dataset.latch.values[index])!r} came nearest at t = "
        f"{format_significant(float(dataset.latch_nearest_time[index]), 4)} s: {_what_lacked(gap[index], aside[index])}."
        for index in missed[:MOST]
    ]
    others = len(missed) - len(told)
    return [*told, f"{others} more {'latch' if others == 1 else 'latches'} missed by less."] if others > 0 else told


def _distance(gap: np.ndarray, aside: np.ndarray) -> np.ndarray:
    """Return how far (m) a striker is from where it is caught."""
    distance: np.ndarray = np.hypot(np.maximum(gap, 0.0), np.maximum(aside, 0.0))
    return distance


def _what_lacked(gap: float, aside: float) -> str:
    """Return which condition of a latch was not met, and by how much (m)."""
    short, wide = (f"{format_significant(1e3 * length, 3)} mm" for length in (gap, aside))
    if gap > 0 and aside > 0:
        return f"{short} short along its axis and {wide} too far aside of it"
    if gap > 0:
        return f"{short} short along its axis, near enough to it"
    if aside > 0:
        return f"{wide} too far aside of its axis, deep enough along it"
    return "within reach, but the latch was not closed then"
