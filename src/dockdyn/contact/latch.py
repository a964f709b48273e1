"""Where a latch falls in: at once as a striker comes within reach, or behind a ramp that pushes it aside on the way.

Units: lengths m, force N, stiffness N/m, angles rad.
Source: Paraskevas et al., section 4, eqs. 34–46 corrected; wedge with friction and preload, own derivation.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from dockdyn.contact.laws.friction import regularised_speed
from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module

OUT, ON_RAMP, HELD = 0, 1, 2  # stages of a latch
NEAR = 1e-6  # of a length: a striker that was held where it was caught, and is so again, is there but for rounding
SWUNG = 3  # as HELD, once the first swing of a compliant grip is over; where that ends the run


class Reach(Module):
    """A latch that falls in as soon as its striker is no farther out than `length` beyond the seat."""

    length: Float[Array, ""]  # m

    def guards(self, stage: Int[Array, ""], inside: Scalar, travel: Scalar) -> tuple[Scalar, ...]:
        """Return the event function (m): `inside`, the lesser of the travel and of how far within `lateral` the striker is."""
        return (inside,)

    def next_stage(self, stage: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the stage after the guards in `fired` have fired."""
        return jnp.where(fired[0], HELD, stage).astype(stage.dtype)

    def first_stage(self, inside: Scalar, travel: Scalar) -> Int[Array, ""]:
        """Return the stage of a latch that is closed here."""
        return jnp.where(inside > -NEAR * self.length, HELD, OUT)


class Anywhere(Module):
    """What holds its striker wherever that is, whenever it is closed: a connection, which catches nothing on the way."""

    length: ClassVar[float] = 0.0  # m

    def guards(self, stage: Int[Array, ""], inside: Scalar, travel: Scalar) -> tuple[Scalar, ...]:
        """Return an event function that never rises."""
        return (jnp.asarray(-1.0),)

    def next_stage(self, stage: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the stage, which no guard changes."""
        return stage

    def first_stage(self, inside: Scalar, travel: Scalar) -> Int[Array, ""]:
        """Return that it holds."""
        return jnp.asarray(HELD)


class Ramp(Module):
    """Ramp of a probe and the spring of the latch that rides on it.

    After a travel x (m, along the line of motion) the spring is pushed aside by y = x tan θ (eq. 37). Along the line it
    pushes back with F = (F₀ + k y) tan(θ ± φ), φ = atan μ the angle of friction: + while the probe goes in, − while it
    comes out; without preload and friction F = k x tan²θ (eq. 38). The latch falls in at the end of the ramp.
    """

    stiffness: Float[Array, ""]  # k, N/m, of the latch spring, across the line of motion
    slope: Float[Array, ""]  # tan θ
    length: Float[Array, ""]  # m, travel until the latch falls in
    preload: Float[Array, ""]  # F₀, N, of the spring when the ramp begins
    friction: Float[Array, ""]  # μ on the ramp
    regularisation: Float[Array, ""]  # ε, m/s: friction acts as μ ẋ/√(ẋ² + ε²)

    def force(self, travel: Scalar, rate: Scalar) -> Scalar:
        """Return the force (N) that pushes the probe out, on the ramp; `rate` is that of the travel (m/s)."""
        share = rate / regularised_speed(rate**2, self.regularisation)
        return self.spring(travel) * self.lever(share * self.friction)

    def spring(self, travel: Scalar) -> Scalar:
        """Return the force (N) of the latch spring, across the line of motion."""
        return self.preload + self.stiffness * self.slope * travel

    def lever(self, friction: Scalar) -> Scalar:
        """Return the force along the line of motion over that of the spring: tan(θ + atan μ), μ negative for a probe that comes
        out."""
        return (self.slope + friction) / (1 - friction * self.slope)

    def guards(self, stage: Int[Array, ""], inside: Scalar, travel: Scalar) -> tuple[Scalar, ...]:
        """Return two event functions (m) that rise through zero: onto the ramp (`inside` above zero) or off it, and past its
        end."""
        across = jnp.where(stage == OUT, inside, -inside)
        return jnp.where(stage == HELD, -1.0, across), jnp.where(stage == ON_RAMP, travel - self.length, -1.0)

    def next_stage(self, stage: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the stage after the guards in `fired` have fired."""
        crossed = jnp.where(stage == OUT, ON_RAMP, OUT)
        return jnp.where(fired[1], HELD, jnp.where(fired[0], crossed, stage)).astype(stage.dtype)

    def first_stage(self, inside: Scalar, travel: Scalar) -> Int[Array, ""]:
        """Return the stage of a latch that is closed here."""
        return jnp.where(inside > 0, jnp.where(travel > (1 - NEAR) * self.length, HELD, ON_RAMP), OUT)

    def greatest_force(self) -> Scalar:
        """Return the force (N) along the line of motion at the end of the ramp, while the probe goes in."""
        return self.spring(self.length) * self.lever(self.friction)

    def needed_speed(self, mass: Scalar) -> Scalar:
        """Return the least speed (m/s) at the beginning of the ramp that carries a probe of effective `mass` (kg) to its end.

        √((2 F₀ l + k l² tan θ) tan(θ + φ)/m), which is ω l (eq. 46 as it is meant) without preload and friction.
        """
        work = (2 * self.preload + self.stiffness * self.slope * self.length) * self.length * self.lever(self.friction)
        return jnp.sqrt(work / mass)


class Caught(NamedTuple):
    """What a capture has to take, found when the latch falls in; zeros before. A rigid hold takes it at once."""

    speed: Scalar  # m/s, of the probe into the latch
    impulse_along: Scalar  # N s that ends the relative motion, along the docking axis
    impulse_across: Scalar  # N s
    loss: Scalar  # J, energy of the motion that is ended

    @staticmethod
    def nothing() -> Caught:
        return Caught(*(jnp.zeros(()) for _ in Caught._fields))
