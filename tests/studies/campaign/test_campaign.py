"""Campaigns as a user runs them: answers and store, cases that are run again, other kinds, what is refused."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
import trimesh
import xarray as xr
from small_campaign import command

import dockdyn
from dockdyn.integrate.hybrid.located import TOLERANCE
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.campaign import conduct
from dockdyn.studies.campaign.conduct import changes_since, pace_chunks, plan_campaign, run_nominal, same_campaign
from dockdyn.studies.campaign.store import Store
from dockdyn.studies.cases.batch import run_cases


@pytest.mark.full
def test_answers_and_store(whole):
    folder, answers = whole
    assert answers["runs"] == 40 and answers["failed"] == 0 and answers["seed"] == 7
    data = xr.load_dataset(folder / "campaign.nc", engine="h5netcdf")
    captured = data.captured.values
    assert 0 < captured.sum() < 40
    assert answers["capture_probability"] == captured.mean()
    low, high = answers["capture_interval_95"]
    assert low < captured.mean() < high
    force = data.peak_force_N.values
    assert answers["peak_force_percentiles_N"]["50"] == pytest.approx(np.median(force), rel=1e-12)
    by_name = {one["name"]: one for one in answers["requirements"]}
    decided = data.outcome_open.values == 0
    assert answers["undecided"] == np.sum(~decided) > 0
    assert by_name["peak_force"]["probability"] == np.mean((force < 90) & decided)
    assert answers["runs_per_second"] > 0
    offsets = np.hypot(data["approach.lateral_offset.0"], data["approach.lateral_offset.1"])
    assert float(offsets.max()) <= 0.06
    assert "A small docking" in (folder / "campaign-report.html").read_text()


@pytest.mark.full
def test_a_figure_of_the_whole_motion_can_be_required(file):
    wanted = {"work_energy_error": "< 1e-8", "contact.energy_change": "< 0 J", "captured": True}
    scenario = dockdyn.load(file, {"requirements": wanted})
    run_nominal(scenario, plan_campaign(scenario, 2))
    found = run_cases(scenario, ["approach.closing_speed"], np.array([[0.03], [0.05]]))
    assert (found.figures["work_energy_error"] < 1e-8).all()
    with pytest.raises(dockdyn.ScenarioError, match="differs between two runs of one case"):
        other = dockdyn.load(file, {"requirements": {"wall_time": "< 5 s"}})
        run_nominal(other, plan_campaign(other, 2))


@pytest.mark.full
def test_the_duration_that_is_suggested_decides_all(dock, file):
    """Most of the cases are on their way at 6 s; what they come to shows by the duration that the campaign names."""
    answers = {}
    for name, duration in (("short", "6 s"), ("long", None)):
        duration = duration or f"{answers['short']['deciding_duration_s']} s"
        ended = dock("campaign", "run", file, "--set", f"duration={duration}", "--out", name, "--json")
        assert ended.returncode == 0, ended.stderr
        answers[name] = json.loads(ended.stdout)
    assert answers["short"]["undecided"] > 5 and answers["long"]["undecided"] == 0
    low, high = answers["short"]["capture_interval_95"]
    assert low < answers["long"]["capture_probability"] < high
    assert answers["long"]["capture_probability"] > answers["short"]["capture_probability"]


def test_rerun_gives_the_result_of_a_case(dock, whole):
    folder, _ = whole
    ended = dock("campaign", "rerun", folder, 17)
    assert ended.returncode == 0, ended.stderr
    result = dockdyn.open_result(folder / "cases/000017/result.nc")
    data = xr.load_dataset(folder / "campaign.nc", engine="h5netcdf").sel(case=17)
    summary = dockdyn.summarise(result)
    assert summary["contact.count"] == int(data["contact.count"])
    assert summary["peak_force_N"] == pytest.approx(float(data.peak_force_N), rel=TOLERANCE * summary["steps"])
    assert dockdyn.load(folder / "cases/000017/scenario.toml").content.approach.closing_speed == float(
        data["approach.closing_speed"]
    )
    assert (folder / "cases/000017/report.html").exists()
    assert dock("campaign", "rerun", folder, 17).returncode == 2  # is there already


@pytest.mark.full
def test_other_kinds_are_campaigns_too(tmp_path, dock):
    """Kind `latch`: two rigid bodies on a line; the share that latches is that of speeds above the closed form's."""
    text = dockdyn.load("paraskevas-latch", {"duration": "2 s"}).text()
    file = tmp_path / "chain.toml"
    scenario = dockdyn.load("paraskevas-latch")
    key = "body.chaser.velocity"
    least = dockdyn.summarise(dockdyn.simulate(scenario))["latch.least_speed_m_s"]
    assert least > 0
    file.write_text(text)
    spread = json.dumps({"distribution": "uniform", "low": 0.5 * least, "high": 1.5 * least})
    inline = (
        spread.replace(":", " =")
        .replace('"distribution"', "distribution")
        .replace('"low"', "low")
        .replace('"high"', "high")
    )
    ended = dock("campaign", "run", file, "--set", f"{key}={inline}", "--runs", 12, "--seed", 2, "--json")
    assert ended.returncode == 0, ended.stderr
    answers = json.loads(ended.stdout)
    data = xr.load_dataset(Path("chain-campaign/campaign.nc"), engine="h5netcdf")
    assert answers["runs"] == 12 and answers["failed"] == 0
    assert np.array_equal(data.captured.values == 1, data[key].values > least)


