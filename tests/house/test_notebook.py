"""What a notebook shows of a scenario and of a result."""

import re

import nbformat
import numpy as np
import pytest
from places import DOCS

import dockdyn


@pytest.fixture(scope="module")
def result():
    scenario = dockdyn.load("probe-cone")
    return dockdyn.simulate(scenario)


def test_a_scenario_is_told_in_a_line():
    scenario = dockdyn.load("probe-cone")
    assert repr(scenario) == f"<Scenario 'probe-cone': {scenario.title} (mechanism)>"
    shown = scenario._repr_html_()
    assert "<pre>" in shown and "closing_speed" in shown
    assert "<script>" not in dockdyn.load("probe-cone", {"title": "<script>"})._repr_html_()


def test_a_plot_has_the_numbers_of_the_result(result):
    figure = dockdyn.plot(result, "force", "kinetic_energy")
    names = [name for name in result.data_vars if "force" in name and result[name].dims[:1] == ("time",)]
    assert len(figure.axes) == len([*names, "kinetic_energy"]) > 2
    panel = next(ax for ax in figure.axes if ax.get_ylabel() == "normal force, N")
    drawn = np.stack([line.get_ydata() for line in panel.get_lines()], axis=1)
    np.testing.assert_array_equal(drawn, result.normal_force.values)
    assert figure.axes[-1].get_xlabel() == "time, s"


def test_a_plot_without_names_is_of_the_contact(result):
    assert [ax.get_ylabel() for ax in dockdyn.plot(result).axes] == ["depth, m", "normal force, N"]


def test_a_plot_of_what_is_not_there(result):
    with pytest.raises(dockdyn.ScenarioError, match=r"^normal_froce: no such variable over time; .*normal_force"):
        dockdyn.plot(result, "normal_froce")
    with pytest.raises(dockdyn.ScenarioError, match=r"must be at most 12"):
        dockdyn.plot(result, "e")


def test_what_the_door_offers_is_there():
    for name in dockdyn.__all__:
        assert getattr(dockdyn, name) is not None
    assert re.fullmatch(r"\d+(\.\d+)+.*", dockdyn.__version__)


def test_a_compensator_that_there_is_not():
    with pytest.raises(dockdyn.ScenarioError, match=r"^lead: no such compensator; "):
        dockdyn.compare(dockdyn.load("sits"), ["lead"])


@pytest.fixture(scope="module")
def kept():
    """The notebook of the pages as it is kept."""
    return nbformat.read(DOCS / "notebook.ipynb", as_version=4)


@pytest.fixture
def making(monkeypatch):
    """What makes that notebook."""
    monkeypatch.syspath_prepend(DOCS)
    import make_notebook

    return make_notebook


def test_the_notebook_is_the_page(kept, making):
    assert [(cell.id, cell.cell_type, cell.source) for cell in kept.cells] == [
        (cell.id, cell.cell_type, cell.source) for cell in making.cells()
    ], "run: python docs/make_notebook.py"
    assert (DOCS / "notebook.ipynb").stat().st_size < 150_000


@pytest.mark.full
def test_the_notebook_runs_and_shows_what_it_says(kept, making, monkeypatch, tmp_path):
    """Executed in a kernel of its own; pages, whole here, are in frames."""
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    fresh = making.executed()
    for one, other in zip(fresh.cells, kept.cells, strict=True):
        assert outline(one) == outline(other)
    frames = [html for cell in fresh.cells for html in shown(cell, "text/html") if html.startswith("<iframe")]
    assert len(frames) == 2 and all("sandbox=" in frame and len(frame) > making.LARGEST for frame in frames)
    assert sum(len(shown(cell, "image/png")) for cell in fresh.cells) == 1


def shown(cell, kind: str) -> list[str]:
    """What a cell shows in a form."""
    return [output.data[kind] for output in cell.get("outputs", []) if kind in output.get("data", {})]


def outline(cell) -> list[tuple[str, list[str], str]]:
    """The forms that a cell shows, and what it prints."""
    outputs = cell.get("outputs", [])
    return [(output.output_type, sorted(output.get("data", {})), output.get("text", "")) for output in outputs]
