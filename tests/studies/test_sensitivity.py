"""Derivatives of figures: closed forms, differences, where there is none, the command, refusals."""

import cmath
import json
import math
import re

import numpy as np
import pytest
from on_a_line import colliding
from two_bodies import two_bodies

import dockdyn
from dockdyn.studies.cases.batch import run_cases
from dockdyn.studies.objectives import sampled
from dockdyn.studies.sensitivity.report import sensitivity_lines

SPEED, STIFFNESS, CHASER, TARGET = 0.07, 4200.0, 12.0, 31.0
LAW = {"law": "spring-dashpot", "stiffness": STIFFNESS}
REBOUND = colliding([CHASER], [TARGET], LAW, speed=SPEED, gap=0.01, duration=0.6)
VELOCITY, PLACE, FRONT = "body.chaser.velocity", "body.chaser.position", "body.chaser-front.velocity"


def by_key(answer):
    return {row["key"]: row for row in answer["to"]}


@pytest.mark.full
def test_lossless_rebound_in_closed_form():
    """F = v √(k m), m = m₁ m₂/(m₁ + m₂): ∂F/∂v = F/v, ∂F/∂k = F/2k, ∂F/∂m₁ = F/2m (m₂/(m₁ + m₂))²; the gap has no part."""
    answer = dockdyn.sensitivity(dockdyn.load(REBOUND), "peak_force_N")
    mass = CHASER * TARGET / (CHASER + TARGET)
    force = SPEED * math.sqrt(STIFFNESS * mass)
    assert answer["value"] == pytest.approx(force, rel=1e-9)
    assert answer["unit"] == "N"
    expected = {
        VELOCITY: (force / SPEED, "m/s"),
        "contact.fronts.normal.stiffness": (force / (2 * STIFFNESS), "N/m"),
        "body.chaser.mass": (force / (2 * mass) * (TARGET / (CHASER + TARGET)) ** 2, "kg"),
        "body.target.mass": (force / (2 * mass) * (CHASER / (CHASER + TARGET)) ** 2, "kg"),
    }
    rows = by_key(answer)
    for key, (derivative, unit) in expected.items():
        assert rows[key]["derivative"] == pytest.approx(derivative, rel=1e-7), key
        assert rows[key]["per_percent"] == pytest.approx(0.01 * derivative * rows[key]["value"], rel=1e-7)
        assert rows[key]["unit"] == unit
        assert rows[key]["differentiable"] is True
    assert abs(rows[PLACE]["derivative"]) < 1e-6 * force
    assert [row["key"] for row in answer["to"]][:2] == [VELOCITY, "contact.fronts.normal.stiffness"]
    assert answer["warnings"] == []
    assert answer["differentiable"] is True


def capture_time(speed, place, stiffness, angle, seat, chaser, target):
    """Free drift, then part of a sine: t = g/v + asin(ω l/v)/ω, ω = √(k/m) tan θ (Paraskevas et al., eqs. 40–45).

    The ramp of 20 mm ends at the seat.
    """
    frequency = cmath.sqrt(stiffness * (chaser + target) / (chaser * target)) * cmath.tan(angle)
    return (seat - 0.02 - place) / speed + cmath.asin(frequency * 0.02 / speed) / frequency


@pytest.mark.full
def test_time_of_capture_in_closed_form():
    """Derivatives by complex steps."""
    numbers = {
        VELOCITY: 0.11,
        PLACE: -0.01,
        "latch.capture.ramp.stiffness": 100.0,
        "latch.capture.ramp.angle": math.pi / 4,
        "latch.capture.anchor.1": 0.02,
        "body.chaser.mass": 15.0,
        "body.target.mass": 17.0,
    }
    scenario = dockdyn.load("paraskevas-latch", {VELOCITY: 0.11})
    answer = dockdyn.sensitivity(scenario, "capture_time_s", list(numbers))
    own = list(numbers.values())
    assert answer["value"] == pytest.approx(capture_time(*own).real, rel=1e-9)
    rows = by_key(answer)
    assert set(rows) == set(numbers)
    for index, key in enumerate(numbers):
        stepped = [value + (1e-30j if index == other else 0) for other, value in enumerate(own)]
        assert rows[key]["derivative"] == pytest.approx(capture_time(*stepped).imag / 1e-30, rel=1e-6), key


FREE = {"duration": "9 s", "approach.distance": "5 mm", "loop.delay": "20 ms"}


