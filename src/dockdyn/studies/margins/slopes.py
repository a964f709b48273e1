"""A margin as a function of the scenario's numbers: its whole derivative, the nominal contact moving with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.deferred import Array, Complex, Float, PyTree, jax, jnp
from dockdyn.docking.operating_point import Nominal
from dockdyn.docking.resting import delayed_loop, loop_in_numbers, nominal_loop, nominal_of
from dockdyn.integrate.model import Scalar
from dockdyn.results.linearised import ZERO, Leaves, Numbers, by_differences, content_of
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import Place
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named
from dockdyn.stability.characteristic import joint_root_slopes
from dockdyn.stability.growth import batch_of_one, growth_of_each, multiplier_slopes
from dockdyn.stability.loop import Loop
from dockdyn.stability.multirate import Hyperperiod, hyperperiod_of
from dockdyn.studies.margins.answer import critical_delay
from dockdyn.studies.margins.derivatives import (
    ALIKE,
    BESIDE,
    Parts,
    assemble_loop,
    assemble_once,
    deciding_roots,
    delay_more,
    instants_coincide,
)
from dockdyn.studies.margins.judged_loop import judge_tuned_loop
from dockdyn.trees import Structure, combine, is_real_array, leaves_of, map_leaves, split

GROWTH, CRITICAL = "growth_rate_1_s", "critical_delay_s"


def margin_of(scenario: Scenario, of: str) -> float:
    """Return a margin by its name in the answer of `margins`. Raises ScenarioError where the loop has none."""
    judged = judge_tuned_loop(scenario)
    critical, _ = critical_delay(judged.roots.windows, judged.delay, judged.stable)
    value = critical if of == CRITICAL else None if critical is None else critical - judged.delay
    if of == GROWTH:
        value = judged.growth
    if value is None:
        words = "no delay that was looked at makes the loop unstable"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}; must be {GROWTH}")
    return float(value)


def margin_slopes(scenario: Scenario, of: str, places: Sequence[Place]) -> tuple[float, list[float]]:
    """Return a margin, and its derivative with respect to every place, by the implicit function theorem at the root.

    The nominal contact moves with the numbers, by differences of how it is found. Raises ScenarioError where there is no
    such margin, and where the delay ends at an instant of a sampled loop, on whose two sides growth differs.
    """
    value = margin_of(scenario, of)
    tuned = setup_named(scenario.setup).tuned(scenario)
    own, content = Numbers.of(scenario.content), tuned.content
    nominal = nominal_of(tuned)
    loop, _ = nominal_loop(tuned, nominal)
    at_edge = of != GROWTH
    lateness = float(loop.delay)
    delay = (value if of == CRITICAL else value + lateness) if at_edge else lateness
    if at_edge and not delay > 0:
        words = "the loop is unstable with the shortest delay already"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}; must be {GROWTH}")
    if loop.sampled() and delay and instants_coincide(loop, delay):
        words = f"no derivative: the delay of {delay:g} s ends at an instant of the loop, where growth jumps or bends"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}")

    def judged(values: Leaves) -> tuple[Any, Any]:
        """Return the numbers of the scenario with what is tuned, and its nominal contact."""
        case = setup_named(scenario.setup).tuned(replace(scenario, content=own.content(values)))
        return Numbers.of(case.content).values, nominal_of(case)

    whole = Numbers.of(content)
    floats, fixed = split(map_leaves(np.asarray, nominal), is_real_array)
    changes = _changes_beside if loop.behind is not None else _changes_at
    changes_along = changes(whole, (floats, fixed), loop, delay)
    found = []
    for place in places:
        turned = by_differences(judged, own.values, place.direction(len(own.values)), scenario.name)[1]
        by_number, by_delay, later = np.moveaxis(changes_along(turned, place.value), -1, 0)
        slope, steepness = _common_slope(by_number), _common_slope(by_delay)
        if at_edge:  # where the growth is zero the delay h moves with it: ∂h = −∂growth / (∂growth/∂h)
            slope = -slope / steepness if steepness else float("nan")
            slope += float(later[0, 0].real) if of == CRITICAL else 0.0
        found.append(slope)
    return value, found


type Turned = tuple[Leaves, Any]  # how the numbers and the nominal contact change with one of the scenario
# by how they change, and that number, of motions that decide alike: growth (1/s), its change by the delay (1/s²), own delay (s)
type Changes = Callable[[Turned, float], Complex[np.ndarray, "count count 3"]]


def _changes_at(whole: Numbers, nominal: tuple[Any, Any], loop: Loop, delay: float) -> Changes:
    """Return what changes along numbers, by derivatives; the nominal contact is in its floats and what else it is."""
    floats, fixed = nominal
    late: Any = np.float64(delay)
    content, rest = whole.content(whole.values), combine(floats, fixed)
    hyperperiod = hyperperiod_of(batch_of_one(replace(loop, delay=late))) if loop.sampled() else None
    parts = map_leaves(np.asarray, assemble_once(content, rest, late, hyperperiod=hyperperiod))
    slopes: Any
    if hyperperiod is None:
        root, count = deciding_roots(content, rest, loop, delay)
        slopes = joint_root_slopes(root, parts[0], parts[1], count)
    else:
        slopes = map_leaves(lambda part: part[None, None], multiplier_slopes(*parts)[1])

    def along(turned: Turned, entry: Any) -> Float[np.ndarray, "3"]:  # noqa: ANN401, trees
        numbers, kept = (whole.values, floats), (whole.arrays, fixed, late, entry)
        return np.stack(_slope_along(numbers, turned, *kept, hyperperiod=hyperperiod, structure=whole.structure))

    return lambda turned, _: _joint_changes(slopes, partial(along, turned))


def _changes_beside(whole: Numbers, nominal: tuple[Any, Any], loop: Loop, delay: float) -> Changes:
    """Return the same of a loop with a mechanism in it, by differences: what is behind its contacts is reduced to what they
    see, which cannot be traced."""
    late, (floats, fixed) = delay - float(loop.delay), nominal
    by_delay = _slope_beside(lambda by: delay_more(loop, late + by), delay)[0] if delay else 0.0

    def along(turned: Turned, value: float) -> Complex[np.ndarray, "1 1 3"]:
        def loop_at(change: float) -> Loop:
            rest = combine(map_leaves(lambda number, turn: number + change * turn, floats, turned[1]), fixed)
            return delay_more(loop_in_numbers(whole.content(whole.values + change * turned[0]), rest)[0], late)

        slope, later = _slope_beside(loop_at, value, abs(by_delay * delay))
        return np.array([[[slope, by_delay, later]]], complex)

    return along


def _slope_beside(loop_at: Callable[[float], Loop], value: float, size: float = 0.0) -> tuple[float, float]:
    """Return how growth (1/s) changes with a change of a number that has a `value`, NaN where otherwise to either side; and how
    the loop's own delay does. Changes much smaller than a `size` (1/s), or than growth, are not looked at so closely."""
    step = BESIDE * (abs(value) or ZERO)
    loops = [loop_at(change) for change in (-step, 0.0, step)]
    below, here, above = growth_of_each(loops)
    slope, bend = (above - below) / (2 * step), abs(above + below - 2 * here) / step
    if loops[0].delay < 0 or not bend * abs(value) <= ALIKE * max(abs(slope * value), abs(here), size):
        slope = float("nan")
    return float(slope), float(loops[2].delay - loops[0].delay) / (2 * step)


