"""Motors in the joints, a wheel and thrusters on the base: what they can give at most.

Units: N m, N, N m s, N s, J.
Source: own construction; wheel torque on a turning base, Hughes 1986, Spacecraft Attitude Dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.trees import Module, field

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
    corners: Row | None = None  # where one is zero the rates of these have a corner, as `Outputs` has them

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

    What is given has a corner where a limit is reached, and what thrusters use has one where their force or torque passes
    zero. Beside what they give, the methods return how far from there it is, by limit, beyond it positive.
    """

    motors: Row  # N m or N, by joint with a motor
    wheel: Three  # N m
    capacity: Three  # N m s
    thrust: Three  # N
    jets: Three  # N m
    budget: Float[Array, "2"]  # N s, N m s: ∫ Σ|force| dt and ∫ Σ|torque| dt, by axis of the base, that thrusters have
    stated: tuple[str, ...] = field(static=True, default=())  # which of these are finite; "push": there is a thrust

    def drive(self, torques: Row) -> tuple[Row, Row]:
        """Return joint torques within the motors' limits."""
        corners = _beyond_both(torques, *[self.motors] * 3) if "motors" in self.stated else jnp.zeros(0)
        return jnp.clip(torques, -self.motors, self.motors), corners

    def share_within(self, room: Row, wanted: Row) -> tuple[Float[Array, ""], Row]:
        """Return the largest share, from 0 to 1, of what motors want that nowhere is larger by size than there is room for."""
        cut = jnp.abs(wanted) > room
        shares = jnp.where(cut, jnp.maximum(room, 0.0) / jnp.where(cut, jnp.abs(wanted), 1.0), 1.0)
        corners = jnp.zeros(0)
        if "motors" in self.stated:
            # one place begins to decide, or another one than before
            first, second = np.triu_indices(room.shape[0], 1)
            corners = jnp.concatenate([_share_beyond(jnp.abs(wanted) - room, room), shares[first] - shares[second]])
        return jnp.min(shares, initial=1.0), corners

    def turn(self, torque: Three, rate: Three, momentum: Three) -> tuple[Three, Row]:
        """Return what the wheel gives of a wanted torque T, at the base's angular velocity ω and the wheel's momentum h.

        The motor gives u = T + ω × h within its limits, feeding forward what carrying the wheel along takes; the base gets
        u − ω × h, which is T as long as no limit holds u.
        """
        carried = jnp.cross(rate, momentum)
        wanted = torque + carried
        up, down = (self.capacity + momentum) / FADING, (self.capacity - momentum) / FADING
        most, least = (jnp.minimum(self.wheel, jnp.maximum(left, 0.0)) for left in (up, down))
        corners = []
        if "wheel" in self.stated:
            corners.append(_beyond_both(wanted, most, least, self.wheel))
        if "capacity" in self.stated:
            corners += [_share_beyond(self.wheel - left, self.wheel) for left in (up, down)]
        return jnp.clip(wanted, -least, most) - carried, join_corners(corners)

    def thruster(self, force: Three, torque: Three, used: Float[Array, "2"]) -> tuple[Three, Three, Row]:
        """Return what thrusters give of a wanted force and torque."""
        left = (self.budget - used) / (3 * FADING)  # the three axes share a budget
        thrust, jets = (
            jnp.minimum(limit, jnp.maximum(rest, 0.0))
            for limit, rest in zip((self.thrust, self.jets), left, strict=True)
        )
        corners = []
        if "push" in self.stated:
            corners.append(_share_beyond(force, self.thrust))
        if "thrust" in self.stated:
            corners.append(_beyond_both(force, thrust, thrust, self.thrust))
            corners.append(_share_beyond(self.thrust - left[0], self.thrust))
        if "jets" in self.stated:
            corners += [_share_beyond(torque, self.jets), _beyond_both(torque, jets, jets, self.jets)]
            corners.append(_share_beyond(self.jets - left[1], self.jets))
        return jnp.clip(force, -thrust, thrust), jnp.clip(torque, -jets, jets), join_corners(corners)

    def give(self, force: Three, torque: Three, rate: Three, momentum: Three, used: Float[Array, "2"]) -> Actuation:
        """Return what a free body gets of a wanted force and torque, all in its axes.

        The wheel gives what it can of the torque, thrusters the rest, and the force; the body turns at `rate`, the wheel has
        its `momentum`, thrusters have `used` so much.
        """
        wheel, of_wheel = self.turn(torque, rate, momentum)
        thrust, jets, of_thrusters = self.thruster(force, torque - wheel, used)
        return Actuation(jnp.zeros(0), wheel, thrust, jets, corners=join_corners([of_wheel, of_thrusters]))


def idle_actuation(given: Actuation, rate: Three, wheel: Three) -> Actuation:
    """Return what actuators give instead that are asked for nothing: a base that turns at a `rate` carries its spinning wheel
    along."""
    corners = None if given.corners is None else -jnp.ones_like(given.corners)
    return Actuation(jnp.zeros_like(given.motors), -jnp.cross(rate, wheel), jnp.zeros(3), jnp.zeros(3), corners=corners)


def _beyond_both(wanted: Row, most: Row, least: Row, limit: Row) -> Row:
    """Return how far what is `wanted` is beyond the `most` and below minus the `least`, as shares of a limit."""
    return jnp.concatenate([_share_beyond(wanted - most, limit), _share_beyond(-wanted - least, limit)])


def _share_beyond(excess: Row, limit: Row) -> Row:
    """Return an excess as a share of a limit, itself where this is infinite; −1 where the limit is zero."""
    some = limit > 0
    return jnp.where(some, excess / jnp.where(some & jnp.isfinite(limit), limit, 1.0), -1.0)


def join_corners(rows: Sequence[Row | None]) -> Row:
    """Return corners of several parts, of which some may have none, as one row."""
    some = [row for row in rows if row is not None]
    return jnp.concatenate(some) if some else jnp.zeros(0)
