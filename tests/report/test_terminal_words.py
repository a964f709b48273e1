"""The terminal: tables fit it without a broken word, warnings come first, amounts are in the user's unit."""

import random
import re

import pytest

from dockdyn.report.report import ReportBlock, Table
from dockdyn.report.terminal import show_parts
from dockdyn.report.wording import requirement_row
from dockdyn.results.requirements import judge_requirements
from dockdyn.scenario.language.requirement import requirements_of

SYLLABLES = (
    "peak",
    "normal",
    "force",
    "capture",
    "moment",
    "velocity",
    "acceleration",
    "chaser",
    "stiffness",
    "damping",
)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_fits_the_terminal_and_breaks_no_word(seed, capsys, monkeypatch):
    """Every line is as wide as the terminal at most; every part of every name is whole."""
    draw = random.Random(seed)
    monkeypatch.setenv("COLUMNS", str(width := draw.choice([72, 80, 100])))
    names = [draw.choice("_.-").join(draw.choices(SYLLABLES, k=draw.randint(3, 5))) for _ in range(6)]
    rows = [[name, "0.12345", "1234.5", "met", f"{draw.choice(SYLLABLES)} 0.93, chaser.mass 0.02"] for name in names]
    columns = [("requirement", ""), ("median", "N"), ("worst", "N"), ("met", ""), ("what decides", "")]
    show_parts([ReportBlock(table=Table(columns, rows, worded={0, 4}))])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    pieces = {piece for line in lines[3:] for piece in re.split(r"[\s_.,-]+", line[:-1]) if piece.isalpha()}
    assert pieces - {"met", "mass"} <= set(SYLLABLES)
    assert sum(line.count("0.93") for line in lines) == len(rows)


def test_warnings_stand_after_the_verdict_and_before_the_numbers(capsys):
    show_parts(["A title", "a verdict", ReportBlock(text="lines")], ["absurd"])
    assert capsys.readouterr().out.split("\n")[:4] == ["A title", "a verdict", "warning: absurd", "lines"]


@pytest.mark.parametrize(
    ("limit", "travel"), [("< 50 mm", "25.00 mm"), ("< 0.05", "0.02500 m"), ("< 5 cm", "2.500 cm")]
)
def test_a_requirement_is_told_in_the_unit_it_is_written_in(limit, travel):
    """Of half the limit value and margin are the same."""
    (judged,) = judge_requirements(requirements_of({"travel": limit}, "scenario"), {"travel_m": 0.025})
    assert requirement_row(judged) == (f"travel {limit}", travel, travel, "met")
