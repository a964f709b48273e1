"""Figures over time: depth, force, energy, momentum errors, attitude and loads, each from a result alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dockdyn.report.drawing import (
    CLOSE,
    COLOURS,
    DASHES,
    SERIES,
    arrange,
    contact_spans,
    legend,
    over_time,
    pair_labels,
    power_of_ten,
    short,
    styled,
    tame,
    time_figure,
)
from dockdyn.report.wording import significant
from dockdyn.results.measures import departure, given_by_contacts, kept

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MANY = 12  # contacts above which only the largest peak is named
FEW = 60  # samples of a contact below which each is marked


@styled
def depth(dataset: xr.Dataset) -> Figure:
    """Depth (negative is separation) over the whole run, and penetration close up."""
    names = pair_labels(dataset)
    deepest = float(dataset.depth.max()) * 1e3  # mm
    figure, (whole, *close) = time_figure(dataset, [1.5] * (2 if deepest > 0 else 1), len(names))
    for index, name in enumerate(names):
        colour = SERIES[index % len(SERIES)]
        whole.plot(dataset.time, dataset.depth[:, index], color=colour, label=name)
        for ax in close:
            ax.plot(dataset.time, dataset.depth[:, index] * 1e3, color=colour)
    tame(whole, dataset.depth.values, float(np.nanmedian(np.abs(dataset.depth.values))))
    whole.set_ylabel("penetration depth, m")
    for ax in close:
        ax.set(ylim=(-0.2 * deepest, 1.12 * deepest), ylabel="close up, mm")
    for ax in (whole, *close):
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    legend(figure, whole)
    return figure


@styled
def normal_force(dataset: xr.Dataset) -> Figure:
    """Normal force where it is generated, peaks marked."""
    names = pair_labels(dataset)
    figure, (ax,) = time_figure(dataset, [1.9], len(names) + 1)
    for index, name in enumerate(names):
        ax.plot(dataset.time, dataset.normal_force[:, index], color=SERIES[index % len(SERIES)], label=name)
    peaks, times = dataset.episode_peak_force.values, dataset.episode_peak_time.values
    ax.plot(times, peaks, "o", color=COLOURS["ink"], markersize=3.5, label="peak of a contact")
    tame(ax, peaks, float(peaks[0]))
    # located between samples, so a peak can lie above the line; named from the largest down, where there is room
    room = 0.05 * float(dataset.time[-1])
    named: list[float] = []
    for index in np.argsort(-peaks)[: len(peaks) if len(peaks) <= MANY else 1]:
        if all(abs(times[index] - other) > room for other in named):
            named.append(times[index])
            place = (times[index], peaks[index])
            side = "right" if times[index] > float(dataset.time[-1]) - room else "center"
            words = significant(peaks[index], 3)
            ax.annotate(words, place, (0, 4), textcoords="offset points", ha=side, fontsize=8)
    if ax.get_yscale() == "linear":
        ax.set_ylim(0 if dataset.normal_force.min() >= 0 else None, 1.17 * float(peaks.max()) or 1)
    ax.set_ylabel("normal force, N")
    legend(figure, ax)
    return figure


def close_up_samples(dataset: xr.Dataset) -> int:
    """How many samples fall into the contact with the largest force."""
    onset, release = contact_spans(dataset)[int(np.argmax(dataset.episode_peak_force.values))]
    return dataset.sel(time=slice(onset, release)).sizes["time"]


@styled
def largest_contact(dataset: xr.Dataset) -> Figure:
    """The contact with the largest force close up: over time as generated and as it acts, and over depth."""
    from matplotlib.figure import Figure

    index = int(np.argmax(dataset.episode_peak_force.values))
    pair = int(dataset.episode_contact[index])
    onset, release = contact_spans(dataset)[index]
    end = release + float(dataset.attrs["delay_s"])
    margin = 0.08 * (end - onset)
    seen = dataset.isel(contact=pair).sel(time=slice(onset - margin, end + margin))
    touching = seen.sel(time=slice(onset, release))
    mark = "." if touching.sizes["time"] < FEW else None

    figure = Figure()
    time, stroke = figure.subplots(1, 2)
    arrange(figure, [2.1], entries=2)
    time.axvspan(onset, release, color=COLOURS["contact"], linewidth=0, zorder=0)
    time.plot(seen.time, seen.normal_force, marker=mark, color=COLOURS["blue"], label="normal force, where generated")
    acting = np.linalg.norm(seen.contact_force.values, axis=-1)
    words = "contact force with friction, as it acts after the delay"
    time.plot(seen.time, acting, color=COLOURS["orange"], linestyle=DASHES[1], label=words)
    time.set(xlabel="time, s", ylabel="force, N", xlim=(onset - margin, end + margin))
    time.yaxis.set_label_coords(-0.17, 0.5)
    time.text((onset + release) / 2, 1.02, f"Q{index + 1}", transform=time.get_xaxis_transform(), ha="center")
    stroke.plot(touching.depth * 1e3, touching.normal_force, marker=mark, color=COLOURS["blue"])
    stroke.set(xlabel="penetration depth, mm", ylabel="normal force, N")
    legend(figure, time)
    return figure


@styled
def latch(dataset: xr.Dataset) -> Figure:
    """Travel into the latch, and the forces of its ramp and of what it holds."""
    figure, (travel, force) = time_figure(dataset, [1.5, 1.5], 4)
    length = float(dataset.latch_length) * 1e3  # mm
    travel.plot(dataset.time, dataset.latch_travel * 1e3, color=COLOURS["blue"], label="travel of the tip")
    travel.axhline(length, color=COLOURS["green"], linestyle=DASHES[1], label="the latch falls in")
    travel.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    farthest = max(1.25 * length, 1.05 * float(dataset.latch_travel.max()) * 1e3)
    travel.set(ylim=(max(float(dataset.latch_travel.min()) * 1e3, -2 * length), farthest), ylabel="travel, mm")
    for name, words, colour in (("latch_force", "ramp", "orange"), ("hold_force", "hold", "ink")):
        size = np.linalg.norm(dataset[name].values, axis=1)
        force.plot(dataset.time, size, color=COLOURS[colour])
        travel.plot([], [], color=COLOURS[colour], label=f"force of the {words}")
    force.set_ylabel("force, N")
    legend(figure, travel)
    return figure


@styled
def energy(dataset: xr.Dataset) -> Figure:
    """Change of kinetic energy (less the work of control) and work of the contact forces, with that after each contact."""
    figure, (ax,) = time_figure(dataset, [2.2], 3)
    change = given_by_contacts(dataset)
    words = "change less work of control" if "control_work" in dataset else "change of kinetic energy"
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    # the two lines should lie on each other: a wide one under a thin one shows both
    ax.plot(dataset.time, change, color=COLOURS["sky"], linewidth=3.2, label=words)
    ax.plot(dataset.time, dataset.work, color=COLOURS["ink"], linewidth=0.9, label="work of the contact forces")
    settled = dataset.episode_release.values + float(dataset.attrs["delay_s"])
    ax.plot(settled, dataset.episode_energy, "o", color=COLOURS["orange"], markersize=5, label="after a contact")
    tame(ax, change.values, float(dataset.kinetic_energy[0]))
    ax.set_ylabel("energy, J")
    legend(figure, ax)
    return figure


@styled
def momentum_errors(dataset: xr.Dataset) -> Figure:
    """Change of linear and angular momentum since the start, thrusters' impulses left out, relative to the bodies' own."""
    from matplotlib.ticker import FuncFormatter

    figure, (ax,) = time_figure(dataset, [1.7], 2)
    ax.set_yscale("log")
    largest = 0.0
    for name, words, colour, dash in (
        ("linear", "linear momentum", COLOURS["blue"], DASHES[0]),
        ("angular", "angular momentum", COLOURS["orange"], DASHES[1]),
    ):
        drift = departure(kept(dataset, name))
        scale = float(dataset[f"{name}_momentum_scale"].max())
        drift = drift / scale if scale > 0 else drift
        largest = max(largest, float(drift.max()))
        ax.plot(dataset.time, np.where(drift > 0, drift, np.nan), color=colour, linestyle=dash, label=words)
    ax.set_ylim(1e-18, max(10 * largest, 1e-9))
    ax.yaxis.set_major_formatter(FuncFormatter(power_of_ten))
    ax.yaxis.minorticks_off()
    ax.set_ylabel("relative error")
    if largest == 0:
        ax.text(0.5, 0.5, "no change at all: both are exactly kept", transform=ax.transAxes, ha="center")
    legend(figure, ax)
    return figure


@styled
def attitude(dataset: xr.Dataset) -> Figure:
    """Rotation vector of both bodies since the start, in degrees, in body axes."""
    figure, axes = time_figure(dataset, [1.4, 1.4], 3)
    for ax, body in zip(axes, ("chaser", "target"), strict=True):
        turned = np.degrees(dataset.rotation.sel(body=body).values)
        _draw_components(ax, dataset.time.values, turned, wrap=180.0)
        ax.set_ylabel(f"{body}, deg")
    legend(figure, axes[0])
    return figure


@styled
def control(dataset: xr.Dataset) -> Figure:
    """What wheel and thrusters give the chaser, and the wheel's momentum; what is zero throughout is left out."""
    panels = {
        "wheel_torque": "wheel, N m",
        "wheel_momentum": "wheel, N m s",
        "thruster_torque": "thrusters, N m",
        "thruster_force": "thrusters, N",
    }
    shown = [name for name in panels if np.any(dataset[name].values)] or ["wheel_torque"]
    figure, axes = time_figure(dataset, [1.2] * len(shown), 3)
    for ax, name in zip(axes, shown, strict=True):
        _draw_components(ax, dataset.time.values, dataset[name].values)
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
        ax.set_ylabel(panels[name])
    legend(figure, axes[0])
    return figure


