"""Figures of an arm in orbit over time: joints, station, gaps, errors, torques, Newton's iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.kinds.orbital_arm.summary import STRUCK, balance
from dockdyn.report.drawing import (
    COLOURS,
    DASHES,
    SERIES,
    align_label,
    arrange,
    legend,
    lines,
    power_of_ten,
    short,
    styled,
)
from dockdyn.results.measures import departure, kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEAR = 0.02  # of the largest distance, that a close-up shows at least
SMALL = 0.1  # deg: angles below are drawn in thousandths


def _panels(dataset: xr.Dataset, heights: list[float], entries: int = 0) -> tuple[Figure, Any]:
    """Panels over the time of a run, one above the other; lines at the latch and the release, ticks at impacts."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    arrange(figure, heights, entries)
    end = float(dataset.time[-1])
    for ax in axes:
        for what, words in (("latch", "latched"), ("release", "released")):
            for time in dataset.event_time.values[dataset.what.values == what]:
                ax.axvline(time, color=COLOURS["muted"], linewidth=0.8, linestyle=(0, (3, 2)))
                if ax is axes[0]:
                    place = {"transform": ax.get_xaxis_transform(), "ha": "right" if what == "latch" else "left"}
                    ax.text(time, 1.02, words, fontsize=8, color=COLOURS["muted"], **place)
        for time in dataset.event_time.values[np.isin(dataset.what.values, STRUCK)]:
            ax.axvline(time, ymax=0.05, color=COLOURS["orange"], linewidth=0.9)
        align_label(ax)
        ax.set_xlim(0, end if end > 0 else 1)
    axes[-1].set_xlabel("time, s")
    return figure, axes


def _zero(ax: Axes) -> None:
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)


@styled
def joints(dataset: xr.Dataset, unit: str = "rad") -> Figure:
    """Angles and rates of revolute joints, or travel and speeds of prismatic ones (`unit` m), set-points dotted."""
    turning = unit == "rad"
    scale, words = (np.degrees(1.0), ("angle, deg", "rate, deg/s")) if turning else (1.0, ("travel, m", "speed, m/s"))
    chosen = dataset.isel(joint=dataset.joint_unit.values == unit)
    names = [short(str(name)) for name in chosen.joint.values]
    controlled = dataset.attrs["control"] != "none"
    figure, axes = _panels(dataset, [2.4, 1.5], len(names) + controlled)
    for index, name in enumerate(names):
        colour = SERIES[index % len(SERIES)]
        axes[0].plot(dataset.time, scale * chosen.joint_angle[:, index], color=colour, label=name)
        axes[1].plot(dataset.time, scale * chosen.joint_rate[:, index], color=colour)
        if controlled:
            style: Any = {"color": colour, "linestyle": DASHES[2], "linewidth": 0.9}
            axes[0].plot(dataset.time, scale * chosen.set_point[:, index], **style)
    if controlled:
        axes[0].plot([], [], color=COLOURS["muted"], linestyle=DASHES[2], linewidth=0.9, label="set-points")
    for ax, label in zip(axes, words, strict=True):
        ax.set_ylabel(label)
    _zero(axes[1])
    legend(figure, axes[0])
    return figure


@styled
def station(dataset: xr.Dataset) -> Figure:
    """How far the station has turned against the orbital frame."""
    planar = "theta" in dataset
    turned = np.degrees(dataset["theta" if planar else "attitude_error_orbit"].values)
    small = np.abs(turned).max() < SMALL
    figure, (ax,) = _panels(dataset, [1.7])
    ax.plot(dataset.time, turned * (1e3 if small else 1), color=COLOURS["blue"])
    _zero(ax)
    ax.set_ylabel(f"{'θ' if planar else 'turned'}, {'10⁻³ ' if small else ''}deg")
    return figure


def _nearest_by_surface(dataset: xr.Dataset) -> dict[str, np.ndarray]:
    """Least distance (m) of any point from each surface, over time."""
    surfaces = [str(name).partition("/")[2] for name in dataset.contact.values]
    return {
        name: dataset.gap.values[:, [other == name for other in surfaces]].min(axis=1)
        for name in dict.fromkeys(surfaces)
    }


