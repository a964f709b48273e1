"""Figures of a run on a rig: with and without rig over time, their difference, the end, phase, gains, the way in space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.kinds.rig.judgement import gains_visited
from dockdyn.kinds.rig.measures import bounce, size
from dockdyn.report.drawing import COLOURS, DASHES, SERIES, align_label, arrange, legend, lines, styled, tame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 8000  # points of a line
SHOWN = 3  # oscillations at the end
AROUND = 0.35  # of a bounce's length, shown before and after it
IDEAL: dict[str, Any] = {"color": COLOURS["ink"], "linewidth": 1.0, "label": "without rig"}
RIG: dict[str, Any] = {"color": COLOURS["orange"], "linestyle": DASHES[1], "label": "rig"}


def _thinned(dataset: xr.Dataset) -> xr.Dataset:
    return dataset.isel(time=slice(None, None, -(-dataset.sizes["time"] // MOST)))


def _panels(heights: list[float], entries: int = 0) -> tuple[Figure, np.ndarray]:
    """Panels one above the other that share their horizontal axis."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    arrange(figure, heights, entries)
    for ax in axes:
        align_label(ax)
    return figure, axes


def _over(ax: Axes, dataset: xr.Dataset) -> None:
    ax.set_xlim(float(dataset.time[0]), float(dataset.time[-1]))
    ax.set_xlabel("time, s")


def _zero(ax: Axes) -> None:
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)


def seen(values: xr.DataArray) -> np.ndarray:
    """A force or velocity as it is drawn: with its sign along one direction, its size in space."""
    return values.values[:, 0] if values.shape[1] == 1 else size(values.values)


@styled
def beside(dataset: xr.Dataset, ideal: str, rig: str, label: str, scale: float = 1.0) -> Figure:
    """A quantity with and without rig, and their difference."""
    dataset = _thinned(dataset)
    true, shown = scale * dataset[ideal], scale * dataset[rig]
    figure, axes = _panels([2.0, 1.2], 2)
    axes[0].plot(dataset.time, seen(true), **IDEAL)
    axes[0].plot(dataset.time, seen(shown), **RIG)
    difference = (shown.values - true.values) if true.shape[1] == 1 else size(shown.values - true.values)[:, None]
    axes[1].plot(dataset.time, difference, color=COLOURS["purple"])
    for ax, words in zip(axes, (label, f"difference, {label.rpartition(' ')[2]}"), strict=True):
        ax.set_ylabel(words)
        _zero(ax)
    for ax, values in zip(axes, (seen(shown), difference), strict=True):
        tame(ax, values, float(np.abs(true.values).max()))
    _over(axes[1], dataset)
    legend(figure, axes[0])
    return figure


@styled
def energy(dataset: xr.Dataset) -> Figure:
    """Kinetic energy with and without rig, and what the contact at the robot and all forces on the model have given."""
    dataset = _thinned(dataset)
    figure, axes = _panels([1.7, 1.5], 4)
    axes[0].plot(dataset.time, dataset.ideal_kinetic_energy, **IDEAL)
    axes[0].plot(dataset.time, dataset.kinetic_energy, **RIG)
    works = {"model_work": "work on the model", "port_work": "work of the contact at the robot"}
    for place, (name, words) in enumerate(works.items()):
        style = {"color": SERIES[(0, 2)[place]], "linestyle": DASHES[place], "label": words}
        axes[1].plot(dataset.time, dataset[name], **style)
        axes[0].plot([], [], **style)
    _zero(axes[1])
    for ax, words, name in zip(axes, ("kinetic energy, J", "work, J"), ("kinetic_energy", "model_work"), strict=True):
        ax.set_ylabel(words)
        tame(ax, dataset[name].values, float(dataset.ideal_kinetic_energy.max()))
    _over(axes[1], dataset)
    legend(figure, axes[0])
    return figure


def window(dataset: xr.Dataset) -> tuple[slice, str]:
    """What to look at closely: the first bounce, or the last oscillations of a contact that pulls, too."""
    time = dataset.time.values
    if not dataset.attrs["bilateral"]:
        spans = [bounce(size(dataset[name].values)) for name in ("ideal_force", "total_force")]
        starts, ends = zip(*spans, strict=True)
        if min(starts) < 0:
            return slice(None), "the run"
        length = time[max(ends)] - time[min(starts)]
        first, last = np.searchsorted(time, (time[min(starts)] - AROUND * length, time[max(ends)] + AROUND * length))
        return slice(int(first), int(last) + 1), "the first bounce"
    omega = float(dataset.attrs["frequency_rad_s"])
    length = SHOWN * 2 * np.pi / omega if np.isfinite(omega) else time[-1] / 4
    return slice(int(np.searchsorted(time, time[-1] - length)), None), "the last oscillations"


@styled
def closely(dataset: xr.Dataset) -> Figure:
    """Force and velocity in the first bounce, or at the end."""
    part = _thinned(dataset.isel(time=window(dataset)[0]))
    figure, axes = _panels([1.8, 1.5], 3)
    for ax, ideal, rig, words, scale in zip(
        axes,
        ("ideal_force", "ideal_velocity"),
        ("total_force", "velocity"),
        ("force, N", "velocity, mm/s"),
        (1.0, 1e3),
        strict=True,
    ):
        ax.plot(part.time, scale * seen(part[ideal]), **IDEAL)
        ax.plot(part.time, scale * seen(part[rig]), **RIG)
        ax.set_ylabel(words)
        _zero(ax)
    axes[0].plot(part.time, seen(part.contact_force), color=COLOURS["sky"], linewidth=0.9, label="contact at the robot")
    _over(axes[1], part)
    legend(figure, axes[0])
    return figure


