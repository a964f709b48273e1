"""What an operator types: only what is typed after a state was told counts, whatever it is typed into."""

import contextlib
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from driven_rigs import needs_compiler
from rig_processes import Bench, stopped

from dockdyn.cli import terminal as cli_terminal
from dockdyn.cli.terminal import StatusTerminal
from dockdyn.hil.operation import OperationState, Request
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime import operating
from dockdyn.realtime.operating import Operation

ROW = np.dtype(
    [
        ("time", "i8"),
        ("answer", "i8"),
        ("inputs", [("late", "i8"), ("load_count", "i8"), ("pose_count", "i8")]),
        ("outputs", [("state", "i8"), ("cause", "i8"), ("load", "f8", 6), ("command", "f8", 6)]),
    ]
)
GOES_ON = {
    (OperationState.IDLE, Request.HOME): OperationState.HOMED,
    (OperationState.HOMED, Request.ARM): OperationState.ARMED,
    (OperationState.ARMED, Request.RUN): OperationState.RUNNING,
}


class Loop:
    """A rig that does what it is asked at once; it runs for some looks at it, then it is over."""

    def __init__(self, told, write, looks):
        self.state, self.cause, self.told, self.write, self.looks = OperationState.IDLE, Cause.NONE, told, write, looks
        self.running, self.lost = True, 0
        self.log, self.ring = SimpleNamespace(running=True), None

    def hold(self, seconds):
        pass

    def news(self):
        self.write()
        self.looks -= 1
        if not self.looks:
            self.state, self.cause = OperationState.IDLE, Cause.OPERATOR
        row = np.zeros(1, ROW)
        row["answer"], row["outputs"]["state"], row["outputs"]["cause"] = -1, self.state, self.cause
        return row

    def ask(self, request):
        after = GOES_ON.get((self.state, request), self.state)
        if after != self.state:
            self.told.append(("state", after))
            self.state = after


@pytest.fixture
def keyboard(monkeypatch):
    """Where one types; the standard input is its other end."""
    reader, writer = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(reader))
    monkeypatch.setattr(operating, "POLL", 0.0)
    yield writer
    os.close(writer)


def operated(keyboard, monkeypatch, draw, looks=40, **known):
    """An operation during which `draw` says what is typed before each look: all that happened, in its order."""
    told = []

    def write():
        if text := draw():
            os.write(keyboard, text.encode())
            told.append(("typed", text))

    monkeypatch.setattr(cli_terminal, "say", lambda text: told.append(("told", text)))
    Operation(Loop(told, write, looks), StatusTerminal(), False, lambda: False, **known).run()
    return told


def lines_since(told, prompt):
    """The whole lines that were begun and ended after a prompt was told."""
    at = next(place for place, (what, text) in enumerate(told) if what == "told" and text.startswith(prompt))
    before = "".join(text for what, text in told[:at] if what == "typed")
    after = "".join(text for what, text in told[at:] if what == "typed")
    lines = after.split("\n")[:-1]
    return lines if before.endswith("\n") or not before else lines[1:]


@pytest.mark.parametrize("seed", range(100))
def test_a_state_is_left_by_a_word_that_was_typed_after_it_was_told_and_by_no_other(seed, keyboard, monkeypatch):
    """Words, whole and in parts, at random moments: for each state that is left its word is among the lines after it."""
    rng = np.random.default_rng(seed)
    pieces = ["arm\n", "run\n", "a", "rm\n", "ru", "n\n", "dis", "\n", "run\narm\n", "arm\nrun\n", "arm\nru"]

    def draw():
        return str(rng.choice(pieces)) if rng.random() < 0.3 else ""

    told = operated(keyboard, monkeypatch, draw)
    for state, word in ((OperationState.ARMED, "arm"), (OperationState.RUNNING, "run")):
        if ("state", state) in told:
            until = told[: told.index(("state", state))]
            assert word in lines_since(until, f"type {word} and Enter"), told
        elif any(text.startswith(f"type {word} and Enter") for what, text in told if what == "told"):
            words = lines_since(told, f"type {word} and Enter")
            assert word not in words[:-3], told  # the last may not have been looked at


def test_words_before_their_time_are_told_not_to_count_and_count_when_typed_again(keyboard, monkeypatch):
    typed = iter(["run\narm\n", *[""] * 10, "arm\n", *[""] * 10, "run\n"])
    told = operated(keyboard, monkeypatch, lambda: next(typed, ""))
    words = [text for what, text in told if what == "told"]
    assert words.index("what was typed before does not count") < words.index("type arm and Enter to arm; Ctrl-C stops")
    assert words.count("what was typed before does not count") == 1
    assert told.index(("state", OperationState.ARMED)) > told.index(("typed", "arm\n"))
    assert told.index(("state", OperationState.RUNNING)) > told.index(("typed", "run\n"))


def test_where_arming_moves_the_robot_is_told_before_it_is_asked_for(keyboard, monkeypatch):
    """From the command of the loop, which is zero."""
    for pose, way in (
        (np.array([-0.0591]), "from 0.0 mm to -59.1 mm"),
        (np.array([0.03, 0.04, 0.0, 0.0, 0.0, np.pi / 6]), "by 50.0 mm and 30.0 deg, to (30.0, 40.0, 0.0) mm"),
    ):
        words = [text for what, text in operated(keyboard, monkeypatch, lambda: "", first_pose=pose) if what == "told"]
        (told,) = [text for text in words if text.startswith("arming moves the robot ")]
        assert way in told and words.index(told) < words.index("type arm and Enter to arm; Ctrl-C stops")


def test_a_word_that_is_not_asked_for_is_answered(keyboard, monkeypatch):
    typed = iter(["", "", "", "go\n", "", "arm\n"])
    told = operated(keyboard, monkeypatch, lambda: next(typed, ""))
    assert ("told", "go: does nothing here; type arm and Enter to arm") in told
    assert ("state", OperationState.ARMED) in told


def test_half_a_line_on_a_terminal_is_forgotten(monkeypatch):
    """Which the terminal keeps until Enter, and gives as a whole."""
    master, slave = os.openpty()
    with contextlib.closing(os.fdopen(slave)) as end:
        monkeypatch.setattr(sys, "stdin", end)
        terminal = StatusTerminal()
        os.write(master, b"run\nar")
        assert terminal.forget()
        os.write(master, b"m\n")
        assert next(filter(None, (terminal.read_line() for _ in range(10_000)))) == "m"
    os.close(master)


@pytest.mark.full
@needs_compiler
@pytest.mark.skipif(sys.platform != "linux", reason="the clock and scheduling of Linux")
def test_words_in_a_pipe_before_the_rig_is_there_do_not_arm_it(tmp_path):
    with contextlib.ExitStack() as stack:
        bench = Bench(tmp_path, stack, "plain")
        server = bench.start("serve", "--best-effort", "--log", "a.mcap")
        server.type("run\narm\n")
        server.until("idle: waiting")
        bench.emulate()
        server.until("type arm")
        with pytest.raises(AssertionError, match="does not come"):
            server.until("homed → armed", within=2.0)
        assert "what was typed before does not count" in server.printed
        assert "Ended: operator." in stopped(server)
