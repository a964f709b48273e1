"""A run of the kind `berthing` and its derivatives: the impact, and the motion after it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, PyTree, PyTreeDef

from dockdyn.integrate import adaptive
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.berthing.data import Motion
from dockdyn.kinds.berthing.model import Berthing, Struck
from dockdyn.kinds.berthing.model_observed import observe
from dockdyn.kinds.berthing.run import (
    PIECES,
    build,
    dataset_of_run,
    located_motion,
    method_of,
    samples_of,
    settings_of,
    strike,
    with_gain,
)
from dockdyn.kinds.berthing.stiffness import stiffness
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, by_differences, content_of, tangent_of
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

Arrays = dict[int, Any]  # of a scenario's content, by their places among its leaves


class Begun(NamedTuple):
    """A run just after the impact."""

    values: Leaves  # numbers of the scenario
    arrays: Arrays
    model: Berthing
    struck: Struck
    state: State


class Ran(NamedTuple):
    """A run."""

    rows: State  # states at the samples, then at the moments of the log
    solution: Solution | None  # of located integration
    steps: Any


class Smooth(NamedTuple):
    """How an adaptive run is integrated: piece by piece, as a run that tells its progress is."""

    interval: float  # s, between samples
    tolerance: float
    pieces: int
    rows: int  # samples in a piece
    method: adaptive.Method
    most: int  # steps in a piece


def linearised_berthing(scenario: Scenario) -> LinearisedRun:
    """A run and its derivatives; a regulator's gain changes with the scenario, by differences of its design."""
    content, gained = scenario.content, with_gain(scenario)
    own, whole = Numbers.of(content), Numbers.of(gained)
    designed = next((place for place in whole.arrays if len(whole.values) > len(own.values)), None)
    interval, count = samples_of(content)
    model = build(gained)
    stiff, smooth = float("nan"), None
    settings = settings_of(content, interval, count)
    if model.contact is None:
        stiff, rows = stiffness(model, strike(model)[0], content.duration), -(-count // PIECES)
        tolerance, method = content.integrator.error(located=False), method_of(content, stiff)
        smooth = Smooth(interval, tolerance, -(-count // rows), rows, method, content.integrator.max_steps)

    def gain_of(values: Leaves) -> Any:  # noqa: ANN401, an array
        return with_gain(replace(scenario, content=own.content(values))).control.gain

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        arrays, turned = whole.arrays, {place: np.zeros_like(array) for place, array in whole.arrays.items()}
        spread = direction
        if designed is not None:
            gain, change = by_differences(gain_of, own.values, direction, scenario.name)
            arrays, turned = arrays | {designed: gain}, turned | {designed: change}
            spread = np.insert(direction, designed, 0.0)
        begun, change = _begun((whole.values, arrays), (spread, turned), structure=whole.structure)
        ran, turned_ran = (
            _located(*_floats(begun, change), settings) if smooth is None else _adaptive(begun, change, smooth)
        )
        if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(ran.rows)):
            raise ScenarioError(f"{scenario.name}: stopped before its end; must run to its end")
        seen, turned_seen = _seen(*_floats((begun.model, ran.rows), (change.model, turned_ran.rows)))
        return (begun, ran, seen), (change, turned_ran, turned_seen)

    def dataset(parts: tuple[Begun, Ran, dict[str, np.ndarray]]) -> xr.Dataset:
        begun, ran, seen = parts
        values = begun.values if designed is None else np.delete(begun.values, designed)
        case = replace(scenario, content=own.content(values))
        if ran.solution is not None:
            motion = located_motion(case.content, begun.model, ran.solution, interval)
            samples, moments = int(ran.solution.sampled), int(ran.solution.moments)
            room = len(seen["work"]) - len(ran.solution.log.time)  # rows for samples
            kept = np.r_[:samples, room : room + moments]
        else:
            assert smooth is not None
            states = jax.tree.map(lambda rows: rows[: count + 1], ran.rows)
            motion = Motion(states, interval, True, "finished", smooth.method, int(ran.steps), 0, stiffness=stiff)
            kept = np.arange(count + 1)
        seen = {name: rows[kept] for name, rows in seen.items()}
        return dataset_of_run(case, begun.model, begun.struck, motion, seen, 0.0)

    return LinearisedRun(along, dataset)


def _floats(tree: PyTree, change: PyTree) -> tuple[PyTree, PyTree, PyTree]:
    """What of a tree changes, its change, and the rest."""
    floats, fixed = eqx.partition(jax.tree.map(np.asarray, tree), eqx.is_inexact_array)
    return floats, change, fixed


@partial(jit_once, static=("structure",))
def _begun(
    numbers: tuple[Leaves, Arrays], direction: tuple[Leaves, Arrays], structure: PyTreeDef
) -> tuple[PyTree, PyTree]:
    """A run just after the impact, and its derivatives along a direction in numbers and arrays of the scenario."""

    def found(numbers: tuple[Leaves, Arrays]) -> Begun:
        values, arrays = numbers
        model = content_of(structure, list(values), arrays).model()
        struck = model.struck()
        return Begun(values, arrays, model, struck, model.begun(struck))

    return tangent_of(found, numbers, direction)


@jit_once
def _located(begun: Begun, change: Begun, fixed: Begun, settings: located.Settings) -> tuple[PyTree, PyTree]:
    """A located run and its derivatives along the change of its beginning."""

    def found(begun: Begun) -> Ran:
        whole: Any = eqx.combine(begun, fixed)
        solver = located.init(whole.model, settings, whole.state)
        solution = located.result(located.advance(whole.model, settings, solver, settings.max_iterations))
        assert solution.samples is not None
        rows = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), solution.samples.state, solution.log.state)
        return Ran(rows, solution, solution.steps)

    return tangent_of(found, begun, change)


