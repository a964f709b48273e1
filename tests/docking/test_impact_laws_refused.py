"""Impact laws on contacts: what cannot be is said in one line, and what a result tells of impacts."""

import copy
import re

import pytest
from helpers.refusals import refused
from plain_tables import acting, by_name, contacts_by_name

import dockdyn
from dockdyn.exchange.fmu import unit_of
from dockdyn.pages import report_html

PLATE = {"name": "plate", "mass": 100.0, "inertia": [50.0] * 3}
PLATE |= {"surface": {"top": {"shape": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}}}
BALL = {"name": "ball", "mass": 2.0, "inertia": [0.1] * 3, "position": [0, 0, 0.6], "velocity": [0.4, 0, -1.0]}
BALL |= {"feature": {"skin": {"position": [0, 0, 0], "radius": 0.1}}}
CONTACT = {"between": ["skin", "top"], "impact": {"law": "energetic", "restitution": 0.5, "friction": 0.2}}
SCENE = {
    "schema": 2,
    "duration": 1.0,
    "body": by_name([PLATE, BALL]),
    "contact": contacts_by_name([CONTACT]),
}
NORMAL = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10.0}


def scene(impact=None, **contact):
    found = copy.deepcopy(SCENE)
    found["contact"]["skin"] |= contact | ({} if impact is None else {"impact": impact})
    return found


def two_balls():
    found = scene()
    found["body"]["ball"]["feature"]["skin"] |= {
        "about": [0, 0, 0],
        "axis": [0, 0, 1],
        "copies": 3,
        "position": [0, 0.3, 0],
    }
    return found


def held(grip, to="arm"):
    found = scene()
    found["body"]["arm"] = {"on": "plate", "mass": 1.0, "inertia": [0.1, 0.1, 0.1], "position": [0, 0, 1.0]}
    weld = {"kind": "connection", "name": "mount", "between": ["arm", "plate"], "anchor": [[0, 0, 0], [0, 0, 1.0]]}
    hook = {"kind": "latch", "name": "hook", "between": ["ball", to], "anchor": [[0, 0, -0.1], [0, 0, 0]]}
    hook |= {"axis": [0, 0, 1], "reach": 0.01, "lateral": 0.1, "grip": grip}
    return found | {**acting(weld, hook)}


WRONG = {
    "both laws": (scene(normal=NORMAL), r"contact\.skin: normal: the law of a force, beside impact"),
    "friction": (
        scene(friction={"law": "coulomb", "coefficient": 0.1}),
        r"contact\.skin: friction: the law of a force",
    ),
    "no law": (scene("none"), r"contact\.skin: must state normal, .* or impact"),
    "a delay": (scene() | {"loop": {"delay": 0.01}}, r"contact\.skin\.impact: no sensor measures a jump; loop\.delay"),
    "fixed steps": (scene() | {"integrator": {"method": "fixed"}}, r"integrator\.method must be located: .* jumps"),
    "several pairs": (two_balls(), r"contact\.skin\.impact: a law for one pair, of which there are 3"),
    "a rigid grip": (held("weld"), r"contact\.skin\.impact: the rigid grip of .*'hook'.* holds these bodies together"),
    "a grip of nobody": (held("weld", "hull"), r"latch\.hook\.between: no body 'hull'"),
    "a law that joins": (
        scene({"law": "pin"}),
        r"contact\.skin\.impact\.law = 'pin': joins what touches; .* \[latch\.NAME\]",
    ),
    "no parameter": (scene({"law": "newton", "restitution": 0.5}), r"contact\.skin\.impact: law newton needs friction"),
    "another's": (
        scene({"law": "frictionless", "restitution": 0.5, "energy_ratio": 0.5}),
        r"contact\.skin\.impact: law frictionless has no energy_ratio",
    ),
    "too large": (scene({"law": "frictionless", "restitution": 1.5}), r"contact\.skin\.impact\.restitution"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(what):
    content, words = WRONG[what]
    with refused(match=words):
        dockdyn.load(content)


def test_a_rig_measures_no_jump():
    rig = scene() | {"rig": {"carries": "ball", "against": "plate"}}
    with pytest.raises(dockdyn.ScenarioError, match=r"contact\.skin\.impact: the sensor of a rig measures no jump"):
        dockdyn.load(rig)


def test_margins_and_model_exchange_have_no_jump():
    scenario = dockdyn.load(SCENE)
    with pytest.raises(
        dockdyn.ScenarioError, match=r"contact\.skin\.impact: velocities jump there, which has no linear form"
    ):
        dockdyn.margins(scenario)
    with pytest.raises(dockdyn.ScenarioError, match=r"contact\.skin\.impact: .*must be for co-simulation"):
        unit_of(scenario, False)


def test_what_begins_inside_is_refused():
    content = scene()
    content["body"]["ball"]["position"] = [0, 0, 0.09]
    with pytest.raises(dockdyn.ScenarioError, match=r"contact 'skin': overlap at the start = 0\.01 m"):
        dockdyn.simulate(dockdyn.load(content))


def test_ratios_that_an_impact_does_not_allow_are_told_with_their_bounds():
    content = scene({"law": "energy-friction", "energy_ratio": 0.01, "friction_ratio": 1.0})
    with pytest.raises(dockdyn.ScenarioError, match=r"contact 'skin' at t = 0\.5 s: impact: .*r_E must lie between"):
        dockdyn.simulate(dockdyn.load(content))


@pytest.mark.full
def test_a_result_tells_of_impacts(tmp_path):
    """The report is made, the impulse is a figure, and the reader is told that the largest force is not of impacts."""
    content = scene() | {"requirements": {"contact.impulse_N_s": "< 1 N s"}}
    run = dockdyn.simulate(dockdyn.load(content))
    summary = dockdyn.summarise(run)
    expected = 1.5 / (1 / 2.0 + 1 / 100.0)  # of a ball without friction; friction has no part in it on a level plate
    assert summary["contact.impulse_N_s"] == pytest.approx(expected, rel=0.05)
    assert summary["contacts"][0]["impulse_N_s"] == summary["contact.impulse_N_s"]
    assert [words for words in summary["warnings"] if words.startswith("velocities jump at contact 'skin'")]
    assert summary["energy_class"] == ["passive"] and summary["work_energy_error"] < 1e-12
    text = re.sub(r"<script.*?</script>", "", report_html(run), flags=re.DOTALL)
    page = re.sub(r"<[^>]+>", "", text)  # numbers are in bold
    assert "skin" in page and "1 contact by impact laws; largest normal impulse" in page
    assert "largest normal force" not in page
