"""Record what all presets give, and compare two records: whether a change of structure left every number as it was.

    python benchmarks/golden.py record before            # once on the commit before the change, with its own code
    python benchmarks/golden.py record after
    python benchmarks/golden.py compare before after

A record holds, for every preset on both backends, the run as stated and six drawn at random: events, summary and variables;
the processor time of a first run (nothing compiled before) and of one that is repeated; and of a campaign of 512 cases.
Times are compared as ratios: record both on the same machine, which does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import dockdyn
from dockdyn.backend import BACKENDS, VARIABLE
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.load import Scenario
from dockdyn.studies.campaign.conduct import compute_in_process, plan_campaign, run_nominal
from dockdyn.studies.cases.batch import runs_in_batches
from dockdyn.studies.cases.sampling import sample

SEEDS = 6
SPREAD = 0.01  # of each number, where the scenario distributes none
REPEATS = 3
CASES = 512
CLOCKS = ("wall_time", "microseconds", "version")  # parts of names that tell of the machine, not of the motion
TIMES = ("first_run_s", "run_s", "campaign_s")


def drawn(scenario: Scenario, seed: int) -> Scenario:
    """Return a case of the scenario's own distributions; where it has none, one with every tenth number moved a little."""
    if scenario.dispersions:
        cases = sample(scenario, 1, seed, "random")
        return scenario.at(dict(zip(cases.keys, cases.values[0].tolist(), strict=True)))
    draw = random.Random(seed)
    changes: dict[str, float] = {}
    for place in places_of(scenario):
        if place.value and draw.random() < 0.1:
            changes |= place.written(place.value * (1 + draw.uniform(-SPREAD, SPREAD)))
    try:
        return scenario.at(changes)
    except ScenarioError:
        return drawn(scenario, seed + 1000)


def numbers(thing: object, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number inside dictionaries and lists, by its dotted name; what tells of the machine is left out."""
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from numbers(value, f"{name}.{key}" if name else str(key))
    elif isinstance(thing, list | tuple):
        for place, value in enumerate(thing):
            yield from numbers(value, f"{name}.{place}")
    elif isinstance(thing, int | float) and not any(part in name for part in CLOCKS):
        yield name, float(thing)


def facts(run: xr.Dataset) -> dict[str, Any]:
    """Return the summary of a run, and its variables that are numbers."""
    variables = {
        str(name): values.values.ravel().tolist()
        for name, values in run.variables.items()
        if values.dtype.kind in "fib"
    }
    return {"summary": dict(numbers(dockdyn.summarise(run))), "variables": variables}


def processor_seconds(work: Any) -> tuple[float, Any]:
    began = time.process_time()
    made = work()
    return time.process_time() - began, made


def record_preset(preset: str, out: Path) -> None:
    """Record one preset on the backend of this process, which has run nothing else."""
    scenario = dockdyn.load(preset)
    found: dict[str, Any] = {}
    found["first_run_s"], run = processor_seconds(lambda: dockdyn.simulate(scenario))
    found["run_s"] = min(processor_seconds(lambda: dockdyn.simulate(scenario))[0] for _ in range(REPEATS))
    found["runs"] = {"as stated": facts(run)}
    for seed in range(SEEDS):
        found["runs"][f"seed {seed}"] = facts(dockdyn.simulate(drawn(scenario, seed)))
    if scenario.dispersions and runs_in_batches(scenario):
        campaign = plan_campaign(scenario, CASES)
        run_nominal(scenario, campaign)
        found["campaign_s"], _ = processor_seconds(lambda: list(compute_in_process(campaign, range(campaign.chunks))))
    out.write_text(json.dumps(found), encoding="utf-8")


def record(folder: Path, presets: list[str]) -> None:
    """Record presets on both backends, each in a process of its own with nothing compiled before."""
    folder.mkdir(parents=True, exist_ok=True)
    for backend in BACKENDS:
        for preset in presets:
            out = folder / f"{preset}.{backend}.json"
            if out.exists():  # gone on with
                continue
            print(f"{preset} on {backend} …", flush=True)
            with tempfile.TemporaryDirectory() as cache:
                there = {**os.environ, VARIABLE: backend, "XDG_CACHE_HOME": cache}
                call = [sys.executable, "-W", "ignore", __file__, "preset", preset, str(out)]
                if subprocess.run(call, env=there, check=False).returncode:
                    print(f"{preset} on {backend}: failed", flush=True)


def difference(before: list[float], after: list[float], scale: float) -> float:
    """Return the largest difference over the scale; infinite where they are not as many, or not both known."""
    old, new = np.asarray(before, float), np.asarray(after, float)
    if old.shape != new.shape or (np.isnan(old) != np.isnan(new)).any():
        return np.inf
    moved = np.abs(np.where(old == new, 0.0, new - old))
    return float(np.nanmax(moved, initial=0.0)) / (scale or 1.0)


def largest(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[float, str]]:
    """Return the largest differences of event times (s), of peaks, of other figures and of variables (of each), and where."""
    found = dict.fromkeys(("events", "peaks", "figures", "variables"), (0.0, ""))

    def meet(what: str, size: float, where: str) -> None:
        if size > found[what][0]:
            found[what] = size, where

    for case, old in before["runs"].items():
        new = after["runs"].get(case, {"summary": {}, "variables": {}})
        for name, value in old["summary"].items():
            timed = name.rpartition(".")[2].endswith("_s") and any(
                part in name for part in ("time", "first", "onset", "release")
            )
            kind = "events" if timed else "peaks" if "peak" in name else "figures"
            other = new["summary"].get(name, np.nan)
            scale = 1.0 if kind == "events" or "error" in name else abs(value)
            meet(kind, difference([value], [other], scale), f"{case}: {name}")
        for name, values in old["variables"].items():
            timed = name in ("event_time", "episode_onset", "episode_release", "episode_peak_time")
            scale = 1.0 if timed else float(np.nanmax(np.abs(np.asarray(values, float)), initial=0.0))
            meet(
                "events" if timed else "variables",
                difference(values, new["variables"].get(name, []), scale),
                f"{case}: {name}",
            )
    return found


def compare(before: Path, after: Path) -> None:
    """Print a row for every preset and backend: largest differences with their place, and ratios of times."""
    print(
        f"{'preset, backend':34}{'events, s':>10}{'peaks':>10}{'figures':>10}{'variables':>10}{'first':>7}{'run':>7}{'512':>7}"
    )
    for file in sorted(before.glob("*.json")):
        name = file.stem.replace(".", ", ")
        if not (after / file.name).exists():
            print(f"{name:34}{'not recorded after':>20}")
            continue
        old, new = (json.loads((folder / file.name).read_text(encoding="utf-8")) for folder in (before, after))
        found = largest(old, new)
        ratios = [f"{new[key] / old[key]:.2f}" if key in old and key in new else "-" for key in TIMES]
        sizes = "".join(f"{size:10.1e}" for size, _ in found.values())
        print(f"{name:34}{sizes}" + "".join(f"{ratio:>7}" for ratio in ratios))
        for what, (size, where) in found.items():
            if size > 1e-9:
                print(f"    {what}: {where}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("presets", nargs="*", default=list(dockdyn.presets()))
    one = verbs.add_parser("preset")
    one.add_argument("preset")
    one.add_argument("out", type=Path)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = parser.parse_args()
    if asked.verb == "record":
        record(asked.folder, asked.presets)
    elif asked.verb == "preset":
        record_preset(asked.preset, asked.out)
    else:
        compare(asked.before, asked.after)


if __name__ == "__main__":
    main()
