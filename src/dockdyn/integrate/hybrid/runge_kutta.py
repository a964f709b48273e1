"""Runge–Kutta steps: the classical one of fourth order, and Tsitouras' of fifth order.

Units: times s, states in those of the model.
Source: Kutta 1901; Hairer, Nørsett and Wanner 1993, sections II.1 and II.4; Tsitouras 2011, Computers & Mathematics with
Applications 62:770.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Int, jax, jnp
from dockdyn.integrate.model import Rate, Scalar, State, advance_state, choose_tree, pack_tree, unpack_tree
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
    rate: Rate  # at the state
    missed: Rate  # an estimate of its error: the difference to the formula of the next lower order
    bend: (
        Rate | None
    )  # how far the middle of the step lies from that of the cubics through its ends, where that is known


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
    # the formula of third order has the rate at the end as its last stage; both give that a weight of 1/6
    return Step(state, rate, map_leaves(lambda a, b: step / 6 * (a - b), last, rate), None)


# of Tsitouras' stages after the first: where in the step they are, and what of the rates before leads there; the last one is
# at the step's end
FRACTIONS = np.array([0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0])
WEIGHTS = np.array(
    [
        [0.161, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-0.008480655492356989, 0.335480655492357, 0.0, 0.0, 0.0, 0.0],
        [2.8971530571054935, -6.359448489975075, 4.3622954328695815, 0.0, 0.0, 0.0],
        [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525, 0.0, 0.0],
        [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383, 0.0],
        [
            0.09646076681806523,
            0.01,
            0.4798896504144996,
            1.379008574103742,
            -3.290069515436081,
            2.324710524099774,
        ],
    ]
)
# weights of the fifth order less those of the fourth
MISSED = np.array(
    [
        0.00178001105222577714,
        0.0008164344596567469,
        -0.007880878010261995,
        0.1447110071732629,
        -0.5823571654525552,
        0.45808210592918697,
        -1 / 66,
    ]
)
# and those that lead to the middle of the step, of fourth order
MIDDLE = np.array(
    [
        0.10741235230096871,
        0.01135625,
        0.39560903056045305,
        -0.34475214352593553,
        1.3161853649581645,
        -1.0170608542936508,
        0.03125,
    ]
)
BEND = MIDDLE - np.array([*WEIGHTS[-1], 0.0]) / 2 - np.array([1, 0, 0, 0, 0, 0, -1]) / 8


def looped_tsit5(flow: Flow, retract: Callable[[State], State], x: State, step: Scalar, first: Rate) -> Step:
    """Return the state after a step of fifth order, the rate there, its difference to the fourth order, and its bend.

    The program holds one copy of the flow; its six evaluations end with that at the step's end.
    """
    begun = pack_tree(first)
    # weights of all rates, the last one's zero: of those that count no copy is made
    stages, fractions = jnp.asarray(np.pad(WEIGHTS, ((0, 0), (0, 1)))), jnp.asarray(FRACTIONS)

    def stage(index: Int[Array, ""], carry: tuple[State, Rate, Array]) -> tuple[State, Rate, Array]:
        _, _, rates = carry
        mean = unpack_tree(stages[index] @ rates, first)
        there = advance_state(x, step, mean)
        there = jax.lax.cond(index == len(FRACTIONS) - 1, retract, lambda x: x, there)
        rate = flow(fractions[index], there)
        return there, rate, jax.lax.dynamic_update_index_in_dim(rates, pack_tree(rate), index + 1, 0)

    rates = jnp.broadcast_to(begun, (len(MISSED), begun.size))
    state, rate, rates = jax.lax.fori_loop(0, len(FRACTIONS), stage, (x, first, rates))
    missed, bend = (unpack_tree(step * (jnp.asarray(weights) @ rates), first) for weights in (MISSED, BEND))
    return Step(state, rate, missed, bend)
