"""An element of one's own, "module:Class": in runs, batches and derivatives as those built in; what is wrong is refused."""

import re

import numpy as np
import pytest
from helpers.refusals import refused
from places import DOCS

import dockdyn
from dockdyn.studies.cases.batch import in_lanes, runs_in_batches

MASS = 24.0  # kg: reduced, of 40 and 60
PAGE = (DOCS / "own-parts.md").read_text(encoding="utf-8")


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The page's own files."""
    monkeypatch.chdir(tmp_path)
    for name in ("buffer.py", "buffered.toml"):
        text = re.search(rf"^```\w+\n(# {name}\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "buffered.toml"


@pytest.mark.full
def test_it_brakes_as_its_law_says(file):
    run = dockdyn.simulate(file)
    speed = run.velocity.values[:, 0, 0] - run.velocity.values[:, 1, 0]
    expected = 0.1 / (1 + 300 * 0.1 * run.time.values / MASS)
    assert speed == pytest.approx(expected, abs=1e-11)
    assert run.element_tension.values[:, 0] == pytest.approx(300 * expected**2, rel=1e-8)
    summary = dockdyn.summarise(run)
    assert summary["work_energy_error"] < 1e-9 and summary["linear_momentum_error"] < 1e-12


@pytest.mark.full
def test_batches_and_derivatives_know_its_numbers(file):
    scenario = dockdyn.load(file)
    assert runs_in_batches(scenario)
    cases = [scenario.at({"element.buffer.drag": drag}) for drag in (100.0, 250.0)]
    found = in_lanes(cases, 1, ()).figures["kinetic_energy_end_J"]
    centre = 0.5 * 100 * 0.04**2  # J, of the common centre of mass
    ended = [0.1 / (1 + drag * 0.1 * 10 / MASS) for drag in (100.0, 250.0)]
    assert found == pytest.approx([centre + 0.5 * MASS * one**2 for one in ended], rel=1e-10)
    slope = dockdyn.objective(scenario, "kinetic_energy_end_J").value_and_gradient({"element.buffer.drag": 300.0})
    last = 0.1 / (1 + 300 * 0.1 * 10 / MASS)
    assert slope.slopes["element.buffer.drag"] == pytest.approx(-(MASS * last) * last**2 * 10 / MASS, rel=1e-8)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("HydraulicBuffer", "Hydraulics", "cannot import 'buffer:Hydraulics'"),
        ("300 N s**2/m**2", "-1", "element.buffer.drag = '-1'"),
        ("drag =", "draft =", "'draft'"),
        ('"buffer:HydraulicBuffer"', '"sturt"', "element.buffer"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(file, before, after, said):
    file.write_text(file.read_text().replace(before, after))
    with refused(said):
        dockdyn.load(file)


def test_code_of_strangers_is_not_run(file):
    with pytest.raises(dockdyn.ScenarioError, match="is code of its own, which is refused"):
        dockdyn.load(file, own_code=False)
    assert np.isfinite(dockdyn.summarise(dockdyn.simulate(file))["end_time_s"])
