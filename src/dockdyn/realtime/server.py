"""The loop of a driven rig in a process of its own, beside a process that writes its log; both end with who started them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dockdyn.hil.operation import Request, State
from dockdyn.processes import module_command
from dockdyn.realtime.connections import Connections, NotConnected, connected
from dockdyn.realtime.device_kinds import ASKED, Devices
from dockdyn.realtime.ring import FOR_EVER, Ring, make_ring, record_type
from dockdyn.realtime.wakeups import PRIORITY, SECOND
from dockdyn.scenario.tables.rig.devices import DevicesSection, RobotDevice, SensorDevice, URSection
from dockdyn.translate.c_library import compiled
from dockdyn.translate.c_step import CStep

LOOP = Path(__file__).parent / "loop"
REMEMBERED = 60.0  # s of records in the ring
PATIENCE = 5.0  # s, for a process to begin, to go on or to end
POLL = 5e-3  # s


class Refused(Exception):
    """The loop cannot run here; the message says why in one line."""


class Settings(NamedTuple):
    """How the loop shall run."""

    best_effort: bool = False  # also without the rights that real time needs
    cpu: int | None = None
    priority: int = PRIORITY


class ServedRig:
    """A loop that runs; what it tells, and what it is asked."""

    def __init__(self, process: subprocess.Popen[bytes], ring: Ring):
        self.process, self.ring, self.read = process, ring, 0
        self.lost = 0  # records that were overwritten before they were read here

    def ask(self, request: Request) -> None:
        """What the operator asks for; the next cycle takes it."""
        self.ring.head["request"] = int(request)

    def hold(self, seconds: float | None) -> None:
        """Hold-to-run is held for so long (s) from now; None: for ever."""
        self.ring.head["held_until"] = FOR_EVER if seconds is None else time.monotonic_ns() + int(seconds * SECOND)

    def news(self) -> np.ndarray:
        """The records since the last call."""
        found, lost = self.ring.since(self.read)
        self.read, self.lost = self.read + lost + len(found), self.lost + lost
        return found

    @property
    def running(self) -> bool:
        """Whether the process still runs."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Brake and end the loop, if it runs; one that neither ends nor goes on braking is killed."""
        if self.running:
            self.process.terminate()
        seen, deadline = -1, time.monotonic() + PATIENCE
        while self.running and time.monotonic() < deadline:
            time.sleep(POLL)
            last = self.ring.last()
            if self.ring.written != seen and last is not None and last["outputs"]["state"] == State.STOPPING:
                seen, deadline = (
                    self.ring.written,
                    time.monotonic() + PATIENCE,
                )  # it ends after a known number of cycles
        if self.running:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE)
        self.ring.head["over"] = 1


@contextlib.contextmanager
def served(
    step: CStep, devices: Devices, section: DevicesSection, scenario: str, log: Path | None, settings: Settings
) -> Iterator[ServedRig]:
    """The loop while the block runs, which should end with a rig at rest: else it is braked first.

    `scenario` is its text, for the log. Raises Refused where the system does not allow real time and `best_effort` is
    false, where an address is taken, and where the loop ends before the block; NoCompiler without a C compiler.
    """
    with contextlib.ExitStack() as stack:
        connections: Connections | None = None
        if isinstance(section.robot, URSection):
            try:
                connections = stack.enter_context(connected(section.robot, devices.robot_settings))
            except NotConnected as error:
                raise Refused(f"rig.device.robot: {error}") from None
            devices = devices._replace(robot_settings=connections.settings)
        program = loop_program(step, devices)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dockdyn-rig-", dir=_shared_folder())))
        ring, image = folder / "ring", folder / "image"
        make_ring(ring, step, max(int(REMEMBERED / devices.period), 1000))
        image.write_bytes(step.image)
        robot, descriptors = _way(section.robot), list[int]()
        if connections is not None:
            try:
                connections.start()
            except NotConnected as error:
                raise Refused(f"rig.device.robot: {error}") from None
            descriptors = [connections.told.fileno(), connections.commands.fileno()]
            robot = "use:{}:{}".format(*descriptors)
        words = [str(program), str(ring), str(image), str(round(devices.period * SECOND)), str(int(devices.by_clock))]
        words += [str(settings.priority), str(-1 if settings.cpu is None else settings.cpu)]
        words += [str(int(settings.best_effort)), _way(section.sensor), robot]
        process = stack.enter_context(
            subprocess.Popen(words, stderr=subprocess.PIPE, start_new_session=True, pass_fds=descriptors)
        )
        rig = ServedRig(process, Ring(ring, record_type(step)))
        stack.callback(rig.stop)
        _wait_for_begin(rig)
        with _logging(rig.ring, ring, step, scenario, log):
            try:
                yield rig
                _end(rig)
            finally:
                rig.stop()


