"""SITS, Figure 10: the robot's velocity from its noisy position, by difference and by tracking differentiators.

The paper's noise is not printed; here the encoders' has a standard deviation of 10 µm. The motion is that of the preset
`sits-fgc`, sampled at 2 ms, and the staircase of the commands is in it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from dockdyn.hil.compensators.compensator import Seen
from dockdyn.hil.robot import RobotAxes
from dockdyn.hil.velocity_sources import FilteredDifference, TrackingDifferentiator, VelocitySource, fhan
from dockdyn.kinds.rig.simulate import simulate_rig
from dockdyn.papers.reproduction import Made, Progress
from dockdyn.papers.sits import simulation_pictures as pictures
from dockdyn.papers.sits.rig import STEP, loop_of
from dockdyn.papers.table import Row
from dockdyn.scenario.load import load
from dockdyn.stability.loop import Robot
from dockdyn.stability.loop_margins import ideal_root

NOISE, SEED = 1e-5, 10  # m
SHOWN = 3.0  # s
SETTLED = 0.5  # s
PAPER = (1000.0, 0.0034)  # r, m/s², and h, s
TRIED = (PAPER, (100.0, 0.0034), (10_000.0, 0.0034), (5.0, 0.0034), (1000.0, 0.0017), (1000.0, 0.02))

Series = Float[np.ndarray, "time"]


class Fitted(NamedTuple):
    """A velocity as an oscillation, and the rest."""

    amplitude: complex  # m/s
    rest: float  # m/s, rms


def _fitted(time: Series, velocity: Series, root: complex) -> Fitted:
    """`velocity` after `SETTLED` as Re(amplitude · exp(root · t)), by least squares."""
    late = time >= SETTLED
    wave = np.exp(root * time[late])
    columns = np.stack([wave.real, -wave.imag], axis=1)
    (real, imaginary), *_ = np.linalg.lstsq(columns, velocity[late])
    rest = velocity[late] - columns @ np.array([real, imaginary])
    return Fitted(complex(real, imaginary), float(np.sqrt(np.mean(rest**2))))


def seen(time: Array, position: Array) -> Seen:
    """An instant at which only the robot's position is looked at."""
    others: dict[str, Any] = dict.fromkeys(Seen._fields)
    return Seen(**(others | {"time": time, "period": jnp.asarray(STEP), "robot_position": position}))


@jax.jit
def _differentiated(source: VelocitySource, time: Array, position: Array, speed: Array) -> tuple[Array, Array]:
    """Velocities (m/s) of a source that begins with `speed`, and which of its instants are linear (a differentiator's)."""

    def step(memory: PyTree, now: tuple[Array, Array]) -> tuple[PyTree, tuple[Array, Array]]:
        near = jnp.asarray(True)
        if isinstance(source, TrackingDifferentiator):
            error = memory.position - now[1]
            _, near = fhan(error, memory.velocity, source.acceleration, source.time)
        memory, velocity = source.step(memory, seen(*now))
        return memory, (velocity, near)

    _, found = jax.lax.scan(step, source.init(position[0], speed), (time, position))
    return found


@partial(jax.jit, static_argnums=0)
def _filtered(order: int, time: Array, position: Array, speed: Array) -> Array:
    """Velocity (m/s) of 1 / (1 + h s)^order driven by the held `position`, h = `time` (s)."""
    bottom = jnp.ones(1)
    for _ in range(order):
        bottom = jnp.convolve(bottom, jnp.stack([time, jnp.ones(())]))
    axes = RobotAxes(Robot.of_polynomials(jnp.ones(1), bottom))
    advance, after = axes.advance(jnp.asarray(STEP)), axes.reading(jnp.asarray(STEP)).velocity

    def step(state: Array, command: Array) -> tuple[Array, Array]:
        known = jnp.append(state, command)
        return advance @ known, after @ known

    begun = axes.in_steps(position[:1], speed[None], jnp.asarray(STEP))
    return jax.lax.scan(step, begun[0], position)[1]


def differentiators(progress: Progress) -> Made:
    """Figure 10."""
    run = simulate_rig(load("sits-fgc", {"duration": SHOWN}))
    time, clean, speed = (run[name].values.ravel() for name in ("time", "robot_position", "velocity"))
    noisy = clean + NOISE * np.random.default_rng(SEED).standard_normal(len(clean))
    progress(0.5)
    root = ideal_root(loop_of({}))
    assert root is not None  # it oscillates
    truth = _fitted(time, speed, root)
    rows = [Row("target's velocity: amplitude of its oscillation", None, 1e3 * abs(truth.amplitude), "mm/s")]
    begun = jnp.asarray(speed[0])
    curves = {"difference": np.asarray(_differentiated(FilteredDifference(jnp.zeros(())), time, noisy, begun)[0])}
    rows += _judged("difference", "spikes and oscillations", _fitted(time, curves["difference"], root), truth, root)
    for r, h in TRIED:
        source = TrackingDifferentiator(jnp.asarray(r), jnp.asarray(h))
        velocity, near = map(np.asarray, _differentiated(source, time, noisy, begun))
        name = f"r = {r:g} m/s², h = {1e3 * h:g} ms"
        curves[name] = velocity
        chosen = "stable and close to the real differential signal" if (r, h) == PAPER else None
        rows += _judged(name, chosen, _fitted(time, velocity, root), truth, root)
        linear = np.asarray(_filtered(2, jnp.asarray(h), noisy, begun))
        rows += [
            Row(f"{name}: share of instants in the linear zone", None, float(near.mean()), "1"),
            Row(
                f"{name}: largest difference from 1/(1 + h s)²", None, 1e3 * float(abs(velocity - linear).max()), "mm/s"
            ),
        ]
    of_r = [abs(curves[f"r = {r:g} m/s², h = 3.4 ms"] - curves["r = 1000 m/s², h = 3.4 ms"]).max() for r in (100, 1e4)]
    note = "In its linear zone, |x₁ − X_R + h x₂| ≤ r h² and |2 x₂ + (x₁ − X_R)/h| ≤ r h, it is 1/(1 + h s)² exactly."
    words = "a larger r follows faster and overshoots more"
    rows.append(Row("largest effect of r, 100 … 10⁴ m/s² at h = 3.4 ms", words, 1e3 * float(max(of_r)), "mm/s", note))
    return pictures.differentiators(time, noisy, speed, curves), rows


def _judged(name: str, printed: str | None, found: Fitted, truth: Fitted, root: complex) -> list[Row]:
    """Rows of one estimate beside the target's velocity."""
    share = found.amplitude / truth.amplitude
    return [
        Row(f"{name}: rms of noise and staircase", printed, 1e3 * found.rest, "mm/s"),
        Row(f"{name}: behind the target's velocity", None, -1e3 * float(np.angle(share)) / root.imag, "ms"),
        Row(f"{name}: amplitude over the target's", None, abs(share), "1"),
    ]
