"""An arm, its payload and the bay at chosen instants, in axes of the station."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from dockdyn.report.charts.chart import BLANK, Area, Chart, Line, Panel, path
from dockdyn.report.charts.section import inside, outline
from dockdyn.report.drawing import LEFT, RIGHT, WIDTH, scenario_content
from dockdyn.report.sampled_surface import signed_distances
from dockdyn.scenario.made import made

if TYPE_CHECKING:
    from dockdyn.kinds.orbital_arm.schema_bay import BaySection

COLUMNS = 3
FEWEST, MOST = 6, 9  # snapshots
APART = 0.01  # share of the run: impacts closer than this share a snapshot
GRID = 121  # points a side on which the bay is sampled
WIDER = 1.2  # times the window is what is sampled, for who moves the figure
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


def snapshots(
    dataset: xr.Dataset, chosen: Sequence[Instant] | None = None, box: Float[np.ndarray, "3 2"] | None = None
) -> Chart:
    """Small multiples: the arm from its root to its payload, and the bay; in space from the side and from above.

    `box` has the limits (m, axes of the station) of what each snapshot shows; by default all that the arm reaches.
    """
    content = scenario_content(dataset)
    shown = list(chosen or instants(dataset))
    views = [(0, 1)] if content is None or content.planar else [(0, 2), (0, 1)]
    places = in_station(dataset)
    points = dataset.contact_place.values if content and content.contact else None
    box = _window(places, points) if box is None else box
    # the bay is cut where the payload comes nearest to it
    through = None if points is None else points[int(dataset.gap.values.min(axis=1).argmin())].mean(axis=0)
    width = (WIDTH - LEFT - RIGHT) / COLUMNS * 0.86
    times = dataset.time.values
    panels: list[Panel] = []
    for first in range(0, len(shown), COLUMNS):
        beside = shown[first : first + COLUMNS]
        for view in views:
            for time, words in beside:
                row = int(np.abs(times - time).argmin())
                known = None if points is None else points[row]
                lines, areas = _configuration(dataset.isel(time=row), content, places[row], known, view)
                if through is not None:
                    solid, wall = _bay(content.contact, through, view, box)
                    lines, areas = [*wall, *lines], [*solid, *areas]
                panel = _tile(view, box, lines, areas, width)
                named = f"{time:.4g} s{': ' if words else ''}{words}" if view == views[0] else f"{time:.4g} s, above"
                panels.append(replace(panel, title=named))
            panels += [BLANK] * (COLUMNS - len(beside) if first else 0)
    return Chart(panels, columns=COLUMNS, tiles=True)


def _tile(view: tuple[int, int], box: np.ndarray, lines: list[Line], areas: list[Area], width: float) -> Panel:
    """A panel with limits of its own, `width` (in) wide on paper."""
    (left, right), (low, high) = ((float(box[axis, 0]), float(box[axis, 1])) for axis in view)
    return Panel(
        f"{'xyz'[view[1]]}, m",
        lines,
        height=width * max(0.3, (high - low) / (right - left)),
        across="x, m",
        areas=areas,
        limits=(low, high),
        across_limits=(left, right),
        equal=True,
    )


def _window(places: np.ndarray, points: np.ndarray | None) -> np.ndarray:
    """Limits (m, 3 × 2) that show the arm throughout the run."""
    seen = places.reshape(-1, 3) if points is None else np.concatenate([places.reshape(-1, 3), points.reshape(-1, 3)])
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    margin = 0.1 * float((high - low).max()) or 1.0
    return np.stack([low - margin, high + margin], axis=1)


def _configuration(
    now: xr.Dataset,
    content: Any,  # noqa: ANN401, links that have parents
    frames: np.ndarray,
    points: np.ndarray | None,
    view: tuple[int, int],
) -> tuple[list[Line], list[Area]]:
    """The station, the arm and its payload at one instant, seen along the third axis."""
    across, up = view
    names = [str(name) for name in now.link.values]
    segments: dict[str, list[np.ndarray]] = {"station": [frames[:1, [across, up]]], "arm": []}
    for link in content.arm.ordered()[1:] if content else []:
        pair = frames[[names.index(link.parent), names.index(link.name)]][:, [across, up]]
        segments["station" if link.parent == names[0] else "arm"] += [np.full((1, 2), np.nan), pair]
    lines = []
    for sort, colour, width, marker in (("station", "muted", 3.0, "s"), ("arm", "blue", 1.6, "")):
        x, y = np.concatenate([np.zeros((0, 2)), *segments[sort]]).T
        lines.append(Line(x, y, colour, sort, width=width, marker=marker, size=4))
    lines.append(path(frames[1:, [across, up]], "blue", marker="o", size=2.5, joined=False))
    if points is None:
        return lines, []
    flat = points[:, [across, up]]
    areas = [Area(flat[:, 0], flat[:, 1], "orange", alpha=0.35)] if len(flat) > 2 else []
    if len(flat) > 2:
        flat = np.concatenate([flat, flat[:1]])
    lines.append(path(flat, "orange", "payload", marker="o", size=5 if len(flat) == 1 else 3))
    return lines, areas


def _bay(bay: BaySection, through: np.ndarray, view: tuple[int, int], box: np.ndarray) -> tuple[list[Area], list[Line]]:
    """The bay, cut by the plane of the view `through` a point (m, station axes)."""
    across, up = view
    middle = box.mean(axis=1, keepdims=True)
    sides = middle + WIDER * (box - middle)
    grid = np.meshgrid(*(np.linspace(sides[axis, 0], sides[axis, 1], GRID) for axis in view))
    flat = np.broadcast_to(through, (GRID, GRID, 3)).copy()
    flat[..., across], flat[..., up] = grid
    depth = _distance(bay, flat)
    if depth.min() >= 0:
        return [], []
    return [inside(grid, depth)], [outline(grid, depth)]


def _distance(bay: BaySection, points: np.ndarray) -> np.ndarray:
    """Distance (m) of points (…, 3), station axes, from the nearest surface."""
    return np.min([signed_distances(made(section), points) for section in bay.surface], axis=0)
