"""What a refusal says to do: the file or unit that was meant, what to set besides, which options there are."""

import math
import re
import tomllib

import numpy as np
import pytest

import dockdyn

UNITS = {
    "kg": "a mass",
    "s": "a time",
    "N": "a force",
    "Pa": "a pressure",
    "N*s/m": "a damping",
    "m/s": "a speed",
    "deg": "an angle",
}


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_of_something_else_is_called_what_it_is(unit):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("probe-cone", {"contact.probe.normal.stiffness": f"25 {unit}"})
    assert str(refusal.value).endswith(f"; {unit} is {UNITS[unit]}")


@pytest.mark.parametrize(
    ("unit", "words"), [("N/mn", "unknown unit 'mn'"), ("N/mm2", "unknown unit 'mm2', is it mm**2?")]
)
def test_an_unknown_unit_is_named(unit, words):
    with pytest.raises(dockdyn.ScenarioError, match=re.escape(words)):
        dockdyn.load("probe-cone", {"contact.probe.normal.stiffness": f"25 {unit}"})


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("loop", '"off"', "loop = 'off': must be a table; for none leave it out"),
        ("loop", "false", "loop = false: must be a table; for none leave it out"),
        ("loop", '"16 ms"', "loop = '16 ms': must be a table"),
        ("loop.delay", '"none"', 'as a number or a text such as "16 ms"; for none write 0'),
        ("body.chaser.mass", '"none"', 'as a number or a text such as "5 kg"'),
        ("contact.probe.friction", '"no"', "contact.probe.friction = 'no': must be a table with a law, one of coulomb, "),
        ("contact.probe.friction", "0", "; for none leave it out"),
        ("contact.probe.friction", "0.2", ", lugre"),
    ],
)  # fmt: skip
def test_whoever_wishes_none_of_it_reads_how_that_is_said(key, value, words):
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("probe-cone", {key: tomllib.loads(f"value = {value}")["value"]})
    assert words in str(refusal.value)
    assert ("for none" in str(refusal.value)) == (words.endswith(("out", "write 0")) or value == '"no"')


def test_a_file_or_preset_half_written_is_the_one_that_begins_so(dock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mechanism-of-mine.toml").write_text("")
    for given, meant in (
        ("mechanism-of-mne.toml", "mechanism-of-mine.toml"),
        ("mecha", "mechanism-of-mine.toml"),
        ("prob", "probe-cone"),
    ):
        code, _, err = dock("run", given)
        assert code == 2 and f"did you mean '{meant}'" in err


def test_what_is_distributed_together_says_what_to_add():
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.load("idss-soft-capture", {"approach.pitch": "3 deg"})
    key, _, value = str(refusal.value).rpartition("add --set ")[2].partition("=")
    assert math.isclose(
        dockdyn.load("idss-soft-capture", {"approach.pitch": "3 deg", key: value}).content.approach.pitch,
        math.radians(3),
    )


def test_choices_of_an_option_are_on_one_line(dock):
    code, _, err = dock("export", "result.nc")
    assert code == 2 and "csv, parquet, mat" in err and "\\" not in err and err.count("\n") == 1


def test_every_table_that_may_be_left_out_is_left_out_by_none():
    scenario = dockdyn.load("probe-cone", {"approach": "none", "body.chaser.position": [-1.0, 0.0, 0.0]})
    assert scenario.content.approach is None


@pytest.mark.full
@pytest.mark.parametrize("name", ["apas-like", "mesh-on-mesh"])
def test_what_is_told_of_an_overlap_ends_it(name):
    """Of slanted petals, which the distance parts but slowly, too; and not more than needed: a twentieth less is refused."""
    changes = {"duration": 1e-4, "approach.distance": 0.0}
    with pytest.raises(dockdyn.ScenarioError) as refusal:
        dockdyn.simulate(dockdyn.load(name, changes))
    more = float(re.search(r"raise approach\.distance by ([\d.]+) m", str(refusal.value))[1])
    with pytest.raises(dockdyn.ScenarioError, match="overlap"):
        dockdyn.simulate(dockdyn.load(name, changes | {"approach.distance": 0.95 * more}))
    assert dockdyn.simulate(dockdyn.load(name, changes | {"approach.distance": more})).attrs["finished"]


@pytest.mark.full
def test_an_objective_takes_texts_with_a_unit_and_names_without():
    figure = dockdyn.objective("probe-cone", "peak_force")
    assert figure.unit == "N"
    key = "contact.probe.normal.stiffness"
    np.testing.assert_allclose(
        figure.value({key: "40 N/mm"}), dockdyn.objective("probe-cone", "peak_force_N").value({key: 4e4})
    )
    with pytest.raises(dockdyn.ScenarioError, match="kg is a mass"):
        figure.value({key: "40 kg"})
