"""What an operator does with a served rig: home, arm, run, watch; and what is told meanwhile."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.cycle_check import time_percentiles
from dockdyn.realtime.server import NOT_HEARD, REMEMBERED, ServedRig
from dockdyn.realtime.stop_words import cause_words
from dockdyn.realtime.wakeups import SECOND

POLL = 0.05  # s
HOLD = 0.7  # s that a key counts as held: longer than a keyboard takes until it repeats it
REPEATED = 0.3  # s that one counts that is repeated: longer than between two repetitions
WAITED = 5.0  # s in idle after which it is told what is missing
INTENDED = (Cause.END, Cause.OPERATOR)
ASKED_FOR = {OperationState.HOMED: "arm", OperationState.ARMED: "run"}  # what is typed in a state
NEXT = {OperationState.IDLE: Request.HOME, OperationState.HOMED: Request.ARM, OperationState.ARMED: Request.RUN}

Why = Callable[[Cause, np.void, Sequence[np.void]], str]  # of a cause, the cycle that has it, and those before


class Console(Protocol):
    """Where an operator types and reads."""

    def tell(self, text: str) -> None:
        """Print a line that stays."""

    def show(self, text: str) -> None:
        """Show what is so just now; it takes the place of what was."""

    def read_line(self) -> str | None:
        """Return a line that was typed, if there is one."""

    def forget(self) -> bool:
        """Leave out all that was typed until now, also half a line; whether that was anything."""

    def is_key_held(self) -> bool:
        """Return whether the key of hold-to-run was pressed since the last call."""


class Outcome(NamedTuple):
    """How an operation ended."""

    cause: Cause
    cycles: int
    late: int  # cycles that were missed
    answers: dict[str, float]  # s from receiving to sending, by share
    unseen: int  # records that were overwritten before they were looked at
    state: OperationState
    broken: bool = False  # whether the loop has ended by itself, and nobody has braked

    why: str = ""  # it was stopped: value, limit, axis and time

    @property
    def intended(self) -> bool:
        """Whether the rig was stopped because it should."""
        return self.cause in INTENDED and not self.broken


class Operation:
    """A served rig from idle to its end."""

    def __init__(
        self,
        rig: ServedRig,
        console: Console,
        hold_to_run: bool,
        stop_asked: Callable[[], bool],
        why_stopped: Why = lambda cause, row, before: cause_words(cause),
        first_pose: np.ndarray | None = None,
        devices: Mapping[str, str] | None = None,
    ):
        """`first_pose` is where arming moves the robot (m, rad), which is told before it is asked for; `devices` are, for the
        sensor and the robot, what is heard of where.
        """
        self.first_pose, self.devices = first_pose, devices or {}
        self.rig, self.console, self.hold_to_run, self.stop_asked = rig, console, hold_to_run, stop_asked
        self.why_stopped, self.why = why_stopped, ""  # it was stopped, in words
        self.before: deque[np.void] = deque(maxlen=2)  # cycles
        self.state, self.cause = OperationState.IDLE, Cause.NONE
        self.cycles = self.late = 0
        self.answers: list[np.ndarray] = []
        self.confirmed: set[str] = set()
        self.told = False  # what idle waits for
        self.logs = True  # whether the log is still written
        self.pressed = -HOLD  # when a key last was, as time.monotonic has it

    def run(self) -> Outcome:
        """Go through the states, asking at each, until `stop_asked`, the end, or the end of the loop."""
        if not self.hold_to_run:
            self.rig.hold(None)
        self.console.tell(f"{OperationState.IDLE.name.lower()}: waiting for sensor and robot")
        broken = False
        while not self._over() and not broken:
            time.sleep(POLL)
            ended = not self.rig.running  # before what it has told last is read
            self._step()
            broken = ended and not self._over()
        self.console.show("")
        answers = time_percentiles(np.concatenate([np.empty(0), *self.answers]))
        cause = Cause.OPERATOR if self.cause == Cause.NONE and not broken else self.cause
        return Outcome(cause, self.cycles, self.late, answers, self.rig.lost, self.state, broken, self.why)

    def _over(self) -> bool:
        """Return whether nothing will happen any more."""
        ended = self.cause != Cause.NONE or self.stop_asked()
        return ended and self.state in (OperationState.IDLE, OperationState.FAULT)

    def _step(self) -> None:
        """Look at what has happened, and ask for what comes next."""
        rows = self.rig.news()
        for row in rows:
            self._follow(row)
        self.cycles += len(rows)
        self.late += int(rows["inputs"]["late"].sum())
        self.answers.append(rows["answer"][rows["answer"] >= 0] / SECOND)
        if len(rows):
            self.console.show(_words_of(rows[-1]))
            self._tell_what_is_missing(rows[-1])
        if self.logs and not self.rig.log.running:
            self.logs = False
            self.console.tell(f"warning: the process that writes the log has ended: the last {REMEMBERED:g} s are kept")
        self.rig.ask(Request.STOP if self.stop_asked() else self._next())

    def _follow(self, row: np.void) -> None:
        """Tell a change of state."""
        state, cause = OperationState(int(row["outputs"]["state"])), Cause(int(row["outputs"]["cause"]))
        if state != self.state:
            why = "" if cause == Cause.NONE else f" ({cause_words(cause)})"
            self.console.tell(f"{row['time'] / SECOND:.3f} s: {self.state.name.lower()} → {state.name.lower()}{why}")
            self._forget_typed(state)
            if state == OperationState.HOMED and self.first_pose is not None:
                self.console.tell(_arming_words(row["outputs"]["command"], self.first_pose))
            if state in ASKED_FOR and not self.hold_to_run:
                self.console.tell(f"type {ASKED_FOR[state]} and Enter to {ASKED_FOR[state]}; Ctrl-C stops")
            elif state == OperationState.HOMED:
                self.console.tell("hold a key to arm and run; let go, it brakes, as with Ctrl-C")
        if cause != Cause.NONE and self.cause == Cause.NONE:
            self.why = self.why_stopped(cause, row, list(self.before))
        self.state, self.cause = state, cause
        self.before.append(row.copy())

    def _forget_typed(self, state: OperationState) -> None:
        """Leave out what was typed before a new state was told: it was not meant for that."""
        if self.hold_to_run and state != OperationState.HOMED:
            return  # the key goes on being held
        typed = self.console.forget() or bool(self.confirmed - {ASKED_FOR.get(self.state)})
        self.confirmed.clear()
        if typed and state in ASKED_FOR:
            self.console.tell("what was typed before does not count")

    def _tell_what_is_missing(self, row: np.void) -> None:
        """Tell, once, why it does not home."""
        if self.told or self.state != OperationState.IDLE or self.cause != Cause.NONE or row["time"] < WAITED * SECOND:
            return
        self.told, head = True, self.rig.ring.head
        heard = {name: row["inputs"][f"{name}_count"] >= 0 for name in ("load", "pose")}
        missing = [words for name, words in (("load", "sensor"), ("pose", "robot")) if not heard[name]]
        missing = [f"{each} ({self.devices[each]})" if each in self.devices else each for each in missing]
        why = (
            f"nothing is heard of the {' and the '.join(missing)}; {NOT_HEARD}"
            if missing
            else "the sensor or the robot reports a fault"
        )
        counts = [(head["bad_readings"], "of the sensor"), (head["bad_poses"], "of the robot")]
        bad = [f"{count} packets {words} do not fit rig.device and are not read" for count, words in counts if count]
        if head["foreign"]:
            bad.append(f"{head['foreign']} packets come from another address; is another emulator still running?")
        self.console.tell("; ".join([f"still idle: {why}", *bad]))

    def _next(self) -> Request:
        """Return what is asked for in this state."""
        if self.cause != Cause.NONE:
            return Request.NONE
        if self.hold_to_run:
            held = self.console.is_key_held()
            if held:
                repeated = time.monotonic() < self.pressed + HOLD
                self.rig.hold(REPEATED if repeated else HOLD)
                self.pressed = time.monotonic()
            return NEXT.get(self.state, Request.NONE) if held or self.state == OperationState.IDLE else Request.NONE
        asked = ASKED_FOR.get(self.state)
        if (line := self.console.read_line()) is not None:
            self.confirmed.add(word := line.strip().lower())
            if asked is not None and word not in ("", asked):
                self.console.tell(f"{word}: does nothing here; type {asked} and Enter to {asked}")
        return NEXT.get(self.state, Request.NONE) if asked is None or asked in self.confirmed else Request.NONE


def _arming_words(before: np.ndarray, after: np.ndarray) -> str:
    """Return how arming moves the robot, between two poses (m, rad)."""
    if len(after) == 1:
        way = f"from {1e3 * before[0]:.1f} mm to {1e3 * after[0]:.1f} mm"
    else:
        shift, turn = (float(np.linalg.norm((after - before)[part])) for part in (slice(3), slice(3, None)))
        place = ", ".join(f"{1e3 * each:.1f}" for each in after[:3])
        way = f"by {1e3 * shift:.1f} mm and {np.degrees(turn):.1f} deg, to ({place}) mm"
    return f"arming moves the robot {way}, with half of the limits' speed"


def _words_of(row: np.void) -> str:
    """Return a cycle in a line."""
    out = row["outputs"]
    force, place = np.linalg.norm(out["load"][:3]), np.array2string(out["command"], precision=4, suppress_small=True)
    state = OperationState(int(out["state"])).name.lower()
    return f"{state}  {row['time'] / SECOND:8.2f} s  force {force:8.2f} N  command {place}"
