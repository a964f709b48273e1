"""A rig's programs as a page carries them: the motion without rig, the rig, and what is told of both; a second time without
its compensator.

They are the programs of a run as they are. A number is offered where it stands as it is in all that a rig is made of, at both
ends of what its slider reaches: a page can then set it, and gets the bits of a run.

Units: SI.
Source: definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, PyTree, jnp
from dockdyn.integrate.solution import Status
from dockdyn.programs import Program
from dockdyn.results.browser_unit import Array as Place
from dockdyn.results.browser_unit import (
    TooMuch,
    UnitMemory,
    described_number,
    packed_programs,
    page_module,
)
from dockdyn.rig.compensator import JoinedRig, join_rig
from dockdyn.rig.functional_unit import SCHEDULED
from dockdyn.rig.measures import MeasuredMotion, measures_of_lane, recent_force, vector_size
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.model.run import draw_chances
from dockdyn.rig.rig_theory import latest_action
from dockdyn.rig.run import Grid, motion_without_rig, simulated
from dockdyn.rig.scene import FORCES, axes_in_scene, show_rig, shown_bodies, shown_forces
from dockdyn.scenario.language.errors import ScenarioError, is_key_inside
from dockdyn.scenario.language.places import Place as Number
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.language.units import Bounds
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop_margins import ideal_decay
from dockdyn.trees import leaves_of, structure_of, unflatten

SWITCH = "loop.compensator"
WITHOUT_FREQUENCY = ("peak_force_error_N", "apparent_restitution", "ideal_restitution")
OFF = "bare."  # before the names of programs and results of the rig without its compensator
MOST_TICKS = 1_000_000  # of a run, beyond which a page is too slow
DELAYS = ("loop.delay", "loop.sensor.delay")
NEARBY = 1 + 2.0**-10  # times a number
# times a number, between which a slider goes: to each side the first at which it stands as itself, which it does as it is
ENDS = (0.1, 0.5, 0.8, 1.0), (3.0, 2.0, 1.2, 1.0)
ROUNDED = 1e-14  # by which it may be off there, as a share


class ContactAlone(NamedTuple):
    """What of a `Loop` tells how the contact oscillates without rig."""

    effective_mass: Any  # kg
    stiffness: Any  # N/m
    damping: Any  # N s/m
    virtual_stiffness: Any
    virtual_damping: Any


@partial(Program, static=("rows", "bilateral"))
def tell_rig(
    contact: ContactAlone | None,
    delay: Any,  # noqa: ANN401, a number: s, of the sensor
    beside: Any,  # noqa: ANN401, a number: s, by which a contact acts longer than that
    period: Any,  # noqa: ANN401, a number: s, between instants
    seen: dict[str, Array],
    ideal: dict[str, Array],
    rows: int,
    bilateral: bool,
) -> dict[str, Array]:
    """Return the figures of a run on a rig over its first `rows` instants, by the names that a summary gives them.

    Without the `contact` alone, whose frequency says what a last oscillation is, those that are of it are left out.
    """
    seen, ideal = ({name: values[:rows] for name, values in both.items()} for both in (seen, ideal))
    square = jnp.asarray(jnp.nan) if contact is None else ideal_decay(contact)[1]
    frequency = jnp.where(square > 0, jnp.sqrt(jnp.maximum(square, 0.0)), jnp.nan)
    felt = recent_force(seen["contact_force"], period, delay + beside)
    without = MeasuredMotion(*(ideal[f"ideal_{name}"] for name in ("position", "velocity", "force")))
    rig = MeasuredMotion(seen["position"], seen["velocity"], seen["total_force"], felt)
    measures = measures_of_lane(jnp.arange(rows) * period, without, rig, frequency, bilateral)
    energies = seen["kinetic_energy"][-1], ideal["ideal_kinetic_energy"][-1]
    told = measures if contact is not None else {name: measures[name] for name in WITHOUT_FREQUENCY}
    return {name: jnp.asarray(value) for name, value in told.items()} | {
        "peak_measured_force_N": vector_size(seen["measured_force"]).max(),
        "kinetic_energy_error_J": energies[0] - energies[1],
    }


class SignedSpot(NamedTuple):
    """A number among those of a rig."""

    leaf: int
    place: int
    sign: float


class PageRig(NamedTuple):
    """A rig with its compensator, or without, as a page runs it."""

    joined: JoinedRig
    scenario: Scenario
    grid: Grid

    @staticmethod
    def of(scenario: Scenario) -> PageRig:
        joined = join_rig(scenario)
        return PageRig(joined, scenario, Grid.of(joined.rig, scenario.content.duration))

    @property
    def rows(self) -> int:
        """Instants of the run."""
        return len(self.grid.within(self.scenario.content.duration))

    def parts(self) -> tuple[PyTree, ...]:
        """Return all that is made of the scenario's numbers: the rig, its model without rig, its contact along the normal."""
        rig, loop = self.joined.rig, self.joined.loop
        swings = bool(rig.plant.ever_touching)
        contact = ContactAlone(*(getattr(loop, name) for name in ContactAlone._fields)) if swings else None
        return rig, rig.plant.without_rig(), contact

    def refuse_beyond(self) -> None:
        """Raise TooMuch where a run is too long for a page."""
        if self.grid.stride > 1 or self.grid.rows * self.joined.rig.schedule.ticks > MOST_TICKS:
            raise TooMuch(f"its run has more than {MOST_TICKS:,} instants, which takes a page too long")

    def codes(self) -> dict[str, Any]:
        """Return the code of each program, with the structure of its results."""
        rig, model, contact = self.parts()
        grid, scenario = self.grid, self.scenario
        given = model, rig.plant, np.float64(grid.period), np.float64(scenario.content.integrator.tolerance)
        ideal, _ = motion_without_rig(*given, grid.instants)
        oracle = IdealContact(ideal["ideal_position"], ideal["ideal_force"])
        chances = draw_chances(rig, scenario.content.seed, grid.rows, grid.stride)
        _, seen = simulated(rig, oracle, chances, grid.rows, grid.stride)
        numbers = rig.sensor.delay, np.float64(0), np.float64(grid.period)
        bilateral, shown = bool(rig.plant.ever_touching), self.shown
        return {
            "ideal": motion_without_rig.code(*given, grid.instants),
            "run": simulated.code(rig, oracle, chances, grid.rows, grid.stride),
            "tell": tell_rig.code(contact, *numbers, seen, ideal, self.rows, bilateral),
            "show": show_rig.code(rig.plant, self.axes, _named(seen | ideal, shown), *shown),
        }

    @property
    def axes(self) -> np.ndarray:
        """Axes of what is measured in the scene."""
        return axes_in_scene(self.scenario.content)

    @property
    def shown(self) -> tuple[tuple[str | None, ...], tuple[str, ...]]:
        """Return the variables of a run that say where the bodies of its scene are, and what its forces are."""
        content = self.scenario.content
        return tuple(shown_bodies(content).values()), tuple(FORCES[name] for name in shown_forces(content))


