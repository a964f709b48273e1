"""A wall clock that is set while a rig is served: nothing of the rig goes by it."""

import contextlib
import re
import sys

import numpy as np
import pytest
from driven_rigs import needs_compiler
from rig_processes import Bench, arm_and_run

from dockdyn.realtime.rig_log import read_rig_log
from dockdyn.translate.c_library import compile_texts

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux"),
    pytest.mark.full,
]
JUMPS = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The wall clock is set to twelve days before or after each 7 ms. */
int clock_gettime(clockid_t clock, struct timespec *moment) {
    struct timespec steady;
    const int code = (int)syscall(SYS_clock_gettime, clock, moment);
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &steady);
    if (clock == CLOCK_REALTIME) moment->tv_sec += 1000000 * (steady.tv_nsec / 7000000 % 3 - 1);
    return code;
}
"""


@pytest.mark.parametrize("devices", ["plain", "plain by the clock", "KUKA"])
def test_a_wall_clock_that_jumps_changes_nothing(devices, tmp_path, monkeypatch):
    jumps = compile_texts({"jumps.c": JUMPS}, "-shared", "-fPIC")
    with contextlib.ExitStack() as stack:
        bench = Bench(tmp_path, stack, devices)
        bench.emulate()
        monkeypatch.setenv("LD_PRELOAD", str(jumps))
        server = bench.serve("a.mcap")
        arm_and_run(server)
        assert server.end() == 0, server.printed
    assert "Ended: end." in server.printed
    assert not re.search(r"\de\+0\d s", server.printed), server.printed  # an answer takes no days
    times = np.array([cycle["time"] for cycle in read_rig_log(tmp_path / "a.mcap").cycles])
    answers = np.array([cycle["answer"] for cycle in read_rig_log(tmp_path / "a.mcap").cycles])
    assert (np.diff(times) > 0).all()
    assert answers.max() < times[-1] and (answers >= 0).sum() > 300
