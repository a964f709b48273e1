"""A requirement on a figure that no run has is refused before the run; none that a run has is."""

import random
import string
from dataclasses import replace

import pytest

import dockdyn
from dockdyn.docking.key_figures import FIGURES, refuse_unknown_requirements
from dockdyn.results.requirements import figures_of, without_unit
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.requirement import requirement_of

SHORT = (("duration", "0.05 s"),)


def require(scenario, name):
    return replace(scenario, requirements=(requirement_of(name, "< 1", "here"),))


@pytest.mark.full_cases("idss-soft-capture", "canadarm-3d", "flexible-panels", "detumble")
@pytest.mark.parametrize("preset", ["probe-cone", "idss-soft-capture", "canadarm-3d", "flexible-panels", "detumble"])
def test_what_a_summary_has_may_be_required_and_what_it_has_not_is_refused(shared_run, preset):
    scenario, rng = dockdyn.load(preset, dict(SHORT)), random.Random(4)
    names = sorted(figures_of(dockdyn.summarise(shared_run(preset, SHORT))))
    known = {one for name in names for one in (name, without_unit(name))}
    for name in known:
        refuse_unknown_requirements(require(scenario, name), FIGURES)
    refused = 0
    for name in rng.sample(sorted(known), 20):
        table, _, rest = name.partition(".")
        middle, _, last = rest.rpartition(".")  # of a member the figure is judged when there is one
        wrong = ".".join(part for part in (table, middle or last, last if middle else "") if part)
        at = rng.randrange(len(table) + 1 if middle else 0, len(wrong) - (len(last) + 1 if middle else 0))
        wrong = wrong[:at] + rng.choice(string.ascii_lowercase) + wrong[at:]
        if wrong not in known:
            with pytest.raises(ScenarioError, match=r"did you mean|allowed|There are|there is none"):
                refuse_unknown_requirements(require(scenario, wrong), FIGURES)
            refused += 1
    assert refused > 10


def test_a_misspelt_requirement_is_told_before_the_run(dock):
    for command in ("run", "check"):
        dock(command, "probe-cone", "--set", 'requirements.peak_forc="< 3 N"').check_refused("peak_forc", "peak_force")
        ended = dock(command, "probe-cone", "--set", 'requirements.contact.cone.peak_force="< 3 N"')
        ended.check_refused("'cone' is no contact of the mechanism", "probe-cone")