def _named[Kind](run: dict[str, Kind], shown: tuple[tuple[str | None, ...], ...]) -> dict[str, Kind]:
    """Return what of a run is shown."""
    return {name: run[name] for names in shown for name in names if name is not None}


class Laid(NamedTuple):
    """Where a rig's programs have what they take that is known before a run."""

    parts: list[list[Place]]  # of `PageRig.parts`, leaf by leaf
    constants: dict[str, list[Place]]
    period: Place
    tolerance: Place
    beside: Place
    chances: list[Place]
    axes: Place
    told: dict[str, Place]  # results that are the same whatever the numbers are


def rig_unit_of_page(scenario: Scenario) -> dict[str, Any]:
    """Return what a page needs to run a rig with other numbers, with its compensator and without, as JSON has it.

    `scenario` states all numbers of its compensator. Raises TooMuch, and Untranslatable where XLA computes a part of it.
    """
    rigs = {"": PageRig.of(scenario)}
    if scenario.content.loop.compensator is not None:
        rigs[OFF] = PageRig.of(without_compensator(scenario))
    for rig in rigs.values():
        rig.refuse_beyond()
    codes = {before: rig.codes() for before, rig in rigs.items()}
    every = {before + name: code for before, both in codes.items() for name, (code, _) in both.items()}
    module = page_module(every)
    memory = UnitMemory(module)
    laid = {before: _lay_out(memory, rig, codes[before]) for before, rig in rigs.items()}
    calls: dict[str, Any] = {}
    results: dict[str, Place] = {}
    for before, rig in rigs.items():
        found = _add_calls(memory, rig, codes[before], laid[before])
        calls |= {before + name: [both] for name, both in found[0].items()}
        results |= {before + name: place for name, place in found[1].items()}
    numbers = [
        described_number(place, [at for at, _ in spots], bounds, [sign for _, sign in spots])
        for place, spots, bounds in _numbers(scenario, rigs, laid)
    ]
    if len(rigs) > 1:
        numbers.insert(0, _switch(scenario.content.loop.compensator.law))
    bilateral = bool(rigs[""].joined.rig.plant.ever_touching)
    return packed_programs(module, memory, calls, results, numbers, bilateral=bilateral)


