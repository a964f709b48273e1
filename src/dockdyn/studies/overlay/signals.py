"""Runs drawn over each other, and a measured log over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.kinds.rig.measures import size
from dockdyn.report.drawing import COLOURS, DASHES, SERIES, align_label, arrange, legend, power_of_ten, short, styled
from dockdyn.report.report import Plot
from dockdyn.results.columns import NUMBER
from dockdyn.results.measures import departure, kept
from dockdyn.studies.overlay.measured_log import MeasuredLog, left, run_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = 6  # in one figure
MOST = 4000  # points of a line
Runs = Mapping[str, xr.Dataset]  # by what the legend calls them
Lines = dict[str, np.ndarray]  # a panel each, by the label of its vertical axis


@dataclass(frozen=True)
class Quantity:
    """Something that runs have over time, drawn for all of them in the same panels."""

    words: str  # what it is, for the caption
    of: Callable[[xr.Dataset], Lines]  # nothing where a run does not have it
    logarithmic: bool = False
    close: bool = False  # with a panel about zero, close up


def _of_variable(
    name: str, label: str, reduce: Callable[[np.ndarray], np.ndarray], scale: float, dataset: xr.Dataset
) -> Lines:
    """One line from a variable; `reduce` makes it from (samples, columns)."""
    if name not in dataset or not dataset[name].size:
        return {}
    return {label: scale * reduce(dataset[name].values.reshape(dataset.sizes["time"], -1))}


def _joint_angles(dataset: xr.Dataset) -> Lines:
    """A line for each of the first joints, in degrees where it turns."""
    if "joint_angle" not in dataset:
        return {}
    units = dataset.joint_unit.values
    return {
        f"{short(str(joint), 12)}, {'deg' if units[index] == 'rad' else 'm'}": dataset.joint_angle.values[:, index]
        * (np.degrees(1.0) if units[index] == "rad" else 1.0)
        for index, joint in enumerate(dataset.joint.values[:PANELS])
    }


def _relative_velocity(dataset: xr.Dataset) -> Lines:
    if "system_velocity" not in dataset:
        return {}
    return {"velocity, m/s": dataset.system_velocity.values[:, 0] - dataset.system_velocity.values[:, 1]}


def _rig_error(dataset: xr.Dataset) -> Lines:
    """What the rig adds to the velocity of its model; in space its size."""
    if "ideal_velocity" not in dataset:
        return {}
    return {"velocity, mm/s": 1e3 * only((dataset.velocity - dataset.ideal_velocity).values)}


def _chaser_rotation(dataset: xr.Dataset) -> Lines:
    if "rotation" not in dataset:
        return {}
    return {"rotation, deg": np.degrees(size(dataset.rotation.sel(body="chaser").values))}


def _momentum_errors(dataset: xr.Dataset) -> Lines:
    """Departure of each momentum that should be kept, relative to its scale."""
    found = {}
    for name in ("linear", "angular"):
        if f"{name}_momentum_scale" in dataset:
            off = departure(kept(dataset, name))
            off = off / (float(dataset[f"{name}_momentum_scale"].max()) or 1.0)
            if np.any(off > 0):
                found[f"{name} momentum"] = np.where(off > 0, off, np.nan)
    return found


def only(values: np.ndarray) -> np.ndarray:
    """With its sign where there is one component, else its size."""
    return values[:, 0] if values.shape[1] == 1 else size(values)


QUANTITIES = (
    Quantity(
        "Normal force of all contacts together.",
        partial(_of_variable, "normal_force", "force, N", lambda values: values.sum(axis=1), 1.0),
    ),
    Quantity("Force on the model of the rig.", partial(_of_variable, "total_force", "force, N", only, 1.0)),
    Quantity("Velocity on the rig less that without rig: zero is right.", _rig_error),
    Quantity("Gain of the compensator.", partial(_of_variable, "gain", "gain, N s/m", only, 1.0)),
    Quantity(
        "Depth of the deepest contact, negative while apart.",
        partial(_of_variable, "depth", "depth, mm", lambda values: values.max(axis=1), 1e3),
        close=True,
    ),
    Quantity(
        "Distance of the nearest point from a surface.",
        partial(_of_variable, "gap", "distance, mm", lambda values: values.min(axis=1), 1e3),
    ),
    Quantity("Travel of the tip into the latch.", partial(_of_variable, "latch_travel", "travel, mm", only, 1e3)),
    Quantity("Relative velocity of the centres of mass.", _relative_velocity),
    Quantity("Joint angles and travels.", _joint_angles),
    Quantity(
        "Largest deflection of the flexible links’ ends.",
        partial(_of_variable, "tip_deflection", "deflection, mm", lambda values: values.max(axis=1), 1e3),
    ),
    Quantity("How far the chaser has turned since t = 0.", _chaser_rotation),
    Quantity("Attitude of the station.", partial(_of_variable, "theta", "angle, deg", only, float(np.degrees(1.0)))),
    Quantity("Kinetic energy.", partial(_of_variable, "kinetic_energy", "energy, J", only, 1.0)),
    Quantity("Relative errors of momentum: both should stay near round-off.", _momentum_errors, logarithmic=True),
)


def overlaid(runs: Runs) -> list[Plot]:
    """A figure for every quantity that at least one run has, all runs in it; what is zero throughout is left out."""
    found: list[Plot] = []
    for quantity in QUANTITIES:
        lines = {label: quantity.of(dataset) for label, dataset in runs.items()}
        if any(np.nanmax(np.abs(values), initial=0) > 0 for each in lines.values() for values in each.values()):
            found.append(Plot("quantity", partial(_quantity_figure, quantity, runs, lines), quantity.words))
    return found


def _styles(count: int) -> list[dict[str, Any]]:
    """A style for each run: all colours, then again with another dash."""
    return [
        {"color": SERIES[index % len(SERIES)], "linestyle": DASHES[(index + index // len(SERIES)) % len(DASHES)]}
        for index in range(count)
    ]


def _thin(values: np.ndarray) -> np.ndarray:
    return values[:: -(-len(values) // MOST) or 1]


def _panels(count: int, entries: int) -> tuple[Figure, np.ndarray]:
    """So many panels over time, one above the other."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    arrange(figure, [2.1 if count == 1 else 1.5] * count, max(entries, 2))
    for ax in axes:
        align_label(ax)
    axes[-1].set_xlabel("time, s")
    return figure, axes


