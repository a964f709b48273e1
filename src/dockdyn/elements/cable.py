"""A cable: it pulls when it is taut, and never pushes.

Units: forces N, lengths m, energies J.
Source: Kelvin–Voigt element under the gate of a contact.
"""

from __future__ import annotations

from dataclasses import replace

from dockdyn.contact.axial import Axial
from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.elements.actor import ElementMemory, nothing_yet
from dockdyn.elements.anchor_line import AnchorLine, Anchors, LineElement
from dockdyn.elements.force_element import Opposing
from dockdyn.elements.one_sided_spring import OneSidedSpring
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar


class Cable(LineElement):
    """A spring and damper beyond the free length of a cable without mass."""

    anchors: Anchors
    free_length: Float[Array, ""]  # m
    spring: OneSidedSpring

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        return nothing_yet("dissipated")

    def pull_along(
        self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[AnchorLine, Scalar, ElementMemory]:
        line, touch = self._taut(own, other)
        tension = self.spring.normal_force(mode, touch)
        return line, tension, ElementMemory(dissipated=self.spring.power(mode, touch))

    def settle(self, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Int[Array, ""], ElementMemory]:
        return self.spring.first_mode(self._taut(own, other)[1]).astype(int), memory

    def guards(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, Scalar]:
        return self.spring.guards(mode, self._taut(own, other)[1])

    def jump(
        self,
        mode: Int[Array, ""],
        fired: tuple[Bool[Array, ""], ...],
        memory: ElementMemory,
        own: Placed,
        other: Placed,
    ) -> tuple[Int[Array, ""], ElementMemory]:
        onset = self.spring.touch(jnp.zeros(()), self.anchors.line(own, other).rate)
        return self.spring.next_mode(mode, (fired[0], fired[1]), onset), memory

    def stored_energy(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        return self.spring.stored(mode, self._taut(own, other)[1])

    def observe(self, mode: Int[Array, ""], memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Scalar]:
        """Return the `length` (m) between its anchors, the rate of it (m/s) and the cable's `tension` (N)."""
        line, touch = self._taut(own, other)
        tension = self.spring.normal_force(mode, touch)
        return {"length": line.length, "length_rate": line.rate, "tension": tension}

    @property
    def is_damped_relatively(self) -> bool:
        return self.spring.ratio is not None

    def effective_masses(self, own: Placed, other: Placed, opposing: Opposing) -> Float[Array, "*lines"]:
        return self.anchors.line(own, other).effective_mass(opposing)

    def with_damping_of(self, masses: Float[Array, "*lines"]) -> Cable:
        return replace(self, spring=self.spring.with_damping_of(masses))

    def dashpots(self) -> dict[str, Float[Array, "*lines"]]:
        return {"damping": self.spring.law.damping}

    def _taut(self, own: Placed, other: Placed) -> tuple[AnchorLine, Axial]:
        line = self.anchors.line(own, other)
        return line, self.spring.touch(line.length - self.free_length, line.rate)
