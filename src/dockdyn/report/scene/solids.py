"""What things in a scene are, by their dimensions: boxes, balls, tubes, rings, plates, outlines that turn, meshes.

Lengths in m, in axes of what carries them. `facts` is what the page's script draws them from (`web/src/scene/solids.ts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dockdyn.records import record

if TYPE_CHECKING:
    from dockdyn.report.columns import PageColumns

DIGITS = 7  # of a dimension


class ShownSolid(Protocol):
    """Something with a shape."""

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        """Return the shape and its dimensions as JSON has them; what is long goes into columns."""


@record
class BoxSolid:
    """A box between two corners along its own axes, columns in axes of what carries it."""

    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {"is": "box", "low": rounded(self.low), "high": rounded(self.high), "axes": rounded(self.axes.T)}


@record
class BallSolid:
    """All places within a radius of one."""

    centre: np.ndarray
    radius: float

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {"is": "ball", "centre": rounded(self.centre), "radius": rounded(self.radius)}


@record
class TubeSolid:
    """A round bar; with round ends all places within its radius of a segment, with `end_radius` a frustum."""

    start: np.ndarray
    end: np.ndarray
    radius: float
    end_radius: float | None = None
    round_ends: bool = False

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        found = {"is": "tube", "start": rounded(self.start), "end": rounded(self.end), "radius": rounded(self.radius)}
        if self.end_radius is not None:
            found["end_radius"] = rounded(self.end_radius)
        return found | ({"round": True} if self.round_ends else {})


@record
class RingSolid:
    """All places within a radius of a circle."""

    centre: np.ndarray
    axis: np.ndarray
    major_radius: float
    radius: float

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {
            "is": "ring",
            "centre": rounded(self.centre),
            "axis": rounded(self.axis),
            "major_radius": rounded(self.major_radius),
            "radius": rounded(self.radius),
        }


@record
class PlateSolid:
    """A plate between edges: a plane outline (n, 3), so thick."""

    outline: np.ndarray
    thickness: float

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {"is": "plate", "outline": rounded(self.outline), "thickness": rounded(self.thickness)}


@record
class TurnedSolid:
    """What an outline (n, 2), of places along an axis and distances from it, sweeps as it turns about that; `hollow` is looked
    through."""

    origin: np.ndarray
    axis: np.ndarray
    outline: np.ndarray
    hollow: bool = False

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {
            "is": "turned",
            "origin": rounded(self.origin),
            "axis": rounded(self.axis),
            "outline": rounded(self.outline),
            "hollow": self.hollow,
        }


@record
class MeshSolid:
    """A mesh: vertices (n, 3) and faces (m, 3)."""

    vertices: np.ndarray
    faces: np.ndarray
    smooth: bool = False

    def facts(self, columns: PageColumns) -> dict[str, Any]:
        return {
            "is": "mesh",
            "vertices": [columns.place(one) for one in self.vertices.T],
            "faces": [
                columns.place(one, exact=True) for one in np.asarray(self.faces).T
            ],  # whole numbers: exact below 2^24
            "smooth": self.smooth,
        }


def rounded(values: Any) -> Any:  # noqa: ANN401, a number, or lists of them
    """Return numbers with `DIGITS` significant digits, as short as JSON can write them."""
    array = np.asarray(values, float)
    if array.ndim:
        return [rounded(one) for one in array]
    return float(f"{float(array):.{DIGITS}g}")
