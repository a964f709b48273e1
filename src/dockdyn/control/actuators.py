"""Motors in the joints, a wheel and thrusters on the base: what they can give at most.

Units: N m, N, N m s, N s, J.
Source: own construction; wheel torque on a turning base, Hughes 1986, Spacecraft Attitude Dynamics.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.trees import Module

type Row = Float[Array, "n"]
type Three = Float[Array, "3"]
FADING = 1.0  # s: in which a wheel that nears its capacity, or thrusters near the end of their budget, fade


class Effort(NamedTuple):
    """What control has done since t = 0, or the rate of it."""

    work: Float[Array, ""]  # J, on the body or tree that it acts on
    wheel: Three  # N m s, angular momentum of the wheel, base axes
    impulse: Three  # N s, of thrusters, inertial
    turning_impulse: Three  # N m s, of thrusters, inertial, about a pole
    used: Float[Array, "2"]  # N s, N m s: sums over the base's axes, or a table's thrusters, of what they gave, by size

    @staticmethod
    def nothing() -> Effort:
        return Effort(jnp.zeros(()), jnp.zeros(3), jnp.zeros(3), jnp.zeros(3), jnp.zeros(2))


class Actuation(NamedTuple):
    """What actuators give; that on the base in base axes."""

    motors: Row  # N m or N, by joint with a motor
    wheel: Three  # N m
    thrust: Three  # N, at the plant's place for it
    jets: Three  # N m, of thrusters
    used: Float[Array, "2"] | None = None  # N, N m: what thrusters use; None: by axis of the base, by size

    def effort(
        self, power: Float[Array, ""], turn: Float[Array, "3 3"], lever: Three, rate: Three, wheel: Three
    ) -> Effort:
        """Return the rate of what control does at a `power` (W) of all it gives.

        Of the base: `turn` to inertial axes, `lever` (m, inertial) from the pole of the angular impulse, `rate` (rad/s, base
        axes); `wheel` is the wheel's momentum (N m s, base axes).
        """
        thrust = turn @ self.thrust
        return Effort(
            work=power,
            # the wheel turns with the base, and the torque on the base is all that its momentum does to it
            wheel=-self.wheel - jnp.cross(rate, wheel),
            impulse=thrust,
            turning_impulse=turn @ self.jets + jnp.cross(lever, thrust),
            used=self._thruster_use(),
        )

    def _thruster_use(self) -> Float[Array, "2"]:
        """Return what thrusters use a second (N, N m)."""
        if self.used is not None:
            return self.used
        return jnp.stack([jnp.sum(jnp.abs(self.thrust)), jnp.sum(jnp.abs(self.jets))])


class Actuators(Module):
    """Limits by joint, and by axis of the base; zero where there is nothing.

    The wheel's momentum h follows ḣ = −u, where u is the torque of its motor, held within `wheel`; on the base acts
    u − ω × h, since the base carries the spinning wheel along. A wheel near its capacity, and thrusters near the end of
    their budget, fade out, so that neither is ever exceeded.
    """

    motors: Row  # N m or N, by joint with a motor
    wheel: Three  # N m
    capacity: Three  # N m s
    thrust: Three  # N
    jets: Three  # N m
    budget: Float[Array, "2"]  # N s, N m s: ∫ Σ|force| dt and ∫ Σ|torque| dt, by axis of the base, that thrusters have

    def drive(self, torques: Row) -> Row:
        """Return joint torques within the motors' limits."""
        return jnp.clip(torques, -self.motors, self.motors)

    def turn(self, torque: Three, rate: Three, momentum: Three) -> Three:
        """Return what the wheel gives of a wanted torque T, at the base's angular velocity ω and the wheel's momentum h.

        The motor gives u = T + ω × h within its limits, feeding forward what carrying the wheel along takes; the base gets
        u − ω × h, which is T as long as no limit holds u.
        """
        carried = jnp.cross(rate, momentum)
        most = jnp.minimum(self.wheel, jnp.maximum(self.capacity + momentum, 0.0) / FADING)
        least = -jnp.minimum(self.wheel, jnp.maximum(self.capacity - momentum, 0.0) / FADING)
        return jnp.clip(torque + carried, least, most) - carried

    def thruster(self, force: Three, torque: Three, used: Float[Array, "2"]) -> tuple[Three, Three]:
        """Return what thrusters give of a wanted force and torque."""
        left = jnp.maximum(self.budget - used, 0.0) / (3 * FADING)  # the three axes share a budget
        thrust, jets = jnp.minimum(self.thrust, left[0]), jnp.minimum(self.jets, left[1])
        return jnp.clip(force, -thrust, thrust), jnp.clip(torque, -jets, jets)

    def give(self, force: Three, torque: Three, rate: Three, momentum: Three, used: Float[Array, "2"]) -> Actuation:
        """Return what a free body gets of a wanted force and torque, all in its axes.

        The wheel gives what it can of the torque, thrusters the rest, and the force; the body turns at `rate`, the wheel has
        its `momentum`, thrusters have `used` so much.
        """
        wheel = self.turn(torque, rate, momentum)
        thrust, jets = self.thruster(force, torque - wheel, used)
        return Actuation(jnp.zeros(0), wheel, thrust, jets)


def idle_actuation(motors: Row, rate: Three, wheel: Three) -> Actuation:
    """Return what actuators give that are asked for nothing: a base that turns at a `rate` carries its spinning wheel along."""
    return Actuation(jnp.zeros_like(motors), -jnp.cross(rate, wheel), jnp.zeros(3), jnp.zeros(3))


def share_within(room: Row, wanted: Row) -> Float[Array, ""]:
    """Return the largest share, from 0 to 1, of what is wanted that nowhere is larger by size than there is room for."""
    cut = jnp.abs(wanted) > room
    return jnp.min(jnp.where(cut, jnp.maximum(room, 0.0) / jnp.where(cut, jnp.abs(wanted), 1.0), 1.0), initial=1.0)
