"""A chart as SVG that needs no script: what mail viewers, and browsers without JavaScript, show of the first figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dockdyn.report.charts.chart import Area, Band, Chart, Level, Line, Note, Panel, SymmetricLog, thin_rows
from dockdyn.report.charts.round_numbers import round_numbers
from dockdyn.report.drawing import power_of_ten
from dockdyn.report.elements import Html, element, join
from dockdyn.report.palette import DASHES

WIDTH, LEFT, RIGHT, BELOW, ABOVE = 1000.0, 74.0, 10.0, 20.0, 26.0  # px
CSS_PIXELS = 96  # an inch
POINTS = 300  # of a line
TICKS_ACROSS, TICKS_UP = 10, 5
LETTER = 6.2  # px, of a name in the legend

Place = Callable[[np.ndarray], np.ndarray]  # numbers to px


def draw_static(chart: Chart, name: str) -> Html:
    """Return a chart as it opens, its panels beside and below each other as on a desktop, with a legend of its lines.

    `name` makes its ids unique in the page.
    """
    columns = chart.columns
    room = WIDTH / columns
    drawn, top = [], 0.0
    for row in range(0, len(chart.panels), columns):
        panels = chart.panels[row : row + columns]
        height = max(panel.height for panel in panels) * CSS_PIXELS + ABOVE + BELOW + 14
        drawn += [_panel(chart, panel, name, place * room, top, room, height) for place, panel in enumerate(panels)]
        top += height
    legend, deep = _legend(chart, top)
    return element(
        "svg",
        *drawn,
        legend,
        viewBox=f"0 0 {WIDTH:g} {top + deep:g}",
        class_="static",
        font_size=12,
        fill="var(--ink2)",
        aria_hidden="true",
    )


def _panel(chart: Chart, panel: Panel, name: str, left: float, top: float, width: float, height: float) -> Html:
    """Return a panel in a box: title, axes, and what is in it, cut at its edges."""
    low_x, high_x = chart.across(panel)[0]
    low_y, high_y = chart.up(panel)[0]
    x0, x1, y0, y1 = left + LEFT, left + width - RIGHT, top + height - BELOW - 14, top + ABOVE
    if panel.equal:  # both axes have one scale
        scale = min((x1 - x0) / (high_x - low_x), (y0 - y1) / (high_y - low_y))
        x1, y0 = x0 + scale * (high_x - low_x), y1 + scale * (high_y - low_y)
    across = _place_on(panel.across_scale, low_x, high_x, x0, x1)
    up = _place_on(panel.scale, low_y, high_y, y0, y1)
    clip = f"{name}-{left:.0f}-{top:.0f}"
    inside = [
        *(_band(band, across, up, (x0, x1, y0, y1)) for band in panel.bands),
        *(_area(area, across, up) for area in panel.areas),
        *(_level(level, across, up, (x0, x1, y0, y1)) for level in panel.levels),
        *(_line(line, across, up, (low_x, high_x)) for line in panel.lines if np.size(line.x)),
    ]
    words = panel.title or panel.label
    return element(
        "g",
        element(
            "clipPath",
            element("rect", x=f"{x0:.0f}", y=f"{y1:.0f}", width=f"{x1 - x0:.0f}", height=f"{y0 - y1:.0f}"),
            id=clip,
        ),
        None if panel.bare else _axes(panel, (low_x, high_x), (low_y, high_y), across, up, (x0, x1, y0, y1)),
        element("g", *inside, clip_path=f"url(#{clip})"),
        *(_note(note, across, up) for note in panel.notes if x0 <= across(np.array(note.x)) <= x1),
        element("text", words, x=f"{left + 2:.0f}", y=f"{top + 15:.0f}", fill="var(--ink)", font_weight=600),
    )


def _place_on(scale: object, low: float, high: float, start: float, end: float) -> Place:
    """Return what places numbers of a scale between two edges (px)."""

    def bent(values: np.ndarray) -> np.ndarray:
        given = np.asarray(values, float)
        if isinstance(scale, SymmetricLog):
            return np.sign(given) * np.log10(1 + np.abs(given) / scale.threshold)
        return np.log10(np.maximum(given, 1e-300)) if scale == "log" else given

    first, last = bent(np.array([low, high]))
    return lambda values: start + (end - start) * (bent(values) - first) / ((last - first) or 1.0)


def _axes(
    panel: Panel,
    limits_x: tuple[float, float],
    limits_y: tuple[float, float],
    across: Place,
    up: Place,
    box: tuple[float, float, float, float],
) -> Html:
    """Return grid lines with their numbers, and the words of the horizontal axis."""
    x0, x1, y0, y1 = box
    few = 4 if x1 - x0 < WIDTH / 2 else TICKS_ACROSS
    parts: list[Html] = []
    for value, words in _ticks(panel.across_scale, *limits_x, few):
        at = float(across(np.array(value)))
        parts.append(element("path", d=f"M{at:.1f} {y0:.0f}V{y1:.0f}", stroke="var(--line)"))
        parts.append(element("text", words, x=f"{at:.1f}", y=f"{y0 + 15:.0f}", text_anchor="middle"))
    ticks = panel.ticks or _ticks(panel.scale, *limits_y, TICKS_UP)
    for value, words in ticks:
        at = float(up(np.array(value)))
        if y1 - 1 <= at <= y0 + 1:
            parts.append(element("path", d=f"M{x0:.0f} {at:.1f}H{x1:.0f}", stroke="var(--line)"))
            parts.append(element("text", words, x=f"{x0 - 7:.0f}", y=f"{at + 4:.1f}", text_anchor="end"))
    parts.append(element("text", panel.across, x=f"{(x0 + x1) / 2:.0f}", y=f"{y0 + 29:.0f}", text_anchor="middle"))
    return element("g", *parts)


def _ticks(scale: object, low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Return round places on an axis and their names."""
    if isinstance(scale, SymmetricLog):
        return [(tick, power_of_ten(tick)) for tick in scale.ticks]
    if scale == "log" and low > 0:
        decades = range(int(np.ceil(np.log10(low) - 1e-9)), int(np.floor(np.log10(high) + 1e-9)) + 1)
        return [(10.0**decade, power_of_ten(10.0**decade)) for decade in decades]
    if not high > low:
        return []
    return [(float(value), f"{value + 0.0:z.6g}".replace("-", "−")) for value in round_numbers(low, high, most)]


