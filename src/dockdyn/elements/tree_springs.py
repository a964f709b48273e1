"""Energy of the springs and dampers in joints and beams of a tree, whose equations of motion have their forces already.

Units: J, W.
Source: `dockdyn.mechanics.trees.composite_bodies`.
"""

from __future__ import annotations

from dockdyn.elements.actor import Actor, ElementMemory, nothing_yet
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.mechanics.trees.tree_bodies import TreePlace
from dockdyn.mechanics.vector import Scalar


class TreeSprings(Actor[TreePlace]):
    """What joints and beams of a tree store and dissipate."""

    tree: Tree

    def init(self, place: TreePlace) -> ElementMemory:
        """Return what it remembers at t = 0."""
        return nothing_yet("dissipated")

    def act(self, mode: tuple[()], memory: ElementMemory, place: TreePlace) -> tuple[None, ElementMemory]:
        """Return nothing, as the tree feels the forces itself, and the rate of what it remembers."""
        return None, memory._replace(dissipated=self.tree.dissipation(place.v))

    def stored_energy(self, mode: tuple[()], memory: ElementMemory, place: TreePlace) -> Scalar:
        """Return the energy (J) of springs in joints and of bent links."""
        return self.tree.potential_energy(place.q)
