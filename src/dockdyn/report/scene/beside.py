"""Two runs in one scene: the bodies of the second as ghosts where they are beside those of the first, at the same time.

Lengths in m, times in s.
Source: definition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dockdyn.report.palette import COLOURS
from dockdyn.report.scene.rotation import interpolate, interpolate_attitudes, multiply, rotate
from dockdyn.report.scene.scene import ShownMotion, ShownPart

if TYPE_CHECKING:
    import numpy as np

    from dockdyn.report.scene.scene import RunScene

BACK = (1.0, -1.0, -1.0, -1.0)  # times a unit quaternion: the turn back


def scene_beside(scene: RunScene, other: RunScene, name: str) -> RunScene | None:
    """Return the scene of a run with the bodies of an `other`, called by its `name`, as ghosts, without buses that have gear.

    They are where they are seen from the body from which the scene is seen; one that ends before stays where it was. None where
    the other has no such body. Where the scene is seen from none, as of a rig, they look as those of the first do: on a line
    blocks are as large as its way is long.
    """
    base = scene.bodies.get(scene.seen_from)
    if base is not None and scene.seen_from not in other.bodies:
        return None
    moved = {id(motion): _at_times(scene.time, other, motion) for motion in other.bodies.values()}
    if base is not None:
        from_other = moved[id(other.bodies[scene.seen_from])]
        moved = {key: _seen_from(base, from_other, motion) for key, motion in moved.items()}
        del moved[id(other.bodies[scene.seen_from])]  # which is where that of the scene is
    called, orange = name.replace("/", " "), COLOURS["orange"]
    geared = {id(part.motion) for part in other.parts if part.role != "bus"}
    own = {} if base is not None else {one.name: one.solids for one in scene.parts}
    ghosts = [
        ShownPart(
            f"{called}/{one.name.replace('/', ' ')}",
            own.get(one.name, one.solids),
            moved[id(one.motion)],
            "ghost",
            None,
            orange,
        )
        for one in other.parts
        if one.role != "ghost" and id(one.motion) in moved and not (one.role == "bus" and id(one.motion) in geared)
    ]
    ends = f", which ends at {other.time[-1]:.4g} s" if other.time[-1] < scene.time[-1] else ""
    return replace(scene, parts=[*scene.parts, *ghosts], notes=[*scene.notes, f"pale orange, {name}{ends}"])


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
