"""The live view of a driven rig: what a browser sees is what the ring says, and nothing that happens to it reaches the rig."""

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
import websockets
import zstandard
from browser import PATIENCE, WINDOW
from driven_rigs import driver, in_space, needs_compiler, on_a_line
from rig_processes import LONG, Bench, arm_and_run, free_ports, process_of
from test_replay_server import first_words, in_a_loop

from dockdyn.cli.common import BAD_INPUT
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.live_view import show_record, words_of
from dockdyn.realtime.rig_log import read_rig_log
from dockdyn.realtime.ring import Ring, make_ring, record_type
from dockdyn.report.replay.live import live_page
from dockdyn.report.replay.scene import rotate_vectors

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")]


@pytest.fixture(scope="module")
def line():
    return driver(on_a_line())


def record(driver, **given):
    """A record of a cycle: times, inputs and outputs that are not zero."""
    row = np.zeros(1, record_type(driver.cycle()))
    for name, value in given.items():
        part, _, key = name.partition("__")
        row[part][key] = value
    return row[0]


def test_who_only_reads_a_ring_cannot_ask_the_rig_for_anything(line, tmp_path):
    step = line.cycle()
    make_ring(tmp_path / "ring", step, 10)
    ring = Ring(tmp_path / "ring", record_type(step), reads=True)
    for name in ("request", "held_until", "quit", "written"):
        with pytest.raises(ValueError, match="read-only"):
            ring.head[name] = 3
    with pytest.raises(TypeError):
        ring.memory[0] = 1
    Ring(tmp_path / "ring", record_type(step)).head["written"] = 7
    assert ring.written == 7


def test_blocks_stand_where_encoders_and_computer_say_and_springs_end_at_the_wall(line):
    live = line.live_scene()
    lines = live.scene.lines
    wall = [one.carrier.position[0, 0] + one.stretch[0] for one in lines]
    row = record(line, inputs__pose=0.02, inputs__pose_count=5, outputs__model_pose=-0.01, outputs__load=-30.0)
    with live_page(live, "127.0.0.1", 0) as page:
        show_record(page, row)
        handles = {id(motion): handle for handle, motion in page.moving}
        at = {part.body: handles[id(part.motion)].position[0] for part in live.scene.parts}
        assert (at["robot"], at["model (computed)"], at["wall"]) == (0.02, -0.01, 0.0)
        ends = [one.carrier.position[0, 0] + one.stretch[0] for one in lines]
        np.testing.assert_allclose(ends, wall, atol=1e-12)
        assert [one.carrier.position[0, 0] for one in lines] == [0.0, 0.02]  # one is not pressed
        tail, head = page.arrow.points[0]
        assert tail[0] == pytest.approx(0.02) and head[0] < tail[0] and page.arrow.visible
        row["outputs"]["load"] = 0.0
        show_record(page, row)
        assert not page.arrow.visible


def test_the_carried_mock_up_goes_where_its_pose_says():
    """A turn of the robot moves what is far from its middle by the rotation matrix of that turn."""
    rig = driver(in_space())
    live = rig.live_scene()
    _, robot = (frame.motion for frame in live.scene.frames)
    live.move(np.zeros(6), np.zeros(6))
    position, attitude = robot.position[0].copy(), robot.attitude[0].copy()
    tip = live.scene.arrows[0].place[0].copy()
    angle, shift = 0.1, np.array([0.01, -0.02, 0.03])
    live.move(np.array([*shift, 0.0, 0.0, angle]), np.zeros(6))
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    np.testing.assert_allclose(robot.position[0], position + shift, atol=1e-12)
    np.testing.assert_allclose(live.scene.arrows[0].place[0], position + shift + turn @ (tip - position), atol=1e-12)
    for axis in np.eye(3):
        np.testing.assert_allclose(
            rotate_vectors(robot.attitude[0], axis), turn @ rotate_vectors(attitude, axis), atol=1e-12
        )
    model = next(part.motion for part in live.scene.parts if part.layer)
    np.testing.assert_allclose(model.position[0], position, atol=1e-12)


def test_no_other_page_may_look(line):
    with live_page(line.live_scene(), "127.0.0.1", 0) as page:
        port = page.server.get_port()
        assert in_a_loop(first_words(port, f"http://127.0.0.1:{port}"))
        with pytest.raises(websockets.InvalidStatus) as refusal:
            in_a_loop(first_words(port, "http://evil.example"))
        assert refusal.value.response.status_code == 403


