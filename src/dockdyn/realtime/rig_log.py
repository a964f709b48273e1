"""The log of a driven rig: an MCAP file with every cycle, and what Foxglove and ROS 2 know in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from dockdyn.files import regular_file
from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause
from dockdyn.realtime.exchange import pad_to_six_axes
from dockdyn.realtime.wakeups import SECOND
from dockdyn.results.exchange.mcap_names import NEEDED
from dockdyn.results.exchange.ros_messages import definition_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import LOG, refusal
from dockdyn.scenario.language.mistaken import sort_of_file

CYCLE = "/cycle"  # the channel with all that goes in and comes out
POSES = {
    "/robot/pose": ("inputs", "pose"),
    "/command/pose": ("outputs", "command"),
    "/model/pose": ("outputs", "model_pose"),
}
WRENCH = "/sensor/wrench"
JOINTS = "/joint_states"  # of robots that tell their joints
DIAGNOSTICS = "/diagnostics"
LEVELS = {OperationState.FAULT: 2, OperationState.STOPPING: 1}  # of DiagnosticStatus; 0 is well
TIMES = ("time", "answer", "waiting")
Message = dict[str, Any]


class RigLogWriter:
    """Writes records to an MCAP file that is open for writing."""

    def __init__(self, file: Any, record: np.dtype, scenario: str):  # noqa: ANN401, any binary file
        """Raises ScenarioError where the packages of the extra are missing."""
        try:
            from mcap_ros2.writer import Writer
        except ImportError:
            raise ScenarioError(f"a log {NEEDED}") from None
        self.writer, self.record = Writer(file), record
        self.writer.add_attachment(0, 0, "scenario.toml", "application/toml", scenario.encode())
        self.fields = [(part, name) for part in ("inputs", "outputs") for name in (record[part].names or ())]
        own = "\n".join(
            ["std_msgs/Header header", *(f"int64 {name}" for name in TIMES), *map(self._declared, self.fields)]
        )
        names = {
            CYCLE: "dockdyn/Cycle",
            **dict.fromkeys(POSES, "geometry_msgs/PoseStamped"),
            WRENCH: "geometry_msgs/WrenchStamped",
            JOINTS: "sensor_msgs/JointState",
            DIAGNOSTICS: "diagnostic_msgs/DiagnosticArray",
        }
        self.schemas = {
            topic: self.writer.register_msgdef(name.replace("/", "/msg/"), definition_of(name, {"dockdyn/Cycle": own}))
            for topic, name in names.items()
        }
        self.state: tuple[int, int] | None = None

    def _declared(self, field: tuple[str, str]) -> str:
        """Return a field of a cycle in the definition of its message."""
        part, name = field
        inside = self.record[part][name]
        return f"{inside.base.name}{''.join(f'[{n}]' for n in inside.shape)} {_log_field(field)}"

    def write(self, row: np.void, number: int, began: int) -> None:
        """Write one record, whose stamp counts from when the loop began (ns since 1970)."""
        stamp = began + int(row["time"])
        header = {"stamp": dict(zip(("sec", "nanosec"), divmod(stamp, SECOND), strict=True)), "frame_id": "laboratory"}
        cycle = {name: int(row[name]) for name in TIMES}
        cycle |= {_log_field((part, name)): row[part][name].tolist() for part, name in self.fields}
        messages: dict[str, Message] = {CYCLE: cycle}
        messages |= {topic: {"pose": _pose_message(row[part][name])} for topic, (part, name) in POSES.items()}
        load = pad_to_six_axes(row["inputs"]["load"])
        messages[WRENCH] = {"wrench": {"force": _vector_message(load[:3]), "torque": _vector_message(load[3:])}}
        known = np.isfinite(row["joints"])
        if row["waiting"] and known.any():
            names = [f"joint_{number + 1}" for number in np.flatnonzero(known)]
            messages[JOINTS] = {"name": names, "position": row["joints"][known].tolist(), "velocity": [], "effort": []}
        state = (int(row["outputs"]["state"]), int(row["outputs"]["cause"]))
        if state != self.state:
            messages[DIAGNOSTICS] = {"status": [_status_message(*state)]}
            self.state = state
        for topic, message in messages.items():
            self.writer.write_message(topic, self.schemas[topic], {"header": header} | message, stamp, sequence=number)

    def finish(self, lost: int) -> None:
        """Write the end of the file, with the number of cycles that are not in it."""
        self.writer.add_metadata("dockdyn", {"lost_cycles": str(lost)})
        self.writer.finish()


def _log_field(field: tuple[str, str]) -> str:
    """Return the name of a field in a log: what is in both, as the load, has the part before it."""
    part, name = field
    return f"{part.removesuffix('s')}_{name}"


def _vector_message(values: np.ndarray) -> Message:
    return dict(zip("xyz", values.tolist(), strict=True))


def _pose_message(place: np.ndarray) -> Message:
    """Return a place with a rotation vector as a pose."""
    numbers = pad_to_six_axes(place)
    sound = np.where(np.isfinite(numbers), numbers, 0.0)
    turned = Rotation.from_rotvec(sound[3:]).as_quat()
    return {"position": _vector_message(numbers[:3]), "orientation": dict(zip("xyzw", turned.tolist(), strict=True))}


def _status_message(state: int, cause: int) -> Message:
    """Return the state of the rig as a status."""
    words = OperationState(state).name.lower() + (
        "" if cause == Cause.NONE else f": {Cause(cause).name.lower().replace('_', ' ')}"
    )
    return {"level": LEVELS.get(OperationState(state), 0), "name": "dockdyn: rig", "message": words, "values": []}


class LoggedRig(NamedTuple):
    """What a log holds."""

    scenario: str
    lost: int  # cycles that are not in it
    cycles: list[Message]


def read_rig_log(path: Path) -> LoggedRig:
    """Return the cycles of a log, with the text of its scenario.

    Raises ScenarioError for a file that is none, and where the packages of the extra are missing.
    """
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory
    except ImportError:
        raise ScenarioError(f"{path}: {NEEDED}") from None
    try:
        with regular_file(path, LOG.most) as file:
            reader = make_reader(file, decoder_factories=[DecoderFactory()])
            texts = [each.data.decode() for each in reader.iter_attachments() if each.name == "scenario.toml"]
            lost = [int(each.metadata["lost_cycles"]) for each in reader.iter_metadata() if each.name == "dockdyn"]
            rows = list(_cycle_messages(reader))
    except OSError as error:
        raise refusal(error, str(path), LOG) from None
    except (McapError, KeyError, ValueError) as error:
        sort = sort_of_file(path)
        words = f"is a {sort}, not" if sort in ("result", "scenario") else "not"
        why = f" ({error})" if sort == "log" and path.suffix.lower() != ".csv" else ""
        raise ScenarioError(
            f"{path}: {words} the log of a rig{why}; must be an MCAP file that dockdyn rig serve wrote"
        ) from None
    if not texts or not rows:
        raise ScenarioError(
            f"{path}: not a log that dockdyn rig serve wrote: has no {'scenario' if not texts else CYCLE}"
        )
    return LoggedRig(texts[0], sum(lost), rows)


def _cycle_messages(reader: Any) -> Iterator[Message]:  # noqa: ANN401, of a library that is an extra
    """Yield the messages of the cycles, in their order."""
    for _, _, _, message in reader.iter_decoded_messages(topics=[CYCLE]):
        yield {name: getattr(message, name) for name in message.__slots__ if name != "header"}


def field_of(message: Message, part: str, name: str) -> Any:  # noqa: ANN401, a number or several
    """Return a field of a cycle in a log."""
    return message[_log_field((part, name))]
