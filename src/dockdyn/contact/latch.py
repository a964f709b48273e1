"""A spring latch that the ramp of a probe pushes aside (Paraskevas et al., section 4, with friction and preload).

Units: lengths m, force N, stiffness N/m, angles rad.
Source: as named above, eqs. 34–46 corrected; wedge with friction, own derivation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.contact.catch import Catch
from dockdyn.contact.feature import Feature
from dockdyn.contact.pair import Contact
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.contact.surfaces.surface import cylindrical
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Scalar, Vector

OUT, ON_RAMP, HELD = 0, 1, 2  # modes of a latch
SWUNG = 3  # as HELD, once the first swing of a compliant catch is over; where that ends the run


class Ramp(eqx.Module):
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
        """Force (N) that pushes the probe out, on the ramp; `rate` is that of the travel (m/s)."""
        share = rate / jnp.sqrt(rate**2 + self.regularisation**2)
        return self.spring(travel) * self.lever(share * self.friction)

    def spring(self, travel: Scalar) -> Scalar:
        """Force (N) of the latch spring, across the line of motion."""
        return self.preload + self.stiffness * self.slope * travel

    def lever(self, friction: Scalar) -> Scalar:
        """Force along the line of motion over that of the spring: tan(θ + atan μ), μ negative for a probe that comes out."""
        return (self.slope + friction) / (1 - friction * self.slope)

    def guards(self, mode: Int[Array, ""], reach: Scalar, travel: Scalar) -> tuple[Scalar, Scalar]:
        """Two event functions (m) that rise through zero: onto the ramp (`reach` above zero) or off it, and past its end."""
        across = jnp.where(mode == OUT, reach, -reach)
        return jnp.where(mode == HELD, -1.0, across), jnp.where(mode == ON_RAMP, travel - self.length, -1.0)

    def next_mode(self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], Bool[Array, ""]]) -> Int[Array, ""]:
        """The mode after the guards in `fired` have fired."""
        crossed = jnp.where(mode == OUT, ON_RAMP, OUT)
        return jnp.where(fired[1], HELD, jnp.where(fired[0], crossed, mode)).astype(mode.dtype)

    def first_mode(self, reach: Scalar) -> Int[Array, ""]:
        """The mode of a run that begins here."""
        return jnp.where(reach > 0, ON_RAMP, OUT)

    def greatest_force(self) -> Scalar:
        """Force (N) along the line of motion at the end of the ramp, while the probe goes in."""
        return self.spring(self.length) * self.lever(self.friction)

    def needed_speed(self, mass: Scalar) -> Scalar:
        """Least speed (m/s) at the beginning of the ramp that carries a probe of effective `mass` (kg) to its end.

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


class ConeLatch(eqx.Module):
    """A spring latch in the throat of a cone, for a probe's tip that comes in along the docking axis."""

    ramp: Ramp
    feature: Feature
    cone: Cone
    entry: Float[Array, ""]  # m, from the apex along the docking axis: where the ramp meets the latch
    feature_on_chaser: bool = eqx.field(static=True)
    catch: Catch | None  # None: a rigid hold, constraints that take up the motion at an instant
    ends_run: bool = eqx.field(static=True)  # whether a run ends with the capture
    hold: Literal["pin", "weld"] = eqx.field(static=True)  # what keeps a caught tip: its place alone, or attitude too

    def sides(self, chaser: Placed, target: Placed) -> tuple[Placed, Placed]:
        """The body with the tip and the body with the cone."""
        return (chaser, target) if self.feature_on_chaser else (target, chaser)

    def bodies_of[Own](self, tip: Own, cone: Own) -> tuple[Own, Own]:
        """What belongs to the tip's body and what to the cone's, as the chaser's and the target's."""
        return (tip, cone) if self.feature_on_chaser else (cone, tip)

    def point(self, chaser: Placed, target: Placed) -> Vector:
        """Where the latch acts on both bodies: the tip (m, inertial)."""
        return self.sides(chaser, target)[0].point(Vector.of(self.feature.position))

    def axis(self, chaser: Placed, target: Placed) -> Vector:
        """Docking axis, out of the cone (inertial)."""
        return self.sides(chaser, target)[1].rotation @ Vector.of(self.cone.axis)

    def travel(self, chaser: Placed, target: Placed) -> tuple[Scalar, Scalar]:
        """Travel (m) of the tip along the axis from where the ramp begins, and how far (m) it is inside the throat there."""
        own, other = self.sides(chaser, target)
        place = other.local(own.point(Vector.of(self.feature.position)))
        along, radius = cylindrical(place, Vector.of(self.cone.apex), Vector.of(self.cone.axis))
        return self.entry - along, self.entry * self.cone.sine / self.cone.cosine - radius

    def rate(self, chaser: Placed, target: Placed) -> Scalar:
        """Rate of the travel (m/s)."""
        own, other = self.sides(chaser, target)
        point = self.point(chaser, target)
        return -(own.velocity(point) - other.velocity(point)).dot(self.axis(chaser, target))

    def force(self, mode: Int[Array, ""], chaser: Placed, target: Placed) -> Vector:
        """Force of the ramp on the chaser (N, inertial)."""
        travel, _ = self.travel(chaser, target)
        size = jnp.where(mode == ON_RAMP, self.ramp.force(travel, self.rate(chaser, target)), 0.0)
        on_tip = self.axis(chaser, target) * size
        return on_tip if self.feature_on_chaser else -on_tip

    def guards(self, mode: Int[Array, ""], chaser: Placed, target: Placed) -> tuple[Scalar, Scalar]:
        """Two event functions (m) that rise through zero: into the throat or out of it, and past the ramp's end."""
        travel, inside = self.travel(chaser, target)
        return self.ramp.guards(mode, jnp.minimum(travel, inside), travel)

    def seated(self, contacts: Sequence[Contact]) -> tuple[Bool[Array, ""], ...]:
        """Which contacts cannot move any more once the tip is held: of a weld all, of a pin those of the tip itself."""
        if self.hold == "weld":
            return tuple(jnp.asarray(True) for _ in contacts)
        return tuple(
            jnp.all(contact.feature.position == self.feature.position)
            if contact.feature_on_chaser == self.feature_on_chaser
            else jnp.asarray(False)
            for contact in contacts
        )

    def slip(self, chaser: Placed, target: Placed) -> tuple[Vector, ...]:
        """What a caught tip must not do: move (m/s), and for a weld turn (rad/s), against the cone's body; inertial axes."""
        own, other = self.sides(chaser, target)
        point = self.point(chaser, target)
        moving = own.velocity(point) - other.velocity(point)
        return (moving,) if self.hold == "pin" else (moving, own.rate - other.rate)
