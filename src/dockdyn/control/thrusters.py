"""Thrusters as they are: each at its place, pushing one way with one force, on or off.

Units: m, N, N m, s.
Source: pulse-width modulation and on-off control with a dead zone, Wie 2008, Space Vehicle Dynamics and Control,
section 7.5; the mass that leaves is neglected.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.control.actuators import Actuation
from dockdyn.control.allocation import nonnegative_least_squares
from dockdyn.control.controller import Three
from dockdyn.deferred import Array, Float, jnp
from dockdyn.trees import Module

type Each = Float[Array, "thrusters"]


class PulseWidth(Module):
    """A pulse in each period, as long as the wanted share of it: none below the dead band, none shorter than the shortest."""

    shortest: Float[Array, ""]  # s; with the force, the least impulse
    deadband: Float[Array, ""]  # s, of the wanted on-time

    def on_times(self, shares: Each, firing: Each, period: Float[Array, ""]) -> Each:
        """Return how long each thruster fires (s), from the `shares` of full thrust that are wanted over a period."""
        wanted = shares * period
        return jnp.where(wanted > self.deadband, jnp.clip(wanted, self.shortest, period), 0.0)


class OnOff(Module):
    """A Schmitt trigger: a whole period of thrust where a large share is wanted, until the share has become small."""

    switch_on: Float[Array, ""]  # share of full thrust above which it goes on
    switch_off: Float[Array, ""]  # share below which it goes off

    def on_times(self, shares: Each, firing: Each, period: Float[Array, ""]) -> Each:
        """Return how long each thruster fires (s); `firing` tells which have done so until now."""
        stays = (firing > 0) & (shares >= self.switch_off)
        return jnp.where(stays | (shares > self.switch_on), period, 0.0)


class Pulses(NamedTuple):
    """What thrusters do and have done."""

    firing: Each  # 1 or 0
    off: Each  # s, when the pulse ends
    on_time: Each  # s, together since t = 0
    begun: Each  # how many pulses

    @staticmethod
    def idle(count: int) -> Pulses:
        zero = jnp.zeros(count)
        return Pulses(zero, zero, zero, zero)

    def next_end(self) -> Float[Array, ""]:
        """Return when the next pulse ends (s)."""
        return jnp.min(jnp.where(self.firing > 0, self.off, jnp.inf))

    def without_ended(self, t: Float[Array, ""]) -> Pulses:
        """Return the pulses without those that end at `t` (s) or have ended."""
        return self._replace(firing=jnp.where(self.off <= t, 0.0, self.firing))


class Thrusters(Module):
    """A table of thrusters, and how what is wanted becomes pulses."""

    positions: Float[Array, "thrusters 3"]  # m, body axes, from the centre of mass
    directions: Float[Array, "thrusters 3"]  # unit vectors, in which each pushes the body
    forces: Each  # N
    modulation: PulseWidth | OnOff

    def torques(self) -> Float[Array, "thrusters 3"]:
        """Return the torque of each (N m) for each newton."""
        return jnp.cross(self.positions, self.directions)

    def allocate(self, force: Three, torque: Three) -> Each:
        """Return the thrusts (N), none negative, whose force and torque together are nearest to those wanted.

        A torque counts as its force at the table's mean lever. No thrust is limited here.
        """
        turning = self.torques()
        lever = jnp.sqrt(jnp.mean(jnp.sum(turning**2, axis=1)))
        lever = jnp.where(lever > 0, lever, 1.0)
        matrix = jnp.concatenate([self.directions, turning / lever], axis=1).T
        return nonnegative_least_squares(matrix, jnp.concatenate([force, torque / lever]))

    def fire(self, t: Float[Array, ""], end: Float[Array, ""], force: Three, torque: Three, before: Pulses) -> Pulses:
        """Return the pulses that begin at `t` (s), for a period until `end`, for this force and torque.

        Where a thruster is asked for more than it has, all give less in proportion: the direction stays.
        """
        shares = self.allocate(force, torque) / self.forces
        shares = shares / jnp.maximum(jnp.max(shares), 1.0)
        times = self.modulation.on_times(shares, before.firing, end - t)
        firing = jnp.where(times > 0, 1.0, 0.0)
        new = jnp.where((before.firing > 0) | (times <= 0), 0.0, 1.0)
        return Pulses(firing, jnp.minimum(t + times, end), before.on_time, before.begun + new)

    def give(self, pulses: Pulses, wheel: Three, corners: Float[Array, "n"]) -> Actuation:
        """Return the force and torque of those that fire, beside the torque of a `wheel` (N m), which has `corners`."""
        pushes = self.forces * pulses.firing
        jets = pushes @ self.torques()
        used = jnp.stack([jnp.sum(pushes), jnp.sum(jnp.abs(jets))])
        return Actuation(jnp.zeros(0), wheel, pushes @ self.directions, jets, used, corners)
