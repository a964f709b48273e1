"""The rooms of the package: a kind from outside, the rule against asking for a kind's name."""

import sys

import lint_names
import numpy as np
import pytest
from lint_kinds import offences

import dockdyn
from dockdyn.scenario import kinds

# a kind of one's own: a mass that falls into a damper, in closed form
OWN_KIND = """
import json
from importlib.metadata import version
from typing import Literal

import numpy as np
import xarray as xr
from pydantic import Field

from dockdyn.kinds.kind import Kind
from dockdyn.report.report import run_report
from dockdyn.report.replay.scene import Scene
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity


class DamperSection(Section):
    schema_: Literal[2] = Field(2, alias="schema")
    kind: Literal["damper"]
    title: str = "A mass on a damper"
    speed: quantity("m/s", "a speed", above=0)
    rate: quantity("1/s", "a rate", above=0)


class DamperKind(Kind):
    name = "damper"
    marker = "position"

    def schema(self, data, name):
        return DamperSection

    def simulate(self, scenario, progress):
        content, time = scenario.content, np.linspace(0.0, 5.0, 51)
        speed = content.speed * np.exp(-content.rate * time)
        variables = {
            "position": ("time", (content.speed - speed) / content.rate, {"units": "m"}),
            "kinetic_energy": ("time", speed**2 / 2, {"units": "J"}),
        }
        about = {"kind": "damper", "title": content.title, "scenario": scenario.text(), "status": "finished"}
        about |= {"dockdyn_version": version("dockdyn"), "finished": 1}
        return xr.Dataset(variables, {"time": ("time", time, {"units": "s"})}, about)

    def summarise(self, dataset):
        return {"kind": "damper", "title": dataset.title, "reach_m": float(dataset.position[-1]), "warnings": []}

    def report(self, dataset, summary):
        reach = f"{summary['reach_m']:.4f} m"
        return run_report(dataset, summary, verdict=f"The mass goes {reach} far.", key=[("Reach", reach)])

    def scene(self, dataset, content):
        return Scene(dataset.title, dataset.time.values, [], [])
"""


@pytest.fixture
def with_own_kind(tmp_path, monkeypatch):
    """A package with a kind of its own beside dockdyn, as installed: a module and its entry point."""
    (tmp_path / "damping.py").write_text(OWN_KIND)
    about = tmp_path / "damping-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: damping\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[dockdyn.kinds]\ndamper = damping:DamperKind\n")
    monkeypatch.syspath_prepend(tmp_path)
    for known in (kinds.known_kinds, kinds.kind_named):
        known.cache_clear()
    yield tmp_path
    for known in (kinds.known_kinds, kinds.kind_named):
        known.cache_clear()
    sys.modules.pop("damping", None)


def test_a_kind_from_outside(with_own_kind, dock):
    file = with_own_kind / "mine.toml"
    file.write_text('schema = 2\nkind = "damper"\nspeed = "20 mm/s"\nrate = 0.5\n[requirements]\nreach = "< 35 mm"\n')
    scenario = dockdyn.load(file, {"rate": 0.8})
    dataset = dockdyn.simulate(scenario)
    summary = dockdyn.summarise(dataset)
    assert summary["reach_m"] == pytest.approx(0.02 / 0.8 * (1 - np.exp(-4)), rel=1e-12)
    assert summary["requirements"][0]["met"] is True
    page = dockdyn.report_html(dataset)
    assert "The mass goes 0.0245 m far" in page and "The requirement is met" in page
    assert dock("run", file, "--set", "rate=0.8", "--out", with_own_kind / "out").stdout.startswith(
        "A mass on a damper\nThe mass goes 0.0245 m far.\nrequired reach < 35 mm: met; value 24.54 mm"
    )
    with pytest.raises(dockdyn.ScenarioError, match="rate = -1: must be a rate"):
        dockdyn.load(file, {"rate": -1})
    with pytest.raises(dockdyn.ScenarioError, match=r"kind: 'dampers' is not a kind; did you mean 'damper'"):
        dockdyn.load(file, {"kind": "dampers"})


NAMES = {"rig", "latch", "assembly"}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('if scenario.kind == "rig": pass', [1]),
        ('x = 1\nif dataset.attrs["kind"] in ("rig", "latch"): pass', [2]),
        ('if str(data.get("kind")) != "assembly": pass', [1]),
        ('TABLE = {"rig": 1, "latch": 2}', [1]),
        ('if array.dtype.kind == "f": pass', []),
        ('if name == "latch": pass', []),
        ("if scenario.kind == other.kind: pass", []),
    ],
)
def test_the_rule_against_asking_for_a_kind(source, lines):
    assert list(offences(source, NAMES)) == lines


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("Return the mass (kg).", []),
        ("Refuse what is too heavy.", []),
        ("The mass (kg).", ["The"]),
        ("What is heavy.", ["What"]),
        ("mass, kg", ["mass"]),
    ],
)
def test_the_rule_of_docstrings(words, first):
    """Functions of all depths, not what is called as a noun."""
    source = (
        f'class A:\n    @property\n    def b(self):\n        """The b."""\n\n    def c(self):\n        """{words}"""\n'
    )
    assert [word for _, word in lint_names.nouns(source)] == first


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("told", True),
        ("linearised", True),
        ("between", True),
        ("once", True),
        ("speed", False),  # -ed, but a noun
        ("linearise", False),
        ("load_told", False),
        ("_told", False),
    ],
)
def test_the_rule_of_names(name, refused):
    """Participles, prepositions and numerals are no names of functions; a property may be one."""
    source = f"class A:\n    def {name}(self): ...\n\n    @property\n    def kept(self): ...\n"
    assert [found for _, found in lint_names.nameless(source)] == [name] * refused


@pytest.mark.parametrize(
    ("lines", "parameters", "too_long"), [(59, 1, False), (60, 1, True), (3, 10, False), (3, 11, True)]
)
def test_the_rule_of_length(lines, parameters, too_long):
    given = ", ".join(f"a{number}" for number in range(parameters))
    source = f"def f({given}):\n" + "    print()\n" * lines
    assert list(lint_names.long_functions(source)) == ["f"] * too_long
