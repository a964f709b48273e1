"""Packets of strangers, copies and floods of them: none is taken for a device's, and none keeps the loop from its cycle."""

import contextlib
import ctypes
import socket
import subprocess
import sys

import numpy as np
import pytest
from driven_rigs import needs_compiler
from rig_processes import Bench, arm_and_run

from dockdyn.cli.common import BAD_INPUT
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.rig_log import read_rig_log
from dockdyn.realtime.server import LOOP
from dockdyn.translate.c_library import compile_texts

pytestmark = [needs_compiler, pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")]

PROBE = """
#include "wire.h"
static wire way;
bool probe_open(const char *words) { return wire_open(&way, words, 0); }
long probe_take(unsigned char *packet, int *left) { int64_t arrived; return wire_take(&way, packet, &arrived, left); }
void probe_accept(void) { wire_accept(&way); }
"""


class Wire:
    """The way of the loop to a device that speaks to this computer."""

    def __init__(self, port):
        files = {name: (LOOP / name).read_text() for name in ("wire.c", "wire.h")}
        self.library = ctypes.CDLL(str(compile_texts(files | {"probe.c": PROBE}, "-shared", "-fPIC")))
        self.library.probe_take.restype = ctypes.c_long
        assert self.library.probe_open(f"hear:127.0.0.1:{port}".encode())
        self.packet = ctypes.create_string_buffer(2048)

    def take(self, most):
        """The packets that it takes of at most so many, and how many it might still have taken."""
        left, found = ctypes.c_int(most), []
        while (size := self.library.probe_take(self.packet, ctypes.byref(left))) >= 0:
            found.append(self.packet.raw[:size])
        return found, left.value


@pytest.fixture
def speakers():
    """Sockets of a device and of strangers."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(3)]


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("seed", range(20))
def test_who_has_spoken_first_is_heard_alone_however_many_packets_others_send(seed, speakers):
    """More than the buffer of the socket holds, in any order, with random bytes, and copies of what the device says."""
    rng, port = np.random.default_rng(seed), free_port()
    device, *strangers = speakers
    wire, place = Wire(port), ("127.0.0.1", port)
    device.sendto(b"first", place)
    assert wire.take(10)[0] == [b"first"]
    wire.library.probe_accept()
    said = [rng.bytes(int(rng.integers(1, 100))) for _ in range(20)]
    for words in said:
        for _ in range(int(rng.integers(0, 100))):
            strangers[rng.integers(0, 2)].sendto(words if rng.random() < 0.5 else rng.bytes(64), place)
        device.sendto(words, place)
    assert wire.take(256) == (said, 256 - len(said) - 1)


def test_no_more_packets_are_taken_at_once_than_may_be(speakers):
    """Before a device is known anybody may be it; a flood is taken in parts."""
    port = free_port()
    wire = Wire(port)
    for number in range(100):
        speakers[number % 3].sendto(bytes([number]), ("127.0.0.1", port))
    taken = [wire.take(30) for _ in range(5)]
    assert [(len(found), left) for found, left in taken] == [(30, 0), (30, 0), (30, 0), (10, 19), (0, 29)]
    assert b"".join(packet for found, _ in taken for packet in found) == bytes(range(100))


FLOOD = """
import os, socket, sys, time
places = [("127.0.0.1", int(port)) for port in sys.argv[1:]]
way, packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), [os.urandom(64), bytes(64), b"\\x00\\x00\\xf0\\x7f" * 16]
deadline = time.monotonic() + 600
while time.monotonic() < deadline:
    for place in places:
        for packet in packets:
            way.sendto(packet, place)
"""


@pytest.fixture(params=["plain"])
def bench(tmp_path, request):
    with contextlib.ExitStack() as stack:
        yield Bench(tmp_path, stack, request.param)


@pytest.mark.full
def test_a_flood_of_strangers_packets_keeps_no_cycle_waiting(bench):
    """To the ports of sensor and robot, as fast as another process can: the run comes to its end."""
    bench.emulate()
    server = bench.serve("a.mcap")
    device = bench.scenario.content.rig.device
    ports = [str(device.sensor.port), str(device.robot.port)]
    flood = subprocess.Popen([sys.executable, "-c", FLOOD, *ports])
    bench.stack.callback(flood.kill)
    arm_and_run(server)
    assert server.end() == 0, server.printed
    assert flood.poll() is None and "Ended: end." in server.printed
    assert read_rig_log(bench.folder / "a.mcap").cycles[-1]["output_cause"] == Cause.END


@pytest.mark.full
@pytest.mark.parametrize("bench", ["plain", "KUKA", "FANUC", "UR"], indirect=True)
def test_a_second_rig_with_the_same_devices_ends_in_one_line_and_leaves_the_first_alone(bench):
    bench.emulate()
    server = bench.serve("a.mcap")
    second = bench.start("serve", "--best-effort", "--log", "b.mcap")
    assert second.end() == BAD_INPUT
    assert len(second.answered) == 1 + (bench.devices == "UR"), second.printed
    assert "another dockdyn rig serve has it" in second.answered[-1]
    assert not (bench.folder / "b.mcap").exists()
    arm_and_run(server)
    assert server.end() == 0, server.printed
    assert "Ended: end." in server.printed
