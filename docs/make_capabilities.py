"""Write capabilities.md, the table of what can be done with what, from its tests: `python docs/make_capabilities.py`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parent / "capabilities.md"
TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "capabilities"), str(TESTS)]

from capability_columns import COLUMNS  # noqa: E402, of the tests
from capability_rows import LEFT_OUT, NOT_YET, REFUSED, ROWS  # noqa: E402

INTRODUCTION = """# What can be done with which mechanism

This table says which task works with which part of a mechanism. Each line is a mechanism: two bodies, a ball that strikes a
plate or a cone, and one thing more. Each column is a task. The table is written by `docs/make_capabilities.py` from the tests
that run each cell, in `tests/capabilities`. A “yes” means that the test has done the task and has compared its result with
another way to it: single runs for a batch, a central difference for a derivative, the run for steps and for an FMU.

- “yes”: it works, and a test holds it against something.
- “no”: physics or numerics do not allow it. The program says so in one line.
- “not yet”: the program says no, or cuts corners, though nothing forbids it. The test fails as soon as that changes.
"""
BEHIND = "<!-- test: tests/capabilities/test_capabilities.py::test_a_cell_is_as_the_table_says -->"
HEADING = "Mechanism: two bodies that touch, and"


def answer(row: str, column: str) -> str:
    """Return what the table says of a cell."""
    return "no" if (row, column) in REFUSED else "not yet" if (row, column) in NOT_YET else "yes"


def table() -> Iterator[str]:
    """Yield the lines of the table: a mechanism a line."""
    yield f"| {' | '.join([HEADING, *ROWS])} |"
    yield "|---" * (len(ROWS) + 1) + "|"
    for column in COLUMNS:
        yield f"| {' | '.join([column, *(answer(row, column) for row in ROWS)])} |"


def reasons(words: dict[tuple[str, str], str]) -> str:
    """Return a list of reasons, each with the cells that it is of."""
    listed = []
    for reason in dict.fromkeys(words.values()):
        cells = [cell for cell, why in words.items() if why == reason]
        rows, columns = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
        listed.append(f"- *{', '.join(rows)}* with *{'; '.join(columns)}*: {reason}.")
    return "\n".join(listed)


def page() -> str:
    """Return the whole page."""
    answers = [answer(row, column) for row in ROWS for column in COLUMNS]
    count = {said: answers.count(said) for said in ("yes", "no", "not yet")}
    counted = f"Of {len(answers)} cells {count['yes']} are “yes”, {count['no']} “no” and {count['not yet']} “not yet”."
    return "\n".join(
        [
            INTRODUCTION,
            counted,
            "",
            *table(),
            "",
            BEHIND,
            "",
            "## What the test of each task asks\n",
            *(f"- *{row}*: {inspect.cleandoc(test.__doc__ or '')}\n  {BEHIND}" for row, test in ROWS.items()),
            "",
            "## Why not\n",
            reasons({cell: refusal.reason for cell, refusal in REFUSED.items()}),
            "",
            *(["## Not yet\n", reasons(NOT_YET), ""] if NOT_YET else []),
            "## What the table does not ask yet\n",
            "The table is begun, not complete. No test of a cell runs these, alone or in pairs:\n",
            *(f"- {left}." for left in LEFT_OUT),
            "",
        ]
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
