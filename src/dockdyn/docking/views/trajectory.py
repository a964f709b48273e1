"""The path of features in a surface: a view in space and three projections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.views.shown_surface import GRID, Shown, round_stations, shown_surfaces, wire_frame
from dockdyn.report.charts.chart import Area, Chart, Limits, Line, Note, Panel, Side, line_through
from dockdyn.report.charts.section import contour_line, is_inside, join_curves, level_curves
from dockdyn.report.charts.space import AXES, View
from dockdyn.report.drawing import group_places, pair_labels, short_label
from dockdyn.report.palette import HUES
from dockdyn.report.wording import contacts_or_count

SEEN = {(0, 2): "from the side", (0, 1): "from above", (1, 2): "along x"}  # projections by the axes across and up
HEIGHT = 2.73  # in, of a panel, as high as wide
MANY = 20  # contacts on a surface above which marks are small and only the first is named
WIDER = 1.2  # times the box is what is sampled, for who moves the figure
ROOM = 0.13  # share of a view in space that the numbers on its axes take
POINTS_AN_INCH, LETTER = 72.0, 5.0  # pt; about the width of a letter and half the height of a line
# how far (pt) a name stands from its mark, which of its sides is there, and where from there its middle is
BESIDE: tuple[tuple[tuple[float, float], Side, int], ...] = (
    ((4.0, 1.0), "left", 1),
    ((-4.0, 1.0), "right", -1),
    ((4.0, -1.0), "left", 1),
    ((-4.0, -1.0), "right", -1),
)
CLOSE, CLOSE_IN_SPACE = 0.09, 0.11  # share of the box within which marks share one text


def trajectory_chart(dataset: Dataset, surface: Shown | None = None) -> Chart:
    """Return the path of the features around a surface (without one, that with most contacts), contacts marked at onset."""
    surface = surface or shown_surfaces(dataset)[0]
    box = _surface_neighbourhood(dataset, surface)
    panels = [_projection_panel(dataset, surface, box, plane) for plane in ((0, 2), (0, 1), (1, 2))]
    return Chart([_space_panel(dataset, surface, box), *panels], columns=2, tiles=True)


def _contact_onsets(dataset: Dataset, surface: Shown) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers (from 1) of the contacts with a surface, and where on it they began, from its reference point."""
    rows = np.flatnonzero(np.isin(dataset.episode_contact.values, surface.pairs))
    return rows + 1, dataset.episode_position.values[rows] - surface.reference


def _surface_neighbourhood(dataset: Dataset, surface: Shown) -> np.ndarray:
    """Return limits (m, 3 × 2) of a cube around the surface's reference point and its contacts; the far approach is left out.

    Where a run was stopped, contacts far from the first are left out, too: they are where it diverged to.
    """
    paths = dataset.feature_position.values[:, surface.pairs].reshape(-1, 3)
    _, places = _contact_onsets(dataset, surface)
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


def _axis_limits(box: np.ndarray, axis: int) -> Limits:
    return float(box[axis, 0]), float(box[axis, 1])


def _projection_panel(dataset: Dataset, surface: Shown, box: np.ndarray, plane: tuple[int, int]) -> Panel:
    """Return the paths projected on two axes, over the section of the surface through its reference point."""
    across, up = plane
    areas, lines, notes = _section_through(surface, box, plane)
    names = pair_labels(dataset)
    starts = []
    for order, pair in enumerate(surface.pairs):
        places = dataset.feature_position.values[:, pair]
        colour = HUES[order % len(HUES)]
        lines.append(line_through(places[:, plane], colour, f"path of {names[pair]}", width=1.0))
        if np.all((places[0] >= box[:, 0]) & (places[0] <= box[:, 1])):
            starts.append(
                line_through(places[:1, plane], colour, "start", marker="o", size=4, joined=False, hollow=True)
            )
    numbers, places = _contact_onsets(dataset, surface)
    marked = places[:, plane]
    size = 4 if len(marked) <= MANY else 1.5
    onsets = (
        [line_through(marked, "ink", "contact, at onset", marker="o", size=size, joined=False)] if len(marked) else []
    )
    seen = np.flatnonzero(np.all((marked >= box[plane, 0]) & (marked <= box[plane, 1]), axis=1))
    seen = seen if len(marked) <= MANY else seen[:1]
    for words, (x, y) in _contact_names(numbers[seen], marked[seen], CLOSE * float(np.ptp(box[0]))):
        side = -1 if x > box[across].mean() else 1  # towards the middle of the panel
        notes.append(Note(x, y, words, (5.0 * side, 4.0), "left" if side > 0 else "right"))
    return Panel(
        f"{AXES[up]}, m",
        [*lines, *starts, *onsets],
        HEIGHT,
        title=SEEN[plane],
        across=f"{AXES[across]}, m",
        areas=areas,
        notes=notes,
        limits=_axis_limits(box, up),
        across_limits=_axis_limits(box, across),
        equal=True,
    )


