"""Scenarios of several files: what `include` merges, and how it refuses."""

from __future__ import annotations

import pytest
from helpers.line_rig import HEAD

import dockdyn

ROBOT = "[loop.robot]\nnumerator = [40000.0]\ndenominator = [1.0, 280.0, 40000.0]\n"
RIG = f"""{HEAD}
duration = "1 s"
contact.spring.normal = {{ law = "spring-dashpot", stiffness = "20 kN/m", damping = 50 }}

[body.target]
mass = "500 kg"
velocity = "0.05 m/s"

[loop]
delay = "2 ms"

[loop.hold]
period = "4 ms"
"""


def test_is_the_scenario_of_one_file(write_scenarios):
    write_scenarios(one=RIG + ROBOT, mine='include = "robot.toml"\n' + RIG, robot=ROBOT)
    one, mine = dockdyn.load("one.toml"), dockdyn.load("mine.toml")
    assert mine.text() == one.text() and "include" not in mine.text()
    changed = dockdyn.load("mine.toml", {"loop.robot.numerator.0": 39000})
    assert changed.content.loop.robot.numerator == [39000.0]


@pytest.mark.full
def test_what_is_stored_is_complete_without_the_other_file(write_scenarios, dock, tmp_path):
    write_scenarios(mine='include = "robot.toml"\n' + RIG, robot=ROBOT)
    assert dock("run", "mine.toml", "--out", "out", "--quiet").returncode == 0
    (tmp_path / "robot.toml").unlink()
    assert dockdyn.load("out/scenario.toml").content == dockdyn.load("out/scenario.toml").at({}).content
    assert dock("report", "out", "--force").returncode == 0


@pytest.mark.full
def test_what_identify_writes_can_be_included(write_scenarios, dock, tmp_path):
    """A robot from a log of a robot, without hand-work."""
    import numpy as np
    from scipy.signal import cont2discrete, lfilter

    time = 0.004 * np.arange(800)
    command = 0.02 * np.sin(2 * np.pi * (0.5 + 3 * time) * time)
    top, bottom, _ = cont2discrete(([40000.0], [1.0, 280.0, 40000.0]), 0.004)
    actual = lfilter(np.ravel(top), bottom, command)
    rows = (f"{t!r},{x!r},{y!r}\n" for t, x, y in zip(time.tolist(), command.tolist(), actual.tolist(), strict=True))
    (tmp_path / "log.csv").write_text("time [s],command [m],actual [m]\n" + "".join(rows))
    write_scenarios(mine='include = "found/robot.toml"\n' + RIG)
    assert dock("identify", "robot", "log.csv", "--out", "found").returncode == 0
    robot = dockdyn.load("mine.toml").content.loop.robot
    assert robot.denominator == pytest.approx([1.0, 280.0, 40000.0], rel=1e-6)


def test_paths_count_from_the_file_that_includes(write_scenarios, tmp_path):
    """Also that of a mesh in the included file."""
    (tmp_path / "rigs").mkdir()
    (tmp_path / "rigs" / "arm.stl").write_text("")
    docking = 'schema = 2\nduration = 1\ninclude = ["rigs/more.toml"]\n'
    write_scenarios(mine=docking, rigs__more='[body.chaser]\nmass = 5\nlook = "arm.stl"\n')
    with pytest.raises(dockdyn.ScenarioError, match=r"^rigs/more\.toml: body\.chaser\.inertia: missing"):
        dockdyn.load("mine.toml")
    (tmp_path / "rigs" / "arm.stl").unlink()
    with pytest.raises(dockdyn.ScenarioError, match=r"^rigs/more\.toml: body\.chaser\.look = 'arm\.stl': no such file"):
        dockdyn.load("mine.toml")


def test_a_file_that_two_include_is_read_once(write_scenarios):
    write_scenarios(
        mine='include = ["a.toml", "b.toml"]\n' + RIG, a='include = "robot.toml"', b='include = ["robot.toml"]'
    )
    write_scenarios(robot=ROBOT)
    assert dockdyn.load("mine.toml").content.loop.robot.numerator == [40000.0]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "mine.toml: include = 'b.toml': no such file; must be a TOML file, relative to mine.toml"),
        ({"b": 'include = "mine.toml"'}, "b.toml: include = 'mine.toml': goes round (mine.toml, b.toml, mine.toml)"),
        ({"b": 'include = "b.toml"'}, "b.toml: include = 'b.toml': goes round (mine.toml, b.toml, b.toml)"),
        ({"b": "include = 3"}, "b.toml: include = 3: must be the path of a TOML file, or a list of such paths"),
        (
            {"b": 'loop.delay = "3 ms"'},
            "mine.toml: loop.delay = '2 ms': b.toml has '3 ms'; must be in one of the files",
        ),
        (
            {"b": 'include = "c.toml"\n' + ROBOT, "c": "loop.robot.numerator = [3]"},
            "b.toml: loop.robot.numerator = [40000.0]: c.toml has [3]; must be in one of the files only, or alike",
        ),
        ({"b": "loop.robot.rate_limt = 3"}, "b.toml: loop.robot.rate_limt: unknown key; did you mean 'rate_limit'?"),
        ({"b": ROBOT.replace("280.0", "'x'")}, "b.toml: loop.robot.denominator.1 = 'x': must be a number"),
        ({"b": ROBOT.replace("280.0", "-280.0")}, "b.toml: loop.robot: must be stable"),
        (
            {"b": ROBOT + 'include = "c.toml"'},
            "b.toml: loop.robot.include: unknown key; must stand above the first table",
        ),
        ({"b": "loop.robot = ["}, "b.toml: not TOML: "),
    ],
)
def test_refuses_in_one_line_that_names_the_file(files, message, write_scenarios, dock):
    write_scenarios(mine='include = "b.toml"\n' + RIG, **files)
    done = dock("stability", "mine.toml")
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {message}")


def test_a_key_that_is_set_is_not_of_the_file(write_scenarios):
    write_scenarios(mine='include = "robot.toml"\n' + RIG, robot=ROBOT)
    with pytest.raises(dockdyn.ScenarioError, match=r"^mine\.toml: loop\.robot\.denominator\.1 = 'x'"):
        dockdyn.load("mine.toml", {"loop.robot.denominator.1": "x"})
    with pytest.raises(dockdyn.ScenarioError, match=r"^mine\.toml: include = 'a': cannot be set"):
        dockdyn.load("mine.toml", {"include": "a"})


def test_a_table_that_two_files_state_part_of_is_told_of_both(write_scenarios):
    write_scenarios(
        robot='[loop.robot]\nbandwidth = "10 Hz"\n',
        rig=f'include = "robot.toml"\n{RIG}\n[loop.robot]\npoles = [[-5.0, 0.0]]\ngain = 5.0\n',
    )
    with pytest.raises(dockdyn.ScenarioError, match=r"^rig\.toml: loop\.robot: .*; robot\.toml states some of it$"):
        dockdyn.load("rig.toml")
