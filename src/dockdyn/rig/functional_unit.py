"""A rig as a part of a larger simulation: it goes on tick by tick, and a force from outside may act on what it simulates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.docking.data import ELEMENT_VARIABLES, element_names
from dockdyn.integrate.solution import Status
from dockdyn.mechanics.vector import once
from dockdyn.results.functional_unit import (
    FunctionalUnit,
    Given,
    Input,
    Numbers,
    Output,
    Steps,
    fixed_beside,
    in_a_row,
    laid_out,
    with_numbers,
)
from dockdyn.results.run import Layout
from dockdyn.rig.build import plant_of
from dockdyn.rig.compensator import JoinedRig, join_rig
from dockdyn.rig.data import VARIABLES, coordinates_of, mock_up_names
from dockdyn.rig.model.delayed_reads import Ages, ages_of
from dockdyn.rig.model.halves import Computer, begin_computer, compute_cycle, with_pose
from dockdyn.rig.model.rig import Rig, RigState
from dockdyn.rig.run import Grid
from dockdyn.rig.stepping import KnownMotion, advance_tick
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario
from dockdyn.trees import flatten, leaves_of, structure_of, unflatten

SCHEDULED = (
    "loop.delay",
    "loop.hold",
    "loop.sensor",
    "loop.dynamics",
    "loop.compensator.period",
)  # of when what happens
# of a rig's computer, with the units of places and of turns
MEASURED = {
    "measured_load": ("N", "N m", "what the sensor has measured"),
    "encoder_pose": ("m", "rad", "where the encoders say that the robot is"),
}
COMPUTED = {
    "command": ("m", "rad", "pose that the robot is told"),
    "model_pose": ("m", "rad", "pose of the virtual bodies"),
    "model_rate": ("m/s", "rad/s", "its rate"),
}
PROBE = 2.0**-10  # by this share a number is changed, to see where it goes


class Going(NamedTuple):
    """A rig between two ticks, with what it reads of its robot's past."""

    ages: Ages
    moving: RigState


class Spot(NamedTuple):
    """A number among those of a rig."""

    leaf: int
    place: int


def rig_unit(scenario: Scenario) -> FunctionalUnit:
    """Return the functional unit of a rig. Raises ScenarioError for one whose run knows more than its past."""
    built = join_rig(scenario)
    rig = built.rig
    if rig.sensor.random:
        raise ScenarioError(
            f"{scenario.name}: loop.sensor: random numbers are drawn for a run as a whole; must have none in an FMU"
        )
    if rig.compensator is not None and rig.compensator.oracle:
        law = scenario.content.loop.compensator.law
        raise ScenarioError(
            f"{scenario.name}: loop.compensator.law = {law!r}: sees the motion without rig, as no FMU does"
        )
    places, made = _numbers_and_rig(scenario, built)
    nothing = jnp.zeros((1, rig.plant.port_axes))
    known = KnownMotion(nothing, nothing, None, None)

    def begin(numbers: Numbers) -> Going:
        rig = made(numbers)
        return Going(ages_of(rig), rig.begin())

    def advance(numbers: Numbers, given: Given, until: Float[Array, ""], going: Going) -> Going:
        rig, ages = made(numbers, given), going.ages

        def before(moving: RigState) -> Bool[Array, ""]:
            return (moving.tick + 1 - 1e-9) * ages.tick <= until

        def tick(moving: RigState) -> RigState:
            return advance_tick(rig, ages, known, moving)[0]

        return Going(ages, jax.lax.while_loop(before, tick, going.moving))

    def observed(numbers: Numbers, given: Given, going: Going) -> dict[str, Array]:
        return advance_tick(made(numbers, given), going.ages, known, going.moving)[1]

    def reached(going: Going) -> tuple[Int[Array, ""], Float[Array, ""]]:
        motion = going.moving.motion
        sums = [jnp.sum(leaf) for leaf in leaves_of((motion.q, motion.v))]
        status = jnp.where(jnp.isfinite(sum(sums)), int(Status.RUNNING), int(Status.NOT_FINITE))
        return status, going.moving.tick * going.ages.tick

    inputs = [
        Input(f"outside_force.{axis}", "N", "force from outside on the model, where it touches")
        for axis in "xyz"[: rig.plant.port_axes]
    ]
    start = jnp.array([place.value for place in places])
    shown = jax.eval_shape(lambda numbers: observed(numbers, jnp.zeros(len(inputs)), begin(numbers)), start)
    outputs = _unit_outputs(scenario, rig, set(shown))
    return FunctionalUnit(
        scenario=scenario,
        numbers=places,
        fixed=fixed_beside(scenario, places),
        inputs=inputs,
        outputs=outputs,
        begin=begin,
        goes_on=Steps(advance, reached),
        observe=lambda *given: in_a_row(outputs, observed(*given)),
        step=Grid.of(rig, scenario.content.duration).period,
        feedthrough=True,
    )


class ComputerState(NamedTuple):
    """A rig's computer between two cycles."""

    computer: Computer
    cycles: Int[Array, ""]


