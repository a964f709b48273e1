"""A chart on paper: a Matplotlib figure, in the style of the reports or as wide as a column of a journal."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dockdyn.report.charts.chart import Area, Band, Chart, Level, Line, Note, Panel, SymmetricLog
from dockdyn.report.drawing import (
    CLOSE,
    LEFT,
    LEGEND_COLUMNS,
    STYLE,
    WIDTH,
    align_label,
    plain_tick,
    power_of_ten,
    scale_symmetrically,
    size_panels,
)
from dockdyn.report.palette import COLOURS, DASHES

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = Literal["report", "paper"]
COLUMN = 88 / 25.4  # in, the width of a column
LETTERS = 8  # pt, on paper
LOWER = 0.85  # of the height of panels, on paper
TALLER = 1.25  # times as high for its width is a figure of tiles on paper, because its letters do not shrink with it
FEW = 300  # times the least of an axis is the most, below which it has more numbers than powers of ten
LETTER, GAP = 0.065, 0.15  # in: a letter of a name on an axis, and what is free beside it
LONG = 24  # letters of an entry of the legend, of which one fits beside another on paper
PAPER = dict.fromkeys([name for name in STYLE if name.endswith("size")], LETTERS)


def print_chart(chart: Chart, style: Style = "report", *, whole: bool = False) -> Figure:
    """Return the chart as a figure: of the window on which it opens or, if asked, of the `whole` run."""
    from matplotlib import style as styles
    from matplotlib.figure import Figure

    with styles.context([STYLE, PAPER] if style == "paper" else STYLE, after_reset=True):
        figure = Figure(layout="constrained" if style == "paper" else None)
        columns = chart.columns if style == "report" or chart.tiles else 1
        heights = [panel.height for panel in chart.panels[::columns]]
        axes = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights)
        entries: dict[str, Artist] = {}
        for ax, panel in zip(axes.flat, chart.panels, strict=True):
            _draw_panel(ax, panel, entries)
            _frame_panel(ax, panel, chart, whole)
        for place, (left, panel) in enumerate(pairwise(chart.panels), start=1):
            if chart.tiles and place % columns and left.label == panel.label:
                axes.flat[place].set_ylabel("")
        for ax, panel, below in zip(axes.flat, chart.panels, chart.panels[columns:], strict=False):
            if panel.across == below.across and panel.across_limits == below.across_limits:
                ax.set_xlabel("")
                ax.tick_params(labelbottom=False)
        for ax, panel in zip(axes[0], chart.panels, strict=False):
            _name_events(ax, panel)
        for place, (left, panel) in enumerate(pairwise(chart.panels), start=1):
            if place % columns and panel.ticks and left.ticks == panel.ticks:  # the same names again
                axes.flat[place].set_yticklabels([])
        if style == "paper":
            _fit_column(figure, chart, heights, entries)
        else:
            _fit_report(figure, axes, chart, heights, entries)
    return figure


def _draw_panel(ax: Axes, panel: Panel, entries: dict[str, Artist]) -> None:
    """Draw what is in a panel; the first artist of each name is kept for the legend."""
    for area in panel.areas:
        entries.setdefault(area.name, _fill_area(ax, area))
    for band in panel.bands:
        entries.setdefault(band.legend, _draw_band(ax, band))
    for level in panel.levels:
        entries.setdefault(level.legend, _draw_level(ax, level))
    for line in panel.lines:
        entries.setdefault(line.name, _draw_line(ax, line))
    for note in panel.notes:
        _write_note(ax, note)
    entries.pop("", None)


def _fill_area(ax: Axes, area: Area) -> Artist:
    """Return rings as one path, so that holes stay open."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    rings = rings_of(area)
    codes = [[Path.MOVETO] + [Path.LINETO] * (len(ring) - 1) for ring in rings]
    path = Path(
        np.concatenate([np.zeros((0, 2)), *rings]), np.concatenate([np.zeros(0, int), *codes]).astype(Path.code_type)
    )
    return ax.add_patch(PathPatch(path, facecolor=COLOURS[area.colour], alpha=area.alpha, linewidth=0, zorder=0.1))


def rings_of(area: Area) -> list[np.ndarray]:
    """Return the rings of an area, (n, 2) each."""
    points = np.stack([np.asarray(area.x, float), np.asarray(area.y, float)], axis=1)
    gaps = np.flatnonzero(np.isnan(points).any(axis=1))
    found = [part[~np.isnan(part).any(axis=1)] for part in np.split(points, gaps)]
    return [ring for ring in found if len(ring)]


def _write_note(ax: Axes, note: Note) -> None:
    """Write words on a ground that leaves them readable over lines."""
    ground = {"facecolor": COLOURS["paper"], "edgecolor": "none", "alpha": 0.6, "pad": 0.4}
    look: dict[str, Any] = {
        "ha": note.side,
        "va": note.level,
        "bbox": ground,
        "annotation_clip": True,
        "in_layout": False,
    }
    colour = COLOURS["muted" if note.small else "ink"]
    ax.annotate(note.words, (note.x, note.y), note.away, textcoords="offset points", fontsize=8, color=colour, **look)