def test_words_tell_state_cause_and_what_is_not_heard(line):
    with live_page(line.live_scene(), "127.0.0.1", 0) as page:
        silent = record(line, inputs__pose_count=-1, inputs__load_count=-1)
        told = words_of(silent, show_record(page, silent))
        assert told.startswith("## idle") and "nothing is heard of the sensor" in told and "stopped" not in told
        tripped = record(
            line,
            outputs__state=OperationState.FAULT,
            outputs__cause=Cause.SENSOR_STALE,
            outputs__load=-2.5,
            inputs__pose=0.0125,
        )
        told = words_of(tripped, show_record(page, tripped))
        for words in ("## fault", "stopped: sensor stale", "force 2.50 N", "robot 12.5 mm"):
            assert words in told
        metres = float(np.linalg.norm(np.diff(page.arrow.points[0], axis=0)))
        assert 2.5 / metres == pytest.approx(float(re.search(r"1 m long for ([\d.e+]+) N", told)[1]), rel=5e-3)


def test_a_port_is_of_the_view(dock):
    ended = dock("rig", "serve", "epos-like-driven", "--port", "8080")
    assert ended.returncode == BAD_INPUT and "--port: is of --view" in ended.stderr


@pytest.fixture
def bench(tmp_path):
    with contextlib.ExitStack() as stack:
        yield Bench(tmp_path, stack, "plain")


def viewed(bench):
    """A server with a live view, and the view's address."""
    bench.emulate()
    server = bench.serve("live.mcap", "--view", "--port", str(free_ports(1)[0]), "--set", "duration=8 s")
    return server, re.search(r"http://127\.0\.0\.1:\d+", server.printed)[0]


def positions(frame, into):
    """Adds the positions that a message of the server has for the page."""
    if isinstance(frame, bytes):
        size = int.from_bytes(frame[8:16], "little")
        found = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(frame[16 : 16 + size]))
        for message in found["messages"]:
            if message["type"] == "SetPositionMessage":
                into.setdefault(message["name"], []).append(message["position"][0])


@pytest.mark.full
def test_a_browser_sees_the_states_and_the_poses_that_are_logged(bench, browser):
    server, address = viewed(bench)
    page, told = browser.new_context(viewport=WINDOW).new_page(), {}
    page.set_default_timeout(PATIENCE)
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: positions(frame, told)))
    page.goto(address)
    page.get_by_role("heading", name="homed").wait_for()
    arm_and_run(server)
    page.get_by_role("heading", name="running").wait_for()
    page.wait_for_timeout(6000)
    assert server.end() == 0, server.printed
    page.get_by_role("heading", name="over").wait_for()
    page.context.close()
    assert "had ended" not in server.printed
    cycles = read_rig_log(bench.folder / "live.mcap").cycles
    assert cycles[-1]["output_cause"] == Cause.END
    logged = {
        "/run/motion/0": [float(cycle["output_model_pose"][0]) for cycle in cycles],
        "/run/motion/1": [float(cycle["input_pose"][0]) for cycle in cycles],
    }
    for name, values in logged.items():
        seen, place = told[name][1:], 0  # the first is before the rig was there
        assert len(set(seen)) > 10
        for value in seen:
            assert value in values[place:], f"{name}: {value} at {place}"
            place = values.index(value, place)


@pytest.mark.full
def test_a_browser_that_is_closed_and_a_view_that_dies_leave_the_rig_as_it_is(bench, browser):
    server, address = viewed(bench)
    arm_and_run(server)
    server.until("armed → running")
    context = browser.new_context()
    context.new_page().goto(address)
    context.close()
    assert server.process.poll() is None
    os.kill(process_of(server, "live_view"), signal.SIGKILL)
    assert server.end() == 0, server.printed
    assert "the live view had ended before" in server.printed
    assert read_rig_log(bench.folder / "live.mcap").lost == 0


@pytest.mark.full
def test_a_view_ends_with_a_server_that_is_killed(bench):
    server, _ = viewed(bench)
    view = process_of(server, "live_view")
    server.kill()
    deadline = time.monotonic() + LONG  # it is behind all others in priority, and has much to put away
    while Path(f"/proc/{view}").exists():
        assert time.monotonic() < deadline, "it still runs"
        time.sleep(0.1)
