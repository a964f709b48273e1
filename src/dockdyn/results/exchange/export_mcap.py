"""A run as an MCAP file, in messages that Foxglove and ROS 2 know: poses, wrenches, joints, diagnostics, and all variables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.files import replace_files
from dockdyn.installed import version
from dockdyn.records import record
from dockdyn.results.exchange.columns import table_columns
from dockdyn.results.exchange.export import distinct_names, plain_value
from dockdyn.results.exchange.mcap_names import ABOUT, COLUMNS, NEEDED, RUN
from dockdyn.results.exchange.ros_messages import definition_of
from dockdyn.scenario.language.errors import ScenarioError

SECOND = 10**9  # ns
LONGEST = 255  # characters of a field's name
POSES = (("position", "attitude"), ("base_position", "base_attitude"))
WRENCHES = ("load_force", "load_moment")
COMPONENTS = ("axis", "quaternion")  # dimensions of vectors and attitudes
JOINTS = {"joint_angle": "position", "joint_rate": "velocity"}  # by field of JointState
INERTIAL = "inertial"  # the frame of positions
TYPES = {"f": "float64", "i": "int64", "u": "int64", "b": "bool"}  # by kind of a variable; others are texts
WELL, WRONG = 0, 2  # levels of DiagnosticStatus
Message = dict[str, Any]


class WrittenLog(NamedTuple):
    """What is in a file."""

    messages: int
    channels: int


@record
class _Channel:
    """Messages of one topic, one a row of the run."""

    topic: str
    message: str  # its type: "geometry_msgs/PoseStamped"
    at: Callable[[int], Message]  # without header
    frame: str = ""
    own: str = ""  # the definition of a type that is none of ROS 2's


def export_mcap(dataset: Dataset, path: Path) -> WrittenLog:
    """Write a run as an MCAP file of CDR messages with ROS 2 definitions, in chunks that zstd compresses; how many.

    `/run` has all variables over time with all their digits, and the exact time; other channels have the same by what tools
    know: `/chaser/pose`, `/chaser_probe/load`, `/joint_states`, once at the end `/diagnostics`. Stamps count from the start
    of the run and are rounded to nanoseconds. The scenario is attached. ScenarioError for what has nothing over time, for
    times before 0, and where the packages of the extra are missing.
    """
    try:
        from mcap_ros2.writer import Writer
    except ImportError:
        raise ScenarioError(f"{path}: {NEEDED}") from None
    if "time" not in dataset.dims or not dataset.sizes["time"]:
        raise ScenarioError(f"{path}: the result has nothing over time; must be of dockdyn run")
    stamps = np.rint(dataset.time.values * SECOND).astype(np.int64).tolist()
    if stamps[0] < 0:
        raise ScenarioError(f"{path}: time begins at {stamps[0] / SECOND:g} s; an MCAP file has none before 0")
    run, headings = _run_channel(dataset)
    channels, ended = (
        [run, *_pose_channels(dataset), *_wrench_channels(dataset), *_joint_channels(dataset)],
        _diagnostics_channel(dataset),
    )
    count = 0
    with replace_files(path) as (file,), Writer(file) as writer:
        about = {"version": version("dockdyn"), "setup": str(dataset.attrs["setup"]), COLUMNS: json.dumps(headings)}
        writer.add_metadata(ABOUT, about)
        scenario = str(dataset.attrs["scenario"]).encode()
        writer.add_attachment(0, 0, "scenario.toml", "application/toml", scenario)
        schemas = {
            each.message: writer.register_msgdef(
                each.message.replace("/", "/msg/"),
                definition_of(each.message, {each.message: each.own} if each.own else {}),
            )
            for each in (*channels, ended)
        }
        for row, stamp in enumerate(stamps):
            for channel in [*channels, ended] if row == len(stamps) - 1 else channels:
                header = {
                    "stamp": dict(zip(("sec", "nanosec"), divmod(stamp, SECOND), strict=True)),
                    "frame_id": channel.frame,
                }
                message = {"header": header} | channel.at(row)
                writer.write_message(channel.topic, schemas[channel.message], message, stamp, sequence=row)
                count += 1
    return WrittenLog(count, len(channels) + 1)


def _run_channel(dataset: Dataset) -> tuple[_Channel, dict[str, str]]:
    """Return all variables over time, a field each; and the headings of the fields."""
    columns = table_columns(dataset)[("time",)]
    fields = [field for field, _ in distinct_names((each.name for each in columns), _field_name, LONGEST)]
    kinds = [TYPES.get(each.values.dtype.kind, "string") for each in columns]
    values = [each.values.tolist() for each in columns]
    definition = "\n".join(["std_msgs/Header header", *(f"{k} {f}" for k, f in zip(kinds, fields, strict=True))])
    headings = {field: each.heading for field, each in zip(fields, columns, strict=True)}

    def at(row: int) -> Message:
        return {field: cells[row] for field, cells in zip(fields, values, strict=True)}

    return _Channel(RUN, "dockdyn/Run", at, own=definition), headings


def _field_name(name: str) -> str:
    """Return a name as ROS 2 takes it for a field: small letters, digits and single underscores between them, a letter
    first."""
    short = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return short if short[:1].isalpha() else f"x_{short}".strip("_")


def _entries_along(dataset: Dataset, *names: str) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield what variables have of each entry along the dimension that they share: its name, and rows of components."""
    if not all(name in dataset for name in names):
        return
    shared = [str(dim) for dim in dataset[names[0]].dims if dim not in ("time", *COMPONENTS)]
    if len(shared) != 1 or shared[0] not in dataset.coords:
        return
    labels = [str(label) for label in dataset[shared[0]].values]
    for place, (topic, _) in enumerate(distinct_names(labels, _field_name, LONGEST)):
        yield topic, [dataset[name].isel({shared[0]: place}).values for name in names]


