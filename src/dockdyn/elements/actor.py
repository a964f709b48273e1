"""What an actor is: what it remembers, when its law changes, and what it does to what it acts on.

Units: forces N, moments N m, lengths m, energies J.
Source: definition of the interface.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from dockdyn.contact.latch import Caught
from dockdyn.deferred import Array, Bool, PyTree, jnp
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module

FLAG = 0.5  # where a remembered number that is 0 or 1 turns from one to the other


class ElementMemory(NamedTuple):
    """What an element remembers, or the rate of it; None where it has no such part."""

    travel: Scalar | None = None  # m, by which a motor has moved the free length
    work: Scalar | None = None  # J, of the motor
    slide: Scalar | None = None  # m, by which a brake has slid
    dissipated: Scalar | None = None  # J, in dampers, brake and stops
    caught: Vector | None = None  # m, where a latch caught a striker, axes of the body with the latch
    held: Scalar | None = None  # 1 once a latch holds, else 0
    impulse: Scalar | None = None  # N s, that a thruster has given, by size
    turned: Quaternion | None = None  # how a latch caught its striker's body, in the axes of the body with the latch
    since: Scalar | None = None  # s, for which a latch has held
    found: Caught | None = None  # what a capture had to take

    def holds(self) -> Bool[Array, "..."]:
        """Return whether a latch, or each of several, holds.

        Whoever integrates what is remembered moves it a little to see what depends on it: a flag is told at a half.
        """
        assert self.held is not None
        return self.held > FLAG

    def slid(self, slide: Scalar, lost: Scalar) -> ElementMemory:
        """Return the memory once the brake has slid to `slide` (m), for which it took `lost` (J)."""
        return self._replace(slide=slide, dissipated=None if self.dissipated is None else self.dissipated + lost)


class Actor[*Sides](Module):
    """What acts in a mechanism besides contacts: between two bodies, on one, in a joint, or on the modes of a link.

    Each method is told how these are. Its law is smooth while its modes, one integer for each part that has events, stay.
    """

    @abc.abstractmethod
    def init(self, *sides: *Sides) -> ElementMemory:
        """Return what it remembers at t = 0."""

    @abc.abstractmethod
    def act(self, mode: PyTree, memory: ElementMemory, *sides: *Sides) -> tuple[Any, ElementMemory]:
        """Return what it does, and the rate of what it remembers."""

    def stored_energy(self, mode: PyTree, memory: ElementMemory, *sides: *Sides) -> Scalar:
        """Return the energy (J) that it can give back."""
        return jnp.zeros(())

    def settle(self, memory: ElementMemory, *sides: *Sides) -> tuple[PyTree, ElementMemory]:
        """Return the modes that fit the state itself, at the start of a run or once a number of the actor has changed.

        A brake that holds more than it now can slides at once; what that takes is in the memory.
        """
        return (), memory

    def guards(self, mode: PyTree, memory: ElementMemory, *sides: *Sides) -> tuple[Scalar, ...]:
        """Return the event functions that rise through zero, as many in every mode."""
        return ()

    def corners(self, mode: PyTree, memory: ElementMemory, *sides: *Sides) -> tuple[Scalar, ...]:
        """Return numbers that pass zero where what it does is not smooth though no mode changes, such as at the end of a
        table, as many in every mode: steps end there."""
        return ()

    def jump(
        self, mode: PyTree, fired: tuple[Bool[Array, "*rows"], ...], memory: ElementMemory, *sides: *Sides
    ) -> tuple[PyTree, ElementMemory]:
        """Return modes and memory after the guards in `fired` have fired."""
        return mode, memory


def nothing_yet(*parts: str) -> ElementMemory:
    """Return a memory of these parts, all zero."""
    zeros: dict[str, Any] = {name: jnp.zeros(()) for name in parts}
    return ElementMemory(**zeros)
