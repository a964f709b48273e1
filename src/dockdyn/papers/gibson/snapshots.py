"""The arm of Gibson and Murphey, its payload and the bay at chosen instants, in axes of the station."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.deferred import Float
from dockdyn.report.charts.chart import BLANK, Area, Chart, Line, Panel, line_through
from dockdyn.report.charts.section import contour_line, is_inside
from dockdyn.report.drawing import LEFT, RIGHT, WIDTH
from dockdyn.report.sampled_surface import signed_distances
from dockdyn.scenario.made import made

COLUMNS = 3
GRID = 121  # points a side on which the bay is sampled
WIDER = 1.2  # times the window is what is sampled, for who moves the figure
STATION, PAYLOAD = "station", "payload"
LINKS = ("link1", "link2", "link3")

Instant = tuple[float, str]  # s, what happens
type Places = Float[np.ndarray, "times points 2"]


def arm_places(dataset: xr.Dataset, content: Any) -> Places:  # noqa: ANN401, a mechanism's
    """Return where the joints and the tip of the arm are (m, axes of the station), one instant after another."""
    joints = [content.named(name).joint.position for name in LINKS]
    tip = content.named(PAYLOAD).position
    ends = [(STATION, joints[0]), *zip(LINKS, [*joints[1:], tip], strict=True)]
    return np.stack([place_of(dataset, name, end) for name, end in ends], axis=1)


def place_of(dataset: xr.Dataset, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> Float[np.ndarray, "times 2"]:
    """Return where a point of a body (m, its axes, from its centre of mass) is in axes of the station."""
    own, station = (turns(dataset.attitude.sel(body=name).values) for name in (body, STATION))
    away = (dataset.position.sel(body=body) - dataset.position.sel(body=STATION)).values
    placed = away + np.einsum("tij,j->ti", own, np.asarray(point, float))
    return np.einsum("tji,tj->ti", station, placed)[:, :2]


def turns(attitudes: Float[np.ndarray, "times 4"]) -> Float[np.ndarray, "times 3 3"]:
    """Return the rotation matrices of quaternions, scalar first."""
    w, x, y, z = attitudes.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def snapshots(
    dataset: xr.Dataset,
    content: Any,  # noqa: ANN401, a mechanism's
    chosen: Sequence[Instant],
    box: Float[np.ndarray, "2 2"] | None = None,
) -> Chart:
    """Return small multiples: the arm from its root to its payload, and the bay.

    `box` has the limits (m, axes of the station) of what each snapshot shows; by default all that the arm reaches.
    """
    arm, payload = arm_places(dataset, content), place_of(dataset, PAYLOAD)
    box = _window(np.concatenate([arm.reshape(-1, 2), payload])) if box is None else box
    width = (WIDTH - LEFT - RIGHT) / COLUMNS * 0.86
    times = dataset.time.values
    walls = _bay(content, box)
    panels: list[Panel] = []
    for first in range(0, len(chosen), COLUMNS):
        beside = chosen[first : first + COLUMNS]
        for time, words in beside:
            row = int(np.abs(times - time).argmin())
            panel = _tile(box, [*walls[1], *_configuration_lines(arm[row], payload[row])], walls[0], width)
            panels.append(replace(panel, title=f"{time:.4g} s{': ' if words else ''}{words}"))
        panels += [BLANK] * (COLUMNS - len(beside) if first else 0)
    return Chart(panels, columns=COLUMNS, tiles=True)


def _tile(box: np.ndarray, lines: list[Line], areas: list[Area], width: float) -> Panel:
    """Return a panel with limits of its own, `width` (in) wide on paper."""
    (left, right), (low, high) = ((float(side[0]), float(side[1])) for side in box)
    return Panel(
        "y, m",
        lines,
        height=width * max(0.3, (high - low) / (right - left)),
        across="x, m",
        areas=areas,
        limits=(low, high),
        across_limits=(left, right),
        equal=True,
    )


def _window(seen: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "2 2"]:
    """Return limits (m) that show the arm throughout the run."""
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    margin = 0.1 * float((high - low).max()) or 1.0
    return np.stack([low - margin, high + margin], axis=1)


def _configuration_lines(arm: Float[np.ndarray, "points 2"], payload: Float[np.ndarray, "2"]) -> list[Line]:
    """Return the station, the arm and its payload at one instant."""
    root = arm[:1]
    return [
        Line(root[:, 0], root[:, 1], "muted", "station", width=3.0, marker="s", size=4),
        Line(arm[:, 0], arm[:, 1], "blue", "arm", width=1.6),
        line_through(arm, "blue", marker="o", size=2.5, joined=False),
        line_through(payload[None], "orange", "payload", marker="o", size=5),
    ]


def _bay(content: Any, box: np.ndarray) -> tuple[list[Area], list[Line]]:  # noqa: ANN401, a mechanism's
    """Return the bay: surfaces of the station, and the seats of its latches."""
    middle = box.mean(axis=1, keepdims=True)
    sides = middle + WIDER * (box - middle)
    grid = np.meshgrid(*(np.linspace(low, high, GRID) for low, high in sides))
    flat = np.zeros((GRID, GRID, 3))
    flat[..., 0], flat[..., 1] = grid
    depths = [signed_distances(made(section), flat) for section in content.named(STATION).surface]
    depths += [
        (flat - np.asarray(latch.anchor[1])) @ np.asarray(latch.axis, float)
        for latch in content.latch
        if latch.anchor is not None
    ]
    depth = np.min(depths, axis=0)
    return ([], []) if depth.min() >= 0 else ([is_inside(grid, depth)], [contour_line(grid, depth)])
