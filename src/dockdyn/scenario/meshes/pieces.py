"""The faces of a mesh cut into pieces, and the points that stand for them.

Units: m.
Source: the rule of a triangle's middle and corners whose weights make it exact for functions of second degree, own derivation.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Float, Int

MIDDLE, CORNER = 3 / 4, 1 / 12  # of the area of a piece, that its middle and each of its corners stand for


class MeshPieces:
    """Triangles that together are the skin of a mesh. They share corners, one of which may lie within a side of another one."""

    def __init__(self, vertices: Float[np.ndarray, "n 3"], faces: Int[np.ndarray, "m 3"]):
        self.vertices, self.faces = vertices, faces.astype(np.int64)
        self._cut = (
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
        )  # the edges that have been cut, in order, and their middles

    def count(self) -> int:
        """Return how many points they have."""
        return len(self.faces) + len(self.vertices)

    def corners(self, rows: Int[np.ndarray, "n"] | slice = slice(None)) -> Float[np.ndarray, "n 3 3"]:
        """Return the corners (m) of pieces."""
        return self.vertices[self.faces[rows]]

    def longest_edges(
        self, rows: Int[np.ndarray, "n"] | slice = slice(None)
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n"]]:
        """Return the length (m) of the longest edge of pieces, and after which corner it comes."""
        corners = self.corners(rows)
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        return lengths.max(axis=1), lengths.argmax(axis=1)

    def halve(self, rows: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
        """Cut pieces across their longest edges; each becomes one half, and the other one is a new piece, of these numbers."""
        own, after = np.arange(len(rows)), self.longest_edges(rows)[1]
        one, two, three = (self.faces[rows][own, (after + turn) % 3] for turn in range(3))
        middle = self._halve_edges(one, two)
        self.faces[rows] = np.stack([one, middle, three], axis=1)
        first = len(self.faces)
        self.faces = np.concatenate([self.faces, np.stack([middle, two, three], axis=1)])
        return np.arange(first, len(self.faces))

    def keep(self, rows: Int[np.ndarray, "n"]) -> None:
        """Leave out all other pieces."""
        self.faces = self.faces[rows]

    def points(self) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
        """Return the middles of the pieces and their corners (m), unit vectors out of the solid there, and the area (m²) that
        each stands for: their sum over a function of second degree is its integral."""
        corners = self.corners()
        ways = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        areas = np.linalg.norm(ways, axis=1) / 2
        at_corners, out = np.zeros(len(self.vertices)), np.zeros((len(self.vertices), 3))
        for column in self.faces.T:
            np.add.at(at_corners, column, CORNER * areas)
            np.add.at(out, column, ways)
        ways = np.concatenate([ways, out])
        ways /= np.maximum(np.linalg.norm(ways, axis=1), 1e-300)[:, None]
        points = np.concatenate([corners.mean(axis=1), self.vertices])
        return points, ways, np.concatenate([MIDDLE * areas, at_corners])

    def _halve_edges(self, one: Int[np.ndarray, "n"], other: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
        """Return the vertices in the middle of edges, made where there is none yet."""
        wide = np.int64(1) << 31  # more than vertices
        keys, place = np.unique(np.minimum(one, other) * wide + np.maximum(one, other), return_inverse=True)
        known, middles = self._cut
        at = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
        old = known[at] == keys if len(known) else np.zeros(len(keys), bool)
        found = np.empty(len(keys), np.int64)
        found[old] = middles[at[old]]
        new = keys[~old]
        found[~old] = len(self.vertices) + np.arange(len(new))
        self.vertices = np.concatenate([self.vertices, (self.vertices[new // wide] + self.vertices[new % wide]) / 2])
        before = np.searchsorted(known, new)
        self._cut = np.insert(known, before, new), np.insert(middles, before, found[~old])
        return found[place.ravel()]
