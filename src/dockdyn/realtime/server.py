"""The loop of a driven rig in a process of its own, beside a process that writes its log; both end with who started them.

The loop begins when the process of the log is ready. No other rig of this computer has its devices or the file of its log.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dockdyn.files import is_special
from dockdyn.hil.operation import OperationState, Request
from dockdyn.realtime.claims import Taken, claim_names
from dockdyn.realtime.connections import Connections, NotConnected
from dockdyn.realtime.devices.roles import Device
from dockdyn.realtime.log_process import NoLog, RigLog, keep_log
from dockdyn.realtime.rig_devices import Devices
from dockdyn.realtime.ring import FOR_EVER, Ring, make_ring, record_type
from dockdyn.realtime.wakeups import PRIORITY, SECOND
from dockdyn.translate.c_library import compile_texts
from dockdyn.translate.c_step import CStep

LOOP = Path(__file__).parent / "loop"
NOT_HEARD = "dockdyn rig doctor says what must be set on a device, dockdyn rig emulate stands for it"
REMEMBERED = 60.0  # s of records in the ring
BEGIN = 60.0  # s that the loop may take to begin
PATIENCE = 5.0  # s, for the loop to go on or to end
POLL = 5e-3  # s


class Refused(Exception):
    """The loop cannot run here; the message says why in one line."""


class ServerSettings(NamedTuple):
    """How the loop shall run."""

    best_effort: bool = False  # also without the rights that real time needs
    cpu: int | None = None
    priority: int = PRIORITY


class ServedRig:
    """A loop that runs; what it tells, and what it is asked."""

    def __init__(self, process: subprocess.Popen[bytes], ring: Ring, log: RigLog):
        self.process, self.ring, self.log, self.read = process, ring, log, 0
        self.lost = 0  # records that were overwritten before they were read here

    def ask(self, request: Request) -> None:
        """Put what the operator asks for where the next cycle takes it."""
        self.ring.head["request"] = int(request)

    def hold(self, seconds: float | None) -> None:
        """Hold the hold-to-run for so long (s) from now; None: for ever."""
        self.ring.head["held_until"] = FOR_EVER if seconds is None else time.monotonic_ns() + int(seconds * SECOND)

    def news(self) -> np.ndarray:
        """Return the records since the last call."""
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
            if self.ring.written != seen and last is not None and last["outputs"]["state"] == OperationState.STOPPING:
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
def serve_rig(step: CStep, devices: Devices, scenario: str, log: Path, settings: ServerSettings) -> Iterator[ServedRig]:
    """Yield the loop while the block runs, which should end with a rig at rest: else it is braked first.

    `scenario` is its text, for the log; behind the block `rig.log` says what became of that. Raises Refused where the system
    does not allow real time and `best_effort` is false, where a device or the log is another rig's, where the log cannot be
    written, and where the loop ends before the block; NoCompiler without a C compiler.
    """
    with contextlib.ExitStack() as stack:
        own = [devices.sensor.place, devices.robot.place]
        files = [] if is_special(log) else [str(log.resolve())]
        try:
            held, held_log = stack.enter_context(claim_names(own)), stack.enter_context(claim_names(files))
        except Taken as taken:
            who = taken.holder or "end that one first"
            raise Refused(f"{taken}: another dockdyn rig serve has it; {who}") from None
        connections = stack.enter_context(_open_connections(devices))
        if connections is not None:
            devices = devices._replace(robot_settings=connections.settings)
        program = loop_program(step, devices)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dockdyn-rig-", dir=_shared_folder())))
        make_ring(folder / "ring", step, max(int(REMEMBERED / devices.period), 1000))
        (folder / "image").write_bytes(step.image)
        ring = Ring(folder / "ring", record_type(step))
        try:
            kept = stack.enter_context(keep_log(ring, step, scenario, log, held_log))
        except NoLog as error:
            raise Refused(str(error)) from None
        words = [program, ring.path, folder / "image", round(devices.period * SECOND), int(devices.robot.by_clock)]
        words += [settings.priority, -1 if settings.cpu is None else settings.cpu, int(settings.best_effort)]
        words += [_describe_link(devices.sensor), _describe_link(devices.robot)]
        if connections is not None:
            words[-1] = _begin_to_tell(connections)
            open_ones = (connections.told, connections.commands, *connections.others)
            held += [each.fileno() for each in open_ones]
        line, pipes = [str(word) for word in words], {"stderr": subprocess.PIPE, "pass_fds": held}
        process = stack.enter_context(subprocess.Popen(line, start_new_session=True, **pipes))  # type: ignore[call-overload]
        rig = ServedRig(process, ring, kept)
        stack.callback(rig.stop)
        _wait_for_begin(rig)
        yield rig
        _end_loop(rig)


@contextlib.contextmanager
def _open_connections(devices: Devices) -> Iterator[Connections | None]:
    """Yield connections to a robot that is spoken to through such; None to another. Raises Refused."""
    try:
        with devices.robot.connect(devices.robot_settings) or contextlib.nullcontext() as connections:
            yield connections
    except NotConnected as error:
        raise Refused(f"rig.device.robot: {error}; {NOT_HEARD}") from None


def _begin_to_tell(connections: Connections) -> str:
    """Let a robot begin to tell, and return how it is reached, as the loop takes it. Raises Refused."""
    try:
        connections.start()
    except NotConnected as error:
        raise Refused(f"rig.device.robot: {error}") from None
    return f"use:{connections.told.fileno()}:{connections.commands.fileno()}"


def _describe_link(device: Device) -> str:
    """Return how a device is reached, as the loop takes it."""
    return f"{'ask' if device.asked else 'hear'}:{device.place}"


def loop_program(step: CStep, devices: Devices) -> Path:
    """Return the program of the loop around a cycle. Raises NoCompiler without a C compiler."""
    files = devices.c_files() | {source.name: source.read_text() for source in LOOP.iterdir()}
    return compile_texts(files | {f"{step.name}.h": step.header, f"{step.name}.c": step.source})


def _shared_folder() -> str | None:
    """Return where files are memory, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _wait_for_begin(rig: ServedRig) -> None:
    """Wait until the loop runs. Raises Refused where it does not."""
    deadline = time.monotonic() + BEGIN
    while not rig.ring.written:
        if not rig.running:
            raise Refused(_words_of(rig))
        if time.monotonic() > deadline:
            raise Refused("the loop does not begin")
        time.sleep(POLL)


def _words_of(rig: ServedRig) -> str:
    """Return why the loop has ended."""
    said = rig.process.stderr.read().decode(errors="replace").strip() if rig.process.stderr else ""
    reasons = {
        3: f"{said}; give the user the limits rtprio and memlock, or take --best-effort",
        4: f"the network: {said}",
        6: "a cycle met what C cannot do",
    }
    return reasons.get(rig.process.returncode, f"the loop has ended with {rig.process.returncode}: {said}")


def _end_loop(rig: ServedRig) -> None:
    """End a loop whose rig is at rest. Raises Refused where it has failed."""
    if rig.process.poll():
        raise Refused(_words_of(rig))
    rig.ring.head["quit"] = 1
    with contextlib.suppress(subprocess.TimeoutExpired):
        rig.process.wait(PATIENCE)
