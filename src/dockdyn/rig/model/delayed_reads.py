"""What a rig reads of its robot's past, and how long ago: worked out once for a run.

Units: times s; ticks are whole numbers.
Source: own construction; quadrature of Gauss and Legendre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.hil.robot import AxisReading
from dockdyn.integrate.model import Scalar
from dockdyn.trees import Module

if TYPE_CHECKING:
    from dockdyn.rig.model.rig import Rig

NODES, WEIGHTS = np.array([-1.0, 0.0, 1.0]) * 0.6**0.5, np.array([5.0, 8.0, 5.0]) / 18  # of Gauss and Legendre


def shift_rows(newest: Array, rows: Array) -> Array:
    """Return rows of the past, the newest first, once there is a new one."""
    return jnp.concatenate([newest[None], rows[:-1]])


class Sampling(NamedTuple):
    """From where in the past a sample of the force is taken: nodes with weights that add up to one."""

    rows: Array  # which tick of the past
    reading: AxisReading
    weights: Array
    ages: Array  # s
    change: tuple[Array, Array] | None = (
        None  # ticks and rows whose sum is the acceleration, or its mean over the window
    )


class Ages(Module):
    """Readings of the robot at the ages that a tick needs; stacks of them have a leading axis."""

    tick: Scalar  # s
    advance: Float[Array, "order width"]
    now: AxisReading  # at a tick's start
    within: AxisReading  # at its nodes of Gauss and Legendre
    sample: Sampling | None  # of the force, when the delay is steady
    row: Array  # which tick of the past the delayed robot is in, before the command of an instant
    before: AxisReading  # and where
    whole: Array  # ticks that the delayed robot's first part is old
    parts: Float[Array, "2"]  # s, lengths of a tick before and after the delayed robot receives a command
    late: AxisReading  # of the delayed robot: start, middle and end of the first part, and of the second
    own: AxisReading  # of the robot itself, likewise
    paths: (
        tuple[AxisReading, AxisReading] | None
    )  # of the delayed robot and of itself: series around the parts' middles
    path: AxisReading | None  # of itself, around the tick's middle, where contacts remember


def ages_of(rig: Rig) -> Ages:
    """Return the ages of a rig."""
    robot, tick, delay = rig.robot, rig.tick, rig.sensor.delay
    whole = jnp.ceil(delay / tick - 1e-9)
    left = jnp.maximum(whole * tick - delay, 0.0)  # of a tick, after the delayed robot's instant at its start
    begun = jnp.floor(delay / tick + 1e-9)
    zero, part = jnp.zeros(()), tick - left
    readings = jax.vmap(robot.reading)
    steady = rig.sensor.has_steady_delay and (any(rig.schedule.samples) or rig.compensator is not None)
    late = jnp.stack([left, (left + tick) / 2, tick, zero, left / 2, left])
    own = jnp.stack([zero, part / 2, part, part, (part + tick) / 2, tick])
    middles = jax.vmap(lambda age: robot.series(age, tick))
    return Ages(
        tick=tick,
        advance=robot.advance(tick),
        now=robot.reading(zero),
        within=readings(tick / 2 * (1 + NODES)),
        sample=force_sampling(rig, delay, robot.reading) if steady else None,
        row=begun.astype(int),
        before=robot.reading(tick - jnp.maximum(delay - begun * tick, 0.0)),
        whole=whole.astype(int),
        parts=jnp.stack([part, left]),
        late=readings(late),
        own=readings(own),
        paths=(middles(late[1::3]), middles(own[1::3])) if rig.located else None,
        path=robot.series(tick / 2, tick) if rig.plant.remembers else None,
    )


def force_sampling(rig: Rig, age: Scalar, reading: Callable[[Scalar], AxisReading]) -> Sampling:
    """Return the force `age` (s) ago; of a sensor that averages, over its window, in the parts that ticks divide it into.

    At an instant of the hold it is the force before the command of that instant.
    """
    tick, window = rig.tick, rig.sensor.averaging
    if window is None:
        begun = jnp.floor(age / tick + 1e-9)
        offsets = tick - jnp.maximum(age - begun * tick, 0.0)
        one, rows = jnp.ones(1), begun.astype(int)[None]
        there = jax.vmap(reading)(offsets[None])
        change = None if rig.mounting is None else (rows, rig.robot.rate_of_row(there.velocity))
        return Sampling(rows, there, one, age * one, change)
    newest, oldest = jnp.maximum(age - window / 2, 0.0), age + window / 2
    rows = jnp.floor(newest / tick + 1e-9) + jnp.arange(rig.schedule.segments)
    low, high = jnp.maximum(rows * tick, newest), jnp.minimum((rows + 1) * tick, oldest)
    length = jnp.maximum(high - low, 0.0)
    ages = (low + length / 2)[:, None] + length[:, None] / 2 * NODES
    offsets = jnp.clip((rows + 1)[:, None] * tick - ages, 0.0, tick)
    weights = length[:, None] * WEIGHTS / window
    rows = jnp.broadcast_to(rows[:, None], ages.shape)
    change = None if rig.mounting is None else _mean_acceleration(tick, newest, oldest, reading)
    return Sampling(rows.ravel().astype(int), jax.vmap(reading)(offsets.ravel()), weights.ravel(), ages.ravel(), change)


def _mean_acceleration(
    tick: Scalar, newest: Scalar, oldest: Scalar, reading: Callable[[Scalar], AxisReading]
) -> tuple[Array, Array]:
    """Return the mean acceleration over a window, of the velocities at its ends; at an instant of the hold before its
    command."""
    ends = jnp.stack([newest, oldest])
    begun = jnp.floor(ends / tick + 1e-9)
    speeds = jax.vmap(reading)(tick - jnp.maximum(ends - begun * tick, 0.0)).velocity
    signs = jnp.asarray([1.0, -1.0]).reshape(2, *[1] * (speeds.ndim - 1))
    return begun.astype(int), signs * speeds / (oldest - newest)
