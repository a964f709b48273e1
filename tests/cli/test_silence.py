"""No command stays silent for long: it says on the error stream what it does before it answers, without a terminal, too."""

import io
import re
import sys
import time

import pytest

from dockdyn.cli import progress as shown

BOUNCE = "time [s],position [mm],measured_force [N]\n" + "\n".join(
    f"{0.01 * i:.2f},{5 * max(0.0, 1 - abs(i - 100) / 40):.4f},{50 * max(0.0, 1 - abs(i - 100) / 40):.4f}"
    for i in range(200)
)
SWEEP = "time [s],command [mm],actual [mm]\n" + "\n".join(
    f"{0.004 * i:.3f},{(i * i // 40) % 17},{((i - 2) * (i - 2) // 40) % 17}" for i in range(300)
)
SHORT = ("--set", "duration=0.5")
COMMANDS = {  # a command line and what it must be told to do before it answers
    ("run", "probe-cone", *SHORT, "--out", "cone"): "Simulating probe-cone",
    ("run", "paraskevas-a", "--check-convergence", "--json"): "Convergence of paraskevas-a",
    ("stability", "sits"): "Margins of sits",
    ("compare", "sits", "--compensators", "none", "--set", "duration=2", "--json"): "Comparing on sits",
    ("envelope", "probe-cone-latch", "--over", "approach.closing_speed=30mm/s:60mm/s", "--json"): "Envelope of ",
    ("fmu", "export", "sits", "--sources-only"): "Translating sits to C",
    ("identify", "contact", "bounce.csv", "--json"): "Identifying the contact",
    ("identify", "robot", "sweep.csv", "--json"): "Identifying the robot",
    ("campaign", "run", "idss-probe-cone", "--runs", "4", "--json"): "Running the nominal case",
    ("reproduce", "paraskevas", "--table", "1"): "Reproducing paraskevas",
}
FIRST_RUNS = {("stability", "sits"), ("identify", "contact", "bounce.csv", "--json")}


class Written(io.StringIO):
    """One stream for what both streams take, in their order."""

    def isatty(self):
        return False


@pytest.mark.full_cases("line2")
@pytest.mark.parametrize(
    "line", [line if line in FIRST_RUNS else pytest.param(line, marks=pytest.mark.full) for line in COMMANDS]
)
def test_every_command_says_what_it_does_before_it_answers(dock, monkeypatch, tmp_path, line):
    (tmp_path / "bounce.csv").write_text(BOUNCE)
    (tmp_path / "sweep.csv").write_text(SWEEP)
    monkeypatch.setattr(shown, "FIRST", 0.001)
    monkeypatch.setattr(shown, "EVERY", 0.001)
    _, _, err = dock(*line)
    told = [
        words for words in err.splitlines() if re.match(rf"{COMMANDS[line]}.*: (\d+ s so far|\d+ % after \d+ s)", words)
    ]
    assert told, err


@pytest.mark.full
def test_cases_are_no_longer_a_start(dock, monkeypatch):
    """From the nominal case on a campaign says what it does."""
    monkeypatch.setattr(shown, "FIRST", 0.001)
    monkeypatch.setattr(shown, "EVERY", 0.001)
    _, _, err = dock("campaign", "run", "idss-probe-cone", "--runs", "4", "--json")
    begun = err[err.index("Running the nominal case of idss-probe-cone: ") : err.rindex("Writing ")]
    assert "Running the cases of idss-probe-cone: " in begun and "Starting" not in begun


@pytest.mark.full
def test_a_quiet_command_stays_silent(dock, monkeypatch):
    monkeypatch.setattr(shown, "FIRST", 0.001)
    _, out, err = dock("stability", "sits", "--quiet")
    assert out and " so far" not in err


def watched(monkeypatch, first, every):
    """A watch of its own, and what it says."""
    monkeypatch.setattr(shown, "FIRST", first)
    monkeypatch.setattr(shown, "EVERY", every)
    said = Written()
    monkeypatch.setattr(sys, "stderr", said)
    return shown.CommandWatch(), said


def test_lines_tell_how_far_it_is_and_how_long_it_takes(monkeypatch):
    watch, said = watched(monkeypatch, 0.02, 0.05)
    with watch.watching("Starting"), watch.doing("Counting") as tell:
        tell(0.25)
        time.sleep(0.3)
    lines = said.getvalue().splitlines()
    assert 3 <= len(lines) <= 8
    assert all(re.fullmatch(r"Counting: 25 % after 0 s, about \d s left", line) for line in lines)


def test_nothing_is_said_beside_a_bar_after_an_answer_or_of_what_is_quick(monkeypatch):
    watch, said = watched(monkeypatch, 0.05, 0.05)
    with watch.watching("Starting"):
        pass
    with watch.watching("Starting"), watch.bar():
        time.sleep(0.15)
    with watch.watching("Starting"):
        watch.end()
        time.sleep(0.15)
    assert said.getvalue() == ""


def test_what_is_said_otherwise_delays_the_next_line(monkeypatch):
    watch, said = watched(monkeypatch, 0.2, 0.2)
    with watch.watching("Starting"):
        for _ in range(6):
            watch.hear()
            time.sleep(0.05)
    assert said.getvalue() == ""
