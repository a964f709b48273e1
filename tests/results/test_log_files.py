"""Logs in MCAP and netCDF files: read as a CSV file is, however they were written, cut off or damaged."""

import json
import random
import sys

import numpy as np
import pytest
import xarray as xr
from identify_logs import PERIOD, bounced, lines, log, written
from mcap_files import BEGAN, json_file, protobuf_file, ros2_file

from dockdyn.results.exchange.log_file import read_log
from dockdyn.results.exchange.log_roles import OF_CONTACT, OF_ROBOT
from dockdyn.scenario.language.errors import ScenarioError

ROWS = log(1e-4)
STAMPS = [BEGAN + k * round(PERIOD * 1e9) for k in range(len(ROWS))]
ORDERS = ("--orders", "2,2", "--delay", "0")


@pytest.fixture
def identified(dock):
    def command(*words):
        ended = dock("identify", *words, "--json")
        assert ended.returncode == 0, ended.stderr
        found = json.loads(ended.stdout)
        return {key: value for key, value in found.items() if key != "warnings"}, found["warnings"]

    return command


@pytest.fixture
def plain(identified, tmp_path):
    return identified("robot", written(tmp_path, ["t [s],command [m],actual [m]", *map(row_of, ROWS)]), *ORDERS)[0]


def row_of(row) -> str:
    return ",".join(map(str, row.tolist()))


def floats(column: int) -> list[dict]:
    return [{"data": value} for value in ROWS[:, column].tolist()]


def joints() -> list[dict]:
    return [{"name": ["elbow", "slide"], "position": [0.5, value]} for value in ROWS[:, 2].tolist()]


def test_the_same_robot_from_files_of_all_kinds(identified, plain, tmp_path):
    named = [dict(zip(("command", "actual"), row[1:].tolist(), strict=True)) for row in ROWS]
    ros2_file(
        tmp_path / "two.mcap",
        {"/command": ("std_msgs/Float64", STAMPS, floats(1)), "/joints": ("sensor_msgs/JointState", STAMPS, joints())},
    )
    json_file(tmp_path / "json.mcap", {"/rig": (STAMPS, named)})
    protobuf_file(tmp_path / "protobuf.mcap", "/rig", STAMPS, ROWS[:, 1:].tolist(), ("command", "actual"))
    metres = {"units": "m"}
    held = {"command": ("t", ROWS[:, 1], metres), "actual": ("t", 1e3 * ROWS[:, 2], {"units": "mm"})}
    clock = ("t", 1e3 * ROWS[:, 0], {"units": "milliseconds since 2026-11-23 00:00:00"})
    xr.Dataset(held, {"t": clock}).to_netcdf(tmp_path / "four.nc", engine="h5netcdf")
    xr.Dataset(held, {"t": clock}).to_netcdf(tmp_path / "three.nc", engine="scipy")
    for words in (
        ("two.mcap", "--actual", "position.slide"),
        ("two.mcap", "--actual", "/joints.position.slide", "--command", "/command.data", "--unit", "m"),
        ("json.mcap",),
        ("protobuf.mcap", "--command", "/rig.command"),
        ("four.nc",),
        ("three.nc",),
    ):
        found, warnings = identified("robot", *words, *ORDERS)
        assert found.keys() == plain.keys() and found["period_s"] == plain["period_s"] == PERIOD
        for key in ("a", "b", "fit_percent"):
            np.testing.assert_allclose(found[key], plain[key], rtol=1e-9)
        assert not any("straight lines" in each for each in warnings)  # stamps are the same in both channels


