"""How a latch holds what it has caught: by a spring and damper, which may have play and a motor, or rigidly.

Units: lengths m, speeds m/s, rates rad/s, forces N, moments N m, energies J.
Source: Kelvin–Voigt element beyond a play; plastic impact of a connection's rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dockdyn.contact.laws.relative_damping import damping_of_ratio
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module, field

# the place of a striker alone, or its body's attitude, too; of bodies on a line the place along that
Hold = Literal["pin", "weld"]


class Rigid(Module):
    """A grip that is a connection: whoever moves the bodies closes it with the latch, and books the loss."""

    hold: Hold = field(static=True)


class Compliant(Module):
    """Stiffness and damping with which a latch holds a striker, alike in all directions, and the way it can yield.

    Within the `play` nothing holds. A pin has no turning stiffness: the bodies turn about the striker. A motor draws in with
    its `speed`. Of one that tells its loads, `stroke` and `swing` say whether its largest force is known.
    """

    stiffness: Float[Array, ""]  # k, N/m
    damping: Float[Array, ""]  # c, N s/m
    turning: tuple[Float[Array, ""], Float[Array, ""]] | None = None  # N m/rad and N m s/rad, of a weld
    play: Float[Array, ""] | None = None  # m
    speed: Float[Array, ""] | None = None  # m/s, with which the motor draws in
    stroke: Float[Array, ""] | None = None  # m, by which it can yield
    swing: Float[Array, ""] | None = None  # s, within which every mode of the bodies in it has swung once
    ratio: Float[Array, ""] | None = None  # ζ, until `with_damping_of` makes it the damping
    lever: Float[Array, ""] | None = (
        None  # m, with which that damps turning, too, where its damping is not stated itself
    )

    @property
    def hold(self) -> Hold:
        """Tell what it keeps."""
        return "pin" if self.turning is None else "weld"

    def with_damping_of(self, mass: Scalar) -> Compliant:
        """Return the grip between bodies of an effective `mass` (kg): itself where its damping was stated."""
        if self.ratio is None:
            return self
        damping, turning = damping_of_ratio(self.ratio, self.stiffness, mass), self.turning
        if turning is not None and self.lever is not None:
            turning = turning[0], self.lever**2 * damping
        return replace(self, damping=damping, turning=turning, ratio=None, lever=None)

    def load(
        self, stretch: tuple[Vector, ...], length: Scalar, slip: tuple[Vector, ...], taut: Bool[Array, ""]
    ) -> tuple[Vector, Vector, Scalar]:
        """Return the force (N) and moment (N m, zero of a pin) on the striker's body, and the power (W) of the dampers.

        −k δ (1 − play/|δ|) − c δ̇ while it is `taut`, and −kᵩ φ − cᵩ φ̇ for the rotation vector φ. `length` (m) is |δ|.
        """
        share = jnp.ones(())
        if self.play is not None:
            away = length > 0
            share = jnp.where(away, 1 - self.play / jnp.where(away, length, 1.0), jnp.where(self.play > 0, 0.0, 1.0))
        spring, damper = jnp.where(taut, self.stiffness * share, 0.0), jnp.where(taut, self.damping, 0.0)
        force = -(stretch[0] * spring + slip[0] * damper)
        power = damper * slip[0].dot(slip[0])
        if self.turning is None:
            return force, Vector.zero(), power
        stiffness, damping = self.turning
        return force, -(stretch[1] * stiffness + slip[1] * damping), power + damping * slip[1].dot(slip[1])

    def stored(self, stretch: tuple[Vector, ...], length: Scalar) -> Scalar:
        """Return the energy (J) in the springs of one that is taut."""
        beyond = stretch[0].dot(stretch[0]) if self.play is None else (length - self.play) ** 2
        energy = 0.5 * self.stiffness * beyond
        return energy if self.turning is None else energy + 0.5 * self.turning[0] * stretch[1].dot(stretch[1])


def first_swing(grip: Compliant, masses: tuple[Scalar, Scalar], about_tip: tuple[Scalar, Scalar]) -> Scalar:
    """Return the time (s) within which every mode of two free bodies in a grip has swung once to one side and back.

    Half the period at which the slowest could swing, π √(m/k + J/kᵩ): m the reduced mass, J the lesser of the bodies'
    largest moments of inertia `about_tip` (kg m²; by Frobenius norm, at least the largest).
    """
    longest = masses[0] * masses[1] / (masses[0] + masses[1]) / grip.stiffness
    if grip.turning is not None:
        longest += jnp.minimum(*about_tip) / grip.turning[0]
    return jnp.pi * jnp.sqrt(longest)
