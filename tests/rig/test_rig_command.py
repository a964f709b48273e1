"""`dockdyn run` of a rig as a user sees it: summary, files, report, what it recommends; against numbers worked out by hand."""

import json
import re

import numpy as np
import pytest
from places import results_pages
from scipy.stats import chi2

import dockdyn
from dockdyn import open_result, programs
from dockdyn.pages import report_of
from dockdyn.rig.first_screen import rig_headline
from dockdyn.rig.report import measure_rows
from dockdyn.rig.summary import recommend_compensator

SWING = ("run", "sits", "--set", "duration=10 s")
ISSUE = {  # keys that a rig adds to the summary
    *("amplitude_ratio", "phase_error_rad", "peak_force_error_N", "end_force_error_N", "end_velocity_error_m_s"),
    *("recovery_coefficient", "apparent_restitution", "ideal_restitution", "compensator", "spectral_radius"),
    "stiffness_N_m",
}


@pytest.fixture(scope="module")
def swing():
    """Ten seconds of the rig of the SITS paper without a compensator."""
    return dockdyn.simulate(dockdyn.load("sits", {"duration": "10 s"}))


@pytest.mark.full
def test_summary_of_a_swing_is_what_theory_says(swing):
    found = dockdyn.summarise(swing)
    assert set(found) >= ISSUE
    assert found["compensator"] == "none" and found["warnings"]
    # exact growth of the loop, 0.0410995 1/s, over the contact's own decay of B/2m; the last oscillation is 0.993 s long
    rate = 0.0410995 + 50 / (2 * 500)
    assert np.exp(rate * 9) < found["amplitude_ratio"] < np.exp(rate * 10)
    assert found["phase_error_rad"] == pytest.approx((6.32599 - np.sqrt(40 - 0.05**2)) * 10, abs=3e-3)
    assert found["ideal_restitution"] == pytest.approx(np.exp(-0.05 * np.pi / np.sqrt(40)), rel=1e-4)
    assert found["apparent_restitution"] == pytest.approx(np.exp(0.0410995 * np.pi / np.sqrt(40)), rel=1e-3)
    assert np.log(found["spectral_radius"]) / 4e-3 == pytest.approx(0.0410995, rel=1e-4)
    assert found["amplitude_bound"] == pytest.approx(np.exp(0.0410995 * 10), rel=1e-4)
    assert found["stiffness_N_m"] == 20000 and found["effective_mass_kg"] == 500
    # without a compensator the sensor tells what acts on the model: of 500 kg at 50 mm/s or less, growing as above
    true = 0.05 * np.sqrt(20000 * 500)  # N, of an undamped swing
    measured = found["peak_measured_force_N"]
    assert measured == pytest.approx(true * np.exp(0.0410995 * 19.5 * np.pi / 6.326), rel=0.01)
    assert measured - found["peak_force_error_N"] == pytest.approx(true * np.exp(-0.05 * np.pi / 2 / 40**0.5), rel=2e-3)


@pytest.mark.full
def test_the_delay_budget_is_that_of_the_parts(swing):
    found = dockdyn.summarise(swing)
    budget = found["delay_budget_ms"]
    s = 1j * np.sqrt(40)  # 1/s, at the contact's own frequency
    robot = 326.4756 * (s + 206.5679) / ((s + 181.7836) ** 2 + 185.4564**2)
    lag = -np.angle(robot) / np.sqrt(40) * 1e3
    assert budget == pytest.approx({"sensor": 2.0, "hold": 2.0, "robot": lag}, rel=1e-9)
    assert found["delay_total_ms"] == pytest.approx(4 + lag, rel=1e-9)
    # to first order a delay acts as −K τ of damping: half a swing multiplies the speed by exp(π ω τ/2)
    assert found["delay_restitution"] == pytest.approx(np.exp(np.pi * np.sqrt(40) * (4 + lag) * 1e-3 / 2), rel=2e-3)


@pytest.mark.full
def test_digital_dynamics_and_jitter_are_in_the_budget(monkeypatch):
    """And of a run with random numbers, XLA makes them alone."""
    monkeypatch.setattr(programs, "refused", {})
    changes = {
        "duration": "1 s",
        "loop.sensor.period": "4 ms",
        "loop.sensor.jitter": "1 ms",
        "loop.dynamics.period": "2 ms",
        "loop.dynamics.method": "explicit-euler",
    }
    found = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sits", changes)))["delay_budget_ms"]
    assert programs.refused == {}
    known = {"sensor": 2.0, "sampling": 1.0, "jitter": 0.5, "integrator": 2.0}
    assert {name: late for name, late in found.items() if name in known} == pytest.approx(known, rel=1e-9)
    assert set(found) == {*known, "hold", "robot"} and 0.0 < found["hold"] < 4.0  # read in step with it


