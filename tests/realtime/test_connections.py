"""Connections to a robot of Universal Robots before the cycle: what it agrees to, and what is said where it does not."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import pytest
from rig_processes import free_ports

from dockdyn.realtime import connections
from dockdyn.realtime.connections import NotConnected, connected
from dockdyn.realtime.devices.device import Pose
from dockdyn.realtime.devices.emulated.rtde import EmulatedUR, URInPackets
from dockdyn.realtime.devices.rtde import RTDE, RTDESettings, split_packages
from dockdyn.realtime.links import URConnections
from dockdyn.scenario.tables.rig.devices import URSection

START = Pose((0.4, 0.1, 0.5))


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(connections, "ANSWER", 5.0)
    monkeypatch.setattr(connections, "PROGRAM", 0.5)


@contextmanager
def robot(section, newest=2, program=True):
    """An emulated robot that listens, in a thread that ends with the block."""
    made = URInPackets(START)
    made.robot = EmulatedUR(START, newest)
    link = URConnections(made, (section.host, section.port), section.reverse_port)
    if not program:
        link._open_commands = lambda: None
    over, commands = threading.Event(), []

    def run():
        began, now = time.monotonic(), 0.0
        while not over.is_set() and time.monotonic() < began + 30:
            now += 8e-3  # of the robot's own clock
            for packet in link.received(now):
                commands.append(packet)
                made.receive(now, packet)
            for packet in made.tick(now, START):
                link.send(packet)
            time.sleep(1e-3)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield made, commands
    over.set()
    thread.join(10)
    link.close()


def section():
    port, reverse = free_ports(2)
    return URSection(kind="ur-rtde", port=port, reverse_port=reverse)


@pytest.mark.parametrize("version", [1, 2])
def test_a_robot_tells_once_it_is_started_and_takes_commands(version):
    asked, settings = section(), RTDESettings(version=version, frequency=125.0)
    with robot(asked) as (made, commands), connected(asked, settings) as found:
        assert found.settings == settings
        found.start()
        client, kept, poses = RTDE(found.settings), b"", []
        found.told.settimeout(5.0)
        while len(poses) < 3:
            packages, kept = split_packages(kept + found.told.recv(4096))
            poses += [client.decode_data(package)[0] for package in packages]
        assert {pose.position for pose in poses} == {START.position}
        found.commands.sendall(client.encode_command(made.cycle.setpoint))
        deadline = time.monotonic() + 5.0
        while not commands and time.monotonic() < deadline:
            time.sleep(1e-3)
        assert b"".join(commands) == client.encode_command(made.cycle.setpoint)


def refusal(asked, settings):
    with pytest.raises(NotConnected) as refused, connected(asked, settings):
        pass
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_what_is_not_there_is_told_in_one_line():
    asked = section()
    assert refusal(asked, RTDESettings()) == f"127.0.0.1:{asked.port}: Connection refused"
    with robot(asked, newest=1):
        assert refusal(asked, RTDESettings(version=2)).startswith(f"127.0.0.1:{asked.port}: version or recipe: refused")
    asked = section()
    with robot(asked, program=False):
        assert "the robot's program, which must be started: no answer" in refusal(asked, RTDESettings())