def _joint_changes(
    slopes: PyTree, along: Callable[[PyTree], Float[np.ndarray, "3"]]
) -> Complex[np.ndarray, "count count 3"]:
    """Return what each entry of `slopes`, of motions that decide alike, comes to `along` something; of one motion the real part
    alone."""
    count = leaves_of(slopes)[0].shape[0]

    def one(row: int, column: int) -> np.ndarray:
        entry = map_leaves(lambda part: part[row, column], slopes)
        real = along(map_leaves(np.real, entry))
        return real + 0j if count == 1 else real + 1j * along(map_leaves(np.imag, entry))

    return np.array([[one(row, column) for column in range(count)] for row in range(count)])


def _common_slope(changes: Complex[np.ndarray, "count count"]) -> float:
    """Return how the growth of motions that decide alike changes (1/s); NaN where they part."""
    if not np.isfinite(changes).all():
        return float("nan")
    each = np.linalg.eigvals(changes).real
    return float(each.mean()) if np.ptp(each) <= ALIKE * np.abs(each).max() else float("nan")


@partial(jit_once, static=("hyperperiod", "structure"))
def _slope_along(
    numbers: tuple[Leaves, Nominal],
    direction: tuple[Leaves, Nominal],
    arrays: dict[int, Any],
    fixed: Nominal,
    delay: Scalar,
    slopes: Parts,
    hyperperiod: Hyperperiod | None,
    structure: Structure,
) -> tuple[Array, Array, Array]:
    """Return the change of the growth (1/s) along a direction, its change with the delay (1/s²), and that of the loop's own
    delay (s)."""

    def linear(numbers: tuple[Leaves, Nominal], delay: Scalar) -> tuple[Scalar, Scalar]:
        content = content_of(structure, list(numbers[0]), arrays)
        nominal: Any = combine(numbers[1], fixed)
        parts = assemble_loop(content, nominal, delay, hyperperiod)
        growth = sum(((slope * part).sum() for slope, part in zip(slopes, parts, strict=True)), jnp.zeros(()))
        return growth, jnp.asarray(delayed_loop(content, nominal).delay, float)

    _, (slope, later) = jax.jvp(lambda numbers: linear(numbers, delay), (numbers,), (direction,))
    _, (steepness, _) = jax.jvp(lambda delay: linear(numbers, delay), (delay,), (jnp.ones(()),))
    return slope, steepness, later
