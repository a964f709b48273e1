"""What happened in a run, as marks on the time line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.drawing import contact_spans
from dockdyn.report.replay.scene import Event


def events_of_run(dataset: Dataset, names: Sequence[str] = ()) -> list[Event]:
    """Return contacts that last with their peaks, impacts, the capture; `names` are those of the pairs in contact, if any."""
    found = []
    for index, (start, end) in enumerate(contact_spans(dataset)):
        which = f": {names[int(dataset.episode_contact[index])]}" if names else ""
        peak = float(dataset.episode_peak_force[index])
        size = f", peak {peak:.4g} N" if np.isfinite(peak) else ""
        found.append(Event("contact", f"contact {index + 1}{which}{size}", float(start), float(end)))
    if "impact_time" in dataset:
        for index, (when, impulse) in enumerate(
            zip(dataset.impact_time.values, dataset.impact_normal_impulse.values, strict=True)
        ):
            found.append(Event("impact", f"impact {index + 1}: {impulse:.4g} N s", float(when)))
    if "capture_time" in dataset and np.isfinite(float(dataset.capture_time)):
        found.append(Event("capture", "captured", float(dataset.capture_time)))
    if "release_time" in dataset and np.isfinite(float(dataset.release_time)):
        found.append(Event("capture", "released", float(dataset.release_time)))
    return found
