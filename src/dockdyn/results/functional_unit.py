"""A scenario as a part of a larger simulation: what another program sets, what it reads, and how it goes on between.

All of it is functions of arrays that JAX traces, so that it can be written as C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from dockdyn.deferred import Array, Float, Int, PyTree, jnp
from dockdyn.mechanics.vector import once
from dockdyn.records import record
from dockdyn.results.model_flow import ModelFlow
from dockdyn.results.run import Layout
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import leaves as leaves_of
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.language.places import Place
from dockdyn.scenario.load import Scenario

type Numbers = Float[Array, "numbers"]
type Given = Float[Array, "inputs"]


class Input(NamedTuple):
    """A number that another program gives, held until it gives the next; zero if it gives none."""

    name: str
    unit: str
    words: str


class Output(NamedTuple):
    """A number that can be read at any instant, one of a variable of the results of runs."""

    name: str
    unit: str
    words: str
    variable: str
    place: tuple[int, ...]  # in the variable, behind its time
    flag: bool = False  # whether it is yes (1) or no (0)


class Steps(NamedTuple):
    """How a unit goes on that integrates itself: `advance` until a time (s); `reached` says the status and time of a state."""

    advance: Callable[[Numbers, Given, Float[Array, ""], PyTree], PyTree]
    reached: Callable[[PyTree], tuple[Int[Array, ""], Float[Array, ""]]]


class Flow(NamedTuple):
    """How a unit goes on that another program integrates, with the `names` of what it integrates and how many guards."""

    equations: ModelFlow
    names: Sequence[str]
    guards: int


@record
class FunctionalUnit:
    """What another program advances.

    `numbers` are those of the scenario that it may set before it begins, `fixed` the keys of the others. `begin` makes the
    state of t = 0, `goes_on` says how it goes on, `observe` the outputs of a state. `step` (s) is that of communication, where
    nothing else is asked.
    """

    scenario: Scenario
    numbers: Sequence[Place]
    fixed: Sequence[str]
    inputs: Sequence[Input]
    outputs: Sequence[Output]
    begin: Callable[[Numbers], PyTree]
    goes_on: Steps | Flow
    observe: Callable[[Numbers, Given, PyTree], Float[Array, "outputs"]]
    step: float
    feedthrough: bool = False  # whether inputs are felt in the outputs of the same instant


def inputs_on(bodies: Sequence[str]) -> list[Input]:
    """Return forces on bodies, then torques on them: (2, bodies, 3) numbers in a row."""
    kinds = (("force", "N", "at the centre of mass of", "inertial"), ("torque", "N m", "on", "its own"))
    return [
        Input(f"outside_{what}.{body}.{axis}", unit, f"{what} from outside {where} {body}, {axes} axes")
        for what, unit, where, axes in kinds
        for body in bodies
        for axis in "xyz"
    ]


def laid_out(layout: Layout, coordinates: Mapping[str, Sequence[str]]) -> Iterator[Output]:
    """Yield an output for every number of the variables of a `layout`, with the names along their dimensions."""
    for variable, (dims, unit, words) in layout.items():
        names = [coordinates[dim] for dim in dims]
        for place in product(*(range(len(along)) for along in names)):
            which = (along[index] for along, index in zip(names, place, strict=True))
            yield Output(".".join([variable, *which]), unit, words, variable, place)


def in_a_row(outputs: Sequence[Output], found: Mapping[str, Array]) -> Float[Array, "outputs"]:
    """Return the numbers of outputs that follow each other as `laid_out` has them, from variables by name."""
    variables = dict.fromkeys(one.variable for one in outputs)
    row = jnp.concatenate([jnp.ravel(jnp.asarray(found[name], float)) for name in variables])
    assert row.size == len(outputs), (row.size, len(outputs))
    return row


def with_numbers(leaves: Sequence[Any], places: Sequence[Place], numbers: Numbers) -> list[Array]:
    """Return the leaves of a scenario with these numbers at their places; all traced, so that they are worked with as in a
    run."""
    found = [once(jnp.asarray(leaf)) for leaf in leaves]
    for index, place in enumerate(places):
        for leaf, sign in zip(place.leaves, place.signs, strict=True):
            found[leaf] = numbers[index] if sign > 0 else -numbers[index]
    return found


def fixed_beside(scenario: Scenario, places: Sequence[Place]) -> list[str]:
    """Return the keys of all numbers of a scenario that are not among these."""
    known = {key for place in places for key in (place.key, *place.keys)}
    found = []
    for key, _ in leaves_of(scenario.nominal()):
        try:
            number = value_at(scenario.content, key, scenario.name)
        except ScenarioError:  # what a phase sets, by a key inside a key
            found.append(key)
            continue
        if isinstance(number.value, float) and number.key not in known:
            found.append(number.key)
    return found
