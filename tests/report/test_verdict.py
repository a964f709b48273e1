"""What a page says first is true of the run."""

import pytest

from dockdyn.report.report import Report
from dockdyn.report.verdict import judgement_sentence, run_advice, share_in_words, sort_of, used_share, worst_first


def judged(name, relation, limit, value, met):
    margin = None if value is None else abs(limit - value)
    unit = "" if isinstance(limit, bool) else "N"
    return {
        "name": name,
        "relation": relation,
        "limit": limit,
        "unit": unit,
        "value": value,
        "met": met,
        "margin": margin,
    }


CAPTURED = judged("captured", "==", True, True, True)
TIGHT = judged("tension", "<", 1000.0, 900.0, True)
LOOSE = judged("shear", "<", 1000.0, 3.0, True)
LEAST = judged("reach", ">", 50.0, 80.0, True)
FAILED = judged("bending", "<", 1000.0, 1200.0, False)
OPEN = judged("moment", "<", 1000.0, 500.0, None)


def test_the_worst_requirement_comes_first():
    found = worst_first([CAPTURED, LOOSE, TIGHT, OPEN, LEAST, FAILED])
    assert [one["name"] for one in found] == ["bending", "moment", "tension", "reach", "shear", "captured"]


@pytest.mark.parametrize(
    ("one", "share", "words"),
    [
        (TIGHT, 0.9, "90 % used"),
        (LOOSE, 0.003, "under 1 % used"),
        (FAILED, 1.2, "20 % beyond the limit"),
        (LEAST, 0.625, "62 % used"),
        (CAPTURED, None, ""),
        (judged("none", "<", 1.0, None, None), None, ""),
        (judged("below zero", "<", -1.0, -2.0, True), None, ""),
    ],
)
def test_how_much_of_a_limit_is_used(one, share, words):
    assert used_share(one) == (None if share is None else pytest.approx(share)) and share_in_words(one) == words


def test_what_decides_and_what_comes_next():
    decides, following = run_advice([CAPTURED, TIGHT], 'speed = { distribution = "uniform" }', 0.016)
    assert decides.sentence == "tension < 1000 N: met, 900.0 N, 90 % used."
    assert following.command == "dockdyn campaign run scenario.toml"
    assert [one.sentence for one in run_advice([CAPTURED], "", 0.0)] == ["captured = true: met."]  # and not: met, true
    assert [one.command for one in run_advice([], "delay = 16", 0.016)] == ["dockdyn stability scenario.toml"]
    assert "[requirements]" in run_advice([], "", 0.0)[0].sentence
    assert len(run_advice([TIGHT], "", 0.0)) == 1


def test_the_sign_is_that_of_the_requirements():
    report = Report("A title", "It went well.")
    for found, sort in (([], ""), ([TIGHT], "ok"), ([TIGHT, OPEN], "warn"), ([OPEN, FAILED], "bad")):
        assert sort_of(Report("A title", "It went.", requirements=found)) == sort
    assert sort_of(Report("A title", "It went.", requirements=[TIGHT], warnings=["careful"])) == "warn"
    assert sort_of(Report("A title", "It went.", alarming=True)) == "bad" and sort_of(report) == ""
    assert judgement_sentence([TIGHT, FAILED, OPEN]) == (
        "✗ 1 of 3 requirements not met: bending. ? 1 of 3 requirements not decided: moment."
    )
    assert judgement_sentence([TIGHT]) == "✓ The requirement is met." and judgement_sentence([]) == ""
