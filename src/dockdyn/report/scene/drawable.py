"""The part of a run that can be drawn: all of it, unless it diverged."""

from __future__ import annotations

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.scene.scene import RunScene

MOST = 1e18  # players draw with single precision, in which squares of more overflow
TIMES = ("episode_onset", "impact_time", "event_time")  # when what is counted along their dimension happened, s


def drawable_part(dataset: Dataset) -> tuple[Dataset, str]:
    """Return a run up to its last sample before one that cannot be drawn, and words on that; empty where all of it can.

    A sample cannot be drawn where a number in it is not finite or beyond `MOST`. Places that are left empty (NaN) at the
    start, such as those of links that a shorter tree has not, say nothing.
    """
    count = dataset.sizes["time"]
    good = np.ones(count, bool)
    for name, one in dataset.variables.items():
        if one.dtype.kind != "f" or "time" not in one.dims or name == "time":
            continue
        values = one.transpose("time", ...).values.reshape(count, -1)
        values = values[:, ~np.isnan(values[:1]).all(axis=0)]
        with np.errstate(invalid="ignore"):
            good &= (np.abs(values) <= MOST).all(axis=1)
    kept = count if good.all() else int(np.argmin(good))
    if kept == count:
        return dataset, ""
    if not kept:
        return dataset.isel(time=slice(0, 0)), "no sample can be drawn: numbers are not finite or too large"
    end = float(dataset.time[kept - 1])
    found = dataset.isel(time=slice(0, kept))
    for name in TIMES:
        if name in found:
            happened = found[name]
            found = found.isel({happened.dims[0]: np.flatnonzero(happened.values <= end)})
    return close_contacts(found, end), f"shown until {end:.6g} s: what comes then is not finite or too large to draw"


def can_be_drawn(scene: RunScene) -> bool:
    """Return whether all places and vectors of a scene are finite and can be drawn."""
    motions = [*scene.bodies.values(), *(part.motion for part in scene.parts if part.motion is not None)]
    arrays = [array for motion in motions for array in (motion.position, motion.attitude)]
    arrays += [array for force in scene.forces for array in (force.place, force.vector)]
    arrays += [trail.points for trail in scene.trails] + [beam.eta for beam in scene.beams]
    with np.errstate(invalid="ignore"):
        return all(bool((np.abs(array) <= MOST).all()) for array in arrays)


def close_contacts(dataset: Dataset, end: float) -> Dataset:
    """Return the run with contacts that outlast `end` (s) cut there; without peaks (NaN) and a capture that come later."""
    changed = {}
    if "episode_peak_time" in dataset:
        late = ~(dataset.episode_peak_time <= end) | ~(np.abs(dataset.episode_peak_force) <= MOST)
        changed["episode_peak_force"] = dataset.episode_peak_force.where(~late)
        changed["episode_peak_time"] = dataset.episode_peak_time.where(~late, dataset.episode_onset)
        changed["episode_release"] = dataset.episode_release.where(dataset.episode_release <= end)
    if "capture_time" in dataset:
        changed["capture_time"] = dataset.capture_time.where(dataset.capture_time <= end)
    return dataset.assign(changed)
