"""Contact surfaces as a scene draws them: by their dimensions where these are known, else from their signed distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dockdyn.report.scene.solids import BallSolid, RingSolid, ShownSolid, TurnedSolid

if TYPE_CHECKING:
    from dockdyn.contact.surfaces.surface import Surface


def surface_solid(surface: Surface, reach: float) -> ShownSolid:
    """Return a contact surface, as far as it says that it matters where it is met within `reach` (m) of its reference point."""
    from dockdyn.contact.surfaces.cone import Cone
    from dockdyn.contact.surfaces.cylinder import Cylinder
    from dockdyn.contact.surfaces.plane import Plane
    from dockdyn.contact.surfaces.sphere import Sphere
    from dockdyn.contact.surfaces.torus import Torus

    if isinstance(surface, Cone):
        slope = float(surface.sine) / float(surface.cosine)
        radius = 1.6 * reach * slope if surface.rim_radius is None else float(surface.rim_radius)
        return TurnedSolid(
            np.asarray(surface.apex), np.asarray(surface.axis), np.array([[0, 0], [radius / slope, radius]]), True
        )
    if isinstance(surface, Torus):
        axis = np.asarray(surface.axis)
        return RingSolid(np.asarray(surface.centre), axis, float(surface.major_radius), float(surface.minor_radius))
    if isinstance(surface, Sphere) and not surface.inside:
        return BallSolid(np.asarray(surface.centre), float(surface.radius))
    if isinstance(surface, Plane):
        return TurnedSolid(np.asarray(surface.point), np.asarray(surface.normal), np.array([[0, 0], [0, 1.3 * reach]]))
    if isinstance(surface, Cylinder):
        radius, end = float(surface.radius), max(reach, 1.2 * float(surface.radius))
        outline = (
            [[-end, radius], [end, radius]] if surface.inside else [[-end, 0], [-end, radius], [end, radius], [end, 0]]
        )
        return TurnedSolid(np.asarray(surface.point), np.asarray(surface.axis), np.array(outline), bool(surface.inside))
    return _sample_surface(surface, reach)


def _sample_surface(surface: Surface, reach: float) -> ShownSolid:
    """Return a surface of any shape, from its signed distance."""
    from dockdyn.report.scene.level_set import surface_around_axis

    extent = surface.extent(reach)
    return surface_around_axis(surface, *(float(np.asarray(one)) for one in (extent.radius, extent.low, extent.high)))
