"""KUKA.RobotSensorInterface: XML over UDP, the robot is master; the codec of both sides. In C it is `rsi.c`.

Angles A, B, C are turns about z, y', x''. A correction is a shift and a turn in the axes of the robot's base.
Sources: docs/devices.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from dockdyn.realtime.devices.decimals import DEGREE, SPACE, read_digits, write_decimal
from dockdyn.realtime.devices.device import (
    JOINTS,
    LARGEST,
    BadPacket,
    Codec,
    Command,
    Counts,
    PacketError,
    Pose,
    Sequence,
    check_range,
)
from dockdyn.realtime.devices.flat_xml import Element, read_message
from dockdyn.realtime.devices.rotations import (
    Numbers,
    angles_of_quaternion,
    divide,
    multiply,
    normalise,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)

PORT = 49152
FRAME = ("X", "Y", "Z", "A", "B", "C")
AXES = ("A1", "A2", "A3", "A4", "A5", "A6")
MOST_DECIMALS = 6
_WORD = 2**32
_MOST_LATE = _WORD - 1


@dataclass(frozen=True)
class RSISettings:
    """What the configuration of the robot's ETHERNET object and its RSI_ON say, and the resolution of the numbers written.

    ValueError for what cannot be.
    """

    sensor_type: str = "ImFree"
    correction: str = "RKorr"
    relative: bool = False
    decimals: int = 6  # of mm and degrees
    period: int = 4  # ms: 4 of IPO_FAST, 12 of IPO

    def __post_init__(self) -> None:
        for key in ("sensor_type", "correction"):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", getattr(self, key)):
                raise ValueError(f"{key} must be a name of XML, not {getattr(self, key)!r}")
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ValueError(f"decimals must be 0 to {MOST_DECIMALS}, not {self.decimals}")
        if self.period < 1:
            raise ValueError(f"period must be at least 1 ms, not {self.period}")


class RSI(Codec):
    """Codec of a robot's messages and of the answers to them, which echo their IPOC.

    A correction is from the programmed pose, which the setpoint of the first message is. Where corrections are relative, it is
    from where the robot was in the first message and the sum of those written since, each as it was rounded.
    """

    CONTROLLER_SETTINGS: ClassVar[tuple[tuple[str, str], ...]] = (
        (
            "ETHERNET: Precision 6, where KUKA's default is 1",
            "the robot tells its pose with so many decimals of mm and degrees: with 1 in steps of 0.1 mm and 0.1°",
        ),
        (
            "POSCORR: LowerLim, UpperLim and MaxRotAngle beyond the box and turns of rig.limits (defaults 5 mm, 5°)",
            "it cuts longer corrections off without a word, and the robot stays behind its command",
        ),
        (
            "POSCORRMON, where there is one: MaxTrans and MaxRotAngle beyond those (defaults 6 mm, 6°)",
            "a correction beyond them stops the robot, and its program must be reset",
        ),
        (
            "ETHERNET: Timeout (default 10 cycles) above rig.limits.late_cycles, and no more than the robot may go unanswered",
            "that the computer brakes before the robot stops by itself, and the robot stops where the computer has died",
        ),
        (
            'configuration of ETHERNET: HOLDON="1" for X, Y, Z, A, B and C of the correction',
            "with 0 a cycle without an answer has a correction of zero: the robot goes back towards the programmed pose",
        ),
        (
            "RSI_ON(#ABSOLUTE) with relative = false, RSI_ON(#RELATIVE) with relative = true",
            "corrections from the start, taken as steps, make the robot run away",
        ),
        (
            "RSI_ON: #IPO_FAST for a cycle of 4 ms, #IPO for 12 ms",
            "the cycle of the robot is that of loop.hold",
        ),
        ("POSCORR: RefCorrSys Base", "corrections are shifts and turns in the axes of the robot's base"),
        (
            "configuration of ETHERNET: SENTYPE and the correction's tags as sensor_type and correction say",
            "the robot takes no other answer",
        ),
        (
            "program: a motion to where the robot stands before RSI_ON, then RSI_MOVECORR() and none besides",
            "corrections are added to what is programmed",
        ),
        (
            "start dockdyn rig serve before RSI_ON",
            "the robot counts cycles without an answer from the first, and stops at Timeout",
        ),
    )
    UNCONFIRMED: ClassVar[tuple[str, ...]] = (
        "whether Timeout counts unanswered cycles in a row (two authors say so) or in all",
        "in which cycle after the answer the robot moves",
        "that the turn A, B, C of a correction is in front of the start's orientation, in the axes of the base",
        "whether MaxRotAngle is of the turn in all or of each of A, B, C, and MaxTrans of the distance or of each axis",
        "whether IPOC has 32 bits on every controller, and whether it has a sign: a negative one is refused",
    )

    def __init__(self, settings: RSISettings) -> None:
        self.settings = settings
        self.counts = Counts()
        self.forget()

    def forget(self) -> None:
        """Forget a connection: the next message of the robot is the first."""
        self.ipoc = Sequence(64, self.settings.period)
        self.clock = 0  # IPOC as it was told last
        self.echo = b""
        self.late = 0  # answers, as the robot counts them
        self.position: Numbers = (0.0, 0.0, 0.0)
        self.quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)

    def decode_robot(self, packet: bytes) -> Pose:
        """Where the robot is; its status is how many more answers were late than the message before has told.

        BadPacket for what is no message of it.
        """
        first = self.ipoc.last is None
        try:
            root = read_message(packet, "Rob")
            position, quaternion = _read_frame(root.find("RIst"))
            setpoint = _read_frame(root.find("RSol")) if b"RSol" in root.inner else (position, quaternion)
            joints = _read_joints(root)
            late = read_digits(root.find("Delay").attribute("D").strip(SPACE)) if b"Delay" in root.inner else 0
            echo = root.find("IPOC").text.strip(SPACE)
            self._follow(read_digits(echo))
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        self.echo = echo
        if first:
            self.position, self.quaternion = (position, quaternion) if self.settings.relative else setpoint
            self.late = late
        status = min(max(late - self.late, 0), _MOST_LATE)
        self.late = late
        return Pose(position, vector_of_quaternion(quaternion), joints, self.ipoc.last or 0, status)

    def _follow(self, clock: int) -> None:
        """Follow IPOC, which is a counter of 32 bits until it tells more; BadPacket where it is not ahead."""
        self.ipoc.bits = 32 if max(clock, self.clock) < _WORD else 64
        self.ipoc.advance(clock, self.counts)
        self.clock = clock

    def encode_answer(self, command: Command) -> bytes:
        """The correction that leads to a pose, for the message decoded last; BadPacket before there is one."""
        if self.ipoc.last is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        check_range(command.position + command.rotation_vector)
        shift = tuple(new - old for new, old in zip(command.position, self.position, strict=True))
        turn = divide(quaternion_of_vector(command.rotation_vector), self.quaternion)
        numbers = [write_decimal(each, self.settings.decimals) for each in _frame(shift, turn)]
        if self.settings.relative:
            position, turn = _frame_of(tuple(float(each) for each in numbers))
            self.position = tuple(old + each for old, each in zip(self.position, position, strict=True))
            self.quaternion = normalise(multiply(turn, self.quaternion))
        words = self.settings.correction.encode() + _attributes(FRAME, numbers)
        return b'<Sen Type="%s"><%s<IPOC>%s</IPOC></Sen>' % (self.settings.sensor_type.encode(), words, self.echo)

    def decode_answer(self, packet: bytes) -> tuple[Command, int]:
        """The robot's side: a correction, a shift and a turn, and the IPOC that it answers; BadPacket where it is none."""
        try:
            root = read_message(packet, "Sen")
            if root.attributes.get(b"Type") != self.settings.sensor_type.encode():
                raise BadPacket(PacketError.WRONG_HEADER)
            shift, turn = _read_frame(root.find(self.settings.correction))
            ipoc = read_digits(root.find("IPOC").text.strip(SPACE))
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return Command(shift, vector_of_quaternion(turn)), ipoc

    def encode_robot(self, actual: Pose, setpoint: Command) -> bytes:
        """The robot's side: where it is and shall be, its joints, how many answers were late, and its IPOC."""
        check_range(actual.position + actual.rotation_vector + setpoint.position + setpoint.rotation_vector)
        parts = []
        for name, pose in (("RIst", actual), ("RSol", setpoint)):
            values = _frame(pose.position, quaternion_of_vector(pose.rotation_vector))
            parts.append(name.encode() + self._written(FRAME, values))
        parts.append(b"AIPos" + self._written(AXES, tuple(each / DEGREE for each in actual.joints[:6])))
        told = b"<".join(parts)
        return b'<Rob Type="KUKA"><%s<Delay D="%d"/><IPOC>%d</IPOC></Rob>' % (told, actual.status, actual.sequence)

    def _written(self, names: tuple[str, ...], values: Numbers) -> bytes:
        return _attributes(names, [write_decimal(each, self.settings.decimals) for each in values])


