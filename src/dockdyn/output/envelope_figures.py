"""Figures of an envelope: the boundary of an outcome over one or two keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.output.drawing import COLOURS, legend, styled
from dockdyn.output.stability_field import Key
from dockdyn.output.stability_figures import SHADE, frame, once, panel
from dockdyn.study.envelope import outcome_field

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 6  # crossings with their value written beside


@styled
def envelope_figure(dataset: xr.Dataset) -> Figure:
    """The region in which the outcome is met shaded, its boundary, and every case that was run."""
    answer = json.loads(dataset.attrs["envelope"])
    keys = keys_of(dataset, answer)
    return on_plane(dataset, answer, keys) if len(keys) > 1 else on_line(dataset, answer, keys[0])


def keys_of(dataset: xr.Dataset, answer: dict[str, Any]) -> list[Key]:
    """The keys as axes, over their ranges."""
    found = []
    for name, ends in zip("xy", answer["ranges"], strict=False):
        words = dataset[f"point_{name}"].attrs
        found.append(Key.of(xr.DataArray(np.asarray(ends, float), dims="end", attrs=words)))
    return found


def words_for(of: str) -> tuple[str, str]:
    """What met and not met are called."""
    return ("captured", "not captured") if of == "captured" else (f"{of} met", f"{of} not met")


def on_plane(dataset: xr.Dataset, answer: dict[str, Any], keys: list[Key]) -> Figure:
    from matplotlib.tri import Triangulation

    places = np.stack([dataset.point_x.values, dataset.point_y.values], axis=1)
    pieces = [np.asarray(piece) for piece in answer["boundary"]]
    figure, ax = panel(3.9, entries=6)
    frame(ax, keys)
    met, _ = words_for(answer["of"])
    shares = [np.stack([key.share(part[:, i]) for i, key in enumerate(keys)], axis=1) for part in (places, *pieces)]
    corners, triangles, values = outcome_field(shares[0], dataset.met.values, shares[1:])
    known = ~np.isnan(values[triangles]).any(axis=1)
    if known.any() and np.nanmax(values) > 0:
        shaded = Triangulation(*(key.value(part) for key, part in zip(keys, corners.T, strict=True)), triangles, ~known)
        shade = {"colors": [SHADE["color"]], "alpha": SHADE["alpha"], "zorder": 0}
        ax.tricontourf(shaded, np.nan_to_num(values), levels=[0, 2], **shade)
        ax.fill([], [], label=met, **SHADE)
    for piece in pieces:
        ax.plot(*piece.T, color=COLOURS["ink"], linewidth=1.8, label=once(ax, "boundary"))
    mark_cases(ax, answer["of"], dataset.met.values, *places.T)
    mark_nominal(ax, answer["scenario_at"], keys)
    legend(figure, ax)
    return figure


def on_line(dataset: xr.Dataset, answer: dict[str, Any], key: Key) -> Figure:
    figure, ax = panel(0.9, entries=6)
    frame(ax, [key])
    ax.set(ylim=(-0.35, 1.35), yticks=[0, 1], yticklabels=["no", "yes"], ylabel=words_for(answer["of"])[0])
    crossings = np.sort([piece[0][0] for piece in answer["boundary"]])
    places, met = dataset.point_x.values, dataset.met.values
    edges = np.r_[key.values[0], crossings, key.values[-1]]
    for start, end in zip(edges, edges[1:], strict=False):
        inside = met[(places > start) & (places < end)]
        if inside.size and np.nanmin(inside) == 1:
            ax.axvspan(start, end, label=once(ax, words_for(answer["of"])[0]), **SHADE)
    for crossing in crossings:
        ax.axvline(crossing, color=COLOURS["ink"], linewidth=1.8, label=once(ax, "boundary"))
    for crossing in crossings[:NAMED]:
        late = key.share(crossing) > 0.85
        ax.annotate(
            key.said(crossing),
            (crossing, 0.5),
            (-6 if late else 6, -3),
            textcoords="offset points",
            ha="right" if late else "left",
            fontsize=8,
        )
    mark_cases(ax, answer["of"], met, places, np.nan_to_num(met, nan=0.5))
    mark_nominal(ax, [*answer["scenario_at"], 0.5], [key])
    legend(figure, ax)
    return figure


def mark_cases(ax: Axes, of: str, met: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Every case that was run, by what became of it."""
    style: dict[str, Any] = {"linestyle": "none", "zorder": 3, "clip_on": False}
    for chosen, words, look in (
        (met == 1, words_for(of)[0], {"marker": ".", "color": COLOURS["blue"], "markersize": 2.4}),
        (met == 0, words_for(of)[1], {"marker": ".", "color": COLOURS["orange"], "markersize": 2.4}),
        (np.isnan(met), "a run that failed", {"marker": "x", "color": COLOURS["purple"], "markersize": 3.5}),
    ):
        if chosen.any():
            ax.plot(x[chosen], y[chosen], label=f"a run: {words}" if look["marker"] == "." else words, **style, **look)


def mark_nominal(ax: Axes, at: list[float | None], keys: list[Key]) -> None:
    """Where the scenario itself lies, when inside the ranges."""
    if any(value is None or not 0 <= key.share(np.asarray(value)) <= 1 for value, key in zip(at, keys, strict=False)):
        return
    style: dict[str, Any] = {"markersize": 9, "markeredgewidth": 1.4, "zorder": 4, "clip_on": False}
    ax.plot(*at[:2], "X", color=COLOURS["green"], markeredgecolor=COLOURS["paper"], label="this scenario", **style)
