"""Meshes that are the skin of a solid but for small faults: repaired, and what was done counted.

Units: those of the file.
Source: definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from dockdyn.deferred import Float, Int
from dockdyn.scenario.meshes.crossings import FaceFaults, look_at_faces
from dockdyn.scenario.meshes.joined import join_parts
from dockdyn.scenario.meshes.solid import NO_AREA
from dockdyn.scenario.meshes.wedges import separate_wedges

WITHIN = 1e-6  # of the largest extent: vertices so near to each other are the same
FEW_EDGES = 4  # of an opening that is closed whatever its size: a face or two are missing
SMALL_OPENING = 0.1  # of the largest extent: so large openings of more edges are closed
ROUNDS = 10  # of faces without area that are taken away, which may leave others


@dataclass
class Repairs:
    """What was done to a mesh; lengths in the file's unit."""

    within: float
    merged_vertices: int = 0
    repeated_faces: int = 0
    flat_faces: int = 0
    turned_faces: int = 0
    joined_parts: int = 0
    closed_openings: int = 0
    added_faces: int = 0
    widest_opening: float = 0.0

    def lines(self) -> list[str]:
        """Return what was done, a line each."""
        told = (
            (self.merged_vertices, "vertex", "vertices", f"merged with one within {self.within:.3g}"),
            (self.repeated_faces, "repeated face", "repeated faces", "taken away"),
            (self.flat_faces, "face without area", "faces without area", "taken away"),
            (self.turned_faces, "face", "faces", "turned over"),
            (self.closed_openings, "opening", "openings", f"of at most {self.widest_opening:.3g} closed"),
            (self.added_faces, "face", "faces", "added for that"),
            (self.joined_parts, "part", "parts", "joined"),
        )
        return [f"{count} {one if count == 1 else several} {words}" for count, one, several, words in told if count]


class RepairedMesh(NamedTuple):
    """A mesh after repair; whether it is now the skin of a solid is not asked."""

    vertices: Float[np.ndarray, "n 3"]
    faces: Int[np.ndarray, "m 3"]
    repairs: Repairs


def repair_mesh(
    vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"], within: float | None = None
) -> RepairedMesh:
    """Return a mesh with faces that have area, are there once and turned out of the solid, and without small openings.

    Vertices `within` a length are merged, `WITHIN` of its size where none is given. Parts that overlap or touch are joined,
    where the library for it is there.
    """
    size = float(np.ptp(vertices[faces.ravel()], axis=0).max())
    done = Repairs(WITHIN * size if within is None else within)
    faces = _merge_vertices(vertices, faces, done)
    before = faces = _without_repeated(faces, done)
    vertices, faces = _tidy(vertices, faces, size, done)
    separate = separate_wedges(vertices, faces)
    if len(faces) and _is_closed(separate[1]):
        count, parts = _parts_of(separate[1])
        found = look_at_faces(*separate)
        cavity = _in_cavities(parts, found)
        faces[cavity] = faces[cavity][:, ::-1]
        done.turned_faces = _count_turned(before, faces)
        if count > 1 and (found.crossed | found.covered).any():
            return _join_parts(RepairedMesh(vertices, faces, done), *separate, cavity, size)
    done.turned_faces = _count_turned(before, faces)
    used, numbers = np.unique(faces, return_inverse=True)
    return RepairedMesh(vertices[used], numbers.reshape(-1, 3), done)