def _attributes(names: tuple[str, ...], numbers: list[bytes]) -> bytes:
    return b"".join(b' %s="%s"' % (name.encode(), each) for name, each in zip(names, numbers, strict=True)) + b"/>"


def _frame(position: Numbers, quaternion: Numbers) -> Numbers:
    """The numbers of a frame on the wire: mm, degrees."""
    lengths = tuple(each * 1000.0 for each in position)
    return lengths + tuple(each / DEGREE for each in angles_of_quaternion(quaternion))


def _frame_of(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Position (m) and unit quaternion of the numbers of a frame."""
    return tuple(each / 1000.0 for each in numbers[:3]), quaternion_of_angles(
        tuple(each * DEGREE for each in numbers[3:])
    )


def _read_frame(element: Element) -> tuple[Numbers, Numbers]:
    numbers = []
    for place, name in enumerate(FRAME):
        number = element.number(name)
        if abs(number / 1000.0 if place < 3 else number * DEGREE) > LARGEST:
            raise BadPacket(PacketError.OUT_OF_RANGE)
        numbers.append(number)
    return _frame_of(tuple(numbers))


def _read_joints(root: Element) -> Numbers:
    """The joints that a robot tells; zero for those that it has not."""
    if b"AIPos" not in root.inner:
        return (0.0,) * JOINTS
    told = root.inner[b"AIPos"]
    joints = []
    for name in AXES:
        joints.append(told.number(name) * DEGREE if name.encode() in told.attributes else 0.0)
        check_range(joints[-1:])
    return tuple(joints) + (0.0,) * (JOINTS - len(AXES))