def test_bad_input_is_one_line(dock, file, whole, tmp_path):
    folder, _ = whole
    taken = tmp_path / "file"
    taken.write_text("")
    cases = [
        ("probe-cone-latch", "--out", "x", "has no distribution"),
        (file, "--runs", 0, "--out", "x", "must be at least 1"),
        (file, "--out", folder, "--resume to go on"),
        (file, "--out", folder, "--resume", "--seed", 8, "seed was 7, is 8"),
        (file, "--out", folder, "--resume", "--set", "body.chaser.mass=601", "body.chaser.mass was"),
        (file, "--out", taken / "in", "cannot be written to"),
        (file, "--out", "x", "--keep", "best:3", "'best'"),
        (file, "--out", "x", "--workers", 2, "--scheduler", "tcp://h:1", "give one of them"),
        (file, "--out", "x", "--set", 'body.chaser.mass={distribution="uniform",low=5,high=4}', "body.chaser.mass"),
        (
            file,
            "--out",
            "x",
            "--set",
            'contact.probe-cone.normal.law={distribution="uniform",low=5,high=6}',
            "contact.probe-cone.normal.law",
        ),
    ]
    for *arguments, words in cases:
        ended = dock("campaign", "run", *arguments)
        ended.check_refused(words)
    assert "must be 0 to 39" in dock("campaign", "rerun", folder, 40).stderr
    assert "no campaign" in dock("campaign", "report", tmp_path).stderr


def test_another_campaign_is_told_apart(file):
    one = plan_campaign(dockdyn.load(file))
    other = plan_campaign(dockdyn.load(file, {"latch.capture.ramp.angle": "41 deg", "title": "Another"}), runs=41)
    with pytest.raises(
        dockdyn.ScenarioError, match=r"runs was 40, is 41; title was .*; latch\.capture\.ramp\.angle was"
    ):
        same_campaign(one, other, Path("x"))


