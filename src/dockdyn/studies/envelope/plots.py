"""Figures of an envelope: the boundary of an outcome over one or two keys."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.dataset import DataArray, Dataset
from dockdyn.report.charts.chart import Area, Band, Chart, Level, Line, Note, Panel, line_through
from dockdyn.report.charts.section import join_curves
from dockdyn.report.drawing import short_label
from dockdyn.report.field import Key
from dockdyn.stability.chart import finite_parts

SHADED = 0.22  # how dark the region is
NAMED = 6  # crossings with their value written beside


def envelope_figure(dataset: Dataset) -> Chart:
    """Return the region in which the outcome is met shaded, its boundary, and every case that was run."""
    answer = json.loads(dataset.attrs["envelope"])
    keys = keys_of(dataset, answer)
    return _on_plane(dataset, answer, keys) if len(keys) > 1 else _on_line(dataset, answer, keys[0])


def keys_of(dataset: Dataset, answer: dict[str, Any]) -> list[Key]:
    """Return the keys as axes, over their ranges."""
    found = []
    for name, ends in zip("xy", answer["ranges"], strict=False):
        words = dataset[f"point_{name}"].attrs
        even = np.linspace(ends[0], ends[1], 3)  # not of one ratio: a linear axis
        found.append(Key.of(DataArray(even, dims="place", attrs=words)))
    return found


def words_for(answer: dict[str, Any]) -> tuple[str, str]:
    """Return what met and not met are called."""
    if answer["of"] == "captured" and answer["required"] == "true":
        return "captured", "not captured"
    words = f"{answer['of']} {answer['required']}"
    return words, f"not {words}"


def _on_plane(dataset: Dataset, answer: dict[str, Any], keys: list[Key]) -> Chart:
    met, _ = words_for(answer)
    outlines = _pieces_of(dataset, "region")
    region = join_curves(outlines)
    areas = [Area(region[:, 0], region[:, 1], "sky", met, alpha=SHADED)] if outlines else []
    boundary = join_curves(_pieces_of(dataset, "boundary"))
    lines = [line_through(boundary, "ink", "boundary", width=1.6)] if len(boundary) else []
    lines += _case_points(answer, dataset.met.values, dataset.point_x.values, dataset.point_y.values)
    lines += _nominal_point(answer["scenario_at"], keys)
    return Chart(
        [_key_panel(keys[0], lines, 3.9, label=keys[1].label, areas=areas, limits=keys[1].ends, scale=keys[1].scale)]
    )


def _pieces_of(dataset: Dataset, group: str) -> list[np.ndarray]:
    """Return the lines of a dataset that NaN parts, each (points, keys)."""
    names = [name for name in (f"{group}_x", f"{group}_y") if name in dataset]
    return finite_parts(np.stack([dataset[name].values for name in names], axis=1))


def _on_line(dataset: Dataset, answer: dict[str, Any], key: Key) -> Chart:
    met, _ = words_for(answer)
    regions = [piece[:, 0] for piece in _pieces_of(dataset, "region")]
    crossings = [float(piece[0, 0]) for piece in _pieces_of(dataset, "boundary")]
    apart = np.diff([key.share(np.asarray(crossing)) for crossing in crossings], prepend=-1.0) > 0.15
    lines = _case_points(answer, dataset.met.values, dataset.point_x.values, np.nan_to_num(dataset.met.values, nan=0.5))
    panel = _key_panel(
        key,
        [*lines, *_nominal_point([*answer["scenario_at"], 0.5], [key])],
        0.9,
        label=short_label(met, 16),
        limits=(-0.35, 1.35),
        ticks=[(0.0, "no"), (1.0, "yes")],
        bands=[Band(float(start), float(end), "", "sky", alpha=SHADED, legend=met) for start, end in regions],
        levels=[Level(crossing, "x", colour="ink", width=1.6, legend="boundary") for crossing in crossings],
        notes=[_crossing_note(key, crossing) for crossing in np.array(crossings)[apart][:NAMED].tolist()],
    )
    return Chart([panel])


def _crossing_note(key: Key, crossing: float) -> Note:
    """Return the value of a crossing, beside its line."""
    late = bool(key.share(np.asarray(crossing)) > 0.85)
    return Note(crossing, 0.5, key.said(crossing), (-6.0 if late else 6.0, 0.0), "right" if late else "left")


def _key_panel(key: Key, lines: list[Line], height: float, *, label: str, **rest: Any) -> Panel:  # noqa: ANN401, fields of it
    """Return a panel over a key."""
    return Panel(label, lines, height, across=key.label, across_scale=key.scale, across_limits=key.ends, **rest)


def _case_points(answer: dict[str, Any], met: np.ndarray, x: np.ndarray, y: np.ndarray) -> list[Line]:
    """Return every case that was run, by what became of it."""
    yes, no = words_for(answer)
    looks: list[tuple[np.ndarray, Line]] = [
        (met == 1, Line(x, y, "blue", f"a run: {yes}", marker=".", size=2.4, joined=False)),
        (met == 0, Line(x, y, "orange", f"a run: {no}", marker=".", size=2.4, joined=False)),
        (
            np.isnan(met),
            Line(x, y, "purple", f"a run that {_without_answer(answer)}", marker="x", size=3.5, joined=False),
        ),
    ]
    return [replace(line, x=x[chosen], y=y[chosen]) for chosen, line in looks if chosen.any()]


def _without_answer(answer: dict[str, Any]) -> str:
    """Return why runs say neither yes nor no."""
    if not answer["failed"]:
        return "leaves it open"
    return (
        "failed"
        if not answer.get("undecided") and not answer.get("peak_force_not_known")
        else "failed or leaves it open"
    )


def _nominal_point(at: list[float | None], keys: list[Key]) -> list[Line]:
    """Return where the scenario itself lies, when inside the ranges."""
    place = [np.nan if value is None else value for value in at[:2]]
    if not all(0 <= key.share(np.asarray(value)) <= 1 for value, key in zip(place, keys, strict=False)):
        return []
    return [Line(place[:1], place[1:], "green", "this scenario", marker="X", size=9, joined=False)]
