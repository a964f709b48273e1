"""The latch in a cone as a replay shows it: teeth that the tip pushes aside, and that fall in behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.kinds.assembly.schema.elements import LatchSection
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay import frames
from dockdyn.report.replay.scene import SceneMotion, ScenePart, rotate_vectors
from dockdyn.report.replay.shapes import box_mesh, place_mesh
from dockdyn.report.sampled_surface import plain_components
from dockdyn.scenario.made import made, ramp_of

if TYPE_CHECKING:
    from dockdyn.kinds.assembly.schema.several import SeveralBodiesSection

TEETH = 3
LEAST = 0.15  # of the tip's radius that teeth leave free when nothing pushes them aside
WIDE = 0.4  # of the tip's radius: the side of a tooth
LAYER = "latch (its place and travel)"


def told_latch(dataset: Dataset, content: SeveralBodiesSection) -> LatchSection | None:
    """Return the one latch behind a ramp of which a result tells its travel; None where it tells of none."""
    ramps = [one for one in content.latch if one.ramp is not None]
    return ramps[0] if len(ramps) == 1 and "latch_travel" in dataset else None


def latch_parts(
    dataset: Dataset, content: SeveralBodiesSection, time: np.ndarray, motions: dict[str, SceneMotion]
) -> list[ScenePart]:
    """Return teeth where the latch meets the tip's widest place, as far aside as the ramp pushes them, around the docking axis.

    A scenario says where the ramp meets the latch and how far that is pushed aside, not what it looks like.
    """
    latch = told_latch(dataset, content)
    if latch is None or latch.ramp is None or latch.entry is None:
        return []
    feature, section = content.latched_pair(latch)
    carrier, surface, ramp = motions[latch.between[1]], made(section), ramp_of(latch.ramp)
    apex, axis = plain_components(surface.reference()), plain_components(surface.docking_frame()[1])
    length, slope = float(ramp.length), float(ramp.slope)
    station = max(latch.entry - length, 0.0)
    travel = frames.interpolate_samples(time, dataset.time.values, dataset.latch_travel.values)
    held = frames.interpolate_samples(time, dataset.time.values, dataset.latch_held.sel(latch=latch.name).values) > 0
    aside = np.where(held, 0.0, slope * np.clip(travel, 0.0, length))
    radius = max(float(feature.radius), slope * length)
    free = max(radius - slope * length, LEAST * radius)
    wall = station * float(surface.sine) / float(surface.cosine)
    half, long = 0.5 * WIDE * radius, max(wall - free, 0.0) + 0.5 * radius
    solid = box_mesh([0.0, -half, -half], [long, half, half])
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    across /= np.linalg.norm(across)
    parts = []
    for number in range(TEETH):
        angle = 2 * np.pi * number / TEETH
        out = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
        tooth = place_mesh(solid, apex + station * axis + free * out, out)
        moved = carrier.position + rotate_vectors(carrier.attitude, aside[:, None] * out)
        motion = SceneMotion(moved, carrier.attitude)
        parts.append(ScenePart(f"{latch.name}/tooth {number + 1}", tooth, COLOURS["gold"], motion, layer=LAYER))
    return parts
