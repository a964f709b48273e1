"""Keys that a scenario does not have: which one was meant; tables that say they are none."""

from __future__ import annotations

import random
from ast import literal_eval

import pytest

import dockdyn
from dockdyn.scenario.language.keys import leaves

PRESETS = ["apas-like", "idss-soft-capture", "probe-cone-latch", "sits-fgc", "berthing-3d", "canadarm-2d"]
MOST_NAMED = 4  # in one question


def number_keys(scenario: dockdyn.Scenario) -> list[str]:
    """Keys of single numbers of a scenario, two tables deep at least, named by their last two parts and first."""
    found = [key for key, value in leaves(scenario.nominal(), whole_lists=True) if not isinstance(value, list | bool)]
    return [key for key in found if key.count(".") >= 2 and not key.rpartition(".")[2].isdigit()]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_key_without_its_first_tables_is_named_in_full(preset):
    """The last parts of any key of a scenario, drawn at random, lead to keys that have them, which are allowed."""
    scenario = dockdyn.load(preset)
    keys = number_keys(scenario)
    for key in random.Random(preset).sample(keys, min(3, len(keys))):
        parts = key.split(".")
        asked = ".".join(parts[-2:]) if not parts[-2].isdigit() else parts[-1]
        if asked.partition(".")[0] in scenario.nominal():
            continue  # a table of the scenario's own
        with pytest.raises(dockdyn.ScenarioError) as refused:
            dockdyn.load(preset, {asked: 1.0})
        question = str(refused.value).partition("did you mean ")[2].partition("?")[0]
        named = [literal_eval(name) for name in question.partition(" or one of ")[0].split(" or ")]
        assert 1 <= len(named) <= MOST_NAMED, refused.value
        assert all(name.rpartition(".")[2] == parts[-1] for name in named), (asked, named)
        for name in named:
            try:
                dockdyn.load(preset, {name: 1.0})
            except dockdyn.ScenarioError as other:
                assert "unknown key" not in str(other)


STRUT = "did you mean 'strut.leg.damping'?"


@pytest.mark.parametrize("asked", ["strut.damping", "strut.dampin"])
def test_a_short_key_is_named_in_full_wherever_it_is_asked_for(asked):
    for call in (
        lambda: dockdyn.load("idss-soft-capture", {asked: 1.0}),
        lambda: dockdyn.sensitivity("idss-soft-capture", "peak_force_N", [asked]),
        lambda: dockdyn.envelope("idss-soft-capture", {asked: (1.0, 2.0)}),
        lambda: dockdyn.load(
            "idss-soft-capture",
            {"dispersion": {"asked": {"keys": [asked], "distribution": "uniform", "low": 1.0, "high": 2.0}}},
        ),
    ):
        with pytest.raises(dockdyn.ScenarioError) as refused:
            call()
        assert STRUT in str(refused.value), refused.value


def test_an_element_mistyped_is_named():
    with pytest.raises(dockdyn.ScenarioError, match=r"there is no 'legg'; did you mean 'leg'\?"):
        dockdyn.load("idss-soft-capture", {"strut.legg.damping": 1.0})


NONE = [
    ("sits-fgc", "loop.compensator"),
    ("epos-like", "loop.compensator"),
    ("sits-fgc", "loop.robot"),
    ("sits-fgc", "loop.sensor"),
    ("atv-like", "control"),
    ("atv-like", "contact.probe-cone.friction"),
    ("cyril-controlled", "control"),
]


def without(scenario: dockdyn.Scenario, key: str) -> dict:
    """The tables of a scenario, the one at `key` left out or, of control, `law = "none"`."""
    data = place = scenario.resolved()
    *tables, last = key.split(".")
    for table in tables:
        place = place[table]
    place.pop(last, None)
    return data


@pytest.mark.parametrize(("preset", "key"), NONE)
def test_a_table_that_says_it_is_none_is_left_out(preset, key):
    """`law = "none"` is as if the table were not there, whatever else it states; so is the text."""
    wanted = without(dockdyn.load(preset), key)
    for way in ({f"{key}.law": "none"}, {key: "none"}):
        found = without(dockdyn.load(preset, way), "control" if key == "control" else "nothing")
        assert found == wanted


@pytest.mark.parametrize("preset", ["probe-cone-latch", "atv-like"])
def test_tables_under_names_are_left_out_one_or_all(preset):
    wanted = dockdyn.load(preset).resolved()
    ((latch, _),) = wanted.pop("latch").items()
    for key in ("latch", f"latch.{latch}"):
        assert dockdyn.load(preset, {key: "none"}).resolved() == wanted


@pytest.mark.parametrize(
    ("left_out", "wrong"),
    [(out, one) for out in ("ready", "lunge", "attenuate") for one in ("attenuate", "retract") if out != one],
)
def test_a_refusal_names_its_table_beside_one_left_out(left_out, wrong):
    with pytest.raises(dockdyn.ScenarioError, match=rf"phase\.{wrong}\.over = -1: must be a time"):
        dockdyn.load("idss-soft-capture", {f"phase.{left_out}": "none", f"phase.{wrong}.over": -1})
