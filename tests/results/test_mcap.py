"""Runs in MCAP and Parquet files: what is read back is what the run has, in messages that other tools know."""

import json
import sys

import numpy as np
import pytest
import xarray as xr
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from pyarrow.parquet import read_table

from dockdyn.results.exchange.columns import table_columns
from dockdyn.results.exchange.export import export_csv, export_parquet
from dockdyn.results.exchange.export_mcap import export_mcap
from dockdyn.results.exchange.log_file import table_of
from dockdyn.results.exchange.measured_log import log_residuals, read_measured
from dockdyn.results.store import write_result

DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"


@pytest.fixture(scope="module")
def run(shared_run):
    return shared_run("idss-probe-cone", {"duration": "2 s", "output.interval": "10 ms"})


def decoded(path):
    """Messages by topic, with their times and the names of their types; and the summary."""
    found: dict = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True)
        for schema, channel, message, content in reader.iter_decoded_messages():
            found.setdefault((channel.topic, schema.name), []).append((message.log_time, content))
        attached = {each.name: each.data.decode() for each in reader.iter_attachments()}
        return found, reader.get_summary(), attached


@pytest.mark.full
def test_a_run_is_the_same_log_in_all_files(run, tmp_path):
    """Bit for bit, time too, though stamps of MCAP are whole nanoseconds."""
    export_csv(run, tmp_path)
    export_mcap(run, tmp_path / "run.mcap")
    write_result(run, tmp_path / "run.nc")
    plain, *others = (read_measured(tmp_path / name, run) for name in ("time.csv", "run.mcap", "run.nc"))
    assert {each.rms for each in log_residuals(run, plain)} == {0.0}
    for other in others:
        assert other.time.tobytes() == plain.time.tobytes() and other.columns.keys() == plain.columns.keys()
        assert all(values.tobytes() == other.columns[name].tobytes() for name, values in plain.columns.items())
        assert (other.notes, other.unused) == (plain.notes, plain.unused)


@pytest.mark.full
def test_what_other_tools_read_is_what_the_run_has(run, tmp_path):
    written = export_mcap(run, tmp_path / "run.mcap")
    found, summary, attached = decoded(tmp_path / "run.mcap")
    rows = run.sizes["time"]
    assert written.messages == summary.statistics.message_count == sum(map(len, found.values()))
    assert written.channels == len(found) and {each.compression for each in summary.chunk_indexes} == {"zstd"}
    assert attached == {"scenario.toml": run.attrs["scenario"]}
    for place, body in enumerate(run.body.values):
        poses = found[f"/{body}/pose", "geometry_msgs/msg/PoseStamped"]
        assert [time for time, _ in poses] == np.rint(1e9 * run.time.values).astype(int).tolist()
        turned = [[getattr(each.pose.orientation, axis) for axis in "wxyz"] for _, each in poses]
        np.testing.assert_array_equal(turned, run.attitude.values[:, place])
        np.testing.assert_array_equal([each.pose.position.y for _, each in poses], run.position.values[:, place, 1])
    for place, point in enumerate(run.point.values):
        loads = found[f"/{point.replace(' ', '_')}/load", "geometry_msgs/msg/WrenchStamped"]
        assert len(loads) == rows
        np.testing.assert_array_equal([each.wrench.torque.z for _, each in loads], run.load_moment.values[:, place, 2])
    ((_, last),) = found["/diagnostics", DIAGNOSTICS]
    assert (last.status[0].level, last.status[0].message) == (0, run.attrs["status"])
    assert [each.time for _, each in found["/run", "dockdyn/msg/Run"]] == run.time.values.tolist()


def test_joints_are_joint_states_and_names_are_kept_apart(tmp_path):
    angle = np.array([[0.1, -0.0], [1e-310, 2.0]])
    joints = {
        "joint_angle": (("time", "joint"), angle),
        "joint_rate": (("time", "joint"), -angle),
        "depth": (("time", "contact"), angle),
        "word": ("time", ["a", "ß"]),
    }
    places = {"joint": ["left array", "right"], "contact": ["tip [left]", "tip (left)"]}
    clock = ("time", [0.0, 1 / 3], {"units": "s"})
    made_up = xr.Dataset(
        joints, {**places, "time": clock}, {"setup": "mechanism", "scenario": "", "finished": 0, "status": "stopped"}
    )
    export_mcap(made_up, tmp_path / "run.mcap")
    found, *_ = decoded(tmp_path / "run.mcap")
    states = [each for _, each in found["/joint_states", "sensor_msgs/msg/JointState"]]
    assert states[0].name == ["left array", "right"] and found["/diagnostics", DIAGNOSTICS][0][1].status[0].level == 2
    np.testing.assert_array_equal([list(each.position) for each in states], angle)
    np.testing.assert_array_equal([list(each.velocity) for each in states], -angle)
    _, row = found["/run", "dockdyn/msg/Run"][1]
    assert (row.time, row.depth_tip_left, row.depth_tip_left_2, row.word) == (1 / 3, 1e-310, 2.0, "ß")
    table = table_of(tmp_path / "run.mcap")
    assert table.headings[:1] == ["time [s]"] and table.headings[5:] == ["depth.tip [left]", "depth.tip (left)"]


@pytest.mark.full
def test_parquet_tables_are_those_of_csv(run, tmp_path):
    files = export_parquet(run, tmp_path / "tables")
    assert {path.stem for path in files} == {"-".join(over) or "values" for over in table_columns(run)}
    for over, columns in table_columns(run).items():
        found = read_table(tmp_path / "tables" / f"{'-'.join(over) or 'values'}.parquet")
        assert found.column_names == [each.heading for each in columns]
        assert json.loads(found.schema.metadata[b"dockdyn"])["scenario"] == run.attrs["scenario"]
        for column in columns:
            values = found[column.heading].to_numpy()
            np.testing.assert_array_equal(values, column.values)
            assert column.values.dtype.kind != "f" or values.tobytes() == column.values.tobytes()


def test_the_command(run, dock, monkeypatch, tmp_path):
    write_result(run, tmp_path / "run.nc")
    assert dock("export", "run.nc", "--to", "mcap").stdout.startswith("Wrote run.mcap: ")
    held = (tmp_path / "run.mcap").read_bytes()
    again = dock("export", "run.nc", "--to", "mcap")
    assert (again.returncode, (tmp_path / "run.mcap").read_bytes()) == (2, held)
    assert again.stderr == "error: run.mcap: exists; give --force to overwrite it, or another --out\n"
    assert dock("export", "run.nc", "--to", "mcap", "--force").returncode == 0
    assert (tmp_path / "run.mcap").read_bytes() == held  # the same run is the same file
    assert dock("export", "run.nc", "--to", "parquet").stdout.startswith("Wrote run-parquet/time.parquet")
    assert dock("export", "run.nc", "--to", "parquet").stderr.startswith("error: run-parquet: exists; give --force")
    refused = dock("export", "run.nc", "--to", "mcap", "--figure", "depth")
    assert refused.stderr == "error: --figure: is for figures; give it with --to png, svg or pdf, or leave it out\n"
    for to, module, extra in (("mcap", "mcap_ros2.writer", "mcap"), ("parquet", "pyarrow", "parquet")):
        monkeypatch.setitem(sys.modules, module, None)
        refused = dock("export", "run.nc", "--to", to, "--out", f"new-{to}")
        assert refused.returncode == 2 and refused.stderr.endswith(f"pip install 'dockdyn[{extra}]'\n")
