"""What a notebook shows of a scenario and of a result."""

import re

import numpy as np
import pytest

import dockdyn


@pytest.fixture(scope="module")
def result():
    scenario = dockdyn.load("probe-cone")
    return dockdyn.simulate(scenario)


def test_a_scenario_is_told_in_a_line():
    scenario = dockdyn.load("probe-cone")
    assert repr(scenario) == f"<Scenario 'probe-cone': {scenario.title} (free-flight)>"
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
