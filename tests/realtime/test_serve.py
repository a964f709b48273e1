"""A rig that is served in real time, its devices emulated on the loopback interface, as a user does it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from driven_rigs import driver, needs_compiler, on_a_line

from dockdyn.cli.common import BAD_INPUT
from dockdyn.hil.operation import State
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.lockstep import run_in_lockstep
from dockdyn.realtime.rig_log import read_rig_log

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")]
PATIENT = {  # of a computer that others share
    "rig__limits__sensor_silence": "1 s",
    "rig__limits__robot_silence": "1 s",
    "rig__limits__late_cycles": 250,
    "rig__settle": "0.4 s",
}


RAW = ("raw-udp", "raw-udp")


def free_ports():
    """Two ports that nobody has."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@pytest.fixture(params=[RAW], ids=" with ".join)
def bench(tmp_path, request):
    """A scenario in a file, and processes of `dockdyn rig` that end with the test."""
    with contextlib.ExitStack() as stack:
        yield Bench(tmp_path, stack, request.param)


class Bench:
    """Where a rig is served."""

    def __init__(self, folder, stack, kinds):
        self.folder, self.stack = folder, stack
        sensor, robot = free_ports()
        ports = {"rig__device__sensor__port": sensor, "rig__device__robot__port": robot}
        ports |= {"rig__device__sensor__kind": kinds[0], "rig__device__robot__kind": kinds[1]}
        self.scenario = on_a_line(duration="1.5 s", **PATIENT, **ports)
        self.file = folder / "bench.toml"
        self.file.write_text(self.scenario.text())

    def start(self, command, *words):
        """A process of `dockdyn rig COMMAND`."""
        line = [sys.executable, "-m", "dockdyn", "rig", command, str(self.file), *map(str, words)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = self.stack.enter_context(subprocess.Popen(line, cwd=self.folder, text=True, **pipes))
        self.stack.callback(process.kill)
        return process


def lines_until(process, word):
    """What a process prints, up to the first line with a word."""
    found = []
    for line in process.stdout:
        found.append(line)
        if word in line:
            return found
    raise AssertionError(f"{word!r} does not come; {''.join(found)}{process.stderr.read()}")


@pytest.mark.parametrize(
    "bench", [pytest.param(RAW, marks=pytest.mark.full), ("ati-netft", "kuka-rsi")], indirect=True, ids=" with ".join
)
def test_an_operator_arms_and_runs_a_rig_and_its_log_gives_the_same_again(bench, dock):
    emulator = bench.start("emulate", "--seconds", "60 s")
    lines_until(emulator, "every 0.004 s")
    server = bench.start("serve", "--best-effort", "--log", "today.mcap")
    lines_until(server, "type arm")
    server.stdin.write("arm\nrun\n")
    server.stdin.flush()
    printed, problem = server.communicate(timeout=60)
    assert server.returncode == 0, printed + problem
    for words in ("homed → armed", "armed → running", "running → stopping (end)", "Ended: end."):
        assert words in printed
    assert re.search(r"median \d", printed)
    log = read_rig_log(bench.folder / "today.mcap")
    assert log.lost == 0
    runs_as_in_lockstep(bench.scenario, log)
    told = dock("rig", "replay", str(bench.folder / "today.mcap"))
    assert told.returncode == 0, told.stderr
    assert "The same: every command, state and cause." in told.stdout
    assert f"{len(log.cycles)} cycles" in told.stdout


def runs_as_in_lockstep(scenario, log):
    """Free flight before the contact is that of the simulation; every cycle is in the log, in its order."""
    times = np.array([cycle["time"] for cycle in log.cycles])
    assert (np.diff(times) > 0).all()
    running = [cycle for cycle in log.cycles if cycle["output_state"] == State.RUNNING and cycle["output_tick"] > 0]
    assert len(running) == pytest.approx(1.5 / 4e-3, abs=2)
    expected = run_in_lockstep(driver(scenario), 40)["position"][:, 0]
    found = [cycle["output_position"][0] for cycle in running[:40]]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def started(bench, log):
    """A server whose rig runs."""
    server = bench.start("serve", "--best-effort", "--log", log)
    lines_until(server, "type arm")
    server.stdin.write("arm\nrun\n")
    server.stdin.flush()
    lines_until(server, "armed → running")
    return server


@pytest.mark.full
def test_what_is_killed_leaves_a_robot_that_stops_and_what_begins_anew_begins_there(bench):
    """The loop is killed, then who started it, then a third one is asked to stop."""
    emulator = bench.start("emulate", "--seconds", "60 s")
    lines_until(emulator, "every 0.004 s")
    server = started(bench, "one.mcap")
    (loop,) = [
        child for child in children(server.pid) if b"log_writer" not in Path(f"/proc/{child}/cmdline").read_bytes()
    ]
    os.kill(loop, signal.SIGKILL)
    assert server.wait(20) == BAD_INPUT
    assert "the loop has ended by itself" in server.stderr.read()

    server = started(bench, "two.mcap")
    server.kill()
    cycles = log_when_whole(bench.folder / "two.mcap").cycles
    assert (cycles[-1]["output_state"], cycles[-1]["output_cause"]) == (State.IDLE, Cause.OPERATOR)
    heard = next(cycle for cycle in cycles if cycle["output_send"])
    np.testing.assert_allclose(heard["output_command"], heard["input_pose"], rtol=0, atol=1e-9)

    server = started(bench, "three.mcap")
    server.send_signal(signal.SIGINT)
    printed, _ = server.communicate(timeout=20)
    assert "Ended: operator." in printed
    assert server.returncode == 0
    emulator.send_signal(signal.SIGINT)
    printed, _ = emulator.communicate(timeout=20)
    assert int(re.search(r"by itself (\d+) times", printed)[1]) >= 2


def children(process):
    """The processes that a process has started."""
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def log_when_whole(path):
    """The log of a server that was killed: it is finished by the process that writes it."""
    deadline = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < deadline, "no log"
        time.sleep(0.05)
    return read_rig_log(path)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv here")
def test_without_the_rights_of_real_time_it_refuses(bench):
    """Unless it is told to do what it can."""
    without = [
        "setpriv",
        "--bounding-set=-sys_nice,-ipc_lock,-sys_resource",
        "prlimit",
        "--rtprio=0:0",
        "--memlock=0:0",
    ]
    if subprocess.run([*without, "true"], capture_output=True).returncode:
        pytest.skip("rights cannot be given away here")
    words = [*without, sys.executable, "-m", "dockdyn", "rig", "serve", str(bench.file), "--log", "none.mcap"]
    ended = subprocess.run(words, cwd=bench.folder, capture_output=True, text=True, timeout=60)
    assert ended.returncode == BAD_INPUT
    assert "--best-effort" in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert not (bench.folder / "none.mcap").exists()


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("serve", "epos-like"), "rig.limits: missing"),
        (("serve", "probe-cone"), "no devices to drive"),
        (("emulate", "epos-like"), "loop.robot: missing"),
        (("replay", "nothing.mcap"), "nothing.mcap: no such file"),
        (("serve", "sits"), "loop.dynamics: continuous"),
    ],
)
def test_bad_input_is_one_line(dock, words, refusal):
    ended = dock("rig", *words)
    assert ended.returncode == BAD_INPUT
    assert refusal in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_log_is_not_overwritten_and_a_file_that_is_none_is_refused(bench, dock):
    other = bench.folder / "other.mcap"
    other.write_bytes(b"something")
    assert "is there" in dock("rig", "serve", str(bench.file), "--log", str(other)).stderr
    assert "not the log of a rig" in dock("rig", "replay", str(other)).stderr
    assert Path(other).read_bytes() == b"something"
