"""Charts as JSON for the page, which `web/src/figure.ts` draws: their numbers are columns of the page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dockdyn.report.charts.chart import Area, Chart, Line, Panel, SymmetricLog, thin_rows
from dockdyn.report.columns import PageColumns
from dockdyn.report.drawing import LINEAR, power_of_ten
from dockdyn.report.palette import DASHES

MOST = 4000  # points of a line


def chart_as_json(chart: Chart, columns: PageColumns) -> dict[str, Any]:
    """Return a chart as JSON, its numbers put into columns."""
    return {
        "columns": chart.columns,
        "over": chart.over,
        "events": chart.events,
        "tiles": chart.tiles,
        "opens": chart.window is not None,
        "panels": [_panel_facts(chart, panel, columns) for panel in chart.panels],
    }


def _panel_facts(chart: Chart, panel: Panel, columns: PageColumns) -> dict[str, Any]:
    scale = panel.scale
    return {
        "label": panel.label,
        "across": panel.across,
        "title": panel.title,
        "height": panel.height,
        "x": chart.across(panel),
        "y": chart.up(panel),
        "limits": panel.limits,
        "scale": {"threshold": scale.threshold, "linear": LINEAR} if isinstance(scale, SymmetricLog) else scale,
        "ticks": [[tick, power_of_ten(tick)] for tick in scale.ticks]
        if isinstance(scale, SymmetricLog)
        else panel.ticks,
        "acrossScale": panel.across_scale,
        "equal": panel.equal,
        "shape": panel.shape,
        "bare": panel.bare,
        "areas": [_area_facts(area, columns) for area in panel.areas],
        "lines": [_line_facts(line, columns, panel) for line in panel.lines if np.size(line.x)],
        "bands": [vars(band) for band in panel.bands if np.isfinite([band.start, band.end]).all()],
        "levels": [
            vars(level) | {"dash": _dash_pattern(level.dash)} for level in panel.levels if np.isfinite(level.at)
        ],
        "notes": [vars(note) | {"level": note.level} for note in panel.notes if np.isfinite([note.x, note.y]).all()],
    }


def _line_facts(line: Line, columns: PageColumns, panel: Panel) -> dict[str, Any]:
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    turns = y if np.all(np.diff(x) >= 0) else np.stack([x, y], axis=1)
    rows = thin_rows(turns, MOST)
    exact, across = panel.scale != "linear", panel.across_scale != "linear" or turns is y  # times must be exact
    reach = None if line.reach is None else columns.place(np.asarray(line.reach, float)[rows], exact=exact)
    look = {
        key: getattr(line, key) for key in ("colour", "name", "width", "marker", "size", "joined", "hollow", "read")
    }
    drawn = {"x": columns.place(x[rows], exact=across), "y": columns.place(y[rows], exact=exact), "reach": reach}
    found = look | drawn | {"dash": _dash_pattern(line.dash)}
    return found if line.source is None else found | {"source": vars(line.source)}


def _area_facts(area: Area, columns: PageColumns) -> dict[str, Any]:
    look = {key: getattr(area, key) for key in ("colour", "name", "alpha")}
    return look | {"x": columns.place(np.asarray(area.x, float)), "y": columns.place(np.asarray(area.y, float))}


def without_nan(facts: Any) -> Any:  # noqa: ANN401, JSON
    """Return JSON with null for what is no number or infinite: a page that reads such a word draws no chart at all."""
    if isinstance(facts, dict):
        return {key: without_nan(one) for key, one in facts.items()}
    if isinstance(facts, list | tuple):
        return [without_nan(one) for one in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def _dash_pattern(place: int) -> list[float]:
    """Return the pattern of a dash (widths of the line); none of a line that goes through."""
    found = DASHES[place]
    return [] if found == "-" else list(found[1])