def _switch(law: str) -> dict[str, Any]:
    """Return what a page offers to switch a compensator off and on: 1 or 0."""
    about = {"key": SWITCH, "keys": [SWITCH], "signs": [1.0], "unit": "", "value": 1.0, "places": []}
    return about | {"bounds": {"least": 0.0, "most": 1.0}, "law": law}


def without_compensator(scenario: Scenario) -> Scenario:
    """Return the scenario of the rig without its compensator."""
    return scenario.at({SWITCH: "none"})


def with_stated_compensator(scenario: Scenario) -> tuple[Scenario, dict[str, float]]:
    """Return the scenario with all numbers of its compensator stated, and those that were left to tuning, by key."""
    law = scenario.content.loop.compensator
    if law is None or not law.tuned():
        return scenario, {}
    section = join_rig(scenario).section
    found = {f"{SWITCH}.{name}": float(getattr(section, name)) for name in law.tuned()}
    return scenario.at(found), found


def _lay_out(memory: UnitMemory, rig: PageRig, codes: dict[str, Any]) -> Laid:
    """Put what a rig's programs take into the memory."""
    content, made = rig.scenario.content, rig.joined.rig
    delay = float(made.sensor.delay)
    chances = draw_chances(made, content.seed, rig.grid.rows, rig.grid.stride)

    def number(value: float) -> Place:
        return memory.put(np.asarray(value, float))

    known = {"time": (rig.rows - 1) * rig.grid.period, "interval": rig.grid.period, "sampled": rig.rows}
    return Laid(
        [[memory.put(np.ascontiguousarray(leaf)) for leaf in leaves_of(part)] for part in rig.parts()],
        {name: [memory.put(one) for one in code.constants] for name, (code, _) in codes.items()},
        number(rig.grid.period),
        number(content.integrator.tolerance),
        number(latest_action(content) - delay),
        [memory.put(np.ascontiguousarray(leaf)) for leaf in leaves_of(chances)],
        memory.put(rig.axes),
        {name: number(value) for name, value in (known | {"moments": 0, "status": int(Status.FINISHED)}).items()},
    )


def _add_calls(
    memory: UnitMemory, rig: PageRig, codes: dict[str, Any], laid: Laid
) -> tuple[dict[str, list[list[int]]], dict[str, Place]]:
    """Return the addresses of what each program takes and gives, and where the results of a run are, by name."""
    found = {name: memory.take_results(code) for name, (code, _) in codes.items()}
    ideal, _ = unflatten(codes["ideal"][1], found["ideal"])
    _, seen = unflatten(codes["run"][1], found["run"])
    told = unflatten(codes["tell"][1], found["tell"])
    whole, model, contact = laid.parts
    plant = _leaves_within(rig, "plant", whole)
    (delay,) = _leaves_within(rig, "sensor.delay", whole)
    given = {
        "ideal": [*model, *plant, laid.period, laid.tolerance],
        "run": [*whole, ideal["ideal_position"], ideal["ideal_force"], *laid.chances],
        "tell": [*contact, delay, laid.beside, laid.period, *_in_order(seen), *_in_order(ideal)],
        "show": [*plant, laid.axes, *_in_order(_named(seen | ideal, rig.shown))],
    }
    calls = {
        name: [[one.at for one in (*places, *laid.constants[name])], [one.at for one in found[name]]]
        for name, places in given.items()
    }
    figures = {f"figure.{name}": place for name, place in told.items()}
    scene = {f"scene.{name}": place for name, place in unflatten(codes["show"][1], found["show"]).items()}
    return calls, laid.told | seen | ideal | figures | scene


