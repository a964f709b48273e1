"""What `dockdyn new` writes of a mechanism, whatever is answered: a file of a page that runs, and keeps momentum and energy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from starter_files import write_box, write_files

import dockdyn
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse
from dockdyn.scenario.starters.mechanisms import STARTERS, scenario_text
from dockdyn.scenario.starters.question import Amount, Answers, GivenFile
from dockdyn.scenario.starters.urdf_arm import LASTS

ON_RIG = [name for name, starter in STARTERS.items() if any(each.name == "rig" for each in starter.questions)]


def drawn(question, answers, files, random):
    """An answer that the question allows."""
    if isinstance(question, GivenFile):
        return files[question.name]
    if not isinstance(question, Amount):
        return str(random.choice(list(question.options(answers))))
    low, high = question.bounds(answers).least, question.bounds(answers).most
    value = math.exp(random.uniform(math.log(low), math.log(high))) if low > 0 else random.uniform(low, high)
    return repr(float(value))


def answered(name, files, chosen=None, random=None):
    """All answers to a mechanism's questions: those chosen, drawn ones, or else the usual ones."""
    answers = Answers(Path())
    for question in STARTERS[name].questions:
        if question.applies(answers):
            usual = question.usual_answer(answers) if random is None else drawn(question, answers, files, random)
            question.record((chosen or {}).get(question.name, files.get(question.name, usual)), answers)
    return answers


def text_of(name, answers):
    return scenario_text(STARTERS[name], answers)


def is_a_page(text):
    """Whether it has the lines that a page has, with the line that names the schema, and says what most of them are."""
    lines = ["#:schema", *(line for line in text.splitlines() if line.strip())]
    return 25 <= len(lines) <= 60 and sum("  # " in line for line in lines) >= 8


@pytest.mark.full_cases("0-mesh-pair", "1-urdf-arm", "2-urdf-arm", "0-urdf-arm")
@pytest.mark.parametrize("name", STARTERS)
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_answered_makes_a_page(name, seed, tmp_path, monkeypatch):
    """Each answer is within its bounds; the file is read, and as long as a page."""
    monkeypatch.chdir(tmp_path)
    answers = answered(name, write_files(tmp_path), random=np.random.default_rng([seed, len(name)]))
    text = text_of(name, answers)
    assert is_a_page(text), text
    if name != "mesh-pair" or seed == 0:  # whose grids take a while
        assert parse(text, name).title


