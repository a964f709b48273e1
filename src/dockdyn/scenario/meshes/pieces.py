"""The faces of a mesh cut into pieces, and the points that stand for them.

Units: m.
Source: own derivation. Three points of a triangle whose barycentric coordinates are those of the first in turn have the
triangle's middle as theirs, whatever these are: with a third of the area each, what is of first degree is integrated exactly.
Coordinates evenly distributed over a triangle: Osada et al. 2002, ACM Trans. Graphics 21:807; without two alike: Roberts'
sequence (2018), the multiples of powers of the plastic number.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import Float, Int

POINTS = 3  # of a piece
PLASTIC = 1.32471795724474602596  # the real root of x³ = x + 1


class MeshPieces:
    """Triangles that together are the skin of a mesh."""

    def __init__(self, triangles: Float[np.ndarray, "n 3 3"]):
        """By their corners (m), of which each triangle's turn about its way out."""
        self.triangles = triangles

    def longest_edges(
        self, rows: Int[np.ndarray, "n"] | slice = slice(None)
    ) -> tuple[Float[np.ndarray, "n"], Int[np.ndarray, "n"]]:
        """Return the length (m) of the longest edge of pieces, and after which corner it comes."""
        corners = self.triangles[rows]
        lengths = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        return lengths.max(axis=1), lengths.argmax(axis=1)

    def halve(self, rows: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
        """Cut pieces across their longest edges; each becomes one half, and the other one is a new piece, of these numbers."""
        own, after = np.arange(len(rows)), self.longest_edges(rows)[1]
        one, two, three = (self.triangles[rows][own, (after + turn) % 3] for turn in range(3))
        middle = (one + two) / 2
        self.triangles[rows] = np.stack([one, middle, three], axis=1)
        first = len(self.triangles)
        self.triangles = np.concatenate([self.triangles, np.stack([middle, two, three], axis=1)])
        return np.arange(first, len(self.triangles))

    def keep(self, rows: Int[np.ndarray, "n"]) -> None:
        """Leave out all other pieces."""
        self.triangles = self.triangles[rows]

    def middles(self) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
        """Return the middles of the pieces (m), unit vectors out of the solid there, and their areas (m²)."""
        ways = np.cross(
            self.triangles[:, 1] - self.triangles[:, 0],
            self.triangles[:, 2] - self.triangles[:, 0],
        )
        lengths = np.linalg.norm(ways, axis=1)
        return self.triangles.mean(axis=1), ways / np.maximum(lengths, 1e-300)[:, None], lengths / 2

    def points(self) -> tuple[Float[np.ndarray, "n 3"], Float[np.ndarray, "n 3"], Float[np.ndarray, "n"]]:
        """Return three points (m) of each piece in turn, unit vectors out of the solid there, and the area (m²) of each.

        That is a third of its piece, so that those of any face are its area.

        Where a force ends anywhere in a piece, these points know no row and no edge: over many pieces they are as often within
        as the area is. What is of first degree over a piece, they integrate exactly.
        """
        first = spread_coordinates(len(self.triangles))
        in_turn = np.stack([np.roll(first, turn, axis=1) for turn in range(POINTS)], axis=1)
        points = np.einsum("npc,ncx->npx", in_turn, self.triangles).reshape(-1, 3)
        _, ways, areas = self.middles()
        return points, np.repeat(ways, POINTS, axis=0), np.repeat(areas / POINTS, POINTS)


def spread_coordinates(count: int) -> Float[np.ndarray, "count 3"]:
    """Return so many barycentric coordinates, evenly spread over a triangle."""
    root, share = (0.5 + np.outer(PLASTIC ** -np.arange(1.0, 3.0), np.arange(1, count + 1))) % 1
    root = np.sqrt(root)
    return np.stack([1 - root, root * (1 - share), root * share], axis=1)