def _tidy(vertices: np.ndarray, faces: np.ndarray, size: float, done: Repairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the mesh evenly wound, closed but for large openings, its faces all with area, its parts turned outward."""
    if not len(faces):
        return vertices, faces
    vertices, faces = _close_openings(vertices, _evenly_wound(faces), size, done)
    return vertices, _turned_outward(vertices, _without_flat(vertices, faces, size, done))


def _join_parts(
    unjoined: RepairedMesh, vertices: np.ndarray, faces: np.ndarray, cavity: np.ndarray, size: float
) -> RepairedMesh:
    """Return the solid that all parts of a closed mesh are together, less its cavities; unjoined where that cannot be."""
    count, parts = _parts_of(faces)
    every = [faces[parts == part] for part in range(count)]
    hollow = [bool(cavity[parts == part].any()) for part in range(count)]
    together = join_parts(
        vertices,
        [part for part, inside in zip(every, hollow, strict=True) if not inside],
        [part for part, inside in zip(every, hollow, strict=True) if inside],
    )
    if together is None:
        return unjoined
    done = unjoined.repairs
    own = Repairs(done.within)  # what joining leaves, of which nobody need hear
    vertices, faces = together
    faces = _without_flat(vertices, _without_repeated(_merge_vertices(vertices, faces, own), own), size, own)
    done.joined_parts = count
    used, numbers = np.unique(faces, return_inverse=True)
    return RepairedMesh(vertices[used], numbers.reshape(-1, 3), done)


def _merge_vertices(vertices: np.ndarray, faces: np.ndarray, done: Repairs) -> np.ndarray:
    """Return faces with one vertex for all that are within the distance of the next."""
    used = np.unique(faces)
    pairs = cKDTree(vertices[used]).query_pairs(done.within, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), bool), pairs.T), shape=(len(used),) * 2)
    many, groups = connected_components(links, directed=False)
    first = np.full(many, len(used))
    np.minimum.at(first, groups, np.arange(len(used)))
    meant = np.arange(len(vertices))
    meant[used] = used[first[groups]]
    exact = len(np.unique(vertices[used], axis=0))  # a text or STL file repeats vertices, which is no fault
    done.merged_vertices = exact - many
    return meant[faces]


def _without_repeated(faces: np.ndarray, done: Repairs) -> np.ndarray:
    """Return faces of three vertices, each once; of those that lie back to back none where they are a wall inside the solid, on
    whose edges others meet."""
    whole = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    done.flat_faces += int((~whole).sum())
    faces = faces[whole]
    _, firsts, owners = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True)
    ways = np.bincount(owners.ravel(), _orientation(faces), minlength=len(firsts))
    found = faces[firsts]
    opposite = ways * _orientation(found) < 0
    found[opposite] = found[opposite][:, ::-1]
    _, numbers, counts = _undirected_edges(found)
    crowded = (counts[numbers] > 2).reshape(-1, 3).any(axis=1)
    back_to_back = ways == 0
    many, patches = _parts_of(found[back_to_back])
    wall = np.zeros(many, bool)
    np.logical_or.at(wall, patches, crowded[back_to_back])
    back_to_back[back_to_back] = wall[patches]
    found = found[~back_to_back]
    done.repeated_faces += len(faces) - len(found)
    return found


def _orientation(faces: np.ndarray) -> np.ndarray:
    """Return 1 for faces whose vertices are an even permutation of their order by number, else -1."""
    one, two, three = faces.T
    return np.where(((one < two).astype(int) + (two < three) + (three < one)) == 2, 1, -1)


def _half_edges(faces: np.ndarray) -> np.ndarray:
    """Return the edges of all faces, three each, in their directions."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)


def _undirected_edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges of all faces, three each, in their directions, the number of each whatever its direction, and how many
    there are of a number."""
    edges = _half_edges(faces)
    _, numbers, counts = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    return edges, numbers.ravel(), counts


def _shared_edges(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of faces that alone share an edge, and whether both take it in the same direction."""
    edges, numbers, counts = _undirected_edges(faces)
    order = np.argsort(numbers, kind="stable")
    order = order[counts[numbers[order]] == 2].reshape(-1, 2)
    return order // 3, edges[order[:, 0], 0] == edges[order[:, 1], 0]


def count_parts(faces: Int[np.ndarray, "m 3"]) -> int:
    """Return how many parts of a mesh do not hang together by edges."""
    return _parts_of(faces)[0]


def _parts_of(faces: np.ndarray) -> tuple[int, np.ndarray]:
    """Return how many parts hang together by their edges, and that of each face."""
    pairs, _ = _shared_edges(faces)
    links = coo_array((np.ones(len(pairs), bool), pairs.T), shape=(len(faces),) * 2)
    many, owners = connected_components(links, directed=False)
    return int(many), owners


def _evenly_wound(faces: np.ndarray) -> np.ndarray:
    """Return faces turned as the neighbours they share an edge with; the larger share of each part stays as it is.

    Each face is taken twice, as it is and turned over, and hangs together with those of its neighbours that go with it.
    """
    pairs, same = _shared_edges(faces)
    count, (one, other) = len(faces), pairs.T
    starts, ends = np.concatenate([one, one + count]), np.concatenate([other + count * same, other + count * ~same])
    links = coo_array((np.ones(len(starts), bool), (starts, ends)), shape=(2 * count,) * 2)
    _, groups = connected_components(links, directed=False)
    many, parts = _parts_of(faces)
    firsts = np.full(many, count)
    np.minimum.at(firsts, parts, np.arange(count))
    turned = groups[:count] != groups[firsts][parts]
    most = 2 * np.bincount(parts, turned, minlength=many) > np.bincount(parts, minlength=many)
    turned ^= most[parts]
    found = faces.copy()
    found[turned] = found[turned][:, ::-1]
    return found


def _openings(faces: np.ndarray) -> list[list[int]]:
    """Return the closed lines of vertices along which faces are missing, in the direction that a missing face would take."""
    edges, numbers, counts = _undirected_edges(faces)
    after: dict[int, list[int]] = {}
    for start, end in edges[counts[numbers] == 1]:
        after.setdefault(int(end), []).append(int(start))
    found = []
    while after:
        line = [next(iter(after))]
        while line[-1] in after:
            following = after[line[-1]].pop()
            if not after[line[-1]]:
                del after[line[-1]]
            if following in line:
                found.append(line[line.index(following) :])
                line = line[: line.index(following) + 1]
            else:
                line.append(following)
    return [line for line in found if len(line) > 2]


def _close_openings(
    vertices: np.ndarray, faces: np.ndarray, size: float, done: Repairs
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mesh with small openings closed: of three and four edges by a face or two, others by faces around their
    middle."""
    middles: list[np.ndarray] = []
    added: list[list[int]] = []
    _, parts = _parts_of(faces)
    sizes = dict(zip(faces.ravel().tolist(), np.bincount(parts)[parts].repeat(3).tolist(), strict=True))
    for line in _openings(faces):
        width = float(np.ptp(vertices[line], axis=0).max())
        large = len(line) > FEW_EDGES and width > SMALL_OPENING * size
        if large or sizes[line[0]] < len(line):  # a patch alone is not the skin of anything
            continue
        done.closed_openings, done.widest_opening = done.closed_openings + 1, max(done.widest_opening, width)
        if len(line) == 3:
            added.append(line)
        elif len(line) == 4:
            shorter = np.linalg.norm(vertices[line[0]] - vertices[line[2]]) <= np.linalg.norm(
                vertices[line[1]] - vertices[line[3]]
            )
            turned = line if shorter else line[1:] + line[:1]
            added += [turned[:3], [turned[2], turned[3], turned[0]]]
        else:
            middle = len(vertices) + len(middles)
            middles.append(vertices[line].mean(axis=0))
            added += [[one, two, middle] for one, two in zip(line, line[1:] + line[:1], strict=True)]
    done.added_faces = len(added)
    if not added:
        return vertices, faces
    return np.vstack([vertices, *middles]), np.vstack([faces, added])


def _without_flat(vertices: np.ndarray, faces: np.ndarray, size: float, done: Repairs) -> np.ndarray:
    """Return faces with area: of one without, the neighbour across its longest edge is divided at its third vertex."""
    for _ in range(ROUNDS):
        corners = vertices[faces]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
        flat = np.flatnonzero(~(areas > NO_AREA * size**2))
        if not len(flat):
            return faces
        across = {(int(start), int(end)): number // 3 for number, (start, end) in enumerate(_half_edges(faces))}
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        gone, made = set(), []
        for face in flat:
            turn = int(lengths[face].argmax())
            one, two, third = (int(faces[face][(turn + step) % 3]) for step in range(3))
            other = across.get((two, one))
            if face in gone or other in gone:
                continue
            gone.add(int(face))
            done.flat_faces += 1
            if other is not None and other != face:
                gone.add(other)
                (far,) = set(map(int, faces[other])) - {one, two}
                made += [[two, third, far], [third, one, far]] if far != third else []
        kept = np.delete(faces, list(gone), axis=0)
        faces = np.vstack([kept, np.array(made, np.int64).reshape(-1, 3)])
    return faces


def _is_closed(faces: np.ndarray) -> bool:
    """Return whether two faces share every edge, in opposite directions."""
    pairs, same = _shared_edges(faces)
    return len(pairs) * 2 == 3 * len(faces) and not same.any()


def _turned_outward(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return faces of which each part has its inside behind it."""
    many, owners = _parts_of(faces)
    one, two, three = np.moveaxis(vertices[faces] - vertices[faces].mean(axis=(0, 1)), 1, 0)
    volumes = np.bincount(owners, np.einsum("ij,ij->i", one, np.cross(two, three)), minlength=many)
    inward = volumes[owners] < 0
    found = faces.copy()
    found[inward] = found[inward][:, ::-1]
    return found


def _in_cavities(parts: np.ndarray, found: FaceFaults) -> np.ndarray:
    """Return which faces are of parts within an odd number of others, crossing and touching none, of a closed mesh whose parts
    have their inside behind them."""
    many = int(parts.max()) + 1
    around = np.zeros(many)
    for part in range(many):
        own = (parts == part) & found.sure
        apart = not (found.crossed | found.covered)[parts == part].any()
        around[part] = np.median(found.before[own]) if own.any() and apart else 0
    return around[parts] % 2 == 1


def _count_turned(before: np.ndarray, after: np.ndarray) -> int:
    """Return how many faces that are in both are turned over."""
    ways = {tuple(sorted(map(int, face))): way for face, way in zip(before, _orientation(before), strict=True)}
    return sum(
        ways.get(tuple(sorted(map(int, face))), way) != way
        for face, way in zip(after, _orientation(after), strict=True)
    )