@pytest.mark.full
@pytest.mark.parametrize("figure", ["peak_force_N", "kinetic_energy_end_J"])
def test_with_friction_and_delay_as_by_central_differences(figure):
    scenario = dockdyn.load("probe-cone", FREE)
    answer = dockdyn.sensitivity(scenario, figure)
    rows = by_key(answer)
    assert answer["differentiable"] is True
    assert all(rows[key]["derivative"] for key in ("approach.closing_speed", "body.chaser.mass", "loop.delay"))
    ranked = [abs(row["per_percent"]) for row in answer["to"]]
    assert ranked == sorted(ranked, reverse=True)
    keys = [
        "approach.closing_speed",
        "body.chaser.mass",
        "contact.probe.normal.stiffness",
        "contact.probe.normal.damping",
    ]
    keys += [
        "contact.probe.friction.coefficient",
        "loop.delay",
        "body.target.surface.cone.half_angle",
        "approach.lateral_offset.0",
    ]
    own = np.array([rows[key]["value"] for key in keys])
    steps = 1e-4 * np.abs(own)
    cases = [own + weight * step for step in np.diag(steps) for weight in (-2, -1, 1, 2)]
    found = run_cases(scenario, keys, np.array(cases)).figures[figure].reshape(-1, 4)
    differences = found @ [1 / 12, -2 / 3, 2 / 3, -1 / 12] / steps
    for key, difference in zip(keys, differences, strict=True):
        derivative = rows[key]["derivative"]
        assert derivative == pytest.approx(difference, rel=1e-5), key


# --- where there is no derivative -----------------------------------------------------------------------------------


@pytest.mark.full
def test_a_capture_at_its_limit_has_none():
    """At √(k/m) tan θ l the probe reaches the end of the ramp with no speed left."""
    least = 0.02 * math.sqrt(100 * (1 / 15 + 1 / 17))
    scenario = dockdyn.load("paraskevas-latch", {VELOCITY: least * (1 + 3e-7), "duration": 2.0})
    answer = dockdyn.sensitivity(scenario, "capture_time_s", [VELOCITY, PLACE])
    rows = by_key(answer)
    assert answer["differentiable"] is False
    assert rows[VELOCITY]["differentiable"] is False
    assert "whether the latch captures changes" in rows[VELOCITY]["reason"]
    assert rows[PLACE]["differentiable"] is True
    assert rows[PLACE]["derivative"] == pytest.approx(-1 / least, rel=1e-6)


@pytest.mark.full
def test_a_figure_bent_sharply_says_how_far_it_holds():
    answer = dockdyn.sensitivity(dockdyn.load("paraskevas-latch"), "capture_time_s", [VELOCITY])
    (row,) = answer["to"]
    assert row["differentiable"] is True
    assert "holds for small changes only" in row["reason"]


def passing(above):
    """A point that passes along a plane, so high above it (m)."""
    body = {"mass": 100, "inertia": [10, 10, 10]}
    return {
        "title": "Passing",
        "schema": 2,
        "duration": 1.0,
        "chaser": body
        | {"position": [1 + above, 0, 0], "velocity": [0, 0.1, 0], "feature": {"tip": {"position": [-1, 0, 0]}}},
        "target": body
        | {"position": [0, 0, 0], "surface": {"wall": {"shape": "plane", "point": [0, 0, 0], "normal": [1, 0, 0]}}},
        "contact": {
            "tip": {"between": ["tip", "wall"], "normal": {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10}}
        },
    }


@pytest.mark.full
@pytest.mark.parametrize(("above", "smooth"), [(1e-9, False), (1e-3, True)])
def test_a_contact_about_to_appear(above, smooth, tmp_path):
    import tomlkit

    file = tmp_path / "passing.toml"
    file.write_text(tomlkit.dumps(two_bodies(passing(above))))
    answer = dockdyn.sensitivity(dockdyn.load(file), "peak_force_N")
    assert answer["value"] == 0
    rows = by_key(answer)
    assert answer["differentiable"] is smooth
    assert rows["body.chaser.position.0"]["differentiable"] is smooth
    if not smooth:
        assert "the number of contacts changes" in rows["body.chaser.position.0"]["reason"]
    assert rows["body.chaser.mass"]["differentiable"] is True
    assert rows["body.chaser.mass"]["derivative"] == 0


