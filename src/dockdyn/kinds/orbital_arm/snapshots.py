"""An arm, its payload and the bay at chosen instants, in axes of the station."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.report.drawing import COLOURS, LEFT, RIGHT, WIDTH, arrange, legend, scenario_content, styled
from dockdyn.report.sampled_surface import signed_distances
from dockdyn.scenario.made import made

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dockdyn.kinds.orbital_arm.schema_bay import BaySection

COLUMNS = 3
FEWEST, MOST = 6, 9  # snapshots
APART = 0.01  # share of the run: impacts closer than this share a snapshot
GRID = 121  # points a side on which the bay is sampled
SAID = {"impact": "impact", "latch": "latched", "release": "released"}

Instant = tuple[float, str]  # s, what happens


def instants(dataset: xr.Dataset) -> list[Instant]:
    """Start, end, what happens in between and, where that is little, instants that halve the longest gaps."""
    end = float(dataset.time[-1])
    found: list[Instant] = []
    for time, what, contact in zip(
        dataset.event_time.values, dataset.what.values, dataset.event_contact.values, strict=True
    ):
        if what not in SAID or (found and time - found[-1][0] < APART * end and what == "impact"):
            continue
        surface = f", {str(dataset.contact.values[contact]).partition('/')[2]}" if contact >= 0 else ""
        found.append((float(time), f"{SAID[str(what)]}{surface}"))
    if len(found) > MOST - 2:
        spared = [one for one in found if not one[1].startswith("impact")]
        others = [one for one in found if one not in spared]
        found = sorted(others[: MOST - 3 - len(spared)] + others[-1:] + spared)
    found = [(0.0, "start"), *found, (end, "end")]
    while len(found) < FEWEST:
        gaps = np.diff([time for time, _ in found])
        at = int(gaps.argmax())
        found.insert(at + 1, (found[at][0] + float(gaps[at]) / 2, ""))
    return found


def in_station(dataset: xr.Dataset) -> np.ndarray:
    """Origins of link frames from the station's frame, its axes (m; times, links, 3)."""
    w, x, y, z = dataset.base_attitude.values.T
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.einsum("abt,tla->tlb", turn, dataset.outline.values - dataset.base_position.values[:, None])


