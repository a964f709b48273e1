"""Velocities that a gain multiplies: of the model, of the robot, and two estimates from the robot's encoders.

Units: positions m, velocities m/s, times s.
Source: tracking differentiator, Han 2009, IEEE Trans. Ind. Electronics 56:900; SITS, section 4.2.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

from dockdyn.deferred import PyTree, jnp
from dockdyn.hil.compensators.compensator import Axes, CompensatorInput, Source
from dockdyn.integrate.model import Scalar
from dockdyn.trees import Module


class VelocitySource(Module):
    """A block from what is seen to a velocity (m/s)."""

    source: ClassVar[Source] = "estimate"

    def init(self, position: Axes, velocity: Axes) -> PyTree:
        """Return the memory at t = 0 of a robot at `position` (m) moving with `velocity` (m/s)."""
        return ()

    @abc.abstractmethod
    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Axes]:
        """Return the memory and velocity from an instant on."""

    def refusal(self, period: float) -> str | None:
        """Return why it cannot be asked every `period` (s), and what to do; None where it can."""
        return None


class ModelVelocity(VelocitySource):
    """The model's own: no noise, no delay, but ahead of the robot."""

    source: ClassVar[Source] = "model"

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Axes]:
        return memory, seen.velocity


class RobotVelocity(VelocitySource):
    """The robot's, exact. Sampled behind a hold it aliases the staircase of the commands; no rig measures it."""

    source: ClassVar[Source] = "robot"

    def step(self, memory: PyTree, seen: CompensatorInput) -> tuple[PyTree, Axes]:
        return memory, seen.robot_velocity


class Tracked(NamedTuple):
    """The tracking differentiator's state."""

    position: Axes  # x₁, m
    velocity: Axes  # x₂ = ẋ₁, m/s
    followed: Axes  # m, of the robot at the last instant


class TrackingDifferentiator(VelocitySource):
    """Han's tracking differentiator of the encoders' position: x₁ follows it as fast as |ẍ₁| ≤ r allows, ẋ₁ is the velocity.

    ẍ₁ = fhan(x₁ − X_R, ẋ₁, r, h). Near its target, for steps below r h², fhan is linear and the whole 1/(1 + h s)², which r
    does not enter. There it is advanced exactly for a position that goes straight from one instant to the next with a speed
    V: x₁ − X_R + 2 h V and ẋ₁ − V then end by themselves, so a steady motion is read with its own speed whatever h and the
    period T, 2 h late; for h → 0 this is the difference over a period. (Of a position that is held from instant to instant
    1/(1 + h s)² would read ((T/2h)/sinh(T/2h))² of the speed.) Far from it, and where the straight line would take more than
    r, the acceleration is fhan's, with T in the place of a shorter h.
    Han, IEEE Transactions on Industrial Electronics 56 (2009); own discretisation, the ramp-invariant one.
    """

    acceleration: Scalar  # r, m/s²
    time: Scalar  # h, s

    def init(self, position: Axes, velocity: Axes) -> Tracked:
        """Return the memory as if it had followed a steady motion."""
        return Tracked(position - steady_lag(velocity, self.acceleration, self.time), velocity, position)

    def begin(self, velocity: Axes, seen: CompensatorInput) -> Tracked:
        """Return the memory at the first instant of one that has long followed the robot, which may be behind the model."""
        straight = 2 * self.time * velocity
        time = jnp.maximum(self.time, seen.period)
        _, linear = time_optimal_acceleration(-straight, velocity, self.acceleration, time)
        lag = jnp.where(linear, straight, steady_lag(velocity, self.acceleration, time))
        return Tracked(seen.robot_position - lag, velocity, seen.robot_position)

    def step(self, memory: Tracked, seen: CompensatorInput) -> tuple[Tracked, Axes]:
        share, lag = seen.period / self.time, 2 * self.time
        speed = (seen.robot_position - memory.followed) / seen.period  # V
        behind = memory.position - memory.followed
        end, slow = behind + lag * speed, memory.velocity - speed
        slide = slow + end / self.time
        fading = jnp.exp(-share)
        velocity = speed + (slow - slide * share) * fading
        pull, linear = time_optimal_acceleration(
            behind, memory.velocity, self.acceleration, jnp.maximum(self.time, seen.period)
        )
        near = linear & (jnp.abs(velocity - memory.velocity) <= self.acceleration * seen.period)
        position = jnp.where(
            near,
            seen.robot_position - lag * speed + (end + slide * seen.period) * fading,
            memory.position + seen.period * memory.velocity + seen.period**2 / 2 * pull,
        )
        velocity = jnp.where(near, velocity, memory.velocity + seen.period * pull)
        begun, first = self.begin(memory.velocity, seen), seen.time <= 0  # no time has gone by
        position = jnp.where(first, begun.position, position)
        velocity = jnp.where(first, begun.velocity, velocity)
        return Tracked(position, velocity, seen.robot_position), velocity


