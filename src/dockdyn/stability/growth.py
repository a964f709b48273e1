"""How fast the slowest motion of a loop grows or dies away, whatever kind of loop it is.

Units: growth rates and roots 1/s.
Source: definition: real part of the rightmost root, or ln |λ| over the cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from dockdyn.deferred import Array, Complex, Float, jax
from dockdyn.programs import Program, over_rows
from dockdyn.stability.lanes import in_lanes
from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import Hyperperiod, hyperperiod_of
from dockdyn.stability.roots import rightmost_roots
from dockdyn.stability.sampled import Cycle, cycle_map
from dockdyn.trees import flatten, map_leaves


def loop_roots(loops: Loop, count: int = 2) -> Complex[np.ndarray, "loops count"]:
    """Return the rightmost roots (1/s) of many loops, whose numbers carry a leading axis.

    Those of a sampled loop are ln(λ) / cycle over its multipliers λ, so their frequencies are folded into ±π / cycle.
    """
    loops = map_leaves(lambda a: np.asarray(a, float), loops)
    if loops.hold is None:
        return rightmost_roots(in_lanes(_matrices_of, loops), loops.delay[:, None], count)
    found = np.full((len(loops.delay), count), complex(-np.inf, 0))
    under_way = np.ceil(np.log2(1 + np.ceil(loops.delay / loops.hold) + loops.applies_after))
    for size in np.unique(under_way):  # a long delay makes many states: few loops pay for it
        these = np.flatnonzero(under_way == size)
        some = map_leaves(lambda a, these=these: a[these], loops)
        factors, period = in_lanes(partial(_multipliers_of, hyperperiod=hyperperiod_of(some)), some)
        factors = factors[:, :count]
        ended = factors == 0
        roots = np.where(ended, -np.inf, np.log(np.where(ended, 1, factors)) / period[:, None])
        found[these, : roots.shape[1]] = roots
    return found


def growth_rates(loops: Loop) -> Float[np.ndarray, "loops"]:
    """Return the growth rates (1/s) of many loops: the real part of their rightmost root, negative where stable."""
    return loop_roots(loops, 1)[:, 0].real


def growth_of_plants(loops: Loop) -> Float[np.ndarray, "loops"]:
    """Return the same of loops with something behind their contacts, of which each sees as much as it does."""
    each = [map_leaves(lambda a, at=at: np.asarray(a)[at], loops) for at in range(len(loops.delay))]
    return growth_of_each([one.reduce_plant() for one in each])


def growth_of_each(loops: Sequence[Loop]) -> Float[np.ndarray, "loops"]:
    """Return the growth rates (1/s) of loops, of which not all need have as many states; NaN of those whose contacts resist
    nothing."""
    alike: dict[Any, list[int]] = {}
    for at, loop in enumerate(loops):
        leaves, structure = flatten(loop)
        if loop.plant.channels:
            alike.setdefault((structure, tuple(map(np.shape, leaves))), []).append(at)
    found = np.full(len(loops), np.nan)
    for these in alike.values():
        found[these] = growth_rates(map_leaves(lambda *rows: np.stack(rows), *(loops[at] for at in these)))
    return found


def batch_of_one(loop: Loop) -> Loop:
    """Return one loop as a row of one."""
    return map_leaves(lambda a: np.asarray(a, float)[None], loop)


def matrices_of(loop: Loop) -> Float[np.ndarray, "delays+1 n n"]:
    """Return the matrices (1/s) of one loop without instants."""
    return in_lanes(_matrices_of, batch_of_one(loop))[0]


@Program
def _matrices_of(loops: Loop) -> Float[Array, "loops delays+1 n n"]:
    """Return the matrices of many loops."""
    return jax.vmap(Loop.matrices)(loops)


# LAPACK does the work: what compiling in full costs is not won back
@partial(
    Program,
    static=("hyperperiod",),
    compiler_options={"xla_backend_optimization_level": 0},
)
def cycles_of(loops: Loop, hyperperiod: Hyperperiod) -> Cycle:
    """Return the maps of many loops over a cycle."""
    return over_rows(partial(cycle_map, hyperperiod=hyperperiod), loops)


def floquet_multipliers(monodromy: Float[np.ndarray, "*loops n n"]) -> Complex[np.ndarray, "*loops n"]:
    """Return factors by which motions grow over a cycle, the largest modulus first; NaN where they are too large for a
    number."""
    good = np.isfinite(monodromy).all(axis=(-2, -1))
    found = np.linalg.eigvals(np.where(good[..., None, None], monodromy, 0.0)).astype(complex)
    found[~good] = np.nan
    return np.take_along_axis(found, np.argsort(-np.abs(found), axis=-1, kind="stable"), -1)


def multiplier_slopes(
    monodromy: Float[np.ndarray, "n n"], period: Float[np.ndarray, ""]
) -> tuple[complex, tuple[Complex[np.ndarray, "n n"], Complex[np.ndarray, ""]]]:
    """Return ln(λ) / cycle (1/s) of the largest multiplier λ, and how it changes with every number of the map and with the
    cycle.

    With wᴴ M = λ wᴴ and M v = λ v the multiplier changes by wᴴ ∂M v / (wᴴ v). NaN where the map is not finite.
    """
    if not np.isfinite(monodromy).all():
        return complex(np.nan), (np.full(monodromy.shape, complex(np.nan)), np.full(period.shape, complex(np.nan)))
    values, vectors = np.linalg.eig(monodromy)
    largest = np.argmax(np.abs(values))
    value, v = values[largest], vectors[:, largest]
    left, _, _ = np.linalg.svd(monodromy - value * np.eye(len(v)))
    w = left[:, -1].conj()
    with np.errstate(divide="ignore", invalid="ignore"):  # of one that is zero, or not simple
        rate = np.log(complex(value)) / period
        return complex(rate), (np.outer(w, v) / (w @ v) / value / period, -rate / period)


def _multipliers_of(
    loops: Loop, hyperperiod: Hyperperiod
) -> tuple[Complex[np.ndarray, "loops n"], Float[np.ndarray, "loops"]]:
    """Return multipliers over a cycle, the largest first, and the cycle's length (s)."""
    whole = cycles_of(loops, hyperperiod=hyperperiod)
    return floquet_multipliers(np.asarray(whole.monodromy)), np.asarray(whole.period)