def _line(line: Line, across: Place, up: Place, limits: tuple[float, float]) -> Html:
    """Return a line, marked points, or a filled band; of one in order what is within the limits of the horizontal axis."""
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    if np.all(np.diff(x) >= 0):
        first, last = np.searchsorted(x, limits)
        first = max(int(first) - 1, 0)
        rows = first + thin_rows(y[first : int(last) + 1], POINTS)
    else:
        rows = thin_rows(np.stack([x, y], axis=1), POINTS)
    colour = f"var(--{line.colour})"
    a, b = across(x[rows]), up(y[rows])
    if line.reach is not None:
        top = up(np.asarray(line.reach, float)[rows])
        ring = _path(np.r_[a, a[::-1]], np.r_[b, top[::-1]])
        return element("path", d=f"{ring}Z", fill=colour, opacity=0.25)
    parts = []
    if line.joined:
        dash = DASHES[line.dash]
        pattern = None if dash == "-" else " ".join(f"{1.6 * length:g}" for length in dash[1])
        path = _path(a, b)
        parts.append(element("path", d=path, stroke=colour, fill="none", stroke_width=1.5, stroke_dasharray=pattern))
    if line.marker:
        known = np.isfinite(a) & np.isfinite(b)
        size = max(line.size / 2, 1.5)
        circle = f"m-{size:g} 0a{size:g} {size:g} 0 1 0 {2 * size:g} 0a{size:g} {size:g} 0 1 0 -{2 * size:g} 0"
        dots = "".join(f"M{one:.1f} {other:.1f}{circle}" for one, other in zip(a[known], b[known], strict=True))
        parts.append(element("path", d=dots, fill="none" if line.hollow else colour, stroke=colour))
    return join(*parts)


