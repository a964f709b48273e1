"""Margins over keys of a scenario: one swept, a chart of two, or a family of charts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Float, Int, jax, jnp
from dockdyn.docking.operating_point import Judged, Nominal
from dockdyn.docking.resting import delayed_loop, growth_of_linears, nominal_of
from dockdyn.results.attributes import study_attributes
from dockdyn.results.drive import Progress
from dockdyn.results.linearised import content_of
from dockdyn.results.plan import jit_once
from dockdyn.scenario.axis import Axis, Sweep, axis_of, number
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.units import whole_number
from dockdyn.scenario.load import Scenario, parse
from dockdyn.scenario.tables.stability import StabilitySection
from dockdyn.stability.chart import Growth, chart_growth, join_polylines, locate_sign_changes
from dockdyn.stability.growth import growth_of_plants, growth_rates
from dockdyn.stability.lanes import in_lanes
from dockdyn.stability.linearise import Linear
from dockdyn.stability.loop import Loop
from dockdyn.studies.margins.answer import margins
from dockdyn.trees import flatten

TOLERANCE = 1e-7  # of an axis: how closely boundaries are located
MOST_KEYS = 3


def parse_sweep(text: str) -> Sweep:
    """Return `KEY=LOW:HIGH:COUNT`; ScenarioError otherwise."""
    key, equals, values = text.partition("=")
    parts = [part.strip() for part in values.split(":")]
    allowed = "must be KEY=LOW:HIGH:COUNT, such as loop.delay=0:0.4:100"
    if not equals or not key.strip() or len(parts) != 3 or not all(parts):
        raise ScenarioError(f"--sweep {text}: {allowed}")
    if not 2 <= (whole_number(parts[2]) or 0) <= 2000:
        raise ScenarioError(f"--sweep {text}: COUNT is {parts[2]}; must be a whole number from 2 to 2000")
    return Sweep(key.strip(), number(parts[0]), number(parts[1]), int(parts[2]))


def stability_dataset(scenario: Scenario, sweeps: list[Sweep], progress: Progress | None = None) -> Dataset:
    """Return margins of a scenario and, over the swept keys, growth rates and the located boundary of stability.

    Without sweeps a dataset of attributes alone: `margins` is the JSON of `margins(scenario)`. With one key `growth_rate`
    (x) and `boundary_x` (crossing); with two (y, x) on a coarse grid and polylines `boundary_x`, `boundary_y` (vertex),
    parted by NaN; a third key adds the dimension `family`. The nominal contact is that of the scenario itself wherever
    the first contact had to be predicted.

    Raises ScenarioError: what `margins` raises, unknown keys, keys that are no single number, equal ends.
    """
    attributes, axes = study_attributes(scenario), axes_of(scenario, sweeps)
    scenario = scenario.at({})  # distributions count in campaigns only
    found = margins(scenario)
    attributes["margins"] = json.dumps(found)
    if not axes:
        return Dataset(attrs=attributes)
    attributes["sweeps"] = json.dumps([sweep.text for sweep in sweeps])
    attributes["boundary_tolerance"] = TOLERANCE
    attributes["operating_point"] = json.dumps([axis.now for axis in axes[:2]])
    content = _swept_content(scenario, axes)
    # a swept place on the wall is the place; else the contact, and those closed with it, are those of the scenario itself
    own, swept_place = scenario.content.stability, content.stability
    on_wall = isinstance(own, StabilitySection) and own.distance is None and swept_place.distance is not None
    nominal = nominal_of(replace(scenario, content=content) if on_wall else scenario)
    growth = partial(_growth_at, scenario.name, content, nominal, axes)
    variables = sweep_keys(axes, growth, progress) if len(axes) == 1 else _chart_growth(axes, growth, progress)
    return Dataset(*variables, attrs=attributes)


def axes_of(scenario: Scenario, sweeps: list[Sweep]) -> list[Axis]:
    """Return the axes of a chart over `sweeps`. Raises ScenarioError for too many, and for keys that cannot be swept."""
    if len(sweeps) > MOST_KEYS:
        raise ScenarioError(f"{scenario.name}: --sweep: {len(sweeps)} keys; must be at most {MOST_KEYS}")
    axes = [axis_of(scenario.at({}), sweep) for sweep in sweeps]
    if len({axis.leaf for axis in axes}) < len(axes):
        raise ScenarioError(f"{scenario.name}: --sweep: the same key twice; must be different keys")
    return axes


def _swept_content(scenario: Scenario, axes: list[Axis]) -> Judged:
    """Return the scenario with every swept key present."""
    text, name = scenario.text(), scenario.name
    return parse(text, name, {axis.sweep.key: axis.sweep.high for axis in axes}).content


@jit_once
def _loops_at(
    values: Float[Array, "points keys"], content: Judged, nominal: Nominal, leaves: Int[Array, "keys"]
) -> Loop | Linear:
    """Return loops of the scenario, or linear forms, with each row of `values` in the place of the numbers `leaves`."""
    own, structure = flatten(content)
    arrays = {place: leaf for place, leaf in enumerate(own) if jnp.ndim(leaf)}
    numbers = jnp.stack([jnp.asarray(0.0 if jnp.ndim(leaf) else leaf, float) for leaf in own])

    def one(row: Float[Array, "keys"]) -> Loop | Linear:
        return delayed_loop(content_of(structure, list(numbers.at[leaves].set(row)), arrays), nominal)

    return jax.vmap(one)(values)


def _growth_at(name: str, content: Judged, nominal: Nominal, axes: list[Axis], points: np.ndarray) -> np.ndarray:
    """Return the growth rates at points (m, keys) of the unit cube."""
    values = np.stack([axis.at(share) for axis, share in zip(axes, points.T, strict=True)], axis=-1)
    at = partial(_loops_at, content=content, nominal=nominal, leaves=np.array([axis.leaf for axis in axes]))
    try:
        found = in_lanes(at, values, always=True)
        if isinstance(found, Linear):
            return growth_of_linears(found)
        return growth_rates(found) if found.behind is None else growth_of_plants(found)
    except ValueError as error:
        raise ScenarioError(f"{name}: --sweep: {error}") from None


def sweep_keys(axes: list[Axis], growth: Growth, progress: Progress | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the growth rate over one key, and where it changes sign."""
    (axis,) = axes
    share = np.linspace(0, 1, axis.sweep.count)[:, None]
    found = growth(share)
    at = np.flatnonzero((found[:-1] < 0) != (found[1:] < 0))
    crossings = np.zeros(0)
    if len(at):
        crossings = axis.at(
            locate_sign_changes(growth, share[at], share[at + 1], found[at], found[at + 1], TOLERANCE)[:, 0]
        )
    if progress is not None:
        progress(1.0)
    variables = {
        "growth_rate": ("x", found, {"units": "1/s", "long_name": "growth rate"}),
        "boundary_x": ("crossing", crossings, {"units": axis.unit or "1", "long_name": "edges of stability"}),
    }
    return variables, {"x": axis.coordinate(axis.values(), "x")}


