"""What a contact remembers: how its surfaces are stretched along each other, and what its normal law does.

Units: lengths m.
Source: own construction.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from dockdyn.deferred import PyTree, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module


class ContactMemory(NamedTuple):
    """What a pair that touches remembers, or the rate of it; None of what it does not. Of a group with a leading axis."""

    stretches: tuple[Any, ...] | None  # of friction that remembers, for each way of moving over the surface
    law: PyTree  # what the normal law does


class Forgetful(Module):
    """A contact that does the same whatever was."""

    remembers: ClassVar = False
    turns: ClassVar = 0  # quantities beside whose peaks a step must end

    def turning(self, found: object) -> tuple[()]:
        """Return these of a state: there are none."""
        return ()

    def first_memory(self) -> None:
        """Return what it remembers at first: nothing."""

    def stored_energy(self, own: Placed, other: Placed) -> Scalar:
        """Return the energy (J) that it stores at first: none."""
        return jnp.zeros(())
