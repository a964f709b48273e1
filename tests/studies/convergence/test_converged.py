"""Whether runs have converged, beside cases whose error is known: a bounce on a spring, which has a closed form."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dockdyn
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import preset_setups, preset_text
from dockdyn.studies.convergence.converged import check_convergence, convergence_verdict, relative_changes
from dockdyn.studies.convergence.refine import refine_scenario

BOUNCE = """
schema = 2
duration = "{duration} s"
[body.chaser]
mass = {mass}
inertia = [100, 100, 100]
position = [{start}, 0, 0]
velocity = [-{speed}, 0, 0]
[body.chaser.feature.tip]
position = [-1, 0, 0]
radius = "20 mm"
[body.target]
mass = {other}
inertia = [100, 100, 100]
[body.target.surface.plate]
shape = "plane"
point = [0.5, 0, 0]
normal = [1, 0, 0]
[contact.tip]
between = ["tip", "plate"]
[contact.tip.normal]
law = "spring-dashpot"
stiffness = {stiffness}
"""


def bounce(tmp_path, seed, **integrator):
    """A head-on bounce drawn at random, and its largest force (N) in closed form."""
    chance = np.random.default_rng(seed)
    mass, other = (float(chance.uniform(200, 1000)) for _ in range(2))
    effective, speed, frequency = (
        mass * other / (mass + other),
        float(chance.uniform(0.02, 0.1)),
        chance.uniform(0.5, 2),
    )
    stiffness = effective * (2 * np.pi * float(frequency)) ** 2
    gap = 0.01
    duration = gap / speed + 1 / float(frequency)
    numbers = {"mass": mass, "other": other, "speed": speed, "stiffness": stiffness, "duration": duration}
    text = BOUNCE.format(start=1.52 + gap, **numbers)
    file = tmp_path / f"bounce{seed}.toml"
    file.write_text(text)
    changes = {"integrator": integrator} if integrator else {}
    return dockdyn.load(file, changes), speed * np.sqrt(effective * stiffness)


STEPPED = {  # a method with steps that no tolerance chooses, and how long the finer ones are
    "fixed": ({"method": "fixed", "step": 0.02}, 0.002),
    "fixed, as chosen": ({"method": "fixed"}, 0.0005),
    "located": ({"method": "located", "step": 0.06}, 0.006),
    "variational": ({"method": "variational", "step": 0.04}, 0.01),
    "variational, as chosen": ({"method": "variational"}, 0.00125),
}


@pytest.mark.full_cases(
    *(f"{name}-{seed}" for name in STEPPED for seed in range(6) if (name, seed) not in {("fixed", 0), ("located", 0)}),
    "located-0",
)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", STEPPED)
def test_what_moves_with_a_shorter_step_is_the_error_that_it_has(tmp_path, seed, name):
    """Of a step of which nine tenths go, or more; of the variational method, of second order, 15 of 16 parts."""
    integrator, finer = STEPPED[name]
    scenario, exact = bounce(tmp_path, seed, **integrator)
    found = check_convergence(scenario)
    force = found["changes"]["contacts.0.peak_force_N"]
    error = abs(force["value"] - exact) / exact
    assert found["refined"] == {"tolerance": {"integrator.step": pytest.approx(finer, rel=0.05)}}
    assert 0.5 * error < force["tolerance"] + 1e-9 and force["tolerance"] < 2 * error + 1e-6
    assert not found["converged"] or found["largest_change"] <= 0.01


def test_a_tolerance_at_rounding_is_no_finer_number(tmp_path):
    with pytest.raises(ScenarioError, match="nothing to refine"):
        refine_scenario(bounce(tmp_path, 0, tolerance=1e-14)[0])


@pytest.mark.full
def test_a_coarse_step_has_not_converged_and_a_located_contact_has(tmp_path):
    coarse, exact = bounce(tmp_path, 3, method="fixed", step=0.2)
    found = check_convergence(coarse)
    assert not found["converged"] and found["largest_change"] > 0.01
    assert convergence_verdict(found).startswith("Not converged: with finer numbers (tolerance) ")
    located, exact = bounce(tmp_path, 3)
    found = check_convergence(located)
    assert found["converged"] and convergence_verdict(found).startswith("Converged: ")
    assert found["changes"]["contacts.0.peak_force_N"]["value"] == pytest.approx(exact, rel=1e-8)
    assert found["largest_change"] < 1e-6 and found["warnings"] == []


@pytest.mark.full
def test_bodies_that_nothing_holds_are_told_to_pass_through(tmp_path):
    """A second tip beside the first, which no contact is of, and which the first one's soft contact lets through."""
    scenario, _ = bounce(tmp_path, 1)
    tips = {
        "tip": {"position": [-1.0, 0.0, 0.0], "radius": 0.02},
        "antenna": {"position": [-1.25, 0.3, 0.0], "radius": 0.02},
    }
    assert scenario.at({"body.chaser.feature": tips}) is not None
    longer = scenario.at({"body.chaser.feature": tips, "body.chaser.position": [1.9, 0.0, 0.0], "duration": 12.0})
    speed = -longer.content.named("chaser").velocity[0]
    first = (1.9 - 1.25 - 0.02 - 0.5) / speed
    found = check_convergence(longer)
    (said,) = [words for words in found["warnings"] if "antenna" in words]
    assert said.startswith("'antenna' of chaser passes through 'plate' of target from t = ")
    assert float(said.partition("t = ")[2].partition(" s")[0]) == pytest.approx(first, abs=0.02)
    assert not found["converged"]


