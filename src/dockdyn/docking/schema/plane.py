"""What does not stay in the x–y plane of a mechanism that is to move there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.docking.schema.flexible import LargeBeamSection
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection

FLAT = 1e-9  # sine of the angle by which an axis may leave the plane
JOINTS = {"revolute": "along z", "prismatic": "across z"}


def refuse_out_of_plane(content: SeveralBodiesSection) -> None:
    """Refuse what leaves the plane: axes of joints, beams that bend out of it, motion at the start."""
    if content.approach is not None:
        refuse("approach: is stated in space; motion must be 'space'")
    turns: dict[str | None, Any] = {None: np.eye(3)}
    waiting = list(content.body)
    while waiting:
        body = waiting.pop(0)
        if body.on not in turns:
            waiting.append(body)
            continue
        attitude = body.start()[0].attitude.matrix()
        turn = turns[body.on] @ np.asarray(attitude.array())
        turns[body.name] = turn
        if np.hypot(*turn[:2, 2]) > FLAT:
            refuse(f"body.{body.name}.attitude: motion = 'plane' allows a turn about z alone")
        _refuse_moving_out(f"body.{body.name}", body)
        joint = body.joint
        if joint is not None and joint.motion != "locked":
            key = f"body.{body.name}.joint"
            if joint.motion not in JOINTS:
                refuse(f"{key}.kind = {joint.kind!r}: motion = 'plane' allows joints that are {' or '.join(JOINTS)}")
            axis = np.asarray(joint.direction().array())
            out = np.hypot(*axis[:2]) if joint.motion == "revolute" else abs(axis[2])
            if out > FLAT:
                refuse(f"{key}.axis: motion = 'plane' asks for one {JOINTS[joint.motion]}")


def _refuse_moving_out(key: str, body: Any) -> None:  # noqa: ANN401, a section of a body
    """Refuse velocities, and beams that bend, out of the plane."""
    for name, out in (("velocity", slice(2, 3)), ("rate", slice(0, 2))):
        if np.any((getattr(body, name) or [0.0] * 3)[out]):
            refuse(f"{key}.{name}: leaves the plane; motion must be 'space', or this be 0 out of it")
    beam = body.flexible
    if isinstance(beam, LargeBeamSection) and (beam.bending_modes[1] or beam.twist_modes):
        refuse(f"{key}.flexible: in the plane a beam bends along y alone; bending_modes must be [n, 0], twist_modes 0")