@styled
def gaps(dataset: xr.Dataset) -> Figure:
    """Distances from the surfaces, close up between the first impact and the last, and impulses of the impacts."""
    found = _nearest_by_surface(dataset)
    rows = np.isin(dataset.what.values, STRUCK)
    struck = dataset.isel(event=rows)
    figure, axes = _panels(dataset, [1.7, 1.5, 1.3] if rows.any() else [1.9], len(found))
    for ax, scale in zip(axes[:2], (1.0, 1e3), strict=False):
        values = np.stack(list(found.values()), axis=1)
        lines(ax, dataset.time, scale * values, [short(name) for name in found])
        _zero(ax)
    axes[0].set_ylabel("distance, m")
    if rows.any():
        times = struck.event_time.values
        between = values[(dataset.time.values >= times[0]) & (dataset.time.values <= times[-1])]
        size = 1e3 * max([*between.min(axis=1), NEAR * float(values.max())])
        surfaces = [
            list(found).index(str(dataset.contact.values[int(c)]).partition("/")[2]) for c in struck.event_contact
        ]
        axes[1].plot(times, np.zeros(len(times)), "^", color=COLOURS["ink"], markersize=4, clip_on=False)
        axes[1].set(ylim=(-0.1 * size, 1.5 * size), ylabel="close up, mm")
        for time, impulse, surface in zip(times, struck.impulse_normal.values, surfaces, strict=True):
            colour = SERIES[surface % len(SERIES)]
            axes[2].vlines(time, 0, impulse, color=colour, linewidth=1)
            axes[2].plot(time, impulse, "o", color=colour, markersize=3.5, clip_on=False)
        axes[2].set_ylim(bottom=0)
        axes[2].set_ylabel("impulse, N s")
    legend(figure, axes[0])
    return figure


@styled
def errors(dataset: xr.Dataset) -> Figure:
    """Energy of motion, and what should stay as it was: energy and the momenta, relative to their scales."""
    from matplotlib.ticker import FuncFormatter

    figure, axes = _panels(dataset, [1.4, 1.9], 3)
    change = (dataset.kinetic_energy - dataset.kinetic_energy[0]).values
    axes[0].plot(dataset.time, change, color=COLOURS["ink"])
    axes[0].set_ylabel("change, J")
    found = {}
    if dataset.attrs["conservative"]:
        found["energy"] = balance(dataset) / (float(dataset.kinetic_energy.max()) or 1.0)
    for name in ("linear", "angular"):
        scale = float(dataset[f"{name}_momentum_scale"].max())
        found[f"{name} momentum"] = departure(kept(dataset, name)) / (scale or 1.0)
    for index, (name, values) in enumerate(found.items()):
        sizes = np.where(values == 0, np.nan, np.abs(values))
        axes[1].semilogy(dataset.time, sizes, color=SERIES[index], linestyle=DASHES[index], linewidth=0.9, label=name)
    axes[1].yaxis.set_major_formatter(FuncFormatter(power_of_ten))
    axes[1].yaxis.minorticks_off()
    axes[1].set_ylabel("relative error")
    legend(figure, axes[1])
    return figure


@styled
def torques(dataset: xr.Dataset, unit: str = "rad") -> Figure:
    """Torques of control on revolute joints, or forces on prismatic ones (`unit` m)."""
    chosen = dataset.isel(joint=dataset.joint_unit.values == unit)
    names = [short(str(name)) for name in chosen.joint.values]
    figure, (ax,) = _panels(dataset, [1.9], len(names))
    lines(ax, dataset.time, chosen.torque.values, names)
    _zero(ax)
    ax.set_ylabel("torque, N m" if unit == "rad" else "force, N")
    legend(figure, ax)
    return figure


@styled
def iterations(dataset: xr.Dataset) -> Figure:
    """Newton's corrections in the steps that end at samples."""
    figure, (ax,) = _panels(dataset, [1.2])
    ax.plot(dataset.time[1:], dataset.newton_iterations[1:], ".", color=COLOURS["blue"], markersize=2)
    ax.set_ylim(bottom=0)
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.set_ylabel("corrections")
    return figure
