"""The numbers of the tutorial on a rig in real time, in lockstep: from the robot that was assumed to the right rebound."""

import json
import re

import numpy as np
import pytest
from driven_rigs import needs_compiler
from places import DOCS
from rig_experiment import experiment, restitution

import dockdyn
from dockdyn.studies.identification.robot import identify_robot, read_robot_log, robot_table

pytestmark = [needs_compiler, pytest.mark.full]
PRESET, COLUMNS = "epos-like-driven", {"command": "command.x", "actual": "actual.x"}
TRUE = {"loop.robot.bandwidth": "10.4 Hz"}  # 30 % stiffer than the 8 Hz of the preset
PAGE = (DOCS / "tutorial-rig-real-time.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Folder with the logs of the first day and of the last; the rebounds of the days, and the true one."""
    folder = tmp_path_factory.mktemp("rig")
    true, run = dockdyn.load(PRESET, TRUE), dockdyn.simulate(dockdyn.load(PRESET))
    shown = {}

    def day(name, **keys):
        found = experiment(dockdyn.load(PRESET, keys), true, folder / f"{name}.mcap")
        shown[name], shown["true"] = restitution(found, run)

    day("first")
    day("assumed", **{"loop.compensator.law": "command-lead"})
    robot = robot_table(identify_robot(read_robot_log(folder / "first.mcap", COLUMNS)))
    day("identified", **{"loop.robot": robot, "loop.compensator.law": "command-lead"})
    return folder, shown


def test_the_robot_is_found_in_the_log_of_the_first_day(days):
    """Its lag, which is that of the transfer function at rest, within 2 %, the time until a command applies within 0.2 ms."""
    folder, _ = days
    found = identify_robot(read_robot_log(folder / "first.mcap", COLUMNS))
    true = dockdyn.load(PRESET, TRUE).content.loop.robot.transfer()

    def lag(transfer):
        return float(-np.angle(transfer.at(np.array([1e-3j]))[0]) / 1e-3)

    assert lag(found.transfer) == pytest.approx(lag(true), rel=0.02)
    assert found.dead_time == pytest.approx(8e-3, abs=0.2e-3)
    assert f"{1e3 * lag(true):.1f} ms" in PAGE


def test_the_rebound_is_right_once_the_robot_is_known(days):
    _, shown = days
    assert shown["identified"] == pytest.approx(shown["true"], rel=0.02)
    assert abs(shown["assumed"] / shown["true"] - 1) > 0.02
    assert shown["first"] > 1.1 * shown["true"]
    for name, value in shown.items():
        assert f"{value:.3f}" in PAGE, f"{name}: {value}"


def test_a_comparison_with_the_log_recommends_what_mends_it(days, dock):
    folder, _ = days
    words = ["--compensators", "none,fixed-gain,passivity,command-lead,lead-energy", "--json", "--quiet"]
    words += ["--command", "command.x", "--actual", "actual.x", "--set", "contact.probe.normal.stiffness=1e3:4e3:3"]
    told = dock("compare", PRESET, "--log", str(folder / "first.mcap"), *words)
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["recommended"] == "command-lead"
    assert "Nearest to the motion without rig from 1000 to 4000 N/m: command-lead" in PAGE
    for law, worst in found["worst_error"].items():
        shown = re.search(rf"^ {law} .* (\S+) *$", PAGE, re.MULTILINE)
        assert shown, law
        assert float(shown[1]) == pytest.approx(worst, rel=0.05), law


def test_the_page_reads_the_rebound_from_a_log(days, tmp_path, monkeypatch, dock):
    folder, shown = days
    monkeypatch.chdir(tmp_path)
    for name in ("first", "identified"):
        assert dock("export", str(folder / f"{name}.mcap"), "--to", "nc", "--out", f"{name}.nc").returncode == 0
    names = {}
    exec(re.search(r"^```py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1], names)
    for name in ("first", "identified"):
        assert names["rebound"](f"{name}.nc") == pytest.approx(shown[name], abs=2e-3)
