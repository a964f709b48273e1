"""Runs drawn over each other, and a measured log over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.records import record
from dockdyn.report.charts.chart import ZERO, Band, Chart, Line, Panel, Scale, contact_window, line_style
from dockdyn.report.charts.time_chart import TIME, contact_bands, lively_spans
from dockdyn.report.drawing import short_label
from dockdyn.report.report import Plot
from dockdyn.results.exchange.columns import NUMBER
from dockdyn.results.exchange.measured_log import MeasuredLog, difference_to_log, run_columns
from dockdyn.results.measures import conserved_momentum, momentum_departure
from dockdyn.rig.measures import find_touching_times, vector_size

PANELS = 6  # in one figure
Runs = Mapping[str, Dataset]  # by what the legend calls them
SHORT = 0.1  # m or m/s, below which figures of a log have thousandths
Lines = dict[str, np.ndarray]  # a panel each, by the label of its vertical axis


@record
class Quantity:
    """Something that runs have over time, drawn for all of them in the same panels."""

    name: str
    words: str  # what it is, for the caption
    of: Callable[[Dataset], Lines]  # nothing where a run does not have it
    logarithmic: bool = False
    close: bool = False  # with a panel about zero, close up


def _of_variable(
    name: str, label: str, reduce: Callable[[np.ndarray], np.ndarray], scale: float, dataset: Dataset
) -> Lines:
    """Return one line from a variable; `reduce` makes it from (samples, columns)."""
    if name not in dataset or not dataset[name].size:
        return {}
    return {label: scale * reduce(dataset[name].values.reshape(dataset.sizes["time"], -1))}


def _joint_angles(dataset: Dataset) -> Lines:
    """Return a line for each of the first joints, in degrees where it turns."""
    if "joint_angle" not in dataset:
        return {}
    units = dataset.joint_unit.values
    return {
        f"{short_label(str(joint), 12)}, {'deg' if units[index] == 'rad' else 'm'}": dataset.joint_angle.values[
            :, index
        ]
        * (np.degrees(1.0) if units[index] == "rad" else 1.0)
        for index, joint in enumerate(dataset.joint.values[:PANELS])
    }


def _relative_velocity(dataset: Dataset) -> Lines:
    if "system_velocity" not in dataset:
        return {}
    return {"velocity, m/s": dataset.system_velocity.values[:, 0] - dataset.system_velocity.values[:, 1]}


def _rig_error(dataset: Dataset) -> Lines:
    """Return what the rig adds to the velocity of its model; in space its size."""
    if "ideal_velocity" not in dataset:
        return {}
    return {"velocity, mm/s": 1e3 * size_or_component((dataset.velocity - dataset.ideal_velocity).values)}


def _chaser_rotation(dataset: Dataset) -> Lines:
    if "rotation" not in dataset or "chaser" not in dataset.body.values:
        return {}
    return {"rotation, deg": np.degrees(vector_size(dataset.rotation.sel(body="chaser").values))}


def _momentum_errors(dataset: Dataset) -> Lines:
    """Return the departure of each momentum that should be kept, relative to its scale."""
    found = {}
    for name in ("linear", "angular"):
        if f"{name}_momentum_scale" in dataset:
            off = momentum_departure(conserved_momentum(dataset, name))
            off = off / (float(dataset[f"{name}_momentum_scale"].max()) or 1.0)
            if np.any(off > 0):
                found[f"{name} momentum"] = np.where(off > 0, off, np.nan)
    return found


def size_or_component(values: np.ndarray) -> np.ndarray:
    """Return it with its sign where there is one component, else its size."""
    return values[:, 0] if values.shape[1] == 1 else vector_size(values)


QUANTITIES = (
    Quantity(
        "normal-force",
        "Normal force of all contacts together.",
        partial(_of_variable, "normal_force", "force, N", lambda values: values.sum(axis=1), 1.0),
    ),
    Quantity(
        "rig-force",
        "Force on the model of the rig.",
        partial(_of_variable, "total_force", "force, N", size_or_component, 1.0),
    ),
    Quantity("rig-velocity-error", "Velocity on the rig less that without rig: zero is right.", _rig_error),
    Quantity("gain", "Gain of the compensator.", partial(_of_variable, "gain", "gain, N s/m", size_or_component, 1.0)),
    Quantity(
        "depth",
        "Depth of the deepest contact, negative while apart.",
        partial(_of_variable, "depth", "depth, mm", lambda values: values.max(axis=1), 1e3),
        close=True,
    ),
    Quantity(
        "kinetic-energy",
        "Kinetic energy.",
        partial(_of_variable, "kinetic_energy", "energy, J", size_or_component, 1.0),
    ),
    Quantity(
        "distance",
        "Distance of the nearest point from a surface.",
        partial(_of_variable, "gap", "distance, mm", lambda values: values.min(axis=1), 1e3),
    ),
    Quantity(
        "latch-travel",
        "Travel of the tip into the latch.",
        partial(_of_variable, "latch_travel", "travel, mm", size_or_component, 1e3),
    ),
    Quantity("relative-velocity", "Relative velocity of the centres of mass.", _relative_velocity),
    Quantity("joints", "Joint angles and travels.", _joint_angles),
    Quantity(
        "deflection",
        "Largest deflection of the flexible links’ ends.",
        partial(_of_variable, "tip_deflection", "deflection, mm", lambda values: values.max(axis=1), 1e3),
    ),
    Quantity("chaser-rotation", "How far the chaser has turned since t = 0.", _chaser_rotation),
    Quantity(
        "station",
        "Attitude of the station.",
        partial(_of_variable, "theta", "angle, deg", size_or_component, float(np.degrees(1.0))),
    ),
    Quantity(
        "momentum-errors",
        "Relative errors of momentum: both should stay near round-off.",
        _momentum_errors,
        logarithmic=True,
    ),
)


def overlay_figures(runs: Runs) -> list[Plot]:
    """Return a figure for every quantity that at least one run has, all runs in it; what is zero throughout is left out.

    The caption of the first says whose contacts are shaded.
    """
    found: list[Plot] = []
    name, first = next(iter(runs.items()))
    shaded = f" Shaded: contacts of {name}." if first.sizes.get("episode") else ""
    for quantity in QUANTITIES:
        lines = {label: quantity.of(dataset) for label, dataset in runs.items()}
        if any(np.nanmax(np.abs(values), initial=0) > 0 for each in lines.values() for values in each.values()):
            words = quantity.words if found else f"{quantity.words}{shaded}"
            found.append(Plot(quantity.name, partial(_quantity_figure, quantity, runs, lines), words))
    return found


def _overlay_chart(panels: list[Panel], runs: Runs, start: float, end: float) -> Chart:
    """Return panels over the time of the runs, the contacts of the first shaded; they open where any of them touches."""
    height = 2.1 if len(panels) == 1 else 1.5
    first, longest = next(iter(runs.values())), max(runs.values(), key=lambda dataset: float(dataset.time[-1]))
    bands: list[Band] = contact_bands(first) if "episode_onset" in first else []
    window = contact_window(
        longest.time.values, [time for dataset in runs.values() for time in _contact_times(dataset)]
    )
    drawn = [replace(panel, height=height, bands=bands) for panel in panels]
    return Chart(drawn, whole=(start, end or 1.0), window=window, over=TIME, events=True)


def _contact_times(dataset: Dataset) -> np.ndarray:
    """Return times (s) between which a run touches."""
    return lively_spans(dataset).ravel() if "episode_onset" in dataset else find_touching_times(dataset)


def _quantity_figure(quantity: Quantity, runs: Runs, lines: dict[str, Lines]) -> Chart:
    """Return one quantity of all runs."""
    labels = list(dict.fromkeys(label for each in lines.values() for label in each))[:PANELS]
    scale: Scale = "log" if quantity.logarithmic else "linear"
    panels = []
    for label in labels:
        drawn = [
            Line(runs[name].time, lines[name][label], name=short_label(name), **line_style(place))
            for place, name in enumerate(runs)
            if label in lines[name]
        ]
        levels = [] if quantity.logarithmic or not _crosses_zero(drawn) else [ZERO]
        panels.append(Panel(label, drawn, scale=scale, levels=levels))
    deepest = max((float(np.nanmax(each[labels[0]])) for each in lines.values() if labels[0] in each), default=0.0)
    if quantity.close and deepest > 0:
        panels.append(replace(panels[0], label="close up, mm", limits=(-0.2 * deepest, 1.12 * deepest)))
    return _overlay_chart(panels, runs, 0.0, max(float(dataset.time[-1]) for dataset in runs.values()))


def _crosses_zero(lines: Sequence[Line]) -> bool:
    values = np.concatenate([np.ravel(line.y) for line in lines])
    return bool(np.nanmin(values) <= 0 <= np.nanmax(values))


def figures_of_log(runs: Runs, log: MeasuredLog) -> list[Plot]:
    """Return a figure for each variable of the log, its columns in panels."""
    found: list[Plot] = []
    by_variable: dict[str, list[str]] = {}
    for name in log.columns:
        by_variable.setdefault(name.split(".")[0], []).append(name)
    for variable, names in by_variable.items():
        for first in range(0, len(names), PANELS):
            shown = names[first : first + PANELS]
            words = f"Measured (dots, {log.file}) and simulated: {', '.join(shown)}."
            found.append(Plot(f"measured-{variable}", partial(_measured_figure, runs, log, shown), words))
    return found


def _measured_figure(runs: Runs, log: MeasuredLog, names: Sequence[str]) -> Chart:
    """Return columns of a log as dots under the same columns of the runs, each in a panel; of a single one what is left,
    too."""
    alone, panels = len(names) == 1, []
    for name in names:
        found = {label: columns[name] for label, dataset in runs.items() if name in (columns := run_columns(dataset))}
        every = np.concatenate([log.columns[name], *(one.values for one in found.values())])
        unit, scale = _readable_unit(
            next((one.unit for one in found.values()), NUMBER), float(np.nanmax(np.abs(every)))
        )
        drawn = [Line(log.time, scale * log.columns[name], "ink", "measured", marker=".", size=2.5, joined=False)]
        rest: list[Line] = []
        for place, (label, dataset) in enumerate(runs.items()):
            if label not in found:
                continue
            drawn.append(Line(dataset.time, scale * found[label].values, name=short_label(label), **line_style(place)))
            if alone:
                time, values = difference_to_log(dataset, log, name)
                rest.append(Line(time, scale * values, name=short_label(label), width=0.8, **line_style(place)))
        words = name if alone or len(name) < 18 else name.split(".", 1)[-1]
        panels.append(Panel(f"{short_label(words, 24)}{unit}", drawn))
        if alone:
            panels.append(Panel(f"less measured{unit}", rest, levels=[ZERO]))
    ends = [float(dataset.time[-1]) for dataset in runs.values()]
    return _overlay_chart(panels, runs, min(0.0, float(log.time[0])), max(*ends, float(log.time[-1])))


def _readable_unit(unit: str, largest: float) -> tuple[str, float]:
    """Return a unit behind a label, and what takes numbers to it: of lengths that are short (m) their thousandths."""
    if unit in ("m", "m/s") and largest < SHORT:
        return f", m{unit}", 1e3
    return "" if unit == NUMBER else f", {unit}", 1.0
