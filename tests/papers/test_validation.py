"""The validation page: complete, within what is trusted, and its quick rows come out again."""

import sys

import pytest
from places import DOCS

sys.path.insert(0, str(DOCS))
validation = pytest.importorskip("make_validation")

ROWS = {
    cells[0]: cells
    for line in (DOCS / "validation.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 7
}


@pytest.mark.parametrize("known", validation.KNOWN, ids=lambda known: f"{known.paper}-{known.quantity}")
def test_a_row_is_there_and_agrees(known):
    _, _, computed, independent, _, by, _ = ROWS[known.quantity]
    assert by == known.by
    assert abs(float(computed) - float(independent)) <= known.trusted + 5e-8 * abs(float(independent))  # digits shown
    if not callable(known.value):
        assert float(independent) == pytest.approx(known.value, rel=1e-7)


def test_other_programs_are_named():
    assert {ROWS[name][5] for name in ROWS} >= {"SciPy", "tdcpy", "Pinocchio", "closed form"}


@pytest.mark.full_cases("paraskevas-9")
@pytest.mark.parametrize(("paper", "part"), [("paraskevas", 9), ("sits", "robot")])
def test_quick_rows_come_out_again(paper, part, monkeypatch):
    few = [known for known in validation.KNOWN if (known.paper, known.part) == (paper, part)]
    monkeypatch.setattr(validation, "KNOWN", few)
    lines = [line for _, found in validation.of_papers() for line in found]
    assert len(lines) == len(few) > 0
    for line in lines:
        assert abs(line.computed - line.independent) <= line.trusted
        assert float(ROWS[line.quantity][2]) == pytest.approx(line.computed, rel=1e-6)
