"""The devices of a rig, emulated in real time on this computer: robot, contact and sensor behind their protocols.

Units: SI; times s.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from dockdyn.realtime.device_kinds import ASKED, Devices
from dockdyn.realtime.lockstep import LaboratoryInSteps, pose_of, sensed, wanted_of
from dockdyn.scenario.tables.devices import DevicesSection

ROOM = 2048  # bytes of a packet
RESET = 1.0  # s after which its operator has reset a robot that has stopped
Address = tuple[str, int]


class EmulatedRig:
    """A sensor and a robot, which asks for a command once a cycle.

    A robot that was answered and then is not, for some cycles, stops as that kind of robot does, and is silent until its
    operator resets it.
    """

    def __init__(self, laboratory: LaboratoryInSteps, devices: Devices, section: DevicesSection):
        """With sockets at the addresses of a table. Raises OSError."""
        self.laboratory, self.period = laboratory, devices.period
        self.stops = self.late = 0
        self.resets: float | None = None  # when the operator resets a robot that has stopped
        self.sensor, self.robot = devices.emulate(pose_of(laboratory.tell()[1]))
        asked = section.sensor.kind in ASKED
        self.listener: Address | None = None if asked else (section.sensor.host, section.sensor.port)
        with ExitStack() as stack:
            self.sensor_socket, self.robot_socket = (
                stack.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))) for _ in range(2)
            )
            if asked:
                self.sensor_socket.bind((section.sensor.host, section.sensor.port))
            self.robot_socket.connect((section.robot.host, section.robot.port))
            for one in (self.sensor_socket, self.robot_socket):
                one.setblocking(False)
            self.sockets = stack.pop_all()

    def run(self, cycles: int | None, stop_asked: Callable[[], bool]) -> None:
        """So many cycles, or without end until `stop_asked`."""
        with self.sockets:
            due = time.monotonic()
            while (cycles is None or self.laboratory.cycle < cycles) and not stop_asked():
                now = self.laboratory.cycle * self.period
                self._tell(now)
                due += self.period
                left = due - time.monotonic()
                if left < 0:  # this computer stood still, and the robot's clock with it
                    self.late += 1
                    due = time.monotonic()
                time.sleep(max(left, 0.0))
                self._take(now)

    def _tell(self, now: float) -> None:
        """Sensor and robot say where they are."""
        load, pose = self.laboratory.tell()
        for packet, sender in _received(self.sensor_socket):
            self.listener = sender
            self.sensor.receive(now, packet)
        if (listener := self.listener) is not None:
            for packet in sensed(self.sensor, now, load):
                _send(self.sensor_socket, packet, listener)
        self._reset(now)
        for packet in self.robot.tick(now, pose_of(pose)):
            _send(self.robot_socket, packet, None)

    def _take(self, now: float) -> None:
        """The answers of this cycle move the robot."""
        for packet, _ in _received(self.robot_socket):
            self.robot.receive(now, packet)
        self.laboratory.take(None if self.robot.cycle.stopped else wanted_of(self.robot))

    def _reset(self, now: float) -> None:
        """A robot that has stopped is switched on again where it is, once nobody has to wait for that."""
        if not self.robot.cycle.stopped:
            return
        if self.resets is None:
            self.stops, self.resets = self.stops + 1, now + RESET
        elif now >= self.resets:
            self.resets = None
            start = pose_of(self.laboratory.tell()[1])
            self.robot.reconnect(now, start)
            self.robot.cycle.restart(now, self.robot.cycle.setpoint, waiting=True)


def _received(one: socket.socket) -> list[tuple[bytes, Address]]:
    """All packets that wait."""
    found = []
    try:
        while True:
            found.append(one.recvfrom(ROOM))
    except (BlockingIOError, ConnectionRefusedError):  # none is left; nobody listens at the other end
        return found


def _send(one: socket.socket, packet: bytes, address: Address | None) -> None:
    """Send to an address, or to whom the socket is connected, where somebody listens."""
    try:
        one.send(packet) if address is None else one.sendto(packet, address)
    except (BlockingIOError, ConnectionRefusedError):
        pass
