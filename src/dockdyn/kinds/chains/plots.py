"""Figures of two chains of masses: relative velocity with its prediction, velocities of the masses, travel into a latch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dockdyn.report.drawing import COLOURS, DASHES, SERIES, legend, styled, time_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def relative_velocity(dataset: xr.Dataset) -> Figure:
    """Relative velocity of the centres of mass, with what effective masses predict after each impact."""
    figure, (ax,) = time_figure(dataset, [2.4], 4)
    relative = dataset.system_velocity[:, 0] - dataset.system_velocity[:, 1]
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    ax.plot(dataset.time, relative, color=COLOURS["blue"], label="simulated")
    release = dataset.episode_release.values
    known = np.isfinite(release)
    style = {"linestyle": "none", "markersize": 5}
    ax.plot(release[known], dataset.episode_relative_after.values[known], "o", color=COLOURS["ink"], **style)
    ax.lines[-1].set_label("after an impact, simulated")
    ax.plot(release, dataset.episode_relative_predicted, "x", color=COLOURS["orange"], markeredgewidth=1.5, **style)
    ax.lines[-1].set_label("after an impact, predicted by effective masses")
    ax.set_ylabel("relative velocity, m/s")
    legend(figure, ax)
    return figure


@styled
def velocities(dataset: xr.Dataset) -> Figure:
    """Velocities of all masses and, where there are more than two, of the centres of mass."""
    single = dataset.sizes["mass"] == 2
    figure, axes = time_figure(dataset, [1.9] if single else [1.7, 1.7], dataset.sizes["mass"])
    lines(axes[0], dataset, "velocity", ["chaser", "target"] if single else list(dataset.mass.values))
    axes[0].set_ylabel("velocity, m/s")
    if not single:
        lines(axes[1], dataset, "system_velocity", [], "ink")
        axes[1].set_ylabel("centres of mass, m/s")
        for side, system in enumerate(("chaser", "target")):
            last = float(dataset.system_velocity[-1, side])
            place = (float(dataset.time[-1]), last)
            axes[1].annotate(system, place, (-4, 4), textcoords="offset points", ha="right", fontsize=8)
    legend(figure, axes[0])
    return figure


def lines(ax: Axes, dataset: xr.Dataset, name: str, labels: list[str], colour: str | None = None) -> None:
    """One line for each mass or system."""
    for index in range(dataset[name].shape[1]):
        shade = SERIES[index % len(SERIES)] if colour is None else COLOURS[colour]
        words = labels[index] if labels else None
        ax.plot(dataset.time, dataset[name][:, index], color=shade, linestyle=DASHES[index % len(DASHES)], label=words)


@styled
def forces(dataset: xr.Dataset) -> Figure:
    """Force between the masses that meet, peaks marked, and the springs inside."""
    inside = dataset.sizes["spring"]
    figure, axes = time_figure(dataset, [1.7, 1.5] if inside else [1.9], max(inside, 1) + 1)
    axes[0].plot(dataset.time, dataset.normal_force[:, 0], color=COLOURS["ink"], label="between the masses that meet")
    axes[0].plot(dataset.episode_peak_time, dataset.episode_peak_force, "o", color=COLOURS["ink"], markersize=3.5)
    axes[0].set_ylabel("force, N")
    for index, name in enumerate(dataset.spring.values):
        style = {"color": SERIES[index], "linestyle": DASHES[index]}
        axes[1].plot(dataset.time, dataset.internal_force[:, index], **style)
        axes[0].plot([], [], label=f"inside the {name}", **style)
    if inside:
        axes[1].axhline(0, color=COLOURS["muted"], linewidth=0.6)
        axes[1].set_ylabel("inside, N")
    legend(figure, axes[0])
    return figure


@styled
def latch_travel(dataset: xr.Dataset) -> Figure:
    """Travel of the probe into the latch beside the travel that latches."""
    figure, (ax,) = time_figure(dataset, [2.1], 3)
    length = float(dataset.latch_length) * 1e3
    ax.plot(dataset.time, dataset.depth[:, 0] * 1e3, color=COLOURS["blue"], label="travel of the probe")
    ax.axhline(length, color=COLOURS["green"], linestyle=DASHES[1], label="the latch falls in")
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    caught = float(dataset.capture_time)
    if np.isfinite(caught):
        ax.plot(caught, length, "o", color=COLOURS["ink"], markersize=5, label="captured")
    ax.set_ylim(max(float(dataset.depth.min()) * 1e3, -1.2 * length), 1.25 * length)
    ax.set_ylabel("travel, mm")
    legend(figure, ax)
    return figure
