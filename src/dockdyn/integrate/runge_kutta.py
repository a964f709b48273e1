"""The classical fourth-order Runge–Kutta step.

Units: times s, states in those of the model.
Source: Kutta 1901; Hairer, Nørsett and Wanner 1993, section II.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from dockdyn.integrate.model import Rate, Scalar, State, advanced
from dockdyn.mechanics.vector import once

Flow = Callable[[Any, State], Rate]  # rate at a fraction of the step


def rk4(flow: Flow, x: State, step: Scalar, first: Rate, looped: bool = False) -> tuple[State, Rate]:
    """State after one step from `x`, whose rate is `first`, and the last stage's rate.

    `flow(c, x)` is the rate at the fraction c of the step. The state is not yet retracted. With `looped` the program holds
    one copy of the flow, not three: slower to run where the flow is small, much faster to compile where it is large.
    """
    if looped:
        return looped_rk4(flow, x, step, first)
    half = once(flow(0.5, once(advanced(x, step / 2, first))))
    again = once(flow(0.5, once(advanced(x, step / 2, half))))
    last = once(flow(1.0, once(advanced(x, step, again))))
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * (b + c) + d) / 6, first, half, again, last)
    return advanced(x, step, mean), last


def looped_rk4(flow: Flow, x: State, step: Scalar, first: Rate) -> tuple[State, Rate]:
    """`rk4`, its stages in a loop."""

    def stage(index: Scalar, carry: tuple[Rate, Rate]) -> tuple[Rate, Rate]:
        before, total = carry
        fraction, weight = jnp.where(index < 2, 0.5, 1.0), jnp.where(index < 2, 2.0, 1.0)
        rate = flow(fraction, advanced(x, fraction * step, before))
        return rate, jax.tree.map(lambda a, b: a + weight * b, total, rate)

    last, total = jax.lax.fori_loop(0, 3, stage, (first, first))
    return advanced(x, step / 6, total), last


def embedded_error(step: Scalar, last: Rate, end: Rate) -> Rate:
    """Estimate of a step's error: the difference to the third-order formula with the rate at the `end` as its last stage.

    Both formulas share their first three stages, and give the last one a weight of 1/6.
    """
    return jax.tree.map(lambda a, b: step / 6 * (a - b), last, end)
