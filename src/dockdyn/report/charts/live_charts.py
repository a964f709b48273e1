"""Charts inside a page: packed with the library that draws them, unpacked by `charts.js`, with nothing from outside."""

from __future__ import annotations

import base64
import gzip
import json
import math
from functools import cache
from importlib import resources, util
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.report.charts.chart import Area, Chart, Line, Panel, SymmetricLog, thin_rows
from dockdyn.report.drawing import LINEAR, power_of_ten
from dockdyn.report.palette import DASHES

MOST = 4000  # points of a line
PACKED = 5  # level: of the library the next ones save 1 % in twice the time


def read_script(name: str) -> str:
    """Return a script of the page."""
    return resources.files("dockdyn.report.charts").joinpath(name).read_text(encoding="utf-8")


@cache
def packed_library() -> str:
    """Return BokehJS, compressed, as text of a script element; its Python package lies there, and is not imported."""
    found = util.find_spec("bokeh")
    assert found is not None and found.origin is not None  # it is required
    code = (Path(found.origin).parent / "server/static/js/bokeh.min.js").read_bytes()
    return base64.b64encode(gzip.compress(code, PACKED, mtime=0)).decode()


def packed_charts(charts: list[Chart]) -> str:
    """Return the charts, compressed, as text of a script element: the length of a head of JSON, the head, and all numbers.

    Numbers are of single precision, their first bytes first, then their second ones: so they are shorter, compressed.
    """
    columns = _Columns()
    facts = {"charts": [_chart_as_json(chart, columns) for chart in charts], "ends": columns.ends}
    head = json.dumps(_without_nan(facts), allow_nan=False).encode()
    numbers = np.concatenate([np.zeros(0, "<f4"), *columns.found]).view(np.uint8).reshape(-1, 4).T.tobytes()
    data = len(head).to_bytes(4, "little") + head + numbers
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


class _Columns:
    """Columns of numbers one after the other, each of them once."""

    def __init__(self) -> None:
        self.found: list[np.ndarray] = []
        self.ends: list[int] = []
        self._places: dict[bytes, int] = {}

    def place(self, values: np.ndarray) -> int:
        """Return the place of a column, at which it is put if it is not there yet."""
        with np.errstate(over="ignore"):  # what has diverged beyond 3e38 leaves every panel
            column = np.asarray(values, "<f4")
        key = column.tobytes()
        if key not in self._places:
            self._places[key] = len(self.found)
            self.found.append(column)
            self.ends.append(column.size + (self.ends[-1] if self.ends else 0))
        return self._places[key]


def _chart_as_json(chart: Chart, columns: _Columns) -> dict[str, Any]:
    """Return a chart as JSON, its numbers put into columns."""
    return {
        "columns": chart.columns,
        "over": chart.over,
        "events": chart.events,
        "tiles": chart.tiles,
        "opens": chart.window is not None,
        "panels": [_panel_facts(chart, panel, columns) for panel in chart.panels],
    }


def _panel_facts(chart: Chart, panel: Panel, columns: _Columns) -> dict[str, Any]:
    scale = panel.scale
    return {
        "label": panel.label,
        "across": panel.across,
        "title": panel.title,
        "height": panel.height,
        "x": chart.across(panel),
        "y": chart.up(panel),
        "scale": {"threshold": scale.threshold, "linear": LINEAR} if isinstance(scale, SymmetricLog) else scale,
        "ticks": [[tick, power_of_ten(tick)] for tick in scale.ticks]
        if isinstance(scale, SymmetricLog)
        else panel.ticks,
        "acrossScale": panel.across_scale,
        "equal": panel.equal,
        "shape": panel.shape,
        "bare": panel.bare,
        "areas": [_area_facts(area, columns) for area in panel.areas],
        "lines": [_line_facts(line, columns) for line in panel.lines if np.size(line.x)],
        "bands": [vars(band) for band in panel.bands if np.isfinite([band.start, band.end]).all()],
        "levels": [
            vars(level) | {"dash": _dash_pattern(level.dash)} for level in panel.levels if np.isfinite(level.at)
        ],
        "notes": [vars(note) | {"level": note.level} for note in panel.notes if np.isfinite([note.x, note.y]).all()],
    }


def _line_facts(line: Line, columns: _Columns) -> dict[str, Any]:
    x, y = np.asarray(line.x, float), np.asarray(line.y, float)
    turns = y if np.all(np.diff(x) >= 0) else np.stack([x, y], axis=1)
    rows = thin_rows(turns, MOST)
    reach = None if line.reach is None else columns.place(np.asarray(line.reach, float)[rows])
    look = {
        key: getattr(line, key) for key in ("colour", "name", "width", "marker", "size", "joined", "hollow", "read")
    }
    drawn = {"x": columns.place(x[rows]), "y": columns.place(y[rows]), "reach": reach}
    return look | drawn | {"dash": _dash_pattern(line.dash)}


def _area_facts(area: Area, columns: _Columns) -> dict[str, Any]:
    look = {key: getattr(area, key) for key in ("colour", "name", "alpha")}
    return look | {"x": columns.place(np.asarray(area.x, float)), "y": columns.place(np.asarray(area.y, float))}


def _without_nan(facts: Any) -> Any:  # noqa: ANN401, JSON
    """Return JSON with null for what is no number or infinite: a page that reads such a word draws no chart at all."""
    if isinstance(facts, dict):
        return {key: _without_nan(one) for key, one in facts.items()}
    if isinstance(facts, list | tuple):
        return [_without_nan(one) for one in facts]
    return None if isinstance(facts, float) and not math.isfinite(facts) else facts


def _dash_pattern(place: int) -> list[float]:
    """Return the pattern of a dash (widths of the line); none of a line that goes through."""
    found = DASHES[place]
    return [] if found == "-" else list(found[1])
