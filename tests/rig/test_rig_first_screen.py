"""What the page of a run on a rig says first: the numbers of its summary, and what they were made of."""

import numpy as np
import pytest

import dockdyn
from dockdyn.pages import report_of
from dockdyn.report.verdict import sort_of

CASES = {
    "late": {},
    "mended": {
        "loop.compensator": {"law": "fixed-gain", "velocity": "model", "period": "2 ms", "gain": "111.06 N s/m"}
    },
}


@pytest.fixture(scope="module")
def runs():
    return {name: dockdyn.simulate(dockdyn.load("sits", {"duration": "6 s"} | more)) for name, more in CASES.items()}


@pytest.mark.full_cases("late")
@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_is_that_of_the_summary(runs, name):
    dataset = runs[name]
    report, told = report_of(dataset), dockdyn.summarise(dataset)
    tiles = {tile.label: tile for tile in report.tiles}
    energy = float(dataset.kinetic_energy[-1] - dataset.ideal_kinetic_energy[-1])
    found = tiles["Energy fed in" if energy > 0 else "Energy taken beyond the contact’s"]
    assert float(found.value) == pytest.approx(abs(energy), rel=5e-3)
    measured = np.abs(dataset.measured_force.values).max()
    assert float(tiles["Largest measured force"].value) == pytest.approx(measured, rel=1e-3)
    assert report.moment == dataset.time.values[np.abs(dataset.measured_force.values[:, 0]).argmax()]
    assert tiles["Largest measured force"].note.startswith(f"at {report.moment:.4g}"[:6])
    late = tiles["Delay, all in all"]
    assert float(late.value) == pytest.approx(sum(told["delay_budget_ms"].values()), rel=5e-3)
    assert sum(share for _, share, _ in late.bars) == pytest.approx(1.0)
    (margin,) = (one for one in report.advice if one.command == "dockdyn stability scenario.toml")
    assert "up to which delay the loop is stable" in margin.sentence
    (late_from,) = (block for block in report.blocks if block.title == "Where the delay comes from")
    assert "dockdyn stability scenario.toml" in " ".join(late_from.notes)
    grows = told["spectral_radius"] > 1
    assert report.headline.startswith("The loop is unstable" if grows else "Stable loop") and grows == (name == "late")
    assert sort_of(report) == ("bad" if grows else "ok")
