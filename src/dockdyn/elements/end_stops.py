"""Compliant end stops of a stroke.

Units: lengths m, rates m/s, forces N, energies J, powers W.
Source: two one-sided springs; own construction.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.axial import Axial
from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.elements.one_sided_spring import OneSidedSpring
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module

type Modes = tuple[Int[Array, ""], Int[Array, ""]]  # of the lower and the upper stop


class StopLoad(NamedTuple):
    """What both stops do at an instant."""

    tension: Scalar  # N, positive shortens the stroke
    stored: Scalar  # J
    power: Scalar  # W, that their dampers take


class EndStops(Module):
    """Springs and dampers that a stroke meets at either end; they push it back and never pull."""

    lowest: Float[Array, ""]  # m
    highest: Float[Array, ""]  # m
    spring: OneSidedSpring

    def touches(self, stroke: Scalar, rate: Scalar) -> tuple[Axial, Axial]:
        """Lower and upper stop at a `stroke` (m) that grows by `rate` (m/s)."""
        return self.spring.touch(self.lowest - stroke, -rate), self.spring.touch(stroke - self.highest, rate)

    def load(self, modes: Modes, touches: tuple[Axial, Axial]) -> StopLoad:
        """Return their force, energy and loss."""
        lower, upper = map(self.spring.normal_force, modes, touches)
        stored = sum(map(self.spring.stored, modes, touches), jnp.zeros(()))
        return StopLoad(upper - lower, stored, sum(map(self.spring.power, modes, touches), jnp.zeros(())))

    def guards(self, modes: Modes, touches: tuple[Axial, Axial]) -> tuple[Scalar, ...]:
        """Return four event functions that rise through zero, two of the lower stop and two of the upper."""
        lower, upper = map(self.spring.guards, modes, touches)
        return *lower, *upper

    def next_modes(self, modes: Modes, fired: tuple[Bool[Array, ""], ...], rate: Scalar) -> Modes:
        """Return the modes after the guards in `fired` have fired, at a `rate` (m/s) of the stroke."""
        lower, upper = self.spring.touch(jnp.zeros(()), -rate), self.spring.touch(jnp.zeros(()), rate)
        return (
            self.spring.next_mode(modes[0], (fired[0], fired[1]), lower).astype(int),
            self.spring.next_mode(modes[1], (fired[2], fired[3]), upper).astype(int),
        )

    def first_modes(self, touches: tuple[Axial, Axial]) -> Modes:
        """Return the modes that fit a state."""
        lower, upper = (self.spring.first_mode(touch).astype(int) for touch in touches)
        return lower, upper