@styled
def portrait(dataset: xr.Dataset) -> Figure:
    """Velocity over position; beside it force over position in a bounce, or the last oscillations, their ends marked."""
    from matplotlib.figure import Figure

    swings = bool(dataset.attrs["bilateral"])
    closer = _thinned(dataset.isel(time=window(dataset)[0]))
    figure = Figure()
    axes = figure.subplots(1, 2)
    arrange(figure, [2.9], 2 if swings else 3)
    solid = {**RIG, "linestyle": "-", "linewidth": 0.7}
    _phase_plane(axes[0], _thinned(dataset) if swings else closer, solid)
    if swings:
        _phase_plane(axes[1], closer, RIG)
        for place, rate, style in (("ideal_position", "ideal_velocity", IDEAL), ("position", "velocity", RIG)):
            end = 1e3 * float(closer[place][-1, 0]), 1e3 * float(closer[rate][-1, 0])
            axes[1].plot(*end, "o", color=style["color"], markersize=5)
    else:
        pairs = ("ideal_position", "ideal_force"), ("position", "total_force"), ("robot_position", "contact_force")
        at_robot = {"color": COLOURS["sky"], "linewidth": 0.9, "label": "contact at the robot"}
        for (place, force), style in zip(pairs, (IDEAL, RIG, at_robot), strict=True):
            axes[1].plot(1e3 * closer[place][:, 0], closer[force][:, 0], **style)
        axes[0].plot([], [], **at_robot)
        axes[1].set(xlabel="position, mm", ylabel="force, N")
    legend(figure, axes[0])
    return figure


def _phase_plane(ax: Axes, dataset: xr.Dataset, style: dict[str, Any]) -> None:
    """Velocity over position, with and without rig."""
    ax.plot(1e3 * dataset.ideal_position[:, 0], 1e3 * dataset.ideal_velocity[:, 0], **IDEAL)
    ax.plot(1e3 * dataset.position[:, 0], 1e3 * dataset.velocity[:, 0], **style)
    ax.set(xlabel="position, mm", ylabel="velocity, mm/s")


@styled
def gain(dataset: xr.Dataset) -> Figure:
    """Gain of the compensator over time with the range it visits, its force, and what it has found out."""
    shown = _thinned(dataset)
    estimates = "stiffness_estimate" in dataset
    figure, axes = _panels([1.5, 1.2] + [1.2] * estimates)
    axes[0].plot(shown.time, shown.gain, color=COLOURS["blue"])
    for value in gains_visited(dataset) or []:
        axes[0].axhline(value, color=COLOURS["muted"], linewidth=0.8, linestyle=DASHES[2])
    axes[0].set_ylabel("gain, N s/m")
    axes[1].plot(shown.time, seen(shown.compensation_force), color=COLOURS["green"])
    axes[1].set_ylabel("its force, N")
    _zero(axes[1])
    if estimates:
        axes[2].plot(shown.time, 1e-3 * shown.stiffness_estimate, color=COLOURS["purple"])
        axes[2].axhline(1e-3 * float(dataset.attrs["stiffness_N_m"]), color=COLOURS["muted"], linewidth=0.8)
        axes[2].set_ylabel("found, kN/m")
    _over(axes[-1], shown)
    return figure


@styled
def path(dataset: xr.Dataset) -> Figure:
    """Way of the point that touches, seen from the side and along the docking axis: without rig, model, robot."""
    from matplotlib.figure import Figure

    part = _thinned(dataset)
    figure = Figure()
    axes = figure.subplots(1, 2)
    arrange(figure, [3.0], 3)
    for ax, (first, second) in zip(axes, ((0, 2), (1, 2)), strict=True):
        ax.plot(*(1e3 * part.ideal_position.values[:, (first, second)].T), **IDEAL)
        ax.plot(*(1e3 * part.position.values[:, (first, second)].T), **{**RIG, "label": "model"})
        ax.plot(*(1e3 * part.robot_position.values[:, (first, second)].T), color=COLOURS["sky"], linewidth=0.9)
        ax.set(xlabel=f"{'xyz'[first]}, mm", ylabel=f"{'xyz'[second]}, mm")
    axes[1].set_aspect("equal", adjustable="datalim")
    axes[0].plot([], [], color=COLOURS["sky"], linewidth=0.9, label="robot")
    legend(figure, axes[0])
    return figure


@styled
def poses(dataset: xr.Dataset, actual: str = "model_pose", wanted: str = "ideal_pose") -> Figure:
    """Difference of two poses: places and rotation vectors."""
    part = _thinned(dataset)
    away = (part[actual] - part[wanted]).values
    figure, axes = _panels([1.5, 1.5], 3)
    lines(axes[0], part.time, 1e3 * away[:, :3], ["x", "y", "z"])
    lines(axes[1], part.time, np.degrees(away[:, 3:]), ["x", "y", "z"])
    for ax, words in zip(axes, ("place, mm", "attitude, deg"), strict=True):
        ax.set_ylabel(words)
        _zero(ax)
    _over(axes[1], part)
    legend(figure, axes[0])
    return figure
