"""Runs in one scene: what others consist of as ghosts where it is beside that of the first, at the same time.

Lengths in m, times in s.
Source: definition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dockdyn.report.charts.chart import line_style
from dockdyn.report.palette import COLOURS
from dockdyn.report.scene.rotation import interpolate, interpolate_attitudes, multiply, rotate
from dockdyn.report.scene.scene import End, ShownMotion, ShownPart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dockdyn.report.scene.scene import RunScene, ShownBeam, ShownTie

BACK = (1.0, -1.0, -1.0, -1.0)  # times a unit quaternion: the turn back


def scene_beside(scene: RunScene, others: Mapping[str, RunScene]) -> RunScene | None:
    """Return the scene of a run with parts, struts and beams of `others`, by their names, as ghosts in the colours of their
    curves, without buses that have gear.

    They are where they are seen from the body from which the scene is seen; one that ends before stays where it was. Those that
    have no such body are left out; None where none has. Where the scene is seen from none, as of a rig, they look as those of
    the first do: on a line blocks are as large as its way is long.
    """
    based = scene.seen_from in scene.bodies
    beside = {name: other for name, other in others.items() if not based or scene.seen_from in other.bodies}
    found = scene
    for place, name in enumerate(others, start=1):
        if name in beside:
            found = _with_ghost(found, scene, beside[name], name, line_style(place)["colour"])
    return found if beside else None


def _with_ghost(found: RunScene, scene: RunScene, other: RunScene, name: str, hue: str) -> RunScene:
    """Return a scene with one more ghost, of an `other` run beside the `scene` of the first."""
    ghost = _Ghost(scene, other, name.replace("/", " "), COLOURS[hue])
    ends = f", which ends at {other.time[-1]:.4g} s" if other.time[-1] < scene.time[-1] else ""
    return replace(
        found,
        parts=[*found.parts, *ghost.parts()],
        ties=[*found.ties, *ghost.ties()],
        beams=[*found.beams, *ghost.beams()],
        notes=[*found.notes, f"pale {hue}, {name}{ends}"],
    )


class _Ghost:
    """What another run consists of, at the times of a scene and where it is seen from the body from which that is seen."""

    def __init__(self, scene: RunScene, other: RunScene, called: str, colour: str) -> None:
        self._scene, self._other, self._called, self._colour = scene, other, called, colour
        self._base, self._still = scene.bodies.get(scene.seen_from), None
        self._moved: dict[int, ShownMotion] = {}
        if self._base is not None:
            rest = np.zeros((len(other.time), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(other.time), 1))
            self._own_base, self._still = other.bodies[scene.seen_from], ShownMotion(*rest)
            self._own_there = _at_times(scene.time, other, self._own_base)
            self._moved[id(self._own_base)] = self._base

    def parts(self) -> list[ShownPart]:
        """Return what has a shape and is carried, but not by the body from which the scene is seen: its own is there."""
        geared = {id(part.motion) for part in self._other.parts if part.role != "bus"}
        own = {} if self._base is not None else {one.name: one.solids for one in self._scene.parts}
        return [
            ShownPart(self._name(one.name), own.get(one.name, one.solids), moved, "ghost", None, self._colour)
            for one in self._other.parts
            if one.motion is not None
            and (moved := self._motion(one.motion)) is not self._base
            and one.role != "ghost"
            and not (one.role == "bus" and id(one.motion) in geared)
        ]

    def ties(self) -> list[ShownTie]:
        """Return what acts between two places, but for what holds ghosts of the other run's own."""
        pale = {id(part.motion) for part in self._other.parts if part.role == "ghost"}
        return [self._tie(one) for one in self._other.ties if not {id(one.first.motion), id(one.second.motion)} & pale]

    def _tie(self, one: ShownTie) -> ShownTie:
        like = next((tie for tie in self._scene.ties if self._base is None and tie.name == one.name), one)
        first, second = (
            End(self._motion(end.motion), place.place)
            for end, place in ((one.first, like.first), (one.second, like.second))
        )
        last = np.maximum(np.searchsorted(self._other.time, self._scene.time, side="right") - 1, 0)
        shown = None if one.shown is None else one.shown[last]
        name, ghost = self._name(one.name), self._colour
        return replace(like, name=name, first=first, second=second, shown=shown, latch=None, ghost=ghost)

    def beams(self) -> list[ShownBeam]:
        """Return the beams, bent as they are then."""
        found = []
        for one in self._other.beams:
            rest, eta = self._motion(one.rest), interpolate(self._scene.time, self._other.time, one.eta)
            assert rest is not None
            found.append(replace(one, name=self._name(one.name), rest=rest, eta=eta, ghost=self._colour))
        return found

    def _name(self, name: str) -> str:
        return f"{self._called}/{name.replace('/', ' ')}"

    def _motion(self, motion: ShownMotion | None) -> ShownMotion | None:
        """Return a motion of the other run, once, at the times of the scene and seen from its body; None of what stands where
        it is seen from none."""
        own = self._still if motion is None else motion
        if own is not None and id(own) not in self._moved:
            there = _at_times(self._scene.time, self._other, own)
            self._moved[id(own)] = _seen_from(self._base, self._own_there, there) if self._base is not None else there
        return None if own is None else self._moved[id(own)]


def _at_times(time: np.ndarray, scene: RunScene, motion: ShownMotion) -> ShownMotion:
    """Return a motion of a scene at other times."""
    return ShownMotion(
        interpolate(time, scene.time, motion.position), interpolate_attitudes(time, scene.time, motion.attitude)
    )


def _seen_from(base: ShownMotion, own: ShownMotion, motion: ShownMotion) -> ShownMotion:
    """Return a motion that is beside `base` where it was beside its `own` one."""
    back = own.attitude * BACK
    place = rotate(base.attitude, rotate(back, motion.position - own.position))
    return ShownMotion(base.position + place, multiply(base.attitude, multiply(back, motion.attitude)))
