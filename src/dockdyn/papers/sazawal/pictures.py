"""Pictures of Sazawal et al., Figures 7–14. Positions are of the probe tip from the cone's apex S, target axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SLOPE = np.tan(np.radians(30))  # half angle of the cone, Table 1
RINGS = np.arange(0.1, 0.55, 0.1)  # m, from the apex along the axis: where the wall is drawn
WALL: dict[str, Any] = {"color": "0.6", "linewidth": 0.8}
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")
Offsets = tuple[tuple[float, float], ...]  # points; where the names Q1–Q3 stand from their contacts


def _trajectory(run: xr.Dataset) -> tuple[Any, Any, Any]:
    """Return x, y and z until the third contact ends, or the run."""
    release = float(run.episode_release[2])
    path = run.feature_position.isel(contact=0)
    if np.isfinite(release):
        path = path.sel(time=slice(None, release))
    return tuple(path.sel(axis=axis).values for axis in "xyz")


def _first_contacts(run: xr.Dataset) -> np.ndarray:
    """Return positions of Q1, Q2 and Q3: (3 contacts, 3 axes)."""
    return run.episode_position.values[:3]


def energy_change(run: xr.Dataset) -> xr.DataArray:
    """Return the kinetic energy relative to t = 0, J (eq. 152)."""
    return run.kinetic_energy - run.kinetic_energy[0]


def regions(charts: list[xr.Dataset], labels: list[str], closed_forms: list[list[tuple[Any, Any]]]) -> Figure:
    """Return figures 7–9: edges of stability in the planes of delay and damping, and of delay and stiffness.

    `charts` of `stability_dataset`, a curve for each of `labels`; the closed forms' points on them.
    """
    figure, *panels = _two_panels()
    words = ("(a)  k = 1000 N/m", "damping b, N s/m"), ("(b)  b = 200 N s/m", "stiffness k, N/m")
    sides = ((0.03, 0.6), (0.82, 0.12)), ((0.03, 0.06), (0.45, 0.5))  # where it is stable, and where not
    dot: dict[str, Any] = {"markerfacecolor": "white", "markersize": 4.5}
    for axes, chart, points, (title, ylabel), places in zip(panels, charts, closed_forms, words, sides, strict=True):
        for member, (colour, label) in enumerate(zip(COLOURS, labels, strict=False)):
            axes.plot(chart.boundary_x[member], chart.boundary_y[member], color=colour, label=label)
            axes.plot(*points[member], "o", color=colour, **dot)
        axes.plot([], [], "o", color="0.4", label="closed form, eqs. 149–151", **dot)
        for place, word in zip(places, ("stable", "unstable"), strict=True):
            axes.text(*place, word, transform=axes.transAxes, color="0.4", fontsize=11)
        axes.set(title=title, xlabel="delay h, s", ylabel=ylabel)
        axes.set(xlim=(0, chart.x.values[-1]), ylim=(0, chart.y.values[-1]))
        axes.grid(alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def in_cone(runs: dict[str, xr.Dataset]) -> Figure:
    """Return figure 10: the cone in space, one panel a law."""
    figure = Figure(figsize=(12, 6), layout="constrained")
    around = np.linspace(0, 2 * np.pi, 73)
    for panel, (label, run) in enumerate(runs.items(), start=1):
        with matplotlib.rc_context({"grid.color": "0.92"}):  # the cone before the grid
            axes: Any = figure.add_subplot(1, len(runs), panel, projection="3d")
        for x in RINGS:
            axes.plot(np.full(around.shape, x), x * SLOPE * np.cos(around), x * SLOPE * np.sin(around), **WALL)
        for angle in around[:-1:9]:
            edge = RINGS[-1] * SLOPE
            axes.plot([0, RINGS[-1]], [0, edge * np.cos(angle)], [0, edge * np.sin(angle)], **WALL)
        x, y, z = _trajectory(run)
        axes.plot(x, y, z, color=COLOURS[panel - 1])
        axes.plot(x[:1], y[:1], z[:1], "k^", label="start")
        points = _first_contacts(run)
        axes.plot(*points.T, "ro", label="onset of contact")
        for number, (px, py, pz) in enumerate(points, start=1):
            axes.text(px, py, pz + 0.025, f"Q$_{number}$", fontsize=12)
        axes.set(title=label, xlabel="x, m", ylabel="y, m")
        axes.set_zlabel("z, m", labelpad=10)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.set_pane_color("white")
        axes.set_box_aspect((0.55, 0.6, 0.6))
        axes.view_init(elev=22, azim=-60)
        axes.legend(loc="upper left")
    return figure


def draw_opening(runs: dict[str, xr.Dataset]) -> Figure:
    """Return figure 11: the y–z plane, seen from the opening."""
    figure, whole, close = _two_panels()
    around = np.linspace(0, 2 * np.pi, 181)
    names: dict[Axes, Offsets] = {
        whole: ((14, 10), (18, -12), (-18, 12)),
        close: ((0, 0), (34, -20), (-48, 26)),
    }
    for axes in (whole, close):
        for x in RINGS:
            axes.plot(x * SLOPE * np.cos(around), x * SLOPE * np.sin(around), **WALL)
        _curves(axes, runs, (1, 2), names[axes])
        axes.set(xlabel="y, m", ylabel="z, m", aspect="equal")
    whole.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3))
    close.set(xlim=(-0.1, 0.1), ylim=(-0.1, 0.1), title="second and third contact")
    whole.set_title("seen from the opening; rings: the wall every 0.1 m from the apex")
    return figure


def draw_side(runs: dict[str, xr.Dataset]) -> Figure:
    """Return figure 12: the x–z plane, the cone from the side."""
    figure, whole, close = _two_panels()
    names: dict[Axes, Offsets] = {
        whole: ((0, 16), (16, -16), (0, 26)),
        close: ((0, 0), (30, -34), (44, 30)),
    }
    for axes in (whole, close):
        axes.plot([0.6, 0, 0.6], [0.6 * SLOPE, 0, -0.6 * SLOPE], **WALL)
        _curves(axes, runs, (0, 2), names[axes])
        axes.set(xlabel="x, m", ylabel="z, m", aspect="equal")
    whole.set(xlim=(0, 0.6), ylim=(-0.3, 0.3), title="grey: the wall in the plane y = 0")
    close.set(xlim=(0.04, 0.2), ylim=(-0.1, 0.06), title="second and third contact")
    return figure


def _two_panels() -> tuple[Figure, Axes, Axes]:
    figure = Figure(figsize=(12, 6.2), layout="constrained")
    whole, close = figure.subplots(1, 2)
    return figure, whole, close


def _curves(axes: Axes, runs: dict[str, xr.Dataset], plane: tuple[int, int], names: Offsets) -> None:
    """Draw trajectories in a plane of two axes with their first three contacts; the middle one's carry the names."""
    across, up = plane
    for colour, (label, run) in zip(COLOURS, runs.items(), strict=False):
        path = _trajectory(run)
        axes.plot(path[across], path[up], color=colour, label=label)
        axes.plot(*_first_contacts(run).T[[across, up]], "o", color=colour, markeredgecolor="black")
    middle = list(runs.values())[len(runs) // 2]
    for number, (point, offset) in enumerate(zip(_first_contacts(middle), names, strict=True), start=1):
        text = axes.annotate(
            f"Q$_{number}$",
            (point[across], point[up]),
            xytext=offset,
            textcoords="offset points",
            fontsize=12,
            ha="center",
            va="center",
            arrowprops={"arrowstyle": "-", "color": "0.4", "linewidth": 0.7},
            annotation_clip=True,
        )
        text.set_in_layout(False)  # a contact outside the panel must not shrink it
    axes.legend(loc="best")


def energy(runs: dict[str, dict[str, xr.Dataset]]) -> Figure:
    """Return figure 13: kinetic energy relative to t = 0, in the paper's line styles; a panel for each title of `runs`."""
    figure, panels = _over_time(list(runs))
    for axes, curves in zip(panels, runs.values(), strict=True):
        for colour, style, (label, run) in zip(COLOURS, ("-", ":", "--", "-."), curves.items(), strict=True):
            _draw_energy(axes, run, energy_change(run), label, {"color": colour, "linestyle": style})
        for text, height in (("active, E > 0", 8), ("passive, E < 0", -8)):
            _at_right(axes, 0, text, height)
    panels[0].set_ylabel("kinetic energy relative to t = 0, mJ")
    _name_curves(figure, panels)
    return figure


def increments(runs: dict[str, dict[str, xr.Dataset]]) -> Figure:
    """Return figure 14: the delayed runs over the first, which has none, a panel a title; grey: the values that the text
    prints."""
    figure, panels = _over_time(list(runs))
    for axes, curves in zip(panels, runs.values(), strict=True):
        (_, ideal), *delayed = curves.items()
        for colour, style, (label, run) in zip(COLOURS[2:], ("--", "-."), delayed, strict=True):
            _draw_energy(
                axes, run, energy_change(run) - energy_change(ideal), label, {"color": colour, "linestyle": style}
            )
        for printed, label in ((7, "printed for h = 0.2 s: 7e-3"), (-0.8, "printed for h = 0.016 s: a loss of 8e-4")):
            axes.axhline(printed, **WALL, linestyle=(0, (1, 3)))
            _at_right(axes, printed, label, -8)
        axes.set_ylim(bottom=-2.2)
    panels[0].set_ylabel("kinetic energy over that without delay, mJ")
    _name_curves(figure, panels)
    return figure


def _over_time(titles: list[str]) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with a panel for each title, the first contact across."""
    figure = Figure(figsize=(13, 5.8), layout="constrained")
    panels = figure.subplots(1, len(titles))
    for axes, title in zip(panels, titles, strict=True):
        axes.axhline(0, **WALL)
        axes.set(title=title, xlabel="time, s", xlim=(4.7, 7.4))
        axes.grid(alpha=0.3)
    return figure, panels


def _name_curves(figure: Figure, panels: Sequence[Axes]) -> None:
    """Write the names of the curves below both panels, where they cover nothing."""
    panels[0].plot([], [], "o", color="0.4", label="release + h")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)


def _at_right(axes: Axes, level: float, text: str, above: float) -> None:
    """Write small words at the right end of a horizontal line, `above` it in points."""
    place: Any = axes.get_yaxis_transform()  # share of the width, data height
    axes.annotate(text, (1, level), (-6, above), place, "offset points", ha="right", va="center", color="0.4")


def _draw_energy(axes: Axes, run: xr.Dataset, joules: xr.DataArray, label: str, look: dict[str, Any]) -> None:
    """Draw a curve of energy with the moment marked when the first contact's last delayed force has acted."""
    axes.plot(joules.time, 1e3 * joules, **look, linewidth=1.8, label=label)
    moment = float(run.episode_release[0]) + run.attrs["delay_s"]
    axes.plot(moment, 1e3 * float(joules.interp(time=moment)), "o", color=look["color"])
