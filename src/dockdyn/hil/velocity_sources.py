"""Velocities that a gain multiplies: of the model, of the robot, and two estimates from the robot's encoders.

Units: positions m, velocities m/s, times s.
Source: tracking differentiator, Han 2009, IEEE Trans. Ind. Electronics 56:900; SITS, section 4.2.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from dockdyn.hil.compensators.compensator import Axes, Seen, Source
from dockdyn.integrate.model import Scalar


class VelocitySource(eqx.Module):
    """A block from what is seen to a velocity (m/s)."""

    source: ClassVar[Source] = "estimate"

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        """Memory at t = 0 of a robot at `position` (m) moving with `velocity` (m/s)."""
        return ()

    @abc.abstractmethod
    def step(self, memory: PyTree, seen: Seen) -> tuple[PyTree, Axes]:
        """Memory and velocity from an instant on."""


class ModelVelocity(VelocitySource):
    """The model's own: no noise, no delay, but ahead of the robot."""

    source: ClassVar[Source] = "model"

    def step(self, memory: PyTree, seen: Seen) -> tuple[PyTree, Axes]:
        return memory, seen.velocity


class RobotVelocity(VelocitySource):
    """The robot's, exact. Sampled behind a hold it aliases the staircase of the commands; no rig measures it."""

    source: ClassVar[Source] = "robot"

    def step(self, memory: PyTree, seen: Seen) -> tuple[PyTree, Axes]:
        return memory, seen.robot_velocity


class Tracked(NamedTuple):
    """The tracking differentiator's state."""

    position: Axes  # m
    velocity: Axes  # m/s


class TrackingDifferentiator(VelocitySource):
    """Han's tracking differentiator of the encoders' position: x₁ follows it as fast as |ẍ₁| ≤ r allows, ẋ₁ is the velocity.

    ẍ₁ = fhan(x₁ − X_R, ẋ₁, r, h). Near its target, for steps below r h², fhan is linear and the whole exactly 1/(1 + h s)²,
    which r does not enter; there the position is taken as held between instants, and the filter advanced exactly.
    Han, IEEE Transactions on Industrial Electronics 56 (2009); SITS, section 4.2.
    """

    acceleration: Scalar  # r, m/s²
    time: Scalar  # h, s; a good part of the period or more

    def init(self, position: Axes, velocity: Axes) -> Tracked:
        """As if it had followed a steady motion: 2 h behind; the first instant says how positions are sampled."""
        return Tracked(position - 2 * self.time * velocity, velocity)

    def steady(self, memory: Tracked, seen: Seen) -> Tracked:
        """Return the state of one that has long followed positions as sampled, at the velocity in `memory`, up to this one.

        The same step from sample to sample: (e + w T) f − V T = e and (ẋ₁ − w c) f = ẋ₁ with c = T/h, f = exp(−c), the error
        e = x₁ − X_R and w = ẋ₁ + e/h. Faster than r h, where fhan is no longer linear, it is zero at the error.
        """
        moves, share = memory.velocity, seen.period / self.time
        fading, left = jnp.exp(-share), -jnp.expm1(-share)
        velocity = moves * share**2 * fading / left**2
        error = -self.time * velocity * (1 + left / (share * fading))
        most = self.acceleration * self.time
        far = -moves * (self.time + (most + jnp.abs(moves)) / (2 * self.acceleration))
        slow = jnp.abs(moves) <= most
        return Tracked(seen.robot_position + jnp.where(slow, error, far), jnp.where(slow, velocity, moves))

    def step(self, memory: Tracked, seen: Seen) -> tuple[Tracked, Axes]:
        begun = self.steady(memory, seen)
        memory = jax.tree.map(lambda first, later: jnp.where(seen.time <= 0, first, later), begun, memory)
        error = memory.position - seen.robot_position
        pull, near = fhan(error, memory.velocity, self.acceleration, self.time)
        share = seen.period / self.time
        fading = jnp.exp(-share)
        slide = memory.velocity + error / self.time
        position = jnp.where(
            near,
            seen.robot_position + (error + slide * seen.period) * fading,
            memory.position + seen.period * memory.velocity + seen.period**2 / 2 * pull,
        )
        velocity = jnp.where(near, (memory.velocity - slide * share) * fading, memory.velocity + seen.period * pull)
        return Tracked(position, velocity), velocity


def fhan(error: Axes, velocity: Axes, acceleration: Scalar, time: Scalar) -> tuple[Axes, Axes]:
    """Acceleration (m/s²) that ends `error` (m) and `velocity` (m/s) soonest; whether it is linear in them."""
    most = acceleration * time  # d, m/s
    ahead = error + time * velocity  # y, m
    inner = jnp.abs(ahead) <= most * time
    root = jnp.sqrt(most**2 + 8 * acceleration * jnp.abs(ahead))
    bent = velocity + jnp.where(inner, ahead / time, (root - most) / 2 * jnp.sign(ahead))
    return -acceleration * jnp.clip(bent / most, -1, 1), inner & (jnp.abs(bent) <= most)


class Differenced(NamedTuple):
    """What the filtered difference remembers."""

    position: Axes  # m, at the last instant
    velocity: Axes  # m/s


class FilteredDifference(VelocitySource):
    """Difference of the encoders' positions over a period, through a first-order lag."""

    time: Scalar  # s, of the lag; 0: the difference alone

    def init(self, position: Axes, velocity: Axes) -> Differenced:
        return Differenced(position, velocity)

    def step(self, memory: Differenced, seen: Seen) -> tuple[Differenced, Axes]:
        difference = (seen.robot_position - memory.position) / seen.period
        share = -jnp.expm1(-seen.period / jnp.maximum(self.time, 1e-12))
        first = seen.time <= 0  # there is no position before: the velocity is the one it began with
        velocity = jnp.where(first, memory.velocity, memory.velocity + share * (difference - memory.velocity))
        return Differenced(seen.robot_position, velocity), velocity
