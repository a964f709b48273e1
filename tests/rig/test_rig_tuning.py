"""Numbers that the table of a compensator leaves out: tuned, or refused in one clear line, whatever is stated."""

from itertools import combinations

import numpy as np
import pytest
from helpers.refusals import refused

import dockdyn
from dockdyn.hil.compensators.compensator import Compensation, Compensator
from dockdyn.parameters import parameter
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.tables.rig.compensators import laws, section_of

SUBSETS = [
    (law, stated)
    for law, made in laws().items()
    for names in [made(law=law).tuned()]
    for count in range(len(names) + 1)
    for stated in combinations(names, count)
]


@pytest.fixture(scope="module")
def maker():
    scenario = dockdyn.load("unknown-stiffness")
    return CompensatorMaker(scenario, loop_of(scenario))


@pytest.mark.full_cases("fixed-gain-stated0", "linear-gain-stated2")
@pytest.mark.parametrize(("law", "stated"), SUBSETS)
def test_whatever_a_law_leaves_out_is_tuned(maker, law, stated):
    """Each combination of stated numbers; those stay, the others are found."""
    made = laws()[law](law=law, **dict.fromkeys(stated, 0.01))
    found = maker.complete(made)
    for name in type(made)(law=law).tuned():
        value = getattr(found, name)
        assert value == 0.01 if name in stated else np.isfinite(value)


LEADS = ("command-lead", "lead-energy")  # tuned in a contact without damping


@pytest.mark.parametrize("law", [law for law, made in laws().items() if made(law=law).tuned() and law not in LEADS])
def test_what_no_tuning_finds_is_one_clear_line(law):
    """An overdamped contact has no oscillation to tune for."""
    scenario = dockdyn.load("unknown-stiffness", {"contact.spring.normal.damping": 1e5})
    with refused(match=f"loop.compensator: {law}: the contact is overdamped.*; state "):
        CompensatorMaker(scenario, loop_of(scenario)).complete(laws()[law](law=law))


class Untuned(Compensator):
    """A law of a user's own, without a rule."""

    gain: float = parameter("N*s/m", "a gain", tuned=True)

    def init(self, position, velocity):
        return ()

    def step(self, memory, seen):
        return memory, Compensation.nothing(seen.force.size)


class HalfTuned(Untuned):
    lead: float = parameter("s", "a time", tuned=True)

    def tune(self, problem):
        return {"gain": 2 * problem.stiffness}


def test_a_law_of_ones_own_tunes_itself_or_says_that_it_cannot(maker):
    for made, words in (
        (section_of("mine", Untuned)(law="mine"), "has no rule that finds its numbers; state gain"),
        (section_of("half", HalfTuned)(law="half"), "finds no lead; state"),
    ):
        with pytest.raises(dockdyn.ScenarioError, match=words):
            maker.complete(made)
    assert maker.complete(section_of("half", HalfTuned)(law="half", lead=1.0)).gain == 4e4