@pytest.mark.full
def test_a_bounce_of_a_force_sensor(identified, tmp_path):
    rows = np.array([line.split(",") for line in bounced()[1:]], float)
    stamps = [BEGAN + round(1e6 * time) for time in rows[:, 0]]
    headers = [{"stamp": {"sec": each // 10**9, "nanosec": each % 10**9}} for each in stamps]
    wrenches = [
        {"header": header, "wrench": {"force": {"x": 1e3 * force}}}
        for header, force in zip(headers, rows[:, 2].tolist(), strict=True)
    ]
    poses = [
        {"header": header, "pose": {"position": {"x": place / 1e3}}}
        for header, place in zip(headers, rows[:, 1].tolist(), strict=True)
    ]
    late = [each + 10**9 for each in stamps]  # when they were recorded
    topics = {
        "/tip": ("geometry_msgs/PoseStamped", late, poses),
        "/sensor": ("geometry_msgs/WrenchStamped", late, wrenches),
    }
    ros2_file(tmp_path / "log.mcap", topics)
    plain, _ = identified("contact", written(tmp_path, bounced()))
    found, _ = identified("contact", "log.mcap", "--position", "pose.position.x", "--measured-force", "wrench.force.x")
    assert found["stiffness_N_m"] == pytest.approx(plain["stiffness_N_m"], rel=1e-9)
    read = read_log(
        tmp_path / "log.mcap", OF_CONTACT, {"position": "wrench.force.y", "measured-force": "wrench.force.x"}
    )
    assert read.headings["time"] == "/sensor.header.stamp [ns]" and read.stamps.first == float(stamps[0])


def test_between_samples_of_another_channel_are_straight_lines(tmp_path):
    early, late = np.arange(0, 100, 2), np.arange(1, 100, 3)  # ms
    topics = {
        "/command": ([BEGAN + 10**6 * int(each) for each in early], [{"data": float(each)} for each in early]),
        "/actual": ([BEGAN + 10**6 * int(each) for each in late], [{"data": 2.0 * each} for each in late.tolist()]),
    }
    found = read_log(json_file(tmp_path / "log.mcap", topics), OF_ROBOT, {})
    inside = early[(early >= late[0]) & (early <= late[-1])]
    np.testing.assert_array_equal(found.signals["command"], inside)
    np.testing.assert_allclose(found.signals["actual"], 2.0 * inside, rtol=1e-14)
    np.testing.assert_array_equal(found.stamps.since, 1e6 * (inside - inside[0]))
    told = "/actual: taken at the times of /command, on straight lines between samples; by log_time"
    assert found.notes[0] == told
    with pytest.raises(ScenarioError, match="--time command: is of one channel; the columns are of /command, /actual"):
        read_log(tmp_path / "log.mcap", OF_ROBOT, {"time": "command"})


def in_any_order(rng, topics):
    """The same messages, each channel's anyhow: a file may have them so, as its chunks were written."""
    found = {}
    for topic, (stamps, messages) in topics.items():
        order = rng.permutation(len(stamps))
        found[topic] = [stamps[each] for each in order], [messages[each] for each in order]
    return found


def stamped(stamp, value):
    return {"header": {"stamp": {"sec": stamp // 10**9, "nanosec": stamp % 10**9}}, "actual": value, "command": -value}


@pytest.mark.parametrize("seed", range(4))
def test_messages_are_in_the_order_of_their_times_wherever_they_stand(seed, tmp_path):
    """By when they were recorded, or by their headers: of one channel, and of two at times of their own."""
    rng = np.random.default_rng(seed)
    command, actual = (BEGAN + np.sort(rng.choice(10**9, 40, replace=False)) for _ in range(2))
    two = {
        "/command": (command.tolist(), [{"data": float(each)} for each in rng.normal(size=40)]),
        "/actual": (actual.tolist(), [{"data": float(each)} for each in rng.normal(size=40)]),
    }
    values = rng.normal(size=40).tolist()
    late = (command + rng.permutation(40)).tolist()
    headed = {"/rig": (late, [stamped(int(each), value) for each, value in zip(command, values, strict=True)])}
    bare = {"/rig": (command.tolist(), [{"actual": value, "command": -value} for value in values])}
    for topics in (two, headed, bare):
        known, found = (
            read_log(json_file(tmp_path / "log.mcap", each), OF_ROBOT, {})
            for each in (topics, in_any_order(rng, topics))
        )
        assert (np.diff(known.stamps.since) > 0).all() and known.notes == found.notes
        for name, signal in known.signals.items():
            np.testing.assert_array_equal(found.signals[name], signal, err_msg=name)
    assert list(found.signals["actual"]) == values


@pytest.mark.parametrize("headed", [True, False], ids=["headers", "recorded"])
def test_of_messages_with_equal_times_the_last_counts(headed, tmp_path):
    """As who reads the channel has it after that instant; how many do not count is told."""
    times = [0, 1, 1, 2, 3, 3, 3]  # ms
    stamps = [BEGAN + 10**6 * each for each in times]
    recorded = [BEGAN + place for place in range(7)] if headed else stamps
    messages = [
        stamped(stamp, float(place)) if headed else {"actual": float(place), "command": -float(place)}
        for place, stamp in enumerate(stamps)
    ]
    found = read_log(json_file(tmp_path / "log.mcap", {"/rig": (recorded, messages)}), OF_ROBOT, {})
    assert list(found.signals["actual"]) == [0.0, 2.0, 3.0, 6.0] and list(found.rows) == [1, 3, 4, 7]
    np.testing.assert_array_equal(found.stamps.since, 1e6 * np.arange(4))
    assert found.notes[0] == "/rig: 3 of 7 messages have the time of a later one, which counts in their place"


def in_chunks(path):
    """A file of many chunks."""
    topics = {"/log": ("sensor_msgs/JointState", STAMPS, joints())}
    return ros2_file(path, topics, chunk=20_000)


COLUMNS = {"command": "position.elbow", "actual": "position.slide"}


def test_a_file_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path):
    whole = in_chunks(tmp_path / "whole.mcap").read_bytes()
    part, counts = tmp_path / "part.mcap", []
    for share in (0.02, 0.3, 0.6, 0.9, 0.999):
        part.write_bytes(whole[: round(share * len(whole))])
        try:
            found = read_log(part, OF_ROBOT, COLUMNS)
        except ScenarioError as error:
            assert share == 0.02 and "was cut off before its first whole chunk of messages" in str(error)
            continue
        counts.append(len(found.rows))
        np.testing.assert_array_equal(found.signals["actual"], ROWS[: counts[-1], 2])
        assert any(
            f"was cut off, as by a writer that was stopped; read as far as it goes: {counts[-1]} " in each
            for each in found.notes
        )
    assert counts == sorted(counts) and counts[0] > 100 and counts[-1] == len(ROWS) and len(counts) == 4


@pytest.mark.full
def test_damaged_files_are_refused_in_one_line_or_read_rightly(tmp_path):
    whole = in_chunks(tmp_path / "whole.mcap").read_bytes()
    draw, file, refused = random.Random(7), tmp_path / "damaged.mcap", 0
    for _ in range(40):
        changed = bytearray(whole)
        changed[draw.randrange(8, len(whole) - 8)] ^= 1 << draw.randrange(8)
        file.write_bytes(changed)
        try:
            found = read_log(file, OF_ROBOT, COLUMNS)
            np.testing.assert_array_equal(found.signals["actual"], ROWS[:, 2])
        except ScenarioError as error:
            refused += 1
            assert str(error).startswith(f"{file}: ") and "\n" not in str(error)
    assert refused > 10  # of the others the bit was none of a message's


BAD = {
    "empty.mcap": (b"", "is empty"),
    "empty.nc": (b"", "is empty"),
    "words.mcap": (b"time [s],command,actual\n", "not an MCAP file, or a damaged one"),
    "words.nc": (b"time [s],command,actual\n", "not a netCDF file, or a damaged one"),
    "short.nc": (b"\x89HDF\r\n\x1a\n", "not a netCDF file, or a damaged one"),
    "short.mcap": (b"\x89MCAP0\r\n", "was cut off before its first whole chunk of messages"),
    "bytes.csv": (b"\xff\xfe\x00", "cannot be read as text"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_log_is_refused_in_one_line(name, dock, tmp_path):
    content, words = BAD[name]
    (tmp_path / name).write_bytes(content)
    ended = dock("identify", "robot", name)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (2, "", 1)
    assert ended.stderr.startswith(f"error: {name}: {words}")


def test_what_cannot_be_read_of_a_file_is_said(dock, monkeypatch, tmp_path):
    from mcap.writer import Writer

    with (tmp_path / "odd.mcap").open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("pkg/msg/Odd", "ros2idl", b"module pkg {};")
        writer.add_message(writer.register_channel("/odd", "cdr", schema), 0, b"\0\1\0\0", 0)
        writer.finish()
    json_file(tmp_path / "gap.mcap", {"/rig": (STAMPS[:3], [{"command": 1.0, "actual": 2.0}] * 2 + [{"command": 1.0}])})
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "still.nc", engine="h5netcdf")
    for words, message in (
        (("odd.mcap",), "odd.mcap: no channel can be read: /odd (encoding cdr, schema ros2idl)"),
        (("gap.mcap",), "gap.mcap: message 3: actual = nan: must be a finite number"),
        (
            ("gap.mcap", "--actual", "force"),
            "gap.mcap: --actual force: no such column; the columns are command, actual",
        ),
        (("still.nc",), "still.nc: has no variables over time; its dimensions are x"),
    ):
        ended = dock("identify", "robot", *words)
        assert ended.returncode == 2 and ended.stderr == f"error: {message}\n"
    monkeypatch.setitem(sys.modules, "mcap.records", None)
    ended = dock("identify", "robot", "gap.mcap")
    assert ended.returncode == 2 and ended.stderr.endswith("pip install 'dockdyn[mcap]'\n")


def test_a_log_goes_to_netcdf_and_to_other_files(dock, identified, plain, tmp_path):
    """A log in netCDF is the log that it was, stamps since 1970 to the nanosecond; an existing file stays."""
    named = [dict(zip(("command", "actual"), row[1:].tolist(), strict=True)) for row in ROWS]
    json_file(tmp_path / "json.mcap", {"/rig": (STAMPS, named)})
    ros2_file(
        tmp_path / "two.mcap",
        {"/a/x": ("std_msgs/Float64", STAMPS, floats(1)), "/joints": ("sensor_msgs/JointState", STAMPS, joints())},
    )
    assert dock("export", "json.mcap", "--to", "nc").stdout == "Wrote json.nc\n"
    again = dock("export", "json.mcap", "--to", "nc")
    assert (again.returncode, again.stderr.partition(";")[0]) == (2, "error: json.nc: exists")
    assert identified("robot", "json.nc", *ORDERS)[0] == identified("robot", "json.mcap", *ORDERS)[0] == plain
    saved = xr.open_dataset(tmp_path / "json.nc", decode_times=False, decode_timedelta=False)
    assert saved.time.values.tolist() == STAMPS and saved.time.units == "ns"
    for to in ("csv", "parquet"):
        assert f"two-{to}/time_joints.{to}" in dock("export", "two.mcap", "--to", to).stdout
    assert dock("export", "two.mcap", "--to", "mat").stdout == "Wrote two.mat\n"
    written(tmp_path, ["t [ms],state,x y [mm]", "0,idle,1.5", "2,on,nan"])
    assert dock("export", "log.csv", "--to", "nc").returncode == 0
    saved = xr.open_dataset(tmp_path / "log.nc", decode_times=False, decode_timedelta=False)
    assert (saved.time.values.tolist(), saved.time.units) == ([0.0, 2.0], "ms")
    assert saved.state.values.tolist() == ["idle", "on"] and saved.x_y.values[0] == 1.5 and saved.x_y.units == "mm"
    written(
        tmp_path, ["t [ns],count,step [mm]", *(f"{stamp},{row},{row}.0" for row, stamp in enumerate(STAMPS))], "ns.csv"
    )
    assert dock("export", "ns.csv", "--to", "nc").returncode == 0
    saved = xr.open_dataset(tmp_path / "ns.nc", decode_times=False, decode_timedelta=False)
    assert saved.time.values.tolist() == STAMPS and saved["count"].values.dtype == saved.step.values.dtype == float
    for words, message in (
        (("json.nc", "--to", "nc"), "json.nc: is in netCDF already; --to nc is for logs in CSV or MCAP"),
        (("two.mcap", "--to", "mcap"), "two.mcap: is a log; --to mcap is for the result.nc of a run"),
        (("none.csv", "--to", "nc"), "none.csv: no such file"),
    ):
        ended = dock("export", *words)
        assert (ended.returncode, ended.stderr) == (2, f"error: {message}\n")


def test_lines_of_a_robot_are_those_of_its_file(tmp_path):
    """Decimal commas and every other way of CSV give the same columns as before: in mm, as text."""
    file = tmp_path / written(tmp_path, [each.replace(",", ";").replace(".", ",") for each in lines(ROWS)])
    found = read_log(file, OF_ROBOT, {})
    np.testing.assert_allclose(found.signals["actual"], ROWS[:, 2], atol=1e-11)
