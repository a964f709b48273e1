"""A contact whose damping vanishes where it begins: margins and rigs say so, and what they advise judges it with damping."""

import pytest

import dockdyn
from dockdyn.scenario.load import load

CROSSLEY = {"law": "hunt-crossley", "stiffness": 2e4, "exponent": 1}
VANISHING = {
    "damping": CROSSLEY | {"damping": "2 s/m"},
    "restitution at a speed": CROSSLEY | {"restitution": 0.6, "speed": "2 cm/s"},
}
OTHERS = {
    "a dashpot": {"law": "spring-dashpot", "stiffness": 2e4, "damping": 100.0},
    "a dashpot by its ratio": {"law": "spring-dashpot", "stiffness": 2e4, "damping_ratio": 0.05},
    "a dashpot by its restitution": {"law": "spring-dashpot", "stiffness": 2e4, "restitution": 0.8},
    "a spring": {"law": "spring-dashpot", "stiffness": 2e4},
    "Hunt and Crossley without damping": CROSSLEY | {"damping": 0.0},
}
SAID = "touch has no damping at depth 0, where contact begins and the loop is judged"
ADVICE = [("stability.depth", "5 mm"), ("stability.at", "peak-force")]


def head_on(normal, rig=True):
    """Two bodies that meet head on, on a line; with a loop's hold on a rig."""
    bodies = {"chaser": {"mass": 1e3, "position": -0.01, "velocity": 0.02}, "target": {"mass": 2e3}}
    tables = {"body": bodies, "contact": {"touch": {"between": ["chaser", "target"], "normal": normal}}}
    around = {"rig": {"carries": "chaser", "against": "target"}, "loop": {"delay": "5 ms", "hold": {"period": "4 ms"}}}
    return (
        {"schema": 2, "title": "Head on", "motion": "line", "duration": "2 s"}
        | tables
        | (around if rig else {"loop": {"delay": "5 ms"}})
    )


def undamped(warnings):
    """Those of the warnings that say so."""
    return [words for words in warnings if "has no damping at" in words]


@pytest.mark.full
@pytest.mark.parametrize("rig", [True, False], ids=["rig", "delay"])
@pytest.mark.parametrize("name", VANISHING)
def test_damping_that_vanishes_where_contact_begins_is_told(name, rig):
    stated = head_on(VANISHING[name], rig)
    found = dockdyn.margins(load(stated))
    (words,) = undamped(found["warnings"])
    assert SAID in words and 'state stability.depth, or stability.at = "peak-force"' in words
    assert not found["stable"] and found["damping_N_s_m"] == 0
    for key, value in ADVICE:
        advised = dockdyn.margins(load(stated, {key: value}))
        assert advised["damping_N_s_m"] > 0 and advised["critical_delay_s"] != 0
        assert not undamped(advised["warnings"])


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_what_damps_everywhere_or_nowhere_is_not_told(name):
    assert not undamped(dockdyn.margins(load(head_on(OTHERS[name])))["warnings"])


@pytest.mark.full
def test_the_run_of_a_rig_says_so_beside_its_prediction():
    stated = head_on(VANISHING["damping"])
    warnings = dockdyn.summarise(dockdyn.simulate(load(stated)))["warnings"]
    assert SAID in undamped(warnings)[0] and any("the loop is unstable" in words for words in warnings)
    for key, value in ADVICE:
        assert not undamped(dockdyn.summarise(dockdyn.simulate(load(stated, {key: value})))["warnings"])


def test_each_of_several_contacts_closed_together_is_looked_at():
    stated = head_on(VANISHING["damping"], rig=False)
    stated["contact"]["damped"] = stated["contact"]["touch"] | {"normal": OTHERS["a dashpot"]}
    assert [words.split(" has")[0] for words in undamped(dockdyn.margins(load(stated))["warnings"])] == ["touch"]
