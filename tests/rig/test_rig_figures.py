"""What a rig's requirements may name is known before its run; what it tells nothing of, as of capture, is said."""

import pytest
from helpers.refusals import refused
from test_rig_around_mechanisms import latched, read

import dockdyn
from dockdyn.results.requirements import figures_of
from dockdyn.rig.figures import FIGURES

RIGS = ("sits", "sits-scvg", "epos-like")
OF_RIGS_ONLY = "nothing of single contacts, latches and capture"


@pytest.mark.full
@pytest.mark.parametrize("preset", RIGS)
def test_the_figures_of_a_run_are_those_known_before_it(preset):
    summary = dockdyn.summarise(dockdyn.simulate(preset))
    found = set(figures_of({key: value for key, value in summary.items() if key != "requirements"}))
    assert found <= set(FIGURES)
    known = {name for name in FIGURES if not name.startswith(("delay_budget_ms.", "gain_range_stable"))}
    assert known <= found


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("peak_force", "< 100 N", "no such figure on a rig; did you mean 'peak_measured_force'?"),
        ("captured", True, OF_RIGS_ONLY),
        ("latch.capture.time", "< 5 s", OF_RIGS_ONLY),
        ("contact.spring.peak_force_N", "< 5 N", OF_RIGS_ONLY),
        ("amplitude_rato", "< 1.1", "did you mean 'amplitude_ratio'?"),
        ("nothing", "< 1.1", "no such figure in the summary; allowed: amplitude_bound, "),
    ],
)
def test_a_requirement_that_no_rig_has_is_refused_before_the_run(monkeypatch, name, value, words):
    monkeypatch.setattr("dockdyn.rig.simulate.simulate_rig", lambda *_: pytest.fail("it has been run"))
    with refused(f"sits: requirements.{name}: ", words):
        dockdyn.simulate(dockdyn.load("sits", {"requirements": {name: value}}))


@pytest.mark.full
def test_what_a_rig_has_may_be_required():
    stated = {"requirements": {"peak_measured_force": "< 1 MN", "delay_total": "< 1 s", "step_s": "> 0 s"}}
    judged = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sits", stated)))["requirements"]
    assert [one["met"] for one in judged] == [True] * 3


@pytest.mark.full
def test_a_latch_in_a_rig_is_told_to_have_no_figure():
    said = [
        words
        for words in dockdyn.summarise(dockdyn.simulate(read(latched(0.3, 2e-3))))["warnings"]
        if "tell nothing of capture" in words
    ]
    assert said == [
        "latch.latch acts in the run, but the figures of a rig tell nothing of capture: run the mechanism without [rig] for "
        "whether it is captured"
    ]
    assert not any("capture" in words for words in dockdyn.summarise(dockdyn.simulate("sits"))["warnings"])
