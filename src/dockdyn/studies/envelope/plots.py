"""Figures of an envelope: the boundary of an outcome over one or two keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.report.chart_frame import SHADE, frame, once, panel
from dockdyn.report.drawing import COLOURS, legend, short, styled
from dockdyn.report.field import Key
from dockdyn.stability.chart import whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 6  # crossings with their value written beside


@styled
def envelope_figure(dataset: xr.Dataset) -> Figure:
    """The region in which the outcome is met shaded, its boundary, and every case that was run."""
    answer = json.loads(dataset.attrs["envelope"])
    keys = keys_of(dataset, answer)
    return _on_plane(dataset, answer, keys) if len(keys) > 1 else _on_line(dataset, answer, keys[0])


def keys_of(dataset: xr.Dataset, answer: dict[str, Any]) -> list[Key]:
    """The keys as axes, over their ranges."""
    found = []
    for name, ends in zip("xy", answer["ranges"], strict=False):
        words = dataset[f"point_{name}"].attrs
        even = np.linspace(ends[0], ends[1], 3)  # not of one ratio: a linear axis
        found.append(Key.of(xr.DataArray(even, dims="place", attrs=words)))
    return found


def words_for(answer: dict[str, Any]) -> tuple[str, str]:
    """What met and not met are called."""
    if answer["of"] == "captured" and answer["required"] == "true":
        return "captured", "not captured"
    words = f"{answer['of']} {answer['required']}"
    return words, f"not {words}"


def _on_plane(dataset: xr.Dataset, answer: dict[str, Any], keys: list[Key]) -> Figure:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    figure, ax = panel(3.9, entries=6)
    frame(ax, keys)
    outlines = _pieces_of(dataset, "region")
    if outlines:  # outlines around holes run the other way
        whole = Path.make_compound_path(*(Path(line, closed=True) for line in outlines))
        ax.add_patch(PathPatch(whole, label=words_for(answer)[0], **SHADE))
    for piece in _pieces_of(dataset, "boundary"):
        ax.plot(*piece.T, color=COLOURS["ink"], linewidth=1.6, label=once(ax, "boundary"))
    _mark_cases(ax, answer, dataset.met.values, dataset.point_x.values, dataset.point_y.values)
    _mark_nominal(ax, answer["scenario_at"], keys)
    legend(figure, ax)
    return figure


def _pieces_of(dataset: xr.Dataset, group: str) -> list[np.ndarray]:
    """The lines of a dataset that NaN parts, each (points, keys)."""
    names = [name for name in (f"{group}_x", f"{group}_y") if name in dataset]
    return whole(np.stack([dataset[name].values for name in names], axis=1))


def _on_line(dataset: xr.Dataset, answer: dict[str, Any], key: Key) -> Figure:
    met, _ = words_for(answer)
    figure, ax = panel(0.9, entries=6)
    frame(ax, [key])
    ax.set(ylim=(-0.35, 1.35), yticks=[0, 1], yticklabels=["no", "yes"], ylabel=short(met, 16))
    for start, end in (piece[:, 0] for piece in _pieces_of(dataset, "region")):
        ax.axvspan(start, end, label=once(ax, met), **SHADE)
    crossings = [float(piece[0, 0]) for piece in _pieces_of(dataset, "boundary")]
    for crossing in crossings:
        ax.axvline(crossing, color=COLOURS["ink"], linewidth=1.6, label=once(ax, "boundary"))
    apart = np.diff([key.share(np.asarray(crossing)) for crossing in crossings], prepend=-1.0) > 0.15
    for crossing in np.array(crossings)[apart][:NAMED].tolist():
        late = key.share(np.asarray(crossing)) > 0.85
        side: dict[str, Any] = {"ha": "right" if late else "left", "va": "center", "fontsize": 8}
        ax.annotate(key.said(crossing), (crossing, 0.5), (-6 if late else 6, 0), textcoords="offset points", **side)
    _mark_cases(ax, answer, dataset.met.values, dataset.point_x.values, np.nan_to_num(dataset.met.values, nan=0.5))
    _mark_nominal(ax, [*answer["scenario_at"], 0.5], [key])
    legend(figure, ax)
    return figure


def _mark_cases(ax: Axes, answer: dict[str, Any], met: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Every case that was run, by what became of it."""
    style: dict[str, Any] = {"linestyle": "none", "zorder": 3, "clip_on": False}
    looks: list[tuple[np.ndarray, str, dict[str, Any]]] = [
        (met == 1, words_for(answer)[0], {"marker": ".", "color": COLOURS["blue"], "markersize": 2.4}),
        (met == 0, words_for(answer)[1], {"marker": ".", "color": COLOURS["orange"], "markersize": 2.4}),
        (np.isnan(met), "a run that failed", {"marker": "x", "color": COLOURS["purple"], "markersize": 3.5}),
    ]
    for chosen, words, look in looks:
        if chosen.any():
            ax.plot(x[chosen], y[chosen], label=f"a run: {words}" if look["marker"] == "." else words, **style, **look)


def _mark_nominal(ax: Axes, at: list[float | None], keys: list[Key]) -> None:
    """Where the scenario itself lies, when inside the ranges."""
    place = [np.nan if value is None else value for value in at[:2]]
    if not all(0 <= key.share(np.asarray(value)) <= 1 for value, key in zip(place, keys, strict=False)):
        return
    style: dict[str, Any] = {"markersize": 9, "markeredgewidth": 1.4, "zorder": 4, "clip_on": False}
    ax.plot(
        place[:1],
        place[1:],
        "X",
        color=COLOURS["green"],
        markeredgecolor=COLOURS["paper"],
        label="this scenario",
        **style,
    )
