"""Where two bodies touch and the force between them.

Units: lengths m, speeds m/s, forces N.
Source: Sazawal et al. with the corrections in the page of errata; each file names what it follows.
"""

from dockdyn.contact.axial import AxialContact
from dockdyn.contact.catch import Catch
from dockdyn.contact.feature import Feature, Point, SphereTip
from dockdyn.contact.gate import UnilateralContact
from dockdyn.contact.latch import ConeLatch
from dockdyn.contact.laws import (
    ComplianceDevice,
    Coulomb,
    ForceStroke,
    Friction,
    Hertz,
    HuntCrossley,
    NormalLaw,
    Parallel,
    Preloaded,
    SpringDashpot,
)
from dockdyn.contact.pair import Contact, ContactKinematics, ContactState, contact_kinematics
from dockdyn.contact.surfaces import Cone, Cylinder, Extent, Intersection, Plane, Sphere, Surface, Torus, Union

__all__ = [
    "AxialContact",
    "Catch",
    "ComplianceDevice",
    "Cone",
    "ConeLatch",
    "Contact",
    "ContactKinematics",
    "ContactState",
    "Coulomb",
    "Cylinder",
    "Extent",
    "Feature",
    "ForceStroke",
    "Friction",
    "Hertz",
    "HuntCrossley",
    "Intersection",
    "NormalLaw",
    "Parallel",
    "Plane",
    "Point",
    "Preloaded",
    "Sphere",
    "SphereTip",
    "SpringDashpot",
    "Surface",
    "Torus",
    "UnilateralContact",
    "Union",
    "contact_kinematics",
]
