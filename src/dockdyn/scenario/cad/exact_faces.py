"""Faces of a solid that are planes, cylinders, cones, spheres, tori, as surfaces and features of a scenario.

What lies inside a hole or a bowl is a surface with the solid around it; a round end is a ball, too, a ring a circle.
A face that is cut in pieces is one again.

Units: m and rad, in the axes of the file, from its origin.
Source: the forms of ISO 10303-42; own construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from dockdyn.scenario.cad.solids import Face
from dockdyn.scenario.tables.part import refuse

DIGITS = 7  # of lengths in m: coordinates of triangles have single precision
FINE = 10  # of what has no unit
MICROMETRES = 6  # digits in m by which pieces of a surface are one
SPAN = 1e-6  # of a turn: what is missing of a whole one
APART = 0.01  # of a face's size: no triangle of it is so far from it
SORTS = ("cone", "sphere", "torus", "cylinder", "plane")  # most often touched first; of the last two the larger

type Vector = np.ndarray


class ExactTable(NamedTuple):
    """A table of a scenario, without the place of its body: points are from the origin of the file."""

    port: str  # "surface" or "feature"
    sort: str
    keys: dict[str, Any]  # points as arrays, the rest as it is written
    words: str


class _Patch(NamedTuple):
    """Pieces of one exact surface, and on which side of it the solid is."""

    sort: str
    inside: bool  # the solid is around it
    origin: Vector  # on the axis, the centre, the apex
    axis: Vector  # unit; of a plane its normal out of the solid
    size: tuple[float, ...]  # radii, half angle
    pieces: list[Face]

    @property
    def area(self) -> float:
        return sum(piece.area for piece in self.pieces)

    def heights(self) -> tuple[float, float]:
        """Return where along its axis it begins and ends (m)."""
        along = np.concatenate([piece.triangles.reshape(-1, 3) for piece in self.pieces]) @ self.axis
        along = along - self.origin @ self.axis
        return float(along.min()), float(along.max())

    def turn(self) -> float:
        """Return which share of a turn around its axis it goes; of several pieces, one above another, more than one."""
        key = "extent_major_angle" if self.sort == "torus" else "extent_angle"
        return float(sum(np.subtract(*piece.facts[key][::-1]) for piece in self.pieces)) / (2 * math.pi)

    def whole(self) -> bool:
        """Return whether it goes all the way around its axis."""
        return self.turn() > 1 - SPAN

    def told_turn(self) -> str:
        """Return words on the turn that it lacks and the exact surface has."""
        return "" if self.whole() else f"; goes all around, the file has {100 * self.turn():.0f} % of a turn"


def exact_tables(faces: Iterable[Face], place: Vector) -> list[ExactTable]:
    """Return what of a solid at a `place` (4, 4) can be stated exactly, what is most often touched first, then by area."""
    found = dict[tuple[Any, ...], _Patch]()
    for face in faces:
        patch = _patch_of(face, place)
        _refuse_apart(patch)
        found.setdefault(_likeness(patch), patch._replace(pieces=[])).pieces.append(face)
    patches = list(found.values())
    patches.sort(key=lambda patch: (min(SORTS.index(patch.sort), SORTS.index("cylinder")), -patch.area))
    return [table for patch in patches for table in _TABLES[patch.sort](patch)]


def _patch_of(face: Face, place: Vector) -> _Patch:
    """Return a face in the axes of the file."""
    turn, facts = place[:3, :3], face.facts
    origin = turn @ np.array(facts.get("apex", facts.get("center", facts.get("origin"))), float) + place[:3, 3]
    stated = facts.get("axis", facts.get("normal", (0.0, 0.0, 1.0)))
    axis = turn @ np.array(stated, float)
    axis /= np.linalg.norm(axis)
    normals, middles = face.normals, face.triangles.mean(axis=1)
    if face.sort == "plane":
        axis = axis if normals.sum(axis=0) @ axis > 0 else -axis
        return _Patch("plane", False, axis * (origin @ axis), axis, (), [face])
    out = middles - origin
    if face.sort == "cone" and (out @ axis).mean() < 0:
        axis = -axis
    if face.sort == "cylinder":
        axis = _canonical(axis)
        origin = origin - axis * (origin @ axis)
    if face.sort in ("cylinder", "cone", "torus"):
        out = out - np.outer(out @ axis, axis)
    if face.sort == "torus":
        axis = _canonical(axis)
        ring = out / np.linalg.norm(out, axis=1, keepdims=True)
        out = middles - origin - facts["major_radius"] * ring
    size = {
        "cone": lambda: (facts["semi_angle"],),
        "torus": lambda: (facts["major_radius"], facts["minor_radius"]),
    }.get(face.sort, lambda: (facts["radius"],))()
    inside = bool(np.sum(normals * out) < 0)
    return _Patch(face.sort, inside, origin, axis, tuple(abs(float(one)) for one in size), [face])


def _refuse_apart(patch: _Patch) -> None:
    """Refuse a face whose triangles are not where its surface is, such as in another unit."""
    corners = np.concatenate([piece.triangles.reshape(-1, 3) for piece in patch.pieces])
    out = corners - patch.origin
    along = out @ patch.axis
    aside = np.linalg.norm(out - np.outer(along, patch.axis), axis=1)
    match patch.sort:
        case "plane":
            apart = along
        case "cylinder":
            apart = aside - patch.size[0]
        case "cone":
            apart = aside * math.cos(patch.size[0]) - along * math.sin(patch.size[0])
        case "sphere":
            apart = np.linalg.norm(out, axis=1) - patch.size[0]
        case _:
            apart = np.hypot(aside - patch.size[0], along) - patch.size[1]
    if np.abs(apart).max() > APART * np.ptp(corners, axis=0).max():
        refuse(f"is read wrongly: the triangles of a {patch.sort} are not on it; write the file as STEP, or as a mesh")


def _canonical(axis: Vector) -> Vector:
    """Return an axis, or its negative, so that both are one."""
    largest = np.argmax(np.abs(axis) > 0.5 / math.sqrt(3))
    return axis if axis[largest] > 0 else -axis


def _likeness(patch: _Patch) -> tuple[Any, ...]:
    """Return what pieces of one surface have in common, to a micrometre."""
    axis = (0.0,) if patch.sort == "sphere" else patch.axis
    numbers = np.round(np.concatenate([patch.origin, axis, patch.size]), MICROMETRES) + 0.0
    return patch.sort, patch.inside, *numbers.tolist()


def _plane(patch: _Patch) -> list[ExactTable]:
    areas = np.concatenate([np.linalg.norm(piece.normals, axis=1) for piece in patch.pieces])
    middle = areas @ np.concatenate([piece.triangles.mean(axis=1) for piece in patch.pieces]) / areas.sum()
    point = middle + ((patch.origin - middle) @ patch.axis) * patch.axis
    keys = {"shape": "plane", "point": point, "normal": _direction(patch.axis)}
    return [ExactTable("surface", "plane", keys, "endless")]


def _cylinder(patch: _Patch) -> list[ExactTable]:
    keys = {
        "shape": "cylinder",
        "point": patch.origin,
        "axis": _direction(patch.axis),
        "radius": _length(patch.size[0]),
    }
    if patch.inside:
        keys["inside"] = True
    low, high = patch.heights()
    words = f"endless; in the file from {_length(low):g} to {_length(high):g} m along its axis"
    return [ExactTable("surface", "cylinder", keys, words + patch.told_turn())]


def _cone(patch: _Patch) -> list[ExactTable]:
    low, high = patch.heights()
    angle, axis = patch.size[0], _direction(patch.axis)
    if patch.inside:
        keys = {
            "shape": "cone",
            "apex": patch.origin,
            "axis": axis,
            "half_angle": _number(angle),
            "depth": _length(high),
        }
        words = "down to its apex" if low <= 10**-DIGITS else f"the file cuts its apex off, {_length(low):g} m of it"
        return [ExactTable("surface", "cone", keys, words + patch.told_turn())]
    if not patch.whole():
        return []
    slope = math.tan(angle)
    profile = [
        [_length(at), _length(by)] for at, by in ((low, 0.0), (low, low * slope), (high, high * slope), (high, 0.0))
    ]
    if low <= 10**-DIGITS:
        del profile[0]
    keys = {"shape": "revolved", "point": patch.origin, "axis": axis, "profile": profile}
    return [ExactTable("surface", "cone", keys, "with flat ends")]


def _sphere(patch: _Patch) -> list[ExactTable]:
    radius = _length(patch.size[0])
    keys = {"shape": "sphere", "centre": patch.origin, "radius": radius}
    if patch.inside:
        return [ExactTable("surface", "sphere", {**keys, "inside": True}, "a socket")]
    ball = {"position": patch.origin, "radius": radius}
    return [
        ExactTable("surface", "sphere", keys, "whole"),
        ExactTable("feature", "ball", ball, "the same, as what touches"),
    ]


def _torus(patch: _Patch) -> list[ExactTable]:
    major, minor = map(_length, patch.size)
    if patch.inside or not patch.whole() or minor >= major:
        return []
    axis = _direction(patch.axis)
    keys = {"shape": "torus", "centre": patch.origin, "axis": axis, "major_radius": major, "minor_radius": minor}
    circle = {"shape": "circle", "centre": patch.origin, "normal": axis, "major_radius": major, "radius": minor}
    words = "the same, as what touches"
    return [ExactTable("surface", "torus", keys, "whole"), ExactTable("feature", "circle", circle, words)]


_TABLES: dict[str, Callable[[_Patch], list[ExactTable]]] = {
    "plane": _plane,
    "cylinder": _cylinder,
    "cone": _cone,
    "sphere": _sphere,
    "torus": _torus,
}


def _length(value: float) -> float:
    return round(float(value), DIGITS) + 0.0


def _number(value: float) -> float:
    return round(float(value), FINE) + 0.0


def _direction(axis: Vector) -> list[float]:
    return [_number(one) for one in axis]
