"""Pictures of the SITS paper's simulations, Figures 7 and 10 to 16."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from dockdyn.papers.sits.delays import Swing

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple")
SWITCHED: dict[str, Any] = {"color": "0.5", "linestyle": ":", "linewidth": 1.2}
LATE = 6.0  # s, of the last part that is drawn by itself


def _sheet(rows: int, columns: int) -> tuple[Figure, Any]:
    figure = Figure(figsize=(12, 3.6 * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def delays(swings: Mapping[str, Swing]) -> Figure:
    """Return the velocity and force of pairs of motions, and the power of all."""
    figure, panels = _sheet(2, 2)
    pairs = (
        ("(a)", ("no delay", "measurement delay")),
        ("(b)", ("measurement delay", "control cycle")),
        ("(c)", ("no delay", "response of the robot")),
    )
    colours = dict(zip(swings, COLOURS, strict=False))
    for axes, (letter, names) in zip(panels.ravel(), pairs, strict=False):
        other = axes.twinx()
        for name, style in zip(names, ("-", "--"), strict=True):
            swing = swings[name]
            axes.plot(swing.time, 1e3 * swing.velocity, style, color=colours[name], label=f"velocity, {name}")
            other.plot(swing.time, swing.force, style, color=colours[name], alpha=0.4, label=f"force, {name}")
        axes.set(
            title=f"{letter}  {names[0]} and {names[1]}", xlabel="time, s", ylabel="velocity, mm/s", ylim=(-130, 180)
        )
        other.set(ylabel="force, N", ylim=(-410, 570))
        lines = [*axes.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
        axes.legend(handles=lines, loc="upper left", ncols=2, fontsize=8)
    axes = panels[1, 1]
    for (name, swing), style in zip(swings.items(), ("-", "-", "--", "-"), strict=True):
        axes.plot(swing.time, swing.power, style, color=colours[name], label=name)
    axes.set(title="(d)  power of the force on the target", xlabel="time, s", ylabel="power, W", ylim=(-22, 32))
    axes.legend(loc="upper left", ncols=2, fontsize=8)
    for axes in panels.ravel():
        axes.set_xlim(0, float(swings["no delay"].time[-1]))
        axes.grid(alpha=0.3)
    return figure


def differentiators(
    time: np.ndarray, position: np.ndarray, velocity: np.ndarray, curves: Mapping[str, np.ndarray]
) -> Figure:
    """Return the noisy position with its difference, and the velocities of differentiators, as a whole and close."""
    figure, panels = _sheet(1, 3)
    first, whole, close = panels[0]
    first.plot(time, 1e3 * curves["difference"], color="0.6", linewidth=0.7, label="difference, mm/s")
    first.plot(time, 5e3 * position, color=COLOURS[0], label="position × 5, mm")
    first.set(title="(a)  the robot's position, its difference", xlabel="time, s", ylim=(-110, 110))
    alike = ("difference", "r = 100 m", "r = 10000", "straight lines, r = 1000 m/s², h = 3.4")
    apart = [name for name in curves if not name.startswith(alike)]
    for axes in (whole, close):
        axes.plot(time, 1e3 * velocity, color="black", label="velocity of the target")
        for colour, name in zip(COLOURS, apart, strict=False):
            rings = name == "r = 1000 m/s², h = 1.7 ms"  # h < T: it would hide the others
            look: dict[str, Any] = {"linewidth": 0.5, "alpha": 0.35, "zorder": 1} if rings else {"linewidth": 1}
            axes.plot(time, 1e3 * curves[name], color=colour, label=name, **look)
        axes.set(xlabel="time, s", ylabel="velocity, mm/s")
    whole.set(title="(b)  tracking differentiators", ylim=(-70, 70))
    close.set(title="close to a peak", xlim=(0.9, 1.1), ylim=(33, 53))
    handles = [*first.lines, *whole.lines]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=9)
    for axes in panels.ravel():
        axes.grid(alpha=0.3)
    return figure


def _over_time(curves: Mapping[str, tuple[Any, Any]], ylabel: str, switched: float | None, late: float) -> Figure:
    """Return the series over the whole time, and the last seconds of them on a scale of their own."""
    figure, panels = _sheet(1, 2)
    for axes in panels[0]:
        for colour, (name, (time, values)) in zip(COLOURS, curves.items(), strict=False):
            chosen = time >= (late if axes is panels[0, 1] else 0)
            axes.plot(time[chosen], values[chosen], color=colour, linewidth=1, label=name)
        axes.set(xlabel="time, s", ylabel=ylabel)
        axes.grid(alpha=0.3)
    if switched is not None:
        panels[0, 0].axvline(switched, label="t_ε", **SWITCHED)
    panels[0, 0].set_xlim(0, 60)
    panels[0, 1].set_xlim(late, 60)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _error_series(found: Mapping[str, xr.Dataset], pair: tuple[str, str], scale: float) -> dict[str, tuple[Any, Any]]:
    """Return differences of two variables of runs, over time."""
    first, second = pair
    return {name: (run.time.values, scale * (run[first] - run[second]).values[:, 0]) for name, run in found.items()}


def switch_times(found: Mapping[str, xr.Dataset], coefficients: Mapping[str, tuple[Any, Any]]) -> Figure:
    """Return errors of the force, which hardly differ, and recovery coefficients, which do."""
    figure, panels = _sheet(1, 2)
    force, recovered = panels[0]
    errors = _error_series(found, ("ideal_force", "total_force"), 1.0)
    for colour, (name, (time, values)) in zip(COLOURS, errors.items(), strict=False):
        label = f"t_ε = {name.split('= ')[1]}"
        force.plot(time, values, color=colour, linewidth=1, label=label)
        recovered.plot(*coefficients[name], ".-", color=colour, markersize=3)
    for axes in panels[0]:
        for time, colour in zip((26, 36, 46), COLOURS, strict=False):
            axes.axvline(time, color=colour, linestyle=":")
        axes.set(xlabel="time, s", xlim=(0, 60))
        axes.grid(alpha=0.3)
    force.set(ylabel="error of the force e_F, N")
    recovered.set(ylabel="recovery coefficient e_R")
    figure.legend(*force.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def velocity_errors(found: Mapping[str, xr.Dataset], switched: float) -> Figure:
    curves = _error_series(found, ("velocity", "ideal_velocity"), 1e3)
    return _over_time(curves, "error of the velocity e_V, mm/s", switched, 60 - LATE)


def force_errors(found: Mapping[str, xr.Dataset], switched: float) -> Figure:
    curves = _error_series(found, ("ideal_force", "total_force"), 1.0)
    return _over_time(curves, "error of the force e_F, N", switched, 60 - LATE)


def recovery(series: Mapping[str, tuple[Any, Any]], switched: float) -> Figure:
    figure, panels = _sheet(1, 1)
    axes: Axes = panels[0, 0]
    axes.axhspan(0.995, 1.005, color="0.9", label="0.995 … 1.005, as printed of the SCVG")
    for colour, (name, (time, values)) in zip(COLOURS, series.items(), strict=False):
        axes.plot(time, values, ".-", color=colour, markersize=3, label=name)
    axes.axvline(switched, label="t_ε", **SWITCHED)
    for colour, printed in zip(COLOURS, (1.0203, 0.9756, 0.9995), strict=False):
        axes.plot(60.6, printed, "<", color=colour, clip_on=False)
    axes.plot([], [], "<", color="0.4", label="printed at 60 s")
    axes.set(xlabel="time, s", ylabel="recovery coefficient e_R", xlim=(0, 60))
    axes.legend(loc="upper left", ncols=2, fontsize=9)
    axes.grid(alpha=0.3)
    return figure


def energies(curves: Mapping[str, tuple[Any, Any]], switched: float) -> Figure:
    series = {name: (time, 1e3 * values) for name, (time, values) in curves.items()}
    return _over_time(series, "observed energy ε_h, mJ", switched, 60 - LATE)


def gain_history(found: Mapping[str, xr.Dataset], printed: tuple[float, float], switched: float) -> Figure:
    figure, panels = _sheet(1, 1)
    axes: Axes = panels[0, 0]
    axes.axhspan(*printed, color="0.9", label=f"printed range, {printed[0]:.2f} … {printed[1]:.2f} N s/m")
    for colour, (name, run) in zip(COLOURS, found.items(), strict=False):
        axes.plot(run.time, run.gain, color=colour, label=name)
    axes.axvline(switched, label="t_ε", **SWITCHED)
    axes.set(xlabel="time, s", ylabel="gain, N s/m", xlim=(0, 60))
    axes.legend(loc="upper left", fontsize=9)
    axes.grid(alpha=0.3)
    return figure