def test_every_variable_key_and_attribute_is_documented(swing):
    text = results_pages()
    rig = text.split("\n## Rig\n")[1].split("\n## ")[0]
    for name, variable in swing.data_vars.items():
        (row,) = [line for line in rig.splitlines() if line.startswith("|") and f"`{name}`" in line.split("|")[1]]
        assert variable.attrs["units"] in [unit.strip() for unit in row.split("|")[3].split(",")], name
        assert variable.attrs["long_name"]
    for name in {*swing.attrs, *dockdyn.summarise(swing)}:
        assert f"`{name}`" in text, name


@pytest.mark.full
def test_command_writes_what_can_be_read_and_shown_again(dock, tmp_path):
    code, out, err = dock(*SWING, "--out", "swing")
    assert code == 0, err
    words = " ".join(out.split())
    assert (
        "Without a compensator the loop is unstable, and the amplitude at the end is" in words
        and "dockdyn compare" in words
    )
    assert "warning: the loop is unstable" in words
    folder = tmp_path / "swing"
    assert sorted(file.name for file in folder.iterdir()) == ["report.html", "result.nc", "scenario.toml"]
    page = (folder / "report.html").read_text()
    for heading in ("What to do", "Where the delay comes from", "The rig beside the contact without rig"):
        assert heading in page
    assert dock("report", "swing/result.nc", "--out", "again.html")[0] == 0
    assert (tmp_path / "again.html").read_text() == page
    stored = open_result(folder / "result.nc")
    assert dockdyn.summarise(stored)["amplitude_ratio"] > 2
    again = dock("run", folder / "scenario.toml", "--json")
    assert json.loads(again.stdout)["amplitude_ratio"] == dockdyn.summarise(stored)["amplitude_ratio"]


@pytest.mark.full
def test_gains_visited_and_their_stability_are_told(dock):
    """A gain of 30 N s/m is below the 41.07 that stabilise, by the exact map and by Routh's table alike."""
    gain = ("--set", "loop.compensator={law='linear-gain', gain=30, slope=3}", "--set", "duration=10 s")
    code, out, err = dock("run", "sits", *gain, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["gain_lowest_N_s_m"], found["gain_highest_N_s_m"]) == pytest.approx((30, 60), abs=0.05)
    assert found["gain_range_stable"] == {"exact": [False, True], "routh": [False, True]}
    assert [line for line in found["warnings"] if "at a gain of 30" in line]
    assert "identif" not in found["recommendation"] and "dockdyn compare" in found["recommendation"]


@pytest.mark.full
def test_what_serves_is_kept_and_what_drifts_is_named():
    """A matched gain keeps the amplitude and lets the phase drift: 0.117 rad in a minute.

    By the eigenvalues of the rig's map over a cycle, 6.326304 rad/s beside the contact's own 6.324358.
    """
    matched = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sits-fgc")))
    assert matched["amplitude_ratio"] == pytest.approx(1, abs=5e-3)
    assert matched["phase_error_rad"] == pytest.approx(60 * (6.326304 - 6.324358), abs=2e-3)
    assert "the amplitude is right and the phase 0.12" in matched["recommendation"]
    good = dockdyn.summarise(dockdyn.simulate(dockdyn.load("unknown-stiffness")))
    assert good["amplitude_ratio"] == pytest.approx(1, abs=0.02)
    assert good["recommendation"].startswith("With lead-energy this run is within 2 %")


def test_a_robot_without_unit_gain_and_a_run_without_contact_are_warned_of():
    changes = {"duration": "2 s", "contact.spring.bilateral": False, "body.target.position": -1.0}
    changes |= {"loop.robot.gain": 300.0, "stability": {"time": 0, "closed": ["spring"]}}
    found = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sits", changes)))
    words = " ".join(found["warnings"])
    assert "gain at rest is 0.91" in words and "no contact" in words
    assert found["apparent_restitution"] is None and found["ideal_restitution"] is None


@pytest.mark.full
def test_an_error_of_force_that_is_the_sensors_says_so():
    """In free flight after the bounce nothing acts but what the sensor makes up; the error of the peak is the delay's."""
    sensor = {"delay": "20 ms", "noise": 0.3, "bias": 0.2}
    changes = {"contact.spring.bilateral": False, "duration": "1.2 s", "loop.sensor": sensor}
    run = dockdyn.simulate(dockdyn.load("unknown-stiffness", {**changes, "loop.compensator.law": "force-lead"}))
    found = dockdyn.summarise(run)
    assert found["sensor_error_N"] == pytest.approx(0.3 * chi2.isf(0.01 / run.sizes["time"], 1) ** 0.5 + 0.2, rel=1e-12)
    late = run.time > 1.0
    measured = float(np.abs(run.measured_force.values[late]).max())
    assert 0.5 < measured <= found["sensor_error_N"] < abs(found["peak_force_error_N"])
    bare = {**found, "end_force_error_N": measured}
    for error, words in ((found["sensor_error_N"], "largest error of force at the end: the sensor’s own"), (0.0, "")):
        rows = [row[0] for row in measure_rows({**bare, "sensor_error_N": error}).rows]
        assert (words or "largest error of force at the end") in rows
        assert "largest force on the model, rig less that without rig" in rows


