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

from dockdyn.records import record
from dockdyn.report.scene.scale import arrow_scale
from dockdyn.report.scene.scene import ShownForce
from dockdyn.report.scene.solids import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dockdyn.report.columns import PageColumns
    from dockdyn.report.scene.scene import RunScene, ShownBeam, ShownMotion, ShownPart, ShownTie, ShownTrail

WITHIN = 1e-4  # of the size
FORCE = 0.01  # of the largest
LEAST = 1e-9  # N, of a force that is more than a rounding error
MOST = 2000  # times
CODED = 131068.0  # of a column's range: how near its numbers are, if not in single precision


def scene_data(scene: RunScene, columns: PageColumns) -> dict[str, Any]:
    """Return a scene as JSON, its numbers over time in `columns`.

    Positions are from that of the body in whose axes the scene is seen, in the run's axes; `origin` is how far that has come.
    """
    if not scene.goes_on:
        scene = replace(scene, forces=[one for one in scene.forces if float(np.abs(one.vector).max(initial=0)) > LEAST])
    motions = _distinct_motions(scene)
    base = scene.bodies.get(scene.seen_from)
    origin = np.zeros((len(scene.time), 3)) if base is None else base.position
    size = scene.focus.reach
    rows, within = fewest_rows(scene.time, _scaled_signals(scene, motions, origin, size), MOST)
    writer = _SceneWriter(columns, rows, size, origin, {id(motion): number for number, motion in enumerate(motions)})
    return {
        "title": scene.title,
        "time": columns.place(scene.time[rows], exact=True),
        "span": [float(scene.time[0]), float(scene.time[-1])],
        "within": within * WITHIN,
        "motions": [writer.motion(motion) for motion in motions],
        "origin": [writer.place(one - one[0], WITHIN * max(size, float(np.ptp(one)))) for one in origin.T],
        "bodies": {name: writer.number(motion) for name, motion in scene.bodies.items()},
        "seen_from": scene.seen_from,
        "parts": [writer.part(one) for one in scene.parts],
        "ties": [writer.tie(one) for one in scene.ties],
        "beams": [writer.beam(one) for one in scene.beams],
        "trails": [
            {"name": one.name, "motion": writer.number(one.carrier), "points": writer.points(one)}
            for one in scene.trails
        ],
        "forces": [writer.force(one) for one in scene.forces],
        "force_scale": force_scale([one.vector for one in scene.forces], size),
        "focus": {
            "motion": writer.number(scene.focus.carrier),
            "place": rounded(scene.focus.place),
            "axis": rounded(scene.focus.axis),
            "reach": rounded(size),
            "arm": scene.focus.arm,
        },
        "notes": scene.notes,
    }


def force_scale(vectors: Sequence[np.ndarray], size: float) -> dict[str, float | None]:
    """Return how long (m a N) arrows of forces (…, 3) are beside what is looked at, and the force from which on all are."""
    scale = arrow_scale(vectors, 1.2 * size)
    return {"metres": scale.metres, "cut": scale.cut if np.isfinite(scale.cut) else None}


@record
class _SceneWriter:
    """What writes the parts of a scene: its columns at some rows of time, and what moves by its number."""

    columns: PageColumns
    rows: np.ndarray
    size: float  # m, of what is looked at
    origin: np.ndarray
    numbers: dict[int, int]  # of motions, by their identity

    def place(self, values: np.ndarray, least: float | None = None) -> int:
        """Return the place of a column over time, which may be off by a quarter of the `least` that matters."""
        column = np.asarray(values, float)[self.rows]
        allowed = WITHIN * self.size if least is None else least
        return self.columns.place(column, exact=float(np.ptp(column)) / CODED > 0.25 * allowed)

    def number(self, motion: ShownMotion | None) -> int:
        return -1 if motion is None else self.numbers[id(motion)]

    def motion(self, one: ShownMotion) -> dict[str, Any]:
        position = [self.place(column) for column in (one.position - self.origin).T]
        found: dict[str, Any] = {"p": position, "q": [self.place(column, WITHIN) for column in one.attitude.T]}
        if one.aside is None:
            return found
        facts = {name: getattr(one.aside, name) for name in ("slope", "length", "latch")}
        return found | {"aside": {"motion": self.number(one.aside.carrier), "out": one.aside.out.tolist(), **facts}}

    def part(self, one: ShownPart) -> dict[str, Any]:
        found = {"name": one.name, "role": one.role, "body": one.body, "motion": self.number(one.motion)}
        solids = {"solids": [solid.facts(self.columns) for solid in one.solids]}
        return found | solids | ({"colour": one.colour} if one.colour else {})

    def tie(self, one: ShownTie) -> dict[str, Any]:
        first, second = (
            {"motion": self.number(end.motion), "place": rounded(end.place)} for end in (one.first, one.second)
        )
        found = {"name": one.name, "kind": one.kind, "first": first, "second": second, "radius": rounded(one.radius)}
        found |= {name: fact for name in ("latch", "free") if (fact := getattr(one, name)) is not None}
        found |= {"ghost": one.ghost} if one.ghost else {}
        return found if one.shown is None else found | {"shown": self.place(one.shown, 1.0)}

    def beam(self, one: ShownBeam) -> dict[str, Any]:
        found = {"name": one.name, "body": one.body, "motion": self.number(one.rest), "radius": rounded(one.radius)}
        found |= {"ghost": one.ghost} if one.ghost else {}
        shapes = {
            "place": rounded(one.place),
            "shift": rounded(one.shift),
            "eta": [self.place(column) for column in one.eta.T],
        }
        bent = {} if one.bow is None else {"bow": rounded(one.bow), "along": rounded(one.along)}
        return found | shapes | bent

    def points(self, one: ShownTrail | ShownForce) -> list[int]:
        return [self.place(column) for column in _points(one, self.origin).T]

    def force(self, one: ShownForce) -> dict[str, Any]:
        vector = [self.place(column, FORCE * float(np.abs(one.vector).max())) for column in one.vector.T]
        place = {"motion": self.number(one.carrier), "place": self.points(one)}
        return {"name": one.name, "kind": one.kind, "friction": one.with_friction, "vector": vector} | place


def _points(one: ShownTrail | ShownForce, origin: np.ndarray) -> np.ndarray:
    """Return places (times, 3): of the scene itself from its moving origin."""
    found = one.place if isinstance(one, ShownForce) else one.points
    return found - origin if one.carrier is None else found


def _distinct_motions(scene: RunScene) -> list[ShownMotion]:
    """Return what moves in a scene, each motion once, though several parts go along with it."""
    found: list[ShownMotion | None] = [*scene.bodies.values(), scene.focus.carrier]
    found += [part.motion for part in scene.parts] + [beam.rest for beam in scene.beams]
    found += [one.motion for tie in scene.ties for one in (tie.first, tie.second)]
    found += [trail.carrier for trail in scene.trails] + [force.carrier for force in scene.forces]
    return list({id(motion): motion for motion in found if motion is not None}.values())


def _scaled_signals(scene: RunScene, motions: Sequence[ShownMotion], origin: np.ndarray, size: float) -> np.ndarray:
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