def _way(device: SensorDevice | RobotDevice) -> str:
    """How a device is reached, as the loop takes it."""
    return f"{'ask' if device.kind in ASKED else 'hear'}:{device.host}:{device.port}"


def loop_program(step: CStep, devices: Devices) -> Path:
    """The program of the loop around a cycle. Raises NoCompiler without a C compiler."""
    files = devices.c_files() | {source.name: source.read_text() for source in LOOP.iterdir()}
    return compiled(files | {f"{step.name}.h": step.header, f"{step.name}.c": step.source})


def _shared_folder() -> str | None:
    """Where files are memory, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _wait_for_begin(rig: ServedRig) -> None:
    """Waits until the loop runs. Raises Refused where it does not."""
    deadline = time.monotonic() + PATIENCE
    while not rig.ring.written:
        if not rig.running:
            raise Refused(_words_of(rig))
        if time.monotonic() > deadline:
            raise Refused("the loop does not begin")
        time.sleep(POLL)


def _words_of(rig: ServedRig) -> str:
    """Why the loop has ended."""
    said = rig.process.stderr.read().decode(errors="replace").strip() if rig.process.stderr else ""
    reasons = {
        3: f"{said}; give the user the limits rtprio and memlock, or take --best-effort",
        4: f"the network: {said}",
        6: "a cycle met what C cannot do",
    }
    return reasons.get(rig.process.returncode, f"the loop has ended with {rig.process.returncode}: {said}")


def _end(rig: ServedRig) -> None:
    """Ends a loop whose rig is at rest. Raises Refused where it has ended by itself."""
    if not rig.running:
        raise Refused(_words_of(rig))
    rig.ring.head["quit"] = 1
    with contextlib.suppress(subprocess.TimeoutExpired):
        rig.process.wait(PATIENCE)


@contextlib.contextmanager
def _logging(ring: Ring, path: Path, step: CStep, scenario: str, log: Path | None) -> Iterator[None]:
    """A process that writes the log of a ring in a file, until the block ends and the loop with it."""
    if log is None:
        yield
        return
    entries = [[list(each) for each in part] for part in (step.inputs, step.outputs)]
    facts = {"entries": entries, "scenario": scenario, "server": os.getpid()}
    words = module_command("dockdyn.realtime.log_writer", str(path), str(log))
    process = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
    assert process.stdin is not None
    try:
        with contextlib.suppress(BrokenPipeError):  # it has ended: told below
            process.stdin.write(json.dumps(facts).encode() + b"\n")
            process.stdin.flush()
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        code = _wait_while_it_writes(process, ring)
    if code:
        raise Refused(f"{log}: the log cannot be written")


def _wait_while_it_writes(process: subprocess.Popen[bytes], ring: Ring) -> int:
    """Waits for the process of the log, as long as it goes on; one that does not is killed. Its exit code."""
    seen, deadline = -1, time.monotonic() + 2 * PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(POLL)
        if ring.head["logged"] != seen:
            seen, deadline = int(ring.head["logged"]), time.monotonic() + 2 * PATIENCE
    if process.poll() is None:
        process.kill()
    return process.wait()
