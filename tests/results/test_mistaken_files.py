"""A file given in the place of another: it is said what it is and what to do; endings and columns are found."""

import numpy as np
import pytest

import dockdyn
from dockdyn.results.exchange.log_file import read_log
from dockdyn.results.exchange.log_roles import ACTUAL, COMMAND, FORCE, OF_CONTACT, OF_ROBOT, POSITION
from dockdyn.results.store import write_result

SCENARIO = {"duration": "20 ms"}


@pytest.fixture
def files(tmp_path):
    """One of each sort, by name, in the working folder of `dock`."""
    scenario = dockdyn.load("sits", SCENARIO)
    (tmp_path / "run").mkdir()
    (tmp_path / "run/scenario.toml").write_text(scenario.text())
    write_result(dockdyn.simulate(scenario), tmp_path / "run/result.nc")
    (tmp_path / "log.csv").write_text("time [s],cmd [m],act [m]\n" + "".join(f"{0.004 * i},0,0\n" for i in range(9)))
    return tmp_path


LOG, RESULT, FOLDER, FILE = "log.csv", "run/result.nc", "run", "run/scenario.toml"
LAY = "log.csv: is a log, not a result; lay it over a run with dockdyn report RESULT.nc --log log.csv"
FIND = "log.csv: is a log, not a scenario; find the robot in it with dockdyn identify robot log.csv"
RUN = "run/scenario.toml: is a scenario, not a result; run it first: dockdyn run run/scenario.toml"
MISTAKES = [
    *((words, LAY) for words in (("report", LOG), ("view", LOG))),
    *((words, FIND) for words in (("run", LOG), ("stability", LOG), ("compare", LOG), ("campaign", "run", LOG))),
    *((words, RUN) for words in (("report", FILE), ("view", FILE), ("export", FILE, "--to", "csv"))),
    *(
        ((*words, given), f"{given}: is a result, not a scenario; its scenario stands beside it, in run/scenario.toml")
        for words in (("run",), ("stability",), ("design",))
        for given in (RESULT, FOLDER)
    ),
    (("identify", "robot", FOLDER), "run: is a result, not a log; give the log"),
    (("identify", "robot", RESULT), "run/result.nc: is a result, not a log; give the log"),
    (("identify", "contact", FILE), "run/scenario.toml: is a scenario, not a log; give the log itself"),
    (("rig", "replay", RESULT), "run/result.nc: is a result, not the log of a rig; must be an MCAP file"),
]


@pytest.mark.full
def test_what_is_given_is_named_and_what_to_do_said(dock, files):
    for words, said in MISTAKES:
        ended = dock(*words)
        ended.check_refused()
        assert ended.stderr.startswith(f"error: {said}"), (words, ended.stderr)


@pytest.mark.full
def test_the_folder_of_a_run_is_opened_as_its_result(files):
    of_folder, of_file = dockdyn.open_result(files / FOLDER), dockdyn.open_result(files / RESULT)
    assert of_folder.attrs == of_file.attrs and np.array_equal(of_folder.time.values, of_file.time.values)
    with pytest.raises(dockdyn.ScenarioError, match=r"is a folder without one result; .*result\.nc"):
        dockdyn.open_result(files)


def test_files_for_other_programs_have_their_ending(dock, files):
    for words, wanted in (
        (("export", RESULT, "--to", "mat", "--out", "NAME"), "NAME.mat"),
        (("export", RESULT, "--to", "mat", "--out", "v1.2"), "v1.2.mat"),
        (("export", RESULT, "--to", "mat", "--out", "other.MAT"), "other.MAT"),
        (("export", RESULT, "--to", "svg", "--figure", "force", "--out", "a"), "a.svg"),
        (("export", LOG, "--to", "nc", "--out", "b"), "b.nc"),
        (("report", RESULT, "--out", "c"), "c.html"),
    ):
        ended = dock(*words)
        assert ended.returncode == 0 and (files / wanted).is_file(), (words, ended)


NAMES = [
    *(("command", name) for name in ("cmd", "Cmd", "x_cmd", "q_cmd", "position command", "Desired", "command.x")),
    *(("actual", name) for name in ("act", "ACT", "x act", "q_act", "position_act", "actual_x")),
]


@pytest.mark.parametrize(("role", "name"), NAMES)
def test_columns_are_known_by_their_usual_names(role, name, tmp_path):
    other = {"command": "actual", "actual": "command"}[role]
    path = tmp_path / "log.csv"
    path.write_text(f"time [s],{name} [mm],{other} [m]\n0,1,2\n1,3,5\n")
    found = read_log(path, OF_ROBOT, {})
    assert found.signals[role].tolist() == [1e-3, 3e-3] and found.signals[other].tolist() == [2.0, 5.0]


def test_of_several_axes_the_one_that_moves_is_taken(tmp_path):
    """The same axis for all roles, whichever has the larger range in another, and told; a named one is taken as named."""
    rng, count = np.random.default_rng(7), 20
    for moving in "xyz":
        columns = {"time [s]": 0.004 * np.arange(count)}
        for role in ("command", "actual", "position", "measured_force"):
            for axis in ("x", "y", "z"):
                large = (axis == moving) == (role in ("command", "position"))
                columns[f"{role}.{axis} [{'N' if 'force' in role else 'm'}]"] = rng.normal(size=count) * (
                    5 if large else 0.1
                )
            columns[f"{role}.rx [rad]"] = 100 * rng.normal(size=count)
        path = tmp_path / f"{moving}.csv"
        np.savetxt(path, np.stack(list(columns.values()), 1), delimiter=",", header=",".join(columns), comments="")
        for roles, pair in ((OF_ROBOT, (COMMAND, ACTUAL)), (OF_CONTACT, (POSITION, FORCE))):
            found = read_log(path, roles, {})
            for role in pair:
                column = {"measured-force": "measured_force"}.get(role.name, role.name)
                (wanted,) = (values for name, values in columns.items() if name.startswith(f"{column}.{moving} "))
                np.testing.assert_allclose(found.signals[role.name], wanted)
            assert "the one that moves most is taken" in found.notes[0] and f".{moving} " in found.notes[0]
        asked = read_log(path, OF_ROBOT, {"command": "command.x", "actual": "actual.x"})
        np.testing.assert_allclose(asked.signals["actual"], columns["actual.x [m]"])