def momentum_and_energy_are_kept(summary):
    errors = [summary[f"{key}_error"] for key in ("linear_momentum", "angular_momentum", "work_energy")]
    return max(errors) < 1e-6  # of an integrator whose tolerance is at most 1e-7


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name in STARTERS if name != "one-axis-rig"])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_answered_runs(name, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = answered(name, write_files(tmp_path), {"rig": "no"}, np.random.default_rng([seed, 7]))
    summary = dockdyn.summarise(dockdyn.simulate(parse(text_of(name, answers), name)))
    assert summary["status"] == "finished" and momentum_and_energy_are_kept(summary)


@pytest.mark.full
@pytest.mark.parametrize("name", [*ON_RIG, "one-axis-rig"])
@pytest.mark.parametrize("seed", range(2))
def test_a_rig_of_it_runs_and_is_not_driven_by_its_delay(name, seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = answered(name, write_files(tmp_path), {"rig": "yes"}, np.random.default_rng([seed, 8]))
    summary = dockdyn.summarise(dockdyn.simulate(parse(text_of(name, answers), name)))
    assert summary["status"] == "finished" and not [words for words in summary["warnings"] if "unstable" in words]


@pytest.mark.full
def test_the_inertia_of_a_mesh_is_that_of_its_solid(tmp_path, monkeypatch):
    """A box of a, b and c: m (b² + c²) / 12 about x, and so on; its port is in the middle of the face that was asked for."""
    monkeypatch.chdir(tmp_path)
    files, inch = write_files(tmp_path), 0.0254  # m
    write_box(tmp_path / "chaser.stl", (4.0, 6.0, 8.0), (1.0, -2.0, 3.0))
    write_box(tmp_path / "target.stl", (5.0, 6.0, 8.0))
    said = {"mesh-unit": "inch", "chaser-axis": "-y", "chaser-mass": "12 kg"}
    content = parse(text_of("mesh-pair", answered("mesh-pair", files, said)), "boxes").content
    squares = (inch * np.array([4.0, 6.0, 8.0])) ** 2
    chaser = content.named("chaser")
    np.testing.assert_allclose(chaser.inertia, np.diag(squares.sum() - squares), rtol=1e-6, atol=1e-9)
    port = next(port for port in chaser.port if port.name == "face")
    np.testing.assert_allclose(port.position, [0, -3 * inch, 0], atol=1e-6)
    assert list(port.axis) == [0, -1, 0]


def test_balls_have_room_in_a_thin_mesh(tmp_path, monkeypatch):
    """A fiftieth of its size is more than a plate of 4 mm takes."""
    monkeypatch.chdir(tmp_path)
    files = write_files(tmp_path)
    write_box(tmp_path / "chaser.stl", (200.0, 300.0, 100.0))
    write_box(tmp_path / "target.stl", (200.0, 300.0, 4.0))
    content = parse(text_of("mesh-pair", answered("mesh-pair", files, {"mesh-unit": "mm"})), "plate").content
    for name in ("chaser", "target"):
        (skin,), (hull,) = content.named(name).feature, content.named(name).surface
        assert 0.5e-3 < skin.radius == hull.tip_radius < 2e-3 and hull.tolerance <= skin.radius / 2


def test_the_tip_of_a_hand_is_where_it_was_said(tmp_path, monkeypatch):
    """200 mm out of the frame of the hand, whose centre of mass is 50 mm along x, is 150 mm from that."""
    monkeypatch.chdir(tmp_path)
    files = write_files(tmp_path)
    content = parse(text_of("urdf-arm", answered("urdf-arm", files, {"hand-reach": "200 mm"})), "arm").content
    (tip,) = content.named("arm.hand").feature
    np.testing.assert_allclose(tip.position, [0.15 - tip.radius, 0, 0], atol=1e-6)


def test_a_contact_on_a_rig_may_not_be_stiffer_than_its_delay_lets_it(tmp_path):
    """Half a swing, π √(m/k), lasts for 30 times delay and cycle: a damping ratio of 0.07 then outweighs both."""
    answers = Answers(Path())
    refused = ""
    for question in STARTERS["probe-cone"].questions:
        if not question.applies(answers):
            continue
        if question.name == "stiffness":
            mass = 1800 * 3200 / 5000  # kg
            question.record(f"{0.99 * mass * (math.pi / (30 * 0.044)) ** 2}", answers)
            with pytest.raises(ScenarioError) as error:
                question.record(f"{1.01 * mass * (math.pi / (30 * 0.044)) ** 2}", answers)
            refused = str(error.value)
        else:
            question.record(
                {"rig": "yes", "delay": "40 ms"}.get(question.name, question.usual_answer(answers)), answers
            )
    assert refused.startswith("must be a stiffness of at least")


def test_the_stiffness_of_an_arm_s_hand_is_of_all_that_it_moves(tmp_path, monkeypatch):
    """Stretched along the docking axis the arm passes a push on: spacecraft and arm against the payload, not the hand alone."""
    monkeypatch.chdir(tmp_path)
    answers = answered("urdf-arm", write_files(tmp_path))
    arm = 1800.0 + sum(answers.files["urdf"].masses.values())
    stretched = arm * 400.0 / (arm + 400.0)
    assert 0.97 * stretched < answers["stiffness"] * (LASTS / math.pi) ** 2 <= 1.001 * stretched