def _in_order(named: dict[str, Place]) -> list[Place]:
    """Return places in the order in which a tree has them."""
    return [named[name] for name in sorted(named)]


def _leaves_within(rig: PageRig, path: str, places: list[Place]) -> list[Place]:
    """Return the places of a part of the rig, of those of all its leaves."""
    structure = structure_of(rig.joined.rig)
    part: Any = unflatten(structure, list(range(len(places))))
    for name in path.split("."):
        part = getattr(part, name)
    return [places[leaf] for leaf in leaves_of(part)]


def _numbers(
    scenario: Scenario, rigs: dict[str, PageRig], laid: dict[str, Laid]
) -> Iterator[tuple[Number, list[tuple[int, float]], Bounds]]:
    """Yield the numbers that a page may set, the addresses and signs of each, and its bounds."""
    for place in places_of(scenario):
        fixed = place.key.startswith(SCHEDULED) and place.unit in ("s", "Hz") and place.key not in DELAYS
        if fixed or not place.value:
            continue
        having = {before: rig for before, rig in rigs.items() if before != OFF or not is_key_inside(place.key, SWITCH)}
        nearby = {before: _spots(rig, place, place.value * NEARBY) for before, rig in having.items()}
        if not all(nearby.values()):
            continue
        ends = [_reached(having, nearby, place, shares) for shares in ENDS]
        if ends[0] != ends[1]:
            yield place, _addresses(nearby, laid), _bounds_within(place.limits, ends)


def _reached(
    rigs: dict[str, PageRig], nearby: dict[str, list[SignedSpot] | None], place: Number, shares: tuple[float, ...]
) -> float:
    """Return the first of some shares of a number with which it stands, in all `rigs`, where it does `nearby`."""
    most = place.value + min(map(_spare_delay, rigs.values())) if place.key in DELAYS else np.inf
    for share in shares:
        value = min(share * place.value, most)
        if share == 1.0 or all(_spots(rig, place, value) == nearby[before] for before, rig in rigs.items()):
            return value
    return place.value


def _spare_delay(rig: PageRig) -> float:
    """Return by how much (s) a delay may grow for the instants that the rig remembers of its robot."""
    made = rig.joined.rig
    return (made.schedule.rows - 2) * float(made.tick) * (1 - 1e-6) - float(made.sensor.longest_delay())


def _bounds_within(limits: Bounds, ends: list[float]) -> Bounds:
    """Return the bounds of a number between two ends."""
    least, most = max(min(ends), limits.least), min(max(ends), limits.most)
    return Bounds(above=limits.above, least=least, below=limits.below, most=most)


def _addresses(spots: dict[str, list[SignedSpot] | None], laid: dict[str, Laid]) -> list[tuple[int, float]]:
    """Return the addresses and signs of a number in all rigs."""
    found = []
    for before, here in spots.items():
        places = [one for part in laid[before].parts for one in part]
        found += [(places[leaf].at + 8 * at, sign) for leaf, at, sign in here or []]
    return found


def _spots(rig: PageRig, place: Number, value: float) -> list[SignedSpot] | None:
    """Return where a number stands among the parts of a rig that has another one; None where anything else has changed."""
    try:
        changed = PageRig.of(rig.scenario.at(place.written(value)))
    except ScenarioError:
        return None
    own, made = rig.joined.rig, changed.joined.rig
    if changed.grid != rig.grid or made.schedule.rows > own.schedule.rows:
        return None
    made = replace(made, schedule=made.schedule._replace(rows=own.schedule.rows))
    if own.compensator is None:  # or the effective mass would be read
        made = replace(made, plant=replace(made.plant, mass=own.plant.mass))
    parts = rig.parts(), (made, *changed.parts()[1:])
    if structure_of(parts[0]) != structure_of(parts[1]):
        return None
    spots = []
    for leaf, (one, other) in enumerate(zip(*map(leaves_of, parts), strict=True)):
        a, b = np.ravel(np.asarray(one)), np.ravel(np.asarray(other))
        if a.shape != b.shape:
            return None
        for at in np.flatnonzero(~((a == b) | ((a != a) & (b != b)))):
            sign = float(np.sign(a[at] * place.value))
            if not np.allclose((a[at], b[at]), (sign * place.value, sign * value), rtol=ROUNDED, atol=0.0):
                return None
            spots.append(SignedSpot(leaf, int(at), sign))
    return spots
