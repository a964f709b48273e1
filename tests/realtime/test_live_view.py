"""The live view of a driven rig: what a browser sees is what the ring says, and nothing that happens to it reaches the rig."""

import contextlib
import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from browser import PATIENCE, WINDOW, new_context
from driven_rigs import driver, in_space, needs_compiler, on_a_line
from rig_processes import LONG, Bench, arm_and_run, free_ports, process_of

from dockdyn.cli.common import BAD_INPUT
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.live_view import show_record, words_of
from dockdyn.realtime.rig_log import read_rig_log
from dockdyn.realtime.ring import Ring, make_ring, record_type
from dockdyn.report.scene.live import live_page
from dockdyn.report.scene.rotation import rotate

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
    row = record(line, inputs__pose=0.02, inputs__pose_count=5, outputs__model_pose=-0.01, outputs__load=-30.0)
    names = list(live.scene.bodies)
    for tie in live.scene.ties:
        wall = tie.second.place[0]
        assert tie.second.motion is None and tie.first.place[0] == 0.0  # from a block's face
        assert tie.free == wall  # one that is not pressed is no longer
    with live_page(live, "127.0.0.1", 0) as page:
        show_record(page, row)
        told = page.facts()
        at = dict(zip(names, told["position"], strict=True))
        assert at == {"model (computed)": [-0.01, 0, 0], "robot": [0.02, 0, 0]}
        assert told["force"] == [-30, 0, 0]
        row["outputs"]["load"] = 0.0
        show_record(page, row)
        assert page.facts()["force"] == [0, 0, 0] and page.facts()["scale"] == told["scale"]


def test_the_carried_mock_up_goes_where_its_pose_says():
    """A turn of the robot moves what is far from its middle by the rotation matrix of that turn."""
    live = driver(in_space()).live_scene()
    carried = live.scene.forces[0].carrier
    robot = next(number for number, motion in enumerate(live.scene.bodies.values()) if motion is carried)
    model, tip = list(live.scene.bodies).index("model (computed)"), live.scene.forces[0].place[0]
    begun = live.placed(np.zeros(6), np.zeros(6))
    angle, shift = 0.1, np.array([0.01, -0.02, 0.03])
    moved = live.placed(np.array([*shift, 0.0, 0.0, angle]), np.zeros(6))
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    np.testing.assert_allclose(moved[0][robot], begun[0][robot] + shift, atol=1e-12)
    for place in (*np.eye(3), tip):
        there = rotate(begun[1][robot], place)
        np.testing.assert_allclose(rotate(moved[1][robot], place), turn @ there, atol=1e-12)
    np.testing.assert_allclose(moved[0][model], begun[0][model], atol=1e-12)


def test_words_tell_state_cause_and_what_is_not_heard(line):
    silent = words_of(record(line, inputs__pose_count=-1, inputs__load_count=-1))
    assert silent[0] == "idle" and any("nothing is heard of the sensor" in one for one in silent)
    assert not any("stopped" in one for one in silent)
    facts = {"outputs__state": OperationState.FAULT, "outputs__cause": Cause.SENSOR_STALE, "outputs__load": -2.5}
    tripped = words_of(record(line, **facts, inputs__pose=0.0125))
    assert tripped[0] == "fault"
    for words in ("stopped: sensor stale", "force 2.50 N", "robot 12.5 mm"):
        assert words in tripped


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


LISTEN = """window.EventSource = class extends EventSource {
  constructor(...given) { super(...given); this.addEventListener("message", ({ data }) => told.push(JSON.parse(data))); }
}; window.told = [];"""


@pytest.mark.full
def test_a_browser_sees_the_states_and_the_poses_that_are_logged(bench, browser):
    server, address = viewed(bench)
    page = new_context(browser, viewport=WINDOW).new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(LISTEN)
    page.goto(address)
    page.get_by_role("heading", name="homed").wait_for()
    arm_and_run(server)
    page.get_by_role("heading", name="running").wait_for()
    page.wait_for_timeout(6000)
    assert server.end() == 0, server.printed
    page.get_by_role("heading", name="over").wait_for()
    told = page.evaluate("told")
    page.context.close()
    assert "had ended" not in server.printed
    cycles = read_rig_log(bench.folder / "live.mcap").cycles
    assert cycles[-1]["output_cause"] == Cause.END
    logged = [
        [float(cycle["output_model_pose"][0]) for cycle in cycles],
        [float(cycle["input_pose"][0]) for cycle in cycles],
    ]
    shown = [one["position"] for one in told if one["words"][0] not in ("waiting", "over")]
    for body, values in enumerate(logged):
        seen, place = [float(position[body][0]) for position in shown], 0
        assert len(set(seen)) > 10
        for value in seen:
            assert value in values[place:], f"body {body}: {value} at {place}"
            place = values.index(value, place)


@pytest.mark.full
def test_a_browser_that_is_closed_and_a_view_that_dies_leave_the_rig_as_it_is(bench, browser):
    server, address = viewed(bench)
    arm_and_run(server)
    server.until("armed → running")
    context = new_context(browser)
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
