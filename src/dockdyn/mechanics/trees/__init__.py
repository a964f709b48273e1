"""Trees of rigid and flexible links, in the plane and in space.

Units: SI units; joint angles rad, prismatic joints m.
Source: Featherstone 2008; Cyril et al. for flexible links.
"""

from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.mechanics.trees.momentum import Momentum
from dockdyn.mechanics.trees.tree_building import Link, tree_of

__all__ = [
    "Beam",
    "Link",
    "Momentum",
    "Tree",
    "tree_of",
]
