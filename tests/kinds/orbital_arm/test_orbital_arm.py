"""The kind `orbital-arm` in use: presets, reports, documentation, refusals."""

import math
import re

import numpy as np
import pytest
from places import DOCS

import dockdyn
from dockdyn.kinds.orbital_arm.snapshots import instants
from dockdyn.pages import report_html

RESULTS = (DOCS / "results.md").read_text(encoding="utf-8")
LENGTHS = (1.84, 1.84, 0.736)  # m, of the links of Gibson and Murphey's arm here


def tip(angles):
    """Where the arm ends, station axes (m)."""
    absolute = np.cumsum(angles)
    return np.array([np.dot(LENGTHS, np.cos(absolute)), np.dot(LENGTHS, np.sin(absolute))])


@pytest.fixture(scope="module")
def docking(shared_run):
    return shared_run("gibson-2d")


@pytest.fixture(scope="module")
def retreat():
    return dockdyn.simulate(dockdyn.load("gibson-2d-retreat"))


def test_the_payload_meets_the_bay_twice_when_the_paper_says(docking):
    """12.50 and 27.51 s are printed; an independent integration with these data gives 12.491 and 27.495 s."""
    found = dockdyn.summarise(docking)["impacts"]
    assert [impact["time_s"] for impact in found] == pytest.approx([12.491, 27.495], abs=2e-3)
    for impact in found:
        assert impact["approach_speed_m_s"] > 0 and impact["impulse_N_s"] > 0
        assert abs(impact["energy_loss_J"]) < 1e-9  # elastic
        assert impact["impulse_tangential_N_s"] == 0
    assert float(docking.gap.min()) > -1e-9


def test_what_is_conserved_and_what_newton_takes(docking):
    summary = dockdyn.summarise(docking)
    assert summary["status"] == "finished" and not summary["warnings"]
    assert summary["angular_momentum_error"] < 1e-10
    assert summary["energy_error"] < 1e-6
    assert 2 <= summary["newton_iterations_mean"] <= summary["newton_iterations_max"] <= 10
    assert summary["microseconds_per_step"] > 0
    assert set(summary["final"]) == {"theta", "psi", "alpha", "beta"}
    assert summary["steps"] == 4002 and docking.sizes["time"] == 4001  # two steps are cut by an impact


def test_momentum_changes_by_what_gravity_gave(docking):
    """Impacts are between parts of the arm and the station, so nothing else does."""
    momentum = docking.linear_momentum.values
    np.testing.assert_allclose(momentum - momentum[0], docking.gravity_impulse.values, atol=1e-12)


def test_angles_place_the_payload(docking):
    """Places in the dataset are those of the arm's lengths and angles, and gaps those of the walls."""
    at = np.array([tip(angles) for angles in docking.joint_angle.values[::400]])
    np.testing.assert_allclose(docking.contact_place.values[::400, 0, :2], at, atol=1e-12)
    gaps = docking.gap.sel(contact=["payload/side wall", "payload/floor"]).values[::400]
    np.testing.assert_allclose(gaps, at - [-4.002608, -1.210199], atol=1e-12)


@pytest.mark.full
def test_the_latch_holds_the_payload_and_the_arm_goes_back(docking, retreat):
    summary = dockdyn.summarise(retreat)
    caught = [impact for impact in summary["impacts"] if impact["latch"]]
    assert summary["captured"] and len(caught) == 1
    assert summary["capture_time_s"] == caught[0]["time_s"]
    assert summary["release_time_s"] == pytest.approx(summary["capture_time_s"] + 5, abs=1e-9)
    after = retreat.sel(time=slice(summary["capture_time_s"], None))
    assert np.ptp(after.contact_place.values, axis=0).max() < 1e-9
    end = retreat.isel(time=-1)
    assert np.linalg.norm(tip(end.joint_angle.values) - end.contact_place.values[0, :2]) > 1
    assert summary["angular_momentum_error"] < 1e-10  # also where the payload changes hands
    before = slice(0, summary["impacts"][0]["time_s"] - 0.1)  # until then both are one motion
    np.testing.assert_allclose(
        retreat.sel(time=before).joint_angle, docking.interp(time=retreat.sel(time=before).time).joint_angle, atol=1e-9
    )


@pytest.mark.full
def test_report_and_documentation(retreat):
    page = report_html(retreat)
    said = re.sub(r"<(svg|style|script).*?</\1>", " ", page, flags=re.S)
    said = " ".join(re.sub(r"<[^>]+>", " ", said).split())
    for words in (
        "Latched at",
        "released at",
        "side wall",
        "floor (latch)",
        "Newton’s corrections",
        "Joint angles",
        "psi",
    ):
        assert words in said, words
    assert not re.search(r"\bnan\b|None|http", said)
    assert "released" in re.sub(r"<[^>]+>", "", page)
    shown = [words for _, words in instants(retreat)]
    assert shown[0] == "start" and shown[-1] == "end" and "latched, floor" in shown and "released" in shown
    summary = dockdyn.summarise(retreat)
    for key in [*retreat.data_vars, *retreat.attrs, *retreat.sizes, *summary, *summary["impacts"][0]]:
        assert f"`{key}`" in RESULTS, key