@styled
def _quantity_figure(quantity: Quantity, runs: Runs, lines: dict[str, Lines]) -> Figure:
    """One quantity of all runs."""
    from matplotlib.ticker import FuncFormatter

    labels = list(dict.fromkeys(label for each in lines.values() for label in each))[:PANELS]
    deepest = max((float(np.nanmax(each[labels[0]])) for each in lines.values() if labels[0] in each), default=0.0)
    close = quantity.close and deepest > 0
    figure, axes = _panels(len(labels) + close, len(runs))
    for (name, dataset), style in zip(runs.items(), _styles(len(runs)), strict=True):
        for ax, label in zip(axes, labels + labels[:1] * close, strict=True):
            if label in lines[name]:
                ax.plot(_thin(dataset.time.values), _thin(lines[name][label]), label=short(name), **style)
            ax.set_ylabel(label)
    for ax in axes:
        if quantity.logarithmic:
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter(FuncFormatter(power_of_ten))
            ax.yaxis.minorticks_off()
        elif ax.get_ylim()[0] < 0 < ax.get_ylim()[1]:
            ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    if close:
        axes[-1].set(ylim=(-0.2 * deepest, 1.12 * deepest), ylabel="close up, mm")
    axes[0].set_xlim(0, max(float(dataset.time[-1]) for dataset in runs.values()) or 1)
    legend(figure, next(ax for ax in axes if ax.lines))
    return figure


def measured(runs: Runs, log: MeasuredLog) -> list[Plot]:
    """A figure for each variable of the log, its columns in panels."""
    found: list[Plot] = []
    by_variable: dict[str, list[str]] = {}
    for name in log.columns:
        by_variable.setdefault(name.split(".")[0], []).append(name)
    for names in by_variable.values():
        for first in range(0, len(names), PANELS):
            words = f"Measured (dots, {log.file}) and simulated: {', '.join(names[first : first + PANELS])}."
            found.append(Plot("measured", partial(_measured_figure, runs, log, names[first : first + PANELS]), words))
    return found


@styled
def _measured_figure(runs: Runs, log: MeasuredLog, names: Sequence[str]) -> Figure:
    """Columns of a log as dots under the same columns of the runs, each in a panel; of a single one what is left, too."""
    alone = len(names) == 1
    figure, axes = _panels(2 if alone else len(names), len(runs) + 1)
    for ax, name in zip(axes, names, strict=False):
        dots = {"color": COLOURS["ink"], "markersize": 2.5, "label": "measured"}
        ax.plot(_thin(log.time), _thin(log.columns[name]), ".", **dots)
        unit = ""
        for (label, dataset), style in zip(runs.items(), _styles(len(runs)), strict=True):
            column = run_columns(dataset).get(name)
            if column is None:
                continue
            unit = "" if column.unit == NUMBER else f", {column.unit}"
            ax.plot(_thin(dataset.time.values), _thin(column.values), label=short(label), **style)
            if alone:
                time, off = left(dataset, log, name)
                axes[1].plot(_thin(time), _thin(off), **(style | {"linewidth": 0.8}))
        words = name if alone or len(name) < 18 else name.split(".", 1)[-1]
        ax.set_ylabel(f"{short(words, 24)}{unit}")
        axes[-1].set_ylabel(f"less measured{unit}" if alone else axes[-1].get_ylabel())
    if alone:
        axes[1].axhline(0, color=COLOURS["muted"], linewidth=0.6)
    ends = [float(dataset.time[-1]) for dataset in runs.values()]
    axes[0].set_xlim(min(0.0, float(log.time[0])), max(*ends, float(log.time[-1])))
    legend(figure, axes[0])
    return figure
