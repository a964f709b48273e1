"""Figures of a berthing: joints, bodies, deflections, energies, and sketches of the configuration over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.output.drawing import COLOURS, DASHES, SERIES, arrange, legend, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SKETCHES = 6


def panels(heights: list[float], entries: int, end: float) -> tuple[Figure, Any]:
    """Panels over time, one above the other."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    arrange(figure, heights, entries)
    for ax in axes:
        ax.set_xlim(0, end if end > 0 else 1)
    axes[-1].set_xlabel("time since the impact, s")
    return figure, axes


def lines(ax: Axes, time: Any, values: Any, labels: list[str]) -> None:
    for index, label in enumerate(labels):
        style = {"color": SERIES[index % len(SERIES)], "linestyle": DASHES[index % len(DASHES)]}
        ax.plot(time, values[:, index], label=label, **style)


def yaw(attitude: np.ndarray) -> np.ndarray:
    """Angle (deg) turned, by the quaternions' length of rotation about z, unwrapped."""
    return np.degrees(np.unwrap(2 * np.arctan2(attitude[..., 3], attitude[..., 0]), axis=0))


@styled
def joints(dataset: xr.Dataset, unit: str = "rad") -> Figure:
    """Angles and rates of revolute joints, or travel and speeds of prismatic ones (`unit` m)."""
    names = [str(name) for name in dataset.joint.values[dataset.joint_unit.values == unit]]
    scale, words = (
        (np.degrees(1.0), ("angle, deg", "rate, deg/s")) if unit == "rad" else (1.0, ("travel, m", "speed, m/s"))
    )
    figure, axes = panels([1.8, 1.8], len(names), float(dataset.time[-1]))
    lines(axes[0], dataset.time, scale * dataset.joint_angle.sel(joint=names).values, names)
    lines(axes[1], dataset.time, scale * dataset.coordinate_rate.sel(coordinate=names).values, names)
    for ax, label in zip(axes, words, strict=True):
        ax.set_ylabel(label)
        ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    legend(figure, axes[0])
    return figure


@styled
def bodies(dataset: xr.Dataset) -> Figure:
    """How far base and payload have turned about z, and the payload's rate."""
    figure, axes = panels([1.5, 1.5], 2, float(dataset.time[-1]))
    turned = yaw(dataset.base_attitude.values)
    axes[0].plot(dataset.time, turned[:, 0], color=COLOURS["blue"], label="base of the chaser")
    axes[0].set_ylabel("base, deg")
    rate = np.degrees(dataset.target_coordinate_rate[:, -1].values)
    axes[0].plot([], [], color=COLOURS["orange"], label="rate of the target's base")
    axes[1].plot(dataset.time, rate, color=COLOURS["orange"])
    axes[1].axhline(0, color=COLOURS["muted"], linewidth=0.6)
    axes[1].set_ylabel("target, deg/s")
    legend(figure, axes[0])
    return figure


@styled
def deflections(dataset: xr.Dataset) -> Figure:
    """Deflection of the ends of flexible links."""
    flexible = [str(n) for n in dataset.link.values if float(dataset.tip_deflection.sel(link=n).max()) > 0]
    figure, (ax,) = panels([1.9], len(flexible), float(dataset.time[-1]))
    lines(ax, dataset.time, dataset.tip_deflection.sel(link=flexible).values * 1e3, flexible)
    ax.set_ylabel("deflection, mm")
    legend(figure, ax)
    return figure


@styled
def energies(dataset: xr.Dataset) -> Figure:
    """Energy of motion and of what is bent, and the work of control."""
    figure, (ax,) = panels([2.0], 3, float(dataset.time[-1]))
    total = dataset.kinetic_energy + dataset.potential_energy
    lines(
        ax,
        dataset.time,
        np.stack([dataset.kinetic_energy, dataset.potential_energy, total], axis=1),
        ["motion", "bent links and springs", "both"],
    )
    ax.set_ylabel("energy, J")
    legend(figure, ax)
    return figure


def working(dataset: xr.Dataset, unit: str) -> list[str]:
    """Coordinates with rates in `unit` that control acts on."""
    names = dataset.coordinate.values[dataset.coordinate_unit.values == unit]
    return [str(name) for name in names if float(abs(dataset.torque.sel(coordinate=name)).max()) > 0]


@styled
def torques(dataset: xr.Dataset, unit: str = "rad/s") -> Figure:
    """Torques of control, or forces on prismatic joints (`unit` m/s)."""
    names = working(dataset, unit)
    figure, (ax,) = panels([1.9], len(names), float(dataset.time[-1]))
    lines(ax, dataset.time, dataset.torque.sel(coordinate=names).values, names)
    ax.axhline(0, color=COLOURS["muted"], linewidth=0.6)
    ax.set_ylabel("torque, N m" if unit == "rad/s" else "force, N")
    legend(figure, ax)
    return figure


@styled
def sketches(dataset: xr.Dataset) -> Figure:
    """The links in the inertial x–y plane at instants spread over the run."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(2, SKETCHES // 2, sharex=True, sharey=True)
    arrange(figure, [2.0, 2.0], 2, title=0.2)
    when = np.linspace(0, dataset.sizes["time"] - 1, SKETCHES).astype(int)
    for ax, row in zip(axes.flat, when, strict=True):
        now = dataset.isel(time=row)
        for system, name, colour in ((0, "chaser", "blue"), (1, "target", "orange")):
            line = now.outline[system].values
            line = line[np.isfinite(line).all(axis=-1)]
            ax.plot(*line[:, :2].T, color=COLOURS[colour], linewidth=1.4, label=name)
            ax.plot(*line[:, :2].T, ".", color=COLOURS[colour], markersize=4)
        ax.set_aspect("equal", adjustable="box")
        ax.set_title(f"{float(now.time):.4g} s", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("x, m")
    for ax in axes[:, 0]:
        ax.set_ylabel("y, m")
    legend(figure, axes.flat[0])
    return figure
