"""What the modes of a flexible link give back and lose: springs and dampers, one each for every mode or between all of them.

Units: of a modal coordinate in m: N/m, N s/m, N and J; of one in rad N m, N m s and J.
Source: modal stiffness and damping, as in any textbook of vibrations.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, PyTree, jnp
from dockdyn.elements.actor import Actor, ElementMemory, nothing_yet
from dockdyn.mechanics.vector import Scalar

type Modes = Float[Array, "modes"]


class ModalSpring(Actor[Modes, Modes]):
    """Springs and dampers of all modes of a link, of which it is told the modal coordinates and the rates of these.

    Of shapes that are no modes, stiffness and damping are matrices.
    """

    stiffness: Modes | Float[Array, "modes modes"]
    damping: Modes | Float[Array, "modes modes"]

    def init(self, coordinates: Modes, rates: Modes) -> ElementMemory:
        """Return what it remembers at t = 0."""
        return nothing_yet("dissipated")

    def act(self, mode: PyTree, memory: ElementMemory, coordinates: Modes, rates: Modes) -> tuple[Modes, ElementMemory]:
        """Return its effort on each mode, and the rate of what it remembers."""
        lost = _multiply_modes(self.damping, rates)
        return -_multiply_modes(self.stiffness, coordinates) - lost, memory._replace(dissipated=lost @ rates)

    def stored_energy(self, mode: PyTree, memory: ElementMemory, coordinates: Modes, rates: Modes) -> Scalar:
        """Return the energy (J) that it can give back."""
        return self.elastic_energy(coordinates)

    def elastic_energy(self, coordinates: Modes) -> Scalar:
        """Return the elastic energy (J) of the link."""
        if self.stiffness.ndim == 2:
            return 0.5 * coordinates @ self.stiffness @ coordinates
        return 0.5 * jnp.sum(self.stiffness * coordinates**2)


def _multiply_modes(numbers: Modes | Float[Array, "modes modes"], coordinates: Modes) -> Modes:
    """Return what springs or dampers take, one each or between all."""
    return numbers @ coordinates if numbers.ndim == 2 else numbers * coordinates
