"""Campaigns: the same cases however they are run, kept whatever happens, one by one as together."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import dockdyn
from dockdyn.cli.campaign import claimed
from dockdyn.cli.common import Refusal
from dockdyn.results.plan import TOLERANCE
from dockdyn.results.requirements import figures_of
from dockdyn.studies.campaign import conduct as campaign
from dockdyn.studies.campaign.conduct import plan_campaign, rehearse, same_campaign
from dockdyn.studies.campaign.sampling import sample
from dockdyn.studies.campaign.seal import Damaged, opened, sealed
from dockdyn.studies.campaign.store import Store
from dockdyn.studies.cases.batch import figures_of_case, in_lanes, run_cases

# A small docking: a probe, a cone with a latch, no friction on the ramp, everything misaligned a little.
SCENARIO = """
schema = 1
kind = "free-flight"
title = "A small docking with distributions"
duration = "20 s"
[campaign]
runs = 40
seed = 7
[approach]
closing_speed = { distribution = "uniform", low = "10 mm/s", high = "60 mm/s" }
distance = "30 mm"
lateral_offset = { distribution = "disc", radius = "60 mm" }
pitch = { distribution = "normal", mean = 0, std = "0.5 deg" }
roll_rate = "0.1 deg/s"
[chaser]
mass = "600 kg"
inertia = [[300, 5, -4], [5, 420, 6], [-4, 6, 460]]
[[chaser.feature]]
name = "probe"
position = [1.2, 0, 0]
radius = "12 mm"
[target]
mass = "1500 kg"
inertia = [900, 1100, 1000]
[[target.surface]]
name = "cone"
shape = "cone"
apex = [0.9, 0, 0]
axis = [1, 0, 0]
half_angle = "38 deg"
rim_radius = "0.18 m"
[[contact]]
feature = "probe"
surface = "cone"
[contact.normal]
law = "spring-dashpot"
stiffness = "6 kN/m"
damping = "300 N s/m"
[latch]
feature = "probe"
surface = "cone"
entry = "50 mm"
stiffness = "900 N/m"
angle = "42 deg"
axial_length = "18 mm"
[requirements]
captured = true
peak_normal_force = "< 90 N"
"""
LATE = """
[loop]
delay = "8 ms"
[contact.friction]
law = "coulomb"
coefficient = 0.1
"""  # three times as long to compile
COUNTS = ("contact_count", "captured")
ROUNDED = ("step_error", "steps")  # an error estimate, and how many steps: no smooth quantities


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("campaign") / "docking.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def whole(file):
    """A campaign run in this process: its folder."""
    folder = file.parent / "whole"
    done = command("campaign", "run", file, "--out", folder, "--json")
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def command(*arguments, **options):
    code = "from dockdyn.__main__ import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def same_store(one, other):
    a, b = (xr.load_dataset(folder / "campaign.nc", engine="h5netcdf") for folder in (one, other))
    a.attrs.pop("wall_time_s"), b.attrs.pop("wall_time_s")
    xr.testing.assert_identical(a, b)


def test_answers_and_store(whole):
    folder, answers = whole
    assert answers["runs"] == 40 and answers["failed"] == 0 and answers["seed"] == 7
    data = xr.load_dataset(folder / "campaign.nc", engine="h5netcdf")
    captured = data.captured.values
    assert 0 < captured.sum() < 40
    assert answers["capture_probability"] == captured.mean()
    low, high = answers["capture_interval_95"]
    assert low < captured.mean() < high
    force = data.peak_normal_force_N.values
    assert answers["peak_force_percentiles_N"]["50"] == pytest.approx(np.median(force), rel=1e-12)
    by_name = {one["name"]: one for one in answers["requirements"]}
    decided = data.outcome_open.values == 0
    assert answers["undecided"] == np.sum(~decided) > 0
    assert by_name["peak_normal_force"]["probability"] == np.mean((force < 90) & decided)
    assert answers["runs_per_second"] > 0
    offsets = np.hypot(data["approach.lateral_offset.0"], data["approach.lateral_offset.1"])
    assert float(offsets.max()) <= 0.06
    assert "A small docking" in (folder / "campaign-report.html").read_text()


def differences(scenario):
    """Figures of three cases of a batch and of the same cases run alone: (name, in the batch, alone, summary alone)."""
    drawn = sample(scenario, 6, 7, "random")
    together = run_cases(scenario, drawn.keys, drawn.values)
    for row in range(3):
        alone = dockdyn.summarise(dockdyn.simulate(scenario.at(dict(zip(drawn.keys, drawn.values[row], strict=True)))))
        found = figures_of_case(alone)
        for name, values in together.figures.items():
            if name != "step_error":
                yield name, values[row], found[name], alone


STATED = '\n[integrator]\nstep = "5 ms"\n'
SWUNG_OUT = (
    "catch_stored_energy_J"  # at the end the square of a small difference of places: exact beside the energies only
)


@pytest.mark.parametrize("more", ["", LATE], ids=["", "friction and delay"])
def test_a_case_of_a_batch_with_stated_steps_is_the_case_run_alone(tmp_path, more):
    """To rounding, which may move an event across the end of a step."""
    file = tmp_path / "docking.toml"
    file.write_text(SCENARIO.replace("[latch]", f"{more}[latch]") + STATED)
    for name, value, expected, alone in differences(dockdyn.load(file)):
        if name == "steps":
            assert abs(value - expected) <= 1
        elif name in COUNTS:
            assert value == expected, name
        else:
            room = 1e-12 if "change" in name else 1e-13  # of a difference of energies
            small = 1e-13 * alone["kinetic_energy_start_J"] if name == SWUNG_OUT else 0
            assert value == pytest.approx(expected, rel=room, abs=small, nan_ok=True), name


@pytest.mark.parametrize("more", ["", pytest.param(LATE, marks=pytest.mark.full)], ids=["", "friction and delay"])
def test_a_case_of_a_batch_is_the_case_run_alone(tmp_path, more):
    """Steps that are chosen depend on rounding, so each run may err in its own way by the tolerance."""
    file = tmp_path / "docking.toml"
    file.write_text(SCENARIO.replace("[latch]", f"{more}[latch]"))
    for name, value, expected, alone in differences(dockdyn.load(file)):
        if name in COUNTS:
            assert value == expected, name
        elif name not in ROUNDED:
            room = TOLERANCE * alone["steps"]
            small = room * alone["kinetic_energy_start_J"] if name == SWUNG_OUT else 0
            assert value == pytest.approx(expected, rel=room, abs=small, nan_ok=True), name


def test_a_case_does_not_depend_on_its_batch(file):
    scenario = dockdyn.load(file)
    drawn = sample(scenario, 6, 7, "random")
    together = run_cases(scenario, drawn.keys, drawn.values)
    apart = run_cases(scenario, drawn.keys, drawn.values[3:5], threads=1)
    for name, values in apart.figures.items():
        assert np.array_equal(values, together.figures[name][3:5], equal_nan=True), name


FREE = ("atv-like", "idss-probe-cone", "probe-cone", "probe-cone-latch", "sazawal-compliance", "sazawal-spring-dashpot")
OTHERS = (
    "paraskevas-a",
    "paraskevas-latch",
    "sits",
    "epos-like",
    "berthing-3d",
    "canadarm-2d",
    "cyril-plastic",
    "detumble",
)
SMALL = (
    "linear_momentum_error",
    "angular_momentum_error",
    "work_energy_error",
    "energy_error",
)  # of rounding and the step


def offered(figures):
    """Names that a requirement may have; `wall_time_s` differs between two runs of one case."""
    return {name.removesuffix(".least").removesuffix(".largest") for name in figures} - {"wall_time_s"}


@pytest.mark.parametrize("preset", [*(pytest.param(name, marks=pytest.mark.full) for name in FREE), "small"])
def test_a_case_of_a_batch_has_the_figures_of_a_run(file, preset):
    scenario = dockdyn.load(file if preset == "small" else preset).at({})
    summary = figures_of(dockdyn.summarise(dockdyn.simulate(scenario)))
    found = in_lanes([scenario], 1, ["work_energy_error"]).figures
    assert offered(found) == offered(summary)
    room = TOLERANCE * summary["steps"]
    for name, expected in summary.items():
        if isinstance(expected, list):
            ends = np.array([found[f"{name}.least"][0], found[f"{name}.largest"][0]])
            there = [value for value in expected if value is not None]
            whole = [min(there), max(there)] if there and len(there) == len(expected) else [math.nan] * 2
            assert ends == pytest.approx(whole, rel=room, nan_ok=True), name
        elif name in SMALL:
            expected = math.nan if expected is None else expected
            assert found[name][0] == pytest.approx(expected, rel=1e-2, abs=1e-12, nan_ok=True), name
        elif name not in (*ROUNDED, "wall_time_s"):
            expected = math.nan if expected is None else float(expected)
            assert found[name][0] == pytest.approx(expected, rel=room, abs=0, nan_ok=True), name


@pytest.mark.full
@pytest.mark.parametrize("preset", OTHERS)
def test_a_case_of_another_kind_has_the_figures_of_a_run(preset):
    summary = dockdyn.summarise(dockdyn.simulate(dockdyn.load(preset)))
    assert offered(figures_of_case(summary)) == offered(figures_of(summary))


def test_a_figure_of_the_whole_motion_can_be_required(file):
    wanted = {"work_energy_error": "< 1e-8", "kinetic_energy_change": "< 0 J", "captured": True}
    scenario = dockdyn.load(file, {"requirements": wanted})
    rehearse(scenario)
    found = run_cases(scenario, ["approach.closing_speed"], np.array([[0.03], [0.05]]))
    assert (found.figures["work_energy_error"] < 1e-8).all()
    with pytest.raises(dockdyn.ScenarioError, match="differs between two runs of one case"):
        rehearse(dockdyn.load(file, {"requirements": {"wall_time": "< 5 s"}}))


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
    assert summary["contact_count"] == int(data.contact_count)
    assert summary["peak_normal_force_N"] == pytest.approx(
        float(data.peak_normal_force_N), rel=TOLERANCE * summary["steps"]
    )
    assert dockdyn.load(folder / "cases/000017/scenario.toml").content.approach.closing_speed == float(
        data["approach.closing_speed"]
    )
    assert (folder / "cases/000017/report.html").exists()
    assert dock("campaign", "rerun", folder, 17).returncode == 2  # is there already


SMALL_CHUNKS = "from dockdyn.studies import campaign as c; c.CHUNK = 4; from dockdyn.__main__ import main; main()"

# the same, slowly, so that it can be stopped in the middle
SLOWLY = SMALL_CHUNKS.replace(
    "from dockdyn.__main__",
    "import time; f = c.compute; c.compute = lambda *a: (time.sleep(0.3), f(*a))[1]; from dockdyn.__main__",
)


def killed_after(chunks, folder, arguments, by=signal.SIGKILL):
    """Start a campaign and stop it, by default without warning, once so many chunks are there; what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    begun = time.monotonic()
    while len(list((folder / "chunks").glob("[0-9]*.nc"))) < chunks and process.poll() is None:
        assert time.monotonic() - begun < 300, "no chunk came"
        time.sleep(0.005)
    os.killpg(process.pid, by)
    told = process.communicate()[1]
    return told, process.returncode


