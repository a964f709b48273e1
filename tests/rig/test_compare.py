"""`dockdyn compare`: all compensators on one rig over a range of stiffness."""

import json

import numpy as np
import pytest
import xarray as xr
from identify_logs import lines, log, written
from mcap_files import BEGAN, json_file

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.rig.comparison import compare
from dockdyn.rig.comparison.compare import laws_of
from dockdyn.rig.comparison.stiffnesses import stiffness_range
from dockdyn.scenario.tables.rig.compensators import laws

SHORT = ("--set", "duration=3 s")
STIFFNESS = "contact.spring.normal.stiffness"


def test_a_range_of_stiffness_takes_units_lists_and_ratios():
    assert stiffness_range("2e3:2e5:3", STIFFNESS) == pytest.approx([2e3, 2e4, 2e5], rel=1e-12)
    assert stiffness_range("2 kN/m:200 kN/m:3", STIFFNESS) == pytest.approx([2e3, 2e4, 2e5], rel=1e-12)
    assert repr(stiffness_range("2000:200000:5", STIFFNESS)[2]) == "20000.0"  # as a command writes it
    assert stiffness_range([5000, "20 kN/m"], STIFFNESS) == [5e3, 2e4]
    assert stiffness_range(2e4, STIFFNESS) is None and stiffness_range("20 kN/m", STIFFNESS) is None
    rig = dockdyn.load("sits")
    assert laws_of("all", rig) == ["none", *laws()]
    assert laws_of("lead-energy, none,lead-energy", rig) == ["lead-energy", "none"]


