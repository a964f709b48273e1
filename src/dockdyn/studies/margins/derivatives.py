"""What a margin depends on: its derivative with respect to every number of the scenario, by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Complex, Float, PyTree, jax, jnp
from dockdyn.docking.operating_point import Judged, Nominal
from dockdyn.docking.resting import counts_all, delayed_loop, loop_in_numbers, seen_matrices
from dockdyn.integrate.model import Scalar, over_rows
from dockdyn.results.linearised import Numbers, content_of
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.keys import constraint_on, key_of
from dockdyn.scenario.language.places import conjugate_pairs
from dockdyn.stability.characteristic import joint_root_slopes, root_slopes
from dockdyn.stability.growth import batch_of_one, growth_of_each, matrices_of, multiplier_slopes
from dockdyn.stability.linearise import Linear
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import delay_instants
from dockdyn.stability.multirate import Hyperperiod, hyperperiod_of
from dockdyn.stability.sampled import cycle_map
from dockdyn.stability.windows import moved_roots
from dockdyn.trees import flatten, leaves_of, leaves_with_paths, map_leaves

SMALL = 1e-6  # of the largest sensitivity: smaller ones are left out
NEARBY = 1e-6  # of a hold period: how far on either side of an instant slopes are compared
ALIKE = 1e-3  # of the largest slope: how far the two sides may differ
NEXT = 4  # rightmost roots among which those are that are one: two pairs
ONE = 1e-8  # of a root: others as close are it
BESIDE = 1e-5  # of a number: how far it is varied where slopes are differences
JUMPS = 1.0  # of a slope: a bend that is a jump
COINCIDE = 1e-8  # of a hold period: instants closer than this are one
PERIODS = {
    "loop.hold.period": "hold",
    "loop.sensor.period": "sensor_period",
    "loop.dynamics.period": "dynamics_period",
    "loop.sensor.averaging": "averaging",
}
DELAYS = ("loop.delay", "loop.sensor.delay")

# of a loop without instants A₀, A₁ (1/s) and its delays (s), of a sampled one its map over a cycle and the cycle (s)
type Parts = tuple[Array, Array]


class Sensitivities(NamedTuple):
    """What a margin depends on."""

    slopes: dict[str, float]  # by key, or by keys that change together, joined by ", "
    doubts: list[str]  # which keys have no slope, and why


def margin_sensitivities(content: Judged, nominal: Nominal, loop: Loop, critical: float | None) -> Sensitivities:
    """Return the change of the margin for a change of each number of the scenario by its own size, the largest first.

    The margin is the delay margin (s) where there is a critical delay above zero, else the growth rate (1/s). The pose of
    a predicted first contact is held. Numbers that a rig can only change together are scaled together: periods that
    have one ratio, the parts of a pair of poles or zeros, the two equal products of an inertia.
    """
    at_edge = critical is not None and critical > 0
    delay = float(critical if at_edge and critical is not None else loop.delay)
    values = _named_numbers([leaf for leaf in leaves_of(content) if not np.ndim(leaf)], content)
    groups = _tied_keys(content, loop, values)
    doubts: list[str] = []
    if loop.behind is not None:
        found, doubts = _slopes_by_differences(content, nominal, loop, at_edge, delay, groups, values)
    elif not (loop.sampled() and delay and instants_coincide(loop, delay)):
        root, count = (0j, 1) if loop.sampled() else deciding_roots(content, nominal, loop, delay)
        if count > 1:
            changes = _joint_changes(content, nominal, root, count, delay)
            found, doubts = _slopes_of_roots_that_are_one(changes, root, at_edge, groups, values)
        else:
            _, slopes = _named_slopes(content, nominal, loop, at_edge, delay, delay)
            found = {", ".join(keys): sum(slopes[key] * values[key] for key in keys) for keys in groups}
    else:
        longest = delay + NEARBY * float(loop.hold)  # type: ignore[arg-type]
        slopes_at = partial(_named_slopes, content, nominal, loop, at_edge, longest)
        found, doubts = _slopes_at_instant(slopes_at, loop, delay, at_edge, groups, values)
    largest = max((abs(value) for value in found.values()), default=0.0)
    kept = {
        name: value
        for name, value in found.items()
        if abs(value) > SMALL * largest
        and (", " in name or not constraint_on(name))  # those of a group change together
    }
    return Sensitivities(dict(sorted(kept.items(), key=lambda item: -abs(item[1]))), doubts)


def _slopes_of_roots_that_are_one(
    changes: tuple[dict[str, np.ndarray], np.ndarray],
    root: complex,
    at_edge: bool,
    groups: list[tuple[str, ...]],
    values: dict[str, float],
) -> tuple[dict[str, float], list[str]]:
    """Return sensitivities where several motions decide alike, as those of a body of revolution across its axis: of what parts
    them there is no slope."""
    by_key, by_delay = changes
    steepness = np.linalg.eigvals(by_delay).real
    scale = -1 / steepness.mean() if at_edge else 1.0
    rates = {
        ", ".join(keys): scale * np.linalg.eigvals(sum(values[key] * by_key[key] for key in keys)).real
        for keys in groups
    }
    sizes = {name: float(np.abs(pair).max()) for name, pair in rates.items()}
    least = SMALL * max(sizes.values(), default=0.0)
    parted = [name for name, pair in rates.items() if sizes[name] > least and not np.ptp(pair) <= ALIKE * sizes[name]]
    if at_edge and np.ptp(steepness) > ALIKE * np.abs(steepness).max():
        parted = list(rates)
    found = {name: float(pair.mean()) for name, pair in rates.items() if name not in parted}
    if not parted:
        return found, []
    words = f"{len(steepness)} motions decide alike, at {abs(root.imag):.3g} rad/s: what parts them changes the margin "
    return found, [f"{words}otherwise upwards than downwards; no slope for {', '.join(parted)}"]


def _slopes_at_instant(
    slopes_at: Callable[[float], tuple[float, dict[str, float]]],
    loop: Loop,
    delay: float,
    at_edge: bool,
    groups: list[tuple[str, ...]],
    values: dict[str, float],
) -> tuple[dict[str, float], list[str]]:
    """Return sensitivities where the delay ends at an instant of the loop, on whose two sides growth and slopes may differ."""
    assert loop.hold is not None
    step = NEARBY * float(loop.hold)
    own, slopes = slopes_at(delay)
    (before, left), (after, right) = (slopes_at(delay + side * step) for side in (-1, 1))
    moving = [keys for keys in groups if set(keys) & {*PERIODS, *DELAYS}]
    found = {", ".join(keys): sum(slopes[key] * values[key] for key in keys) for keys in groups if keys not in moving}
    sides = {
        ", ".join(keys): [sum(side[key] * values[key] for key in keys) for side in (left, right)] for keys in moving
    }
    largest = max(map(abs, [*found.values(), *(slope for pair in sides.values() for slope in pair)]), default=0.0)
    steepness = max((abs(slope) / delay for pair in sides.values() for slope in pair), default=0.0)
    jumps = abs(after - before) > 10 * (steepness + abs(own)) * step
    if at_edge and jumps:  # the edge is the instant itself: it moves with the periods, and with nothing else
        return _slopes_of_instant(loop, delay, moving, values, before, after)
    uneven = [name for name, pair in sides.items() if jumps or abs(pair[1] - pair[0]) > ALIKE * largest]
    found |= {name: sum(pair) / 2 for name, pair in sides.items() if name not in uneven}
    if not uneven:
        return found, []
    words = f"the delay of {delay:g} s ends at an instant of the loop: the growth rate is {before:.3g} 1/s just below, "
    return found, [f"{words}{after:.3g} 1/s just above; no slope for {', '.join(uneven)}"]


def _slopes_of_instant(
    loop: Loop, delay: float, moving: list[tuple[str, ...]], values: dict[str, float], before: float, after: float
) -> tuple[dict[str, float], list[str]]:
    """Return sensitivities of a margin that ends at an instant of the loop, where growth (1/s) jumps: those of the instant."""
    found = {", ".join(keys): _edge_slope(loop, delay, keys) - _values_of(keys, DELAYS, values) for keys in moving}
    words = f"the critical delay of {delay:g} s is an instant of the loop, where the growth rate jumps from "
    return found, [f"{words}{before:.3g} to {after:.3g} 1/s: it moves with the periods alone"]


def _slopes_by_differences(
    content: Judged,
    nominal: Nominal,
    loop: Loop,
    at_edge: bool,
    delay: float,
    groups: list[tuple[str, ...]],
    values: dict[str, float],
) -> tuple[dict[str, float], list[str]]:
    """Return sensitivities of a loop with a mechanism in it, by numbers a little larger and smaller: what is behind its
    contacts is reduced to what they see, which cannot be traced. Where the two sides differ there is no slope."""
    own, sides, late = Numbers.of(content), (1 - BESIDE, 1 + BESIDE), delay - float(loop.delay)
    places = _named_numbers([at for at, leaf in enumerate(leaves_of(content)) if not np.ndim(leaf)], content)

    def loop_with(keys: tuple[str, ...], factor: float) -> Loop:
        numbers = own.values.copy()
        numbers[[int(places[key]) for key in keys]] *= factor
        return delay_more(loop_in_numbers(own.content(numbers), nominal)[0], late)

    varied = {", ".join(keys): keys for keys in groups if any(values[key] for key in keys)}
    loops = [loop_with(keys, factor) for keys in varied.values() for factor in sides]
    delays = [delay_more(loop, late + delay * (factor - 1)) for factor in (1, *sides)]
    growth, *found = growth_of_each([*delays, *loops])
    pairs = np.reshape(found, (-1, 2))
    slopes, bends = np.diff(pairs)[:, 0] / (2 * BESIDE), np.abs(pairs.sum(axis=1) - 2 * growth) / BESIDE
    if at_edge:
        if bends[0] > JUMPS * abs(slopes[0]):
            moving = [keys for keys in groups if set(keys) & {*PERIODS, *DELAYS}]
            return _slopes_of_instant(loop, delay, moving, values, *pairs[0])
        slopes, bends = -slopes * delay / slopes[0], bends * delay / abs(slopes[0])
    largest = np.nanmax(np.abs(slopes[1:]), initial=0.0)
    uneven = ~(
        bends[1:] <= ALIKE * largest
    )  # or not known, as of an exponent that leaves no stiffness where contact begins
    kept = {name: float(slope) for name, slope, out in zip(varied, slopes[1:], uneven, strict=True) if not out}
    if not uneven.any():
        return kept, []
    words = ", ".join(name for name in varied if name not in kept)
    return kept, [f"the margin changes otherwise upwards than downwards; no slope for {words}"]


def delay_more(loop: Loop, by: float) -> Loop:
    """Return a loop in numbers with so much (s) more delay."""
    late: Any = np.asarray(loop.delay) + by
    return replace(loop, delay=late)


def _values_of(keys: Sequence[str], among: Sequence[str], values: dict[str, float]) -> float:
    """Return the sum of the values of those of the `keys` that are `among` others."""
    return sum(values[key] for key in keys if key in among)


def _edge_slope(loop: Loop, delay: float, keys: Sequence[str], step: float = 1e-4) -> float:
    """Return by how much an instant of the loop at a `delay` (s) moves for all of the periods `keys` by their own size (s)."""
    fields = [field for key, field in PERIODS.items() if key in keys]
    if "dynamics_period" in fields and loop.is_stepped():
        fields.append("hold")  # tied to it, or the same
    changes: dict[str, Any] = {name: np.asarray(getattr(loop, name)) * (1 + step) for name in fields}
    scaled = replace(loop, **changes)
    return float(_nearest_instant(scaled, delay) - _nearest_instant(loop, delay)) / step


def _nearest_instant(loop: Loop, delay: float) -> float:
    """Return the instant of the loop (s) that is nearest to a `delay` (s)."""
    hold, marks = float(np.asarray(loop.hold)), delay_instants(loop)
    instants = hold * (np.round(delay / hold - marks) + marks)
    return float(instants[np.argmin(np.abs(instants - delay))])


def instants_coincide(loop: Loop, delay: float) -> bool:
    """Return whether what is delayed (s) comes at an instant of the loop."""
    return abs(_nearest_instant(loop, delay) - delay) < COINCIDE * float(np.asarray(loop.hold))


def _tied_keys(content: Judged, loop: Loop, values: dict[str, float]) -> list[tuple[str, ...]]:
    """Return every key of `values` once, with those that it can change with only."""
    groups = []
    if loop.sampled():
        hyperperiod = hyperperiod_of(loop)
        moved = [True, bool(loop.sensor_period is not None), loop.is_stepped(), hyperperiod.averages]
        groups.append(tuple(key for key, tied in zip(PERIODS, moved, strict=True) if tied and key in values))
    robot = content.loop.robot
    if robot is not None:
        for name, places in (("poles", robot.poles), ("zeros", robot.zeros)):
            pairs = conjugate_pairs(places or []).items()
            groups += [
                tuple(f"loop.robot.{name}.{index}.{part}" for index in pair)
                for pair in pairs
                if pair[0] < pair[1]
                for part in (0, 1)
            ]
    for key in values:
        body, inertia, place = key.partition(".inertia.")
        row, _, column = place.partition(".")
        if inertia and row < column:
            groups.append((key, f"{body}{inertia}{column}.{row}"))
    groups = [keys for keys in groups if len(keys) > 1]
    together = {key for keys in groups for key in keys}
    return [*groups, *((key,) for key in values if key not in together)]


def _named_slopes(
    content: Judged, nominal: Nominal, loop: Loop, at_edge: bool, longest: float, delay: float
) -> tuple[float, dict[str, float]]:
    """Return the growth rate (1/s) with a `delay` (s, up to the `longest`), and the derivative of the margin there by each
    key."""
    last: Any = np.float64(longest)
    hyperperiod = hyperperiod_of(batch_of_one(replace(loop, delay=last))) if loop.sampled() else None
    parts = map_leaves(np.asarray, assemble_once(content, nominal, np.float64(delay), hyperperiod=hyperperiod))
    if hyperperiod is None:
        growth, slopes = root_slopes(deciding_roots(content, nominal, loop, delay)[0], *parts)
    else:
        growth, slopes = multiplier_slopes(*parts)
    real = (np.real(slopes[0]), np.real(slopes[1]))
    *found, steepness = np.asarray(_slopes_once(content, nominal, np.float64(delay), real, hyperperiod=hyperperiod))
    named = _named_numbers(found, content)
    with np.errstate(divide="ignore", invalid="ignore"):
        # where the growth is zero the delay h moves with it: ∂h = −∂growth / (∂growth/∂h)
        scale = np.divide(-1.0, steepness) if at_edge else 1.0
        return growth.real, {key: float(scale * slope) for key, slope in named.items()}


def _joint_changes(
    content: Judged, nominal: Nominal, root: complex, count: int, delay: float
) -> tuple[dict[str, Complex[np.ndarray, "count count"]], Complex[np.ndarray, "count count"]]:
    """Return the matrices whose eigenvalues tell how so many roots that are one change (1/s) with each key, and with the
    delay."""
    late = np.float64(delay)
    matrices, delays = map_leaves(np.asarray, assemble_once(content, nominal, late, hyperperiod=None))
    slopes = joint_root_slopes(root, matrices, delays, count)

    def changes(row: int, column: int) -> np.ndarray:
        real, imaginary = (
            np.asarray(
                _slopes_once(content, nominal, late, (side(slopes[0][row, column]), side(slopes[1][row, column])), None)
            )
            for side in (np.real, np.imag)
        )
        return np.asarray(real + 1j * imaginary)

    found = np.array([[changes(row, column) for column in range(count)] for row in range(count)])
    places = _named_numbers(range(found.shape[-1] - 1), content)
    return {key: found[..., int(place)] for key, place in places.items()}, found[..., -1]


def _named_numbers(numbers: Sequence[Any], content: PyTree) -> dict[str, float]:
    """Return numbers, one for each leaf of `content` that is one, by the keys of the leaves; arrays, as of meshes, have
    none."""
    leaves = [path for path, leaf in leaves_with_paths(content) if not np.ndim(leaf)]
    return {key_of(path, content): float(value) for path, value in zip(leaves, numbers, strict=True)}


def deciding_roots(content: Judged, nominal: Nominal, loop: Loop, delay: float) -> tuple[complex, int]:
    """Return the rightmost root (1/s) with a `delay` (s), of all closed contacts where they count, else of the `loop`; and how
    many there are that are it."""
    several = counts_all(content, nominal)
    matrices = seen_matrices(content, nominal) if several else matrices_of(loop)
    roots, _, _ = moved_roots(matrices, np.array([delay]), NEXT)
    return complex(roots[0]), int(np.sum(np.abs(roots - roots[0]) <= ONE * np.abs(roots[0])))


def _with_delay(loop: Loop | Linear, delay: Scalar) -> Loop | Linear:
    """Return the same with another delay (s)."""
    return loop._replace(delay=delay) if isinstance(loop, Linear) else replace(loop, delay=delay)


def assemble_loop(content: Judged, nominal: Nominal, delay: Scalar, hyperperiod: Hyperperiod | None) -> Parts:
    """Return what growth comes from, at a `delay` (s) that the scenario's own enters by its changes."""
    loop = delayed_loop(content, nominal)
    late: Any = _with_delay(loop, delay + loop.delay - jax.lax.stop_gradient(loop.delay))
    return growth_parts(late, hyperperiod)