@styled
def loads(dataset: xr.Dataset, points: Sequence[int] | None = None) -> Figure:
    """Force and moment of the contacts at named points (all of them when not given), in the axes of their bodies."""
    from matplotlib.figure import Figure

    chosen = range(dataset.sizes["point"]) if points is None else points
    figure = Figure()
    first = float(dataset.episode_peak_force[0]) if dataset.sizes["episode"] else 0.0  # N
    # one scale a column: points can be compared
    axes = figure.subplots(len(chosen), 2, sharex=True, sharey="col", squeeze=False)
    arrange(figure, [1.2] * len(chosen), entries=3, title=0.2)
    for column, (name, words) in enumerate((("load_force", "force, N"), ("load_moment", "moment, N m"))):
        over_time(dataset, axes[:, column], close=2 * CLOSE)
        for ax, index in zip(axes[:, column], chosen, strict=True):
            _draw_components(ax, dataset.time.values, dataset[name][:, index].values)
            ax.set_ylabel(words)
            ax.set_title(short(str(dataset.point.values[index])), loc="left", pad=13, fontweight="bold")
        tame(axes[0, column], dataset[name].values[:, list(chosen)], first)
    legend(figure, axes[0, 1])
    return figure


def _draw_components(ax: Axes, time: np.ndarray, values: np.ndarray, wrap: float = np.inf) -> None:
    """Three components (samples, 3); the lines are broken where the vector wraps around."""
    jumps = np.flatnonzero(np.linalg.norm(np.diff(values, axis=0), axis=1) > wrap)
    broken = values.copy()
    broken[jumps] = np.nan
    for component, name in enumerate("xyz"):
        ax.plot(time, broken[:, component], color=SERIES[component], linestyle=DASHES[component], label=name)
