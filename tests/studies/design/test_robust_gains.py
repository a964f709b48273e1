"""Gains of a rig's compensators that keep its error least over a range: `dockdyn compare --tune`."""

import json

import numpy as np
import pytest
from helpers.line_rig import HEAD
from helpers.refusals import refused

import dockdyn
from dockdyn.rig.comparison.compare import compare
from dockdyn.scenario.load import parse
from dockdyn.studies.design.robust import robust_gains, share_from

RIG = f"""{HEAD}
duration = "1 s"
[body.target]
mass = "500 kg"
position = "-2 mm"
velocity = "0.05 m/s"
[contact.spring.normal]
law = "spring-dashpot"
stiffness = "20 kN/m"
damping = "50 N s/m"
[loop.hold]
period = "4 ms"
[loop.sensor]
delay = "2 ms"
period = "2 ms"
averaging = "2 ms"
[loop.dynamics]
period = "2 ms"
[loop.robot]
bandwidth = "30 Hz"
order = 2
[loop.compensator]
law = "fixed-gain"
velocity = "model"
"""
STIFFNESSES = [10e3, 20e3, 80e3]
ENDS = [STIFFNESSES[0], STIFFNESSES[-1]]


def errors(gain, stiffnesses):
    """The error of the restitution at each stiffness, of runs one by one."""
    found = []
    for stiffness in stiffnesses:
        scenario = parse(RIG, "rig", {"contact.spring.normal.stiffness": stiffness, "loop.compensator.gain": gain})
        summary = dockdyn.summarise(dockdyn.simulate(scenario))
        found.append(abs(summary["apparent_restitution"] - summary["ideal_restitution"]))
        assert summary["restitution_error"] == pytest.approx(found[-1], rel=1e-12)
    return found


@pytest.mark.full
@pytest.mark.parametrize("stiffnesses", [ENDS, STIFFNESSES], ids=["its ends", "three of it"])
def test_a_gain_that_is_least_wrong_over_a_range(stiffnesses):
    """A gain that is too small for the stiffest contact is too large for the softest: at the best both are as wrong."""
    scenario = parse(RIG, "rig")
    told = []
    tuned, (without, found) = robust_gains(scenario, ["none", "fixed-gain"], stiffnesses, 100.0, told.append)
    assert without.law == "none" and not without.found and found.error < without.error == without.error_before
    assert found.law == "fixed-gain" and found.kept and told[-1] == 1
    at = errors(found.found["gain"], stiffnesses)
    assert found.error == pytest.approx(max(at), rel=1e-9)
    assert found.error_before == pytest.approx(max(errors(found.before["gain"], stiffnesses)), rel=1e-9)
    assert found.error < found.error_before
    assert at[0] == pytest.approx(at[-1], rel=0.1)
    for gain in (0.95 * found.found["gain"], 1.05 * found.found["gain"]):
        assert max(errors(gain, stiffnesses)) > found.error
    compared = compare(tuned, ["fixed-gain"], stiffnesses)
    assert float(compared.error.max()) == pytest.approx(found.error, rel=1e-6)
    assert tuned.content.loop.compensator.gain == found.found["gain"]


@pytest.mark.full
def test_what_is_distributed_counts_too(dock, tmp_path):
    """Over delays too the numbers found are better in cases that they were not sought by."""
    file = tmp_path / "rig.toml"
    late = '{ distribution = "uniform", low = "1 ms", high = "4 ms" }'
    file.write_text(RIG.replace('delay = "2 ms"', f"delay = {late}"))
    arguments = ("compare", file, "--compensators", "fixed-gain", "--tune", "90 %", "--out", "tuned", "--json")
    ended = dock(*arguments, "--set", "contact.spring.normal.stiffness=10e3:40e3:3")
    (found,) = json.loads(ended.stdout)["tuned"]
    assert found["kept"] and found["error"] < found["error_before"]
    assert found["error_fresh"] == pytest.approx(found["error"], rel=0.3)
    settings = dockdyn.load(tmp_path / "tuned" / "scenario.toml").content.compare[0]
    assert np.isclose(settings.gain, found["found"]["gain"])


@pytest.mark.full
def test_a_run_too_short_for_a_bounce_is_refused_in_one_line():
    scenario = parse(RIG, "rig", {"duration": "0.6 s"})
    words = "rig: duration = 0.6 s: no bounce ends within it without rig at 10000 N/m; must be longer"
    with pytest.raises(dockdyn.ScenarioError, match=words):
        robust_gains(scenario, ["fixed-gain"], STIFFNESSES, 100.0, lambda share: None)


@pytest.mark.parametrize("text", ["best", "0 %", "101 %", "95"])
def test_no_share_is_refused_in_one_line(text):
    with refused(match="must be worst, or a share of the cases such as"):
        share_from(text)
    assert share_from("worst") == 100 and share_from("95 %") == 95
