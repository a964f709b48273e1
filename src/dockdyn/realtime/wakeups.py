"""How late a process wakes up that asks for instants of equal distance, as the cycle of a rig does.

Units: nanoseconds.
Source: POSIX.1-2017, clock_nanosleep; Linux, sched(7).
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
from array import array
from typing import NamedTuple

PRIORITY = 80  # of 1 to 99; the kernel's own threads of interrupts have 50
ALL_MEMORY = 1 | 2  # MCL_CURRENT | MCL_FUTURE
AT_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG
BEGIN = 20_000_000  # ns until the first instant
SECOND = 1_000_000_000


class Scheduling(NamedTuple):
    """How a process ran."""

    real_time: bool  # first in, first out, before all ordinary processes
    memory_locked: bool  # no page of it can be swapped out
    cpu: int | None  # the processor that it was kept on


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def become_real_time(cpu: int | None = None) -> Scheduling:
    """Ask the system to run this process before ordinary ones and to keep its memory; tells what it was allowed.

    It ends with the process that has started it.
    """
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(AT_DEATH_OF_PARENT, signal.SIGKILL)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        real_time = True
    except PermissionError:
        real_time = False
    locked = system.mlockall(ALL_MEMORY) == 0
    return Scheduling(real_time, locked, cpu)


def measure_wakeups(period: int, count: int) -> array[int]:
    """Return delays (ns) of `count` wake-ups, each against its own instant, `period` ns apart.

    A wake-up that comes after later instants leaves these late, too: they are counted, none is left out.
    """
    sleep = ctypes.CDLL(None, use_errno=True).clock_nanosleep
    late, moment = array("q"), _Timespec()
    address, clock, absolute = ctypes.byref(moment), time.CLOCK_MONOTONIC, 1
    now, push = time.monotonic_ns, late.append
    due = now() + BEGIN
    gc.disable()
    for _ in range(count):
        moment.seconds, moment.nanoseconds = divmod(due, SECOND)
        while sleep(clock, absolute, address, None):  # broken off by a signal
            pass
        push(now() - due)
        due += period
    gc.enable()
    return late
