"""The connections to a robot of Universal Robots, made before the cycle begins: what it says, and what its program takes.

Units: s.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from dockdyn.realtime.devices.device import BadPacket
from dockdyn.realtime.devices.rtde import DATA, RTDE, TEXT, RTDESettings, URRobot, open_package, split_packages

ANSWER = 5.0  # s that a robot may take to answer
PROGRAM = 60.0  # s in which its program must have been started
LOOK = 0.1  # s between looks at what the program has closed
ROOM = 4096  # bytes


class NotConnected(Exception):
    """A robot cannot be spoken to; the message says why in one line."""


class Connections(NamedTuple):
    """What is open: where the robot says how it is, where it takes commands, and what its program insists on besides."""

    told: socket.socket
    commands: socket.socket
    others: tuple[socket.socket, ...]  # for trajectories and script commands: nothing is sent on them
    settings: RTDESettings  # with the number that the robot has given

    def start(self) -> None:
        """Make the robot begin to tell. Raises NotConnected where it does not."""
        client, words = RTDE(self.settings), f"{self.told.getpeername()[0]}:{self.told.getpeername()[1]}"
        with _translate_problems(f"{words}: start"):
            _request_answer(self.told, client, client.encode_requests()[-1])


@contextlib.contextmanager
def connect_robot(robot: URRobot, settings: RTDESettings) -> Iterator[Connections]:
    """Yield connections of a robot, which is agreed with on what it says, but does not tell yet. Raises NotConnected."""
    place = robot.place
    client = RTDE(settings)
    with ExitStack() as stack:
        with _translate_problems(place):
            told = stack.enter_context(socket.create_connection((robot.host, robot.port), ANSWER))
            told.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        here = told.getsockname()[0]
        ports = []
        for number in robot.program_ports:
            with _translate_problems(f"{here}:{number}"):
                ports.append(ProgramPort(stack.enter_context(socket.create_server((here, number)))))
                stack.callback(ports[-1].close)
        for request in client.encode_requests()[:-1]:
            with _translate_problems(f"{place}: version or recipe"):
                _request_answer(told, client, request)
        trajectories, scripts, commands = _wait_for_program(here, ports)
        commands.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield Connections(told, commands, (trajectories, scripts), replace(settings, recipe=client.recipe))


class ProgramPort:
    """A port that the robot's program connects to; it may close its connection and try again: the last one counts."""

    def __init__(self, listening: socket.socket) -> None:
        self.listening, self.number = listening, listening.getsockname()[1]
        self.connection: socket.socket | None = None

    def accept(self) -> None:
        """Take a connection that waits, in place of the one before."""
        self.close()
        self.connection, _ = self.listening.accept()

    def is_open(self) -> bool:
        """Return whether the program is there; what it has closed is let go."""
        if self.connection is None:
            return False
        try:
            there = bool(self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            there = False
        if not there:
            self.close()
        return there

    def close(self) -> None:
        """Let the connection go."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _wait_for_program(here: str, ports: list[ProgramPort]) -> list[socket.socket]:
    """Wait until the robot's program has all its connections at the same time. Raises NotConnected where it has not."""
    deadline = time.monotonic() + PROGRAM
    while missing := [port for port in ports if not port.is_open()]:
        left = deadline - time.monotonic()
        if left <= 0:
            words = " and ".join(str(port.number) for port in missing)
            there = len(ports) - len(missing)
            why = f"only {there} of its {len(ports)} connections are there" if there else "no answer"
            raise NotConnected(f"{here}: port {words}: the robot's program, which must be started: {why}")
        ready, _, _ = select.select([port.listening for port in ports], [], [], min(left, LOOK))
        for port in ports:
            if port.listening in ready:
                with _translate_problems(f"{here}:{port.number}"):
                    port.accept()
    return [port.connection for port in ports if port.connection is not None]


@contextlib.contextmanager
def _translate_problems(where: str) -> Iterator[None]:
    """Raise what can go wrong as NotConnected."""
    try:
        yield
    except TimeoutError:
        raise NotConnected(f"{where}: no answer") from None
    except BadPacket as bad:
        raise NotConnected(f"{where}: refused ({bad})") from None
    except OSError as error:
        raise NotConnected(f"{where}: {error.strerror or error}") from None


def _request_answer(told: socket.socket, client: RTDE, request: bytes) -> None:
    """Make one request and return its answer. Raises BadPacket for a refusal, OSError."""
    told.sendall(request)
    deadline, kept = time.monotonic() + ANSWER, b""
    while True:
        told.settimeout(max(deadline - time.monotonic(), 1e-3))
        if not (more := told.recv(ROOM)):
            raise ConnectionResetError(None, "the robot has closed the connection")
        packages, kept = split_packages(kept + more)
        for package in packages:
            kind, _ = open_package(package)
            if kind not in (TEXT, DATA):
                client.decode_answer(package)
                return
