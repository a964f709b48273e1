"""Chains of masses on a line as a user sees them: predictions, summaries, reports and refusals."""

import json
import re

import numpy as np
import pytest
from helpers.refusals import refused
from on_a_line import colliding
from places import results_pages
from scipy.integrate import solve_ivp

import dockdyn
from dockdyn.pages import report_html
from dockdyn.results.requirements import is_of_member
from dockdyn.results.run import Run

RESULTS = results_pages()
MASSES = {  # kg, in their order 8, 3, 2, 21
    "body.chaser.mass": 8,
    "body.chaser-front.mass": 3,
    "body.target-front.mass": 2,
    "body.target.mass": 21,
    "body.chaser.joint.stiffness": 700,
    "body.target.joint.stiffness": 300,
}


def run(name="paraskevas-a", **overrides):
    return dockdyn.simulate(dockdyn.load(name, {**overrides}))


def text_of(page):
    """What a page says, without its figures."""
    return " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"<(svg|style|script).*?</\1>", " ", page, flags=re.S)).split())


def test_each_impact_is_predicted_from_its_own_onset():
    """A contact without damping gives P = 2 μ (v₂ − v₃), here from the samples and written out for these masses."""
    dataset = run(**MASSES)
    summary = dockdyn.summarise(dataset)
    assert len(summary["contacts"]) >= 2
    reduced, system = 3 * 2 / 5, 11 * 23 / 34
    for index, contact in enumerate(summary["contacts"]):
        impulse = 2 * reduced * contact["approach_speed_m_s"]
        expected = summary["contact.velocity_before_m_s"][index] - impulse / system
        assert summary["contact.velocity_predicted_m_s"][index] == pytest.approx(expected, rel=1e-12)
        jump = summary["contact.velocity_before_m_s"][index] - summary["contact.velocity_after_m_s"][index]
        assert contact["impulse_N_s"] == pytest.approx(system * jump, rel=1e-8)
    assert summary["energy_error"] < 1e-9
    assert summary["linear_momentum_error"] < 1e-11


@pytest.mark.full_cases("30.0-True")
@pytest.mark.parametrize(("damping", "adhesion"), [(30.0, False), (30.0, True), (260.0, False)])
def test_restitution_of_a_damped_contact(damping, adhesion):
    """Two masses alone, by SciPy: until the force ends, or with adhesion until the depth does."""
    law = {"contact.fronts.normal.damping": damping, "contact.fronts.normal.adhesion": adhesion}
    summary = dockdyn.summarise(run(**MASSES, **law))
    mass, stiffness, speed = 3 * 2 / 5, 15000.0, 0.05

    def ends(t, y):
        return y[0] if adhesion else stiffness * y[0] + damping * y[1]

    ends.terminal, ends.direction = True, -1
    found = solve_ivp(
        lambda t, y: [y[1], -(stiffness * y[0] + damping * y[1]) / mass],
        (0, 1),
        [1e-15, speed],
        events=ends,
        rtol=1e-11,
        atol=1e-15,
    )
    assert summary["contact.restitution"][0] == pytest.approx(-found.y[1, -1] / speed, rel=1e-6)
    assert summary["energy_error"] is None


def test_contacts_too_short_for_the_clock_are_predicted_where_they_approach():
    """Between two instants the masses meet and part; now and then rounding lets one begin that parts already."""
    count = parting = 0
    for stiffness in (2e24, 7e24, 1e26, 3e27, 1e28):
        dataset = run("paraskevas-c", **{"contact.fronts.normal.stiffness": stiffness})
        approaches = dataset.episode_approach_speed.values > 0
        assert dataset.sizes["episode"]
        assert (np.isfinite(dataset.episode_relative_predicted.values) == approaches).all()
        count, parting = count + len(approaches), parting + int((~approaches).sum())
    assert parting < 0.05 * count


def test_what_begins_by_parting_is_not_predicted(monkeypatch):
    """As rounding could make of a contact that is shorter than the clock resolves."""
    at_onset = Run.at_onset

    def parting(self, name):
        found = at_onset(self, name)
        return [-1e-3, *found[1:]] if name == "depth_rate" else found

    monkeypatch.setattr(Run, "at_onset", parting)
    predicted = run("paraskevas-c").episode_relative_predicted.values
    assert np.isnan(predicted[0]) and len(predicted) > 1 and np.isfinite(predicted[1:]).all()


@pytest.mark.full
def test_a_law_without_a_formula_is_not_predicted():
    hertz = dockdyn.summarise(run(**{"contact.fronts.normal": {"law": "hertz", "stiffness": 1e6}}))
    assert hertz["contact.restitution"][0] == 1 and hertz["contact.velocity_predicted_m_s"][0] is not None
    crossley = {"law": "hunt-crossley", "stiffness": 1e6, "exponent": 1.5, "damping": 0.3}
    dataset = run(**{"contact.fronts.normal": crossley})
    assert "contact.velocity_predicted_m_s" not in dockdyn.summarise(dataset)
    assert "effective masses" not in text_of(report_html(dataset))