WRONG = [
    (("sits", "--compensators", "lead-enrgy"), ["--compensators lead-enrgy", "'lead-energy'"]),
    (("sits", "--compensators", ","), ["names none", "all"]),
    (("sits", "--set", f"{STIFFNESS}=2e5:2e3:5"), [STIFFNESS, "must rise"]),
    (("sits", "--set", f"{STIFFNESS}=2e3:2e5"), ["LOW:HIGH:COUNT"]),
    (("sits", "--set", f"{STIFFNESS}=2e3:2e5:1"), ["COUNT from 2 to 200"]),
    (("sits", "--set", f"{STIFFNESS}=0:2e5:5"), ["greater than 0 N/m"]),
    (("sits", "--set", f"{STIFFNESS}=[1e4, -5]"), ["-5", "greater than 0 N/m"]),
    (("sits", "--set", f"{STIFFNESS}=5 N"), ["'5 N'", "stiffness"]),
    (("epos-like", "--set", f"{STIFFNESS}=2e3:2e5:3"), [STIFFNESS, "--set contact.probe.normal.stiffness"]),
    (("probe-cone",), ["rig: missing", "must be a [rig]"]),
    (("sits", "--set", "body.target.mass=-1"), ["body.target.mass", "greater than 0 kg"]),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_what_cannot_be_compared_is_one_clear_line(dock, arguments, words):
    dock("compare", *arguments, "--json").check_refused(*words)


@pytest.mark.full
def test_the_robot_of_a_log_takes_the_place_of_the_scenarios(dock, tmp_path):
    """The log is of the preset's own robot: what is compared is the same, from CSV and MCAP to the last bit."""
    rows = log()
    written(tmp_path, lines(rows))
    stamps = [BEGAN + round(1e9 * time) for time in rows[:, 0]]
    texts = [line.split(",")[1:] for line in lines(rows)[1:]]
    messages = [{"command": float(command), "actual": float(actual)} for command, actual in texts]
    json_file(tmp_path / "log.mcap", {"/robot": (stamps, messages)})
    given = ("--compensators", "none", *SHORT, "--set", f"{STIFFNESS}=20000", "--json")
    _, plain, _ = dock("compare", "sits", *given)
    orders = {}
    for name, options in (("log.csv", ()), ("log.mcap", ("--unit", "mm"))):
        code, out, err = dock("compare", "sits", *given, "--log", name, *options)
        assert code == 0 and f"Robot of {name}: explains 100 % of the motion, dead time 0 s" in err
        orders[name] = json.loads(out)["rows"]
    assert orders["log.csv"] == orders["log.mcap"]
    ((own,), (found,)) = json.loads(plain)["rows"], orders["log.csv"]
    assert found["amplitude_ratio"] == pytest.approx(own["amplitude_ratio"], rel=1e-4)
    code, _, err = dock("compare", "sits", *given, "--command", "x")
    assert (code, err) == (cli.BAD_INPUT, "error: --command: of a measured log; must be with --log\n")


@pytest.mark.full
def test_the_dead_time_of_a_log_is_what_commands_wait(dock, tmp_path):
    """Where the scenario has commands that wait; else a warning tells that the loop's delay leaves it out."""
    rows = log()
    for late in (3, 4):  # samples of 2 ms
        later = np.column_stack([rows[late:, :2], rows[:-late, 2]])
        written(tmp_path, lines(later), f"late-{late}.csv")
    given = ("--compensators", "none", *SHORT, "--set", f"{STIFFNESS}=20000", "--json")
    waiting = ("--set", "loop.hold.applies_after=1")
    _, plain, _ = dock("compare", "sits", *given, "--set", "loop.hold.applies_after=2")
    code, out, err = dock("compare", "sits", *given, *waiting, "--log", "late-4.csv")
    assert code == 0 and "dead time 0.008 s" in err and "loop.delay" not in err
    ((own,), (found,)) = json.loads(plain)["rows"], json.loads(out)["rows"]
    assert found["amplitude_ratio"] == pytest.approx(own["amplitude_ratio"], rel=1e-4)
    code, _, err = dock("compare", "sits", *given, *waiting, "--log", "late-3.csv")
    assert code == cli.BAD_INPUT and "0.006 s is no whole number of periods of 0.004 s of the hold" in err
    code, _, err = dock("compare", "sits", *given, "--log", "late-4.csv")
    assert code == 0 and "warning: loop.delay of 0 s is less than the robot's dead time" in err


@pytest.mark.full
def test_rows_are_the_measures_of_runs(dock, tmp_path):
    """One lane of a comparison is the run of that stiffness."""
    law = "--compensators", "none,fixed-gain"
    code, out, err = dock("compare", "sits", *law, *SHORT, "--set", f"{STIFFNESS}=[10000, 20000]", "--json")
    assert (code, err) == (0, "") and list(tmp_path.iterdir()) == []
    found = json.loads(out)
    rows = {(row["compensator"], row["stiffness_N_m"]): row for row in found["rows"]}
    assert list(rows) == [("none", 1e4), ("none", 2e4), ("fixed-gain", 1e4), ("fixed-gain", 2e4)]
    stated = {"law": "fixed-gain", "velocity": "model", "gain": "91.07 N s/m", "period": "2 ms"}
    for name, compensator in (("none", None), ("fixed-gain", stated)):
        changes = {"duration": "3 s", STIFFNESS: 1e4} | (
            {} if compensator is None else {"loop.compensator": compensator}
        )
        run = dockdyn.summarise(dockdyn.simulate(dockdyn.load("sits", changes)))
        row = rows[name, 1e4]
        assert set(row) - {"compensator"} <= set(run)
        for key in set(row) - {"compensator"}:
            assert row[key] == pytest.approx(run[key], rel=1e-6, abs=1e-7), key
    assert found["settings"]["fixed-gain"]["gain"] == 91.07  # of [compare.fixed-gain] in the preset
    assert found["tuned_at_N_m"] == 20000
    assert found["recommended"] == "fixed-gain"  # the nearer of the two


def test_what_a_compensator_did_is_computed_once_for_all_comparisons(monkeypatch):
    """And again for another rig, another stiffness and other numbers of it; kept or new, it says the same."""
    computed = []

    def count(lanes, rigs, ideals, made=compare._compare_law):
        computed.append(len(rigs))
        return made(lanes, rigs, ideals)

    def compared(laws, changes, stiffnesses=(1e4, 2e4)):
        computed.clear()
        return dockdyn.compare(dockdyn.load("sits", {"duration": "1 s"} | changes), laws, stiffnesses)

    monkeypatch.setattr(compare, "_compare_law", count)
    slow = {"loop.robot.rate_limit": "50.1 mm/s"}
    two, gain = ["none", "fixed-gain"], "compare.fixed-gain.gain"
    first = compared(two, slow)
    assert len(computed) == 2 and json.loads(first.attrs["limit_warnings"])
    again = compared(two, slow)
    assert not computed
    xr.testing.assert_identical(first, again)
    whole = compared(["lead-energy", *two], slow)
    assert len(computed) == 1
    xr.testing.assert_equal(whole.sel(compensator=two), first)
    for names, changes, stiffnesses, count_of_new in (
        (two, slow | {gain: "80 N s/m"}, (1e4, 2e4), 1),
        (two, slow | {"body.target.mass": 400.0}, (1e4, 2e4), 2),
        (two, slow, (1e4, 2.5e4), 2),
        (two, {}, (1e4, 2e4), 2),
    ):
        assert not compared(names, changes, stiffnesses).equals(first)
        assert len(computed) == count_of_new


@pytest.mark.full
def test_files_open_again_and_name_the_best(dock, tmp_path):
    laws = "--compensators", "none,command-lead,lead-energy"
    code, out, err = dock("compare", "unknown-stiffness", *laws, *SHORT, "--set", f"{STIFFNESS}=5e3:8e4:3")
    assert code == 0, err
    folder = tmp_path / "unknown-stiffness-compare"
    assert sorted(file.name for file in folder.iterdir()) == ["compare.nc", "report.html", "scenario.toml"]
    assert "Nearest to the motion without rig" in " ".join(out.split())
    stored = dockdyn.open_result(folder / "compare.nc")
    assert stored.amplitude_ratio.dims == ("compensator", "stiffness")
    assert all(stored[name].attrs["units"] and stored[name].attrs["long_name"] for name in stored.data_vars)
    ratios = stored.amplitude_ratio
    assert (ratios.sel(compensator="none") > 1.02).all()
    assert np.abs(ratios.sel(compensator=["command-lead", "lead-energy"]) - 1).max() < 0.02
    page = (folder / "report.html").read_text()
    assert "Amplitude over stiffness" in page and page.count("<figure ") == 2
    assert dock("report", folder / "compare.nc", "--out", "again.html")[0] == 0
    assert (tmp_path / "again.html").read_text() == page
    assert dock("compare", "unknown-stiffness", *laws, *SHORT)[0] == cli.BAD_INPUT  # the folder is there


@pytest.mark.full
def test_single_bounces_over_stiffness(dock):
    """Undamped, ideal 1: without a compensator restitution is exp(π ω τ/2) to first order in the delay τ."""
    bounce = (
        "--set",
        "contact.spring.bilateral=false",
        "--set",
        "contact.spring.normal={law='spring-dashpot', stiffness=2e4}",
    )
    code, out, err = dock(
        *("compare", "unknown-stiffness", "--compensators", "none,lead-energy", *SHORT, *bounce),
        *("--set", f"{STIFFNESS}=[5e3, 2e4]", "--json"),
    )
    assert code == 0, err
    for row in json.loads(out)["rows"]:
        assert row["ideal_restitution"] == pytest.approx(1, abs=1e-6)
        late = 5.5526e-3 * np.sqrt(row["stiffness_N_m"] / 500) * np.pi / 2
        wanted, close = (np.exp(late), 0.01) if row["compensator"] == "none" else (1.0, 2e-3)
        assert row["apparent_restitution"] == pytest.approx(wanted, abs=close)
