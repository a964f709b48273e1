"""The line between a place on one body and a place on another.

Units: m, m/s, N.
Source: definitions.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

from dockdyn.deferred import Array, Float, PyTree, xp
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.force_element import Action, ForceElement, Opposing
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.trees import Module


class AnchorLine(NamedTuple):
    """The line between two anchors at an instant."""

    length: Scalar  # m
    rate: Scalar  # m/s, of the length
    along: Vector  # unit vector from the other's anchor to the first body's, inertial; zero where they coincide
    point: Vector  # m, inertial: the first body's anchor
    end: Vector  # m, inertial: the other's

    def pull(self, tension: Scalar) -> Action:
        """Return what a tension (N, positive pulls the bodies together) in the line does."""
        return Action(self.along * -tension, Vector.zero(), self.point)

    def effective_mass(self, opposing: Opposing) -> Scalar:
        """Return what the bodies oppose to a force in the line (kg)."""
        return opposing.along(self.point, self.end, self.along)


class LineElement(ForceElement):
    """A force along a line between two bodies."""

    @abc.abstractmethod
    def pull_along(
        self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[AnchorLine, Scalar, ElementMemory]:
        """Return the line, the tension (N, positive pulls the bodies together) in it, and the rate of what is remembered."""

    def act(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Action, ElementMemory]:
        line, tension, rate = self.pull_along(mode, memory, own, other)
        return line.pull(tension), rate

    def borne(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        return self.pull_along(mode, memory, own, other)[1]

    def act_beyond(
        self, borne: Scalar, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[Action, ElementMemory]:
        line, tension, rate = self.pull_along(mode, memory, own, other)
        return line.pull(tension - borne), rate


class Anchors(Module):
    """A place on each of two bodies."""

    own: Float[Array, "3"]  # m, axes of the first body, from its centre of mass
    other: Float[Array, "3"]  # m, axes of the other, from its centre of mass

    def line(self, own: Placed, other: Placed) -> AnchorLine:
        """Return the line between them."""
        point, end = once((own.point(Vector.of(self.own)), other.point(Vector.of(self.other))))
        apart, velocity = point - end, own.velocity(point) - other.velocity(end)
        squared = apart.dot(apart)
        length = xp.where(squared > 0, xp.sqrt(xp.where(squared > 0, squared, 1.0)), 0.0)
        along = apart / xp.where(squared > 0, length, 1.0)
        return once(AnchorLine(length, velocity.dot(along), along, point, end))
