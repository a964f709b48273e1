"""Runs laid over each other, and a measured log over a run."""

import csv
import re
import shutil

import numpy as np
import pytest
import tomlkit
import trimesh
import xarray as xr

import dockdyn
from dockdyn.report.beside import differing_inputs
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.page import render_page
from dockdyn.results.attributes import result_attributes
from dockdyn.results.exchange.export import export_csv
from dockdyn.results.exchange.measured_log import log_residuals, read_measured
from dockdyn.results.store import write_result
from dockdyn.studies.overlay.report import names_of, overlay_report
from dockdyn.studies.overlay.signals import figures_of_log, overlay_figures


@pytest.fixture(scope="module")
def slow(shared_run) -> xr.Dataset:
    return shared_run("paraskevas-c", {"duration": "1.5 s"})


@pytest.fixture(scope="module")
def fast(shared_run) -> xr.Dataset:
    return shared_run("paraskevas-c", {"duration": "1.5 s", "body.chaser-front.velocity": "0.08 m/s"})


def rows(text: str, table: str) -> list[list[str]]:
    """Rows of the table in a section, as text."""
    found = re.search(rf'aria-label="{table}" tabindex="0">(.*?)</table>', text, re.DOTALL)[1].replace("<wbr>", "")
    return [
        re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in re.findall("<tr>(.*?)</tr>", found, re.S)
    ]


@pytest.mark.full
def test_key_figures_and_inputs_beside_each_other(slow, fast):
    text = render_page(overlay_report({"slow.nc": slow, "fast.nc": fast}))
    figures = {row[0]: row[1:] for row in rows(text, "Key figures")[1:]}
    one, other = dockdyn.summarise(slow), dockdyn.summarise(fast)
    unit, first, second, change = figures["Peak force"]
    assert unit == "N"
    off = 100 * (other["peak_force_N"] / one["peak_force_N"] - 1)
    assert float(change.removesuffix(" %")) == pytest.approx(off, rel=0.05)
    assert float(first) == pytest.approx(one["peak_force_N"], rel=1e-4)
    assert float(second) == pytest.approx(other["peak_force_N"], rel=1e-4)
    assert one["contact.count"] == other["contact.count"] and "Contact count" not in figures
    assert [row[0] for row in rows(text, "Inputs")[1:]] == ["body.chaser-front.velocity"]
    assert "<b>2</b> runs of a mechanism that differ in body.chaser-front.velocity" in text
    same = render_page(overlay_report({"a.nc": slow, "b.nc": slow}))
    assert (
        "The scenarios are the same." in same
        and "All figures are the same" in same
        and "%"
        not in re.sub("<(style|script).*?</(style|script)>", "", same, flags=re.S)
        .partition('id="figures"')[0]
        .partition('id="verdict"')[2]
        .partition('id="key-figures"')[0]
    )


def test_a_mesh_that_has_changed_is_told(tmp_path):
    """Its name is the same in both scenarios; two of one name in different folders are both looked at."""
    surface = {"shape": "mesh", "tolerance": "30 mm", "tip_radius": "50 mm"}
    bodies = {
        "ball": {
            "mass": 1.0,
            "inertia": [1.0] * 3,
            "position": [0, 0, 2],
            "feature": {"tip": {"position": [0, 0, 0], "radius": 0.05}},
        },
        "plate": {"mass": 5.0, "inertia": [1.0] * 3, "surface": {"top": surface | {"file": "plate.stl"}}},
        "other": {"mass": 5.0, "inertia": [1.0] * 3, "position": [0, 0, 9]},
    }
    bodies["other"]["surface"] = {"top": surface | {"file": "other/plate.stl"}}
    law = {"law": "spring-dashpot", "stiffness": 1e3}
    contacts = {name: {"between": ["tip", f"{name}.top"], "normal": law} for name in ("plate", "other")}
    (tmp_path / "other").mkdir()

    def attributes(long):
        for folder, size in ((tmp_path, 0.4), (tmp_path / "other", long)):
            trimesh.creation.box([size, 0.6, 0.6]).export(folder / "plate.stl")
        (tmp_path / "own.toml").write_text(
            tomlkit.dumps({"schema": 2, "duration": 1.0, "body": bodies, "contact": contacts})
        )
        return xr.Dataset(attrs=result_attributes(dockdyn.load(tmp_path / "own.toml")))

    before, same, after = attributes(0.4), attributes(0.4), attributes(0.3)
    assert differing_inputs({"before": before, "same": same}).rows == []
    (row,) = differing_inputs({"before": before, "after": after}).rows
    assert row[0] == "SHA-256 of plate.stl" and len({*row[1].split(", "), *row[2].split(", ")}) == 2
    assert str(tmp_path) not in str(before.attrs["files"])


