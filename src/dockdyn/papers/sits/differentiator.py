"""SITS, Figure 10: the robot's velocity from its noisy position, by difference and by tracking differentiators.

The paper's noise is not printed; here the encoders' has a standard deviation of 10 µm. The motion is that of the preset
`sits-fgc`, sampled at 2 ms, and the staircase of the commands is in it. The recursion is the printed one; beside it stands
the form that a scenario has if it asks for no other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, PyTree, jax, jit_when_called, jnp
from dockdyn.hil.compensators.compensator import CompensatorInput
from dockdyn.hil.velocity_sources import (
    FilteredDifference,
    PrintedTrackingDifferentiator,
    TrackingDifferentiator,
    VelocitySource,
)
from dockdyn.papers.reproduction import Made, Progress
from dockdyn.papers.sits import simulation_pictures as pictures
from dockdyn.papers.sits.rig import STEP, loop_of
from dockdyn.papers.table import Row
from dockdyn.rig.simulate import simulate_rig
from dockdyn.scenario.load import load
from dockdyn.stability.loop_margins import ideal_root

NOISE, SEED = 1e-5, 10  # m
SHOWN = 3.0  # s
SETTLED = 0.5  # s
PAPER = (1000.0, 0.0034)  # r, m/s², and h, s
TRIED = (PAPER, (100.0, 0.0034), (10_000.0, 0.0034), (5.0, 0.0034), (1000.0, 0.0017), (1000.0, 0.02))
STRAIGHT = (PAPER, (1000.0, 0.0017))  # of the form that is exact for straight lines between instants
FREE = 1e12  # r, m/s², that nothing reaches
KICK, KICKED = 1e-6, 4000  # m, for noise that passes; instants after it

type Series = Float[np.ndarray, "time"]


class Fitted(NamedTuple):
    """A velocity as an oscillation, and the rest."""

    amplitude: complex  # m/s
    rest: float  # m/s, rms


def _fit_amplitude(time: Series, velocity: Series, root: complex) -> Fitted:
    """Return `velocity` after `SETTLED` as Re(amplitude · exp(root · t)), by least squares."""
    late = time >= SETTLED
    wave = np.exp(root * time[late])
    columns = np.stack([wave.real, -wave.imag], axis=1)
    (real, imaginary), *_ = np.linalg.lstsq(columns, velocity[late])
    rest = velocity[late] - columns @ np.array([real, imaginary])
    return Fitted(complex(real, imaginary), float(np.sqrt(np.mean(rest**2))))


def position_input(time: Array, position: Array) -> CompensatorInput:
    """Return an instant at which only the robot's position is looked at."""
    others: dict[str, Any] = dict.fromkeys(CompensatorInput._fields)
    return CompensatorInput(**(others | {"time": time, "period": jnp.asarray(STEP), "robot_position": position}))


@jit_when_called
def _differentiate(source: VelocitySource, time: Array, position: Array, speed: Array) -> Array:
    """Return velocities (m/s) of a source that begins with `speed`."""

    def step(memory: PyTree, now: tuple[Array, Array]) -> tuple[PyTree, Array]:
        return source.step(memory, position_input(*now))

    return jax.lax.scan(step, source.init(position[0], speed), (time, position))[1]


def _noise_gain(source: VelocitySource) -> float:
    """Return the deviation of the velocity that white noise of the position makes over the noise's own (1/s), by its impulse
    response."""
    time, kick = STEP * np.arange(KICKED), np.zeros(KICKED)
    kick[1] = KICK  # the first instant is where it begins
    return float(np.linalg.norm(_differentiate(source, time, kick, jnp.zeros(()))) / KICK)


def differentiators(progress: Progress) -> Made:
    """Return figure 10."""
    run = simulate_rig(load("sits-fgc", {"duration": SHOWN}))
    time, clean, speed = (run[name].values.ravel() for name in ("time", "robot_position", "velocity"))
    noisy = clean + NOISE * np.random.default_rng(SEED).standard_normal(len(clean))
    progress(0.5)
    root = ideal_root(loop_of({}))
    assert root is not None  # it oscillates
    truth = _fit_amplitude(time, speed, root)
    rows = [Row("target's velocity: amplitude of its oscillation", None, 1e3 * abs(truth.amplitude), "mm/s")]
    begun = jnp.asarray(speed[0])
    known = _Known(time, noisy, begun, truth, root)
    plain = FilteredDifference(jnp.zeros(()))
    curves = {"difference": known.velocity(plain)}
    rows += known.rows_beside_truth("difference", "spikes and oscillations", plain)
    for r, h in TRIED:
        source, free = (PrintedTrackingDifferentiator(jnp.asarray(each), jnp.asarray(h)) for each in (r, FREE))
        name = f"r = {r:g} m/s², h = {1e3 * h:g} ms"
        curves[name] = known.velocity(source)
        chosen = "stable and close to the real differential signal" if (r, h) == PAPER else None
        rows += known.rows_beside_truth(name, chosen, source)
        bent = 1e3 * float(abs(curves[name] - known.velocity(free)).max())
        rows.append(Row(f"{name}: largest effect of the bound r", None, bent, "mm/s"))
    for r, h in STRAIGHT:
        name = f"straight lines, r = {r:g} m/s², h = {1e3 * h:g} ms"
        straight = TrackingDifferentiator(jnp.asarray(r), jnp.asarray(h))
        curves[name] = known.velocity(straight)
        rows += known.rows_beside_truth(name, None, straight)
    of_r = [abs(curves[f"r = {r:g} m/s², h = 3.4 ms"] - curves["r = 1000 m/s², h = 3.4 ms"]).max() for r in (100, 1e4)]
    note = "In its linear zone, |x₁ − X_R + h x₂| ≤ r h² and |2 x₂ + (x₁ − X_R)/h| ≤ r h, r does not enter."
    words = "a larger r follows faster and overshoots more"
    rows.append(Row("largest effect of r, 100 … 10⁴ m/s² at h = 3.4 ms", words, 1e3 * float(max(of_r)), "mm/s", note))
    return pictures.differentiators(time, noisy, speed, curves), rows


class _Known(NamedTuple):
    """The noisy positions, and the velocity that is to be found in them."""

    time: Series  # s
    noisy: Series  # m
    begun: Array  # m/s, velocity at first
    truth: Fitted
    root: complex  # 1/s, of the oscillation

    def velocity(self, source: VelocitySource) -> Series:
        """Return what a source makes of the positions (m/s)."""
        return np.asarray(_differentiate(source, self.time, self.noisy, self.begun))

    def rows_beside_truth(self, name: str, printed: str | None, source: VelocitySource) -> list[Row]:
        """Return rows of one estimate beside the target's velocity."""
        found = _fit_amplitude(self.time, self.velocity(source), self.root)
        share = found.amplitude / self.truth.amplitude
        return [
            Row(f"{name}: rms of noise and staircase", printed, 1e3 * found.rest, "mm/s"),
            Row(f"{name}: noise that passes, per metre", None, _noise_gain(source), "1/s"),
            Row(f"{name}: behind the target's velocity", None, -1e3 * float(np.angle(share)) / self.root.imag, "ms"),
            Row(f"{name}: amplitude over the target's", None, abs(share), "1"),
        ]
