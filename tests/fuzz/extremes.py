"""Scenarios with numbers at the edge of what floats hold, run in a worker that is watched."""

import json
import math
import os
import random
import select
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import tomlkit

TINY = (0.0, -0.0, 5e-324, 1e-300, 1e-150, 1e-30, 1e-24, 1e-18, 1e-12)
HUGE = (1e12, 1e18, 1e24, 1e30, 1e150, 1e300)
SCALES = (-1.0, 1e-9, 1e-5, 1e-2, 1e2, 1e4, 1e9)  # of what is there
LEFT = ("schema", "max_steps")  # who raises the limit of steps asks for the time
SECONDS = 240.0  # of a processor that a run may take, compilation included
PATIENCE = 1800.0  # s, of a wall clock, on a machine that has others to serve
GIBIBYTES = 6.0  # that a worker may hold


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a scenario its numbers are, texts with a unit included."""
    if isinstance(data, dict):
        pairs: Any = data.items()
    elif isinstance(data, list):
        pairs = enumerate(data)
    else:
        number = not isinstance(data, bool) and parted(data) is not None
        return [path] if number and path[-1] not in LEFT else []
    return [place for key, value in pairs for place in places(value, (*path, key))]


def parted(value: Any) -> tuple[float, str] | None:
    """Number and unit of a value; None for what is no number."""
    if isinstance(value, int | float):
        return float(value), ""
    first, _, unit = str(value).partition(" ")
    try:
        return float(first), unit
    except ValueError:
        return None


def mutate(data: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """Changes a few numbers of a scenario in place; returns what was changed, by key."""
    changed: dict[str, Any] = {}
    for place in chance.sample(places(data), k=chance.choice((1, 1, 1, 2, 3))):
        holder: Any = data
        for key in place[:-1]:
            holder = holder[key]
        value, unit = parted(holder[place[-1]]) or (0.0, "")
        drawn = chance.choice((*TINY, *HUGE, *(value * scale for scale in SCALES)))
        new: Any = round(drawn) if isinstance(holder[place[-1]], int) else drawn
        holder[place[-1]] = f"{new!r} {unit}" if unit else new
        changed[".".join(map(str, place))] = holder[place[-1]]
    return changed


def mutated(preset: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A preset with every default written out and a few numbers changed, and what was changed."""
    import dockdyn

    chance = random.Random(f"{preset} {seed}")
    data = dockdyn.load(preset).resolved()
    return data, mutate(data, chance)


PEAK = "peak_force_N"  # what a sensitivity is asked of


def answer(scenario: Any, study: str) -> tuple[int, Any, str]:
    """Exit code of a command, what it would print as JSON, and why it stopped."""
    import dockdyn

    if study == "run":
        dataset = dockdyn.simulate(scenario)
        return (0 if dataset.attrs["finished"] else 3), dockdyn.summarise(dataset), str(dataset.attrs["status"])
    if study == "stability":
        return 0, dockdyn.margins(scenario), ""
    if study == "sensitivity":
        return 0, dockdyn.sensitivity(scenario, PEAK), ""
    if study == "envelope":
        speed = "body.chaser.velocity" if scenario.content.approach is None else "approach.closing_speed"
        over = {speed: (0.01, 0.1)}  # m/s
        return 0, json.loads(dockdyn.envelope(scenario, over, tolerance=0.1).attrs["envelope"]), ""
    raise ValueError(study)


def outcome(preset: str, seed: int, study: str = "run", most_steps: int | None = None) -> dict[str, Any]:
    """What becomes of a mutated preset: its exit code, or the fault."""
    import dockdyn

    data, changed = mutated(preset, seed)
    if most_steps is not None and "max_steps" in data.get("integrator", {}):
        data["integrator"]["max_steps"] = most_steps
    found: dict[str, Any] = {"preset": preset, "seed": seed, "study": study, "changed": changed}
    began = time.process_time()
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scenario.toml"
            file.write_text(tomlkit.dumps(data))
            scenario = dockdyn.load(file)
        code, printed, words = answer(scenario, study)
        json.dumps(printed, allow_nan=False)
        found |= {"code": code, "words": words}
    except dockdyn.ScenarioError as error:
        found |= {"code": 2, "words": str(error)}
        if not (str(error).isprintable() and str(error).startswith(str(file))):
            found["fault"] = "not one printable line that names the file"
    except BaseException as error:
        found["fault"] = f"{type(error).__name__}: {error}"[:300]
        found["trace"] = traceback.format_exc()[-1500:]
    return found | {"seconds": round(time.process_time() - began, 3)}


class Worker:
    """A process that makes one run after the other, ended when a run takes too long or too much memory."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def begin(self) -> subprocess.Popen[str]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        return self.process

    def __call__(self, preset: str, seed: int, study: str = "run", most_steps: int | None = None) -> dict[str, Any]:
        """The `outcome`, or the fault that ended the process."""
        process = self.begin()
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps([preset, seed, study, most_steps]), file=process.stdin, flush=True)
        began, used, fault = time.monotonic(), worked(process.pid), ""
        while not select.select([process.stdout], [], [], 0.5)[0]:
            if worked(process.pid) - used > SECONDS or time.monotonic() - began > PATIENCE:
                fault = f"hung: more than {SECONDS:g} s"
            elif held(process.pid) > GIBIBYTES:
                fault = f"more than {GIBIBYTES:g} GiB"
            if fault:
                break
        line = "" if fault else process.stdout.readline()
        if line:
            return json.loads(line)
        process.kill()
        code = process.wait()
        found = {"preset": preset, "seed": seed, "study": study, "changed": mutated(preset, seed)[1]}
        return found | {"fault": fault or f"died ({code})", "seconds": time.monotonic() - began}

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def held(process: int) -> float:
    """GiB of memory that a process holds."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return math.nan
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


def worked(process: int) -> float:
    """Seconds of a processor that a process has used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.nan
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve() -> None:
    """Answers the jobs on standard input, a line each."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what anything else prints
    for line in sys.stdin:
        print(json.dumps(outcome(*json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    serve()