@pytest.mark.full
def test_the_command_runs(dock, tmp_path):
    result = dock("run", "gibson-2d", "--set", "duration=14 s", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert "1 impact at 12.49 s" in said and "at 14 s: theta" in said and "Newton's corrections a step" in said
    assert (tmp_path / "out" / "report.html").exists()
    again = dockdyn.open_result(tmp_path / "out" / "result.nc")
    assert dockdyn.load(tmp_path / "out" / "scenario.toml").text() == again.attrs["scenario"]
    assert dock("report", tmp_path / "out" / "result.nc", "--force").returncode == 0


def test_without_orbit_and_contact_momentum_stays():
    overrides = {"duration": "5 s", "arm.rate": [0, 0, 0.01], "control": {"law": "none"}, "output.interval": "0.1 s"}
    content = dockdyn.load("gibson-2d", overrides).resolved()
    for table in ("orbit", "contact"):
        del content[table]
    import tomlkit

    from dockdyn.scenario.load import parse

    dataset = dockdyn.simulate(parse(tomlkit.dumps(content), "free"))
    summary = dockdyn.summarise(dataset)
    assert dataset.sizes["time"] == 51 and "gap" not in dataset
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-12
    assert summary["captured"] is None and summary["impacts"] == []
    assert "Figure 1" in report_html(dataset)


@pytest.mark.full
def test_an_arm_of_real_dimensions_swings_for_minutes():
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load("canadarm-2d")))
    assert summary["status"] == "finished"
    assert (
        len(summary["impacts"]) > 2 and summary["impacts"][-1]["time_s"] > 300
    )  # the paper's gains would hold no such arm


@pytest.mark.full
def test_six_joints_stow_a_pallet():
    dataset = dockdyn.simulate(dockdyn.load("canadarm-3d"))
    summary = dockdyn.summarise(dataset)
    assert summary["status"] == "finished" and summary["captured"]
    assert {impact["surface"] for impact in summary["impacts"]} >= {"floor"}
    assert summary["impacts"][-1]["latch"]
    goal = np.radians([-27.759, -51.493, 67.989, 73.504, 0, -50.677])
    assert np.abs(dataset.joint_angle.values[-1] - goal).max() < math.radians(2)
    assert "from above" in report_html(dataset)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"control.stiffness": [1, 2]}, "2 entries for 3 joints"),
        ({"control.phase.hold.set_point": [1]}, "1 entries for 3 joints"),
        ({"control.phase.hold.until": "soon"}, 'or "latched"'),
        ({"control.phase.dock.until": "5 s"}, "retreat.release"),
        ({"control.phase.retreat.until": "5 s"}, "last phase"),
        ({"control.phase.dock.release": True}, "dock.release"),
        ({"latch.surface": "flor"}, "did you mean 'floor'"),
        ({"contact.link": "pay"}, "did you mean 'payload'"),
        ({"contact.link": "station"}, "carries the surfaces"),
        ({"contact.surface.floor.name": "side wall"}, "names must differ"),
        ({"impact.law": "newton"}, "needs friction"),
        ({"impact.law": "variational"}, "has no restitution"),
        ({"impact.restitution": 2}, "impact.restitution = 2"),
        ({"orbit.eccentricity": 1.2}, "less than 1"),
        ({"orbit.semi_major_axis": "5 kg"}, "a length"),
        ({"output.interval": "15 ms"}, "multiple of integrator.step"),
        ({"arm.link.link1.axis": [1, 0, 0]}, "planar"),
        ({"arm.link.link1.beam": {"length": 2, "mass": 2, "bending": 3}}, "rigid"),
        ({"arm.link.link1.joint": "spherical", "arm.link.link1.start": [0, 0, 1]}, "spherical"),
        ({"arm.link.payload.inertia": [1, 1, 1]}, "must be 'weld'"),
        ({"arm.link.payload.joint": "revolute", "control.stiffness": [1] * 4}, "4 joints"),
    ],
)
def test_wrong_scenarios_are_refused_in_one_line(overrides, words):
    with pytest.raises(dockdyn.ScenarioError, match=words) as caught:
        dockdyn.load("gibson-2d-retreat", overrides)
    assert "\n" not in str(caught.value)


def test_a_start_inside_a_wall_is_refused():
    scenario = dockdyn.load("gibson-2d", {"contact.surface.floor.point": [0, 1.6, 0]})
    with pytest.raises(dockdyn.ScenarioError, match=r"contact.surface.floor: payload starts 0.102 m inside") as caught:
        dockdyn.simulate(scenario)
    assert "\n" not in str(caught.value)


def test_a_step_that_does_not_converge_ends_the_run_with_its_reason():
    dataset = dockdyn.simulate(dockdyn.load("gibson-2d", {"integrator.max_iterations": 1}))
    status = dockdyn.summarise(dataset)["status"]
    assert "does not converge" in status and "integrator.step" in status and "\n" not in status
