"""What the geometry of a pair is: how deep two things overlap, along which direction, and where.

Units: lengths m.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
from jaxtyping import Array, Float

from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector


class Touch(NamedTuple):
    """Where and how two things meet."""

    depth: Scalar  # m, positive is overlap
    normal: Vector  # out of the second thing towards the first, inertial
    point: Vector  # m, inertial: where the force acts on both


class PairGeometry(eqx.Module):
    """A thing on a first body and a thing on a second one, each in the axes of its own body."""

    shared: ClassVar[tuple[str, ...]] = ()  # fields that all members of a group have in common, such as a surface

    @abc.abstractmethod
    def touch(self, own: Placed, other: Placed) -> Touch:
        """How the thing on the first body (`own`) meets that on the second (`other`)."""

    @abc.abstractmethod
    def place(self) -> Float[Array, "3"]:
        """The middle of the first thing (m, axes of its body)."""
