"""The force sensor of a rig: delayed, sampled, and as imperfect as it is.

Units: forces N, times s.
Source: own construction: delay, mean over a window, noise, bias, saturation, lost samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.hil.block import DiscreteBlock
from dockdyn.integrate.model import Scalar
from dockdyn.trees import field

SIGMAS = 5.0  # of the noise, above which a force counts as contact
ROUNDING = 1e-9  # of a force, by which its size is off at most


class Draws(NamedTuple):
    """Random numbers of one sample."""

    force: Float[Array, "axes"]  # standard normal
    encoder: Float[Array, "axes"]  # standard normal: of the position where the force was measured
    jitter: Scalar  # 0 … 1
    lost: Scalar  # 0 … 1


def draw_noise(seed: int, shape: tuple[int, ...], axes: int) -> Draws:
    """Return random numbers of `shape` samples at a port of `axes` axes; for the same seed those of more begin with these."""
    force, encoder, jitter, lost = (random_stream(seed, part) for part in range(4))
    drawn: tuple[Any, ...] = (
        force.standard_normal((*shape, axes)),
        encoder.standard_normal((*shape, axes)),
        jitter.random(shape),
        lost.random(shape),
    )
    return Draws(*drawn)


def random_stream(seed: int, part: int) -> np.random.Generator:
    """Return the source of the random numbers of one part of a rig, independent of those of its other parts."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(part,)))


class Arrived(NamedTuple):
    """A force that reaches the sensor, and the random numbers of its sample; None for an ideal sensor."""

    force: Float[Array, "load"]  # N, and behind it torques (N m) if there are any
    draws: Draws | None


class SensorModel(DiscreteBlock):
    """What is measured of a contact force, in the order: noise and bias, saturation, resolution, loss of the sample.

    Its memory and output are the load held. Each number that is None is an imperfection that it does not have; torques,
    behind the `forces`, are late and lost like these and otherwise exact.
    """

    delay: Scalar  # s; of a sensor that averages, that of the middle of its window
    averaging: Scalar | None = None  # s, window over which a sample is the mean of the force
    jitter: Scalar | None = None  # s, added delay, uniform between 0 and this at every sample
    delay_amplitude: Scalar | None = None  # s, of a sinusoidal variation of the delay
    delay_period: Scalar | None = None  # s, of it
    noise: Scalar | None = None  # N, standard deviation
    bias: Scalar | None = None  # N
    range: Scalar | None = None  # N, saturates at ± this
    resolution: Scalar | None = None  # N
    drop_rate: Scalar | None = None  # probability that a sample is lost and the last one stays
    position_noise: Scalar | None = None  # m, standard deviation of the robot's encoders
    threshold: Scalar | None = None  # N, above which a force counts as contact; None: above what is read without one
    forces: int = field(static=True, default=1)  # axes of a load that are forces

    @property
    def has_steady_delay(self) -> bool:
        """Whether the delay never changes."""
        return self.jitter is None and self.delay_amplitude is None

    @property
    def random(self) -> bool:
        """Whether random numbers enter."""
        return any(part is not None for part in (self.jitter, self.noise, self.drop_rate, self.position_noise))

    def delay_at(self, time: Scalar, drawn: Draws | None) -> Scalar:
        """Return the delay (s) of the sample taken at `time` (s); never below zero."""
        age = self.delay
        if self.delay_amplitude is not None and self.delay_period is not None:
            age = age + self.delay_amplitude * jnp.sin(2 * jnp.pi * time / self.delay_period)
        if self.jitter is not None and drawn is not None:
            age = age + self.jitter * drawn.jitter
        return jnp.maximum(age, 0.0)

    def longest_delay(self) -> Scalar:
        """Return the longest delay (s) that a sample can have."""
        window = None if self.averaging is None else self.averaging / 2
        parts = (self.delay_amplitude, self.jitter, window)
        return sum((part for part in parts if part is not None), self.delay)

    def step(self, memory: Float[Array, "load"], signal: Arrived) -> tuple[Float[Array, "load"], Float[Array, "load"]]:
        load, drawn = signal
        force = self._unlimited_force(signal)
        if self.range is not None:
            force = jnp.clip(force, -self.range, self.range)
        if self.resolution is not None:
            force = jnp.round(force / self.resolution) * self.resolution
        load = jnp.concatenate([force, load[self.forces :]])
        if self.drop_rate is not None and drawn is not None:
            load = jnp.where(drawn.lost < self.drop_rate, memory, load)
        return load, load

    def _unlimited_force(self, signal: Arrived) -> Float[Array, "forces"]:
        """Return the force (N) with its noise and bias."""
        load, drawn = signal
        force = load[: self.forces]
        if self.noise is not None and drawn is not None:
            force = force + self.noise * drawn.force
        return force if self.bias is None else force + self.bias

    def saturates(self, signal: Arrived) -> Bool[Array, "forces"] | None:
        """Return whether a force is beyond the range, by axis; None of a sensor without one."""
        return None if self.range is None else jnp.abs(self._unlimited_force(signal)) > self.range

    def read_encoder(self, position: Float[Array, "axes"], drawn: Float[Array, "axes"] | None) -> Float[Array, "axes"]:
        """Return what the robot's encoders say of a `position` (m)."""
        if self.position_noise is None or drawn is None:
            return position
        return position + self.position_noise * drawn

    def largest_reading(self) -> Scalar:
        """Return what is read at most while nothing touches (N): on every axis the bias, rounded, and five sigmas of noise."""
        still = jnp.zeros(())
        if self.bias is not None:
            still = still + jnp.abs(self.bias)
        if self.resolution is not None:
            still = still + self.resolution / 2
        still = still * (np.sqrt(self.forces) * (1 + ROUNDING))
        return still if self.noise is None else still + SIGMAS * self.noise

    def detects_contact(self, load: Float[Array, "load"]) -> Bool[Array, ""]:
        """Return whether a measured `load` is taken for contact."""
        threshold = self.largest_reading() if self.threshold is None else self.threshold
        return jnp.sum(load[: self.forces] ** 2) > threshold**2
