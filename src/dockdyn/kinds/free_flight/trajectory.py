"""The path of features in a surface: a view in space and three projections.

Surfaces are drawn from their signed distance alone, so that a new or user's own shape needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.report.drawing import (
    COLOURS,
    SERIES,
    WIDTH,
    clusters,
    pair_labels,
    scenario_content,
    short,
    styled,
)
from dockdyn.report.sampled_surface import coordinates, signed_distances
from dockdyn.report.wording import crowd
from dockdyn.scenario.made import made

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
    from mpl_toolkits.mplot3d import Axes3D

    from dockdyn.contact.surfaces.surface import Surface

GRID = 161  # points a side on which a surface's distance is sampled
MANY = 20  # contacts on a surface above which marks are small and only the first is named
AXES = ("x", "y", "z")


@dataclass
class Shown:
    """A surface with the contact pairs that meet it; positions are from its reference point, in its body's axes."""

    name: str
    pairs: list[int]
    radius: float  # m, of the largest spherical tip
    axis: np.ndarray  # unit docking axis
    distance: Callable[[np.ndarray], np.ndarray] | None  # signed distance (m) of points (…, 3); None when unknown


def shown_surfaces(dataset: xr.Dataset) -> list[Shown]:
    """The surfaces of a result, those with most contacts first."""
    content = scenario_content(dataset)
    if content is None:
        return [Shown(str(name), [i], 0.0, np.eye(3)[0], None) for i, name in enumerate(dataset.contact.values)]
    found: dict[tuple[str, bool], Shown] = {}
    for index, contact in enumerate(content.contact):
        feature, section, feature_on_chaser = content.pair(contact)
        key = (contact.surface, feature_on_chaser)
        if key not in found:
            found[key] = Shown(contact.surface, [], 0.0, *_geometry(made(section)))
        found[key].pairs.append(index)
        found[key].radius = max(found[key].radius, float(feature.radius))
    met = dataset.episode_contact.values
    return sorted(found.values(), key=lambda surface: -int(np.isin(met, surface.pairs).sum()))


def _geometry(surface: Surface) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Docking axis of a surface, and its signed distance around its reference point."""
    reference = coordinates(surface.reference())
    return coordinates(surface.docking_frame()[1]), lambda points: signed_distances(surface, points + reference)


@styled
def trajectory(dataset: xr.Dataset, surface: Shown | None = None) -> Figure:
    """Path of the features around a surface (without one, that with most contacts), contacts marked at onset."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    surface = surface or shown_surfaces(dataset)[0]
    box = _neighbourhood(dataset, surface)
    figure = Figure(figsize=(WIDTH, 6.6), layout=ConstrainedLayoutEngine(wspace=0.07))
    space: Any = figure.add_subplot(2, 2, 1, projection="3d")
    _draw_space(dataset, surface, box, space)
    for place, (across, up) in enumerate(((0, 2), (0, 1), (1, 2)), start=2):
        ax = figure.add_subplot(2, 2, place)
        _draw_projection(dataset, surface, box, (across, up), ax)
        if place == 2:
            handles, labels = ax.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(handles)))
    figure.suptitle(f"around “{short(surface.name)}”, from its reference point, axes of its body", fontsize=9)
    return figure


