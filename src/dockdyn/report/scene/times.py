"""The times that a scene is made of: a run's samples, and the instants of its largest forces between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.scene.rotation import interpolate, interpolate_attitudes


class Sampler:
    """What gives a run's samples (samples, …) at other times."""

    def __init__(self, times: np.ndarray, time: np.ndarray):
        self._times, self._time = times, time
        self._same = len(times) == len(time)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return samples on straight lines."""
        return values if self._same else interpolate(self._times, self._time, values)

    def attitudes(self, values: np.ndarray) -> np.ndarray:
        """Return unit quaternions on great circles."""
        return values if self._same else interpolate_attitudes(self._times, self._time, values)


def shown_times(dataset: Dataset, marks: Sequence[float] = ()) -> tuple[np.ndarray, Sampler]:
    """Return a run's times with peaks of its contacts, its captures and other `marks` (s), and what gives samples at them."""
    time = dataset.time.values
    found = [*marks]
    for name in ("episode_peak_time", "episode_onset", "episode_release", "capture_onset", "capture_release"):
        if name in dataset:
            found += np.ravel(dataset[name].values).tolist()
    more = np.array([one for one in found if np.isfinite(one) and time[0] <= one <= time[-1]])
    times = np.unique(np.concatenate([time, more]))
    if len(times) > 1:
        times = times[np.concatenate([[True], np.diff(times) > 1e-12 * abs(float(times[-1] - times[0]))])]
    return times, Sampler(times, time)
