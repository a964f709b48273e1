"""Surfaces by their signed distance.

Units: lengths m.
Source: that of each surface, named in its own file.
"""

from dockdyn.contact.surfaces.combined import Intersection, Union
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.cylinder import Cylinder
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.contact.surfaces.sphere import Sphere
from dockdyn.contact.surfaces.surface import Extent, Surface
from dockdyn.contact.surfaces.torus import Torus

__all__ = [
    "Cone",
    "Cylinder",
    "Extent",
    "Intersection",
    "Plane",
    "Sphere",
    "Surface",
    "Torus",
    "Union",
]