def test_inputs_that_differ_are_written_with_the_digits_that_they_need():
    def stated(text):
        return xr.Dataset(attrs={"scenario": text})

    one, other = (
        stated('a = "20000.0 N/m"\nb = 0.1\nc = [1.0, 2.5]'),
        stated('a = "12000.0 N/m"\nb = 0.1\nc = [1.0, 3.0]'),
    )
    found = differing_inputs({"one": one, "other": other}).rows
    assert found == [["a", "20000 N/m", "12000 N/m"], ["c", "[1, 2.5]", "[1, 3]"]]
    assert differing_inputs({"one": stated("a = 1.0"), "other": stated('a = "1"')}).rows == [["a", "1.0", "1"]]


def test_joints_have_units_of_their_own(tmp_path):
    """Degrees in a log of a hinge are read as such, and what is exported of hinge and slide says rad and m."""
    joints = {
        "turn": {"kind": "revolute", "axis": [0, 0, 1], "position": [0.3, 0, 0], "start_rate": 0.2},
        "push": {"kind": "prismatic", "axis": [0, 1, 0], "position": [0, 0, 0], "start_rate": 0.1},
    }
    part = {"on": "base", "position": [0, 0, 0], "mass": 1.0, "inertia": [1.0] * 3}
    bodies = {"base": {"mass": 9.0, "inertia": [2.0] * 3}} | {name: part | {"joint": joints[name]} for name in joints}
    run = dockdyn.simulate(dockdyn.load({"schema": 2, "duration": 1.0, "body": bodies}))
    export_csv(run, tmp_path / "run")
    headings = next(csv.reader((tmp_path / "run" / "time.csv").open()))
    assert {
        f"joint_{what}" for what in ("angle.turn [rad]", "rate.turn [rad/s]", "angle.push [m]", "rate.push [m/s]")
    } < {*headings}
    for name, unit, scale in (
        ("joint_angle", "deg", np.degrees(1)),
        ("joint_rate", "deg/s", np.degrees(1)),
        ("joint_rate", "rad/s", 1),
    ):
        values = scale * run[name].sel(joint="turn").values
        rows = np.stack([run.time.values, values], 1)
        np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=f"time [s],{name}.turn [{unit}]", comments="")
        (left,) = log_residuals(run, read_measured(tmp_path / "log.csv", run))
        assert left.largest < 1e-12 and left.unit == ("rad" if name == "joint_angle" else "rad/s")


@pytest.mark.full
def test_every_figure_has_every_run(slow, fast):
    drawn = overlay_figures({"slow.nc": slow, "fast.nc": fast})
    words = [plot.caption for plot in drawn]
    assert len(drawn) >= 4 and any("Normal force" in each for each in words)
    for plot in drawn:
        figure = print_chart(plot.draw())
        labels = [text.get_text() for text in figure.legends[0].get_texts()]
        assert labels == ["slow.nc", "fast.nc"], plot.caption
    chart = drawn[words.index("Kinetic energy.")].draw()
    for dataset, line in zip((slow, fast), chart.panels[0].lines, strict=True):
        np.testing.assert_array_equal(line.x, dataset.time.values)
        np.testing.assert_array_equal(line.y, dataset.kinetic_energy.values)


