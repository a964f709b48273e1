"""What one loop tolerates, and what it does to a motion: delays, gains, restitution, amplitude, phase, steady state.

Units: delays s, gains N s/m, growth 1/s; restitution and amplitude ratio dimensionless.
Source: definitions, evaluated on the exact monodromy of `stability.sampled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from dockdyn.deferred import Array, Complex, Float
from dockdyn.stability.bounce import apparent_restitution
from dockdyn.stability.chart import locate_sign_changes
from dockdyn.stability.growth import batch_of_one, growth_rates, loop_roots, matrices_of
from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import EDGE, hyperperiod_of
from dockdyn.stability.sampled import Layout
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.windows import Windows
from dockdyn.trees import map_leaves

CLOSE = 1e-12  # relative accuracy of located delays and gains
PLACES = np.array([1e-6, 1e-3, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 0.999, 1 - 1e-6])  # delays tried, as
# shares of the time from one instant to the next: close to both, where narrow windows begin or end
FEW = np.array([1e-6, 0.1, 0.5, 0.9, 1 - 1e-6])  # the same where instants are many
MANY = 24  # instants in a hold period
FINER = 17  # delays tried around one at which the growth rate turns back before it changes its sign
ROUNDS = 3  # times that this is done, each time eight times as close
MOST_COMMANDS = (8, 24, 72, 200)  # under way: how far delays are tried at a time, in hold periods
MOST_WORK = 5e8  # cubes of the states of all delays tried together: some seconds
FACTORS = np.geomspace(1.0, 1e3, 61)  # of what is measured, and their inverses
GAINS = np.geomspace(1e-5, 1e3, 120)  # tried on either side of zero, in units of √(K m)


def vary_number(loop: Loop, name: str, values: Float[np.ndarray, "k"]) -> Loop:
    """Return many loops that differ in one number."""
    rows = map_leaves(lambda a: np.repeat(np.asarray(a, float)[None], len(values), axis=0), loop)
    return replace(rows, **{name: values})


def _located_changes(
    loop: Loop, name: str, values: Float[np.ndarray, "k"], found: Float[np.ndarray, "k"]
) -> Float[np.ndarray, "edges"]:
    """Return where, between `values` of one number with the growth rates `found` (1/s), a loop becomes stable or unstable."""
    stable = found < 0
    at = np.flatnonzero(stable[:-1] != stable[1:])
    if not len(at):
        return np.zeros(0)

    def growth(points: np.ndarray) -> np.ndarray:
        return growth_rates(vary_number(loop, name, points[:, 0]))

    tolerance = CLOSE * np.abs(values).max()
    return locate_sign_changes(growth, values[at, None], values[at + 1, None], found[at], found[at + 1], tolerance)[
        :, 0
    ]


def _stable_intervals(
    start: float, edges: Float[np.ndarray, "edges"], end: float, stable: bool
) -> list[tuple[float, float]]:
    """Return stable intervals between the edges, the first one stable or not."""
    bounds = [start, *map(float, edges), end]
    return list(pairwise(bounds))[0 if stable else 1 :: 2]


def sampled_windows(loop: Loop) -> Windows:
    """Return stable measurement delays of a sampled loop.

    Between the instants of the loop, modulo its hold, the growth rate is smooth in the delay; at them it may jump. Delays
    are tried close to both sides of every instant and between, and closer where the growth rate turns back, until the
    first stable window and that of the loop's own delay are passed, until 200 commands are under way, or until more of them
    would take longer than `MOST_WORK`: `longest` of the answer is how far was looked.
    """
    assert loop.hold is not None
    hold, own = float(loop.hold), float(loop.delay)
    edges, start, first, stable_there = np.zeros(0), 0.0, False, False
    for commands in MOST_COMMANDS:
        if start and _estimate_work(loop, start, commands * hold) > MOST_WORK:
            break
        reached = commands * hold
        delays, found = _growth_over_delays(loop, start, reached)
        more = _snap_to_instants(_located_changes(loop, "delay", delays, found), loop)
        first = bool(found[0] < 0) if start == 0 else first
        if start <= own <= reached:
            stable_there = bool(found[np.searchsorted(delays, own)] < 0)
        edges, start = np.concatenate([edges, more]), reached
        if reached > own and (np.any(edges >= own) if stable_there else len(edges) or not first):
            break
    roots = loop_roots(vary_number(loop, "delay", edges), 1)[:, 0] if len(edges) else np.zeros(0)
    crossings = [(float(edge), abs(float(root.imag))) for edge, root in zip(edges, roots, strict=True)]
    # where the slow delayed force outweighs the one at once, some delay destabilises
    whole = first and not len(edges) and float(loop.virtual_stiffness) > float(loop.stiffness)
    return Windows(_stable_intervals(0.0, edges, np.inf if whole else reached, first), crossings, reached)


def _estimate_work(loop: Loop, low: float, high: float) -> float:
    """Return the cubes of the states of the delays (s) from `low` to `high` that are tried, together."""
    assert loop.hold is not None
    return len(_tried_delays(loop, low, high)) * float(states_with(loop, high)) ** 3


def states_with(loop: Loop, delay: float) -> int:
    """Return how many states a sampled loop has with another `delay` (s)."""
    other: Any = np.asarray(delay)  # no array of JAX, which a warm command does without
    late = replace(loop, delay=other)
    return Layout(late, hyperperiod_of(late)).size


def _tried_delays(loop: Loop, low: float, high: float) -> Float[np.ndarray, "k"]:
    """Return the delays (s) from `low` to `high` that are tried first, ascending and the loop's own among them."""
    assert loop.hold is not None
    hold, own = float(loop.hold), float(loop.delay)
    marks = np.sort(delay_instants(loop))
    ends = np.append(marks, marks[0] + 1)
    places = PLACES if len(marks) <= MANY else FEW
    within = (marks[:, None] + np.diff(ends)[:, None] * places).ravel()
    turns = np.arange(np.floor(low / hold) - 1, np.ceil(high / hold))
    delays = hold * (turns[:, None] + within).ravel()
    delays = np.union1d(delays[(delays > low) & (delays < high)], [low, high])
    return np.union1d(delays, own) if low <= own <= high else delays