@styled
def snapshots(dataset: xr.Dataset, chosen: Sequence[Instant] | None = None, reach: float | None = None) -> Figure:
    """Small multiples: the arm from its root to its payload, and the bay; in space from the side and from above.

    `reach` (m) is how far a snapshot shows around the payload; by default it shows all that the arm reaches.
    """
    from matplotlib.figure import Figure

    content = scenario_content(dataset)
    shown = list(chosen or instants(dataset))
    views = [(0, 1)] if content is None or content.planar else [(0, 2), (0, 1)]
    places = in_station(dataset)
    points = dataset.contact_place.values if content and content.contact else None
    box = _window(places, points)
    # the bay is cut where the payload comes nearest to it
    through = None if points is None else points[int(dataset.gap.values.min(axis=1).argmin())].mean(axis=0)
    rows = -(-len(shown) // COLUMNS)
    width = (WIDTH - LEFT - RIGHT) / COLUMNS * 0.86
    shapes = [1.0 if reach else np.ptp(box[up]) / np.ptp(box[across]) for across, up in views]
    heights = [width * max(0.3, shape) for shape in shapes] * rows
    figure = Figure()
    axes = figure.subplots(len(heights), COLUMNS, squeeze=False, height_ratios=heights)
    arrange(figure, heights, 3, title=0.24)
    for ax in axes.flat:
        ax.set_visible(False)
    times = dataset.time.values
    for place, (time, words) in enumerate(shown):
        row = int(np.abs(times - time).argmin())
        for below, view in enumerate(views):
            ax = axes[place // COLUMNS * len(views) + below, place % COLUMNS]
            ax.set_visible(True)
            if reach is not None and points is not None:
                box = points[row].mean(axis=0)[:, None] + reach * np.array([-1.0, 1.0])
            if through is not None:
                _draw_bay(content.contact, through, view, box, ax)
            draw(dataset.isel(time=row), content, places[row], None if points is None else points[row], view, ax)
            ax.set(xlim=box[view[0]], ylim=box[view[1]], aspect="equal")
            ax.set_ylabel(f"{'xyz'[view[1]]}, m" if place % COLUMNS == 0 else "")
            if below == 0:
                ax.set_title(f"{time:.4g} s{': ' if words else ''}{words}", loc="left", fontsize=8)
            if place >= len(shown) - COLUMNS and below == len(views) - 1:
                ax.set_xlabel("x, m")
    legend(figure, axes.flat[0])
    return figure


def _window(places: np.ndarray, points: np.ndarray | None) -> np.ndarray:
    """Limits (m, 3 × 2) that show the arm throughout the run."""
    seen = places.reshape(-1, 3) if points is None else np.concatenate([places.reshape(-1, 3), points.reshape(-1, 3)])
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    margin = 0.1 * float((high - low).max()) or 1.0
    return np.stack([low - margin, high + margin], axis=1)


def draw(
    now: xr.Dataset,
    content: Any,  # noqa: ANN401, links that have parents
    frames: np.ndarray,
    points: np.ndarray | None,
    view: tuple[int, int],
    ax: Axes,
) -> None:
    """One snapshot, seen along the third axis."""
    across, up = view
    names = [str(name) for name in now.link.values]
    segments: dict[str, list[np.ndarray]] = {"station": [frames[:1, [across, up]]], "arm": []}
    for link in content.arm.ordered()[1:] if content else []:
        pair = frames[[names.index(link.parent), names.index(link.name)]][:, [across, up]]
        segments["station" if link.parent == names[0] else "arm"] += [np.full((1, 2), np.nan), pair]
    for sort, colour, size in (("station", "muted", 3.0), ("arm", "blue", 1.6)):
        path = np.concatenate([np.zeros((0, 2)), *segments[sort]])
        style: Any = {"color": COLOURS[colour], "linewidth": size, "solid_capstyle": "round", "label": sort}
        ax.plot(*path.T, marker="s" if sort == "station" else None, markersize=4, **style)
    ax.plot(*frames[1:, [across, up]].T, "o", color=COLOURS["blue"], markersize=2.5)
    if points is None:
        return
    flat = points[:, [across, up]]
    if len(flat) > 2:
        ax.fill(*flat.T, color=COLOURS["orange"], alpha=0.35, linewidth=0)
        flat = np.concatenate([flat, flat[:1]])
    size = 5 if len(flat) == 1 else 3
    ax.plot(*flat.T, "-o", color=COLOURS["orange"], linewidth=1.2, markersize=size, label="payload")


def _draw_bay(bay: BaySection, through: np.ndarray, view: tuple[int, int], box: np.ndarray, ax: Axes) -> None:
    """The solids of the bay, cut through a point."""
    across, up = view
    grid = np.meshgrid(*(np.linspace(box[axis, 0], box[axis, 1], GRID) for axis in view))
    flat = np.broadcast_to(through, (GRID, GRID, 3)).copy()
    flat[..., across], flat[..., up] = grid
    depth = _distance(bay, flat)
    if depth.min() < 0:
        ax.contourf(*grid, depth, [-np.inf, 0], colors=[COLOURS["solid"]], zorder=0.1)
        if depth.max() > 0:
            ax.contour(*grid, depth, [0], colors=[COLOURS["wall"]], linewidths=1, zorder=0.2)


def _distance(bay: BaySection, points: np.ndarray) -> np.ndarray:
    """Distance (m) of points (…, 3), station axes, from the nearest surface."""
    return np.min([signed_distances(made(section), points) for section in bay.surface], axis=0)