@pytest.mark.parametrize("preset", preset_setups())
def test_every_preset_says_what_can_be_refined(preset):
    finer, text = refine_scenario(dockdyn.load(preset)), preset_text(preset)
    assert "tolerance" in finer
    assert ("instants" in finer) == (preset_setups()[preset] == "rig")
    assert ("mesh" in finer) == ('shape = "mesh"' in text or 'shape = "cloud"' in text)
    assert ("modes" in finer) == ("beam]" in text or "bending_modes" in text or "beam = {" in text)
    for changes in finer.values():
        for key in changes:
            assert (
                value_at(dockdyn.load(preset).content, key, preset).value is not None or key == "integrator.tolerance"
            )


def test_small_figures_are_compared_with_the_largest_of_their_unit():
    found = relative_changes(
        {"peak_force_N": 100.0, "lateral_force_N": 1e-9}, {"peak_force_N": 101.0, "lateral_force_N": 2e-9}
    )
    assert found["peak_force_N"] == pytest.approx(1 / 101)
    assert found["lateral_force_N"] == pytest.approx(1e-9 / 0.101)


@pytest.mark.full
def test_run_prints_the_table_and_json_has_it(dock):
    code, out, _ = dock("run", "paraskevas-a", "--check-convergence")
    assert code == 0
    assert "Converged: with finer numbers (tolerance) no figure moves" in " ".join(out.split())
    assert "Refined: integrator.tolerance = 1e-12" in out
    code, out, _ = dock("run", "paraskevas-a", "--check-convergence", "--json")
    assert '"convergence"' in out and '"largest_change_of"' in out


def test_a_figure_far_from_its_limit_is_compared_with_the_limit():
    own, others = {"shear_N": 2.0, "tension_N": 100.0}, {"shear_N": 3.0, "tension_N": 120.0}
    found = relative_changes(own, others, {"shear_N": 3000.0})
    assert found["shear_N"] == pytest.approx(1 / 3000)
    assert found["tension_N"] == pytest.approx(20 / 120)


@pytest.mark.full
def test_what_is_required_comes_first_and_places_that_are_alike_do_not_count():
    """Which of twelve balls touches first is rounding: an even ring has converged, whatever ball it says."""
    found = check_convergence(dockdyn.load("idss-soft-capture", {"duration": 4.3, "integrator.tolerance": 1e-6}))
    assert not [key for key in found["changes"] if "position" in key]
    assert sorted(list(found["changes"])[:5]) == found["required"]
    assert found["changes"]["port.shear_N"]["tolerance"] < 1e-6
    assert [name for name in found["required"] if not name.startswith("port.")] == []


def test_contacts_are_counted_as_the_tables_count_and_percent_has_no_exponent():
    found = {
        "converged": False,
        "largest_change": 2.03,
        "largest_change_of": "contacts.11.impulse_N_s",
        "required": ["capture_time_s"],
        "refined": {"tolerance": {}},
        "changes": {"capture_time_s": {"value": 3.0, "tolerance": 0.00012}},
    }
    said = convergence_verdict(found)
    assert "contact 12 (Q12) impulse_N_s moves by 200 %" in said
    assert said.endswith("What is required moves by at most 0.012 % of its limit or itself (capture_time_s).")


@pytest.mark.parametrize("step", [pytest.param("0.1 ms", marks=pytest.mark.full), "10 ms"])
def test_the_report_has_the_verdict_and_the_table_where_that_was_asked_for(dock, tmp_path, step):
    """Its numbers are those that the command prints; made again from its file it has them, too; else there is no table."""
    asked = ["run", "paraskevas-a", "--set", "integrator.method=fixed", "--set", f"integrator.step={step}", "--out"]
    code, _, err = dock(*asked, "checked", "--check-convergence")
    assert code == 0, err
    found = dockdyn.open_result("checked/result.nc")
    answer = json.loads(found.attrs["convergence"])
    for page in (Path("checked/report.html").read_text(), dockdyn.report_html(found, replay={})):
        words = " ".join(re.sub("<[^>]*>", " ", page.replace("<wbr>", "")).split())
        assert ("Not converged:" in words) is (step == "10 ms") and ("Converged:" in words) is (step != "10 ms")
        first, moved = next(iter(answer["changes"].items()))
        assert f"{first} {moved['value']:.6g} {100 * moved['tolerance']:.2g}" in words
    assert dock(*asked, "plain")[0] == 0
    assert "onverged:" not in Path("plain/report.html").read_text()


@pytest.mark.full
def test_a_field_that_is_nearer_than_asked_becomes_finer():
    """Of a plate that the coarsest field meets within a quarter of this tolerance."""
    scenario = dockdyn.load(
        "mesh-on-mesh", {f"body.{name}.surface.plate.tolerance": "4 mm" for name in ("chaser", "target")}
    )
    finer = scenario.at(refine_scenario(scenario)["mesh"])
    for before, after in zip(scenario.content.body, finer.content.body, strict=True):
        fields = before.surface[0].field, after.surface[0].field
        assert fields[0].error < 4e-3 / 4
        assert fields[1].error <= fields[0].error / 2
        assert fields[1].finest < fields[0].finest


@pytest.mark.full
def test_what_is_required_is_told_though_it_is_an_error():
    """Of a rig: how far its restitution is off, which is what it is built for, and no error of the computing."""
    rig = """
schema = 2
motion = "line"
duration = "1 s"
rig = { carries = "target", against = "wall" }
body.target = { mass = 50.0, velocity = 0.05, position = -0.001 }
body.wall = { fixed = true }
contact.spring = { between = ["target", "wall"], normal = { law = "spring-dashpot", stiffness = 5000.0, damping = 20.0 } }
loop = { delay = "4 ms", hold = { period = "4 ms" } }
requirements = { restitution_error = "< 0.05" }
"""
    found = check_convergence(parse(rig, "rig"))
    assert found["required"] == ["restitution_error"]
    assert next(iter(found["changes"])) == "restitution_error"