@pytest.mark.full
def test_a_campaign_is_begun_anew_when_asked(dock, file, tmp_path):
    """Nothing of the campaign before is left, the cases run by themselves neither; what somebody else put there is."""
    assert dock("campaign", "run", file, "--out", "x", "--runs", 3, "--seed", 1).returncode == 0
    assert dock("campaign", "rerun", "x", 2).returncode == 0
    again = dock("campaign", "rerun", "x", 2)
    assert again.returncode == 2 and "its report is x/cases/000002/report.html" in again.stderr
    (tmp_path / "x/cases/notes").write_text("mine")
    refused = dock("campaign", "run", file, "--out", "x", "--runs", 2)
    assert refused.returncode == 2 and "--force to begin anew" in refused.stderr
    assert "its report is x/campaign-report.html" in refused.stderr
    both = dock("campaign", "run", file, "--out", "x", "--force", "--resume")
    assert both.returncode == 2 and "give one of them" in both.stderr
    for folder, more in (("x", ("--force",)), ("fresh", ())):
        assert dock("campaign", "run", file, "--out", folder, "--runs", 2, "--seed", 2, *more).returncode == 0
    files = [
        sorted(f.relative_to(tmp_path / at) for f in (tmp_path / at).rglob("*") if f.is_file()) for at in ("x", "fresh")
    ]
    assert set(files[0]) - set(files[1]) == {Path("cases/notes")}
    found, wanted = (Store(tmp_path / at).read(Store(tmp_path / at).campaign()) for at in ("x", "fresh"))
    xr.testing.assert_equal(found.to_xarray(), wanted.to_xarray())


@pytest.mark.full
def test_a_campaign_without_a_single_case_can_be_begun_again(dock, file, tmp_path):
    """Killed before its index was there, refused for a requirement that fits no figure: nothing stands in the way."""
    (tmp_path / "x/chunks").mkdir(parents=True)
    ended = dock("campaign", "run", file, "--out", "x", "--set", "requirements.top_force='< 3 N'")
    assert ended.returncode == 2 and "no such figure" in ended.stderr
    assert not (tmp_path / "x/campaign.json").exists()
    assert dock("campaign", "run", file, "--out", "x", "--runs", 3).returncode == 0
    ended = dock("campaign", "run", file, "--out", "x", "--runs", 3)
    assert ended.returncode == 2 and "give --resume" in ended.stderr
    for left in [tmp_path / "x/campaign.nc", *(tmp_path / "x/chunks").iterdir()]:
        left.unlink()
    ended = dock("campaign", "report", "x")
    assert (ended.returncode, ended.stderr) == (
        2, "error: x: no case of the campaign is there yet; run it with --resume\n"
    )  # fmt: skip
    (tmp_path / "x/campaign.json").write_text('{"format": 4}')
    assert "x/campaign.json: damaged" in dock("campaign", "report", "x").stderr


LAW = """
import dockdyn
from jaxtyping import Array, Float


class Stiffening(dockdyn.NormalLaw):
    stiffness: Float[Array, ""]

    def force(self, depth, rate):
        return self.stiffness * depth * (1 + {growth} * depth)
"""


@pytest.mark.full
def test_a_law_of_ones_own_must_be_the_same_and_may_have_moved(tmp_path, dock, file):
    text = file.read_text().replace('law = "spring-dashpot"', 'law = "stiffening_law:Stiffening"')
    text = text.replace('damping = "300 N s/m"\n', "").replace('"6 kN/m"', "6000")
    before = tmp_path / "before"
    before.mkdir()
    (before / "stiffening_law.py").write_text(LAW.format(growth=5))
    (before / "own.toml").write_text(text)
    out = tmp_path / "out"
    ended = command("campaign", "run", before / "own.toml", "--runs", 4, "--out", out, "--json")
    assert ended.returncode == 0, ended.stderr
    before.rename(tmp_path / "after")
    moved = tmp_path / "after/own.toml"
    assert command("campaign", "run", moved, "--runs", 4, "--out", out, "--resume", "--json").returncode == 0
    assert command("campaign", "rerun", out, 2).returncode == 0
    (tmp_path / "after/stiffening_law.py").write_text(LAW.format(growth=6))
    ended = command("campaign", "run", moved, "--runs", 4, "--out", out, "--resume")
    assert ended.returncode == 2 and "module stiffening_law has changed" in ended.stderr
    again = command("campaign", "rerun", out, 2, "--force")
    assert again.returncode == 0
    assert (
        f"warning: {out}: the case may not be that of the campaign: module stiffening_law has changed" in again.stderr
    )