def _path(x: np.ndarray, y: np.ndarray) -> str:
    """Return points as a path that is broken where there is a gap: each from the one before, in tenths, which is short."""
    said, before = [], None
    tenths = np.rint(10 * np.stack([x, np.clip(y, -9999.0, 9999.0)], axis=1))
    for point in tenths.tolist():
        if point[0] != point[0] or point[1] != point[1]:
            before = None
            continue
        way = point if before is None else [one - last for one, last in zip(point, before, strict=True)]
        across, up = (f"{one / 10:g}".replace("0.", ".", 1) if abs(one) < 10 else f"{one / 10:g}" for one in way)
        said.append(f"{'M' if before is None else 'l'}{across}{'' if up.startswith('-') else ' '}{up}")
        before = point
    return "".join(said) or "M0 0"


def _band(band: Band, across: Place, up: Place, box: tuple[float, float, float, float]) -> Html | None:
    x0, x1, y0, y1 = box
    if not np.isfinite([band.start, band.end]).all():
        return None
    ends = np.array([band.start, band.end])
    if band.axis == "x":
        a, b = across(ends)
        d = f"M{a:.1f} {y0:.0f}H{b:.1f}V{y1:.0f}H{a:.1f}z"
    else:
        a, b = up(ends)
        d = f"M{x0:.0f} {a:.1f}H{x1:.0f}V{b:.1f}H{x0:.0f}z"
    return element("path", d=d, fill=f"var(--{band.colour})", opacity=band.alpha)


def _area(area: Area, across: Place, up: Place) -> Html:
    path = _path(across(np.asarray(area.x, float)), up(np.asarray(area.y, float)))
    return element("path", d=f"{path}Z", fill=f"var(--{area.colour})", fill_rule="evenodd", opacity=area.alpha)


def _level(level: Level, across: Place, up: Place, box: tuple[float, float, float, float]) -> Html | None:
    x0, x1, y0, y1 = box
    if not np.isfinite(level.at):
        return None
    at = float((up if level.axis == "y" else across)(np.array(level.at)))
    d = (
        f"M{x0:.0f} {at:.1f}H{x1:.0f}"
        if level.axis == "y"
        else f"M{at:.1f} {y0:.0f}V{y0 + level.share * (y1 - y0):.0f}"
    )
    dash = "4 3" if level.dash else None
    return element("path", d=d, stroke=f"var(--{level.colour})", fill="none", stroke_dasharray=dash)


def _note(note: Note, across: Place, up: Place) -> Html | None:
    at = across(np.array(note.x)) + note.away[0], up(np.array(note.y)) - note.away[1] + (10 if note.away[1] < 0 else 0)
    if not np.isfinite(at).all():
        return None
    anchor = {"left": "start", "center": "middle", "right": "end"}[note.side]
    return element("text", note.words, x=f"{at[0]:.1f}", y=f"{at[1]:.1f}", text_anchor=anchor, font_size=11)


def _legend(chart: Chart, top: float) -> tuple[Html | None, float]:
    """Return names of lines with their colours, in rows, and how deep they are (px)."""
    named = {line.name: line.colour for panel in chart.panels for line in panel.lines if line.name}
    if not named:
        return None, 0.0
    parts, left, row = [], LEFT, 0
    for name, colour in named.items():
        wide = LETTER * len(name) + 34
        if left + wide > WIDTH and left > LEFT:
            left, row = LEFT, row + 1
        y = top + 16 + 18 * row
        parts.append(element("path", d=f"M{left:.0f} {y - 4:.0f}h14", stroke=f"var(--{colour})", stroke_width=2.5))
        parts.append(element("text", name, x=f"{left + 19:.0f}", y=f"{y:.0f}"))
        left += wide
    return element("g", *parts), 24.0 + 18 * row
