"""Parameters that a law of the user's own declares: unit, bounds and default hold wherever a scenario's numbers do."""

from __future__ import annotations

import json

import pytest
import tomlkit

import dockdyn
from dockdyn.scenario.language.keys import number_at

MODULE = '''
import dockdyn
from dockdyn import parameter
from jaxtyping import Array, Float


class Buffer(dockdyn.NormalLaw):
    """k dⁿ with a stop: declared by fields."""

    exponent: Float[Array, ""] = parameter("", "an exponent", least=1, most=3)
    stiffness: Float[Array, ""] = parameter("N/m**{exponent}", "a stiffness", above=0)
    offsets: Float[Array, "2"] = parameter("m", "a length", default=(0.0, 0.0))
    damping: Float[Array, ""] = parameter("N*s/m", "a damping", least=0, default=20.0)

    def force(self, depth, rate):
        return self.stiffness * depth + self.damping * rate + 0 * self.offsets[0]



class Tuned(dockdyn.NormalLaw):
    """With what only compensators can have."""

    gain: Float[Array, ""] = parameter("N/m", "a gain", tuned=True)

    def force(self, depth, rate):
        return self.gain * depth
'''
STATED = {"law": "own_buffer:Buffer", "exponent": 1.0, "stiffness": "6 kN/m"}


@pytest.fixture
def buffer(own_files):
    return own_files({"own_buffer.py": MODULE})


def loaded(**changes):
    return dockdyn.load("probe-cone", {"contact.probe.normal": STATED | changes})


def test_units_and_defaults(buffer):
    scenario = loaded()
    law = scenario.content.contact[0].normal.make()
    assert (float(law.stiffness), float(law.damping)) == (6000.0, 20.0) and law.offsets.shape == (2,)
    found = number_at(scenario, "contact.probe.normal.damping")
    assert (found.value, found.unit) == (20.0, "N*s/m")
    assert number_at(scenario, "contact.probe.normal.stiffness").unit == "N/m**1.0"
    (written,) = scenario.resolved()["contact"].values()
    assert written["normal"]["stiffness"] == "6000.0 N/m**1.0" and written["normal"]["damping"] == "20.0 N*s/m"


def test_what_is_written_is_read_again(buffer):
    (buffer / "again.toml").write_text(tomlkit.dumps(loaded(offsets=["1 mm", 0.002]).resolved()))
    law = dockdyn.load("again.toml").content.contact[0].normal.make()
    assert [float(part) for part in law.offsets] == [0.001, 0.002] and float(law.stiffness) == 6000.0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"stiffness": "6 kN"}, "contact.probe.normal.stiffness = '6 kN': must be a stiffness greater than 0 N/m"),
        ({"stiffness": -1}, "contact.probe.normal.stiffness = -1: must be a stiffness greater than 0"),
        ({"exponent": 4}, "contact.probe.normal.exponent = 4: must be an exponent of at least 1 and at most 3"),
        ({"offsets": [1.0]}, "contact.probe.normal.offsets = [1.0]: must be a list of 2 numbers"),
        ({"damping": [1.0, 2.0]}, "contact.probe.normal.damping = [1.0, 2.0]: must be a damping"),
        ({"dampin": 1.0}, "has no field 'dampin'; its fields: damping (N*s/m), exponent"),
    ],
)
def test_what_cannot_be_is_one_line_that_names_the_key(buffer, changes, says):
    with pytest.raises(dockdyn.ScenarioError) as refused:
        loaded(**changes)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_law_is_not_tuned(buffer):
    with pytest.raises(dockdyn.ScenarioError, match="own_buffer:Tuned needs the field 'gain'; its fields: gain"):
        dockdyn.load("probe-cone", {"contact.probe.normal": {"law": "own_buffer:Tuned"}})


def test_a_law_where_another_sort_of_law_belongs(buffer):
    with pytest.raises(
        dockdyn.ScenarioError,
        match=r"contact\.probe\.friction: own_buffer:Buffer must be a subclass of dockdyn\.Friction",
    ):
        dockdyn.load("probe-cone", {"contact.probe.friction": STATED})


@pytest.mark.full
def test_a_distribution_has_the_unit(buffer, dock):
    spread = '{ distribution = "uniform", low = "5 kN/m", high = "6 kN/m" }'
    table = f'contact.fronts.normal={{ law = "own_buffer:Buffer", exponent = 1, stiffness = {spread} }}'
    ended = dock("campaign", "run", "paraskevas-a", "--runs", "2", "--set", table, "--out", "many", "--json")
    assert ended.returncode == 0, ended.stderr
    assert (json.loads(ended.stdout)["runs"], json.loads(ended.stdout)["failed"]) == (2, 0)
    wrong = table.replace("6 kN/m", "6 kN")
    ended = dock("campaign", "run", "paraskevas-a", "--runs", "2", "--set", wrong, "--out", "more")
    assert ended.returncode == 2 and "stiffness" in ended.stderr and len(ended.stderr.splitlines()) == 1
