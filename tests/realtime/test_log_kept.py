"""The log of a served rig is kept, whatever happens to the process that writes it, and says what is not in it."""

import contextlib
import os
import shutil
import signal
import sys
import time

import numpy as np
import pytest
from driven_rigs import driver, needs_compiler, on_a_line
from rig_processes import LONG, Bench, arm_and_run, process_of

from dockdyn.cli.common import BAD_INPUT
from dockdyn.realtime import log_process
from dockdyn.realtime.log_process import NoLog, keep_log
from dockdyn.realtime.rig_log import read_rig_log
from dockdyn.realtime.ring import Ring, make_ring, record_type

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")]


@pytest.fixture(scope="module")
def line():
    scenario = on_a_line()
    return scenario, driver(scenario).cycle()


@pytest.fixture
def ring(line, tmp_path):
    """A ring with room for 500 cycles, which nobody writes but the test."""
    make_ring(tmp_path / "ring", line[1], 500)
    return Ring(tmp_path / "ring", record_type(line[1]))


def add(ring, cycles):
    """So many cycles more, numbered by their time."""
    for _ in range(cycles):
        ring.records[ring.written % len(ring.records)]["time"] = 1000 * ring.written
        ring.head["written"] += 1


def begun(ring, line, path):
    return keep_log(ring, line[1], line[0].text(), path, ())


def wait_until(true):
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_whatever_ends_the_process_what_the_ring_holds_is_in_the_log(seed, ring, line, tmp_path, monkeypatch):
    """It is killed, or stands still, at a random moment; the ring may have been filled several times."""
    rng = np.random.default_rng(seed)
    before, after = int(rng.integers(0, 800)), int(rng.integers(1, 800))
    end = rng.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
    monkeypatch.setattr(log_process, "STUCK", 1.0)
    with begun(ring, line, tmp_path / "a.mcap") as log:
        add(ring, before)
        log.process.send_signal(end)
        if end != signal.SIGSTOP:
            wait_until(lambda: not log.running)
        add(ring, after)
        ring.head["over"] = 1
    total = before + after
    kept = log.kept
    assert (kept.cycles, kept.lost) == (min(total, 500), max(total - 500, 0))
    found = read_rig_log(tmp_path / "a.mcap")
    assert [cycle["time"] for cycle in found.cycles] == [1000 * n for n in range(total)][-500:]
    assert (found.lost, found.scenario) == (kept.lost, line[0].text())
    assert "the process that writes the log" in kept.words[0] and f"the last {kept.cycles} cycles" in kept.words[0]
    assert (f"the {kept.lost} cycles before" in kept.words[-1]) == (kept.lost > 0)
    if kept.lost:  # what it had written is not thrown away
        assert kept.part.exists() and str(kept.part) in kept.words[-1]
    else:
        assert not list(tmp_path.glob(".*.part"))


@pytest.mark.full
def test_what_cannot_go_where_it_should_goes_where_temporary_files_are(ring, line, tmp_path, monkeypatch):
    monkeypatch.setattr(log_process.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = tmp_path / "gone"
    with begun(ring, line, folder / "a.mcap") as log:
        add(ring, 20)
        shutil.rmtree(folder)
        folder.write_bytes(b"a file is in its place")
        ring.head["over"] = 1
    assert log.kept.path.parent == tmp_path and log.kept.lost == 0
    assert len(read_rig_log(log.kept.path).cycles) == 20
    assert "gone" in log.kept.words[0]


@pytest.mark.full
def test_where_no_log_can_be_written_nothing_begins(ring, line, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NoLog, match="file") as refused, begun(ring, line, tmp_path / "file" / "a.mcap"):
        pytest.fail("it began")
    assert "\n" not in str(refused.value)


@pytest.mark.full
def test_a_loop_that_never_began_leaves_no_log(ring, line, tmp_path):
    with begun(ring, line, tmp_path / "folder" / "a.mcap") as log:
        ring.head["over"] = 1
    assert not log.kept.words
    assert sorted(each.name for each in tmp_path.iterdir()) == ["ring"]


@pytest.mark.full
def test_the_loop_begins_when_the_log_can_be_written(tmp_path):
    with contextlib.ExitStack() as stack:
        bench = Bench(tmp_path, stack, "plain")
        bench.emulate()
        server = bench.start("serve", "--best-effort", "--log", "a.mcap")
        writer = None
        while writer is None:
            with contextlib.suppress(ValueError, FileNotFoundError):
                writer = process_of(server, "log_writer")
        os.kill(writer, signal.SIGSTOP)
        with pytest.raises(AssertionError, match="does not come"):
            server.until("idle", within=3.0)
        os.kill(writer, signal.SIGCONT)
        arm_and_run(server)
        assert server.end() == 0, server.printed
        assert read_rig_log(tmp_path / "a.mcap").lost == 0


@pytest.mark.full
def test_how_it_ended_is_printed_first_whatever_becomes_of_the_log(tmp_path):
    with contextlib.ExitStack() as stack:
        bench = Bench(tmp_path, stack, "plain")
        bench.emulate()
        server = bench.run("a.mcap")
        os.kill(process_of(server, "log_writer"), signal.SIGKILL)
        assert server.end() == 0, server.printed
        assert "Ended: end." in server.printed and "Log: a.mcap" in server.printed
        assert "warning: the process that writes the log was killed by signal 9" in server.printed
        log = read_rig_log(tmp_path / "a.mcap")
        assert log.lost == 0 and "running → stopping (end)" in server.printed


@pytest.mark.full
def test_two_rigs_with_one_log_are_one_too_many(tmp_path):
    with contextlib.ExitStack() as stack:
        (tmp_path / "other").mkdir()
        bench, other = (Bench(folder, stack, "plain") for folder in (tmp_path, tmp_path / "other"))
        bench.emulate()
        server = bench.serve("a.mcap")
        second = other.start("serve", "--best-effort", "--log", "../a.mcap")
        assert second.end() == BAD_INPUT
        (line,) = second.answered
        assert "a.mcap: another dockdyn rig serve has it" in line
        arm_and_run(server)
        assert server.end() == 0, server.printed
