"""The live view of a driven rig: a process of its own that reads the ring of the loop and shows browsers what it says.

It can change nothing in the ring, and the loop knows nothing of it: where it ends the rig goes on. It ends with who started it.

`python -m dockdyn.realtime.live_view` reads, as a line of JSON each, the scenario and the port, then, once the loop runs, its
ring and the entries of a cycle; it prints a line of JSON with its address, or with why there is none.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.processes import module_command
from dockdyn.realtime.ring import Ring, record_type
from dockdyn.realtime.wakeups import SECOND
from dockdyn.report.scene.live import LivePage, live_page
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import load
from dockdyn.scenario.setups import setup_named
from dockdyn.translate.c_step import CStep, Entry

LOOPBACK = "127.0.0.1"
PAUSE = 0.05  # s between two looks at the ring
SILENT = 1.0  # s without a record after which the page says so
PATIENCE = 5.0  # s, for the process to end
LAST = 1.0  # s in which browsers are still told that it is over
BEHIND = 10  # by which it is nicer than who started it


class NoLiveView(Exception):
    """It cannot be shown; the message says why in one line."""


class LiveView:
    """The process of a live view, and where it is shown."""

    def __init__(self, process: subprocess.Popen[bytes], address: str):
        self.process, self.address = process, address

    def show(self, ring: Ring, step: CStep) -> None:
        """Show from now on the ring of a loop around a cycle."""
        entries = [[list(each) for each in part] for part in (step.inputs, step.outputs)]
        _send_facts(self.process, {"ring": str(ring.path), "entries": entries})

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None


@contextlib.contextmanager
def live_view(scenario: str, given: dict[str, Any], port: int) -> Iterator[LiveView]:
    """Show a live view of a scenario (file or preset, keys changed as `given`), on a port of this computer, while the block
    runs.

    Raises NoLiveView where there can be none.
    """
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    words = module_command("dockdyn.realtime.live_view")
    process = subprocess.Popen(words, start_new_session=True, **pipes)  # type: ignore[call-overload]
    try:
        _send_facts(process, {"scenario": scenario, "given": given, "port": port})
        told = json.loads(process.stdout.readline() or '{"problem": "its process has ended"}')
        if "problem" in told:
            raise NoLiveView(f"--view: {told['problem']}")
        yield LiveView(process, told["address"])
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _send_facts(process: subprocess.Popen[bytes], facts: dict[str, Any]) -> None:
    """Send a line of JSON to a process, which may have ended."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(json.dumps(facts).encode() + b"\n")
        process.stdin.flush()


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    os.nice(BEHIND)
    logging.disable(logging.CRITICAL)  # nobody reads what the server says of a browser that is closed
    warnings.simplefilter("ignore")
    facts = json.loads(sys.stdin.buffer.readline())
    with contextlib.ExitStack() as stack:
        try:
            scenario = load(facts["scenario"], facts["given"])
            live = setup_named(scenario.setup).driver(scenario).live_scene()
            page = stack.enter_context(live_page(live, LOOPBACK, facts["port"]))
        except (ScenarioError, OSError, RuntimeError) as error:
            print(json.dumps({"problem": str(error)}), flush=True)
            return
        page.tell(["waiting", "The loop has not begun."])
        print(json.dumps({"address": page.address}), flush=True)
        if line := sys.stdin.buffer.readline():
            _follow_ring(page, json.loads(line))
        last, *more = page.words
        page.tell(["over", "The server has ended; nothing is shown any more.", f"Last: {last}", *more])
        time.sleep(LAST)


def _follow_ring(page: LivePage, facts: dict[str, Any]) -> None:
    """Show the newest record of a ring, until the input ends."""
    inputs, outputs = ([Entry(name, dtype, tuple(shape)) for name, dtype, shape in part] for part in facts["entries"])
    ring = Ring(Path(facts["ring"]), record_type(CStep("cycle", "", "", inputs, outputs, b"")), reads=True)
    seen, when = 0, time.monotonic()
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        row, written = ring.last(), ring.written
        if row is None:
            continue
        if written != seen:
            seen, when = written, time.monotonic()
            show_record(page, row)
            page.tell(words_of(row))
        elif (gone := time.monotonic() - when) > SILENT:
            page.tell(["no news", f"The loop has said nothing for {gone:.0f} s."])


def show_record(page: LivePage, row: np.ndarray) -> None:
    """Show a record: the robot where its encoders are, once it was heard, the model where the computer has it, the force that
    acts on it."""
    out, told = row["outputs"], row["inputs"]
    model = out["model_pose"]
    robot = told["pose"] if told["pose_count"] >= 0 else out["command"] if out["send"] else model
    page.move(robot, model, out["load"])


def words_of(row: np.ndarray) -> list[str]:
    """Return a record in words: its state, and lines on it."""
    out, told = row["outputs"], row["inputs"]
    state, cause = OperationState(int(out["state"])), Cause(int(out["cause"]))
    why = [] if cause == Cause.NONE else [f"stopped: {cause.name.lower().replace('_', ' ')}"]
    force = float(np.linalg.norm(out["load"][:3]))
    heard = [
        f"nothing is heard of the {words} yet"
        for name, words in (("load", "sensor"), ("pose", "robot"))
        if told[f"{name}_count"] < 0
    ]
    rows = [*why, *heard, f"time {row['time'] / SECOND:.1f} s", f"force {force:.2f} N"]
    rows += [f"robot {_format_pose(told['pose'])}"] if told["pose_count"] >= 0 else []
    rows += [f"model {_format_pose(out['model_pose'])}"]
    return [state.name.lower(), *rows]


def _format_pose(pose: np.ndarray) -> str:
    """Return a pose, its places in mm and turns in degrees."""
    places = ", ".join(f"{value:.1f}" for value in 1e3 * pose[:3])
    turns = ", ".join(f"{value:.2f}" for value in np.degrees(pose[3:]))
    return f"{places} mm{f'; {turns}°' if turns else ''}"


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