def _contact_names(numbers: np.ndarray, places: np.ndarray, apart: float) -> list[tuple[str, tuple[float, float]]]:
    """Return what to write beside contacts and where: those not so far `apart` share one text."""
    return [
        (contacts_or_count([int(numbers[i]) for i in group]), (float(places[group[0]][0]), float(places[group[0]][1])))
        for group in group_places(places, apart)
    ]


def _section_through(
    surface: Shown, box: np.ndarray, plane: tuple[int, int]
) -> tuple[list[Area], list[Line], list[Note]]:
    """Return the solid cut through the reference point; seen along the docking axis, its outline at several stations."""
    if surface.distance is None:
        return [], [], []
    across, up = plane
    through = ({0, 1, 2} - set(plane)).pop()
    middle = box.mean(axis=1, keepdims=True)
    sampled = middle + WIDER * (box - middle)
    sides = np.linspace(sampled[:, 0], sampled[:, 1], GRID)
    grid = np.meshgrid(sides[:, across], sides[:, up])
    flat = np.zeros((GRID, GRID, 3))
    flat[..., across], flat[..., up] = grid
    if abs(surface.axis[through]) > 0.9:
        outlines = {}
        for station in round_stations(box[through]):
            flat[..., through] = station
            outlines[f"{AXES[through]} = {station:.3g} m"] = level_curves(grid, surface.distance(flat))
        return [], *_named_outlines(outlines, box[plane, :])
    distance = surface.distance(flat)
    lines = [contour_line(grid, distance)]
    if surface.radius > 0:  # the path is that of the tip's centre: it turns back a radius before the wall
        lines.append(contour_line(grid, distance, surface.radius, dash=1, width=0.7))
    return [is_inside(grid, distance)], lines, []


def _named_outlines(outlines: dict[str, list[np.ndarray]], limits: np.ndarray) -> tuple[list[Line], list[Note]]:
    """Return curves (n, 2) with their names, which stand at the lower right: names of contacts stand above their marks."""
    size = float(np.ptp(limits[0]))
    places: list[np.ndarray] = []
    notes = []
    for name, lines in outlines.items():
        points = np.concatenate([np.zeros((0, 2)), *lines])
        points = points[np.all(np.abs(points - limits.mean(axis=1)) < 0.36 * size, axis=1)]
        if not len(points):
            continue
        corner = points[(points[:, 0] - points[:, 1]).argmax()]
        if all(np.linalg.norm(corner - other) > 0.04 * size for other in places):  # not twice on the same curve
            notes.append(Note(float(corner[0]), float(corner[1]), name, (0.0, -1.0), small=True))
            places.append(corner)
    return [
        line_through(join_curves([line for lines in outlines.values() for line in lines]), "wall", width=0.7)
    ], notes


def _space_panel(dataset: Dataset, surface: Shown, box: np.ndarray) -> Panel:
    """Return the paths in space, in a wire frame of the surface."""
    view = View()
    lines, notes = view.axes(box, "m")
    lines.append(view.line(join_curves(wire_frame(surface, box), 3), "wall", width=0.5))
    for order, pair in enumerate(surface.pairs):
        places = clip_to_box(dataset.feature_position.values[:, pair], box)
        lines.append(view.line(places, HUES[order % len(HUES)], width=1.1))
    numbers, places = _contact_onsets(dataset, surface)
    seen = np.flatnonzero(np.all((places >= box[:, 0]) & (places <= box[:, 1]), axis=1))
    lines.append(view.line(places[seen], "ink", marker="o", size=3 if len(seen) <= MANY else 1, joined=False))
    seen = seen if len(places) <= MANY else seen[:1]
    across, up = view.limits(box, ROOM)
    marked = view.flat(places[seen])
    named = _contact_names(numbers[seen], marked, CLOSE_IN_SPACE * float(np.ptp(box[0])))
    notes += _clear_notes(named, marked, float(np.ptp(across)) / (POINTS_AN_INCH * HEIGHT))
    title = f"around “{short_label(surface.name)}”"
    return Panel(
        "", lines, HEIGHT, across="", title=title, notes=notes, limits=up, across_limits=across, equal=True, bare=True
    )


def _clear_notes(named: Sequence[tuple[str, tuple[float, float]]], marked: np.ndarray, point: float) -> list[Note]:
    """Return names beside their marks, each on that side on which it stands furthest from all marks and from the names before;
    a `point` (pt) is so long in the unit of the places."""
    taken, notes = [marked], []
    for words, at in named:
        half = point * LETTER * len(words) / 2
        centres = [
            np.array(at) + np.array([point * away[0] + sign * half, point * LETTER * away[1]])
            for away, _, sign in BESIDE
        ]
        clear = [min(float(np.linalg.norm(centre - places, axis=1).min()) for places in taken) for centre in centres]
        place = int(np.argmax(clear))
        away, side, _ = BESIDE[place]
        notes.append(Note(*at, words, away, side))
        taken.append(centres[place][None])
    return notes


def clip_to_box(curve: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return the curve with a gap where it is outside the box: axes in space do not clip."""
    inside = np.all((curve >= box[:, 0]) & (curve <= box[:, 1]), axis=1, keepdims=True)
    return np.where(inside, curve, np.nan)
