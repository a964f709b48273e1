"""Geometry of two things that can meet: where, how deep and along which normal.

Units: lengths m.
Source: that of each pair, named in its own file.
"""

from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.pairs.capsule_on_capsule import CapsuleOnCapsule
from dockdyn.contact.pairs.capsule_on_ring import CapsuleOnRing
from dockdyn.contact.pairs.capsule_on_surface import CapsuleOnSurface
from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.pairs.places_on_line import PlacesOnLine
from dockdyn.contact.pairs.ring_on_plane import RingOnPlane, balls_of_ring

__all__ = [
    "BallOnSurface",
    "CapsuleOnCapsule",
    "CapsuleOnRing",
    "CapsuleOnSurface",
    "PairGeometry",
    "PlacesOnLine",
    "RingOnPlane",
    "balls_of_ring",
]
