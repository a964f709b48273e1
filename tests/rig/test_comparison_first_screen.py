"""What the page of a comparison shows first: the compensator to take, with its error and those of the next."""

import shlex

import numpy as np
import pytest

from dockdyn.cli.common import read_scenario
from dockdyn.rig.comparison.choice import CompensatorChoice, Ranked
from dockdyn.rig.comparison.first_screen import comparison_advice, comparison_headline, comparison_tiles, why_chosen


def choice(**errors):
    ranked = sorted((Ranked(law.replace("_", "-"), error) for law, error in errors.items()), key=lambda one: one.error)
    return CompensatorChoice("amplitude", 2e3, 2e5, 1, tuple(ranked))


@pytest.mark.parametrize(
    ("errors", "own", "headline"),
    [
        ({"none": 3.0, "lead_energy": 0.02, "passivity": 0.4}, "none", "Take lead-energy"),
        ({"none": 3.0, "lead_energy": 0.02, "passivity": 0.4}, "lead-energy", "Keep lead-energy"),
        ({"none": 0.001, "passivity": 0.4}, "none", "None is best: no compensator is nearer"),
        ({"none": np.inf, "passivity": np.inf}, None, "No compensator keeps to the motion without rig"),
    ],
)
def test_the_headline_says_which_to_take(errors, own, headline):
    assert comparison_headline(choice(**errors), own) == headline


def test_the_tiles_have_the_errors_that_count():
    found = comparison_tiles(choice(none=np.inf, lead_energy=0.017, energy_layer=0.42, force_lead=1.5), "force-lead")
    shown = [(tile.label, tile.value, tile.unit, tile.alarming) for tile in found]
    assert shown == [
        ("Largest error of lead-energy", "1.7", "%", False),
        ("Second best: energy-layer", "42", "%", False),
        ("This rig: force-lead", "×\u202f2.5", "", False),
        ("Without a compensator", "–", "", True),
    ]
    assert [(law, number) for law, _, number in found[0].bars] == [
        ("lead-energy", "1.7 %"), ("energy-layer", "42 %"), ("force-lead", "×\u202f2.5"),
    ]  # fmt: skip


def test_why_the_best_is_chosen_is_said():
    """With its error and that of the next; nothing where none is."""
    found = choice(none=np.inf, lead_energy=0.017, energy_layer=0.42)
    words = (
        "Lead-energy is marked: its largest error of the amplitude, 1.7 %, is the least; energy-layer comes next: 42 %."
    )
    assert why_chosen(found, "none") == words
    assert why_chosen(choice(none=np.inf, passivity=np.inf), None) == ""


def test_the_command_gives_the_rig_the_best():
    """Also one that has another law, with keys of its own."""
    (advice,) = comparison_advice(choice(none=3.0, lead_energy=0.02), "variable-gain", stated=False)
    program, run, _, option, setting = shlex.split(advice.command)
    assert (program, run, option) == ("dockdyn", "run", "--set")
    rig = read_scenario("sits-scvg", [setting]).content.loop.compensator
    assert (rig.law, rig.lead) == ("lead-energy", None)
    (advice,) = comparison_advice(choice(none=3.0, lead_energy=0.02), "none", stated=True)
    assert "[compare.lead-energy]" in advice.sentence and not advice.command
    assert comparison_advice(choice(none=3.0, lead_energy=0.02), "lead-energy", stated=False) == []
    assert comparison_advice(choice(none=0.001, passivity=0.4), "none", stated=False) == []
