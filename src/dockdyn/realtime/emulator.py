"""The devices of a rig, emulated in real time on this computer: robot, contact and sensor behind their datagrams.

Units: SI; times s.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

from dockdyn.realtime.lockstep import LaboratoryInSteps

ROOM = 2048  # bytes of a packet
DEADLINE = 5  # cycles without an answer, after which a robot that was commanded stops
RESET = 250  # cycles without an answer, after which its operator has reset it


class EmulatedRig:
    """A sensor that sends to who has asked last, and a robot that asks for a command once a cycle.

    A robot that was answered and is not answered for `DEADLINE` cycles stops: it holds its last command, says so in its
    status, and takes no other, until nobody has answered for `RESET` cycles.
    """

    def __init__(
        self, laboratory: LaboratoryInSteps, period: float, sensor: tuple[str, int], computer: tuple[str, int]
    ):
        """At these addresses: the sensor's own, and that of the computer which the robot speaks to. Raises OSError."""
        self.laboratory, self.period = laboratory, period
        self.unanswered, self.commanded, self.stopped = 0, False, False
        self.stops, self.late = 0, 0
        self.listener: tuple[str, int] | None = None
        with ExitStack() as stack:
            self.sensor, self.robot = (
                stack.enter_context(closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))) for _ in range(2)
            )
            self.sensor.bind(sensor)
            self.robot.connect(computer)
            for one in (self.sensor, self.robot):
                one.setblocking(False)
            self.sockets = stack.pop_all()

    def run(self, cycles: int | None, stop_asked: Callable[[], bool]) -> None:
        """So many cycles, or without end until `stop_asked`."""
        with self.sockets:
            due = time.monotonic()
            while (cycles is None or self.laboratory.cycle < cycles) and not stop_asked():
                self._exchange()
                due += self.period
                left = due - time.monotonic()
                if left < 0:  # this computer stood still: the robot's clock did, too
                    self.late += 1
                    due = time.monotonic()
                time.sleep(max(left, 0.0))
                self._take()

    def _exchange(self) -> None:
        """Sensor and robot say where they are."""
        asked = _received(self.sensor)
        if asked:
            self.listener = asked[-1][1]
        reading, pose = self.laboratory.tell(robot_status=int(self.stopped))
        if (listener := self.listener) is not None:
            _send(lambda: self.sensor.sendto(reading, listener))
        _send(lambda: self.robot.send(pose))

    def _take(self) -> None:
        """The answer of this cycle moves the robot."""
        answers = [data for data, _ in _received(self.robot)]
        self.unanswered = 0 if answers else self.unanswered + 1
        self.commanded |= bool(answers)
        if self.commanded and not self.stopped and self.unanswered >= DEADLINE:
            self.stopped, self.stops = True, self.stops + 1
        if self.stopped and self.unanswered >= RESET:
            self.stopped = self.commanded = False
        self.laboratory.take(answers[-1] if answers and not self.stopped else None)


def _received(one: socket.socket) -> list[tuple[bytes, tuple[str, int]]]:
    """All packets that wait."""
    found = []
    try:
        while True:
            found.append(one.recvfrom(ROOM))
    except (BlockingIOError, ConnectionRefusedError):  # none is left; nobody listens at the other end
        return found


def _send(send: Callable[[], object]) -> None:
    """Send where somebody listens."""
    try:
        send()
    except (BlockingIOError, ConnectionRefusedError):
        pass
