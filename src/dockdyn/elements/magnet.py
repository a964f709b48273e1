"""A magnet that draws two bodies together.

Units: forces N, lengths m, energies J.
Source: own construction; the law of the pull as its class says.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, PyTree, jnp
from dockdyn.elements.actor import ElementMemory, nothing_yet
from dockdyn.elements.anchor_line import AnchorLine, Anchors, LineElement
from dockdyn.elements.pull import Pull
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar


class Magnet(LineElement):
    """A pull along the line of two anchors, over the gap between them; it loses no energy.

    With a pole radius r the gap is √(d² + r²) − r at a distance d: the pull centres the poles, and its direction does not
    jump where the anchors meet.
    """

    anchors: Anchors
    pull: Pull
    pole_radius: Float[Array, ""]  # m; 0: the gap is the distance

    def init(self, own: Placed, other: Placed) -> ElementMemory:
        return nothing_yet()

    def pull_along(
        self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed
    ) -> tuple[AnchorLine, Scalar, ElementMemory]:
        line = self.anchors.line(own, other)
        gap, slope = self._gap_at_distance(line.length)
        return line, self.pull.force(gap) * slope, ElementMemory()

    def corners(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> tuple[Scalar, ...]:
        gap, _ = self._gap_at_distance(self.anchors.line(own, other).length)
        return tuple(gap - knot for knot in self.pull.knots())

    def stored_energy(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> Scalar:
        """Return the energy (J) beyond that of a closed gap."""
        return self.pull.energy(self._gap_at_distance(self.anchors.line(own, other).length)[0])

    def observe(self, mode: PyTree, memory: ElementMemory, own: Placed, other: Placed) -> dict[str, Scalar]:
        """Return the `length` (m) between its anchors and the `tension` (N) with which it draws them together."""
        line = self.anchors.line(own, other)
        gap, slope = self._gap_at_distance(line.length)
        return {"length": line.length, "tension": self.pull.force(gap) * slope}

    def _gap_at_distance(self, distance: Scalar) -> tuple[Scalar, Scalar]:
        """Return the gap (m) at a distance (m) of the anchors, and its derivative."""
        squared = distance**2 + self.pole_radius**2
        apart = squared > 0
        slant = jnp.where(apart, jnp.sqrt(jnp.where(apart, squared, 1.0)), 0.0)
        gap = distance**2 / jnp.where(apart, slant + self.pole_radius, 1.0)  # without cancellation
        return gap, distance / jnp.where(apart, slant, 1.0)
