"""The cycle of a robot that is master: it tells where it is, waits for an answer, and stops when too many are late.

Units: s.
"""

from __future__ import annotations

from collections import deque

from dockdyn.realtime.devices.device import ToolCommand
from dockdyn.records import record


@record
class CycleSettings:
    """Period (s), how many late answers stop the robot, and when an answer counts.

    An answer to the message of a cycle is where the robot shall be `applies_after` cycles later. Where `in_a_row`, an answer in
    time forgives those before it. Of several answers in a cycle the last one counts; where `queued`, the first one that has
    not counted yet, and the others wait for the cycles that follow.
    """

    period: float = 0.004
    late_limit: int = 10
    in_a_row: bool = False
    applies_after: int = 1
    queued: bool = False


class MasterCycle:
    """Cycles of a robot: its setpoint, its late answers, why it stopped. While `waiting` for a first answer none is late."""

    def __init__(self, settings: CycleSettings, setpoint: ToolCommand) -> None:
        self.settings = settings
        self.restart(0.0, setpoint)

    def restart(self, time: float, setpoint: ToolCommand, waiting: bool = False) -> None:
        """Begin anew with the next cycle at a time, as after a reconnection."""
        self.waiting = waiting
        self.setpoint = setpoint
        self.late = self.late_at_once = 0
        self.stopped = ""
        self.unanswered: ToolCommand | None = (
            None  # where a robot goes by itself that gets no answer; None: the last command
        )
        self._answers: deque[ToolCommand] = deque()
        self._ahead = deque([setpoint] * self.settings.applies_after)
        self._cycles = 0
        self._began = time

    @property
    def next(self) -> float:
        """When the next cycle begins."""
        return self._began + self._cycles * self.settings.period

    @property
    def wanted(self) -> ToolCommand:
        """The newest command, which may be ahead of the setpoint."""
        return self._answers[0] if self._answers else self.unanswered or self._ahead[-1]

    @property
    def queued(self) -> int:
        """How many answers wait for a cycle behind this one."""
        return max(len(self._answers) - 1, 0)

    def stop(self, cause: str) -> None:
        """Stop where the robot is; the first cause stays."""
        self.stopped = self.stopped or cause

    def answer(self, command: ToolCommand) -> None:
        """Take an answer in this cycle."""
        self.waiting = False
        if not self.settings.queued:
            self._answers.clear()
        self._answers.append(command)

    def begin(self, time: float, unanswered: ToolCommand | None = None) -> bool:
        """Begin a cycle if it is time to and the robot runs; what was not answered is the command before, or `unanswered`."""
        if self.stopped or time < self.next - 1e-9:
            return False
        if self._cycles:
            self._close(unanswered or self.unanswered or self._ahead[-1])
        self._cycles += 1
        return not self.stopped

    def _close(self, unanswered: ToolCommand) -> None:
        missing = not (self._answers or self.waiting)
        self.late += missing
        self.late_at_once = self.late_at_once + 1 if missing else 0
        if (self.late_at_once if self.settings.in_a_row else self.late) >= self.settings.late_limit and missing:
            self.stop("late answers")
            return
        self._ahead.append(self._answers.popleft() if self._answers else unanswered)
        self._ahead.popleft()
        self.setpoint = self._ahead[0]