@pytest.mark.full
def test_two_equal_peaks(tmp_path):
    """Two tips meet a wall at once: farther out, either one meets it harder, and nearer in the other does."""
    import tomlkit

    content = passing(0.01)
    content["chaser"] |= {"velocity": [-0.1, 0, 0], "feature": {}}
    content["contact"] = {}
    for name, side in (("upper", 1.0), ("lower", -1.0)):
        content["chaser"]["feature"][name] = {"position": [-1, side, 0]}
        law = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 10}
        content["contact"][name] = {"between": [name, "wall"], "normal": law}
    file = tmp_path / "two.toml"
    file.write_text(tomlkit.dumps(two_bodies(content)))
    to = ["body.chaser.feature.upper.position.0", "body.chaser.velocity.0"]
    rows = by_key(dockdyn.sensitivity(dockdyn.load(file), "peak_force_N", to))
    assert rows[to[0]]["differentiable"] is False
    assert "two peaks are equally high" in rows[to[0]]["reason"]
    down, up = rows[to[0]]["differences"]
    assert down * up < 0
    assert rows[to[1]]["differentiable"] is True


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_command_ranks_and_writes(dock, tmp_path):
    options = ("--of", "peak_force_N", "--to", FRONT, "--to", "contact.fronts.normal.stiffness")
    code, out, err = dock("sensitivity", "paraskevas-a", *options, "--out", "answer")
    assert code == 0, err
    assert out.index(FRONT) < out.index("contact.fronts.normal.stiffness")
    assert "N/(m/s)" in out
    assert sorted(file.name for file in (tmp_path / "answer").iterdir()) == [
        "report.html",
        "scenario.toml",
        "sensitivity.json",
    ]
    code, out, _ = dock("sensitivity", "paraskevas-a", *options, "--json")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "answer" / "sensitivity.json").read_text())
    table = next(iter(sensitivity_lines(json.loads(out)))).table
    assert max(table.worded) < len(table.columns)  # which are fewer than those of the page
    assert [row["key"] for row in json.loads(out)["to"]] == [FRONT, "contact.fronts.normal.stiffness"]


@pytest.mark.full_cases(
    "arguments4---of capture_time_s: did not happen in this run", "arguments0-did you mean 'peak_measured_force_N'"
)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sits", "--of", "peak_mesured_force_N"), "did you mean 'peak_measured_force_N'"),
        (("paraskevas-a", "--of", "top_force"), "--of top_force: no such figure"),
        (
            ("paraskevas-a", "--set", "requirements.peak_force=< 1 kN", "--of", "requirements.0.value"),
            "--of requirements.0.value: no such figure",  # under its own name it has its unit
        ),
        (("probe-cone", "--of", "contact.count"), "--of contact.count: does not vary smoothly"),
        (("paraskevas-latch-slow", "--of", "capture_time_s"), "--of capture_time_s: did not happen in this run"),
        (("paraskevas-a", "--of", "peak_force_N", "--to", "mass"), "mass: unknown key"),
        (("paraskevas-a", "--of", "peak_force_N", "--to", "contact.fronts.between"), "contact.fronts.between"),
        (
            ("paraskevas-a", "--of", "peak_force_N", "--to", "duration"),
            "--to duration: has no part in the motion",
        ),
        (("paraskevas-a", "--of", "peak_force_N", "--to", FRONT, "--to", FRONT), "given twice"),
        (
            ("sazawal-spring-dashpot", "--of", "peak_force_N", "--to", "body.chaser.attitude.0"),
            "cannot change alone, as part of a unit quaternion",
        ),
        (
            ("probe-cone", "--of", "peak_force_N", "--set", "integrator.method=fixed"),
            "integrator.method = 'fixed': must be \"located\"",
        ),
    ],
)
def test_bad_input_is_one_line(dock, arguments, words):
    code, out, err = dock("sensitivity", *arguments)
    assert code == 2, out
    assert err.count("\n") == 1
    assert words in err


def test_the_runs_that_a_figure_over_cases_takes_are_told_before(dock, monkeypatch):
    """As many as are run: each case with its derivatives, and those that differences are taken of."""
    taken = []
    evaluated = sampled.evaluate_rows
    monkeypatch.setattr(sampled, "evaluate_rows", lambda *given: taken.append(len(given[3])) or evaluated(*given))
    spread = ("--set", FRONT + '={"distribution"="uniform","low"="0.05 m/s","high"="0.1 m/s"}')
    more = ("--set", "campaign.runs=4", "--to", "contact.fronts.normal.stiffness", "--to", "body.chaser-front.position")
    code, _, err = dock("sensitivity", "paraskevas-a", "--of", "95 % of peak_force_N", *spread, *more)
    assert code == 0, err
    told = re.search(r"note: 95 % of peak_force_N takes (\d+) to (\d+) runs, (\d+) cases with each of 2", err)
    least, most, cases = map(int, told.groups())
    assert least <= cases + sum(taken) <= most


@pytest.mark.full
def test_an_approach_on_the_axis_is_told_what_to_do():
    found = dockdyn.sensitivity("idss-probe-cone", "peak_force_N", "approach.lateral_offset.0")
    assert found["to"][0]["derivative"] is None
    assert "state an offset by --set" in found["warnings"][0] and "--smooth 0.05" in found["warnings"][0]