def computer_unit(scenario: Scenario) -> FunctionalUnit:
    """Return the functional unit of a rig's computer alone: the virtual bodies and what compensates, told what a sensor has
    measured and where the encoders say that the robot is. Raises ScenarioError for a rig that no computer drives."""
    from dockdyn.rig.driven import check_driven  # which writes C, for which JAX is needed

    built = join_rig(scenario)
    rig, axes = built.rig, built.rig.plant.axes
    check_driven(scenario.name, rig)
    places, made = _numbers_and_rig(scenario, built)
    found = coordinates_of(rig)
    names = found.get("coordinate", found["axis"])

    def begin(numbers: Numbers) -> ComputerState:
        return ComputerState(begin_computer(made(numbers)), jnp.zeros((), int))

    def advance(numbers: Numbers, given: Given, until: Float[Array, ""], told: ComputerState) -> ComputerState:
        rig = made(numbers)
        load, pose = jnp.reshape(given, (2, axes))

        def before(told: ComputerState) -> Bool[Array, ""]:
            return (told.cycles + 1 - 1e-9) * rig.hold <= until

        def cycle(told: ComputerState) -> ComputerState:
            return ComputerState(compute_cycle(rig, with_pose(rig, told.computer, pose), load)[0], told.cycles + 1)

        return jax.lax.while_loop(before, cycle, told)

    def observe(numbers: Numbers, given: Given, told: ComputerState) -> Float[Array, "outputs"]:
        rig, motion = made(numbers), told.computer.moving.motion
        rows = (told.computer.command, rig.plant.pose(motion), rig.plant.rate(motion))
        return in_a_row(outputs, dict(zip(COMPUTED, rows, strict=True)))

    def reached(told: ComputerState) -> tuple[Int[Array, ""], Float[Array, ""]]:
        finite = jnp.all(jnp.isfinite(told.computer.command))
        return jnp.where(finite, int(Status.RUNNING), int(Status.NOT_FINITE)), told.cycles * rig.hold

    layout: Layout = {what: (("coordinate",), "", words) for what, (_, _, words) in COMPUTED.items()}
    outputs = [
        one._replace(unit=COMPUTED[one.variable][one.place[0] > 2]) for one in laid_out(layout, {"coordinate": names})
    ]
    return FunctionalUnit(
        scenario=scenario,
        numbers=places,
        fixed=fixed_beside(scenario, places),
        inputs=[
            Input(f"{what}.{name}", units[place > 2], words)
            for what, (*units, words) in MEASURED.items()
            for place, name in enumerate(names)
        ],
        outputs=outputs,
        begin=begin,
        goes_on=Steps(advance, reached),
        observe=observe,
        step=float(rig.hold),
    )


def _numbers_and_rig(scenario: Scenario, built: JoinedRig) -> tuple[list[Place], Callable[..., Rig]]:
    """Return the numbers of a scenario that can be others without another rig, and the rig of such numbers, pushed from
    outside."""
    spots = _spots_of(scenario, built)
    places = list(spots)
    leaves, structure = flatten(built.rig)
    stated, sections = flatten(scenario.content)

    def made(numbers: Numbers, given: Given | None = None) -> Rig:
        own = [once(jnp.asarray(leaf)) for leaf in leaves]  # traced, so that they are worked with as in a run
        for number, goals in enumerate(spots.values()):
            for leaf, at in goals:
                own[leaf] = jnp.ravel(own[leaf]).at[at].set(numbers[number]).reshape(own[leaf].shape)
        content = with_numbers(stated, places, numbers)
        plant = plant_of(unflatten(sections, content), built.loop)
        return replace(unflatten(structure, own), plant=plant, outside=given)

    return places, made


def _unit_outputs(scenario: Scenario, rig: Rig, shown: set[str]) -> list[Output]:
    """Return what can be read of a rig: what its results have over time, but for the motion without rig."""
    content, names = scenario.content, mock_up_names(scenario.content)
    layout = VARIABLES | ELEMENT_VARIABLES
    without = set() if content.loop.virtual_contact is not None else {"virtual_force"}
    kept = {name: layout[name] for name in layout if name in shown - without}
    worded = {name: (dims, unit, words.format(**names)) for name, (dims, unit, words) in kept.items()}
    along = coordinates_of(rig) | element_names(content)
    return list(laid_out(worded, along))


def _spots_of(scenario: Scenario, built: JoinedRig) -> dict[Place, list[Spot]]:
    """Return the numbers of a scenario that can be others without another rig, each with where the rig has it besides its
    plant.

    A number is one of these if a rig with another one is the same but for a plant that is made of it and the spots where it
    stands as it is. Others decide when what happens, or are worked into several numbers before a run.
    """
    found = {}
    for place in places_of(scenario):
        if place.key.startswith(SCHEDULED) and place.unit in ("s", "Hz"):
            continue
        changed = place.value * (1 + PROBE) if place.value else PROBE
        try:
            other = scenario.at({key: changed for key in place.keys})
            rig = join_rig(other).rig
        except ScenarioError:
            continue
        same = replace(built.rig, plant=plant_of(other.content, built.loop))
        if rig.compensator is None:  # or the effective mass would be read
            rig = replace(rig, plant=replace(rig.plant, mass=same.plant.mass))
        spots = _changed_places(same, rig, place.value, changed)
        if spots is not None and (spots or _changed_places(built.rig, same, place.value, changed) != []):
            found[place] = spots
    return found


def _changed_places(before: Rig, after: Rig, old: float, new: float) -> list[Spot] | None:
    """Return where a number that was changed from `old` to `new` stands as itself; None where anything else has changed."""
    structures: list[Any] = [structure_of(rig) for rig in (before, after)]
    if structures[0] != structures[1]:
        return None
    spots = []
    for leaf, (one, other) in enumerate(zip(leaves_of(before), leaves_of(after), strict=True)):
        a, b = np.ravel(np.asarray(one)), np.ravel(np.asarray(other))
        if a.shape != b.shape:
            return None
        for at in np.flatnonzero(~((a == b) | ((a != a) & (b != b)))):
            if a[at] != old or b[at] != new:
                return None
            spots.append(Spot(leaf, int(at)))
    return spots
