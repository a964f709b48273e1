"""What is true or false in a scenario is written so: neither a text nor a number is."""

import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.scenario.language.section import STRICT, Section
from dockdyn.studies.cases.batch import cases_of

ADHESION = "contact.probe.normal.adhesion"
TRUTHS = [
    ("probe-cone", "body.target.fixed"),
    ("probe-cone", ADHESION),
    ("idss-soft-capture", "latch.capture.ends_run"),
    ("idss-soft-capture", "latch.capture.closed"),
]


@pytest.mark.parametrize(("preset", "key"), TRUTHS)
@pytest.mark.parametrize("value", ["yes", "true", 1, 0, 1.0])
def test_neither_a_text_nor_a_number_is_true_or_false(preset, key, value):
    with refused(f"{preset}: {key} = {value!r}: must be true or false"):
        dockdyn.load(preset, {key: value})


@pytest.mark.parametrize("value", ["no", 0, "false"])
def test_a_phase_sets_a_switch_to_true_or_false(value):
    phase = {"when": {"lasting": "1 s"}, "set": {"connection.hand.closed": value}}
    with refused(f"phase.retreat.set.connection.hand.closed = {value!r}: must be true or false"):
        dockdyn.load("gibson-2d-retreat", {"phase.retreat": phase})


def _tables_below(section):
    for table in section.__subclasses__():
        yield table
        yield from _tables_below(table)


def test_no_table_takes_anything_else_for_true_or_false():
    dockdyn.load("epos-like-driven")  # which reads the tables of rigs, too
    switches = [
        (table, name, field)
        for table in _tables_below(Section)
        for name, field in table.model_fields.items()
        if "bool" in str(field.annotation)
    ]
    assert len(switches) > 20
    assert [(table, name) for table, name, field in switches if STRICT not in field.metadata] == []


def test_a_choice_of_true_and_false_is_drawn_as_such():
    scenario = dockdyn.load("probe-cone", {ADHESION: {"distribution": "choice", "values": [True, False]}})
    drawn = list(cases_of(scenario, [ADHESION], [[0.0], [1.0], [0.0], [2.0]], check_damping=False))
    assert [case.content.contact[0].normal.adhesion for case in drawn[:3]] == [False, True, False]
    assert f"{ADHESION} = 2.0: must be true or false" in str(drawn[3])


def test_the_command_line_takes_true_and_false(dock):
    dock("check", "probe-cone", "--set", f"{ADHESION}=yes").check_refused(f"{ADHESION} = 'yes': must be true or false")
    ended = dock("check", "probe-cone", "--set", f"{ADHESION}=true")
    assert ended.returncode == 0, ended.stderr
