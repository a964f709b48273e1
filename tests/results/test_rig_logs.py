"""The log of a driven rig as columns: the same robot through each kind of file."""

import numpy as np
import pytest
from helpers.refusals import refused
from scipy.signal import lfilter

import dockdyn
from dockdyn.realtime.rig_log import RigLogWriter
from dockdyn.results.exchange.log_dataset import log_dataset
from dockdyn.results.exchange.log_file import log_in, table_of
from dockdyn.results.exchange.log_roles import CLOCK, POSITION
from dockdyn.results.exchange.measured_log import read_measured
from dockdyn.studies.identification.robot import identify_robot

pytest.importorskip("mcap_ros2.writer")
PERIOD, DEAD = 4e-3, 3  # s; cycles
A, B = [1, -1.6402136, 0.6960791], [0, 0.0296194, 0.0262461]
RECORD = np.dtype(
    [
        *((name, "i8") for name in ("time", "answer", "waiting")),
        ("joints", "f8", (6,)),
        ("inputs", [("load", "f8", (1,)), ("pose", "f8", (1,)), ("pose_count", "i8")]),
        (
            "outputs",
            [
                *((name, "f8", (1,)) for name in ("command", "model_pose", "model_rate", "load", "position")),
                *((name, "i8") for name in ("state", "cause", "tick")),
            ],
        ),
    ]
)


@pytest.fixture
def log(tmp_path):
    """A robot that counts in milliseconds; the computer's clock trembles, and every 50th cycle has no pose."""
    rng, count = np.random.default_rng(5), 1500
    command = np.cumsum(rng.standard_normal(count)) * 1e-4
    late = np.concatenate([np.full(DEAD, command[0]), command[:-DEAD]])
    actual = command[0] + lfilter(B, A, late - command[0]) + 1e-7 * rng.standard_normal(count)
    path, time = tmp_path / "rig.mcap", 0
    with path.open("wb") as file:
        writer = RigLogWriter(file, RECORD, dockdyn.load("epos-like-driven").text())
        number = 0
        for cycle in range(count):
            for again in range(1 + (cycle % 50 == 49)):
                row = np.zeros((), RECORD)
                time += round(1e6 * rng.uniform(3.0, 5.0))
                row["time"], row["inputs"]["pose_count"] = time, 1000 + 4 * cycle
                row["inputs"]["pose"], row["outputs"]["command"] = actual[cycle], command[cycle] if not again else 9.0
                row["outputs"]["load"], row["outputs"]["tick"] = -cycle, max(cycle - 99, 0)
                writer.write(row[()], number, 10**18)
                number += 1
        writer.finish(0)
    return path


def test_columns_are_of_the_cycles_that_have_a_pose_on_the_robots_clock(log):
    columns = {column.heading: np.asarray(column.cells) for column in table_of(log).columns}
    time = columns["time [s]"]
    np.testing.assert_allclose(time, (np.arange(1500) - 99) * PERIOD, atol=1e-9)  # 0 where the virtual spacecraft start
    assert columns["command [m]"].max() < 9.0
    np.testing.assert_array_equal(columns["measured_force [N]"], -np.arange(1500.0))


@pytest.mark.full
def test_the_position_is_that_of_the_encoders_not_of_the_virtual_spacecraft(log):
    """For a contact, and beside a run whose own position has the log's other column."""
    table = table_of(log)
    columns = {column.heading: np.asarray(column.cells) for column in table.columns}
    read = log_in(table, [CLOCK, POSITION], {})
    np.testing.assert_array_equal(read.signals["position"], columns["actual [m]"])
    run = dockdyn.simulate(dockdyn.load("sits", {"duration": "1 s"}))
    beside = read_measured(log, run)
    np.testing.assert_array_equal(beside.columns["robot_position.x"], columns["actual [m]"])
    np.testing.assert_array_equal(beside.columns["position.x"], columns["position [m]"])


@pytest.mark.full
def test_the_robot_is_the_same_through_each_kind_of_file(log, tmp_path):
    dataset, _ = log_dataset(log)
    netcdf, csv = tmp_path / "rig.nc", tmp_path / "rig.csv"
    dataset.to_xarray().to_netcdf(netcdf)
    rows = 1e3 * np.stack([dataset[name].values for name in ("time", "command", "actual")], axis=1)
    lines = ["time [ms];command [mm];actual [mm]", *(";".join(map(repr, row)) for row in rows.tolist())]
    csv.write_text("\n".join(lines) + "\n")
    for path in (log, netcdf, csv):
        found = identify_robot(path, orders=(2, 2))
        assert found.dead_time == pytest.approx(DEAD * PERIOD, abs=1e-9), path
        np.testing.assert_allclose(found.fit.a, A[1:], atol=2e-3)
        assert found.percent > 99.9


@pytest.mark.full
def test_a_log_whose_scenario_has_no_cycle_is_refused_in_one_line(log, tmp_path):
    path = tmp_path / "other.mcap"
    with path.open("wb") as file:
        writer = RigLogWriter(file, RECORD, "title = 'nothing'")
        writer.write(np.zeros((), RECORD)[()], 0, 0)
        writer.finish(0)
    with refused(match=r"no loop\.hold\.period"):
        table_of(path)