TOUCHED = """
schema = 2
duration = "2 s"
[body.a]
mass = { distribution = "uniform", low = 49.0, high = 51.0 }
inertia = [3.0, 4.0, 5.0]
velocity = ["50 mm/s", 0, 0]
feature.tip = { position = [0.5, 0, 0], radius = "20 mm" }
[body.b]
mass = 80.0
inertia = [6.0, 7.0, 8.0]
position = [1.0, 0, 0]
surface.skin = { shape = "mesh", file = "plate.stl", unit = "m", tip_radius = "20 mm", tolerance = "2 mm" }
[contact.c]
between = ["tip", "skin"]
normal = { law = "spring-dashpot", stiffness = "5 kN/m" }
"""


@pytest.mark.full
def test_a_mesh_must_be_the_same_and_one_for_looks_need_not(tmp_path):
    def write_box(name, long):
        box = trimesh.creation.box([long, 0.6, 0.6])
        box.export(tmp_path / name)

    write_box("plate.stl", 0.4)
    write_box("look.stl", 0.4)
    (tmp_path / "own.toml").write_text(TOUCHED + '[body.c]\nmass = 1.0\ninertia = [1.0, 1.0, 1.0]\nlook = "look.stl"\n')
    before = plan_campaign(dockdyn.load(tmp_path / "own.toml"), 20)
    same_campaign(before, plan_campaign(dockdyn.load(tmp_path / "own.toml"), 20), tmp_path)
    write_box("look.stl", 0.3)
    same_campaign(before, plan_campaign(dockdyn.load(tmp_path / "own.toml"), 20), tmp_path)
    write_box("plate.stl", 0.36)
    with pytest.raises(ScenarioError, match=r"cannot be resumed .*file .*plate\.stl has changed"):
        same_campaign(before, plan_campaign(dockdyn.load(tmp_path / "own.toml"), 20), tmp_path)
    (words,) = changes_since(before)
    assert words.endswith("plate.stl has changed")


def test_a_case_takes_as_long_as_one_that_is_drawn(file, monkeypatch):
    """The nominal one may touch nothing: told by it, a campaign was to end long before it did."""
    scenario, cases = dockdyn.load(file), conduct.run_cases

    def run_slowly(scenario, keys, values):
        time.sleep(0.3 if len(keys) == 1 else 0.6)
        return cases(scenario, keys, values)

    monkeypatch.setattr(conduct, "run_cases", run_slowly)
    assert 0.6 < run_nominal(scenario, plan_campaign(scenario, 20))


def test_cases_that_take_long_are_kept_and_told_in_small_chunks(file, tmp_path, monkeypatch):
    """With every case held to take long: eight are lost at most where the campaign is stopped, and a resumed one goes on so."""
    plan = plan_campaign(dockdyn.load(file), 20)
    assert plan.chunk == 20 and pace_chunks(plan, 0.01) == plan
    assert [pace_chunks(plan, seconds).chunk for seconds in (0.3, 1.0, 10.0)] == [8, 4, 1]
    monkeypatch.setattr(conduct, "SLOW", 0.0)
    monkeypatch.setattr(conduct, "run_nominal", lambda *_: 0.3)
    data = dockdyn.campaign(dockdyn.load(file), tmp_path / "slow", runs=20)
    kept = Store(tmp_path / "slow")
    assert kept.campaign().chunk == 8 and len(list((kept.folder / "chunks").glob("[0-9]*.chunk"))) == 3
    monkeypatch.setattr(conduct, "SLOW", 1e9)
    again = dockdyn.campaign(dockdyn.load(file), tmp_path / "fast", runs=20)
    assert (data.peak_force_N.values == again.peak_force_N.values).all()
    (kept.folder / "campaign.nc").unlink()
    sorted((kept.folder / "chunks").glob("[0-9]*.chunk"))[1].unlink()
    resumed = dockdyn.campaign(dockdyn.load(file), tmp_path / "slow", runs=20)
    assert (resumed.peak_force_N.values == again.peak_force_N.values).all()
