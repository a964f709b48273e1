"""A run on a rig and its derivatives: how its parts change with the scenario, and how the run does with its parts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Array, Int, PyTree
from dockdyn.integrate.model import Model
from dockdyn.results.linearised import Leaves, LinearisedRun, Numbers, by_differences, tangent_of
from dockdyn.results.plan import jit_once
from dockdyn.rig.compensator import JoinedRig, join_rig
from dockdyn.rig.data import dataset_of
from dockdyn.rig.model.limits import LimitsReached
from dockdyn.rig.model.rig import IdealContact, Rig
from dockdyn.rig.model.run import NoiseDraws, draw_chances, run_cycles
from dockdyn.rig.rig_theory import add_judgement
from dockdyn.rig.run import Course, Grid, motion_without_rig, refuse_without_ideal
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw
from dockdyn.stability.loop import Loop
from dockdyn.trees import combine, is_real_array, map_leaves, split


class Parts(NamedTuple):
    """What a scenario makes: numbers in it change with the scenario's."""

    values: Leaves  # of the scenario
    loop: Loop
    rig: Rig
    model: Model  # of the motion without rig


class Ran(NamedTuple):
    """A run."""

    parts: Parts
    ideal: dict[str, Array]
    seen: dict[str, Array]
    status: Int[Array, ""]
    reached: LimitsReached | None


def linearised_rig(scenario: Scenario) -> LinearisedRun:
    """Return a run and its derivatives.

    The parts of a rig, a robot's matrices or what a compensator is tuned to, change by differences of how they are made,
    the run with them in forward mode. A change that needs another schedule of periods has no derivative.
    """
    own = Numbers.of(scenario.content)

    def parts_of(values: Leaves) -> Parts:
        return map_leaves(np.asarray, _make_parts(replace(scenario, content=own.content(values)), values)[0])

    begun, section = _make_parts(scenario, own.values)
    grid = Grid.of(begun.rig, scenario.content.duration)
    share = grid.period / float(begun.rig.hold)
    chances = draw_chances(begun.rig, scenario.content.seed, grid.rows, grid.stride)

    def along(direction: Leaves) -> tuple[PyTree, PyTree]:
        parts, change = by_differences(parts_of, own.values, direction, scenario.name)
        floats, fixed = split(parts, is_real_array)
        numbers = np.float64(share), np.float64(scenario.content.integrator.tolerance)
        sizes = Sizes(grid.instants, grid.rows, grid.stride)
        ran, slopes = _run_with_derivatives(floats, change, fixed, *numbers, chances, sizes)
        refuse_without_ideal(scenario, ran.status)
        return ran, slopes

    def dataset(ran: Ran) -> Dataset:
        parts = ran.parts
        case = replace(scenario, content=own.content(parts.values))
        kept = grid.within(case.content.duration)
        course = Course(
            time=kept * float(parts.rig.hold) * share,
            seen={name: np.asarray(values)[: len(kept)] for name, values in ran.seen.items()},
            ideal={name: np.asarray(values)[kept] for name, values in ran.ideal.items()},
            wall_time=0.0,
            reached=ran.reached,
        )
        facts = JoinedRig(parts.loop, section, parts.rig).facts() | {"comparison": "null"}
        return add_judgement(case, parts.loop, dataset_of(case, parts.rig, parts.loop, course, facts))

    return LinearisedRun(along, dataset)


def _make_parts(scenario: Scenario, values: Leaves) -> tuple[Parts, CompensatorLaw | None]:
    """Return the parts of a rig, and the table of its compensator with what is tuned."""
    loop, section, rig = join_rig(scenario)
    return Parts(values, loop, rig, rig.plant.without_rig()), section


class Sizes(NamedTuple):
    """How many instants a motion without rig has, how many rows a run keeps, and how many cycles are between two."""

    instants: int
    rows: int
    stride: int


@partial(jit_once, static=("sizes",))
def _run_with_derivatives(
    parts: Parts,
    change: Parts,
    fixed: Parts,
    share: Any,  # noqa: ANN401, a number, of the hold's period: between instants
    tolerance: Any,  # noqa: ANN401, a number, of the motion without rig
    chances: NoiseDraws,
    sizes: Sizes,
) -> tuple[PyTree, PyTree]:
    """Return a run and its derivatives along a change of its parts, `fixed` being what is no real number."""

    def found(parts: Parts) -> Ran:
        whole: Any = combine(parts, fixed)
        ideal, status = motion_without_rig(
            whole.model, whole.rig.plant, whole.rig.hold * share, tolerance, sizes.instants
        )
        oracle = IdealContact(ideal["ideal_position"], ideal["ideal_force"])
        end, seen = run_cycles(whole.rig, oracle, chances, sizes.rows, sizes.stride)
        return Ran(whole, ideal, seen, status, end.reached)

    return tangent_of(found, parts, change)