def _onsets(dataset: xr.Dataset, surface: Shown) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (from 1) and positions at onset of the contacts with a surface."""
    rows = np.flatnonzero(np.isin(dataset.episode_contact.values, surface.pairs))
    return rows + 1, dataset.episode_position.values[rows]


def _neighbourhood(dataset: xr.Dataset, surface: Shown) -> np.ndarray:
    """Limits (m, 3 × 2) of a cube around the surface's reference point and its contacts; the far approach is left out.

    Where a run was stopped, contacts far from the first are left out, too: they are where it diverged to.
    """
    paths = dataset.feature_position.values[:, surface.pairs].reshape(-1, 3)
    _, places = _onsets(dataset, surface)
    if not len(places):  # the closest approach instead
        depth = dataset.depth.values[:, surface.pairs].ravel()
        places = paths[[np.nanargmax(depth)]]
    sizes = np.linalg.norm(places, axis=1)
    if not dataset.attrs["finished"] and sizes[0] > 0:
        places = places[sizes <= 3 * sizes[0]]
    distances = np.linalg.norm(paths, axis=1)
    reach = 1.6 * np.linalg.norm(places, axis=1).max()
    reach = max(reach, 2 * surface.radius, 0.02 * float(np.nanmin([np.nanmax(distances), 1e3])), 1e-6)
    near = np.concatenate([paths[distances <= reach], places, np.zeros((1, 3))])
    low, high = near.min(axis=0), near.max(axis=0)
    half = 0.56 * max(float((high - low).max()), 0.5 * reach)
    middle = (low + high) / 2
    return np.stack([middle - half, middle + half], axis=1)


def _draw_projection(dataset: xr.Dataset, surface: Shown, box: np.ndarray, plane: tuple[int, int], ax: Axes) -> None:
    """The paths projected on two axes, over the section of the surface through its reference point."""
    across, up = plane
    ax.set(xlim=box[across], ylim=box[up], aspect="equal")
    ax.set(xlabel=f"{AXES[across]}, m", ylabel=f"{AXES[up]}, m")
    _draw_section(surface, box, plane, ax)
    names = pair_labels(dataset)
    for order, pair in enumerate(surface.pairs):
        path = dataset.feature_position.values[:, pair]
        colour = SERIES[order % len(SERIES)]
        ax.plot(path[:, across], path[:, up], color=colour, linewidth=1, label=f"path of {names[pair]}")
        if np.all((path[0] >= box[:, 0]) & (path[0] <= box[:, 1])):
            paper = COLOURS["paper"]
            start = "start" if order == 0 else None
            ax.plot(*path[0, plane], "o", markersize=4, markerfacecolor=paper, color=colour, label=start)
    numbers, places = _onsets(dataset, surface)
    marked = places[:, plane]
    if len(marked):
        size = 4 if len(marked) <= MANY else 1.5
        ax.plot(*marked.T, "o", color=COLOURS["ink"], markersize=size, label="contact, at onset")
    inside = np.flatnonzero(np.all((marked >= box[plane, 0]) & (marked <= box[plane, 1]), axis=1))
    inside = inside if len(marked) <= MANY else inside[:1]
    span = box[0, 1] - box[0, 0]
    for group in clusters(marked[inside], 0.09 * span):
        x, y = marked[inside[group[0]]]
        _write(ax, crowd([int(numbers[inside[i]]) for i in group]), (x, y), side=-1 if x > box[across].mean() else 1)


def _write(ax: Axes, words: str, place: tuple[float, float], side: int) -> None:
    """Words beside a marked point, towards the middle of the panel."""
    backing = {"facecolor": COLOURS["paper"], "edgecolor": "none", "alpha": 0.6, "pad": 0.6}
    text = ax.annotate(
        words,
        place,
        xytext=(5 * side, 4),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        fontsize=8,
        bbox=backing,
        annotation_clip=True,
    )
    text.set_in_layout(False)


def _draw_section(surface: Shown, box: np.ndarray, plane: tuple[int, int], ax: Axes) -> None:
    """The solid cut through the reference point; seen along the docking axis, its outline at several stations."""
    if surface.distance is None:
        return
    across, up = plane
    through = ({0, 1, 2} - set(plane)).pop()
    flat = np.zeros((GRID, GRID, 3))
    sides = np.linspace(box[:, 0], box[:, 1], GRID)
    grid = np.meshgrid(sides[:, across], sides[:, up])
    flat[..., across], flat[..., up] = grid
    if abs(surface.axis[through]) > 0.9:
        outlines = {}
        for station in _stations(box[through]):
            flat[..., through] = station
            outlines[f"{AXES[through]} = {station:.3g} m"] = _curves(grid, surface.distance(flat))
        _draw_outlines(outlines, box[plane, :], ax)
        return
    distance = surface.distance(flat)
    wall: dict[str, Any] = {"colors": [COLOURS["wall"]], "zorder": 0.2}
    ax.contourf(*grid, distance, [-np.inf, 0], colors=[COLOURS["solid"]], zorder=0.1)
    ax.contour(*grid, distance, [0], linewidths=1, **wall)
    if surface.radius > 0:  # the path is that of the tip's centre: it turns back a radius before the wall
        ax.contour(*grid, distance, [surface.radius], linewidths=0.7, linestyles="--", **wall)


def _draw_outlines(outlines: dict[str, list[np.ndarray]], limits: np.ndarray, ax: Axes) -> None:
    """Curves (n, 2) with their names, which stand at the lower right: names of contacts stand above their marks."""
    size = float(limits[0, 1] - limits[0, 0])
    named: list[np.ndarray] = []
    for name, lines in outlines.items():
        for line in lines:
            ax.plot(*line.T, color=COLOURS["wall"], linewidth=0.7, zorder=0.2)
        points = np.concatenate([np.zeros((0, 2)), *lines])
        points = points[np.all(np.abs(points - limits.mean(axis=1)) < 0.36 * size, axis=1)]
        if not len(points):
            continue
        corner = points[(points[:, 0] - points[:, 1]).argmax()]
        if all(np.linalg.norm(corner - other) > 0.04 * size for other in named):  # not twice on the same curve
            look: dict[str, Any] = {"fontsize": 7, "color": COLOURS["muted"], "in_layout": False}
            ax.text(float(corner[0]), float(corner[1]), name, ha="center", va="top", **look)
            named.append(corner)


def _stations(limits: np.ndarray) -> np.ndarray:
    """A few round numbers within limits."""
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(5).tick_values(*limits)
    return places[(places > limits[0]) & (places < limits[1])]


def _curves(grid: Sequence[np.ndarray], values: np.ndarray) -> list[np.ndarray]:
    """Curves (n, 2) on which sampled values are zero; none where all are zero but for round-off."""
    from contourpy import contour_generator

    if np.ptp(values) < 1e-9:  # m
        return []
    return [np.asarray(line) for line in contour_generator(grid[0], grid[1], values).lines(0.0)]


def _draw_space(dataset: xr.Dataset, surface: Shown, box: np.ndarray, ax: Axes3D) -> None:
    """The paths in space, in a wire frame of the surface."""
    ax.set(xlim=box[0], ylim=box[1], zlim=box[2])
    for axis, name in zip((ax.xaxis, ax.yaxis, ax.zaxis), AXES, strict=True):
        axis.set_label_text(f"{name}, m")
        axis.labelpad = -4 if name != "z" else 1
    ax.set_box_aspect((1, 1, 1), zoom=1.12)
    ax.view_init(elev=24, azim=-52)
    ax.grid(False)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1, 1, 1, 0))
        axis.set_major_locator(_nice(4))
    ax.tick_params(labelsize=7, pad=0)
    for curve in _wires(surface, box):
        ax.plot(*curve.T, color=COLOURS["wall"], linewidth=0.5, alpha=0.8)
    for order, pair in enumerate(surface.pairs):
        path = within(dataset.feature_position.values[:, pair], box)
        ax.plot(*path.T, color=SERIES[order % len(SERIES)], linewidth=1.1)
    numbers, places = _onsets(dataset, surface)
    inside = np.flatnonzero(np.all((places >= box[:, 0]) & (places <= box[:, 1]), axis=1))
    ax.plot(*places[inside].T, "o", color=COLOURS["ink"], markersize=3 if len(inside) <= MANY else 1)
    inside = inside if len(places) <= MANY else inside[:1]
    places, numbers = places[inside], numbers[inside]
    projected = np.column_stack([places, np.ones(len(places))]) @ ax.get_proj().T  # a view about 0.2 wide
    for group in clusters(
        projected[:, :2] / projected[:, 3:], 0.022
    ):  # in the units of the projected view, about 0.2 wide
        ax.text(*places[group[0]], f" {crowd([int(numbers[i]) for i in group])}", fontsize=7, in_layout=False)


def _nice(count: int) -> MaxNLocator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count)


def within(curve: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The curve with a gap where it is outside the box: axes in space do not clip."""
    inside = np.all((curve >= box[:, 0]) & (curve <= box[:, 1]), axis=1, keepdims=True)
    return np.where(inside, curve, np.nan)