def test_a_momentum_without_any_error_is_left_out(slow):
    """On a logarithmic axis there is no place for it."""
    axes = {"linear_momentum": np.ones((slow.sizes["time"], 3)), "angular_momentum": np.ones((slow.sizes["time"], 3))}
    axes["linear_momentum"][5:, 1] += 1e-15
    still = slow.drop_vars([name for name in slow.data_vars if "momentum" in name])
    still = still.assign({name: (("time", "axis3"), values) for name, values in axes.items()})
    still = still.assign({f"{name}_scale": 1.0 for name in axes})
    drawn = {plot.name: plot for plot in overlay_figures({"a": still, "b": still})}
    assert [panel.label for panel in drawn["momentum-errors"].draw().panels] == ["linear momentum"]
    none = still.assign(linear_momentum=still.angular_momentum)
    assert "momentum-errors" not in [plot.name for plot in overlay_figures({"a": none, "b": none})]


@pytest.mark.full
def test_a_verdict_tells_of_what_all_runs_have(shared_run):
    """A run without a latch is not one that was not captured."""
    runs = {name: shared_run(name) for name in ("probe-cone", "probe-cone-latch")}
    words = overlay_report(runs).verdict
    assert "captured" not in words and "peak force 69.985 and 76.468 N." in words


@pytest.mark.full
def test_contacts_stand_beside_each_other_and_have_one_time(shared_run):
    """By number, each with force and class of its run; curves open at the contacts, and the page where the first is hardest."""
    runs = {"early": shared_run("probe-cone"), "late": shared_run("probe-cone", (("loop.delay", "70 ms"),))}
    report, summaries = overlay_report(runs), [dockdyn.summarise(dataset) for dataset in runs.values()]
    (table,) = (block.table for block in report.blocks if block.title == "Contacts")
    assert [row[0] for row in table.rows] == ["Q1", "Q2", "Q3", "Q4"]
    for place, summary in enumerate(summaries):
        peaks = [float(row[3 + place]) for row in table.rows]
        assert peaks == pytest.approx([one["peak_force_N"] for one in summary["contacts"]], rel=1e-3)
        assert [row[7 + place] for row in table.rows] == summary["energy_class"]
    assert "loop.delay (0.016 s and 0.07 s)" in report.verdict
    assert report.verdict.endswith("Contacts that gain energy: 0 and 2.")
    assert report.moment == summaries[0]["peak_time_s"]
    assert not [row[0] for row in report.blocks[0].table.rows if row[0].startswith("contact.probe")]  # the only contact
    onsets = [one["onset_s"] for summary in summaries for one in summary["contacts"]]
    for plot in overlay_figures(runs):
        chart = plot.draw()
        assert chart.events and chart.window[0] < min(onsets) and max(onsets) < chart.window[1]
        assert [band.name for band in chart.panels[0].bands] == ["Q1", "Q2", "Q3", "Q4"]


def test_files_are_called_by_what_tells_them_apart(tmp_path):
    files = [tmp_path / part / "result.nc" for part in ("a", "b")]
    assert names_of(files) == ["a", "b"]
    assert names_of([tmp_path / "x" / "y" / "result.nc", tmp_path / "z" / "y" / "result.nc"]) == ["x/y", "z/y"]
    assert names_of([*files, tmp_path / "c" / "other.nc"])[2] == "c/other.nc"
    assert names_of(files[:1]) == ["result.nc"]


