"""Where two bodies touch and the force between them.

Units: lengths m, speeds m/s, forces N.
Source: Sazawal et al. with the corrections in the page of errata; each file names what it follows.
"""

from dockdyn.contact.axial import AxialContact
from dockdyn.contact.contact_kinematics import ContactKinematics
from dockdyn.contact.contact_modes import UnilateralContact
from dockdyn.contact.group import ContactGroup
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
from dockdyn.contact.pairs import (
    BallOnSurface,
    CapsuleOnCapsule,
    CapsuleOnRing,
    CapsuleOnSurface,
    PairGeometry,
    RingOnPlane,
    balls_of_ring,
)
from dockdyn.contact.surfaces import Cone, Cylinder, Extent, Intersection, Plane, Sphere, Surface, Torus, Union
from dockdyn.contact.touch import Touch

__all__ = [
    "AxialContact",
    "BallOnSurface",
    "CapsuleOnCapsule",
    "CapsuleOnRing",
    "CapsuleOnSurface",
    "ComplianceDevice",
    "Cone",
    "ContactGroup",
    "ContactKinematics",
    "Coulomb",
    "Cylinder",
    "Extent",
    "ForceStroke",
    "Friction",
    "Hertz",
    "HuntCrossley",
    "Intersection",
    "NormalLaw",
    "PairGeometry",
    "Parallel",
    "Plane",
    "Preloaded",
    "RingOnPlane",
    "Sphere",
    "SpringDashpot",
    "Surface",
    "Torus",
    "Touch",
    "UnilateralContact",
    "Union",
    "balls_of_ring",
]
