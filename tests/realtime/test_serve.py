"""A rig that is served in real time, its devices emulated on the loopback interface, as a user does it."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from driven_rigs import driver, needs_compiler
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rig_processes import LONG, Bench, arm_and_run, said, stopped

from dockdyn.cli.common import BAD_INPUT
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.lockstep import run_in_lockstep
from dockdyn.realtime.rig_log import read_rig_log

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")]


@pytest.fixture(params=["plain"])
def bench(tmp_path, request):
    """A scenario in a file, and processes of `dockdyn rig` that end with the test."""
    with contextlib.ExitStack() as stack:
        yield Bench(tmp_path, stack, request.param)


JOINTS = {"plain": 0, "plain by the clock": 0, "KUKA": 6, "ABB": 6, "FANUC": 8, "UR": 6}  # that are told


def joints_in(path):
    """How many joints the messages of a log have."""
    with path.open("rb") as file:
        found = make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(topics=["/joint_states"])
        return max((len(message.name) for _, _, _, message in found), default=0)


def sampled(*names):
    """One of several for `make test`, all for `make verify`."""
    return [name if name == names[0] else pytest.param(name, marks=pytest.mark.full) for name in names]


@pytest.mark.parametrize("bench", sampled("KUKA", "plain", "plain by the clock", "ABB", "FANUC", "UR"), indirect=True)
def test_an_operator_arms_and_runs_a_rig_and_its_log_gives_the_same_again(bench, dock):
    bench.emulate()
    server = bench.serve("today.mcap")
    arm_and_run(server)
    assert server.end() == 0, server.printed
    for words in ("homed → armed", "armed → running", "running → stopping (end)", "Ended: end."):
        assert words in server.printed
    assert re.search(r"median \d", server.printed)
    log = read_rig_log(bench.folder / "today.mcap")
    assert log.lost == 0
    runs_as_in_lockstep(bench.scenario, log)
    assert joints_in(bench.folder / "today.mcap") == JOINTS[bench.devices]
    told = dock("rig", "replay", str(bench.folder / "today.mcap"))
    assert told.returncode == 0, told.stderr
    assert "The same: every command, state and cause." in told.stdout
    assert f"{len(log.cycles)} cycles" in told.stdout


def runs_as_in_lockstep(scenario, log):
    """Free flight before the contact is that of the simulation; every cycle is in the log, in its order, and virtual time
    goes on with each command that is due, with no other."""
    times = np.array([cycle["time"] for cycle in log.cycles])
    assert (np.diff(times) > 0).all()
    ticks = [cycle["output_tick"] for cycle in log.cycles]
    moved = np.diff(ticks) > 0
    assert not moved[[cycle["input_due"] == 0 for cycle in log.cycles[1:]]].any()
    running = [
        cycle
        for cycle in log.cycles
        if cycle["output_state"] == OperationState.RUNNING and cycle["output_tick"] > 0 and cycle["input_due"]
    ]
    assert len(running) == pytest.approx(1.5 / 4e-3, abs=2)
    expected = run_in_lockstep(driver(scenario), 40)["position"][:, 0]
    found = [cycle["output_position"][0] for cycle in running[:40]]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.full
def test_what_is_killed_leaves_a_robot_that_stops_and_what_begins_anew_begins_there(bench):
    """The loop is killed, then who started it, then a third one is asked to stop."""
    emulator = bench.emulate()
    server = bench.run("one.mcap")
    (loop,) = loops(server)
    os.kill(loop, signal.SIGKILL)
    assert server.end() == BAD_INPUT
    assert (
        "Stopped: the process of the loop has ended while running, without braking; check the robot." in server.printed
    )

    server = bench.run("two.mcap")
    (loop,) = loops(server)
    ring = Path(Path(f"/proc/{loop}/cmdline").read_bytes().split(b"\0")[1].decode())
    assert ring.exists()
    server.kill()
    cycles = log_when_whole(bench.folder / "two.mcap").cycles
    assert (cycles[-1]["output_state"], cycles[-1]["output_cause"]) == (OperationState.IDLE, Cause.OPERATOR)
    deadline = time.monotonic() + 20
    while ring.exists():
        assert time.monotonic() < deadline, "the ring is left behind"
        time.sleep(0.05)
    heard = next(cycle for cycle in cycles if cycle["output_send"])
    np.testing.assert_allclose(heard["output_command"], heard["input_pose"], rtol=0, atol=1e-9)

    server = bench.run("three.mcap")
    assert "Ended: operator." in stopped(server)
    assert server.process.returncode == 0
    assert int(re.search(r"by itself (\d+) times", stopped(emulator))[1]) >= 2


FAULTS = {  # of emulated devices, in real time
    "plain": ("sensor-nan", Cause.SENSOR_INVALID),
    "KUKA": ("sensor-restart", Cause.SENSOR_STALE),
    "ABB": ("robot-status", Cause.ROBOT_STATUS),
    "FANUC": ("robot-restart", Cause.ROBOT_STALE),
    "UR": ("emergency-stop", Cause.ROBOT_STATUS),
    "plain by the clock": ("robot-deaf", Cause.ROBOT_STALE),
}


@pytest.mark.full
@pytest.mark.parametrize("bench", FAULTS, indirect=True)
def test_a_fault_of_a_device_stops_a_served_rig_and_another_server_homes_it_again(bench, request):
    """The emulated robot is reset by its operator a second after it has stopped; the network is not a good one."""
    fault, cause = FAULTS[request.node.callspec.params["bench"]]
    lines = ["[rig.emulator.fault.one]", f'kind = "{fault}"', 'at = "0.1 s"', 'lasts = "1.5 s"']
    bench.file.write_text(bench.file.read_text() + "\n".join([*lines, ""]))
    network = ("--set", "rig.emulator.network.latency=0.2 ms", "--set", "rig.emulator.network.jitter=0.2 ms")
    emulator = bench.start("emulate", "--seconds", "600 s", *network)
    emulator.until("every 0.004 s")
    short = ("--set", "rig.limits.robot_silence=0.3 s", "--set", "rig.limits.sensor_silence=0.3 s")
    server = bench.serve("one.mcap", *short)
    arm_and_run(server)
    assert server.end() == 1
    words = cause.name.lower().replace("_", " ")
    assert f"→ fault ({words})" in server.printed and f"Stopped: {words} at " in server.printed
    server = bench.serve("two.mcap", *short)
    assert "Ended: operator." in stopped(server)
    begun = next(cycle for cycle in read_rig_log(bench.folder / "two.mcap").cycles if cycle["output_send"])
    np.testing.assert_allclose(begun["output_command"], begun["input_pose"], rtol=0, atol=1e-9)


@pytest.mark.full
def test_what_is_not_there_is_named_while_it_is_waited_for(bench):
    server = bench.start("serve", "--best-effort", "--log", "none.mcap")
    server.until("still idle: nothing is heard of the sensor (raw-udp sending to 127.0.0.1:")
    assert "dockdyn rig emulate stands for it" in server.printed
    assert "Ended: operator." in stopped(server)
    assert server.process.returncode == 0


def loops(server):
    """The processes of the loops that a server has started."""
    words = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [int(word) for word in words if b"log_writer" not in Path(f"/proc/{word}/cmdline").read_bytes()]


def log_when_whole(path):
    """The log of a server that was killed: it is finished by the process that writes it."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, "no log"
        time.sleep(0.05)
    return read_rig_log(path)


