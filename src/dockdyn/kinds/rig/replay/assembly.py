"""The scene of a rig with an assembly: its mock-ups in the laboratory, what the computer has, what would be without rig."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from dockdyn.kinds.assembly.replay import body_parts, reach_of
from dockdyn.kinds.rig.replay.rig import (
    COMPUTED,
    IDEAL,
    MODEL,
    WITHOUT,
    carried_motion,
    events,
    frame_times,
    ghost_of,
    signals,
)
from dockdyn.kinds.rig.schema import RigAssemblySection
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import seen_whole
from dockdyn.report.replay.colours import BODIES, FORCE
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Frame, Line, Scene, still
from dockdyn.scenario.made import model_of


def scene_of_assembly(dataset: xr.Dataset, content: RigAssemblySection) -> Scene:
    """The two mock-ups in axes of the laboratory, in which that of the second stands still."""
    time, dwell = frame_times(dataset)
    robot, ground = carried_motion(dataset, content, time, "robot_pose"), still(len(time))
    carried, standing = (content.named(name) for name in content.mock_ups)
    reach = reach_of(content)
    own = body_parts(carried, content, BODIES[0], robot, reach)
    parts = [*own, *body_parts(standing, content, BODIES[1], ground, reach)]
    ghosts = []
    for name, key, colour in ((COMPUTED, "model_pose", MODEL), (WITHOUT, "ideal_pose", IDEAL)):
        motion = carried_motion(dataset, content, time, key)
        drawn = body_parts(carried.model_copy(update={"name": name}), content, colour, motion, reach)
        ghosts += [ghost_of(part, colour, name) for part in drawn]
    gear = [*own, *(part for part in parts if not part.name.endswith("/body"))]
    place = np.asarray(model_of(content).groups[content.carried_features()[0]].place)
    tip, force = robot.points(place), frames.at(time, dataset.time.values, dataset.contact_force.values)
    scale, slanted, side = arrow_scale([force], 2 * reach), [0.3, -1.0, 0.5], [0.0, -1.0, 0.0]
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=[*parts, *ghosts],
        lines=[Line("path", tip, COLOURS["gold"], grows=True)],
        arrows=[Arrow("contact force", tip, force, FORCE, "N", scale, 0.03 * reach)],
        frames=[Frame("laboratory", ground, reach), Frame(carried.name, robot, reach)],
        events=events(dataset),
        signals=signals(dataset),
        notes=["mock-ups in the laboratory; pale blue, the carried one in the computer; pale green, without rig"],
        views=[
            seen_whole("contact", slanted, gear, (-1,)),
            seen_whole("overview", slanted, parts, (0, -1)),
            seen_whole("side", side, parts, (0, -1)),
            replace(seen_whole(f"with {carried.name}", slanted, own), follow=robot),
        ],
    )