def _draw_line(ax: Axes, line: Line) -> Artist:
    colour = COLOURS[line.colour]
    if line.reach is not None:
        return ax.fill_between(line.x, line.y, line.reach, color=colour, alpha=0.25, linewidth=0)
    look: dict[str, Any] = {"color": colour, "linewidth": line.width, "marker": line.marker, "markersize": line.size}
    look["linestyle"] = DASHES[line.dash] if line.joined else "none"
    if line.marker == "X":  # set apart from what is around it
        look |= {"markeredgecolor": COLOURS["paper"], "markeredgewidth": 1.4, "zorder": 4}
    if line.hollow:
        look["markerfacecolor"] = COLOURS["paper"]
    return ax.plot(line.x, line.y, **look)[0]


def _draw_band(ax: Axes, band: Band) -> Artist:
    """Return the thin edge keeps a short one visible."""
    span = ax.axvspan if band.axis == "x" else ax.axhspan
    edge = 0.4 if band.alpha == 1 else 0
    return span(band.start, band.end, color=COLOURS[band.colour], alpha=band.alpha, linewidth=edge, zorder=0)


def _draw_level(ax: Axes, level: Level) -> Artist:
    look: dict[str, Any] = {
        "color": COLOURS[level.colour], "linewidth": level.width, "linestyle": DASHES[level.dash]
    }  # fmt: skip
    return ax.axhline(level.at, **look) if level.axis == "y" else ax.axvline(level.at, ymax=level.share, **look)


def _frame_panel(ax: Axes, panel: Panel, chart: Chart, whole: bool) -> None:
    """Set scales, limits and labels of a panel."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if panel.scale == "log":
        ax.set_yscale("log")
        least, most = chart.up(panel)[whole]
        if most < FEW * least:
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        read = least >= 1e-3 and most < 1e5
        ax.yaxis.set_major_formatter(FuncFormatter(plain_tick if read else power_of_ten))
        ax.yaxis.minorticks_off()
    if panel.across_scale == "log":
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(plain_tick))
    if panel.equal:
        ax.set_aspect("equal", adjustable="datalim" if panel.shape is None else "box")
    ax.set_xlim(*chart.across(panel)[whole])
    ax.set_ylim(*chart.up(panel)[whole])
    if isinstance(panel.scale, SymmetricLog):
        scale_symmetrically(ax, panel.scale)
    elif panel.ticks:
        ax.set_yticks(*zip(*panel.ticks, strict=True))
        ax.grid(axis="y", visible=False)  # it would strike the names' words through
    if panel.bare:
        ax.set_axis_off()
    ax.set_ylabel(panel.label)
    ax.set_xlabel(panel.across)
    if panel.title:
        named = any(band.name for band in panel.bands) or any(level.name for level in panel.levels)
        weight = "normal" if chart.tiles else "bold"
        ax.set_title(panel.title, loc="left", pad=13 if named else 4, fontweight=weight)


def _name_events(ax: Axes, panel: Panel) -> None:
    """Write names above shaded times and lines; neighbours too close for that share one text."""
    low, high = ax.get_xlim()
    places = [(band.place, band.name) for band in panel.bands if band.name and band.axis == "x"]
    places += [(level.at, level.name) for level in panel.levels if level.name]
    groups: list[list[tuple[float, str]]] = []
    for at, name in sorted(place for place in places if low <= place[0] <= high):
        if groups and at - groups[-1][-1][0] < CLOSE * (high - low):
            groups[-1].append((at, name))
        else:
            groups.append([(at, name)])
    for group in groups:
        names = [name for _, name in group]
        words = ", ".join(names) if len(names) < 3 else f"{names[0]}–{names[-1]}"
        middle = (group[0][0] + group[-1][0]) / 2
        at_end = middle > high - CLOSE * (high - low)
        look: dict[str, Any] = {"ha": "right" if at_end else "center", "va": "bottom", "color": COLOURS["muted"]}
        ax.text(high if at_end else middle, 1.02, words, transform=ax.get_xaxis_transform(), fontsize=8, **look)


def _fit_report(figure: Figure, axes: np.ndarray, chart: Chart, heights: list[float], entries: dict[str, Any]) -> None:
    """Set margins that are the same in every figure, so that times line up; the legend above the panels."""
    titled = any(panel.title for panel in chart.panels)
    labelled = any(ax.axison and ax.get_xlabel() for ax in axes[:-1].flat)
    size_panels(figure, heights, len(entries), title=0.2 if titled else 0.0, labelled=labelled)
    longest = max((len(name) for panel in chart.panels for _, name in panel.ticks), default=0)
    figure.subplots_adjust(left=max(LEFT, min(LETTER * longest + GAP, WIDTH / 2)) / WIDTH)
    if chart.columns > 1:
        figure.subplots_adjust(wspace=0.33)
    for ax in axes[:, 0]:
        align_label(ax)
    if len(entries) > 1:
        corner, columns = (LEFT / WIDTH, 1.0), min(LEGEND_COLUMNS, len(entries))
        look: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": corner, "borderaxespad": 0.1}
        figure.legend(entries.values(), entries.keys(), ncols=columns, **look)


def _fit_column(figure: Figure, chart: Chart, heights: list[float], entries: dict[str, Any]) -> None:
    """Set the width of a column, the legend above the panels in as many columns as fit; small pictures are made smaller."""
    columns = 1 if max(map(len, entries), default=0) > LONG else 2
    rows = -(-len(entries) // columns) if len(entries) > 1 else 0
    lower = COLUMN / WIDTH * TALLER if chart.tiles else LOWER
    figure.set_size_inches(COLUMN, lower * sum(heights) + 0.5 + 0.17 * rows)
    if rows:
        figure.legend(entries.values(), entries.keys(), loc="outside upper left", ncols=columns)