def _vector_message(values: np.ndarray) -> Message:
    return dict(zip("xyz", values.tolist(), strict=True))


def _pose_channels(dataset: Dataset) -> Iterator[_Channel]:
    """Yield where the bodies are, and how they are turned."""
    for names in POSES:
        for topic, (position, attitude) in _entries_along(dataset, *names):

            def at(row: int, position: np.ndarray = position, attitude: np.ndarray = attitude) -> Message:
                turned = dict(zip("wxyz", attitude[row].tolist(), strict=True))
                return {"pose": {"position": _vector_message(position[row]), "orientation": turned}}

            yield _Channel(f"/{topic}/pose", "geometry_msgs/PoseStamped", at, INERTIAL)


def _wrench_channels(dataset: Dataset) -> Iterator[_Channel]:
    """Yield loads at named points, in axes of their bodies."""
    for topic, (force, moment) in _entries_along(dataset, *WRENCHES):

        def at(row: int, force: np.ndarray = force, moment: np.ndarray = moment) -> Message:
            return {"wrench": {"force": _vector_message(force[row]), "torque": _vector_message(moment[row])}}

        yield _Channel(f"/{topic}/load", "geometry_msgs/WrenchStamped", at, topic)


def _joint_channels(dataset: Dataset) -> Iterator[_Channel]:
    """Yield angles or travels of joints, and their rates."""
    if "joint_angle" not in dataset or not dataset.sizes["joint"]:
        return
    names = [str(name) for name in dataset.joint.values]
    values = {field: dataset[name].values.tolist() for name, field in JOINTS.items() if name in dataset}

    def at(row: int) -> Message:
        return {"name": names} | {field: cells[row] for field, cells in values.items()}

    yield _Channel("/joint_states", "sensor_msgs/JointState", at)


def _diagnostics_channel(dataset: Dataset) -> _Channel:
    """Return how the run ended, with its attributes."""
    attributes = {str(name): plain_value(value) for name, value in dataset.attrs.items() if name != "scenario"}
    status = {
        "level": WELL if attributes.get("finished", 1) else WRONG,
        "name": f"dockdyn: {attributes.get('title', '')}",
        "message": str(attributes.get("status", "")),
        "values": [{"key": name, "value": str(value)} for name, value in attributes.items()],
    }
    return _Channel("/diagnostics", "diagnostic_msgs/DiagnosticArray", lambda row: {"status": [status]})
