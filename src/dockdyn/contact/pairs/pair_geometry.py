"""What a pair of things that can meet is.

Units: lengths m.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import ClassVar

from dockdyn.contact.contact_kinematics import ContactKinematics, kinematics_of
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Float
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module


class PairGeometry(Module):
    """Two things, the first fixed to one body and the second to another, in the axes of these bodies."""

    shared: ClassVar[tuple[str, ...]] = ()  # fields that the members of a group have in common, such as a surface

    @abc.abstractmethod
    def place(self) -> Float[Array, "3"]:
        """Return the middle of the first thing (m, axes of its body)."""

    @abc.abstractmethod
    def extent(self) -> Scalar:
        """Return how far (m) the first thing's core reaches from its middle: its centre, segment or circle, without the radius
        about it, which does not come nearer as the thing turns."""

    @abc.abstractmethod
    def touch(self, own: Placed, other: Placed) -> Touch:
        """Return how the first thing, of the body `own`, and the second, of the body `other`, meet."""

    def meet(self, own: Placed, other: Placed) -> ContactKinematics:
        """Return where the two meet, and how they move there."""
        return kinematics_of(self.touch(own, other), own, other)

    def contact_point(self, own: Placed, other: Placed) -> Vector:
        """Return where the contact force acts on both bodies (m, inertial)."""
        return self.touch(own, other).point

    def least_distance(self, own: Placed, other: Placed) -> tuple[Scalar, Scalar] | None:
        """Return a distance (m) that the two things have at least, quick to compute, and the size (m) of the smaller one.

        None where `touch` itself is quick.
        """
        return None
