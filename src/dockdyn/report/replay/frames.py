"""Which instants a replay shows, and a run's samples at them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.drawing import contact_spans
from dockdyn.report.replay.scene import SceneMotion

EVEN = 400  # frames at equal intervals
MOST = 600  # frames
INSIDE = 6  # frames in a contact that is shorter than so many intervals


def frame_times(end: float, spans: np.ndarray, marks: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Return times of the frames of a run up to `end` (s), and which of them are marks.

    Equal intervals, and besides them the `marks` (s), peaks and impacts, and the beginning, inside and end of `spans`
    (n, 2) that equal intervals would miss. Where that is too much, marks and spans are thinned out evenly.
    """
    if end <= 0:
        return np.zeros(1), np.zeros(1, bool)
    interval = end / (EVEN - 1)
    short = spans[spans[:, 1] - spans[:, 0] < INSIDE * interval]
    inside = np.concatenate([np.zeros(0), *(np.linspace(a, b, INSIDE) for a, b in short)])
    room = MOST - EVEN
    kept = _thin_evenly(np.unique(np.clip(np.asarray(marks, float), 0, end)), room)
    inside = _thin_evenly(np.unique(np.clip(inside, 0, end)), room - len(kept))
    times = np.unique(np.concatenate([np.linspace(0, end, EVEN), inside, kept]))
    times = times[np.concatenate([[True], np.diff(times) > 1e-12 * end])]
    return times, np.isin(times, kept)


def _thin_evenly(values: np.ndarray, room: int) -> np.ndarray:
    """Return at most `room` of the values, evenly."""
    if len(values) <= room:
        return values
    return values[np.linspace(0, len(values) - 1, max(room, 0)).astype(int)]


def frames_of_run(dataset: Dataset, marks: Sequence[float] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Return `frame_times` of a run, its contacts seen to."""
    spans, peaks = np.zeros((0, 2)), np.zeros(0)
    if "episode_onset" in dataset:
        spans, peaks = contact_spans(dataset), dataset.episode_peak_time.values
    found = [float(t) for t in (*peaks, *marks) if np.isfinite(t)]
    return frame_times(float(dataset.time[-1]), spans, found)


def _bracket_times(times: np.ndarray, time: np.ndarray, axes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of the samples before and after times (frames,), and how far between them these are, 0 to 1, with so many
    `axes`."""
    after = np.clip(np.searchsorted(time, times, side="right"), min(1, len(time) - 1), len(time) - 1)
    before = np.maximum(after - 1, 0)
    gap = time[after] - time[before]
    share = np.clip((times - time[before]) / np.where(gap > 0, gap, 1), 0, 1)
    return before, after, share.reshape(-1, *[1] * (axes - 1))


def interpolate_samples(times: np.ndarray, time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return samples (samples, …) at other times (frames, …), on straight lines between them."""
    before, after, share = _bracket_times(times, time, values.ndim)
    return values[before] * (1 - share) + values[after] * share


def attitudes_at(times: np.ndarray, time: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (samples, …, 4) at other times, on great circles between samples (slerp)."""
    from viser.transforms import SO3  # which the replay needs anyway; SciPy's takes longer to load than a run to draw

    before, after, share = _bracket_times(times, time, attitude.ndim)
    first, second = SO3(attitude[before]), SO3(attitude[after])
    return (first @ SO3.exp(share * (first.inverse() @ second).log())).normalize().wxyz


def motion_at(times: np.ndarray, time: np.ndarray, position: np.ndarray, attitude: np.ndarray) -> SceneMotion:
    return SceneMotion(interpolate_samples(times, time, position), attitudes_at(times, time, attitude))
