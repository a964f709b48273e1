"""A contact that never ends: a spring, say, that is fixed to both bodies and pulls as it pushes.

Units: m, m/s, N.
Source: SITS, eq. 1.
"""

from __future__ import annotations

from dataclasses import fields

from dockdyn.contact.contact_memory import ContactMemory
from dockdyn.contact.contact_modes import PRESSING
from dockdyn.contact.group import ContactGroup, GroupSignal, GroupState
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.deferred import Array, Int, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar


class BilateralGroup(ContactGroup):
    """A contact of a single member whose law acts at every depth, also a negative one."""

    @staticmethod
    def around(group: ContactGroup) -> BilateralGroup:
        """Return a contact as one that never ends."""
        return BilateralGroup(**{each.name: getattr(group, each.name) for each in fields(group)})

    @property
    def alone(self) -> bool:
        return True

    def state(
        self,
        mode: Int[Array, ""],
        own: Placed,
        other: Placed,
        exact: bool = False,
        loads: bool = False,
        past: ContactMemory | None = None,
    ) -> GroupState:
        return super().state(jnp.asarray(PRESSING), own, other, exact, loads, past)

    def stretched(self, law: NormalLaw, mode: Int[Array, ""], depth: Scalar) -> Scalar:
        """Return the depth (m) at which a law, which is a straight line, stores what it does pulled apart."""
        return jnp.abs(depth)

    def signal(
        self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory | None = None
    ) -> GroupSignal:
        return self.signal_of(self.state(mode, own, other, past=past))

    def guards(self, mode: Int[Array, ""], found: GroupState) -> tuple[Scalar, ...]:
        return jnp.asarray(-1.0), jnp.asarray(-1.0)

    def mode_of(self, found: GroupState) -> Int[Array, ""]:
        return jnp.asarray(PRESSING).astype(int)
