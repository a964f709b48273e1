"""ABB Externally Guided Motion: protocol buffers over UDP, position guidance of poses. In C it is `egm.c`.

The codec of both sides. The messages are those of `egm.proto` with the fields that poses need; the others are passed over.
Enumerations are read as their numbers, and required fields are looked for here. Sources: docs/devices.md.
"""

from __future__ import annotations

from functools import cache
from math import ceil, degrees, radians
from typing import TYPE_CHECKING, Any, Literal

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.decimals import DEGREE
from dockdyn.realtime.devices.device import (
    JOINTS,
    BadPacket,
    Counts,
    PacketError,
    Sequence,
    ToolCommand,
    ToolPose,
    check_range,
)
from dockdyn.realtime.devices.roles import Keys, Port, Robot
from dockdyn.realtime.devices.rotations import Numbers, normalise_quaternion, quaternion_of_vector, vector_of_quaternion
from dockdyn.records import record

if TYPE_CHECKING:
    from dockdyn.realtime.devices.emulated.robot import CommandedRobot
    from dockdyn.scenario.tables.rig.driven import LimitsSection

PORT = 6510
LONGEST = 1472  # bytes of a datagram that one frame of Ethernet holds
DATA, CORRECTION = 2, 3  # types of a message
MOTORS_ON, MCI_RUNNING, RAPID_RUNNING = 1, 3, 2
# bits of a pose's status: what the robot does not tell to be so
MOTORS_NOT_ON, NOT_RUNNING, RAPID_NOT_RUNNING = 1, 2, 4
NEW_SESSION = 8  # a bit that the codec sets: the robot has begun to count anew
_WORD = 2**32
_NEAR_WRAP = 2**16  # messages before the counter wraps, in which a zero is the wrap and no beginning

_UINT32, _DOUBLE, _MESSAGE = 13, 1, 11  # types of FieldDescriptorProto
_MESSAGES: dict[str, tuple[tuple[str, int, int | str], ...]] = {
    "EgmHeader": (("seqno", 1, _UINT32), ("tm", 2, _UINT32), ("mtype", 3, _UINT32)),
    "EgmCartesian": (("x", 1, _DOUBLE), ("y", 2, _DOUBLE), ("z", 3, _DOUBLE)),
    "EgmQuaternion": (("u0", 1, _DOUBLE), ("u1", 2, _DOUBLE), ("u2", 3, _DOUBLE), ("u3", 4, _DOUBLE)),
    "EgmPose": (("pos", 1, "EgmCartesian"), ("orient", 2, "EgmQuaternion")),
    "EgmJoints": (("joints", 1, _DOUBLE),),
    # EgmFeedBack and EgmPlanned
    "EgmMotion": (("joints", 1, "EgmJoints"), ("cartesian", 2, "EgmPose"), ("externalJoints", 3, "EgmJoints")),
    "EgmState": (("state", 1, _UINT32),),  # EgmMotorState, EgmMCIState, EgmRapidCtrlExecState
    "EgmRobot": (
        ("header", 1, "EgmHeader"),
        ("feedBack", 2, "EgmMotion"),
        ("motorState", 4, "EgmState"),
        ("mciState", 5, "EgmState"),
        ("rapidExecState", 8, "EgmState"),
    ),
    "EgmSensor": (("header", 1, "EgmHeader"), ("planned", 2, "EgmMotion")),
}
_REPEATED = ("EgmJoints",)


@cache
def _message_class(name: str) -> Any:  # noqa: ANN401, a class that the library makes
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ModuleNotFoundError:
        raise ModuleNotFoundError("ABB robots: needs the package protobuf; pip install 'dockdyn[egm]'") from None
    file = descriptor_pb2.FileDescriptorProto(name="egm.proto", package="abb.egm", syntax="proto2")
    for message, fields in _MESSAGES.items():
        written = file.message_type.add(name=message)
        for field, number, kind in fields:
            added = written.field.add(name=field, number=number, label=3 if message in _REPEATED else 1)
            added.type = _MESSAGE if isinstance(kind, str) else kind
            if isinstance(kind, str):
                added.type_name = f".abb.egm.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"abb.egm.{name}"))


@record
class EGMSettings:
    """Nothing: the messages are the same with all robots."""


