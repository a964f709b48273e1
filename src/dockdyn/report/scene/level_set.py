"""Contact surfaces as meshes, from their signed distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dockdyn.report.sampled_surface import plain_components, signed_distances, surface_normals
from dockdyn.report.scene.solids import MeshSolid

if TYPE_CHECKING:
    from dockdyn.contact.surfaces.surface import Surface

ROUND = 24  # sides of what is round
NEWTON = 3  # corrections that bring the vertices of a level set onto it


def surface_around_axis(surface: Surface, reach: float, low: float, high: float) -> MeshSolid:
    """Return a contact surface within `reach` (m) of its docking axis and from `low` to `high` (m) along it.

    Distances along the axis are counted from where it comes nearest to the surface's reference point.
    """
    middle, axis = map(plain_components, surface.docking_frame())
    reference = plain_components(surface.reference())
    origin = middle + axis * ((reference - middle) @ axis)
    one = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    one /= np.linalg.norm(one)
    other = np.cross(axis, one)
    turn = np.linspace(0, 2 * np.pi, 2 * ROUND + 1)[:, None, None]
    radius = np.linspace(0, reach, 41)[None, :, None]
    station = np.linspace(low, high, 61)[None, None, :]
    radial = np.cos(turn)[..., None] * one + np.sin(turn)[..., None] * other
    grid = origin + station[..., None] * axis + radius[..., None] * radial
    return _level_set(surface, grid, closed=True)


def _level_set(surface: Surface, grid: np.ndarray, closed: bool = False) -> MeshSolid:
    """Return where a surface's signed distance is zero among the points of a grid (a, b, c, 3), by dual contouring.

    Each cell in which the sign changes has a vertex, brought onto the surface along its normal; each edge of the grid
    where it changes joins the vertices of the four cells around it. A `closed` grid's last points along a are its first,
    and all with b = 0 lie on an axis, whose hole is filled.
    """
    values = signed_distances(surface, grid)
    corners = [np.s_[i : grid.shape[0] - 1 + i, j : grid.shape[1] - 1 + j, k : grid.shape[2] - 1 + k]
               for i in (0, 1) for j in (0, 1) for k in (0, 1)]  # fmt: skip
    inside = np.stack([values[corner] < 0 for corner in corners])
    mixed = inside.any(axis=0) & ~inside.all(axis=0)
    number = np.full(mixed.shape, -1)
    number[mixed] = np.arange(mixed.sum())
    if not mixed.any():
        return MeshSolid(np.zeros((0, 3)), np.zeros((0, 3), int), smooth=True)
    centre = np.mean([grid[corner][mixed] for corner in corners], axis=0)
    size = max(np.linalg.norm(grid[corner][mixed] - centre, axis=1).max() for corner in corners)
    vertices = _move_onto_surface(surface, centre, size)
    faces = [_faces_across(values, number, axis, closed) for axis in range(3)]
    if closed:
        fan = _axis_fan(values, number, len(vertices))
        if len(fan):
            middles = [vertices[fan[fan[:, 2] == centre_of][:, 0]].mean(axis=0) for centre_of in np.unique(fan[:, 2])]
            vertices = np.concatenate([vertices, _move_onto_surface(surface, np.array(middles), size)])
            faces.append(fan)
    return MeshSolid(vertices, np.concatenate(faces).astype(int), smooth=True)


def _move_onto_surface(surface: Surface, points: np.ndarray, far: float) -> np.ndarray:
    """Return points (n, 3) moved onto the surface, at most `far` m each."""
    start = points
    for _ in range(NEWTON):
        off, slope = signed_distances(surface, points), surface_normals(surface, points)
        steep = np.maximum(np.sum(slope**2, axis=1, keepdims=True), 1e-6)
        points = points - off[:, None] * slope / steep
        moved = points - start
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        points = start + moved * np.minimum(1, far / np.where(length > 0, length, 1))
    return points


def _faces_across(values: np.ndarray, number: np.ndarray, axis: int, closed: bool) -> np.ndarray:
    """Return faces that cross edges of the grid along `axis`: the four cells around each edge where the sign changes."""
    changes = np.diff((values < 0).astype(int), axis=axis) != 0
    others = [a for a in range(3) if a != axis]
    slots = []
    for first, second in ((0, 0), (1, 0), (1, 1), (0, 1)):
        cell = number
        for a, back in zip(others, (first, second), strict=True):
            if closed and a == 0:  # around the axis: the cell before the first is the last
                cell = np.roll(cell, 1, axis=0) if back else cell
            else:
                width = [(0, 0)] * 3
                width[a] = (1, 1)
                cell = np.pad(cell, width, constant_values=-1)
                cell = np.take(cell, range(0, cell.shape[a] - 1) if back else range(1, cell.shape[a]), axis=a)
        slots.append(cell)
    edges = np.take(changes, range(number.shape[0]), axis=0) if closed else changes
    shape = tuple(min(s, e) for s, e in zip(slots[0].shape, edges.shape, strict=True))
    cut = tuple(slice(0, s) for s in shape)
    quads = np.stack([slot[cut][edges[cut]] for slot in slots], axis=-1)
    return _split_quads(quads[(quads >= 0).all(axis=1)])


def _axis_fan(values: np.ndarray, number: np.ndarray, start: int) -> np.ndarray:
    """Return triangles around the axis of a closed grid, to vertices numbered from `start`, one where the sign changes on
    it."""
    found, (along,) = [], np.nonzero(np.diff((values[0, 0] < 0).astype(int)))
    for new, place in enumerate(along):
        ring = number[:, 0, place]
        if (ring >= 0).all():
            found.append(np.stack([ring, np.roll(ring, -1), np.full(len(ring), start + new)], axis=1))
    return np.concatenate([np.zeros((0, 3), int), *found])


def _split_quads(quads: ArrayLike) -> np.ndarray:
    four = np.asarray(quads).reshape(-1, 4)
    return np.concatenate([four[:, [0, 1, 2]], four[:, [0, 2, 3]]])