def _chart_growth(axes: list[Axis], growth: Growth, progress: Progress | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a chart over the first two keys, for each value of the third."""
    third = axes[2] if len(axes) > 2 else None
    shares = np.linspace(0, 1, third.sweep.count) if third is not None else np.zeros(1)
    cells = max(axis.sweep.count for axis in axes[:2]) - 1
    charts = []
    for done, share in enumerate(shares, start=1):

        def plane(points: np.ndarray, share: float = share) -> np.ndarray:
            return growth(points if third is None else np.column_stack([points, np.full(len(points), share)]))

        charts.append(chart_growth(plane, cells, TOLERANCE))
        if progress is not None:
            progress(done / len(shares))
    lines = [join_polylines(found.boundary) for found in charts]
    length = max(len(line) for line in lines)
    lines = [np.pad(line, ((0, length - len(line)), (0, 0)), constant_values=np.nan) for line in lines]
    places = [axis.at(np.array([line[:, i] for line in lines])) for i, axis in enumerate(axes[:2])]
    variables: dict[str, Any] = {
        "growth_rate": (
            ("family", "y", "x"),
            np.array([found.growth for found in charts]),
            {"units": "1/s", "long_name": "growth rate"},
        )
    }
    for name, axis, place in zip("xy", axes[:2], places, strict=True):
        words = {"units": axis.unit or "1", "long_name": f"edge of stability, {axis.sweep.key}"}
        variables[f"boundary_{name}"] = (("family", "vertex"), place, words)
    coordinates: dict[str, Any] = {
        name: axis.coordinate(axis.at(charts[0].axis), name) for name, axis in zip("xy", axes[:2], strict=True)
    }
    coordinates["family"] = (
        ("family", np.zeros(1), {"units": "1", "long_name": ""})
        if third is None
        else third.coordinate(third.at(shares), "family")
    )
    return variables, coordinates
