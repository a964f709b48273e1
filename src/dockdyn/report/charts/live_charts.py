"""Charts as JSON for the page, which `web/src/figure.ts` draws: their numbers are columns of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dockdyn.report.charts.chart import Area, Chart, Limits, Line, Panel, SymmetricLog, thin_rows
from dockdyn.report.columns import STEPS, PageColumns
from dockdyn.report.drawing import LINEAR, power_of_ten
from dockdyn.report.palette import DASHES

MOST = 4000  # points of a line
LEAST = 256  # steps of a column that an axis must hold, about as many as it has pixels


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
    scale, lines = panel.scale, [line for line in panel.lines if np.size(line.x)]
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
        "areas": [_area_facts(area, columns, chart, panel) for area in panel.areas],
        "lines": [
            _line_facts(line, rows, columns, chart, panel)
            for line, rows in zip(lines, _thinned_rows(lines), strict=True)
        ],
        "bands": [vars(band) | {"at": band.place} for band in panel.bands if np.isfinite([band.start, band.end]).all()],
        "levels": [
            vars(level) | {"dash": _dash_pattern(level.dash)} for level in panel.levels if np.isfinite(level.at)
        ],
        "notes": [vars(note) | {"level": note.level} for note in panel.notes if np.isfinite([note.x, note.y]).all()],
    }


def _is_in_order(x: np.ndarray) -> bool:
    return bool(np.all(np.diff(x) >= 0))


def _thinned_rows(lines: Sequence[Line]) -> list[np.ndarray]:
    """Return the rows of each line that draw it; of lines over the same times the same ones, which a page then has once."""
    found = []
    for line in lines:
        x, y = np.asarray(line.x, float), np.asarray(line.y, float)
        if _is_in_order(x):
            alike = [one.y for one in lines if np.array_equal(np.asarray(one.x, float), x, equal_nan=True)]
            turns = np.stack(alike, axis=1)
        else:
            turns = np.stack([x, y], axis=1)
        found.append(thin_rows(turns, MOST))
    return found


def _line_facts(line: Line, rows: np.ndarray, columns: PageColumns, chart: Chart, panel: Panel) -> dict[str, Any]:
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    up, across = panel.scale != "linear", panel.across_scale != "linear" or _is_in_order(x)  # times must be exact
    reach = None if line.reach is None else np.asarray(line.reach, float)[rows]
    look = {
        key: getattr(line, key) for key in ("colour", "name", "width", "marker", "size", "joined", "hollow", "read")
    }
    drawn = {
        "x": columns.place(x[rows], exact=across or _is_coarse(x, chart.across(panel))),
        "y": columns.place(y[rows], exact=up or _is_coarse(y, chart.up(panel))),
        "reach": None if reach is None else columns.place(reach, exact=up or _is_coarse(reach, chart.up(panel))),
    }
    found = look | drawn | {"dash": _dash_pattern(line.dash)}
    return found if line.source is None else found | {"source": vars(line.source)}


def _area_facts(area: Area, columns: PageColumns, chart: Chart, panel: Panel) -> dict[str, Any]:
    x, y = np.asarray(area.x, float), np.asarray(area.y, float)
    look = {key: getattr(area, key) for key in ("colour", "name", "alpha")}
    return look | {
        "x": columns.place(x, exact=_is_coarse(x, chart.across(panel))),
        "y": columns.place(y, exact=_is_coarse(y, chart.up(panel))),
    }


def _is_coarse(values: np.ndarray, axis: tuple[Limits, Limits]) -> bool:
    """Return whether steps of the range of `values` are seen on an axis, on which it opens or all of it: of a run that
    diverges far beyond the axis they would make zeros of all that is drawn."""
    finite = values[np.isfinite(values)]
    return finite.size > 0 and min(high - low for low, high in axis) * STEPS < LEAST * float(np.ptp(finite))


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
