"""What a mechanism asks of bodies that are joined to a tree, by whatever equations they move.

Units: SI: m, rad, N, N m, J.
Source: definition of the interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dockdyn.mechanics.rigid_body import Twist
from dockdyn.mechanics.vector import Scalar, Vector

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.moving_bodies import Velocities


class Bending(NamedTuple):
    """What a bent body has beside what it would have unbent; inertial."""

    place: Vector  # m, where it counts
    linear: Vector  # N s
    angular: Vector  # N m s, about the place
    moved: Vector  # kg m, its mass times how far its centre of mass is from there


class Change(Protocol):
    """How the velocities of a tree change, or what a load changes of them."""

    @property
    def bodies(self) -> list[Twist]:
        """Return the rates of its bodies' twists, each a velocity (inertial) and a rate (body axes)."""
        ...


class TreeMotion(Protocol):
    """The equations of motion of a tree at an instant.

    Forces (N, inertial) act on its bodies at their centres of mass, torques (N m, body axes) about these.
    """

    def change(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> Change:
        """Return M⁻¹ of loads: what they add to rates, or impulses to velocities; numbers may be arrays, load after load."""
        ...

    def reactions(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> list[tuple[Vector, Vector]]:
        """Return the force and moment (body axes) at the joint of each body but the first, of loads that motion needs and
        nobody else gives."""
        ...


class Bodies(Protocol):
    """Bodies of a tree where they are and as they move."""

    @property
    def members(self) -> tuple[int, ...]:
        """Return their numbers among all bodies, of the first that of the root."""
        ...

    def equations(self) -> TreeMotion:
        """Return their equations of motion."""
        ...

    def kinetic_energies(self) -> list[Scalar]:
        """Return their kinetic energies (J), of what bends with that of its vibration."""
        ...

    def needed(self, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return the force (N, inertial) and torque about its centre of mass (N m, body axes) that the motion of each needs,
        where velocities change at `rates` and their own twists at `twists`."""
        ...

    def bending(self) -> list[Bending]:
        """Return what those that bend have of momentum beside what they would have unbent."""
        ...

    def reflected_energy(self) -> Scalar:
        """Return the kinetic energy (J) of what motors in joints reflect."""
        ...
