"""A rig over 60 s at 2 ms, after compilation, and all compensators over a range of stiffness. One process.

The time of an instant is set beside that of one step of a bare Python loop that moves a mass, which every reader can judge.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dockdyn.rig.batched_rigs import Lanes
from dockdyn.rig.build import rig_of
from dockdyn.rig.comparison.compare import section_of
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.model.rig import IdealContact
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import Grid, run_with_seed
from dockdyn.scenario.load import load

REPEATS = 7
LAWS = ("none", "fixed-gain", "command-lead", "passivity", "lead-energy")
STIFFNESSES = np.geomspace(2e3, 2e5, 20).tolist()  # N/m


def best(run: Callable[[], Any]) -> float:
    """Shortest of some runs (s), the first one not counted: it compiles."""
    times = []
    for _ in range(REPEATS + 1):
        began = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - began)
    return min(times[1:])


def plain_python(steps: int = 100_000) -> float:
    """Time (s) of one step of a mass on a spring in plain Python."""
    began, x, v = time.perf_counter(), 0.0, 0.05
    for _ in range(steps):
        x, v = x + 0.002 * v, v - 0.002 * 40.0 * x
    return (time.perf_counter() - began) / steps


def single() -> None:
    yardstick = plain_python()
    print("60 s of the loop along one direction, digital dynamics at 2 ms, robot, hold of 4 ms, delayed mean force")
    for law in LAWS:
        scenario = load("unknown-stiffness", {"duration": "60 s"})
        loop = loop_of(scenario)
        maker = CompensatorMaker(scenario, loop)
        made = None if law == "none" else maker.make(maker.complete(section_of(scenario, law)))
        rig = rig_of(scenario, loop, made)
        grid = Grid.of(rig, 60.0)
        still = jnp.zeros((1, rig.plant.port_axes))  # no compensator here asks for the motion without rig
        took = best(partial(run_with_seed, rig, IdealContact(still, still), 0, grid.rows, grid.stride))
        each = took / grid.instants
        print(
            f"  {law:14s} {1e3 * took:6.2f} ms, {1e6 * each:.3f} us an instant, {each / yardstick:.2f} of plain Python's step"
        )


def many() -> None:
    scenario = load("unknown-stiffness")
    lanes = Lanes(scenario, STIFFNESSES)
    maker = CompensatorMaker(scenario, loop_of(scenario))
    print(f"{len(STIFFNESSES)} stiffnesses, 40 s, one batched call a compensator")
    for law in LAWS:
        made = None if law == "none" else maker.make(maker.complete(section_of(scenario, law)))
        rigs = lanes.rigs(made)
        _, second = lanes.courses(rigs, [0, 0])  # the first compiles
        print(f"  {law:14s} {1e3 * second.wall_time:6.1f} ms")


if __name__ == "__main__":
    single()
    many()
