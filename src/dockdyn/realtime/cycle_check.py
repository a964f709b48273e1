"""Whether a computer can hold a cycle: measured wake-ups and round trips, and what follows from them.

Units: s.
Source: the interval of Clopper and Pearson for the share of late cycles.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.processes import module_command
from dockdyn.realtime.machine import Machine
from dockdyn.realtime.wakeups import PRIORITY, Scheduling

CONFIDENCE = 0.95
SHARES = (50, 99, 99.9)  # percentiles that are told
EXCHANGES = 2000  # datagrams there and back
POLL = 0.2  # s
STOLEN = 1e-3  # share of the time that a host may take unmentioned
LONGEST = 10.0  # s that a measurement may take beyond its own time


class CycleCheck(NamedTuple):
    """What was measured of a cycle, and the answer."""

    cycle: float
    late: Float[np.ndarray, "cycles"]  # delay of each wake-up, s
    round_trips: Float[np.ndarray, "exchanges"]  # s
    scheduling: Scheduling

    @property
    def answers(self) -> Float[np.ndarray, "cycles"]:
        """When in its cycle an answer is out, s: after the wake-up and the worst round trip but one in a thousand."""
        return self.late + (time_percentiles(self.round_trips)["p99.9"] if len(self.round_trips) else 0.0)

    @property
    def late_cycles(self) -> int:
        """How many cycles were over before their answer was out."""
        return int((self.answers > self.cycle).sum())

    @property
    def held(self) -> bool:
        """Whether every cycle was held."""
        return len(self.late) > 0 and self.late_cycles == 0

    @property
    def late_share_below(self) -> float:
        """Upper end, at 95 % confidence, of the share of cycles that are late."""
        from scipy.stats import binomtest

        if not len(self.late):
            return 1.0
        return float(binomtest(self.late_cycles, len(self.late), alternative="less").proportion_ci(CONFIDENCE).high)


def time_percentiles(times: Float[np.ndarray, "n"]) -> dict[str, float]:
    """Return times (s) by share, each one of those measured, and the longest."""
    known = times[np.isfinite(times)]
    if not len(known):
        return {}
    found = np.percentile(known, SHARES, method="higher")
    return {f"p{share:g}": float(value) for share, value in zip(SHARES, found, strict=True)} | {
        "max": float(known.max())
    }


def time_histogram(times: Float[np.ndarray, "n"]) -> list[tuple[float, int]]:
    """Return counts of times between bounds of 1, 2, 5, 10 … µs: the upper bound (s) of each that is needed, and the count."""
    bounds = np.array([mantissa * 10.0**power for power in range(-6, 3) for mantissa in (1, 2, 5)])
    which = np.searchsorted(bounds, times)
    counts = np.bincount(which, minlength=len(bounds) + 1)
    used = np.flatnonzero(counts)
    if not len(used):
        return []
    ends = [*bounds, np.inf]
    return [(float(ends[k]), int(counts[k])) for k in range(used[0], used[-1] + 1)]


def check_cycle(cycle: float, seconds: float, cpu: int | None, progress: Callable[[float], None]) -> CycleCheck:
    """Measure a cycle in a process of its own. Raises RuntimeError where that process fails.

    Args:
        cycle: its period, s.
        seconds: how long to wake up once a cycle.
        cpu: the processor to keep to; None: any.
        progress: takes the share of the time that has gone.
    """
    count = max(round(seconds / cycle), 1)
    words = [str(round(cycle * 1e9)), str(count), str(-1 if cpu is None else cpu), str(EXCHANGES)]
    command = module_command("dockdyn.realtime.probe", *words)
    began, length = time.monotonic(), count * cycle
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.returncode is None:
            try:
                out, problem = process.communicate(timeout=POLL)
            except subprocess.TimeoutExpired:
                gone = time.monotonic() - began
                progress(min(gone / length, 1.0))
                if gone > length + LONGEST:
                    process.kill()
    head, found, body = out.partition(b"\n")
    if process.returncode or not found:
        raise RuntimeError(problem.decode(errors="replace").strip().rpartition("\n")[2] or "nothing was measured")
    trips, late = body[: 8 * EXCHANGES], body[8 * EXCHANGES :]
    return CycleCheck(cycle, np.frombuffer(late, np.int64) * 1e-9, np.frombuffer(trips), Scheduling(**json.loads(head)))


def as_numbers(check: CycleCheck) -> dict[str, Any]:
    """Return the check as plain numbers by name, in SI units."""
    return {
        "cycle_s": check.cycle,
        "cycles": len(check.late),
        "late_cycles": check.late_cycles,
        "late_share_below": check.late_share_below,
        "held": check.held,
        "wake_up_s": time_percentiles(check.late),
        "wake_up_histogram": [{"up_to_s": bound, "cycles": count} for bound, count in time_histogram(check.late)],
        "round_trip_s": time_percentiles(check.round_trips),
        "round_trips_lost": int(np.isnan(check.round_trips).sum()),
        **check.scheduling._asdict(),
    }


def find_shortcomings(scheduling: Scheduling, machine: Machine, stolen: float, length: float) -> list[str]:
    """Return what this computer lacks that one that drives a rig should have, each with what helps.

    Args:
        scheduling: how the process ran.
        machine: facts of the computer.
        stolen: time that a host took from it meanwhile, s.
        length: of the measurement, s.
    """
    found = []
    if not scheduling.real_time:
        found.append(f"real-time scheduling is not allowed: give the user the limit rtprio {PRIORITY} or more")
    if not scheduling.memory_locked:
        found.append("memory cannot be locked: give the user the limit memlock unlimited")
    if not machine.real_time_kernel:
        found.append("the kernel is not a real-time one (PREEMPT_RT)")
    if machine.governor not in ("", "performance"):
        found.append(f"the processors' frequency changes (governor {machine.governor}): set it to performance")
    if stolen > STOLEN * length:
        found.append(f"a host took {stolen:.2g} s from this virtual machine: a rig needs a computer of its own")
    return found