def test_single_masses_meet_like_rigid_bodies():
    law = {"law": "spring-dashpot", "stiffness": 15000}
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(colliding([6], [3], law, speed=0.05, duration=0.5))))
    assert summary["contact.mass_ratio"] == pytest.approx([1])
    assert summary["contact.velocity_after_m_s"] == pytest.approx([-0.05], rel=1e-9)


REPORTS = {
    "paraskevas-a": ("keep approaching", "7 contacts", "Relative velocity by effective masses"),
    "paraskevas-latch": ("Captured at t = 0.573776 s", "Least speed that latches, simulated 0.0708492 m/s"),
    "paraskevas-latch-slow": ("Not captured", "14.114 mm into the latch", "it takes 0.0708492 m/s"),
    "probe-cone-latch": (
        "Captured at t = 8.1",
        "Energy of the motion that it ends",
        "Travel of the probe into the latch",
    ),
}


@pytest.mark.full_cases("probe-cone-latch", "paraskevas-a")
@pytest.mark.parametrize("name", REPORTS)
def test_report_and_documentation_of_a_run(name, tmp_path):
    dataset = run(name)
    path = tmp_path / "result.nc"
    from dockdyn.results.store import write_result

    write_result(dataset, path)
    again = dockdyn.open_result(path)
    page = report_html(again)
    said = text_of(page)
    for words in REPORTS[name]:
        assert words in said
    assert not re.search(r"\bnan\b|None|http", said)
    summary = dockdyn.summarise(again)
    for key in [*dataset.data_vars, *dataset.attrs, *summary, *(summary["impacts"] or [{}])[0]]:
        assert is_of_member(key) or f"`{key}`" in RESULTS, key


@pytest.mark.full
def test_a_run_that_never_arrives_says_so():
    page = report_html(run("paraskevas-a", duration="10 ms"))
    assert "There was no contact." in text_of(page)
    dataset = run("paraskevas-latch", duration="10 ms")
    assert dockdyn.summarise(dataset)["captured"] is False
    assert dockdyn.summarise(dataset)["latch.speed_margin_m_s"] is None
    assert "did not reach the latch" in text_of(report_html(dataset))


@pytest.mark.full
def test_the_command_prints_and_writes(dock, tmp_path):
    result = dock("run", "paraskevas-c", "--out", str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr
    assert "effective masses predict 0.02727 m/s" in " ".join(result.stdout.split())
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"result.nc", "scenario.toml", "report.html"}
    page = dock("report", str(tmp_path / "out" / "result.nc"), "--force")
    assert page.returncode == 0, page.stderr
    summary = json.loads(dock("run", "paraskevas-c", "--json").stdout)
    assert summary["contact.velocity_after_m_s"][0] == pytest.approx(0.0271536, abs=1e-7)
    again = dock("run", str(tmp_path / "out" / "scenario.toml"), "--json")
    assert json.loads(again.stdout)["contact.velocity_after_m_s"] == summary["contact.velocity_after_m_s"]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"body.chaser.mass": 0}, "body.chaser.mass"),
        ({"body.target.joint.stiffness": -1}, "body.target.joint.stiffness"),
        ({"body.chaser-front.velocity": "5 kg"}, "body.chaser-front.velocity"),
        ({"body.chaser-front.velocity": [0.1, 0, 0]}, "body.chaser-front.velocity"),
        ({"contact.fronts.friction": {"law": "coulomb"}}, "friction: on a line nothing is across it; must be left out"),
        ({"contact.fronts.between": ["chaser", "wall"]}, "contact.fronts.between has 'wall': no such body or port"),
        ({"contact.fronts.between": ["chaser", "chaser"]}, "both are of the body 'chaser'"),
        ({"body.chaser.attitude": [1, 0, 0, 0]}, "attitude: on a line nothing turns; must be left out, or motion be"),
        ({"body.chaser.inertia": [1, 1, 1]}, "inertia: on a line nothing turns"),
        ({"body.chaser.joint.kind": "revolute"}, "body.chaser.joint"),
        ({"orbit": {"semi_major_axis": 7e6}}, "orbit: an orbit is no line"),
        ({"motion": "ring"}, "motion = 'ring': must be one of space, plane, line"),
    ],
)
def test_wrong_chains_are_refused_in_one_line(overrides, words):
    with refused(match=words):
        dockdyn.load("paraskevas-a", overrides)


def test_fixed_steps_come_to_the_same(tmp_path):
    """Without located events, first order: the error of the velocity after falls with the step."""
    exact = dockdyn.summarise(run(**MASSES))["contact.velocity_after_m_s"][0]
    errors = []
    for step in (2e-4, 2e-5):
        dataset = run(**MASSES, **{"integrator.method": "fixed", "integrator.step": step, "duration": "0.06 s"})
        errors.append(abs(dockdyn.summarise(dataset)["contact.velocity_after_m_s"][0] - exact))
    assert errors[1] < 1e-6 and errors[1] < errors[0] / 3
    assert np.isfinite(errors).all()