class EGM:
    """Codec of a robot's messages and of commands, which are in the frame that EGMActPose names: let it be the base."""

    def __init__(self, settings: EGMSettings | None = None) -> None:
        self.settings = settings or EGMSettings()
        self.counts = Counts()
        self.sequence = Sequence(32)
        self.began: int | None = None  # the robot's clock in the message numbered zero
        self.sent = 0

    def forget(self) -> None:
        """Forget a connection: the next message is the first."""
        self.sequence.last = self.began = None

    def decode_robot(self, packet: bytes) -> ToolPose:
        """Return where the robot is; BadPacket for what is no message of it.

        Joints are those of the robot, then its external ones as far as there are places; a message with more that are not
        zero is refused.
        """
        try:
            message = _parse_message("EgmRobot", packet)
            anew = self._begins_anew(message.header)
            position, rotation, joints = self._read(message, DATA, message.feedBack)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        status = NEW_SESSION * anew
        status |= MOTORS_NOT_ON * (message.motorState.state != MOTORS_ON)
        status |= NOT_RUNNING * (message.mciState.state != MCI_RUNNING)
        status |= RAPID_NOT_RUNNING * (message.rapidExecState.state != RAPID_RUNNING)
        return ToolPose(position, rotation, joints + (0.0,) * (JOINTS - len(joints)), self.sequence.last or 0, status)

    def decode_command(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return the robot's side: a command and its sequence; BadPacket where it is none."""
        try:
            message = _parse_message("EgmSensor", packet)
            position, rotation, _ = self._read(message, CORRECTION, message.planned)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return ToolCommand(position, rotation), self.sequence.last or 0

    def encode_command(self, command: ToolCommand, milliseconds: int = 0) -> bytes:
        """Return the next command, with the time since whenever; BadPacket for numbers that are none."""
        check_range(command.position + command.rotation_vector)
        self.sent = (self.sent + 1) % _WORD
        message = _message_class("EgmSensor")()
        _fill_header(message.header, self.sent, milliseconds, CORRECTION)
        _fill_pose(message.planned.cartesian, command.position, command.rotation_vector)
        return message.SerializeToString(deterministic=True)

    def encode_robot(self, pose: ToolPose, milliseconds: int = 0) -> bytes:
        """Return the robot's side: a status of zero is told as motors on, EGM and RAPID running."""
        check_range(pose.position + pose.rotation_vector)
        message = _message_class("EgmRobot")()
        _fill_header(message.header, pose.sequence % _WORD, milliseconds, DATA)
        message.feedBack.joints.joints.extend(each / DEGREE for each in pose.joints[:6])
        _fill_pose(message.feedBack.cartesian, pose.position, pose.rotation_vector)
        message.motorState.state = 2 if pose.status & MOTORS_NOT_ON else MOTORS_ON
        message.mciState.state = 2 if pose.status & NOT_RUNNING else MCI_RUNNING
        message.rapidExecState.state = 1 if pose.status & RAPID_NOT_RUNNING else RAPID_RUNNING
        return message.SerializeToString(deterministic=True)

    def _read(self, message: Any, type: int, motion: Any) -> tuple[Numbers, Numbers, Numbers]:  # noqa: ANN401, of the library
        """Return position, rotation vector and joints; BadPacket where they are not there, or the message is not newer."""
        if not message.header.HasField("seqno"):
            raise BadPacket(PacketError.MISSING_FIELD)
        if message.header.mtype != type:
            raise BadPacket(PacketError.WRONG_HEADER)
        lengths, turn = _numbers_of_message(motion.cartesian.pos), _numbers_of_message(motion.cartesian.orient)
        position = tuple(each / 1000.0 for each in lengths)
        told_joints = (*motion.joints.joints, *motion.externalJoints.joints)
        if any(told_joints[JOINTS:]):
            raise BadPacket(PacketError.OUT_OF_RANGE)
        joints = tuple(each * DEGREE for each in told_joints[:JOINTS])
        for numbers in (position, turn, joints):
            check_range(numbers)
        quaternion = normalise_quaternion(turn)
        if self._begins_anew(message.header):
            self.sequence.last = ((self.sequence.last or 0) // _WORD + 1) * _WORD
        else:
            self.sequence.advance(message.header.seqno, self.counts)
        if message.header.seqno == 0:
            self.began = message.header.tm
        return position, vector_of_quaternion(quaternion), joints

    def _begins_anew(self, header: Any) -> bool:  # noqa: ANN401, of the library
        """Return whether a message begins a session behind the one before: its number is zero, no wrap is due, and it is not
        the message again that began the session before, by the robot's clock."""
        last = self.sequence.last
        due = last is not None and 0 < last % _WORD < _WORD - _NEAR_WRAP
        return due and header.seqno == 0 and header.tm != self.began


def _parse_message(name: str, packet: bytes) -> Any:  # noqa: ANN401, of the library
    from google.protobuf.message import DecodeError

    if not 0 < len(packet) <= LONGEST:
        raise BadPacket(PacketError.WRONG_LENGTH)
    message = _message_class(name)()
    try:
        message.ParseFromString(packet)
    except DecodeError:
        raise BadPacket(PacketError.MALFORMED) from None
    return message


def _numbers_of_message(message: Any) -> Numbers:  # noqa: ANN401, of the library
    """Return the numbers of a message, all of which must be there."""
    fields = message.DESCRIPTOR.fields
    if not all(message.HasField(field.name) for field in fields):
        raise BadPacket(PacketError.MISSING_FIELD)
    return tuple(getattr(message, field.name) for field in fields)


def _fill_header(header: Any, sequence: int, milliseconds: int, type: int) -> None:  # noqa: ANN401, of the library
    header.seqno, header.tm, header.mtype = sequence, milliseconds % _WORD, type


def _fill_pose(pose: Any, position: Numbers, rotation_vector: Numbers) -> None:  # noqa: ANN401, of the library
    pose.pos.x, pose.pos.y, pose.pos.z = (each * 1000.0 for each in position)
    pose.orient.u0, pose.orient.u1, pose.orient.u2, pose.orient.u3 = quaternion_of_vector(rotation_vector)


class EGMBehaviour(Keys):
    """What a robot of ABB does besides what `[rig.device.robot]` says of its program."""

    kind: Literal["abb-egm"] = "abb-egm"
    takes: Literal["next", "newest"] = "next"


class EGMRobot(Robot):
    """A robot of ABB in externally guided motion, which speaks to this computer at `port`.

    From `comm_timeout` on the keys say what its RAPID program states; without them what RAPID takes.
    """

    struct = "egm"
    Emulated = EGMBehaviour
    controller_settings = (
        (
            "EGMRunPose: \\CondTime beyond the longest run with its preparations; it is in s",
            "the motion ends by itself once the robot has been near its reference for so long, also at rest or when it is slow",
        ),
        (
            "EGMActPose: \\x, \\y, \\z, \\rx, \\ry, \\rz as narrow as [-1E-9,1E-9]",
            "what counts as near: so narrow it never does",
        ),
        (
            "EGMSetupUC: \\CommTimeout of few cycles; 1 s without it",
            "for so long a robot that hears nothing goes on to its last reference and stands there",
        ),
        (
            "EGMRunPose: EGM_STOP_HOLD",
            "with EGM_STOP_RAMP_DOWN the robot goes back to where EGM began, by itself, when it ends",
        ),
        (
            "EGMActPose: the correction frame is the robot's base, the sensor frame is EGM_FRAME_BASE, the tool is the mock-up",
            "commands are where the tool shall be in the base",
        ),
        ("EGMActPose: \\SampleRate:=4 for a cycle of 4 ms", "the cycle of the robot is that of loop.hold"),
        (
            "EGMActPose: \\MaxSpeedDeviation beyond what the joints do at the speeds of rig.limits",
            "slower joints stay behind their command",
        ),
        (
            "UCdevice: Remote Address and Remote Port Number of this computer, as rig.device.robot says",
            "the robot speaks first",
        ),
    )
    unconfirmed = (
        "the defaults of CondTime and of the limits of EGMActPose: 1 s, 1 mm and 0.5° are assumed",
        "which of several messages within a cycle counts; one author quotes the manual that it is the next, not the newest:"
        " then the path is from then on as late as the latest command was",
        "whether a message with an old seqno is taken",
        "whether a motion that has converged ends before a first message has come",
        "whether the limits of EGMActPose also cut commands off, as one author says of joints",
        "what robots without external axes send as external joints",
    )

    kind: Literal["abb-egm"]
    port: Port = PORT
    comm_timeout: float = parameter("s", "a time", default=1.0, above=0)
    condition_time: float = parameter("s", "a time", default=1.0, above=0)
    convergence: float = parameter("m", "a distance", default=1e-3, least=0)
    convergence_turn: float = parameter("rad", "an angle", default=radians(0.5), least=0)

    def settings(self, period: float) -> EGMSettings:
        return EGMSettings()

    def stated(self) -> tuple[tuple[str, str], ...]:
        near, turn = 1e3 * self.convergence, degrees(self.convergence_turn)
        return (
            (f"EGMSetupUC: \\CommTimeout:={self.comm_timeout:g}", "comm_timeout"),
            (f"EGMRunPose: \\CondTime:={self.condition_time:g}", "condition_time"),
            (f"EGMActPose: \\x, \\y, \\z:=[{-near:g},{near:g}]", "convergence"),
            (f"EGMActPose: \\rx, \\ry, \\rz:=[{-turn:g},{turn:g}]", "convergence_turn"),
        )

    def hindrances(self, limits: LimitsSection, duration: float) -> list[str]:
        if self.condition_time > duration:
            return []
        return [
            f"rig.device.robot.condition_time: {self.condition_time:g} s: the motion of EGM ends by itself once the robot has "
            f"been near its reference for so long; set \\CondTime of EGMRunPose beyond the run's {duration:g} s, and state it"
        ]

    def emulate(
        self, settings: EGMSettings, start: ToolPose, period: float, stated: EGMBehaviour | None, connected: bool
    ) -> CommandedRobot:
        from dockdyn.realtime.devices.emulated.cycle import CycleSettings
        from dockdyn.realtime.devices.emulated.robot import Convergence, emulate_egm

        silent = max(ceil(self.comm_timeout / period * (1 - 1e-9)), 1)  # cycles without a command
        over = Convergence(self.condition_time, self.convergence, self.convergence_turn)
        queued = (stated or EGMBehaviour()).takes == "next"
        return emulate_egm(CycleSettings(period, silent, in_a_row=True), start, over, queued)
