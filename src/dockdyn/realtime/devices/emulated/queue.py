"""The cycle of a robot that keeps commands in a queue: it takes one in each, and stops when there is none.

Units: s.
"""

from __future__ import annotations

from collections import deque

from dockdyn.realtime.devices.device import ToolCommand
from dockdyn.realtime.devices.emulated.motion import ToolStep
from dockdyn.records import record


@record
class QueueSettings:
    """Period (s), commands that fit into the queue, commands that begin a motion, how long (s) it goes on without one."""

    period: float = 0.008
    room: int = 10
    begins_with: int = 1
    coast: float = 0.0


class QueuedCycle:
    """Cycles of a robot: its setpoint, its queue, why it stopped. While `waiting` it has not begun to move."""

    def __init__(self, settings: QueueSettings, setpoint: ToolCommand) -> None:
        self.settings = settings
        self.restart(0.0, setpoint)

    def restart(self, time: float, setpoint: ToolCommand, waiting: bool = False) -> None:
        """Begin anew with the next cycle at a time, as after a reconnection; nothing is late before the first answer."""
        self.waiting = True
        self.setpoint = setpoint
        self.late = 0  # cycles without a command
        self.stopped = ""
        self.ending = False  # whether the last command of all is in the queue
        self.step = ToolStep()  # of the last cycle
        self._queue: deque[ToolCommand] = deque()
        self._coasted = 0
        self._cycles = 0
        self._began = time

    @property
    def next(self) -> float:
        """When the next cycle begins."""
        return self._began + self._cycles * self.settings.period

    @property
    def queued(self) -> int:
        """How many commands are in the queue."""
        return len(self._queue)

    @property
    def newest(self) -> ToolCommand:
        """The command that came last and is not taken yet, else the setpoint."""
        return self._queue[-1] if self._queue else self.setpoint

    @property
    def wanted(self) -> ToolCommand:
        """Where the robot goes in this cycle."""
        if self._moves and self._queue:
            return self._queue[0]
        return self.step.from_pose(self.setpoint) if self._coasts else self.setpoint

    @property
    def _moves(self) -> bool:
        return not self.waiting or self.ending or len(self._queue) >= self.settings.begins_with

    @property
    def _coasts(self) -> bool:
        more = (self._coasted + 1) * self.settings.period
        return not (self.waiting or self.ending or self.stopped) and more <= self.settings.coast + 1e-9

    def stop(self, cause: str) -> None:
        """Stop where the robot is; the first cause stays."""
        self.stopped = self.stopped or cause
        self._queue.clear()

    def answer(self, command: ToolCommand) -> bool:
        """Take a command; False where the queue is full."""
        if len(self._queue) >= self.settings.room:
            return False
        self._queue.append(command)
        return True

    def begin(self, time: float) -> bool:
        """Begin a cycle if it is time to and the robot runs: it takes a command out of its queue."""
        if self.stopped or time < self.next - 1e-9:
            return False
        if self._cycles and self._moves:
            self._take()
        self._cycles += 1
        return not self.stopped

    def _take(self) -> None:
        place = self.wanted
        if self._queue:
            self._queue.popleft()
            self.waiting, self._coasted = False, 0
        elif self.ending:
            self.waiting, self.ending = True, False
        else:
            self.late += 1
            if not self._coasts:
                self.stop("no command in the queue")
                return
            self._coasted += 1
        self.step, self.setpoint = ToolStep.between(self.setpoint, place), place