def growth_parts(loop: Loop | Linear, hyperperiod: Hyperperiod | None) -> Parts:
    """Return what the growth of a loop's motions comes from; can be traced."""
    if hyperperiod is None:
        return loop.matrices(), jnp.asarray(loop.delay)[None]
    assert isinstance(loop, Loop)
    whole = cycle_map(loop, hyperperiod)
    return whole.monodromy, whole.period


assemble_once = jit_once(assemble_loop, static=("hyperperiod",))


@partial(jit_once, static=("hyperperiod",))
def _slopes_once(
    content: Judged, nominal: Nominal, delay: Scalar, slopes: Parts, hyperperiod: Hyperperiod | None
) -> Float[Array, "numbers"]:
    """Return slopes in every number of `content`, and in the delay, from those in the parts: forwards, one after the other,
    which compiles sooner."""
    leaves, structure = flatten((content, delay))
    places = [place for place, leaf in enumerate(leaves) if not jnp.ndim(leaf)]

    def linear(numbers: Float[Array, "numbers"]) -> Scalar:
        varied, late = content_of(structure, leaves, dict(zip(places, numbers, strict=True)))
        parts = assemble_loop(varied, nominal, late, hyperperiod)
        return sum(((slope * part).sum() for slope, part in zip(slopes, parts, strict=True)), jnp.zeros(()))

    here = jnp.stack([jnp.asarray(leaves[place], float) for place in places])
    return over_rows(lambda along: jax.jvp(linear, (here,), (along,))[1], jnp.eye(len(places)))
