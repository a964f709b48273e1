"""Whether the samples of a run have the largest forces of its contacts, which are known between samples, too.

Units: N, s.
Source: definition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.wording import format_significant
from dockdyn.scenario.language.errors import ScenarioError

MISSED = 0.1  # of a contact's largest normal force: more must not be missed
NOTHING = 1e-9  # N: a force this small counts as none
SAMPLES = 20  # in the shortest contact: of half a sine they miss 0.3 %


def refuse_missed_peaks(dataset: Dataset, content: Any) -> None:  # noqa: ANN401, of its motion
    """Raise ScenarioError, with the `output.interval` that would do, where the samples miss more than `MISSED` of the largest
    normal force of a contact; contacts by impact laws have none."""
    if "episode_peak_force" not in dataset:
        return
    peaks, of = dataset.episode_peak_force.values, dataset.episode_contact.values
    sampled = np.nan_to_num(dataset.normal_force.values).max(axis=0, initial=0.0)
    time = dataset.time.values
    ends = np.where(np.isfinite(dataset.episode_release.values), dataset.episode_release.values, time[-1])
    lengths = ends - dataset.episode_onset.values
    words, shortest = "", np.inf
    for number, contact in enumerate(content.contacts):
        own = peaks[of == number]
        if contact.impact is not None or (largest := own.max(initial=0.0)) <= NOTHING:
            continue
        if sampled[number] < (1 - MISSED) * largest:
            shortest = min(shortest, lengths[of == number][own > MISSED * largest].min())
            words = words or (
                f"contact {contact.name}: its samples reach {format_significant(sampled[number])} N, but its largest normal "
                f"force is {format_significant(largest)} N"
            )
    if words:
        step = float(np.median(np.diff(time)))
        enough = format_significant(min(shortest / SAMPLES, step / 2), 2)
        raise ScenarioError(f'{words}; run again with --set output.interval="{enough} s", now {step:.4g} s')
