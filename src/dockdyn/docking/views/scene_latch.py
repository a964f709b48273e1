"""The latch in a cone as a scene shows it: teeth that the tip pushes aside, and that fall in behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.schema.elements import LatchSection
from dockdyn.report.sampled_surface import plain_components
from dockdyn.report.scene.rotation import rotate
from dockdyn.report.scene.scene import Aside, ShownMotion, ShownPart
from dockdyn.report.scene.solids import BoxSolid
from dockdyn.report.scene.times import Sampler
from dockdyn.scenario.made import made, ramp_of

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection

TEETH = 3
LEAST = 0.15  # of the tip's radius that teeth leave free when nothing pushes them aside
WIDE = 0.4  # of the tip's radius: the side of a tooth


def told_latch(dataset: Dataset, content: SeveralBodiesSection) -> LatchSection | None:
    """Return the one latch behind a ramp of which a result tells its travel; None where it tells of none."""
    ramps = [one for one in content.latch if one.ramp is not None]
    return ramps[0] if len(ramps) == 1 and "latch_travel" in dataset else None


def latch_parts(
    dataset: Dataset, content: SeveralBodiesSection, motions: dict[str, ShownMotion], at: Sampler
) -> list[ShownPart]:
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
    travel = at(dataset.latch_travel.values)
    held = at(dataset.latch_held.sel(latch=latch.name).values.astype(float)) > 0.5
    aside = np.where(held, 0.0, slope * np.clip(travel, 0.0, length))
    radius = max(float(feature.radius), slope * length)
    free = max(radius - slope * length, LEAST * radius)
    wall = station * float(surface.sine) / float(surface.cosine)
    half, long = 0.5 * WIDE * radius, max(wall - free, 0.0) + 0.5 * radius
    across = np.cross(axis, np.eye(3)[np.abs(axis).argmin()])
    across /= np.linalg.norm(across)
    parts = []
    for number in range(TEETH):
        angle = 2 * np.pi * number / TEETH
        out = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
        axes = np.stack([out, np.cross(axis, out), axis], axis=1)
        corner = axes.T @ (apex + station * axis + free * out)
        tooth = BoxSolid(corner + np.array([0.0, -half, -half]), corner + np.array([long, half, half]), axes)
        moved = carrier.position + rotate(carrier.attitude, aside[:, None] * out)
        motion = ShownMotion(moved, carrier.attitude, Aside(carrier, out, slope, length, content.latch.index(latch)))
        parts.append(ShownPart(f"{latch.name}/tooth {number + 1}", [tooth], motion, "gear", None))
    return parts
