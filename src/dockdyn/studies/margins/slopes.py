"""A margin as a function of the scenario's numbers: its whole derivative, the nominal contact moving with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.deferred import Array, Complex, Float, PyTree, jax, jnp
from dockdyn.docking.operating_point import Nominal
from dockdyn.docking.resting import delayed_loop, nominal_loop, nominal_of
from dockdyn.integrate.model import Scalar
from dockdyn.results.linearised import Leaves, Numbers, by_differences, content_of
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import Place
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named
from dockdyn.stability.characteristic import joint_root_slopes
from dockdyn.stability.growth import batch_of_one, multiplier_slopes
from dockdyn.stability.multirate import Hyperperiod, hyperperiod_of
from dockdyn.studies.margins.answer import margins
from dockdyn.studies.margins.derivatives import (
    ALIKE,
    Parts,
    assemble_loop,
    assemble_once,
    deciding_roots,
    instants_coincide,
)
from dockdyn.trees import Structure, combine, is_real_array, leaves_of, map_leaves, split

GROWTH, CRITICAL = "growth_rate_1_s", "critical_delay_s"


def margin_of(scenario: Scenario, of: str) -> float:
    """Return a margin by its name in the answer of `margins`. Raises ScenarioError where the loop has none."""
    value = margins(scenario)[of]
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
    if loop.behind is not None:
        words = "no derivative of a loop with a mechanism in it and more than loop.delay"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}; must be the margin of another one")
    at_edge = of != GROWTH
    lateness = float(loop.delay)
    delay = (value if of == CRITICAL else value + lateness) if at_edge else lateness
    if at_edge and not delay > 0:
        words = "the loop is unstable with the shortest delay already"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}; must be {GROWTH}")
    if loop.sampled() and delay and instants_coincide(loop, delay):
        words = f"no derivative: the delay of {delay:g} s ends at an instant of the loop, where growth jumps or bends"
        raise ScenarioError(f"{scenario.name}: --of {of}: {words}")
    late: Any = np.float64(delay)
    hyperperiod = hyperperiod_of(batch_of_one(replace(loop, delay=late))) if loop.sampled() else None
    parts = map_leaves(np.asarray, assemble_once(content, nominal, late, hyperperiod=hyperperiod))
    slopes: Any
    if hyperperiod is None:
        root, count = deciding_roots(content, nominal, loop, delay)
        slopes = joint_root_slopes(root, parts[0], parts[1], count)
    else:
        count, (_, slopes) = 1, multiplier_slopes(*parts)
        slopes = map_leaves(lambda part: part[None, None], slopes)

    def judged(values: Leaves) -> tuple[Any, Any]:
        """Return the numbers of the scenario with what is tuned, and its nominal contact."""
        case = setup_named(scenario.setup).tuned(replace(scenario, content=own.content(values)))
        return Numbers.of(case.content).values, nominal_of(case)

    whole = Numbers.of(content)
    floats, fixed = split(map_leaves(np.asarray, nominal), is_real_array)

    def along(turned: Any, entry: Any) -> Float[np.ndarray, "3"]:  # noqa: ANN401, trees
        numbers = whole.values, floats
        return np.stack(
            _slope_along(
                numbers, turned, whole.arrays, fixed, late, entry, hyperperiod=hyperperiod, structure=whole.structure
            )
        )

    found = []
    for place in places:
        turned = by_differences(judged, own.values, place.direction(len(own.values)), scenario.name)[1]
        by_number, by_delay, later = np.moveaxis(_joint_changes(slopes, partial(along, turned)), -1, 0)
        slope, steepness = _common_slope(by_number), _common_slope(by_delay)
        if at_edge:  # where the growth is zero the delay h moves with it: ∂h = −∂growth / (∂growth/∂h)
            slope = -slope / steepness if steepness else float("nan")
            slope += float(later[0, 0].real) if of == CRITICAL else 0.0
        found.append(slope)
    return value, found


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
