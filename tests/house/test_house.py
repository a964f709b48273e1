"""The rooms of the package: old names that still work, a kind from outside, the rule against asking for a kind's name."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from lint_kinds import offences

import dockdyn
from dockdyn.moved import MovedModules, RenamedParts, new_names
from dockdyn.scenario import kinds


@pytest.mark.parametrize("old", sorted(new_names()))
def test_old_names_are_the_modules_where_they_are_now(old):
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new_names()[old]}"):
        found = importlib.import_module(old)
    assert found is importlib.import_module(new_names()[old])


@pytest.mark.parametrize("old", ["contact_matrix", "effective_mass", "contact_duration"])
def test_an_old_module_does_not_take_the_place_of_a_function_of_its_name(old):
    sys.modules.pop(f"dockdyn.impact.{old}", None)
    with pytest.warns(DeprecationWarning, match="is now"):
        importlib.import_module(f"dockdyn.impact.{old}")
    assert getattr(dockdyn.impact, old).__name__ == old and callable(getattr(dockdyn.impact, old))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [(module, *pair) for module, names in RenamedParts().names.items() for pair in names.items()],
)
def test_what_a_module_holds_has_its_old_name_too(module, old, new):
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now"):
        assert getattr(found, old) is getattr(found, new)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        found.nothing  # noqa: B018


def test_other_names_are_not_found():
    assert MovedModules().find_spec("dockdyn.models.nothing") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("dockdyn.contact.nothing")


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
    schema_: Literal[1] = Field(1, alias="schema")
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
    file.write_text('schema = 1\nkind = "damper"\nspeed = "20 mm/s"\nrate = 0.5\n[requirements]\nreach = "< 35 mm"\n')
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


NAMES = {"rig", "latch", "free-flight"}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('if scenario.kind == "rig": pass', [1]),
        ('x = 1\nif dataset.attrs["kind"] in ("rig", "latch"): pass', [2]),
        ('if str(data.get("kind")) != "free-flight": pass', [1]),
        ('TABLE = {"rig": 1, "latch": 2}', [1]),
        ('if array.dtype.kind == "f": pass', []),
        ('if name == "latch": pass', []),
        ("if scenario.kind == other.kind: pass", []),
    ],
)
def test_the_rule_against_asking_for_a_kind(source, lines):
    assert list(offences(source, NAMES)) == lines


def test_parts_of_ones_own_written_with_old_names_still_work():
    with pytest.warns(DeprecationWarning, match="OldLaw.presses: the method is called force_sign now"):

        class OldLaw(dockdyn.NormalLaw):
            def force(self, depth, rate):
                return depth**2

            def presses(self, depth, rate):
                return depth

    with pytest.warns(DeprecationWarning, match="is called"):

        class OldSurface(dockdyn.Surface):
            def signed_distance(self, point):
                return point.x

            def reference(self):
                return dockdyn.Vector(0.0, 0.0, 0.0)

            def mouth(self):
                return self.reference(), dockdyn.Vector(0.0, 1.0, 0.0)

            def true_distance(self):
                return True

    assert OldLaw().force_sign(0.5, 0.0) == 0.5
    assert OldSurface().is_exact_distance() and OldSurface().docking_frame()[1].y == 1
