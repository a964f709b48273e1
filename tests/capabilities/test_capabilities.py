"""The table of capabilities: what can be done with what a mechanism may have, each cell run and held against something."""

import pytest
from capability_columns import COLUMNS
from capability_rows import NOT_YET, REFUSED, ROWS, Case
from helpers.refusals import refused

from dockdyn.scenario.language.errors import ScenarioError

QUICK = [  # cells that `make test` runs; `make verify` runs all
    ("run, requirements judged", "rigid bodies"),
    ("stepping", "rigid bodies"),
    ("overlap at the start refused", "approach between ports"),
    ("export to CSV and MAT", "latch, pin"),
    ("rig around it", "latch, weld"),
    ("stepping", "fixed step"),
]


def cells():
    """Every cell, those of a column one after the other, so that what is compiled for one serves the next."""
    for column in COLUMNS:
        for row in ROWS:
            marks = [] if (row, column) in QUICK else [pytest.mark.full]
            if (row, column) in NOT_YET:
                reason = NOT_YET[row, column]
                marks.append(pytest.mark.xfail(strict=True, raises=(AssertionError, ScenarioError), reason=reason))
            yield pytest.param(row, column, marks=marks, id=f"{column}-{row}")


@pytest.mark.full_cases(
    "fixed step-stepping",
    "latch, pin-export to CSV and MAT",
    "rigid bodies-run, requirements judged",
    "rigid bodies-stepping",
)
@pytest.mark.parametrize(("row", "column"), list(cells()))
def test_a_cell_is_as_the_table_says(row, column, tmp_path, own_files):
    """It gives what must be true of it, or is refused in one line, or is known not to be there yet."""
    case = Case(COLUMNS[column](), tmp_path, own_files)
    if (row, column) not in REFUSED:
        ROWS[row](case)
        return
    with refused(match=REFUSED[row, column].said):
        ROWS[row](case)


def test_every_cell_that_is_listed_is_one():
    listed = {*REFUSED, *NOT_YET, *QUICK}
    assert listed <= {(row, column) for row in ROWS for column in COLUMNS} and not REFUSED.keys() & NOT_YET.keys()
