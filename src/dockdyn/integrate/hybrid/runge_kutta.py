"""The classical fourth-order Runge–Kutta step.

Units: times s, states in those of the model.
Source: Kutta 1901; Hairer, Nørsett and Wanner 1993, section II.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Int, jax, jnp
from dockdyn.integrate.model import Rate, Scalar, State, advance_state, choose_tree
from dockdyn.mechanics.vector import once
from dockdyn.trees import map_leaves

Flow = Callable[[Any, State], Rate]  # rate at a fraction of the step


def rk4_step(flow: Flow, x: State, step: Scalar, first: Rate) -> State:
    """Return the state after one step from `x`, whose rate is `first`; not yet retracted.

    `flow(c, x)` is the rate at the fraction c of the step, c a number: the stages are written out, one after another.
    """
    half = once(flow(0.5, once(advance_state(x, step / 2, first))))
    again = once(flow(0.5, once(advance_state(x, step / 2, half))))
    last = once(flow(1.0, once(advance_state(x, step, again))))
    return advance_state(x, step, map_leaves(lambda a, b, c, d: (a + 2 * (b + c) + d) / 6, first, half, again, last))


class Step(NamedTuple):
    """Where a step leads."""

    state: State  # retracted
    last: Rate  # of the last stage
    rate: Rate  # at the state


def looped_rk4(flow: Flow, retract: Callable[[State], State], x: State, step: Scalar, first: Rate) -> Step:
    """Return the same step, and the rate where it ends, its stages in a loop: the program holds one copy of the flow, not four.

    Much faster to compile where the flow is large, and a little slower to run.
    """

    def within(total: Rate, before: Rate, fraction: Scalar) -> State:
        return advance_state(x, fraction * step, before)

    def at_end(total: Rate, before: Rate, fraction: Scalar) -> State:
        return retract(advance_state(x, step, map_leaves(lambda a: a / 6, total)))

    def stage(index: Int[Array, ""], carry: tuple[State, Rate, Rate, Rate]) -> tuple[State, Rate, Rate, Rate]:
        _, before, _, total = carry
        inner, ends = index < 2, index == 3
        fraction, weight = jnp.where(inner, 0.5, 1.0), jnp.where(inner, 2.0, 1.0)
        there = jax.lax.cond(ends, at_end, within, total, before, fraction)  # a division a rate is dear
        rate = flow(fraction, there)
        return there, rate, before, choose_tree(ends, total, map_leaves(lambda a, b: a + weight * b, total, rate))

    state, rate, last, _ = jax.lax.fori_loop(0, 4, stage, (x, first, first, first))
    return Step(state, last, rate)


def embedded_error(step: Scalar, last: Rate, end: Rate) -> Rate:
    """Estimate of a step's error: the difference to the third-order formula with the rate at the `end` as its last stage.

    Both formulas share their first three stages, and give the last one a weight of 1/6.
    """
    return map_leaves(lambda a, b: step / 6 * (a - b), last, end)
