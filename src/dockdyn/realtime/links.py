"""The sockets of emulated devices: datagrams, or the connections of a robot of Universal Robots.

Nothing here waits.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Protocol

from dockdyn.realtime.devices.emulated.rtde import URInPackets

ROOM = 2048  # bytes of a packet
MOST = 256  # packets that are taken at once: a flood keeps no cycle waiting
Address = tuple[str, int]
NOBODY = (BlockingIOError, ConnectionError)  # none is left; nobody listens at the other end


class DeviceLink(Protocol):
    """The way between an emulated device and the computer."""

    def received(self, time: float) -> list[bytes]:
        """Return what has come since the last call."""

    def send(self, packet: bytes) -> None:
        """Send to the computer, if it is known and listens."""

    def sockets(self) -> list[socket.socket]:
        """Return what may bring something."""

    def reset(self) -> None:
        """Begin as after the device was switched off and on."""

    def close(self) -> None:
        """Close it."""


class Datagrams:
    """Packets to and from one computer: the one at an address, or who has asked last at that of the device."""

    def __init__(self, address: Address, asked: bool):
        """Raises OSError where an address of its own is taken."""
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.computer: Address | None = None if asked else address
        if asked:
            try:
                self.socket.bind(address)
            except OSError:
                self.socket.close()
                raise

    def received(self, time: float) -> list[bytes]:
        found: list[bytes] = []
        with contextlib.suppress(*NOBODY):
            while len(found) < MOST:
                packet, self.computer = self.socket.recvfrom(ROOM)
                found.append(packet)
        return found

    def send(self, packet: bytes) -> None:
        if self.computer is not None:
            with contextlib.suppress(*NOBODY):
                self.socket.sendto(packet, self.computer)

    def sockets(self) -> list[socket.socket]:
        return [self.socket]

    def reset(self) -> None:
        pass

    def close(self) -> None:
        self.socket.close()


class URConnections:
    """The connections of a robot: it is asked on one for what it says, and takes commands on one that its program opens.

    The program opens its connections in the order of the `ports`, the last one for commands; where one is refused it closes
    the others and tries again.
    """

    def __init__(self, robot: URInPackets, address: Address, ports: tuple[int, ...]):
        """Raises OSError where the address is taken."""
        self.robot, self.ports = robot, ports
        self.refused = 0  # how often it had to try again
        self.others: list[socket.socket] = []
        self.listening = socket.create_server(address)
        self.listening.setblocking(False)
        self.asked: socket.socket | None = None
        self.commands: socket.socket | None = None

    def received(self, time: float) -> list[bytes]:
        """Return the bytes of commands; requests are answered at once."""
        with contextlib.suppress(*NOBODY):
            one, _ = self.listening.accept()
            self._let_go()
            self.asked = one
            one.setblocking(False)
        for request in _receive_all(self.asked):
            if not request:
                self._let_go()
                break
            for answer in self.robot.robot.receive(time, request):
                self.send(answer)
        self._open_commands()
        found = _receive_all(self.commands)
        if b"" in found and self.commands is not None:
            self._close_program()
        return [each for each in found if each]

    def _open_commands(self) -> None:
        """Open the connections of the robot's program, which starts once the computer has spoken to it."""
        if self.asked is None or self.commands is not None:
            return
        self._close_program()
        try:
            computer = self.asked.getpeername()[0]
            for port in self.ports:
                self.others.append(socket.create_connection((computer, port), timeout=0.01))
        except OSError:
            self.refused += 1
            self._close_program()
            return
        self.commands = self.others.pop()
        self.commands.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.commands.setblocking(False)

    def _close_program(self) -> None:
        for each in (*self.others, self.commands):
            if each is not None:
                each.close()
        self.others, self.commands = [], None

    def send(self, packet: bytes) -> None:
        if self.asked is not None:
            with contextlib.suppress(*NOBODY):
                self.asked.send(packet)

    def sockets(self) -> list[socket.socket]:
        return [each for each in (self.listening, self.asked, self.commands) if each is not None]

    def reset(self) -> None:
        self._let_go()

    def _let_go(self) -> None:
        self._close_program()
        if self.asked is not None:
            self.asked.close()
        self.asked = None

    def close(self) -> None:
        self._let_go()
        self.listening.close()


def _receive_all(one: socket.socket | None) -> list[bytes]:
    """Return what has come; empty bytes at the end where the other end has closed it."""
    found: list[bytes] = []
    if one is None:
        return found
    try:
        while len(found) < MOST:
            found.append(one.recv(ROOM))
            if not found[-1]:
                break
        return found
    except BlockingIOError:
        return found
    except ConnectionError:
        return [*found, b""]
