"""Figures of the margins of a contact loop: roots, stability charts, growth over one key, sensitivities."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.charts.bar_chart import Bar, bar_panel
from dockdyn.report.charts.chart import Band, Chart, Level, Line, Note, Panel, symmetric_log_scale
from dockdyn.report.charts.chart_frame import SHADE, label_once, make_panel, style_axes
from dockdyn.report.drawing import (
    COLOURS,
    DASHES,
    SERIES,
    draw_legend,
    short_label,
    use_report_style,
)
from dockdyn.report.field import (
    Key,
    boundary_lines,
    cell_corners,
    growth_field,
    on_axes,
    refine_field,
    unstable_on_left,
)
from dockdyn.report.wording import format_significant, join_keys

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEAR = 3.0  # roots within so many sizes of the rightmost one are shown close up
BARS = 10  # sensitivities in the figure
MORE = 0.1  # of a key, by which its effect is told
ROUNDED = 1e-12  # of a margin or a growth rate: less is no effect
NAMED = 6  # crossings with their value written beside
STROKE: dict[str, Any] = {
    "spacing": 11,
    "length": 0.5,
    "linewidth": 0.8,
    "dashes": {"dash_offset": 0, "dash_list": None},
}


@use_report_style
def chart_figure(dataset: Dataset) -> Figure:
    """Return where two keys keep the loop stable: the region shaded, its boundary as located, contours of the growth rate."""
    from matplotlib.ticker import MaxNLocator

    keys = [Key.of(dataset.x), Key.of(dataset.y)]
    figure, ax = make_panel(3.9, entries=5)
    style_axes(ax, keys)
    holes = cell_corners(~np.isfinite(dataset.growth_rate.values[0])).all(axis=0)
    for row, column in np.argwhere(holes):
        (left, right), (low, high) = keys[0].values[column : column + 2], keys[1].values[row : row + 2]
        words = label_once(ax, "no value")
        ax.fill([left, right, right, left], [low, low, high, high], color=COLOURS["solid"], linewidth=0.3, label=words)
    if holes.all():
        return figure
    triangles, growth = growth_field(dataset, 0, keys)
    if growth.min() < 0:
        doubtful = (growth[triangles.triangles] >= 0).all(axis=1)  # between points of the boundary alone
        shade = {"colors": [SHADE["color"]], "alpha": SHADE["alpha"], "zorder": 0}
        shaded = on_axes(triangles, keys, mask=doubtful)
        ax.tricontourf(shaded, growth, levels=[growth.min() - 1, 0], **shade)
        ax.fill([], [], label="stable", **SHADE)
    for piece in boundary_lines(dataset, 0):
        ax.plot(*piece.T, color=COLOURS["ink"], linewidth=1.8, label=label_once(ax, "boundary"))
    _mark_scenario(dataset, keys, ax)
    fine, rates = refine_field(triangles, growth)
    ticks = MaxNLocator(9).tick_values(*np.quantile(growth, [0.04, 0.96]))
    least, most = np.array([0.99, 0.01]) * rates.min() + np.array([0.01, 0.99]) * rates.max()
    for sign, colour, dash, words in ((-1, "blue", DASHES[0], "decay"), (1, "orange", DASHES[1], "growth")):
        levels = [tick for tick in ticks if sign * tick > 1e-12 and least < tick < most]
        if levels:
            style = {"colors": [COLOURS[colour]], "linestyles": [dash], "linewidths": 0.8}
            lines = ax.tricontour(on_axes(fine, keys), rates, levels=levels, **style)
            ax.clabel(lines, fmt=format_rate, fontsize=7.5)
            ax.plot([], [], color=COLOURS[colour], linestyle=dash, linewidth=0.8, label=f"rate of {words}")
    draw_legend(figure, ax)
    return figure


@use_report_style
def family_figure(dataset: Dataset) -> Figure:
    """Return the boundaries for every value of a third key, short strokes into the unstable side of each."""
    from matplotlib.patheffects import withTickedStroke

    keys, family = [Key.of(dataset.x), Key.of(dataset.y)], Key.of(dataset.family)
    figure, ax = make_panel(3.9, entries=family.values.size + 1)
    style_axes(ax, keys)
    for member, value in enumerate(family.values):
        for piece in boundary_lines(dataset, member):
            side = unstable_on_left(dataset, member, keys, piece)
            strokes = [withTickedStroke(**STROKE, angle=90 * np.sign(side))]
            ax.plot(
                *piece.T,
                color=SERIES[member % len(SERIES)],
                linestyle=DASHES[member % len(DASHES)],
                linewidth=1.5,
                path_effects=strokes if side else None,
                label=label_once(ax, f"{short_label(family.name)} = {family.said(value)}"),
            )
    _mark_scenario(dataset, keys, ax)
    draw_legend(figure, ax)
    return figure


def sweep_figure(dataset: Dataset) -> Chart:
    """Return the growth rate over one key, stable values shaded, the located crossings of zero marked."""
    key = Key.of(dataset.x)
    growth = dataset.growth_rate.values
    crossings = dataset.boundary_x.values
    crossings = crossings[np.isfinite(crossings)]
    places = np.r_[key.values, crossings]
    order = np.argsort(places, kind="stable")
    places, values = places[order], np.r_[growth, np.zeros(crossings.size)][order]
    stable = [
        Band(float(start), float(end), colour="sky", alpha=0.22, legend="stable")
        for start, end, left, right in zip(places, places[1:], values, values[1:], strict=False)
        if left <= 0 and right <= 0 and left + right < 0
    ]
    lines = [Line(places, values, "blue", "growth rate")]
    if crossings.size:
        lines.append(Line(crossings, np.zeros(crossings.size), "ink", "boundary", marker="o", size=4.5, joined=False))
    point = _scenario_point(dataset, [key])
    if point is not None:
        height = json.loads(dataset.attrs["margins"])["growth_rate_1_s"]
        lines.append(Line(point, [height], "green", "this scenario", marker="X", size=9, joined=False))
    known = values[np.isfinite(values)]
    panel = Panel(
        "growth rate, 1/s",
        lines,
        height=2.6,
        across=key.label,
        across_scale="log" if key.logarithmic else "linear",
        bands=stable,
        levels=[Level(0.0, width=0.8)],
        notes=[_crossing_note(key, crossing, places, values) for crossing in crossings[:NAMED]],
        scale=symmetric_log_scale(known, float(np.median(np.abs(known)))),
    )
    return Chart([panel], whole=(float(key.values[0]), float(key.values[-1])))


def _crossing_note(key: Key, crossing: float, places: np.ndarray, values: np.ndarray) -> Note:
    """Return the value of a crossing, beside the line, which rises or falls there."""
    rising = np.interp(crossing * (1 + 1e-6), places, values) > 0
    late = bool(key.share(np.asarray(crossing)) > 0.85)
    away = (-6.0 if late else 6.0, 5.0 if rising == late else -11.0)
    side: Literal["left", "right"] = "right" if late else "left"
    return Note(float(crossing), 0.0, key.said(crossing), away, side)


def roots_figure(margins: dict[str, Any]) -> Chart:
    """Return the rightmost roots in the complex plane, and those next to the imaginary axis close up."""
    given = np.array(margins["rightmost_roots"], dtype=float).reshape(-1, 2)
    roots = np.unique(np.concatenate([given, given * [1, -1]]).round(12), axis=0)[::-1]  # the system is real
    size = float(np.hypot(*roots[0])) or 1.0
    near = roots[np.hypot(roots[:, 0] - roots[0, 0], np.abs(roots[:, 1]) - abs(roots[0, 1])) <= NEAR * size]
    real, imaginary = roots[0, 0], np.abs(roots[:, 1][roots[:, 0] > roots[0, 0] - 1e-9 * size]).max()
    words = format_significant(real) + (f" ± {format_significant(imaginary)} i" if imaginary else "")
    side: Literal["left", "right"] = "right" if real < 0 else "left"
    note = Note(float(real), float(imaginary), words.replace("-", "−"), (-7.0 if real < 0 else 7.0, -3.0), side)
    if len(near) == len(roots):
        return Chart([_root_panel(near, 0.26, notes=[note])])
    close = _root_panel(near, 0.52, title="next to the imaginary axis", notes=[note])
    return Chart([close, _root_panel(roots, 0.0, title="the rightmost ones")], columns=2)


def _root_panel(roots: np.ndarray, room: float, **rest: Any) -> Panel:  # noqa: ANN401, fields of it
    """Return roots (n, 2) with the imaginary axis; the left half-plane, where roots decay, is shaded.

    `room` is the share of the width that is kept free beside the rightmost root, away from the imaginary axis.
    """
    reach = max(1.15 * float(np.abs(roots[:, 1]).max()), 0.6 * float(np.abs(roots[:, 0]).max()), 1e-9)
    low, high = float(roots[:, 0].min()), float(roots[:, 0].max())
    width = max(high - low, abs(high), abs(low), 0.3 * reach)
    left, right = min(low, 0.0) - 0.25 * width, max(high, 0.0) + 0.25 * width
    if high < 0:
        left = min(left, (high - room * right) / (1 - room))
    else:
        right = max(right, (high - room * left) / (1 - room))
    lines = []
    for decays, marker, colour in ((True, "o", "blue"), (False, "s", "orange")):
        found = roots[(roots[:, 0] < 0) == decays]
        if len(found):
            words = "a root that decays" if decays else "a root that grows"
            lines.append(Line(found[:, 0], found[:, 1], colour, words, marker=marker, size=5, joined=False))
    return Panel(
        "imaginary part, rad/s",
        lines,
        height=2.6,
        across="real part, 1/s",
        across_limits=(left, right),
        limits=(-reach, reach),
        bands=[Band(left, 0.0, colour="sky", alpha=0.22)],
        levels=[Level(0.0, "x", colour="ink", width=1.2)],
        **rest,
    )


def sensitivity_figure(margins: dict[str, Any]) -> Chart:
    """Return the ten keys that the margin, or the growth rate without one, depends on most."""
    measure, unit, _ = measure_of(margins)
    of_margin = margins["sensitivity_of"] == "delay_margin_s"
    bars = [
        Bar(join_keys(key), value, "blue" if (value > 0) == of_margin else "orange")
        for key, value in ranked_sensitivities(margins)[:BARS]
    ]
    return Chart([bar_panel(bars, f"change of the {measure}, {unit}")])


def measure_of(margins: dict[str, Any]) -> tuple[str, str, float]:
    """Return what sensitivities are those of, its unit, and how many of it an SI unit is."""
    return ("delay margin", "ms", 1e3) if margins["sensitivity_of"] == "delay_margin_s" else ("growth rate", "1/s", 1.0)


def ranked_sensitivities(margins: dict[str, Any]) -> list[tuple[str, float]]:
    """Return keys with what 10 % more would do by the slope, in the unit of `measure_of`, the largest first; left out are those
    whose effect is none, or rounding beside the contact's own frequency or its inverse."""
    factor, frequency = (
        MORE * measure_of(margins)[2],
        math.sqrt(margins["stiffness_N_m"] / margins["effective_mass_kg"]),
    )
    least = ROUNDED * (1 / frequency if margins["sensitivity_of"] == "delay_margin_s" else frequency)
    found = [(key, factor * float(value)) for key, value in margins["sensitivities"].items() if abs(value) > least]
    return sorted((pair for pair in found if np.isfinite(pair[1])), key=lambda pair: -abs(pair[1]))


def _mark_scenario(dataset: Dataset, keys: list[Key], ax: Axes) -> None:
    """Mark where the scenario itself lies, when inside the axes."""
    point = _scenario_point(dataset, keys)
    if point is not None:
        style: dict[str, Any] = {"markersize": 9, "markeredgewidth": 1.4, "zorder": 4, "clip_on": False}
        ax.plot(
            *point[:2], "X", color=COLOURS["green"], markeredgecolor=COLOURS["paper"], label="this scenario", **style
        )


def _scenario_point(dataset: Dataset, keys: list[Key]) -> list[float] | None:
    """Return the scenario's own values of the keys, when inside the axes."""
    point = json.loads(dataset.attrs.get("operating_point") or "null")
    if point is None or any(value is None for value in point[: len(keys)]):
        return None
    inside = (0 <= key.share(np.asarray(value)) <= 1 for key, value in zip(keys, point, strict=False))
    return point if all(inside) else None


def format_rate(value: float) -> str:
    """Return a growth rate as the label of a contour."""
    return f"{value:g} 1/s".replace("-", "−")
