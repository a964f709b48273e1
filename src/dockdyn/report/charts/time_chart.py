"""Charts over the time of a run: contacts shaded and named, opened where the contacts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.charts.chart import Band, Chart, Level, Panel, contact_window
from dockdyn.report.drawing import contact_places, contact_spans

TIME = "time"  # what charts over the run have in common


def time_chart(dataset: Dataset, panels: Sequence[Panel], columns: int = 1) -> Chart:
    """Return panels over the time of a run with located contacts; a capture with which it begins is none to open at."""
    names = [name for name in ("capture_onset", "capture_peak_time") if name in dataset]
    caught = [float(time) for name in names for time in np.ravel(dataset[name].values)]
    instants = [*lively_spans(dataset).ravel(), *(time for time in caught if np.isfinite(time) and time > 0)]
    return run_chart(dataset.time.values, panels, contact_bands(dataset), instants=instants, columns=columns)


def lively_spans(dataset: Dataset) -> np.ndarray:
    """Return the onset and release (s) of contacts, (contacts, 2); one that lasts to the end, beside others that do not, is as
    long as the longest of these."""
    spans, whole = contact_spans(dataset), np.isfinite(dataset.episode_release.values)
    longest = np.max(np.ptp(spans, axis=1), where=whole, initial=0.0)
    if longest > 0:
        spans[~whole, 1] = np.minimum(spans[~whole, 1], spans[~whole, 0] + longest)
    return spans


def contact_bands(dataset: Dataset) -> list[Band]:
    """Return the times of contact, by number."""
    return numbered_bands(contact_spans(dataset), contact_places(dataset))


def numbered_bands(spans: np.ndarray, places: np.ndarray) -> list[Band]:
    """Return bands from the first to the last of each contact (s), (contacts, 2), by number, named at `places` (s)."""
    return [
        Band(float(onset), float(release), f"Q{number}", at=float(place))
        for number, ((onset, release), place) in enumerate(zip(spans, places, strict=True), start=1)
    ]


def run_chart(
    time: np.ndarray,
    panels: Sequence[Panel],
    bands: Sequence[Band] = (),
    levels: Sequence[Level] = (),
    *,
    instants: Sequence[float] | np.ndarray = (),
    columns: int = 1,
) -> Chart:
    """Return panels over the `time` (s) of a run, `bands` and `levels` in all of them; it opens where `instants` (s) are."""
    drawn = [replace(one, bands=[*bands, *one.bands], levels=[*levels, *one.levels]) for one in panels]
    end = float(time[-1]) if float(time[-1]) > 0 else 1.0
    window = contact_window(time, instants)
    return Chart(drawn, columns, whole=(0.0, end), window=window, over=TIME, events=True)
