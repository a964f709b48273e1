"""Lanes of a campaign, lanes of derivatives and a stability chart on whatever device JAX finds, checked against the CPU.

`python benchmarks/gpu.py` runs all three on the device and again on the CPU in a process of its own, compares the results and
prints cases a second of both. `--lanes N` says how many; `--cores N` keeps the CPU's process to so many cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

from dockdyn.docking.resting import nominal_loop, nominal_of
from dockdyn.programs import Program
from dockdyn.results.linearised import Numbers, content_of
from dockdyn.results.unit import run_through, tell
from dockdyn.scenario.load import load
from dockdyn.stability.growth import growth_rates
from dockdyn.studies.cases.lanes import at_once, run_lanes, short_settings

REPEATS = 3
MOMENTUM = 1e-10  # relative: the largest error of momentum that a lane may have
ALIKE = 1e-7  # relative: how far figures and derivatives of two devices may differ
FIGURES = ("peak_force_N", "contact.onset_s", "contact.impulse_N_s")
SPREAD = 0.2  # of speed, stiffness and damping, to either side


def contents(lanes: int) -> list[Any]:
    """Contents of `probe-cone`, each with another speed, stiffness and damping."""
    scenario = load("probe-cone", {"duration": "9 s", "approach.distance": "5 mm"})
    factors = 1 + SPREAD * np.random.default_rng(1).uniform(-1, 1, (lanes, 3))
    keys = ("approach.closing_speed", "contact.probe.normal.stiffness", "contact.probe.normal.damping")
    own = [
        scenario.content.approach.closing_speed,
        *(dict(scenario.content.contact[0].normal)[n] for n in ("stiffness", "damping")),
    ]
    return [scenario.at(dict(zip(keys, (row * own).tolist(), strict=True))).content for row in factors]


@partial(Program, static=("structure", "kind", "figure", "side_by_side"))
def slopes_of_lanes(
    numbers: Any,
    arrays: Any,
    settings: Any,
    direction: Any,
    structure: Any,
    kind: str,
    figure: str,
    side_by_side: int | None,
) -> Any:
    """The derivative of a figure along a direction, of every lane."""

    def one(values: Any) -> Any:
        def found(values: Any) -> Any:
            content = content_of(structure, list(values), arrays)
            return tell(kind, content, settings, run_through(content, settings)).figures[figure]

        return jax.jvp(found, (values,), (direction,))[1]

    return jax.lax.map(one, numbers, batch_size=side_by_side)


def timed(work: Any) -> tuple[Any, float]:
    """What it answers, and its shortest time (s) once compiled."""
    found, best = jax.tree.map(np.asarray, work()), np.inf
    for _ in range(REPEATS):
        began = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - began)
    return found, best


def measured(lanes: int) -> dict[str, np.ndarray]:
    """Results and rates (1/s) of all three on this process's device."""
    given = contents(lanes)
    (figures, status, _, _), took = timed(lambda: run_lanes(given[0].kind, given, sampled=True))
    found = {f"figure {name}": figures[name] for name in (*FIGURES, "contact.count", "linear_momentum_error")}
    found |= {"status": status, "rate campaign": np.array(lanes / took)}
    own = [Numbers.of(content) for content in given]
    direction = np.zeros(len(own[0].values))
    direction[np.flatnonzero(np.ptp([one.values for one in own], axis=0))[0]] = 1.0
    rows = np.stack([one.values for one in own])
    static = {"structure": own[0].structure, "kind": given[0].kind, "figure": FIGURES[0], "side_by_side": at_once()}
    slopes, took = timed(lambda: slopes_of_lanes(rows, own[0].arrays, short_settings(given[0]), direction, **static))
    found |= {"slopes": slopes, "rate derivatives": np.array(lanes / took)}
    scenario = load("probe-cone")
    loop, _ = nominal_loop(scenario, nominal_of(scenario))
    stiffness = np.linspace(0.5, 2, lanes) * float(loop.stiffness)
    many = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (lanes, *np.shape(leaf))), loop)
    many = type(loop)(**{**vars(many), "stiffness": stiffness})
    growth, took = timed(lambda: growth_rates(many))
    return found | {"growth": growth, "rate stability chart": np.array(lanes / took)}


def compared(here: dict[str, np.ndarray], there: dict[str, np.ndarray]) -> list[str]:
    """What of the results differs more than it may."""
    wrong = []
    for name, values in here.items():
        if name.startswith("rate"):
            continue
        other = there[name]
        if name in ("status", "figure contact.count"):
            wrong += [name] * (not np.array_equal(values, other))
        elif name.endswith("momentum_error"):
            wrong += [f"{name} {values.max():.1e}"] * bool(values.max() > MOMENTUM)
        else:
            scale = np.nanmax(np.abs(other))
            off = float(np.nanmax(np.abs(values - other)) / scale)
            wrong += [f"{name} {off:.1e}"] * (not off <= ALIKE)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lanes", type=int, default=512)
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.into is not None:
        np.savez(given.into, **measured(given.lanes))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cpu.npz"
        command = [sys.executable, __file__, "--lanes", str(given.lanes), "--into", str(file)]
        limit = partial(os.sched_setaffinity, 0, sorted(os.sched_getaffinity(0))[: given.cores])
        subprocess.run(command, check=True, env=os.environ | {"JAX_PLATFORMS": "cpu"}, preexec_fn=limit)
        there = dict(np.load(file))
    here = measured(given.lanes)
    device = jax.devices()[0]
    print(
        f"{given.lanes} lanes, best of {REPEATS}, compiled before; {device.device_kind} beside {given.cores} CPU cores"
    )
    for name in (name for name in here if name.startswith("rate")):
        words = name.removeprefix("rate ")
        print(f"  {words:20s} {float(here[name]):12.1f} cases/s, CPU {float(there[name]):12.1f} cases/s")
    wrong = compared(here, there)
    print("  results agree" if not wrong else f"  results DIFFER: {'; '.join(wrong)}")
    if device.platform == "cpu":
        print("  JAX found no accelerator: both are the CPU")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
