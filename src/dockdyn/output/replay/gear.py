"""Bodies as they look when nothing better is known: boxes of uniform density, probes, surfaces that guide them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.output.drawing import COLOURS
from dockdyn.output.replay.looks import dressed
from dockdyn.output.replay.scene import Mesh, Motion, Part
from dockdyn.output.replay.shapes import ball, box, joined, placed, rod, surface_around_axis

SIDES = {True: COLOURS["blue"], False: COLOURS["orange"]}  # by whether it is the chaser
METAL = "#b9c0c9"
SURFACE = "#8fb8d0"
CLEAR = 0.6  # share of the way from the centre of mass to docking gear that a body may fill
THIN = 0.035  # radius of a probe that is a point, as a share of its length
FLAT = 0.2  # least thickness of a body over its largest extent: flat ones are drawn so
MARGIN = 1.25  # of what is shown of a surface beyond where it is met


def uniform_box(mass: float, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Half lengths (m) along principal axes, and these (columns), of the box of uniform density with that inertia."""
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    squares = np.maximum(6 / mass * (moments.sum() - 2 * moments), 0)
    size = np.sqrt(squares) / 2
    return np.maximum(size, FLAT * max(size.max(), 1e-6)), axes


def hull(mass: float, inertia: np.ndarray, gear: list[np.ndarray], least: float = 0.0) -> Mesh:
    """A body's box, cut back where it would swallow the places of its docking gear (m, body axes)."""
    half, axes = uniform_box(mass, inertia)
    order = np.abs(axes).argmax(axis=0)
    if sorted(order) == [0, 1, 2] and np.abs(axes).max(axis=0).min() > 0.95:  # near enough to the body's own axes
        half, axes = half[np.argsort(order)], np.eye(3)
    half = np.maximum(half, least)
    low, high = -half, half.copy()
    for place in gear:
        seen = axes.T @ place
        inside = np.all((seen > low) & (seen < high))
        if not inside and np.any(np.abs(seen) > half):
            continue
        axis = int(np.argmax(np.abs(seen) / half))
        if seen[axis] > 0:
            high[axis] = min(high[axis], CLEAR * seen[axis])
        elif seen[axis] < 0:
            low[axis] = max(low[axis], CLEAR * seen[axis])
    mesh = box(low, high)
    return Mesh(mesh.vertices @ axes.T, mesh.faces)


def body_parts(name: str, body: Any, chaser: bool, motion: Motion, reach: float) -> list[Part]:
    """The hull of a body (its section) and its features with what carries them."""
    features = [(np.asarray(one.position, float), float(one.radius)) for one in body.feature]
    surfaces = [section.make() for section in body.surface]
    places = [place for place, _ in features]
    places += [np.asarray(surface.reference().array()) for surface in surfaces]
    mesh = hull(body.mass, np.asarray(body.inertia), places)
    parts = [dressed(Part(f"{name}/body", mesh, SIDES[chaser], motion, opacity=0.9), body.look)]
    for index, (place, radius) in enumerate(features):
        parts.append(Part(f"{name}/feature {index + 1}", probe(place, radius, reach), METAL, motion, flat=False))
    return parts


def probe(place: np.ndarray, radius: float, reach: float) -> Mesh:
    """A rod from the body's centre of mass to the feature, and its ball."""
    length = float(np.linalg.norm(place))
    tip = radius if radius > 0 else min(0.02 * length, 0.05 * reach) or 0.02 * reach
    if length <= tip:
        return ball(tip, place)
    thick = min(0.6 * tip if radius > 0 else tip, THIN * length)
    direction = place / length
    # the neck is slender, what carries it is stout
    neck = placed(rod(0.35 * length, thick), place - 0.35 * length * direction, direction)
    stem = placed(rod(0.65 * length, 2.2 * thick, 1.6 * thick), np.zeros(3), direction)
    return joined(ball(tip, place), neck, stem)


def surface_part(name: str, surface: Any, reach: float, motion: Motion) -> Part:
    """A contact surface, as far as it matters: within `reach` (m) of its reference point, or to its rim."""
    middle, axis = (np.asarray(part.array()) for part in surface.mouth())
    depth = float((middle - np.asarray(surface.reference().array())) @ axis)
    wide, low, high = reach, -0.6 * reach, 1.6 * reach
    rim = getattr(surface, "rim_radius", None)
    if rim is not None:  # a rim ends it: its thickness is drawn, too
        wide, low, high = 1.06 * float(rim), -0.25 * float(rim), 1.02 * depth + 1e-9
    radii = [float(getattr(surface, key)) for key in ("major_radius", "minor_radius") if hasattr(surface, key)]
    if radii:
        wide, low, high = 1.1 * sum(radii), -1.1 * radii[1], 1.1 * radii[1]
    elif rim is None and hasattr(surface, "radius"):
        wide = max(1.2 * float(surface.radius), min(reach, 1.2 * float(surface.radius)))
        low, high = -max(reach, wide), max(reach, wide)
    return Part(name, surface_around_axis(surface, wide, low, high), SURFACE, motion, opacity=0.45, flat=False)
