"""Whether a computer can hold the cycle of a rig: what is measured, what is concluded, what is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dockdyn.realtime import cycle_check
from dockdyn.realtime.cycle_check import CycleCheck, check_cycle, find_shortcomings, time_histogram, time_percentiles
from dockdyn.realtime.machine import Machine
from dockdyn.realtime.wakeups import Scheduling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")
IDEAL = Scheduling(True, True, None)
MACHINE = Machine("Linux 6.12-rt", True, 4, "2,3", "performance", None)


def check(late, trips=(), cycle=1e-3):
    return CycleCheck(cycle, np.asarray(late, float), np.asarray(trips, float), IDEAL)


def test_the_share_of_late_cycles_has_the_bound_of_its_closed_form():
    """None late of n: (1 − p)ⁿ = 0.05; all late: one."""
    for count in (10, 700, 15_000):
        assert check(np.full(count, 2e-5)).late_share_below == pytest.approx(1 - 0.05 ** (1 / count), rel=1e-9)
    assert check([2e-3, 3e-3]).late_share_below == 1
    assert check([]).late_share_below == 1
    assert not check([]).held


def test_an_answer_is_late_where_wake_up_and_round_trip_do_not_fit_into_the_cycle():
    late = [1e-4, 4e-4, 7e-4, 9e-4, 1.1e-3]
    assert check(late).late_cycles == 1
    assert check(late, [2e-4] * 2000).late_cycles == 2
    assert check(late[:3], [2e-4] * 2000).held
    assert not check(late[:3], [2e-4] * 1000 + [4e-4] * 1000).held


def test_times_are_told_by_share():
    times = np.concatenate([np.arange(1, 10_001) * 1e-6, [np.nan]])
    found = time_percentiles(times)
    assert found == pytest.approx({"p50": 5.001e-3, "p99": 9.901e-3, "p99.9": 9.991e-3, "max": 1e-2}, abs=1.1e-6)
    assert time_percentiles(times[:0]) == {}


def test_a_histogram_holds_every_time_once():
    times = np.array([3e-7, 1.5e-5, 1.6e-5, 4e-3, 4e3])
    bounds, counts = map(np.array, zip(*time_histogram(times), strict=True))
    assert counts.sum() == len(times)
    assert counts[np.isclose(bounds, 2e-5, rtol=1e-9)] == [2]
    assert (counts[0], counts[-1]) == (1, 1)
    assert bounds[0] == pytest.approx(1e-6) and bounds[-1] == np.inf
    assert time_histogram(times[:0]) == []


@pytest.mark.full
def test_a_process_that_is_stopped_wakes_up_late(monkeypatch):
    """A process that is stopped for 60 ms misses the cycles of that time, and no time is lost in counting them.

    It is stopped again and again: on a busy computer it may begin to measure late.
    """
    begun, stopped = [], []

    class Started(subprocess.Popen):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            begun.append(self.pid)

    def stop(share):
        if share > 0.5:
            os.kill(begun[0], signal.SIGSTOP)
            time.sleep(0.06)
            os.kill(begun[0], signal.SIGCONT)
            stopped.append(share)

    monkeypatch.setattr(cycle_check.subprocess, "Popen", Started)
    found = check_cycle(2e-3, 2.0, None, stop)
    assert stopped, "the process was over too early"
    assert len(found.late) == 1000
    assert found.late.max() > 0.05
    assert found.late_cycles >= 25
    assert not found.held
    assert (found.late >= 0).all()
    assert np.isfinite(found.round_trips).all() and (found.round_trips > 0).all()


def test_the_probe_ends_with_who_started_it():
    """What is killed leaves no process behind that runs before all others."""
    words = (
        "import subprocess, sys\n"
        "probe = [sys.executable, '-m', 'dockdyn.realtime.probe', '10000000', '3000', '-1', '10']\n"
        "process = subprocess.Popen(probe); print(process.pid, flush=True); process.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True) as parent:
        probe = int(parent.stdout.readline())
        assert "real_time" in parent.stdout.readline()  # it measures now
        parent.kill()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{probe}/stat").exists() and Path(f"/proc/{probe}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < deadline, "the probe lives on"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("scheduling", "machine", "stolen", "word"),
    [
        (IDEAL._replace(real_time=False), MACHINE, 0.0, "rtprio"),
        (IDEAL._replace(memory_locked=False), MACHINE, 0.0, "memlock"),
        (IDEAL, MACHINE._replace(real_time_kernel=False), 0.0, "PREEMPT_RT"),
        (IDEAL, MACHINE._replace(governor="powersave"), 0.0, "powersave"),
        (IDEAL, MACHINE, 0.5, "0.5 s"),
    ],
)
def test_what_a_computer_lacks_is_named(scheduling, machine, stolen, word):
    (found,) = find_shortcomings(scheduling, machine, stolen, 60.0)
    assert word in found
    assert find_shortcomings(IDEAL, MACHINE._replace(governor=""), 0.01, 60.0) == []


def test_the_command_tells_and_judges(dock):
    ended = dock("rig", "doctor", "--cycle", "50 ms", "--seconds", "1 s", "--json")
    told = json.loads(ended.stdout)
    assert told["cycle_s"] == 0.05
    assert told["cycles"] == 20
    assert sum(row["cycles"] for row in told["wake_up_histogram"]) == 20
    assert ended.returncode == (0 if told["held"] else 1)
    in_words = dock("rig", "doctor", "--cycle", "50 ms", "--seconds", "0.5 s")
    assert "10 cycles of 50 ms" in in_words.stdout
    assert ("Held: none of 10 cycles was late" in in_words.stdout) == (in_words.returncode == 0)


def test_a_rig_s_hold_is_its_cycle(dock):
    """250 Hz of the preset."""
    assert "50 cycles of 4 ms" in dock("rig", "doctor", "epos-like", "--seconds", "0.2 s").stdout


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ((), "no cycle: name a scenario with a [rig]"),
        (("probe-cone",), "probe-cone: loop.hold: missing"),
        (("--cycle", "0 s"), "--cycle: 0 s"),
        (("--cycle", "3 kg"), "--cycle: 3 kg"),
        (("--cycle", "2 s", "--seconds", "1 s"), "--seconds: 1 s: must be at least a cycle, 2 s"),
        (("--cycle", "4 ms", "--cpu", "4096"), "--cpu: 4096: must be one of 0"),
    ],
)
def test_bad_input_is_one_line(dock, words, refusal):
    ended = dock("rig", "doctor", *words)
    ended.check_refused(refusal)