@pytest.fixture(scope="module")
def in_space(tmp_path_factory):
    """A first bounce of probe and cone on the rig in space."""
    changes = {"approach.distance": "0 m", "approach.lateral_offset": [0.16, -0.08], "duration": "5.5 s"}
    return dockdyn.simulate(dockdyn.load("epos-like", changes))


@pytest.mark.full
def test_a_bounce_in_space_shows_too_much_restitution(in_space):
    found = dockdyn.summarise(in_space)
    assert set(in_space.data_vars) >= {"model_pose", "robot_pose", "ideal_pose"}
    ideal, apparent = found["ideal_restitution"], found["apparent_restitution"]
    # 16 ms of delay, 2 of the hold and 2 of the integrator against the stiffness, to first order
    late = 20e-3 * np.sqrt(found["stiffness_N_m"] / found["effective_mass_kg"]) * np.pi / 2
    assert apparent / ideal == pytest.approx(np.exp(late), rel=0.03)
    from dockdyn.pages import report_html

    page = report_html(in_space)
    assert len(re.findall("<figure ", page)) == 6 and "Way of the point that touches" in page


UNSTABLE = [
    ("epos-like", {"duration": "13 s"}, "Without a compensator the loop is unstable, and a bounce shows restitution"),
    (
        "sits-lgc",
        {"loop.compensator.slope": -60.0},
        "With linear-gain the loop is unstable at a gain that the run visits, and the amplitude at the end is",
    ),
]


@pytest.mark.full_cases("a bounce", "a gain that is visited")
@pytest.mark.parametrize(("preset", "changes", "words"), UNSTABLE, ids=["a bounce", "a gain that is visited"])
def test_the_line_under_the_title_says_that_the_loop_is_unstable(preset, changes, words):
    assert_alarming(dockdyn.simulate(dockdyn.load(preset, {"duration": "5 s", **changes})), words)


def test_so_it_does_without_a_contact_that_ends(swing):
    assert_alarming(swing, "Without a compensator the loop is unstable, and the amplitude at the end is")


def assert_alarming(dataset, words):
    found = report_of(dataset)
    assert found.verdict.startswith(words) and found.alarming
    assert [warning for warning in found.warnings if warning.startswith("the loop is unstable")]


@pytest.mark.full
def test_what_a_compensator_takes_back_is_not_called_unstable():
    """Passivity acts on energy that has come in: of small motions the loop is that without it."""
    energy = {"law": "passivity"}
    found = report_of(dockdyn.simulate(dockdyn.load("sits", {"duration": "5 s", "loop.compensator": energy})))
    assert found.verdict.startswith("With passivity the amplitude at the end is") and not found.alarming
    assert "but for what passivity takes back" in " ".join(found.warnings)


@pytest.mark.full_cases("sits-fgc", "unknown-stiffness")
@pytest.mark.parametrize("preset", ["sits-fgc", "unknown-stiffness"])
def test_a_motion_that_fades_or_lasts_is_not_unstable(preset):
    """The undamped contact of the one, its delay made up for, has a spectral radius of 1 but for round-off."""
    found = report_of(dockdyn.simulate(dockdyn.load(preset, {"duration": "5 s"})))
    assert "unstable" not in " ".join([found.verdict, *found.warnings]) and not found.alarming


@pytest.mark.full
def test_without_a_contact_the_run_names_the_duration(dock):
    """What judges a rig needs a contact; who runs one has not asked for margins."""
    for command in ("run", "stability"):
        code, out, err = dock(command, "epos-like", "--set", "duration=0.2 s")
        assert (code, out) == (2, "") and err.startswith("error: epos-like: duration = 0.2 s: no contact within it, ")
        ways = "state stability.closed and stability.time, or stability.distance along a cone's wall"
        assert err.endswith(f"; must be longer, or {ways}\n")


def test_a_true_first_bounce_does_not_hide_what_is_off_after_it(in_space):
    """A bounce that is right, beside forces and later bounces that are not, is said to be no more than that."""
    found = dockdyn.summarise(in_space)
    force = float(np.linalg.norm(in_space.ideal_force.values, axis=1).max())
    right = {**found, "status": "finished", "apparent_restitution": 1.01 * found["ideal_restitution"]}
    right |= {"spectral_radius": 0.99, "peak_force_error_N": 0.05 * force, "amplitude_ratio": 0.95}
    assert rig_headline(in_space, right) == "Stable loop, first bounce true to 1 %"
    assert "this run is within 2 %" in recommend_compensator(in_space, right)
    off = {**right, "peak_force_error_N": 0.5 * force, "amplitude_ratio": 0.7}
    assert rig_headline(in_space, off) == "Stable loop, first bounce true to 1 %, largest force 50 % too high"
    words = recommend_compensator(in_space, off)
    assert "the first bounce is within 2 %" in words
    assert "But its largest force is 50 % too high, its speed at the end is 30 % too low." in words
