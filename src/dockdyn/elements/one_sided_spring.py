"""A spring and damper that act beyond a limit only, and one way only: an end stop, a cable.

Units: forces N, lengths m, energies J, powers W.
Source: Kelvin–Voigt element under the gate of a contact; the account of its energy is own construction.
"""

from __future__ import annotations

from dockdyn.contact.axial import Axial, AxialContact
from dockdyn.contact.contact_modes import APART, UnilateralContact
from dockdyn.contact.laws.relative_damping import DampedByRatio
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.mechanics.vector import Scalar


class OneSidedSpring(UnilateralContact):
    """k d + c ḋ at a depth d beyond the limit, never below zero.

    Where the force has ended before the depth, the spring follows by itself, and the damper takes its energy.
    """

    law: SpringDashpot
    ratio: Float[Array, ""] | None = None  # ζ, until `with_damping_of` makes it the damping of the law

    def touch(self, depth: Scalar, rate: Scalar) -> Axial:
        """Return the spring at a `depth` (m) that grows by `rate` (m/s)."""
        return AxialContact(self.law).touch(depth, rate)

    def stored(self, mode: Int[Array, ""], touch: Axial) -> Scalar:
        """Return the energy (J) in the spring."""
        return jnp.where(mode == APART, 0.0, 0.5 * self.law.stiffness * touch.depth**2)

    def power(self, mode: Int[Array, ""], touch: Axial) -> Scalar:
        """Return the power (W) that the damper takes."""
        lost = (self.normal_force(mode, touch) - self.law.stiffness * touch.depth) * touch.rate
        return jnp.where(mode == APART, 0.0, lost)

    def with_damping_of(self, mass: Scalar) -> OneSidedSpring:
        """Return the spring between bodies of an effective `mass` (kg): itself where its damping was stated."""
        return self if self.ratio is None else OneSidedSpring(DampedByRatio(self.law, self.ratio).between(mass))


def one_sided(
    stiffness: Scalar | float, damping: Scalar | float = 0.0, ratio: Scalar | float | None = None
) -> OneSidedSpring:
    """Return the spring of a `stiffness` (N/m) and `damping` (N s/m), or of a damping `ratio` in its place."""
    law = SpringDashpot(jnp.asarray(stiffness, float), jnp.asarray(damping, float), adhesion=False)
    return OneSidedSpring(law, None if ratio is None else jnp.asarray(ratio, float))
