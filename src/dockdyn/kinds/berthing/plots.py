"""Figures of a berthing: contact, joints, bodies, deflections, energies, and sketches of the configuration over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.report.drawing import COLOURS, align_label, arrange, legend, lines, shade_contacts, styled
from dockdyn.scenario.tables.tree import BODY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SKETCHES = 6
FALLEN, EARLY, SEEN = 0.8, 0.04, 20  # share of the energy's fall, of the run; samples that show a beginning


def _panels(dataset: xr.Dataset, heights: list[float], entries: int) -> tuple[Figure, Any]:
    """Panels over the time of a run, one above the other, contacts that lasted shaded."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    arrange(figure, heights, entries)
    end = float(dataset.time[-1])
    for ax in axes:
        shade_contacts(dataset, ax)
        align_label(ax)
        ax.set_xlim(0, end if end > 0 else 1)
    axes[-1].set_xlabel("time since the impact, s" if dataset.sizes["impact"] else "time since they touched, s")
    return figure, axes


def turned(attitude: np.ndarray) -> np.ndarray:
    """Rotation (deg) since t = 0 about each of the axes the base had then, by the vector part of the quaternion."""
    w, x, y, z = attitude[0]
    back = np.array([[w, x, y, z], [-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    since = attitude @ back.T
    size = np.linalg.norm(since[:, 1:], axis=1)
    angle = np.unwrap(2 * np.arctan2(size, since[:, 0]))
    return np.degrees(since[:, 1:] * (angle / np.where(size > 0, size, 1))[:, None])


def spatial(dataset: xr.Dataset) -> bool:
    """Whether the base turns about three axes."""
    return "base.roll" in dataset.coordinate.values


@styled
def meetings(dataset: xr.Dataset) -> Figure:
    """Distance of the two and close up, impulses of impacts, normal force of what lasts: panels for what there is."""
    depth, time = dataset.depth.values, dataset.time.values
    struck, lasted = dataset.sizes["impact"] > 0, dataset.sizes["episode"] > 0
    # the largest distance between the first meeting and the last
    last = max([*dataset.impact_time.values, *dataset.episode_onset.values], default=0.0)
    between = max(float(-depth[time <= last].min()), 0.0) if struck else 0.0
    deepest = 0.0 if struck else max(float(depth.max()), 0.0)
    close = between > 0 or deepest > 0
    figure, axes = _panels(dataset, [1.5] * (1 + close + struck + lasted), 2 if struck else 1)
    rest = iter(axes)
    whole = next(rest)
    whole.plot(time, -depth, color=COLOURS["blue"], label="distance")
    whole.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    whole.set_ylabel("distance, m")
    if close:
        ax = next(rest)
        ax.plot(time, -depth * 1e3, color=COLOURS["blue"])
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
        size = 1e3 * max(between, deepest)
        ax.set(ylim=(-0.1 * size, 1.12 * size) if struck else (-1.12 * size, 0.3 * size), ylabel="close up, mm")
    if struck:
        times, impulses = dataset.impact_time.values, dataset.impact_normal_impulse.values
        style: Any = {"color": COLOURS["orange"], "clip_on": False}
        whole.plot(times, np.zeros(len(times)), "^", markersize=4, label="impact", **style)
        legend(figure, whole)
        ax = next(rest)
        ax.vlines(times, 0, impulses, color=COLOURS["orange"], linewidth=1.0)
        ax.plot(times, impulses, "o", markersize=3.5, **style)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("impulse, N s")
    if lasted:
        ax = next(rest)
        ax.plot(time, dataset.normal_force, color=COLOURS["blue"])
        peaks = dataset.episode_peak_force
        ax.plot(dataset.episode_peak_time, peaks, "o", color=COLOURS["ink"], markersize=3.5, clip_on=False)
        ax.set_ylim(0, 1.12 * float(peaks.max()) or 1)
        ax.set_ylabel("normal force, N")
    return figure


@styled
def joints(dataset: xr.Dataset, unit: str = "rad") -> Figure:
    """Angles and rates of revolute joints, or travel and speeds of prismatic ones (`unit` m)."""
    names = [str(name) for name in dataset.joint.values[dataset.joint_unit.values == unit]]
    scale, words = (
        (np.degrees(1.0), ("angle, deg", "rate, deg/s")) if unit == "rad" else (1.0, ("travel, m", "speed, m/s"))
    )
    figure, axes = _panels(dataset, [1.8, 1.8], len(names))
    lines(axes[0], dataset.time, scale * dataset.joint_angle.sel(joint=names).values, names)
    lines(axes[1], dataset.time, scale * dataset.coordinate_rate.sel(coordinate=names).values, names)
    for ax, label in zip(axes, words, strict=True):
        ax.set_ylabel(label)
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    legend(figure, axes[0])
    return figure


def turning(dataset: xr.Dataset) -> bool:
    """Whether the chaser's base or the target ever turns."""
    turns = [name.split(".")[-1] in ("roll", "pitch", "yaw") for name in map(str, dataset.target_coordinate.values)]
    return bool(
        np.ptp(dataset.base_attitude.values[:, 0], axis=0).any() or dataset.target_coordinate_rate[:, turns].any()
    )


@styled
def bodies(dataset: xr.Dataset) -> Figure:
    """How far the chaser's base has turned, and how fast the target turns."""
    axes_of = ["roll", "pitch", "yaw"] if spatial(dataset) else ["yaw"]
    about = [f"about {axis}" for axis in "xyz"[3 - len(axes_of) :]]
    figure, axes = _panels(dataset, [1.5, 1.5], len(axes_of))
    lines(axes[0], dataset.time, turned(dataset.base_attitude.values[:, 0])[:, 3 - len(axes_of) :], about)
    names = [f"base.{axis}" for axis in axes_of]
    rates = dataset.target_coordinate_rate.values[:, [list(dataset.target_coordinate.values).index(n) for n in names]]
    lines(axes[1], dataset.time, np.degrees(rates), about)
    for ax in axes:
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    axes[0].set_ylabel("base turned, deg")
    axes[1].set_ylabel("target, deg/s")
    legend(figure, axes[0])
    return figure


@styled
def momenta(dataset: xr.Dataset) -> Figure:
    """Angular momentum of the wheel, and of both bodies about their common centre, by size."""
    figure, (ax,) = _panels(dataset, [1.9], 2)
    sizes = [np.linalg.norm(dataset[name].values, axis=1) for name in ("wheel_momentum", "spin_momentum")]
    lines(ax, dataset.time, np.stack(sizes, axis=1), ["wheel", "chaser and target about their common centre"])
    ax.set_ylim(bottom=0)
    ax.set_ylabel("angular momentum, N m s")
    legend(figure, ax)
    return figure


def _bent(dataset: xr.Dataset) -> list[str]:
    """Names of the links whose ends deflect."""
    return [str(n) for n in dataset.link.values if float(dataset.tip_deflection.sel(link=n).max()) > 0]


@styled
def deflections(dataset: xr.Dataset) -> Figure:
    """Deflection of the ends of flexible links."""
    flexible = _bent(dataset)
    figure, (ax,) = _panels(dataset, [1.9], len(flexible))
    lines(ax, dataset.time, dataset.tip_deflection.sel(link=flexible).values * 1e3, flexible)
    ax.set_ylabel("deflection, mm")
    legend(figure, ax)
    return figure


def elastic(dataset: xr.Dataset) -> bool:
    """Whether bent links or springs ever hold energy."""
    return float(dataset.potential_energy.max()) > 0


@styled
def energies(dataset: xr.Dataset) -> Figure:
    """Energy of motion, of what is bent, and both; the first alone where nothing bends."""
    total = dataset.kinetic_energy + dataset.potential_energy
    labels = ["motion", "bent links and springs", "both"] if elastic(dataset) else ["motion"]
    figure, (ax,) = _panels(dataset, [2.0], len(labels))
    values = np.stack([dataset.kinetic_energy, dataset.potential_energy, total], axis=1)
    lines(ax, dataset.time, values, labels)
    ax.set_ylabel("energy, J" if elastic(dataset) else "energy of motion, J")
    legend(figure, ax)
    return figure


def working(dataset: xr.Dataset, unit: str) -> list[str]:
    """Coordinates with rates in `unit` that control acts on."""
    names = dataset.coordinate.values[dataset.coordinate_unit.values == unit]
    return [str(name) for name in names if float(abs(dataset.torque.sel(coordinate=name)).max()) > 0]


@styled
def torques(dataset: xr.Dataset, unit: str = "rad/s") -> Figure:
    """Torques of control on the base and on joints, or forces (`unit` m/s)."""
    worked = working(dataset, unit)
    shown = [[n for n in worked if n.startswith("base.") == base] for base in (True, False)]
    what = "N m" if unit == "rad/s" else "N"
    words = (f"base, {what}", f"joints, {what}")
    kept = [(names, word) for names, word in zip(shown, words, strict=True) if names]
    figure, axes = _panels(dataset, [1.5] * len(kept), len(worked))
    first = 0
    for ax, (names, word) in zip(axes, kept, strict=True):
        lines(ax, dataset.time, dataset.torque.sel(coordinate=names).values, names, first)
        if first:  # one legend for both
            lines(axes[0], [], np.zeros((0, len(names))), names, first)
        first += len(names)
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
        ax.set_ylabel(word)
    legend(figure, axes[0])
    return figure


def beginning(dataset: xr.Dataset) -> float | None:
    """How long (s) the beginning is in which control takes most energy out, where the whole run would not show it."""
    if not dataset.attrs["controlled"]:
        return None
    energy = (dataset.kinetic_energy + dataset.potential_energy).values
    at = int(np.argmax(energy[0] - energy >= FALLEN * np.ptp(energy)))
    return 2 * float(dataset.time[at]) if SEEN <= 2 * at <= 2 * EARLY * len(energy) else None


@styled
def starts(dataset: xr.Dataset) -> Figure:
    """The beginning close up: rates of joints that turn, deflections, torques."""
    near = dataset.sel(time=slice(0, beginning(dataset)))
    names = [str(name) for name in dataset.joint.values[dataset.joint_unit.values == "rad"]]
    flexible = _bent(dataset)
    figure, axes = _panels(near, [1.5] * (3 if flexible else 2), len(names))
    rates, torque = axes[0], axes[-1]
    lines(rates, near.time, np.degrees(near.coordinate_rate.sel(coordinate=names).values), names)
    lines(torque, near.time, near.torque.sel(coordinate=names).values, names)
    if flexible:
        lines(axes[1], near.time, near.tip_deflection.sel(link=flexible).values * 1e3, flexible)
        axes[1].set_ylabel("deflection, mm")
        axes[1].legend(loc="upper right")
    for ax, label in ((rates, "rate, deg/s"), (torque, "joints, N m")):
        ax.set_ylabel(label)
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    legend(figure, rates)
    return figure


@styled
def sketches(dataset: xr.Dataset) -> Figure:
    """The links at instants spread over the run, seen from above (x–y) and, in space, from the side (x–z)."""
    from matplotlib.figure import Figure

    views = [1, 2] if spatial(dataset) else [1]
    columns = SKETCHES // 2
    figure = Figure()
    axes = figure.subplots(2, columns, sharex=True, sharey="row" if spatial(dataset) else True)
    arrange(figure, [1.77, 1.77], 2, title=0.2)  # as high as wide
    count = axes.size // len(views)
    when = np.linspace(0, dataset.sizes["time"] - 1, count).astype(int)
    seen = dataset.outline.values.reshape(-1, 3)[:, [0, *views]]
    middle = (np.nanmin(seen, axis=0) + np.nanmax(seen, axis=0)) / 2
    reach = 0.54 * np.nanmax(np.ptp(seen[np.isfinite(seen).all(axis=1)], axis=0))
    for place, ax in enumerate(axes.flat):
        now, across = dataset.isel(time=when[place % count]), views[place // count]
        for system, name, colour in ((0, "chaser", "blue"), (1, "target", "orange")):
            line = now.outline[system].values
            line = line[np.isfinite(line).all(axis=-1)]
            if system == 0:  # without the bodies on beams, which come between the last link and the grip
                line = line[[not str(link).endswith(BODY) for link in dataset.link.values]]
            ax.plot(*line[:, [0, across]].T, color=COLOURS[colour], linewidth=1.4, label=name)
            ax.plot(*line[:, [0, across]].T, ".", color=COLOURS[colour], markersize=4)
        ax.set_aspect("equal", adjustable="box")
        centre = middle[1 + place // count]
        ax.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(centre - reach, centre + reach))
        ax.set_title(f"{float(now.time):.4g} s", loc="left")
        if place % columns == 0:
            ax.set_ylabel(f"{'xyz'[across]}, m")
    for ax in axes[-1]:
        ax.set_xlabel("x, m")
    legend(figure, axes.flat[0])
    return figure
