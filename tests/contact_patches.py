"""Faces that press on each other over an area, as an elastic foundation: tables of scenarios, and forces in closed form.

Each point of a cloud bears κ times its area times its depth, so a face bears the integral of that over where it overlaps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from patch_places import BLOCK, DEEP, PRESSURE

import dockdyn

type Tables = dict[str, Any]
type Load = Callable[[Tables], dockdyn.Scenario]

RADIUS, LONG, SECTIONS = 0.05, 0.08, 512  # m, m: of punch and shaft, and how many facets are around them
CLEARANCE, ASIDE = 1e-4, 3e-4  # m: by which a hole is wider than its shaft, and how far the shaft is beside its axis


def round_bar(folder: Path) -> Path:
    """Write a bar along z whose facets are, on the average, as far from its axis as its radius."""
    file = folder / "bar.stl"
    trimesh.creation.cylinder(RADIUS * (1 + (np.pi / SECTIONS) ** 2 / 3), LONG, sections=SECTIONS).export(file)
    return file


def block(folder: Path) -> Path:
    """Write a block about its middle."""
    file = folder / "block.stl"
    trimesh.creation.box(extents=BLOCK).export(file)
    return file


def body_of(file: Path | None, count: int, surface: Tables | None, **others: Any) -> Tables:
    """Return the table of a body that touches by a cloud over a mesh, or is touched."""
    skin = {"feature": {"skin": {"shape": "cloud", "file": str(file), "count": count}}} if file else {}
    return {
        "mass": 1.0,
        "inertia": [1.0, 1.0, 1.0],
        **skin,
        **({"surface": {"hull": surface}} if surface else {}),
        **others,
    }


def force_between(load: Load, bodies: dict[str, Tables], files: dict[str, Path]) -> np.ndarray:
    """Return the force (N) on the first body of those that are under the other's points, each with an equal share of κ."""
    clouds = [name for name, one in bodies.items() if "feature" in one]
    contacts = {}
    for name in clouds:
        (other,) = set(bodies) - {name}
        stiffness = PRESSURE / len(clouds) * trimesh.load_mesh(files[name]).area
        normal = {"law": "hertz", "exponent": 1, "stiffness": stiffness}
        contacts[name] = {"between": [f"{name}.skin", f"{other}.hull"], "normal": normal}
    tables = {"schema": 2, "duration": 1e-6, "output": {"interval": 1e-6}, "body": bodies, "contact": contacts}
    run = dockdyn.simulate(load(tables))
    signs = np.array([1 if name == next(iter(bodies)) else -1 for name in clouds])
    return signs @ run["contact_force"].values[0]


def punch_force(load: Load, folder: Path, count: int, tilt: float) -> float:
    """Return the force (N) across a plane on a flat punch that is `DEEP` in it at its middle, turned by `tilt` (rad)."""
    half = tilt / 2
    file, height = round_bar(folder), LONG / 2 * np.cos(tilt) - DEEP
    plane = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    bodies = {
        "punch": body_of(
            file, count, None, position=[0.0, 0.0, height], attitude=[np.cos(half), 0.0, np.sin(half), 0.0]
        ),
        "ground": body_of(None, 0, plane, position=[0.0, 0.0, 0.0]),
    }
    return float(force_between(load, bodies, {"punch": file})[2])


def punch_closed_form(tilt: float) -> float:
    """Return κ ∫ depth dA (N) over what of the end and of the side is beneath the plane.

    Of the end κ ∫ (d − x sin β) dA over a disc up to c = d / sin β: κ (d A + 2/3 sin β (R² − c²)^1.5). Of the side
    κ ∫ t² / (2 cos β) R dθ, t = d + R sin β cos θ the depth of the rim, as far as it is one.
    """
    reach = min(DEEP / np.sin(tilt), RADIUS) if tilt else RADIUS
    beyond, slope = np.sqrt(RADIUS**2 - reach**2), RADIUS * np.sin(tilt)
    area = RADIUS**2 * (np.pi - np.arccos(reach / RADIUS)) + reach * beyond
    end = DEEP * area + np.sin(tilt) * 2 / 3 * beyond**3
    arc = np.pi - np.arccos(reach / RADIUS)
    squares = 2 * DEEP**2 * arc + 4 * DEEP * slope * np.sin(arc) + slope**2 * (arc + np.sin(arc) * np.cos(arc))
    return float(PRESSURE * (end + RADIUS * squares / (2 * np.cos(tilt))))