class PrintedState(NamedTuple):
    """The printed tracking differentiator's state."""

    position: Axes  # x_r1, m
    velocity: Axes  # x_r2, m/s


class PrintedTrackingDifferentiator(VelocitySource):
    """The tracking differentiator as SITS prints it: x_r1⁺ = x_r1 + T x_r2, x_r2⁺ = x_r2 + T fhan(x_r1 − X_R, x_r2, r, h).

    At an instant x_r2 is read before it is renewed. Near its target it is (z − 1)/T · p²/(z − 1 + p)² with p = T/h, Euler's
    steps of s/(1 + h s)²: its steady gain is 1 as well and it is 2 h − T/2 late, but it lets through more noise, rings for
    h < T and diverges for h ≤ T/2.
    """

    acceleration: Scalar  # r, m/s²
    time: Scalar  # h, s; more than half of the period

    def init(self, position: Axes, velocity: Axes) -> PrintedState:
        """Return the memory as if it had followed a steady motion."""
        return PrintedState(position - steady_lag(velocity, self.acceleration, self.time), velocity)

    def step(self, memory: PrintedState, seen: CompensatorInput) -> tuple[PrintedState, Axes]:
        lag = steady_lag(memory.velocity, self.acceleration, self.time)
        behind = jnp.where(seen.time <= 0, -lag, memory.position - seen.robot_position)
        pull, _ = time_optimal_acceleration(behind, memory.velocity, self.acceleration, self.time)
        position = seen.robot_position + behind + seen.period * memory.velocity
        return PrintedState(position, memory.velocity + seen.period * pull), memory.velocity

    def refusal(self, period: float) -> str | None:
        if 2 * float(self.time) > period:
            return None
        return f"the printed recursion diverges; must be above {period / 2:g} s, half of the period"


def time_optimal_acceleration(error: Axes, velocity: Axes, acceleration: Scalar, time: Scalar) -> tuple[Axes, Axes]:
    """Return the acceleration (m/s²) that ends `error` (m) and `velocity` (m/s) soonest; whether it is linear in them."""
    most = acceleration * time  # d, m/s
    ahead = error + time * velocity  # y, m
    inner = jnp.abs(ahead) <= most * time
    root = jnp.sqrt(most**2 + 8 * acceleration * jnp.abs(ahead))
    bent = velocity + jnp.where(inner, ahead / time, (root - most) / 2 * jnp.sign(ahead))
    return -acceleration * jnp.clip(bent / most, -1, 1), inner & (jnp.abs(bent) <= most)


def steady_lag(velocity: Axes, acceleration: Scalar, time: Scalar) -> Axes:
    """Return how far (m) a tracking differentiator is behind a steady motion, whose `velocity` (m/s) it reads.

    There the acceleration is zero: 2 h V behind up to a speed of r h, and beyond it h V + V (|V| + r h)/2 r.
    """
    speed, most = jnp.abs(velocity), acceleration * time
    return velocity * jnp.where(speed <= most, 2 * time, time + (speed + most) / (2 * acceleration))


class Differenced(NamedTuple):
    """What the filtered difference remembers."""

    position: Axes  # m, at the last instant
    velocity: Axes  # m/s


class FilteredDifference(VelocitySource):
    """Difference of the encoders' positions over a period, through a first-order lag."""

    time: Scalar  # s, of the lag; 0: the difference alone

    def init(self, position: Axes, velocity: Axes) -> Differenced:
        return Differenced(position, velocity)

    def step(self, memory: Differenced, seen: CompensatorInput) -> tuple[Differenced, Axes]:
        difference = (seen.robot_position - memory.position) / seen.period
        share = -jnp.expm1(-seen.period / jnp.maximum(self.time, 1e-12))
        first = seen.time <= 0  # there is no position before: the velocity is the one it began with
        velocity = jnp.where(first, memory.velocity, memory.velocity + share * (difference - memory.velocity))
        return Differenced(seen.robot_position, velocity), velocity