def _growth_over_delays(loop: Loop, low: float, high: float) -> tuple[Float[np.ndarray, "k"], Float[np.ndarray, "k"]]:
    """Return delays (s) from `low` to `high`, ascending and the loop's own among them, and the growth rates (1/s) there."""
    delays = _tried_delays(loop, low, high)
    found = growth_rates(vary_number(loop, "delay", delays))
    for _ in range(ROUNDS):
        middle = found[1:-1]
        towards = np.where(middle < 0, 1, -1)  # a peak below zero, a dip above it
        turning = (towards * (middle - found[:-2]) > 0) & (towards * (middle - found[2:]) > 0)
        at = np.flatnonzero(turning) + 1
        if not len(at):
            break
        finer = np.setdiff1d(np.linspace(delays[at - 1], delays[at + 1], FINER)[1:-1].ravel(), delays)
        delays, found = np.append(delays, finer), np.append(found, growth_rates(vary_number(loop, "delay", finer)))
        order = np.argsort(delays, kind="stable")
        delays, found = delays[order], found[order]
    return delays, found


def delay_instants(loop: Loop) -> Float[np.ndarray, "instants"]:
    """Return delays, in hold periods and less than one, at which what is delayed comes at an instant of hold, sensor or
    dynamics.

    At these, and at whole hold periods more, the growth rate may jump. The middle of a mean is half its window older.
    """
    assert loop.hold is not None
    hyperperiod, hold = hyperperiod_of(loop), float(loop.hold)
    marks = {
        float(mark % 1)
        for count in (hyperperiod.holds, hyperperiod.samples, hyperperiod.steps)
        for mark in hyperperiod.instants(count)
    }
    if loop.dynamics == "half-period":
        assert loop.dynamics_period is not None
        marks.add(1 - float(loop.dynamics_period) / (2 * hold) % 1)
    older = float(loop.sample_period()) / (2 * hold) if hyperperiod.averages else 0.0
    return np.unique((np.array(sorted(marks)) + older) % 1)


def _snap_to_instants(edges: Float[np.ndarray, "edges"], loop: Loop) -> Float[np.ndarray, "edges"]:
    """Return the edges (s), those that are at an instant of the loop to rounding exactly there."""
    hold = float(np.asarray(loop.hold))
    for mark in delay_instants(loop):
        near = hold * (np.round(edges / hold - mark) + mark)
        edges = np.where(np.abs(edges - near) < 4 * EDGE * hold, near, edges)
    return edges


def gains_take_long(loop: Loop) -> bool:
    """Tell whether `stabilising_gains` would take longer than `MOST_WORK`: where many commands are under way."""
    return loop.sampled() and 2 * len(GAINS) * float(states_with(loop, float(loop.delay))) ** 3 > MOST_WORK


def stabilising_gains(loop: Loop) -> list[list[float | None]]:
    """Return intervals of compensator gain (N s/m) in which the loop is stable; None is an end beyond 1000 √(K m)."""
    tried = GAINS * np.sqrt(float(loop.stiffness) * float(loop.effective_mass))
    values = np.union1d(np.concatenate([-tried[::-1], [0.0], tried]), float(loop.gain))
    found = growth_rates(vary_number(loop, "gain", values))
    return [
        [low if np.isfinite(low) else None, high if np.isfinite(high) else None]
        for low, high in _stable_intervals(
            -np.inf, _located_changes(loop, "gain", values, found), np.inf, bool(found[0] < 0)
        )
    ]