def _wires(surface: Shown, box: np.ndarray) -> list[np.ndarray]:
    """Curves (n, 3) on a surface: across its docking axis at several stations, and in planes through the axis."""
    if surface.distance is None:
        return []
    axis = surface.axis
    one = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    one /= np.linalg.norm(one)
    other = np.cross(axis, one)
    corners = np.stack(np.meshgrid(*box, indexing="ij"), axis=-1).reshape(-1, 3)
    along = np.linspace((corners @ axis).min(), (corners @ axis).max(), GRID)
    radii = np.linspace(0, 0.5 * float(box[0, 1] - box[0, 0]), GRID)
    turns = np.linspace(0, 2 * np.pi, GRID)

    def place(station: np.ndarray, radius: np.ndarray, turn: np.ndarray) -> np.ndarray:
        radial = np.cos(turn)[..., None] * one + np.sin(turn)[..., None] * other
        return station[..., None] * axis + radius[..., None] * radial

    def lines(first: np.ndarray, second: np.ndarray, order: Callable[..., tuple[np.ndarray, ...]]) -> list[np.ndarray]:
        assert surface.distance is not None
        grids = np.meshgrid(first, second)
        flat = _curves(grids, surface.distance(place(*np.broadcast_arrays(*order(*grids)))))
        return [place(*np.broadcast_arrays(*order(*line.T))) for line in flat]

    found = []
    for station in _stations(along[[0, -1]]):
        found += lines(turns, radii, lambda turn, radius, s=station: (s, radius, turn))
    if not found:  # a plane across the axis: circles on it
        for radius in _stations(radii[[0, -1]]):
            found += lines(turns, along, lambda turn, station, r=radius: (station, r, turn))
    for turn in turns[: -1 : GRID // 12]:
        found += lines(radii, along, lambda radius, station, t=turn: (station, radius, t))
    return found
