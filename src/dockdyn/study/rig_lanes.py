"""One rig, many stiffnesses of what it touches, compensator by compensator: each in one batched call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.models.rig import Oracle, Rig
from dockdyn.models.rig_run import run, spectral_radius
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.study.rig_build import free_model, rig_of
from dockdyn.study.rig_run import Arrays, Course, Grid, check, free, loop_of, moves, resting

NAMES = ("position", "velocity", "total_force", "gain")  # what a comparison keeps

Maker = Callable[[Scenario], Any]  # a compensator for a scenario, or None


def with_stiffness(scenario: Scenario, stiffness: float) -> Scenario:
    """The scenario with another stiffness (N/m) of its first contact; ScenarioError for a law without one."""
    content = scenario.content
    several = isinstance(content.contact, list)
    contact = content.contact[0] if several else content.contact
    if not hasattr(contact.normal, "stiffness"):
        raise ScenarioError(f"{scenario.name}: contact.normal.law = {contact.normal.law!r}: has no stiffness to vary")
    normal = contact.normal.model_copy(update={"stiffness": float(stiffness)})
    contact = contact.model_copy(update={"normal": normal})
    whole = [contact, *content.contact[1:]] if several else contact
    return replace(scenario, content=content.model_copy(update={"contact": whole}))


def stacked(parts: Sequence[Any]) -> Any:
    """Trees of equal structure as one, with a leading axis."""
    return jax.tree.map(lambda *rows: jnp.stack([jnp.asarray(row) for row in rows]), *parts)


@partial(jax.jit, static_argnums=(3, 4))
def simulated(rigs: Rig, oracle: Oracle, seed: Any, rows: int, stride: int) -> dict[str, Any]:
    def one(rig: Rig, ideal: Oracle) -> dict[str, Any]:
        seen = run(rig, ideal, seed, rows, stride)[1]
        return {name: seen[name] for name in NAMES}

    return jax.vmap(one)(rigs, oracle)


all_moves = jax.jit(jax.vmap(moves))


@partial(jax.jit, static_argnums=3)
def all_free(models: Any, plants: Any, period: Any, samples: int) -> Any:
    """The motions without rig, one after the other: their steps are where their events are."""
    return jax.lax.map(lambda lane: free(*lane, period, samples), (models, plants))


class Lanes:
    """A scenario's rig against contacts of several stiffnesses (N/m), and the same contacts without rig."""

    def __init__(self, scenario: Scenario, stiffnesses: Sequence[float]):
        """ScenarioError where a rig cannot be built, or has no motion to compare with."""
        self.scenario = scenario
        self.scenarios = [with_stiffness(scenario, value) for value in stiffnesses]
        self.loops = [loop_of(each) for each in self.scenarios]
        hardest = max(range(len(self.loops)), key=lambda lane: float(self.loops[lane].stiffness))
        self.clock = rig_of(self.scenarios[hardest], self.loops[hardest], None).clock
        plain = self.rigs([None] * len(self.loops))
        self.grid = Grid.of(plain[0], scenario.content.duration)
        models = stacked([free_model(each.content) for each in self.scenarios])
        plants = stacked([rig.plant for rig in plain])
        ideal, status = all_free(models, plants, jnp.asarray(self.grid.period), self.grid.instants)
        check(scenario, status)
        self.oracle = Oracle(ideal["ideal_position"], ideal["ideal_force"])
        kept = self.grid.kept()
        self.kept = kept[kept * self.grid.period <= scenario.content.duration * (1 + 1e-9)]
        self.ideal: Arrays = {name: np.asarray(values)[:, self.kept] for name, values in ideal.items()}

    def rigs(self, compensators: Sequence[Any]) -> list[Rig]:
        """A rig a lane."""
        lanes = zip(self.scenarios, self.loops, compensators, strict=True)
        return [replace(rig_of(each, loop, made), clock=self.clock) for each, loop, made in lanes]

    def course(self, compensator: Any) -> tuple[Course, np.ndarray]:
        """What all lanes do with one compensator, and their spectral radii."""
        began = time.perf_counter()
        rigs = self.rigs([compensator] * len(self.loops))
        seed = jnp.asarray(self.scenario.content.seed)
        seen = simulated(stacked(rigs), self.oracle, seed, self.grid.rows, self.grid.stride)
        arrays = {name: np.asarray(values)[:, : len(self.kept)] for name, values in seen.items()}
        still = stacked([resting(rig, loop) for rig, loop in zip(rigs, self.loops, strict=True)])
        radii = np.array([spectral_radius(matrix) for matrix in np.asarray(all_moves(still))])
        return Course(self.kept * self.grid.period, arrays, self.ideal, time.perf_counter() - began), radii
