"""Fixed-step integration: classical Runge–Kutta on a uniform mesh, nothing located.

Where the force jumps (the dashpot at onset) it is of first order only. It is simple and fast, its cost is known
beforehand, and reverse derivatives go through it.

Units: times s, states in those of the model.
Source: Kutta 1901; Hairer, Nørsett and Wanner 1993, Solving Ordinary Differential Equations I.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from dockdyn.integrate.hybrid.delay_line import SampledLine, taps
from dockdyn.integrate.hybrid.runge_kutta import looped_rk4
from dockdyn.integrate.model import Model, Rate, Scalar, State, chosen
from dockdyn.integrate.solution import Sample
from dockdyn.mechanics.vector import once


class Mesh(eqx.Module):
    """Step (s; no longer than a delay); number of steps and the delay line's capacity are static."""

    step: Scalar
    steps: int = eqx.field(static=True)
    stride: int = eqx.field(static=True)  # samples are kept every so many steps; `steps` is a multiple of it
    line_capacity: int = eqx.field(static=True)  # a power of two of at least delay / step + 4


class Carry(NamedTuple):
    """What one step hands to the next."""

    state: State
    line: SampledLine | None
    delayed: Any  # the delayed signal at the step's start; None without a delay
    rate: Rate  # there


def solve(model: Model, mesh: Mesh) -> tuple[State, Sample]:
    """The final state, and samples at 0, stride · step, 2 stride · step … (each leaf with a leading axis)."""
    start = model.ungated(model.initial())
    signal = model.signal(jnp.zeros(()), start)
    line, delayed, held = None, signal, None
    middle_taps = end_taps = taps(jnp.zeros(()))
    if model.delay is not None:
        line = SampledLine.empty(mesh.line_capacity, signal)
        delayed = held = jax.tree.map(jnp.zeros_like, signal)
        middle_taps = taps(0.5 - model.delay / mesh.step)
        end_taps = taps(1.0 - model.delay / mesh.step)

    def advance(carry: Carry, index: Int[Array, ""]) -> tuple[Carry, None]:
        t, x, line = index * mesh.step, carry.state, carry.line
        middle = end = None
        if line is not None:
            now = once(model.signal(t, x))
            line = line.store(index, now)
            middle, end = line.read(index, middle_taps, now), line.read(index, end_taps, now)

        def flow(fraction: Scalar, x: State) -> Rate:
            time = t + fraction * mesh.step
            if line is None:
                return model.flow(time, x, once(model.signal(time, x)))
            return model.flow(time, x, chosen(fraction < 1, middle, end))

        state, _, rate = once(looped_rk4(flow, model.retract, x, mesh.step, carry.rate))
        return Carry(state, line, end, rate), None

    def stretch(carry: Carry, index: Int[Array, ""]) -> tuple[Carry, Sample]:
        carry, _ = jax.lax.scan(advance, carry, index * mesh.stride + jnp.arange(mesh.stride))
        time = (index + 1) * mesh.stride * mesh.step
        delayed = carry.delayed if carry.line is not None else model.signal(time, carry.state)
        return carry, Sample(carry.state, delayed)

    carry = Carry(start, line, held, model.flow(jnp.zeros(()), start, delayed))
    last, samples = jax.lax.scan(stretch, carry, jnp.arange(mesh.steps // mesh.stride))
    first = Sample(start, delayed)
    return last.state, jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), first, samples)