def small_chunks(*arguments):
    return subprocess.run(
        [sys.executable, "-c", SMALL_CHUNKS, *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_two_campaigns_on_one_folder(dock, file, tmp_path):
    """The second is refused, whatever it asks for, until the first ends, however it does."""
    hold = "import sys; from pathlib import Path; from dockdyn.studies.campaign.store import Store\n"
    hold += "with Store(Path(sys.argv[1])).claimed(): print('held', flush=True); sys.stdin.read()"
    folder = tmp_path / "shared"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "held\n"
    for more in ((), ("--seed", 8), ("--resume",)):
        ended = dock("campaign", "run", file, "--out", folder, *more)
        assert ended.returncode == 2 and ended.stderr.count("\n") == 1
        assert "another process runs a campaign there" in ended.stderr
    with pytest.raises(dockdyn.ScenarioError, match="another process"):
        dockdyn.campaign(dockdyn.load(file), folder)
    assert [path.name for path in folder.iterdir()] == [".lock"]
    holder.kill()
    holder.communicate()
    with Store(folder).claimed():
        pass
    assert not folder.exists()  # nothing came into it


@pytest.mark.full
def test_two_processes_at_once(file, whole):
    folder = file.parent / "at once"
    arguments = [str(part) for part in ("campaign", "run", file, "--out", folder, "--json")]
    code = "from dockdyn.cli.main import main; main()"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments, *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for more in ((), ("--seed", "8"))
    ]
    told = [process.communicate()[1] for process in running]
    codes = [process.returncode for process in running]
    assert sorted(codes) == [0, 2] and "another process runs a campaign there" in told[codes.index(2)]
    if codes[0] == 0:
        same_store(whole[0], folder)


def test_a_folder_that_cannot_be_written_to_is_one_line(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / ".lock").mkdir()  # which root cannot open either
    with pytest.raises(Refusal, match="cannot be written to"), claimed(Store(folder)):
        pass


def test_damaged_chunks_are_computed_again(dock, file, tmp_path, monkeypatch):
    monkeypatch.setattr(campaign, "CHUNK", 8)
    arguments = ("campaign", "run", file, "--out", "five", "--json")
    assert dock(*arguments).returncode == 0
    assert dock(*arguments[:-2], "other", "--seed", 8, "--json").returncode == 0
    folder, untouched = tmp_path / "five", tmp_path / "untouched"
    shutil.copytree(folder, untouched)
    chunk = [folder / "chunks" / f"{number:06d}.nc" for number in range(5)]
    chunk[0].write_bytes(chunk[0].read_bytes()[:-1000])
    flipped = bytearray(chunk[1].read_bytes())
    flipped[len(flipped) // 2] ^= 4
    chunk[1].write_bytes(flipped)
    chunk[2].write_bytes(chunk[3].read_bytes())
    chunk[4].write_bytes((tmp_path / "other/chunks/000004.nc").read_bytes())
    ended = dock(*arguments, "--resume")
    assert ended.returncode == 0
    reasons = {
        0: "its checksum is missing: cut short, or of an earlier dockdyn",
        1: "its checksum does not fit",
        2: "it is chunk-3 of the campaign, not chunk-2",
        4: "it is of another campaign",
    }
    lines = [line for line in ended.stderr.splitlines() if line.startswith("warning")]
    assert lines == [f"warning: five/chunks/{n:06d}.nc: {why}; computed again" for n, why in reasons.items()]
    same_store(untouched, folder)
    for number in range(5):
        assert (
            xr.load_dataset(chunk[number], engine="h5netcdf")
            .drop_attrs(deep=False)
            .identical(
                xr.load_dataset(untouched / "chunks" / chunk[number].name, engine="h5netcdf").drop_attrs(deep=False)
            )
        )
    # a report says what is damaged, and changes nothing
    data = folder / "campaign.nc"
    data.write_bytes(data.read_bytes()[:-7])
    ended = dock("campaign", "report", "five")
    assert ended.returncode == 2 and "go on with --resume, which computes it again" in ended.stderr
    assert dock(*arguments, "--resume").returncode == 0  # from the chunks
    same_store(untouched, folder)
    index = folder / "campaign.json"
    index.write_text(index.read_text().replace('"format": 2', '"format": 1'))
    ended = dock(*arguments, "--resume")
    assert ended.returncode == 2 and "is of another version of dockdyn" in ended.stderr


def test_no_flipped_byte_passes():
    whole = sealed(bytes(range(256)) * 3, "a" * 64, "chunk-7")
    assert opened(whole, "a" * 64, "chunk-7") == bytes(range(256)) * 3
    for place in range(len(whole)):
        for change in (bytes([whole[place] ^ 1]), b""):
            with pytest.raises(Damaged):
                opened(whole[:place] + change + whole[place + 1 :], "a" * 64, "chunk-7")


@pytest.mark.parametrize("kills", [(3,), pytest.param((1, 3, 5), marks=pytest.mark.full)])
def test_killed_and_resumed_it_is_the_same(file, whole, kills):
    folder = file.parent / f"killed {len(kills)}"
    arguments = ("campaign", "run", file, "--out", folder, "--resume", "--json")
    for chunks in kills:
        killed_after(chunks, folder, arguments)
        assert not (folder / "campaign.nc").exists()
    told, code = killed_after(7, folder, arguments, signal.SIGINT)
    assert code == 130 and "of 40 cases are kept; go on with: dockdyn campaign run" in told
    ended = small_chunks(*arguments)
    assert ended.returncode == 0, ended.stderr
    reference, resumed = (xr.load_dataset(f / "campaign.nc", engine="h5netcdf") for f in (whole[0], folder))
    assert resumed.attrs["chunk"] == 4
    assert reference.drop_attrs(deep=False).identical(resumed.drop_attrs(deep=False))


def test_workers_give_the_same_store(file, whole):
    pytest.importorskip("distributed")
    folder = file.parent / "workers"
    ended = command("campaign", "run", file, "--out", folder, "--workers", 2, "--json")
    assert ended.returncode == 0, ended.stderr
    same_store(whole[0], folder)


@pytest.mark.full
def test_a_worker_of_a_cluster_may_die(file, whole):
    """A cluster of three processes, one of which is killed in the middle."""
    distributed = pytest.importorskip("distributed")
    folder = file.parent / "cluster"
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        arguments = ("campaign", "run", file, "--out", folder, "--scheduler", cluster.scheduler_address, "--json")
        process = subprocess.Popen(
            [sys.executable, "-c", SMALL_CHUNKS, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun = time.monotonic()
        while len(list((folder / "chunks").glob("[0-9]*.nc"))) < 2 and process.poll() is None:
            assert time.monotonic() - begun < 500, "no chunk came"
            time.sleep(0.01)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        told = process.communicate(timeout=500)
    assert process.returncode == 0, told
    reference, shared = (xr.load_dataset(f / "campaign.nc", engine="h5netcdf") for f in (whole[0], folder))
    assert reference.drop_attrs(deep=False).identical(shared.drop_attrs(deep=False))


def test_a_full_disk_stops_it_so_that_it_can_go_on(file, whole):
    """Files of more than 8 kB cannot be written: no chunk can be kept."""
    folder = file.parent / "full"
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (8000, resource.RLIM_INFINITY)); "
    arguments = [str(part) for part in ("campaign", "run", file, "--out", folder, "--resume", "--json")]
    done = subprocess.run(
        [sys.executable, "-c", limit + "from dockdyn.__main__ import main; main()", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "file too large; 0 of 40 cases are kept; go on with: dockdyn campaign run" in done.stderr
    assert not list((folder / "chunks").iterdir())
    assert command(*arguments).returncode == 0
    same_store(whole[0], folder)


def test_no_scheduler_there_is_one_line(dock, file):
    pytest.importorskip("distributed")
    ended = dock("campaign", "run", file, "--out", "x", "--scheduler", "tcp://127.0.0.1:9")
    assert ended.returncode == 2 and "no Dask scheduler can be reached there" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_lost_scheduler_says_how_to_go_on(dock, file, monkeypatch):
    from contextlib import contextmanager

    from dockdyn.studies.campaign import cluster
    from dockdyn.studies.campaign import conduct as campaign

    @contextmanager
    def gone(count, scheduler):
        def work(campaign, chunks):
            raise cluster.WorkLost("CommClosedError: the scheduler is gone")
            yield

        yield work

    monkeypatch.setattr(cluster, "workers", gone)
    monkeypatch.setattr(campaign, "rehearse", lambda scenario: None)
    ended = dock("campaign", "run", file, "--out", "x", "--workers", 2)
    assert ended.returncode == 3 and ended.stderr.count("\n") == 1
    assert "the scheduler is gone; 0 of 40 cases are kept; go on with: dockdyn campaign run" in ended.stderr


def test_a_case_that_fails_stops_nothing(file):
    scenario = dockdyn.load(file)
    keys = ("chaser.mass", "latch.entry", "approach.closing_speed")
    rows = np.array([[600, 0.05, 0.03], [-3, 0.05, 0.03], [600, 0.001, 0.03], [650, 0.05, 0.04]])
    found = run_cases(scenario, keys, rows)
    assert [bool(reason) for reason in found.reasons] == [False, True, True, False]
    assert "chaser.mass" in found.reasons[1] and "latch.entry" in found.reasons[2]
    assert np.isfinite(found.figures["peak_normal_force_N"]).tolist() == [True, False, False, True]


def test_too_many_events_fail_with_their_reason(file):
    """A delay that feeds energy into a bounce, and a log too short for it: the reason is that of a run alone."""
    scenario = dockdyn.load(file, {"integrator.max_events": 3})
    slow = run_cases(scenario, ["approach.closing_speed"], np.array([[0.012], [0.05]]))
    assert any("more than 3 events" in reason for reason in slow.reasons)


def test_other_kinds_are_campaigns_too(tmp_path, dock):
    """Kind `latch`: two rigid bodies on a line; the share that latches is that of speeds above the closed form's."""
    text = dockdyn.load("paraskevas-latch", {"duration": "2 s"}).text()
    file = tmp_path / "chain.toml"
    scenario = dockdyn.load("paraskevas-latch")
    key = "speed"
    least = dockdyn.summarise(dockdyn.simulate(scenario))["minimum_velocity_m_s"]
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
        (file, "--runs", 0, "--out", "x", "must be 1 to"),
        (file, "--out", folder, "--resume to go on"),
        (file, "--out", folder, "--resume", "--seed", 8, "seed was 7, is 8"),
        (file, "--out", folder, "--resume", "--set", "chaser.mass=601", "chaser.mass was"),
        (file, "--out", taken / "in", "cannot be written to"),
        (file, "--out", "x", "--keep", "best:3", "'best'"),
        (file, "--out", "x", "--workers", 2, "--scheduler", "tcp://h:1", "give one of them"),
        (file, "--out", "x", "--set", 'chaser.mass={distribution="uniform",low=5,high=4}', "chaser.mass"),
        (
            file,
            "--out",
            "x",
            "--set",
            'contact.normal.law={distribution="uniform",low=5,high=6}',
            "contact.0.normal.law",
        ),
    ]
    for *arguments, words in cases:
        ended = dock("campaign", "run", *arguments)
        assert ended.returncode == 2 and words in ended.stderr, (arguments, ended)
        assert ended.stderr.count("\n") == 1 and not ended.stdout
    assert "must be 0 to 39" in dock("campaign", "rerun", folder, 40).stderr
    assert "no campaign" in dock("campaign", "report", tmp_path).stderr


def test_another_campaign_is_told_apart(file):
    one = plan_campaign(dockdyn.load(file))
    other = plan_campaign(dockdyn.load(file, {"latch.angle": "41 deg", "title": "Another"}), runs=41)
    with pytest.raises(dockdyn.ScenarioError, match=r"runs was 40, is 41; title was .*; latch\.angle was"):
        same_campaign(one, other, Path("x"))


@pytest.mark.full
def test_lanes_side_by_side_give_the_same(file, monkeypatch):
    """As on a device other than a CPU: all lanes of a call in one vectorised program."""
    from dockdyn.studies.cases import lanes

    scenario = dockdyn.load(file)
    drawn = sample(scenario, 8, 7, "random")
    one_by_one = run_cases(scenario, drawn.keys, drawn.values)
    monkeypatch.setattr(lanes, "at_once", lambda: lanes.LANES)
    side_by_side = run_cases(scenario, drawn.keys, drawn.values)
    for name, values in one_by_one.figures.items():
        if name not in ROUNDED:
            np.testing.assert_allclose(side_by_side.figures[name], values, rtol=1e-9, err_msg=name)


def test_a_campaign_without_a_single_case_can_be_begun_again(dock, file, tmp_path):
    """Killed before its index was there, refused for a requirement that fits no figure: nothing stands in the way."""
    (tmp_path / "x/chunks").mkdir(parents=True)
    ended = dock("campaign", "run", file, "--out", "x", "--set", "requirements.peak_force='< 3 N'")
    assert ended.returncode == 2 and "no such figure" in ended.stderr
    assert not (tmp_path / "x/campaign.json").exists()
    assert dock("campaign", "run", file, "--out", "x", "--runs", 3).returncode == 0
    ended = dock("campaign", "run", file, "--out", "x", "--runs", 3)
    assert ended.returncode == 2 and "give --resume" in ended.stderr
    for left in (tmp_path / "x").rglob("*.nc"):
        left.unlink()
    ended = dock("campaign", "report", "x")
    assert (ended.returncode, ended.stderr) == (
        2, "error: x: no case of the campaign is there yet; run it with --resume\n"
    )  # fmt: skip
    (tmp_path / "x/campaign.json").write_text('{"format": 2}')
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
