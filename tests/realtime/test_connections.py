"""Connections to a robot of Universal Robots before the cycle: what it agrees to, and what is said where it does not."""

import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from rig_processes import free_ports

from dockdyn.realtime import connections
from dockdyn.realtime.connections import NotConnected, connect_robot
from dockdyn.realtime.devices.device import ToolPose
from dockdyn.realtime.devices.emulated.rtde import EmulatedUR, URInPackets
from dockdyn.realtime.devices.rtde import RTDE, TEXT, RTDESettings, URBehaviour, URRobot, split_packages
from dockdyn.realtime.links import URConnections

START = ToolPose((0.4, 0.1, 0.5))


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(connections, "ANSWER", 5.0)
    monkeypatch.setattr(connections, "PROGRAM", 0.5)


@contextmanager
def robot(section, newest=2, program=True):
    """An emulated robot that listens, in a thread that ends with the block."""
    made = URInPackets(START, RTDESettings(), connected=True)
    made.robot = EmulatedUR(START, URBehaviour(newest_version=newest))
    link = URConnections(made, (section.host, section.port), section.program_ports)
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
    names = ("port", "reverse_port", "trajectory_port", "script_command_port")
    return URRobot(kind="ur-rtde", **dict(zip(names, free_ports(4), strict=True)))


@pytest.mark.parametrize("version", [1, 2])
def test_a_robot_tells_once_it_is_started_and_takes_commands(version):
    asked, settings = section(), RTDESettings(version, cycles=4)
    with robot(asked) as (made, commands), connect_robot(asked, settings) as found:
        assert found.settings == settings
        found.start()
        client, kept, poses = RTDE(found.settings), b"", []
        found.told.settimeout(5.0)
        while len(poses) < 3:
            packages, kept = split_packages(kept + found.told.recv(4096))
            poses += [client.decode_data(package)[0] for package in packages if package[2] != TEXT]
        assert {pose.position for pose in poses} == {START.position}
        found.commands.sendall(client.encode_command(made.cycle.setpoint))
        deadline = time.monotonic() + 5.0
        while not commands and time.monotonic() < deadline:
            time.sleep(1e-3)
        assert b"".join(commands) == client.encode_command(made.cycle.setpoint)


def refusal(asked, settings):
    with pytest.raises(NotConnected) as refused, connect_robot(asked, settings):
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


class Program:
    """The connections of the maker's unmodified program: in its order, each tried five times, all closed where one fails."""

    def __init__(self, asked, tries=1):
        self.asked, self.tries, self.open = asked, tries, []
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        for tried in range(self.tries):
            ports = [self.asked.trajectory_port, self.asked.script_command_port, self.asked.reverse_port]
            if tried + 1 < self.tries:
                ports.pop()  # as if the last one had been refused
            self.open = [found for port in ports if (found := self._connect(port)) is not None]
            if len(self.open) == 3:
                return
            for one in self.open:
                one.close()

    def _connect(self, port):
        for _ in range(5):
            with suppress(OSError):
                return socket.create_connection((self.asked.host, port), 1.0)
            time.sleep(0.05)
        return None


@pytest.mark.parametrize("tries", [1, 2, 4])
def test_the_unmodified_program_has_its_three_connections(tries, monkeypatch):
    """It closes all and tries again where one is missing: those that are open in the end are the ones that count."""
    monkeypatch.setattr(connections, "PROGRAM", 10.0)
    asked = section()
    program = Program(asked, tries)
    with robot(asked, program=False):
        program.thread.start()
        with connect_robot(asked, RTDESettings()) as found:
            program.thread.join(5)
            trajectories, scripts, commands = program.open
            found.commands.sendall(b"command")
            assert commands.recv(100) == b"command"
            for ours, theirs in zip(found.others, (trajectories, scripts), strict=True):
                theirs.sendall(b"result")
                ours.settimeout(5.0)
                assert ours.recv(100) == b"result"
    for one in program.open:
        one.close()


def test_a_program_with_fewer_connections_is_told_by_the_ports_that_miss_it():
    asked = section()
    with robot(asked, program=False):
        others = []

        def connect():
            for port in (asked.trajectory_port, asked.script_command_port):
                while not others or others[-1].getpeername()[1] != port:
                    with suppress(OSError):
                        others.append(socket.create_connection((asked.host, port), 1.0))

        thread = threading.Thread(target=connect, daemon=True)
        thread.start()
        words = refusal(asked, RTDESettings())
        thread.join(5)
    why = "the robot's program, which must be started: only 2 of its 3 connections are there"
    assert words == f"127.0.0.1: port {asked.reverse_port}: {why}"
    for one in others:
        one.close()
