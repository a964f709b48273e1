"""Charts over time of runs with contacts: depth, force, energy, momentum errors, attitude and loads, from a result alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.charts.chart import (
    ZERO,
    Band,
    Chart,
    Limits,
    Line,
    Note,
    Panel,
    Source,
    lines_of,
    symmetric_log_scale,
)
from dockdyn.report.charts.time_chart import time_chart
from dockdyn.report.drawing import contact_spans, pair_labels, short_label
from dockdyn.report.wording import format_significant
from dockdyn.results.measures import (
    conserved_momentum,
    describe_work_sources,
    from_outside,
    given_by_contacts,
    given_terms,
    momentum_departure,
    stores_inside,
    work_since_start,
)
from dockdyn.results.requirements import is_rounding

MANY = 12  # contacts above which only the largest peak is named
APART = 0.05  # share of what is shown, by which named peaks are apart
BESIDE = 0.2  # of that: where a line is looked at beside a peak
PEAKS = Source(contacts=("peak_time", "peak_force"))
AFTER = Source(contacts=("settled", "energy"))  # release, and the delay after it
WORK = Source([("work", 0, 1.0)], since_start=True)
LOADS = {"load_force": "force, N", "load_moment": "moment, N m"}
FEW = 60  # samples of a contact below which each is marked


def depth_chart(dataset: Dataset) -> Chart:
    """Return the depth (negative is separation) over the whole run, and penetration close up."""
    names, values, time = pair_labels(dataset), dataset.depth.values, dataset.time.values
    deepest = float(values.max()) * 1e3  # mm
    scale = symmetric_log_scale(values, float(np.nanmedian(np.abs(values))))
    lines = lines_of(time, values, names, of="depth")
    panels = [Panel("penetration depth, m", lines, levels=[ZERO], scale=scale)]
    if deepest > 0:
        limits = -0.2 * deepest, 1.12 * deepest
        near = lines_of(time, 1e3 * values, names, of="depth", factor=1e3)
        panels.append(Panel("close up, mm", near, levels=[ZERO], limits=limits))
    return time_chart(dataset, panels)


def normal_force(dataset: Dataset) -> Chart:
    """Return the normal force where it is generated, peaks marked."""
    names, values, time = pair_labels(dataset), dataset.normal_force.values, dataset.time.values
    peaks, times = dataset.episode_peak_force.values, dataset.episode_peak_time.values
    scale = symmetric_log_scale(peaks, float(peaks[0]))
    pressed = np.isfinite(times)  # what an impact law parts at once has no force, nor a time of it
    peaks, times = peaks[pressed], times[pressed]
    largest = max(
        float(peaks.max(initial=0.0)), float(np.nanmax(values))
    )  # where it is captured, the seat presses, too
    limits = (0.0 if values.min() >= 0 else None, 1.17 * largest or 1.0) if scale == "linear" else (None, None)
    lines = [
        *lines_of(time, values, names, of="normal_force"),
        Line(times, peaks, "ink", "peak of a contact", marker="o", joined=False, source=PEAKS),
    ]
    if np.isfinite(held := float(dataset.get("seated_contact_peak_time", np.nan))):
        seat = float(dataset.seated_contact_peak_force)
        lines.append(Line([held], [seat], "ink", "peak while held", marker="s", joined=False))
        peaks, times = np.append(peaks, seat), np.append(times, held)
    panel = Panel("normal force, N", lines, height=1.9, limits=limits, scale=scale)
    whole = time_chart(dataset, [panel])
    return time_chart(dataset, [_with_notes(panel, times, peaks, whole.across(panel)[0])])


def _with_notes(panel: Panel, times: np.ndarray, peaks: np.ndarray, window: Limits) -> Panel:
    """Return the peaks in numbers, from the largest down, where there is room in a window.

    They are located between samples, so that one can lie above the line. Words stand before a place from which it rises
    on, as where a capture ends a contact.
    """
    room = APART * (window[1] - window[0])
    joined = [(np.asarray(line.x, float), np.asarray(line.y, float)) for line in panel.lines if line.joined]
    beyond = np.max([np.interp(times + BESIDE * room, x, y) for x, y in joined], axis=0)
    named: list[int] = []
    for index in np.argsort(-peaks)[: len(peaks) if len(peaks) <= MANY else 1]:
        if all(abs(times[index] - times[other]) > room for other in named):
            named.append(int(index))
    notes = [
        Note(
            float(times[index]),
            float(peaks[index]),
            format_significant(peaks[index], 3),
            side="right" if times[index] > window[1] - room or beyond[index] > peaks[index] else "center",
        )
        for index in named
    ]
    return replace(panel, notes=notes)


def close_up_samples(dataset: Dataset) -> int:
    """Return how many samples fall into the contact with the largest force."""
    onset, release = contact_spans(dataset)[int(np.argmax(dataset.episode_peak_force.values))]
    return dataset.sel(time=slice(onset, release)).sizes["time"]


def largest_contact(dataset: Dataset) -> Chart:
    """Return the contact with the largest force close up: over time as generated and as it acts, and over depth."""
    index = int(np.argmax(dataset.episode_peak_force.values))
    pair = int(dataset.episode_contact[index])
    onset, release = contact_spans(dataset)[index]
    end = release + float(dataset.attrs["delay_s"])
    margin = 0.08 * (end - onset)
    seen = dataset.isel(contact=pair).sel(time=slice(onset - margin, end + margin))
    touching = seen.sel(time=slice(onset, release))
    mark = "." if touching.sizes["time"] < FEW else ""
    generated = "normal force, where generated"
    acting = np.linalg.norm(seen.contact_force.values, axis=-1)
    words = f"contact force with friction, as it acts{' after the delay' if dataset.attrs['delay_s'] else ''}"
    over_time = [
        Line(seen.time, seen.normal_force, name=generated, marker=mark),
        Line(seen.time, acting, "orange", words, dash=1),
    ]
    over_depth = [Line(touching.depth * 1e3, touching.normal_force, name=generated, marker=mark)]
    contact = [Band(float(onset), float(release), f"Q{index + 1}")]
    time = Panel("force, N", over_time, 2.1, bands=contact)
    stroke = Panel("normal force, N", over_depth, 2.1, across="penetration depth, mm")
    return Chart([time, stroke], columns=2, events=True)


def energy_chart(dataset: Dataset) -> Chart:
    """Return the change of energy, less work from outside, and work of contacts and all else inside, with that after each
    contact."""
    change, time = given_by_contacts(dataset), dataset.time.values
    worked = from_outside(dataset)
    changed = "change of energy" if stores_inside(dataset) else "change of kinetic energy"
    words = f"change less work of {worked}" if worked else changed
    given = [(name, 0, sign) for name, sign in given_terms(dataset)]
    settled = dataset.episode_release.values + float(dataset.attrs["delay_s"])
    lines = [  # the first two should lie on each other: a wide one under a thin one shows both
        Line(time, change, "sky", words, width=3.2, source=Source(given, since_start=True)),
        Line(
            time, work_since_start(dataset), "ink", f"work of {describe_work_sources(dataset)}", width=0.9, source=WORK
        ),
        Line(
            settled, dataset.episode_energy, "orange", "after a contact", marker="o", size=5, joined=False, source=AFTER
        ),
    ]
    scale = symmetric_log_scale(change.values, float(dataset.kinetic_energy[0]))
    return time_chart(dataset, [Panel("energy, J", lines, height=2.2, levels=[ZERO], scale=scale)])


def momentum_errors(dataset: Dataset) -> Chart:
    """Return the change of linear and angular momentum since the start, impulses from outside left out, relative to the bodies'
    own."""
    lines, largest = [], 0.0
    for name, look in (("linear", {"colour": "blue"}), ("angular", {"colour": "orange", "dash": 1})):
        drift = momentum_departure(conserved_momentum(dataset, name))
        scale = float(dataset[f"{name}_momentum_scale"].max())
        drift = drift / scale if scale > 0 else drift
        largest = max(largest, float(drift.max()))
        values = np.where(drift > 0, drift, np.nan)
        lines.append(Line(dataset.time, values, name=f"{name} momentum", **look))
    limits = 1e-18, max(10 * largest, 1e-9)
    exact = "no change at all: both are exactly kept"
    notes = [] if largest else [Note(float(dataset.time[-1]) / 2, 1e-14, exact)]
    return time_chart(dataset, [Panel("relative error", lines, height=1.7, limits=limits, scale="log", notes=notes)])


def attitude_chart(dataset: Dataset) -> Chart:
    """Return the rotation vector of each body since the start, in degrees, in body axes."""
    panels = []
    for number, body in enumerate(map(str, dataset.body.values)):
        turned = np.degrees(dataset.rotation.sel(body=body).values)
        lines = component_lines(
            dataset.time.values, turned, wrap=180.0, of="rotation", number=number, factor=np.degrees(1.0)
        )
        panels.append(Panel(f"{body}, deg", lines, height=1.4))
    return time_chart(dataset, panels)


def load_chart(dataset: Dataset, points: Sequence[int] | None = None) -> Chart:
    """Return the force and moment of the contacts at named points (all of them when not given), in the axes of their bodies.

    All points have the same scale of force, and the same of moment: they can be compared. Of what rounding leaves alone there
    are no panels.
    """
    chosen = list(range(dataset.sizes["point"]) if points is None else points)
    first = float(dataset.episode_peak_force[0]) if dataset.sizes["episode"] else 0.0  # N
    panels = []
    time = dataset.time.values
    columns = {name: dataset[name].values[:, chosen] for name in ("load_force", "load_moment")}
    scales = {name: symmetric_log_scale(values, first) for name, values in columns.items()}
    most = {name: float(np.nanmax(np.abs(values))) for name, values in columns.items()}
    reach = {name: 1.1 * largest or 1.0 for name, largest in most.items()}
    told = {name: label for name, label in LOADS.items() if not is_rounding(most[name], max(most.values()))}
    for place, index in enumerate(chosen):
        for name, label in told.items():
            lines = component_lines(time, columns[name][:, place], of=name, number=index)
            limits, title = (-reach[name], reach[name]), short_label(str(dataset.point.values[index]))
            panels.append(Panel(label, lines, 1.2, title=title, limits=limits, scale=scales[name]))
    return time_chart(dataset, panels, columns=len(told))


def component_lines(
    time: np.ndarray,
    values: np.ndarray,
    wrap: float = np.inf,
    *,
    of: str = "",
    number: int = 0,
    factor: float = 1.0,
) -> list[Line]:
    """Return three components (samples, 3); the lines are broken where the vector wraps around.

    They are so many times those of the vector with this `number` in the variable `of`, where one is named.
    """
    jumps = np.flatnonzero(np.linalg.norm(np.diff(values, axis=0), axis=1) > wrap)
    broken = values.copy()
    broken[jumps] = np.nan
    return lines_of(time, broken, ["x", "y", "z"], of=of, at=range(3 * number, 3 * number + 3), factor=factor)