@pytest.mark.full
def test_hold_to_run_needs_a_key_that_is_held(bench):
    """On a terminal: while the key is repeated it arms and runs; let go, it brakes within what a repetition may take."""
    bench.emulate()
    keyboard, terminal = os.openpty()
    bench.stack.callback(os.close, keyboard)
    words = ("serve", "--best-effort", "--hold-to-run", "--log", "held.mcap", "--set", "duration=600 s")
    server = bench.start(*words, keyboard=terminal)
    os.close(terminal)
    server.until("hold a key to arm and run")
    time.sleep(1.0)
    assert not any("armed" in line for line in server.lines)
    deadline = time.monotonic() + 60
    while not any("armed → running" in line for line in server.lines) and time.monotonic() < deadline:
        os.write(keyboard, b" ")
        time.sleep(0.03)
    released = time.monotonic()
    server.until("running → stopping (released)")
    assert time.monotonic() - released < 3.0  # 0.4 s on a calm computer
    assert server.end() == 1
    assert "Stopped: released at " in server.printed

    server = bench.start(*words, "--force")
    assert server.end() == BAD_INPUT
    assert "--hold-to-run: needs a terminal" in server.printed


@pytest.mark.full
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv here")
@pytest.mark.parametrize("bench", ["KUKA"], indirect=True)  # whose programs are there by now
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
    ended = subprocess.run(words, cwd=bench.folder, capture_output=True, text=True, timeout=LONG)
    assert ended.returncode == BAD_INPUT
    (line,) = said(ended.stderr)
    assert "--best-effort" in line
    assert not (bench.folder / "none.mcap").exists()


@pytest.fixture
def at_most_two_minutes():
    """A rig that is not refused would be served until somebody stops it."""

    def on_alarm(*_):
        raise TimeoutError("it is not refused")

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("serve", "epos-like"), "rig.limits: missing"),
        (("serve", "probe-cone"), "no devices to drive"),
        (("emulate", "epos-like"), "loop.robot: missing"),
        (("replay", "nothing.mcap"), "nothing.mcap: no such file"),
        (
            ("serve", "sits"),
            'state loop.dynamics.period = "4 ms", the cycle, and [rig.limits]; the preset epos-like-driven',
        ),
    ],
)
def test_bad_input_is_one_line(dock, words, refusal, at_most_two_minutes):
    ended = dock("rig", *words)
    assert ended.returncode == BAD_INPUT
    assert refusal in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_log_is_not_overwritten_and_a_file_that_is_none_is_refused(bench, dock, at_most_two_minutes):
    other = bench.folder / "other.mcap"
    other.write_bytes(b"something")
    assert "is there" in dock("rig", "serve", str(bench.file), "--log", str(other)).stderr
    assert "not the log of a rig" in dock("rig", "replay", str(other)).stderr
    assert Path(other).read_bytes() == b"something"
    told = {"robot.csv": "not the log of a rig; must be an MCAP file that dockdyn rig serve wrote\n"}
    told["my.toml"] = f"is a scenario, {told['robot.csv']}"
    for name, words in told.items():
        (bench.folder / name).write_text("time [s],command [m],actual [m]\n0,0,0\n")
        assert dock("rig", "replay", str(bench.folder / name)).stderr.endswith(f"{name}: {words}")
