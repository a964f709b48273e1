"""Contacts that a model does not compute itself, because their wrench comes from elsewhere.

Units: force N, moment N m, lengths m.
Source: own construction.
"""

from __future__ import annotations

from typing import ClassVar

from dockdyn.contact.contact_memory import ContactMemory, Forgetful
from dockdyn.contact.contact_modes import APART
from dockdyn.contact.group import GroupSignal, GroupState, Wrench
from dockdyn.deferred import Array, Bool, Int, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import field


class MeasuredContact(Forgetful):
    """In the place of a group of contacts, what a force sensor measures of them; whether they touch, the model is told.

    The wrench acts about the centre of mass of the first body. It has no events.
    """

    rubs: ClassVar = False  # of friction in it nothing is known
    load: Wrench  # on the first body
    first: int = field(static=True)  # which bodies
    second: int = field(static=True)

    @property
    def surface(self) -> None:
        """Return what its members touch: that is not known."""
        return None

    def reference(self, own: Placed) -> Vector:
        """Return where the wrench acts (m, inertial), `own` being the first body."""
        return own.pose.position

    def acts_at(self, load: GroupSignal, own: Placed, other: Placed) -> tuple[Wrench, Vector]:
        """Return what acts, and where (m, inertial)."""
        assert isinstance(load, Wrench)
        return load, self.reference(own)

    def state(
        self, mode: Int[Array, ""], own: Placed, other: Placed, exact: bool = False, past: ContactMemory | None = None
    ) -> GroupState:
        """Return what it does; of depths, rates and speeds nothing is known."""
        unknown = jnp.zeros(())
        return GroupState(self.load, unknown, unknown, unknown, unknown, self.reference(own), unknown, unknown)

    def signal(self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory | None = None) -> Wrench:
        """Return what it does."""
        return self.load

    def signal_of(self, found: GroupState) -> GroupSignal:
        """Return what the loop delays of its state."""
        return found.wrench

    def is_exact_distance(self) -> bool:
        """Return whether depths of what is apart are distances: of them nothing is known."""
        return False

    @property
    def events(self) -> int:
        """How many event functions it has."""
        return 1

    def guards(self, mode: Int[Array, ""], found: GroupState) -> tuple[Scalar, ...]:
        """Return an event function that never rises."""
        return (jnp.asarray(-1.0),)

    def next_mode(self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the mode, which no event changes."""
        return mode

    def first_mode(self, own: Placed, other: Placed) -> Int[Array, ""]:
        """Return the mode at the start of a run."""
        return jnp.asarray(APART).astype(int)