def gain_margin(growth: Callable[[Float[np.ndarray, "k"]], Float[np.ndarray, "k"]]) -> float:
    """Return the factor by which all that is measured may grow until a loop becomes unstable, the gain margin as a number.

    Below one for a loop that is unstable: the largest factor below with which it would be stable, zero where there is none.
    Infinite where no factor up to 1000 destabilises it. `growth` gives the growth rates (1/s) for factors.
    """
    stable = bool(growth(np.ones(1))[0] < 0)
    values = FACTORS if stable else 1 / FACTORS
    found = growth(values)
    changed = np.flatnonzero((found < 0) != stable)
    if not len(changed):
        return np.inf if stable else 0.0
    at = changed[:1]
    ends = values[at - 1, None], values[at, None], found[at - 1], found[at]
    return float(locate_sign_changes(lambda points: growth(points[:, 0]), *ends, CLOSE * float(values[at[0]]))[0, 0])


def restitution_of_loop(loop: Loop) -> float | None:
    """Return the restitution of a conservative bounce in this loop: contact undamped, nothing compensated.

    Exact for a loop with a delay alone; else that of half an oscillation, exp(π σ / ω) with σ + j ω the rightmost root.
    None where the motion does not oscillate.
    """
    zero: Any = np.zeros(())
    bare = replace(loop, damping=zero, gain=zero, inertia=zero, lead=zero, second_lead=zero, virtual_damping=zero)
    if not loop.sampled() and loop.robot is None and not float(loop.virtual_stiffness):
        return apparent_restitution(float(loop.delay), float(loop.stiffness), float(loop.effective_mass))
    root = contact_root(bare, loop_roots(batch_of_one(bare), 1)[0])
    return float(np.exp(np.pi * root.real / abs(root.imag))) if root is not None and root.imag else None


def ideal_root(loop: Loop) -> complex | None:
    """Return the root (1/s) of the contact alone, m s² + (B + B_v) s + K + K_v = 0; None where it does not oscillate."""
    decay, square = (float(part) for part in ideal_decay(loop))
    return complex(-decay, np.sqrt(square)) if square > 0 else None


def ideal_decay(loop: Any) -> tuple[Float[Array, ""], Float[Array, ""]]:  # noqa: ANN401, a `Loop` or these of its numbers
    """Return the decay (1/s) of the contact alone, and the square of its frequency (1/s²), below zero where it does not
    oscillate."""
    decay = (loop.damping + loop.virtual_damping) / (2 * loop.effective_mass)
    return decay, (loop.stiffness + loop.virtual_stiffness) / loop.effective_mass - decay**2


def contact_root(loop: Loop, roots: Complex[np.ndarray, "count"]) -> complex | None:
    """Return the rightmost of the `roots` (1/s) where it is the contact's own oscillation: none of them is nearer to the ideal
    one.

    The frequency of a sampled loop's root is known but for turns in a cycle; the one next to the ideal is taken. None
    where the contact alone does not oscillate, and where another motion decides.
    """
    ideal, found = ideal_root(loop), roots[np.isfinite(roots)]
    if ideal is None or not len(found):
        return None
    frequencies = np.abs(found.imag)
    if loop.sampled():
        turn = 2 * np.pi / (float(np.asarray(loop.hold)) * hyperperiod_of(loop).holds)
        frequencies = np.stack([side * frequencies for side in (-1, 1)])
        frequencies = frequencies + turn * np.round((ideal.imag - frequencies) / turn)
        closer = np.argmin(np.abs(frequencies - ideal.imag), axis=0)
        frequencies = frequencies[closer, np.arange(len(found))]
    apart = np.abs(found.real + 1j * frequencies - ideal)
    own = complex(found[0].real, frequencies[0])
    return own if found[0].imag and apart[0] <= apart.min() * (1 + 1e-9) else None


def amplitude_ratio(loop: Loop, root: complex | None) -> float | None:
    """Return the amplitude after an oscillation of the ideal contact, over that of the ideal contact; None without
    oscillation."""
    ideal = ideal_root(loop)
    return None if ideal is None or root is None else float(np.exp((root - ideal).real * 2 * np.pi / ideal.imag))


def phase_error(loop: Loop, root: complex | None) -> float | None:
    """Return the phase (rad) gained on the ideal contact over one of its oscillations; None without oscillation."""
    ideal = ideal_root(loop)
    return None if ideal is None or root is None else float((root.imag - ideal.imag) * 2 * np.pi / ideal.imag)


def steady_state_error(loop: Loop) -> float:
    """Return the force left on the model per unit of a force step, in a stable loop (SITS, eqs. 41, 42).

    At rest the delayed contact and the one in software balance the step together.
    """
    if loop.sampled():
        return SampledLoop(loop).steady_state_error()
    matrices = matrices_of(loop)
    push = np.zeros(matrices.shape[-1])
    push[1] = 1 / float(loop.moved_mass)
    settled = np.linalg.solve(-matrices.sum(axis=0), push)
    late = float(loop.moved_mass) * (matrices[1] @ settled)[1]
    return float(1 + late - float(loop.virtual_stiffness) * settled[0])
