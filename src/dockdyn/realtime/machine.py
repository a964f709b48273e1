"""What decides whether a computer can hold a cycle: its kernel, its processors, the rights of the user.

Source: Linux, proc(5) and sched(7); the file /sys/kernel/realtime of kernels with PREEMPT_RT.
"""

from __future__ import annotations

import os
import platform
import resource
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    """The facts."""

    kernel: str
    real_time_kernel: bool  # with PREEMPT_RT: also what the kernel itself does can be interrupted
    processors: int
    isolated: str  # processors that the system keeps free of ordinary processes
    governor: str  # of the first processor's frequency; empty where that cannot be read
    locked_memory: int | None  # bytes that a process may lock; None: without limit


def inspect_machine() -> Machine:
    """Return the facts of this computer."""
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    release = platform.release()
    stated = _read_system_file("/sys/kernel/realtime") == "1"
    return Machine(
        kernel=f"{platform.system()} {release}",
        real_time_kernel=stated or "PREEMPT_RT" in platform.version(),
        processors=os.cpu_count() or 1,
        isolated=_read_system_file("/sys/devices/system/cpu/isolated"),
        governor=_read_system_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        locked_memory=None if limit == resource.RLIM_INFINITY else limit,
    )


def stolen_time() -> float:
    """Return seconds, of all processors, that a host has taken from this virtual machine since it began; zero on a real one."""
    fields = _read_system_file("/proc/stat").partition("\n")[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else 0.0


def _read_system_file(file: str) -> str:
    """Return a file of the system without its last line break; empty where there is none."""
    try:
        return Path(file).read_text().strip()
    except OSError:
        return ""
