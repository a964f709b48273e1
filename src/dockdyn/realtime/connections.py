"""The connections to a robot of Universal Robots, made before the cycle begins: what it says, and what its program takes.

Units: s.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import NamedTuple

from dockdyn.realtime.devices.device import BadPacket
from dockdyn.realtime.devices.rtde import DATA, RTDE, RTDESettings, open_package, split_packages
from dockdyn.scenario.tables.rig.devices import URSection

ANSWER = 5.0  # s that a robot may take to answer
PROGRAM = 60.0  # s in which its program must have been started
TEXT = ord("M")  # a package that the robot sends by itself
ROOM = 4096  # bytes


class NotConnected(Exception):
    """A robot cannot be spoken to; the message says why in one line."""


class Connections(NamedTuple):
    """What is open: where the robot says how it is, and where it takes commands."""

    told: socket.socket
    commands: socket.socket
    settings: RTDESettings  # with the number that the robot has given

    def start(self) -> None:
        """The robot begins to tell. Raises NotConnected where it does not."""
        client, words = RTDE(self.settings), f"{self.told.getpeername()[0]}:{self.told.getpeername()[1]}"
        with _problems(f"{words}: start"):
            _ask(self.told, client, client.encode_requests()[-1])


@contextlib.contextmanager
def connected(section: URSection, settings: RTDESettings) -> Iterator[Connections]:
    """Connections of a robot, which is agreed with on what it says, but does not tell yet. Raises NotConnected."""
    place = f"{section.host}:{section.port}"
    client = RTDE(settings)
    with ExitStack() as stack:
        with _problems(place):
            told = stack.enter_context(socket.create_connection((section.host, section.port), ANSWER))
            told.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        here = told.getsockname()[0]
        with _problems(f"{here}:{section.reverse_port}"):
            listening = stack.enter_context(socket.create_server((here, section.reverse_port)))
        for request in client.encode_requests()[:-1]:
            with _problems(f"{place}: version or recipe"):
                _ask(told, client, request)
        listening.settimeout(PROGRAM)
        with _problems(f"{here}:{section.reverse_port}: the robot's program, which must be started"):
            commands, _ = listening.accept()
            stack.enter_context(closing(commands))
            commands.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield Connections(told, commands, replace(settings, recipe=client.recipe))


@contextlib.contextmanager
def _problems(where: str) -> Iterator[None]:
    """What can go wrong, as NotConnected."""
    try:
        yield
    except TimeoutError:
        raise NotConnected(f"{where}: no answer") from None
    except BadPacket as bad:
        raise NotConnected(f"{where}: refused ({bad})") from None
    except OSError as error:
        raise NotConnected(f"{where}: {error.strerror or error}") from None


def _ask(told: socket.socket, client: RTDE, request: bytes) -> None:
    """One request and its answer. Raises BadPacket for a refusal, OSError."""
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