@pytest.mark.full
def test_the_command_writes_a_page_and_refuses_in_a_line(slow, fast, dock, tmp_path):
    other = dockdyn.simulate(dockdyn.load("sits", {"duration": "0.1 s"}))
    for name, dataset in (("slow.nc", slow), ("fast.nc", fast), ("other.nc", other)):
        write_result(dataset, tmp_path / name)
    write_result(slow.assign_attrs(margins="{}"), tmp_path / "stability.nc")
    shutil.copy(tmp_path / "slow.nc", tmp_path / "copy.nc")
    (tmp_path / "log.csv").write_text("time [s],force [N]\n0,0\n")
    done = dock("report", "slow.nc", "fast.nc", "copy.nc")
    assert done.returncode == 0 and done.stdout == "Report: overlay.html\n"
    assert "dockdyn report slow.nc fast.nc copy.nc" in (tmp_path / "overlay.html").read_text(encoding="utf-8")
    for words, message in (
        (("slow.nc", "fast.nc"), "overlay.html: exists; give --force"),
        (("slow.nc", "other.nc", "--force"), "other.nc: is of a rig; must be of a mechanism, as slow.nc is"),
        (("slow.nc", "stability.nc", "--force"), "stability.nc: is of dockdyn stability; must be of dockdyn run"),
        (("slow.nc", "./slow.nc", "--force"), "slow.nc: given twice; must be different results"),
        (("slow.nc", "absent.nc", "--force"), "absent.nc: no such file"),
        (("stability.nc", "--log", "log.csv"), "--log log.csv: stability.nc is of dockdyn stability"),
    ):
        done = dock("report", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {message}") and done.stderr.count("\n") == 1


def write_log(path, headings, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(headings)
        writer.writerows(zip(*columns, strict=True))
    return path


def test_residuals_are_those_put_into_the_log(slow, tmp_path):
    """Between samples, off by 3 mm, and by a sine; in other units, by other spellings, on another clock."""
    mass = str(slow.body.values[0])
    time = (slow.time.values[1:] + slow.time.values[:-1]) / 2
    place = (slow.position.values[1:, 0, 0] + slow.position.values[:-1, 0, 0]) / 2 + 3e-3
    periods = np.arange(len(time)) / 50  # 50 samples each, six whole ones
    force = (slow.normal_force.values[1:, 0] + slow.normal_force.values[:-1, 0]) / 2
    force = force + 0.2 * np.sin(2 * np.pi * periods)
    headings = ["Time (ms)", f"position_{mass}_x [mm]".replace(" ", "_"), "normal_force [N]", "lamp"]
    columns = [1e3 * (time + 7), 1e3 * place, force, np.ones(len(time))]
    log = read_measured(write_log(tmp_path / "log.csv", headings, columns), slow, shift=-7.0)
    assert log.unused == ["lamp"]
    found = {one.name.split(".")[0]: one for one in log_residuals(slow, log)}
    assert len(time) % 50 == 0
    assert found["position"].rms == pytest.approx(3e-3, rel=1e-9) and found["position"].unit == "m"
    assert found["normal_force"].rms == pytest.approx(0.2 / np.sqrt(2), rel=1e-9)
    assert found["normal_force"].largest == pytest.approx(0.2 * np.sin(2 * np.pi * 12 / 50), rel=1e-9)
    for plot in figures_of_log({"simulated": slow}, log):
        assert "log.csv" in plot.caption and len(plot.draw().panels) == 2


@pytest.mark.full
def test_an_exported_run_is_a_log_without_residuals(slow, tmp_path):
    export_csv(slow, tmp_path)
    log = read_measured(tmp_path / "time.csv", slow)
    assert log.unused == [] and {one.rms for one in log_residuals(slow, log)} == {0.0}


def test_a_log_in_the_reports(slow, fast, dock, tmp_path):
    for name, dataset in (("slow.nc", slow), ("fast.nc", fast)):
        write_result(dataset, tmp_path / name)
    write_log(tmp_path / "log.csv", ["t [s]", "normal_force"], [slow.time.values, slow.normal_force.values[:, 0] + 0.5])
    assert dock("report", "slow.nc", "--log", "log.csv", "--out", "one.html").returncode == 0
    text = (tmp_path / "one.html").read_text(encoding="utf-8")
    name = f"normal_force.{slow.contact.values[0]} less log.csv, r.m.s."
    share = 100 * 0.5 / np.ptp(slow.normal_force.values)
    assert name in text and f"0.5000 N, {share:.2f} % of what was measured; at most 0.5000 N" in text
    assert dock("report", "slow.nc", "fast.nc", "--log", "log.csv", "--out", "two.html").returncode == 0
    text = (tmp_path / "two.html").read_text(encoding="utf-8")
    (row,) = (row for row in rows(text, "Key figures") if row[0] == name)
    off = np.interp(slow.time.values, fast.time.values, fast.normal_force.values[:, 0]) - slow.normal_force.values[:, 0]
    assert row[1] == "N" and float(row[2]) == 0.5
    assert float(row[3]) == pytest.approx(np.sqrt(np.mean((off - 0.5) ** 2)), rel=1e-4)


BAD = {
    "time,normal_force\n": "has a header and no samples",
    "clock,normal_force\n0,1\n": "no column is the time; must have one called time [s]",
    "time,temperature\n0,1\n1,2\n": "no column is a variable of the run; allowed: ",
    "time,normal_forces\n0,1\n1,2\n": "no column is a variable of the run; did you mean 'normal_force",
    "time,normal_force\n0,1\n0.1,x\n": "row 3: normal_force = 'x': must be a finite number",
    "time,normal_force\n0,1\n0.1,\n": "row 3: normal_force = nothing: a sample is missing",
    "time,normal_force\n0,1\n0.2,1\n0.1,1\n": "row 4: time = 0.1: must be after the row before",
    "time,normal_force [m]\n0,1\n": "normal_force [m]: 'm' is no unit of normal_force",
    "time,normal_force\n0,1,2\n": "row 2: 3 cells; must be 2",
    "time,normal_force\n50,1\n51,1\n": "time from 50 to 51 s: outside the run, 0 to 1.5 s; must overlap it, see --shift",
    "time,normal_force,normal_force\n0,1,1\n": "several columns could be normal_force",
    'time,normal_force\n0,1\n0.1,"1\n2"\n': "row 3: no line of a CSV file",
    f"time,normal_force\n0,{200_000 * '1'}\n": "row 2: no line of a CSV file",
    "": "is empty",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_logs_are_refused_with_file_row_and_column(text, slow, tmp_path):
    file = tmp_path / "log.csv"
    file.write_text(text)
    with pytest.raises(dockdyn.ScenarioError) as caught:
        read_measured(file, slow)
    message = str(caught.value)
    assert message.startswith(f"{file}: ") and BAD[text] in message and "\n" not in message


def test_requirements_stand_beside_each_other(slow, fast):
    def required(dataset, limit):
        scenario = tomlkit.parse(dataset.attrs["scenario"]).unwrap()
        return dataset.assign_attrs(scenario=tomlkit.dumps(scenario | {"requirements": {"peak_force": limit}}))

    text = render_page(overlay_report({"a.nc": required(slow, "> 30 N"), "b.nc": required(fast, "> 30 N")}))
    bars = re.findall(r'class="n">(.*?)</span><b>(.*?)</b>', text)
    assert [words for words, _ in bars] == [f"{run}.nc: peak force &gt;\xa030\xa0N" for run in "ab"]
    assert bars[0][1].startswith("25.37 N") and text.index("requirement bad") < text.index("requirement ok")


@pytest.fixture(scope="module")
def rig(shared_run) -> xr.Dataset:
    return shared_run("sits", {"duration": "1 s"})


def columns_of(log, dataset) -> dict[str, float]:
    """Largest residual by variable, SI units."""
    return {one.name.partition(".")[0]: one.largest for one in log_residuals(dataset, log)}


@pytest.mark.full
@pytest.mark.parametrize(
    ("headings", "options", "scale"),
    [
        (["time [s]", "command [mm]", "actual [mm]", "force [N]", "v [m/s]"], {}, 1e3),
        (["t", "x_c", "x_r", "measured force", "speed"], {"units": {"command": "mm", "actual": "mm"}}, 1e3),
        (
            ["clock", "ref", "encoder", "f", "v"],
            {
                "headings": {"time": "clock", "command": "ref", "actual": "encoder"},
                "units": {"time": "s", "command": "mm", "actual": "mm"},
            },
            1e3,
        ),
    ],
)
def test_a_log_for_identification_is_one_for_the_report(headings, options, scale, rig, tmp_path):
    """By the same names, options and units: what the rig's robot was told, where it was, force and velocity."""
    values = [rig[name].values[:, 0] for name in ("position", "robot_position", "measured_force", "robot_velocity")]
    columns = [rig.time.values, scale * values[0], scale * values[1] + scale * 2e-4, *values[2:]]
    log = read_measured(write_log(tmp_path / "log.csv", headings, columns), rig, **options)
    found = columns_of(log, rig)
    assert found.pop("robot_position") == pytest.approx(2e-4, rel=1e-9)
    assert found == {name: pytest.approx(0, abs=1e-15) for name in ("position", "measured_force", "robot_velocity")}
    assert f"{headings[2]} is taken as robot_position.x of the run" in log.notes


def test_a_bounce_is_laid_over_a_contact(slow, tmp_path):
    """Its position is the depth, its force the contact's; the run's own names come first."""
    depth, force = slow.depth.values[:, 0], slow.normal_force.values[:, 0]
    bounce = [slow.time.values, 1e3 * depth + 0.1, force]
    log = read_measured(write_log(tmp_path / "log.csv", ["time [s]", "position [mm]", "force"], bounce), slow)
    assert columns_of(log, slow) == {"depth": pytest.approx(1e-4), "normal_force": 0.0}
    own = write_log(
        tmp_path / "own.csv", ["time [s]", "depth [mm]", "x [mm]", "normal_force [N]"], [*bounce[:2], depth, force]
    )
    log = read_measured(own, slow)
    assert columns_of(log, slow)["depth"] == pytest.approx(1e-4) and log.unused == ["x [mm]"] and log.notes == []


def test_a_log_without_times_has_a_period(slow, tmp_path):
    step = float(slow.time[1] - slow.time[0])
    even = slow.isel(time=slice(0, 200))
    force = np.interp(step * np.arange(200), slow.time.values, slow.normal_force.values[:, 0])
    file = write_log(tmp_path / "log.csv", ["number", "force"], [np.arange(200), force])
    log = read_measured(file, even, period=step)
    np.testing.assert_allclose(log.time, step * np.arange(200))
    rounded = write_log(tmp_path / "rounded.csv", ["t [s]", "force"], [np.round(2 + step * np.arange(200), 3), force])
    np.testing.assert_allclose(
        read_measured(rounded, even, shift=-2, period=step).time, step * np.arange(200), atol=1e-3
    )


@pytest.mark.full
def test_a_unit_that_is_taken_for_granted_is_told(slow, dock, tmp_path):
    """In one line; `--unit` states it by what the column is called in the log, too."""
    write_result(slow, tmp_path / "slow.nc")
    columns = [slow.time.values, 1e3 * slow.depth.values[:, 0], slow.normal_force.values[:, 0]]
    write_log(tmp_path / "log.csv", ["time [s]", "depth", "normal_force"], columns)
    done = dock("report", "slow.nc", "--log", "log.csv", "--out", "silent.html")
    assert done.stderr == "warning: log.csv: no unit stated: depth taken as m; normal_force taken as N\n"
    assert "no unit stated: depth taken as m" in (tmp_path / "silent.html").read_text(encoding="utf-8")
    stated = ("--unit", "depth=mm", "--unit", "normal force=N")
    done = dock("report", "slow.nc", "--log", "log.csv", *stated, "--out", "stated.html")
    assert (done.returncode, done.stderr) == (0, "")
    log = read_measured(tmp_path / "log.csv", slow, units={"depth": "mm"})
    assert columns_of(log, slow)["depth"] == pytest.approx(0, abs=1e-15)


def test_the_options_of_a_log_on_the_command_line(slow, dock, tmp_path):
    write_result(slow, tmp_path / "slow.nc")
    columns = [1e3 * slow.time.values, 1e3 * slow.depth.values[:, 0]]
    write_log(tmp_path / "log.csv", ["clock", "gauge"], columns)
    options = ["--log", "log.csv", "--time", "clock", "--unit", "time=ms", "--position", "gauge", "--unit", "mm"]
    done = dock("report", "slow.nc", *options, "--out", "one.html")
    assert (
        done.returncode == 0
        and done.stderr == f"warning: log.csv: gauge is taken as depth.{slow.contact.values[0]} of the run\n"
    )
    assert "at most 0 N" not in (tmp_path / "one.html").read_text(encoding="utf-8")
    for words, message in (
        (("--unit", "mm"), "--unit: of a measured log; must be with --log"),
        (
            ("--shift", "0 s", "--period", "2 ms", "--position", "x"),
            "--shift, --period, --position: of a measured log;",
        ),
        (
            ("--log", "log.csv"),
            "log.csv: no column is the time; must have one called time [s], or be named with --time;",
        ),
        (
            (*options[:6], "--position", "gauges"),
            "log.csv: --position gauges: no such column; the columns are clock, gauge",
        ),
        (
            (*options, "--command", "gauge"),
            "log.csv: --command gauge: is the commanded position, which the run does not have",
        ),
        ((*options[:6], "--unit", "lamp=mm"), "log.csv: --unit lamp=mm: no such column; the columns are clock, gauge"),
        (
            (*options[:6], "--unit", "=mm"),
            "--unit =mm: must be a unit, or COLUMN=UNIT with COLUMN one of time, command",
        ),
        ((*options[:4], "--position", "gauge"), "log.csv: clock: no unit stated; 1 of"),
    ):
        done = dock("report", "slow.nc", *words, "--out", "two.html")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {message}") and done.stderr.count("\n") == 1


@pytest.mark.full_cases("options0-depth")
@pytest.mark.parametrize(
    ("options", "word"), [(("--unit", "depth=kg"), "depth"), (("--unit", "position=kg"), "position")]
)
def test_a_unit_too_many_is_told_as_it_was_typed(options, word, slow, dock, tmp_path):
    """A column of depths can be called by its heading or as one of several roles: in the message it is what was typed."""
    (tmp_path / "log.csv").write_text("time [s],depth [mm]\n0,1\n0.1,2\n")
    slow.to_netcdf(tmp_path / "slow.nc")
    done = dock("report", "slow.nc", "--log", "log.csv", *options)
    told = f"log.csv: depth [mm] has its unit in the header; leave out --unit {word}=kg"
    assert (done.returncode, done.stderr) == (2, f"error: {told}\n")


@pytest.mark.full
def test_of_many_columns_the_nearest_are_named(slow, dock, tmp_path):
    headings = ["time", *(f"gauge {number}" for number in range(200))]
    rows = [",".join(headings), *(",".join([str(row)] * len(headings)) for row in range(3))]
    (tmp_path / "log.csv").write_text("\n".join(rows))
    slow.to_netcdf(tmp_path / "slow.nc")
    done = dock("report", "slow.nc", "--log", "log.csv", "--position", "gauge 17x")
    assert "no such column; the columns are gauge 17, " in done.stderr
    assert done.stderr.endswith(" and 195 more\n") and len(done.stderr) < 200


def test_of_many_variables_the_nearest_are_named(slow, tmp_path):
    others = {f"strain_{number}": ("time", slow.time.values) for number in range(100)}
    (tmp_path / "log.csv").write_text("time [s],strains [mm]\n0,1\n0.1,2\n")
    with pytest.raises(dockdyn.ScenarioError) as many:
        read_measured(tmp_path / "log.csv", slow.assign(others))
    assert re.search(r": no column is a variable of the run; did you mean 'strain_\d+'\?$", str(many.value))
    (tmp_path / "log.csv").write_text("time [s],x y [mm]\n0,1\n0.1,2\n")
    with pytest.raises(dockdyn.ScenarioError, match=r"; allowed: .* and 2[0-9]{2} more$") as many:
        read_measured(tmp_path / "log.csv", slow.assign(others))
    assert len(str(many.value)) < 300