def shaft_force(load: Load, folder: Path, count: int) -> float:
    """Return the force (N) that an endless hole gives back to a shaft beside its axis."""
    file = round_bar(folder)
    hole = {
        "shape": "cylinder",
        "point": [0.0, 0.0, 0.0],
        "axis": [0.0, 0.0, 1.0],
        "radius": RADIUS + CLEARANCE,
        "inside": True,
    }
    bodies = {
        "shaft": body_of(file, count, None, position=[ASIDE, 0.0, 0.0]),
        "hole": body_of(None, 0, hole, position=[0.0, 0.0, 0.0]),
    }
    return -float(force_between(load, bodies, {"shaft": file})[0])


def shaft_closed_form() -> float:
    """Return the force (N) of the arc that touches, cos α = c/e, and of what of both ends is in the hole's wall.

    Of the arc κ R L ∫ (e cos θ − c) cos θ dθ = κ R L e (α − sin α cos α); of the ends κ R ∫ (e cos θ − c)² cos θ dθ.
    """
    arc, e, c = np.arccos(CLEARANCE / ASIDE), ASIDE, CLEARANCE
    sine, both = np.sin(arc), np.sin(arc) * np.cos(arc)
    ends = e**2 * (2 * sine - 2 / 3 * sine**3) - 2 * e * c * (arc + both) + 2 * c**2 * sine
    return float(PRESSURE * RADIUS * (LONG * e * (arc - both) + ends))


def tilted_block_force(load: Load, folder: Path, count: int, deep: float, tilt: float) -> float:
    """Return the force (N) across a plane on a block tilted about y (rad), the middle of whose face is so `deep` (m) in it."""
    file, half, height = block(folder), tilt / 2, BLOCK[2] / 2 * np.cos(tilt) - deep
    plane = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
    turned = [np.cos(half), 0.0, np.sin(half), 0.0]
    bodies = {
        "upper": body_of(file, count, None, position=[0.0, 0.0, height], attitude=turned),
        "ground": body_of(None, 0, plane, position=[0.0, 0.0, 0.0]),
    }
    return float(force_between(load, bodies, {"upper": file})[2])


def sides_of_tilted_block(deep: float, tilt: float) -> float:
    """Return κ ∫ depth dA (N) over the sides of that block: t²/(2 cos β) a metre of rim at a depth t.

    Along two sides the rim's depth is even, along two it falls.
    """
    deepest, middle = deep + BLOCK[0] / 2 * np.sin(tilt), deep / np.sin(tilt) if tilt else np.inf
    shallowest, wet = max(deep - BLOCK[0] / 2 * np.sin(tilt), 0.0), min(BLOCK[0], BLOCK[0] / 2 + middle)
    falling = wet * (deepest**2 + deepest * shallowest + shallowest**2) / 3
    return float(PRESSURE * (BLOCK[1] * (deepest**2 + shallowest**2) + 2 * falling) / (2 * np.cos(tilt)))


def block_force(load: Load, folder: Path, count: int, turn: float, shift: tuple[float, float]) -> float:
    """Return the force (N) on a block on another one, turned (rad) about the normal and shifted (m), the points of either one
    in the other one's planes."""
    file, half = block(folder), turn / 2
    planes = [
        {"shape": "plane", "point": (sign * BLOCK / 2 * unit).tolist(), "normal": (sign * unit).tolist()}
        for unit in np.eye(3)
        for sign in (1.0, -1.0)
    ]
    hull = {"shape": "intersection", "parts": planes}
    above = [*shift, BLOCK[2] - DEEP]
    bodies = {
        "upper": body_of(file, count, hull, position=above, attitude=[np.cos(half), 0.0, 0.0, np.sin(half)]),
        "lower": body_of(file, count, hull, position=[0.0, 0.0, 0.0]),
    }
    return float(force_between(load, bodies, dict.fromkeys(bodies, file))[2])


def block_closed_form(turn: float, shift: tuple[float, float]) -> float:
    """Return κ d times the area that two rectangles share, one of them clipped at the sides of the other one."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * BLOCK[:2] / 2
    c, s = np.cos(turn), np.sin(turn)
    polygon = list(corners @ np.array([[c, s], [-s, c]]) + shift)
    for axis in range(2):
        for sign in (1, -1):
            polygon = clipped(polygon, axis, sign, BLOCK[axis] / 2)
    x, y = np.array(polygon).reshape(-1, 2).T
    return float(PRESSURE * DEEP * (x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def clipped(polygon: list[np.ndarray], axis: int, sign: int, limit: float) -> list[np.ndarray]:
    """Return what of a polygon is at most a limit away along an axis (Sutherland and Hodgman 1974)."""
    found = []
    for one, other in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        here, there = (sign * point[axis] - limit for point in (one, other))
        if here <= 0:
            found.append(one)
        if here * there < 0:
            found.append(one + (other - one) * here / (here - there))
    return found
