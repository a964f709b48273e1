"""The log of a served rig from the side of who serves it: a process that writes it, ready before the loop begins.

Whatever happens to that process, what the ring still holds is written: then by this one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dockdyn.files import describe_failure, parts_left, replace_files
from dockdyn.processes import module_command
from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.realtime.ring import Ring
from dockdyn.translate.c_step import CStep

READY = 120.0  # s that the process may take to begin
STUCK = 20.0  # s without a record written after which it is given up
POLL = 5e-3  # s


class NoLog(Exception):
    """A log cannot be written; the message says why in one line."""


class Kept(NamedTuple):
    """How a log ended."""

    path: Path | None  # where it is; None: nowhere
    cycles: int  # in it
    lost: int  # cycles that are not in it
    problem: str | None = None  # why its own process has not written it
    part: Path | None = None  # what that process had written, where cycles are lost

    @property
    def words(self) -> list[str]:
        """Lines for who has served the rig, without where a log is that has all."""
        if self.problem is None:
            return [f"{self.lost} cycles are not in the log: this computer was too slow"] if self.lost else []
        if self.path is None:
            return [f"the log is lost: {self.problem}"]
        found = [f"{self.problem}; what was still in memory, the last {self.cycles} cycles, was written in its place"]
        if self.lost:
            part = f"; the unfinished file of that process is {self.part}" if self.part else ""
            found.append(f"the {self.lost} cycles before are not in the log{part}")
        return found


class RigLog:
    """A log that a process of its own writes from a ring."""

    def __init__(self, ring: Ring, step: CStep, scenario: str, path: Path, inherited: Sequence[int]):
        """Starts the process, which has the descriptors that are `inherited`."""
        self.ring, self.scenario, self.path, self.kept = ring, scenario, path, Kept(None, 0, 0)
        words = module_command("dockdyn.realtime.log_writer", str(ring.path), str(path))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(words, start_new_session=True, pass_fds=inherited, **pipes)  # type: ignore[call-overload]
        entries = [[list(each) for each in part] for part in (step.inputs, step.outputs)]
        facts = {"entries": entries, "scenario": scenario, "server": os.getpid()}
        with contextlib.suppress(BrokenPipeError):  # it has ended: noticed by `await_ready`
            self.process.stdin.write(json.dumps(facts).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def running(self) -> bool:
        """Whether the process still writes."""
        return self.process.poll() is None

    def await_ready(self) -> None:
        """Wait until the process can write. Raises NoLog where it cannot."""
        if not select.select([self.process.stdout], [], [], READY)[0]:
            raise NoLog(f"{self.path}: the process that writes the log does not begin within {READY:g} s")
        told = self._hear_process()
        if "ready" not in told:
            raise NoLog(told.get("problem") or f"{self.path}: {self._end_of_process()}")

    def _hear_process(self) -> dict[str, Any]:
        """Return the next that the process says; nothing where it has ended."""
        found: dict[str, Any] = json.loads(self.process.stdout.readline() or b"{}")
        return found

    def _end_of_process(self) -> str:
        """Return how the process ended."""
        code = self.process.wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
        return f"the process that writes the log {how}"

    def end(self) -> None:
        """Wait for the log of a loop that has ended; write it here where its process does not."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        stuck = not self._wait_while_it_writes()
        told = {} if stuck else self._hear_process()
        if "cycles" in told:
            self.kept = Kept(self.path, **told)
        elif self.ring.written:
            ended = f"the process that writes the log stood still for {STUCK:g} s" if stuck else self._end_of_process()
            self.kept = self._write_here(told.get("problem") or ended)
        self.process.stdout.close()

    def _wait_while_it_writes(self) -> bool:
        """Return whether the process ends by itself, as long as it goes on; one that does not is killed."""
        seen, deadline = -1, time.monotonic() + STUCK
        while self.running and time.monotonic() < deadline:
            time.sleep(POLL)
            if self.ring.head["logged"] != seen:
                seen, deadline = int(self.ring.head["logged"]), time.monotonic() + STUCK
        if self.running:
            self.process.kill()
            self.process.wait()
            return False
        return True

    def _write_here(self, problem: str) -> Kept:
        """Write what the ring still holds: to the log, or where temporary files are."""
        rows, lost = self.ring.since(0)
        began = int(self.ring.head["began"])
        for path in (self.path, Path(tempfile.gettempdir()) / f"{self.path.stem}-{os.getpid()}{self.path.suffix}"):
            try:
                with replace_files(path) as (file,):
                    writer = RigLogWriter(file, rows.dtype, self.scenario)
                    for place, row in enumerate(rows):
                        writer.write(row, lost + place, began)
                    writer.finish(lost)
            except OSError as error:
                problem = f"{problem}; {describe_failure(error)}"
            else:
                return Kept(path, len(rows), lost, problem, self._read_unfinished(keep=lost > 0))
        return Kept(None, 0, len(rows) + lost, problem, self._read_unfinished(keep=True))

    def _read_unfinished(self, keep: bool) -> Path | None:
        """Return what a process that was killed had written, if it is kept."""
        parts = parts_left(self.path.resolve(), self.process.pid)
        if keep:
            return parts[-1] if parts else None
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
        return None


@contextlib.contextmanager
def keep_log(ring: Ring, step: CStep, scenario: str, path: Path, inherited: Sequence[int]) -> Iterator[RigLog]:
    """Keep the log of a ring, ready to be written when the block begins, and written when it has ended. Raises NoLog."""
    log = RigLog(ring, step, scenario, path, inherited)
    try:
        log.await_ready()
        yield log
    finally:
        log.end()
