"""The classical fourth-order Runge–Kutta step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from dockdyn.integrate.model import Rate, Scalar, State, advanced
from dockdyn.mechanics.vector import once


def rk4(flow: Callable[[float, State], Rate], x: State, step: Scalar, first: Rate) -> tuple[State, Rate]:
    """State after one step from `x`, whose rate is `first`, and the last stage's rate.

    `flow(c, x)` is the rate at the fraction c of the step. The state is not yet retracted.
    """
    half = once(flow(0.5, once(advanced(x, step / 2, first))))
    again = once(flow(0.5, once(advanced(x, step / 2, half))))
    last = once(flow(1.0, once(advanced(x, step, again))))
    mean = jax.tree.map(lambda a, b, c, d: (a + 2 * (b + c) + d) / 6, first, half, again, last)
    return advanced(x, step, mean), last


def velocity_error(step: Scalar, last: Rate, end: Rate) -> Any:
    """Estimate of a step's error in velocity: the difference to the third-order formula that takes the rate at the `end`.

    Both formulas share their first three stages; the fourth-order one weighs the last stage by 1/6, the third-order one the end's
    rate.
    """
    return jax.tree.map(lambda a, b: step / 6 * (a - b), last.v, end.v)
