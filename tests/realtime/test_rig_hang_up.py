"""A terminal that is closed, and every other request to end, brake a rig that is served; its log is kept."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from driven_rigs import needs_compiler
from rig_processes import LONG, Bench, process_of

from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.rig_log import read_rig_log

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux"),
    pytest.mark.full,
]
AT_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture
def bench(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Bench(tmp_path, stack, "plain", duration="600 s")


def braked(path):
    """The log of a rig that was running and was stopped by its operator."""
    last = read_rig_log(path).cycles[-1]
    assert (last["output_state"], last["output_cause"]) == (OperationState.IDLE, Cause.OPERATOR)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_request_to_end_brakes(number, bench):
    bench.emulate()
    server = bench.run("a.mcap")
    server.signal(number)
    assert server.end() == 0, server.printed
    assert "running → stopping (operator)" in server.printed and "Ended: operator." in server.printed
    braked(bench.folder / "a.mcap")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_loop_that_is_asked_to_end_brakes_by_itself(number, bench):
    bench.emulate()
    server = bench.run("a.mcap")
    os.kill(process_of(server, "/image"), number)
    assert server.end() == 0, server.printed
    braked(bench.folder / "a.mcap")


def test_a_terminal_that_is_closed_brakes(bench):
    bench.emulate()
    terminal, end = os.openpty()
    words = ["-m", "dockdyn", "rig", "serve", str(bench.file), "--best-effort", "--log", "a.mcap"]
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), end)
    line = [sys.executable, "-c", AT_A_TERMINAL, *words]
    server = subprocess.Popen(line, cwd=bench.folder, start_new_session=True, **ends)
    bench.stack.callback(server.kill)
    os.close(end)
    printed = b""
    for prompt, word in ((b"type arm", b"arm\n"), (b"type run", b"run\n"), ("armed → running".encode(), b"")):
        deadline = time.monotonic() + LONG
        while prompt not in printed:
            assert time.monotonic() < deadline, printed
            printed += os.read(terminal, 4096)
        os.write(terminal, word)
    os.close(terminal)
    assert server.wait(LONG) >= 0
    braked(bench.folder / "a.mcap")
