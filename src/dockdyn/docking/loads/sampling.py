"""Whether the samples of a run have the largest forces of its contacts, elements and ports, known between samples, too.

Units: N, N m, s.
Source: definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.loads.histories import named_elements, ports_of
from dockdyn.docking.loads.slices import ROUNDING, port_parts
from dockdyn.mechanism.named_points import NOTHING
from dockdyn.report.wording import format_significant
from dockdyn.scenario.language.errors import ScenarioError

MISSED = 0.1  # of what is largest: more must not be missed
SMALL = 0.01  # of the largest force, or moment, of a port: parts that stay below it are not judged
SAMPLES = 20  # in the shortest contact: of half a sine they miss 0.3 %
CLOSER = 10  # times as many samples are to be tried where it is not known how long a peak is


def refuse_missed_peaks(dataset: Dataset, content: Any) -> None:  # noqa: ANN401, of its motion
    """Raise ScenarioError, with the `output.interval` to try, where the samples miss more than `MISSED` of the largest normal
    force of a contact, force of an element or load at a port.

    Contacts by impact laws have none. With a delay ports are not judged: what the run knows of them is with the forces of
    contacts where they are generated.
    """
    if dataset.sizes["time"] == 1:  # over as it began
        return
    step = float(np.median(np.diff(dataset.time.values)))
    missed = [*_missed_contacts(dataset, content, step), *_missed_elements(dataset, content, step)]
    if not content.loop.delay:
        missed += _missed_ports(dataset, content, step)
    if missed:
        enough = format_significant(min(interval for _, interval in missed), 2)
        raise ScenarioError(f'{missed[0][0]}; run again with --set output.interval="{enough} s", now {step:.4g} s')


def _missed_contacts(dataset: Dataset, content: Any, step: float) -> Iterator[tuple[str, float]]:  # noqa: ANN401, of its motion
    """Yield what to say of each contact whose peak is missed, and the interval (s) that would do."""
    if "episode_peak_force" not in dataset:
        return
    peaks, of = dataset.episode_peak_force.values, dataset.episode_contact.values
    sampled = np.nan_to_num(dataset.normal_force.values).max(axis=0, initial=0.0)
    ends = np.where(
        np.isfinite(dataset.episode_release.values), dataset.episode_release.values, dataset.time.values[-1]
    )
    lengths = ends - dataset.episode_onset.values
    for number, contact in enumerate(content.contacts):
        own = peaks[of == number]
        if contact.impact is not None or (largest := own.max(initial=0.0)) <= NOTHING:
            continue
        if sampled[number] < (1 - MISSED) * largest:
            shortest = lengths[of == number][own > MISSED * largest].min()
            words = _in_words(f"contact {contact.name}", sampled[number], largest, "normal force", "N")
            yield words, min(shortest / SAMPLES, step / 2)


def _missed_elements(dataset: Dataset, content: Any, step: float) -> Iterator[tuple[str, float]]:  # noqa: ANN401, of its motion
    """Yield the same of each element between two bodies, with an interval (s) to try."""
    if "element_peak_force" not in dataset:
        return
    peaks = dataset.element_peak_force.values
    sampled = np.linalg.norm(dataset.element_force.values, axis=2).max(axis=0)
    least = max(NOTHING, ROUNDING * peaks.max(initial=0.0))
    for (name, _), found, largest in zip(named_elements(dataset, content), sampled, peaks, strict=True):
        if largest > least and found < (1 - MISSED) * largest:
            yield _in_words(name, found, largest, "force", "N"), step / CLOSER


def _missed_ports(dataset: Dataset, content: Any, step: float) -> Iterator[tuple[str, float]]:  # noqa: ANN401, of its motion
    """Yield the same of each part of the load at a port."""
    rows = [str(name) for name in dataset.port.values] if "interface_tension" in dataset else []
    for one in ports_of(dataset, content):
        name = one.name.removeprefix("port ").replace(".", " ", 1)
        if one.axis is None or name not in rows:
            continue
        parts = {part: dataset[f"interface_{part}"] for part in port_parts(one)}
        sizes = {part: (float(known.values[rows.index(name)]), known.attrs["units"]) for part, known in parts.items()}
        force = max(size for size, unit in sizes.values() if unit == "N")
        for part, values in port_parts(one).items():
            (largest, unit), found = sizes[part], max(float(values.max()), 0.0)
            beside = max(size for size, measure in sizes.values() if measure == unit)
            least = max(2 * NOTHING, ROUNDING * force, SMALL * beside)  # twice, as loads of ports are smoothed by it
            if largest > least and found < (1 - MISSED) * largest:
                yield _in_words(one.name, found, largest, part.replace("_", " "), unit), step / CLOSER


def _in_words(name: str, found: float, largest: float, what: str, unit: str) -> str:
    sampled, known = format_significant(found), format_significant(largest)
    return f"{name}: its samples reach {sampled} {unit}, but its largest {what} is {known} {unit}"
