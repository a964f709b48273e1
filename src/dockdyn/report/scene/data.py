"""A scene as the page's script draws it (`web/src/scene/data.ts`): JSON, and columns of numbers over as few times as will do.

Between two of these times the script goes on straight lines and great circles, which is within `WITHIN` of the size of
what is looked at of the run's own samples, and within `FORCE` of the largest force; with more than `MOST` times, it says
within what it is.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.scene.scene import Force
from dockdyn.report.scene.solids import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dockdyn.report.columns import Columns
    from dockdyn.report.scene.scene import End, Motion, Scene, Trail

WITHIN = 1e-4  # of the size
FORCE = 0.01  # of the largest
LEAST = 1e-9  # N, of a force that is more than a rounding error
MOST = 2000  # times
CODED = 131068.0  # of a column's range: how near its numbers are, if not in single precision


def scene_data(scene: Scene, columns: Columns) -> dict[str, Any]:
    """Return a scene as JSON, its numbers over time in `columns`.

    Positions are from that of the body in whose axes the scene is seen, in the run's axes; `origin` is how far that has come.
    """
    acting = [one for one in scene.forces if float(np.abs(one.vector).max(initial=0)) > LEAST]
    scene = replace(scene, forces=acting)
    motions = _distinct_motions(scene)
    base = scene.bodies.get(scene.seen_from)
    origin = np.zeros((len(scene.time), 3)) if base is None else base.position
    size = scene.focus.reach
    rows, within = fewest_rows(scene.time, _scaled_signals(scene, motions, origin, size), MOST)
    places: dict[int, int] = {id(motion): number for number, motion in enumerate(motions)}

    def place(values: np.ndarray, least: float = WITHIN * size) -> int:
        column = np.asarray(values, float)[rows]
        return columns.place(column, exact=float(np.ptp(column)) / CODED > 0.25 * least)

    def of(motion: Motion | None) -> int:
        return -1 if motion is None else places[id(motion)]

    def end(one: End) -> dict[str, Any]:
        return {"motion": of(one.motion), "place": rounded(one.place)}

    scale = arrow_scale([one.vector for one in scene.forces], 1.2 * size)
    return {
        "title": scene.title,
        "time": columns.place(scene.time[rows], exact=True),
        "within": within * WITHIN,
        "motions": [
            {"p": [place(one) for one in (motion.position - origin).T], "q": [place(one, WITHIN) for one in motion.attitude.T]}
            for motion in motions
        ],
        "origin": [place(one - one[0], WITHIN * max(size, float(np.ptp(one)))) for one in origin.T],
        "bodies": {name: of(motion) for name, motion in scene.bodies.items()},
        "seen_from": scene.seen_from,
        "parts": [
            {
                "name": one.name,
                "role": one.role,
                "body": one.body,
                "motion": of(one.motion),
                "solids": [solid.facts(columns) for solid in one.solids],
            }
            | ({"colour": one.colour} if one.colour else {})
            for one in scene.parts
        ],
        "ties": [
            {
                "name": one.name,
                "kind": one.kind,
                "first": end(one.first),
                "second": end(one.second),
                "radius": rounded(one.radius),
            }
            | ({} if one.shown is None else {"shown": place(one.shown, 1.0)})
            for one in scene.ties
        ],
        "beams": [
            {
                "name": one.name,
                "body": one.body,
                "motion": of(one.rest),
                "place": rounded(one.place),
                "shift": rounded(one.shift),
                "eta": [place(column) for column in one.eta.T],
                "radius": rounded(one.radius),
            }
            | ({} if one.bow is None or one.along is None else {"bow": rounded(one.bow), "along": rounded(one.along)})
            for one in scene.beams
        ],
        "trails": [
            {"name": one.name, "motion": of(one.carrier), "points": [place(column) for column in _points(one, origin).T]}
            for one in scene.trails
        ],
        "forces": [
            {
                "name": one.name,
                "kind": one.kind,
                "motion": of(one.carrier),
                "place": [place(column) for column in _points(one, origin).T],
                "vector": [place(column, FORCE * 1e-2) for column in one.vector.T],
            }
            for one in scene.forces
        ],
        "force_scale": {"metres": scale.metres, "cut": scale.cut if np.isfinite(scale.cut) else None},
        "focus": {
            "motion": of(scene.focus.carrier),
            "place": rounded(scene.focus.place),
            "axis": rounded(scene.focus.axis),
            "reach": rounded(size),
        },
        "notes": scene.notes,
    }  # fmt: skip


def _points(one: Trail | Force, origin: np.ndarray) -> np.ndarray:
    """Return places (times, 3): of the scene itself from its moving origin."""
    found = one.place if isinstance(one, Force) else one.points
    return found - origin if one.carrier is None else found


def _distinct_motions(scene: Scene) -> list[Motion]:
    """Return what moves in a scene, each motion once, though several parts go along with it."""
    found: list[Motion | None] = [*scene.bodies.values(), scene.focus.carrier]
    found += [part.motion for part in scene.parts] + [beam.rest for beam in scene.beams]
    found += [one.motion for tie in scene.ties for one in (tie.first, tie.second)]
    found += [trail.carrier for trail in scene.trails] + [force.carrier for force in scene.forces]
    return list({id(motion): motion for motion in found if motion is not None}.values())


def _scaled_signals(scene: Scene, motions: Sequence[Motion], origin: np.ndarray, size: float) -> np.ndarray:
    """Return all that changes over time (times, n), in units of what it may be off by."""
    still = WITHIN * size
    found = [(motion.position - origin) / still for motion in motions]
    found += [2 * motion.attitude / WITHIN for motion in motions]
    found += [origin / (WITHIN * max(size, float(np.ptp(origin, axis=0).max())))]
    found += [beam.eta * np.abs(beam.shift).max(initial=0) / still for beam in scene.beams]
    found += [_points(one, origin) / still for one in scene.trails]
    largest = max((float(np.abs(one.vector).max(initial=0)) for one in scene.forces), default=0.0)
    if largest > 0:
        found += [one.vector / (FORCE * largest) for one in scene.forces]
        pushed = [np.linalg.norm(one.vector, axis=1) > FORCE * largest for one in scene.forces]
        found += [
            _points(one, origin) * on[:, None] / (10 * still) for one, on in zip(scene.forces, pushed, strict=True)
        ]
    found += [np.asarray(tie.shown, float)[:, None] * 2 for tie in scene.ties if tie.shown is not None]
    varying = np.concatenate(found, axis=1)
    return varying[:, np.ptp(varying, axis=0) > 1.0]  # what stays where it is needs no further time


def fewest_rows(time: np.ndarray, signals: np.ndarray, most: int) -> tuple[np.ndarray, float]:
    """Return rows of signals (times, n) between which straight lines are within 1 of all the others, and within what they are.

    They are chosen one after another, where lines are off the most (Ramer, Douglas and Peucker), at most so many.
    """
    last = len(signals) - 1
    if last < 1 or not signals.shape[1]:
        return np.unique([0, max(last, 0)]), 0.0

    def worst(start: int, end: int) -> tuple[float, int, int, int]:
        if end - start < 2:
            return 0.0, start, start, end
        share = ((time[start + 1 : end] - time[start]) / (time[end] - time[start]))[:, None]
        off = np.abs(signals[start + 1 : end] - (1 - share) * signals[start] - share * signals[end]).max(axis=1)
        place = int(off.argmax())
        return -float(off[place]), start + 1 + place, start, end

    kept, waiting = [0, last], [worst(0, last)]
    while waiting and -waiting[0][0] > 1.0 and len(kept) < most:
        _, place, start, end = heapq.heappop(waiting)
        kept.append(place)
        for one in (worst(start, place), worst(place, end)):
            if one[0] < 0:
                heapq.heappush(waiting, one)
    return np.sort(np.array(kept)), max(-waiting[0][0], 0.0) if waiting else 0.0
