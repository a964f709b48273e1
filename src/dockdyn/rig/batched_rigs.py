"""One rig, many stiffnesses of what it touches, compensator by compensator: each in one batched call."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from dockdyn.deferred import Array, Int, jax
from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.integrate.model import Model, Scalar, over_rows
from dockdyn.programs import Program
from dockdyn.results.overlap import refuse_overlap
from dockdyn.results.plan import jit_once
from dockdyn.rig.build import plant_of, rig_of
from dockdyn.rig.model.limits import LimitsReached
from dockdyn.rig.model.plant import Plant
from dockdyn.rig.model.rig import IdealContact, Rig
from dockdyn.rig.model.run import NoiseDraws, draw_chances, run_cycles
from dockdyn.rig.resting import loop_of
from dockdyn.rig.rig_theory import first_contact
from dockdyn.rig.run import Arrays, Course, Grid, motion_without_rig, radius_of_cycle_map, refuse_without_ideal
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.trees import map_leaves

NAMES = ("position", "velocity", "total_force", "contact_force")  # what a comparison keeps


def _with_stiffness(scenario: Scenario, stiffness: float) -> Scenario:
    """Return the scenario with another stiffness (N/m) of its first contact; ScenarioError for a law without one."""
    content = scenario.content
    contact = first_contact(content)
    assert contact.normal is not None  # that of a rig has a force
    if not hasattr(contact.normal, "stiffness"):
        raise ScenarioError(
            f"{scenario.name}: {content.stiffness_key}: law {contact.normal.law!r} has no stiffness to vary"
        )
    normal = contact.normal.model_copy(update={"stiffness": float(stiffness)})
    contact = contact.model_copy(update={"normal": normal})
    whole = list(content.contact)
    whole[content.measured_contacts()[0]] = contact
    return replace(scenario, content=content.model_copy(update={"contact": whole}))


def _stack_trees[Tree](parts: Sequence[Tree]) -> Tree:
    """Return trees of equal structure as one, with a leading axis."""
    return map_leaves(lambda *rows: np.stack(rows), *parts)


@partial(jit_once, static=("rows", "stride"))
def simulate_rigs(
    rigs: Rig, oracle: IdealContact, chances: NoiseDraws, rows: int, stride: int
) -> tuple[dict[str, Array], LimitsReached | None]:
    def one(rig: Rig, ideal: IdealContact) -> tuple[dict[str, Array], LimitsReached | None]:
        end, seen = run_cycles(rig, ideal, chances, rows, stride)
        return {name: seen[name] for name in NAMES}, end.reached

    return over_rows(one, rigs, oracle)


@partial(Program, static=("samples",))
def _all_free(
    models: Model, plants: Plant, period: Scalar, tolerance: Scalar, samples: int
) -> tuple[dict[str, Array], Int[Array, "lanes"]]:
    """Return the motions without rig, one after the other: their steps are where their events are."""
    return jax.lax.map(lambda lane: motion_without_rig(*lane, period, tolerance, samples), (models, plants))


class Lanes:
    """A scenario's rig against contacts of several stiffnesses (N/m), and the same contacts without rig."""

    def __init__(self, scenario: Scenario, stiffnesses: Sequence[float]):
        """ScenarioError where a rig cannot be built or begins inside what it touches, or has no motion to compare with."""
        refuse_overlap(scenario)
        self.scenario, self.duration = scenario, scenario.content.duration
        self.scenarios = [_with_stiffness(scenario, value) for value in stiffnesses]
        self.loops = [loop_of(each) for each in self.scenarios]
        lanes = zip(self.scenarios, self.loops, strict=True)
        self.plants = [plant_of(each.content, loop) for each, loop in lanes]
        self.hardest = max(range(len(self.loops)), key=lambda lane: float(self.loops[lane].stiffness))
        self.free: dict[float, tuple[IdealContact, Arrays]] = {}

    def without(self, rigs: list[Rig], grid: Grid) -> tuple[IdealContact, Arrays]:
        """Return the motions without rig at the instants of a grid: as the compensators see them, and those that are kept."""
        if grid.period not in self.free:
            models = _stack_trees([rig.plant.without_rig() for rig in rigs])
            plants = _stack_trees([rig.plant for rig in rigs])
            tolerance = np.float64(self.scenario.content.integrator.tolerance)
            ideal, status = _all_free(models, plants, np.float64(grid.period), tolerance, grid.instants)
            refuse_without_ideal(self.scenario, status)
            kept = {name: np.asarray(values)[:, grid.within(self.duration)] for name, values in ideal.items()}
            self.free[grid.period] = IdealContact(ideal["ideal_position"], ideal["ideal_force"]), kept
        return self.free[grid.period]

    def rigs(self, compensator: Compensator | None, asked: float | None = None) -> list[Rig]:
        """Return a rig a lane, all with the schedule of the hardest contact."""
        rig = rig_of(self.scenarios[self.hardest], self.loops[self.hardest], compensator, asked)
        return [replace(rig, plant=plant) for plant in self.plants]

    def courses(self, rigs: list[Rig], seeds: Sequence[int]) -> Iterator[Course]:
        """Yield what all lanes do, once for each seed of the random numbers."""
        grid, all_rigs = Grid.of(rigs[0], self.duration), _stack_trees(rigs)
        kept = grid.within(self.duration)
        for seed in seeds:
            began = time.perf_counter()
            oracle, ideal = self.without(rigs, grid)
            chances = draw_chances(rigs[0], seed, grid.rows, grid.stride)  # lanes differ in their plants alone
            seen, reached = simulate_rigs(all_rigs, oracle, chances, grid.rows, grid.stride)
            arrays = {name: np.asarray(values)[:, : len(kept)] for name, values in seen.items()}
            yield Course(kept * grid.period, arrays, ideal, time.perf_counter() - began, reached)

    def radii(self, rigs: list[Rig]) -> np.ndarray:
        """Return spectral radius of each lane."""
        return np.array([radius_of_cycle_map(rig, loop) for rig, loop in zip(rigs, self.loops, strict=True)])