def _adaptive(begun: Begun, change: Begun, how: Smooth) -> tuple[Ran, Ran]:
    """An adaptive run and its derivatives, piece by piece: the machine code of the first is written better for the later."""
    model, turned = begun.model, change.model
    state, moved = begun.state, change.state
    rows, changes = ([jax.tree.map(lambda leaf: np.asarray(leaf)[None], tree)] for tree in (state, moved))
    steps = 0
    for piece in range(how.pieces):
        times = how.interval * (piece * how.rows + np.arange(how.rows + 1, dtype=float))
        (later, took), (later_change, _) = _piece(
            *_floats((model, state), (turned, moved)),
            times,
            np.float64(how.tolerance),
            method=how.method,
            most=how.most,
        )
        rows.append(jax.tree.map(lambda leaf: np.asarray(leaf)[1:], later))
        changes.append(jax.tree.map(lambda leaf: np.asarray(leaf)[1:], later_change))
        state, moved = (jax.tree.map(lambda leaf: np.asarray(leaf)[-1], tree) for tree in (later, later_change))
        steps += int(took)
    whole, slope = (jax.tree.map(lambda *parts: np.concatenate(parts), *trees) for trees in (rows, changes))
    return Ran(whole, None, np.asarray(steps)), Ran(slope, None, None)


@partial(jit_once, static=("method", "most"))
def _piece(
    begun: tuple[Berthing, State],
    change: tuple[Berthing, State],
    fixed: tuple[Berthing, State],
    times: Array,
    tolerance: Array,
    method: adaptive.Method,
    most: int,
) -> tuple[PyTree, PyTree]:
    """States at some times, how many steps they took, and their derivatives along the change of model and first state."""

    def found(begun: tuple[Berthing, State]) -> tuple[State, Array]:
        model, state = eqx.combine(begun, fixed)
        solved = adaptive.solve(model, times, tolerance, state, method, most)
        return solved.states, solved.steps

    return tangent_of(found, begun, change)


@jit_once
def _seen(parts: PyTree, change: PyTree, fixed: PyTree) -> tuple[PyTree, PyTree]:
    """What is observed of a model at states, and its derivatives."""

    def found(parts: PyTree) -> dict[str, Array]:
        model, rows = eqx.combine(parts, fixed)
        return jax.lax.map(lambda x: observe(model, x), rows)

    return tangent_of(found, parts, change)
