"""KUKA.RobotSensorInterface: XML over UDP, the robot is master; the codec of both sides. In C it is `rsi.c`.

Angles A, B, C are turns about z, y', x''. A correction is a shift and a turn in the axes of the robot's base.
Sources: docs/devices.md.
"""

from __future__ import annotations

import re
from math import degrees, hypot, pi, radians, sqrt
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.decimals import DEGREE, SPACE, read_digits, write_decimal
from dockdyn.realtime.devices.device import (
    JOINTS,
    LARGEST,
    BadPacket,
    Counts,
    PacketError,
    Sequence,
    ToolCommand,
    ToolPose,
    check_range,
)
from dockdyn.realtime.devices.flat_xml import Element, read_message
from dockdyn.realtime.devices.roles import Keys, Port, Robot
from dockdyn.realtime.devices.rotations import (
    Numbers,
    angles_of_quaternion,
    divide_quaternions,
    multiply_quaternions,
    normalise_quaternion,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)
from dockdyn.records import record

if TYPE_CHECKING:
    from dockdyn.realtime.devices.emulated.rsi import EmulatedRSI
    from dockdyn.scenario.tables.rig.driven import LimitsSection

PORT = 49152
FRAME = ("X", "Y", "Z", "A", "B", "C")
AXES = ("A1", "A2", "A3", "A4", "A5", "A6")
MOST_DECIMALS = 6
_WORD = 2**32
_MOST_LATE = _WORD - 1


@record
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


class RSI:
    """Codec of a robot's messages and of the answers to them, which echo their IPOC.

    A correction is from the programmed pose, which the setpoint of the first message is. Where corrections are relative, it is
    from where the robot was in the first message and the sum of those written since, each as it was rounded.
    """

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

    def decode_robot(self, packet: bytes) -> ToolPose:
        """Return where the robot is; its status is how many more answers were late than the message before has told.

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
        return ToolPose(position, vector_of_quaternion(quaternion), joints, self.ipoc.last or 0, status)

    def _follow(self, clock: int) -> None:
        """Follow IPOC, which is a counter of 32 bits until it tells more; BadPacket where it is not ahead."""
        self.ipoc.bits = 32 if max(clock, self.clock) < _WORD else 64
        self.ipoc.advance(clock, self.counts)
        self.clock = clock

    def encode_answer(self, command: ToolCommand) -> bytes:
        """Return the correction that leads to a pose, for the message decoded last; BadPacket before there is one."""
        if self.ipoc.last is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        check_range(command.position + command.rotation_vector)
        shift = tuple(new - old for new, old in zip(command.position, self.position, strict=True))
        turn = divide_quaternions(quaternion_of_vector(command.rotation_vector), self.quaternion)
        numbers = [write_decimal(each, self.settings.decimals) for each in _frame_numbers(shift, turn)]
        if self.settings.relative:
            position, turn = _frame_of(tuple(float(each) for each in numbers))
            self.position = tuple(old + each for old, each in zip(self.position, position, strict=True))
            self.quaternion = normalise_quaternion(multiply_quaternions(turn, self.quaternion))
        words = self.settings.correction.encode() + _write_attributes(FRAME, numbers)
        return b'<Sen Type="%s"><%s<IPOC>%s</IPOC></Sen>' % (self.settings.sensor_type.encode(), words, self.echo)

    def decode_answer(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return the robot's side: a correction, a shift and a turn, and the IPOC that it answers; BadPacket where it is
        none."""
        try:
            root = read_message(packet, "Sen")
            if root.attributes.get(b"Type") != self.settings.sensor_type.encode():
                raise BadPacket(PacketError.WRONG_HEADER)
            shift, turn = _read_frame(root.find(self.settings.correction))
            ipoc = read_digits(root.find("IPOC").text.strip(SPACE))
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return ToolCommand(shift, vector_of_quaternion(turn)), ipoc

    def encode_robot(self, actual: ToolPose, setpoint: ToolCommand) -> bytes:
        """Return the robot's side: where it is and shall be, its joints, how many answers were late, and its IPOC."""
        check_range(actual.position + actual.rotation_vector + setpoint.position + setpoint.rotation_vector)
        parts = []
        for name, pose in (("RIst", actual), ("RSol", setpoint)):
            values = _frame_numbers(pose.position, quaternion_of_vector(pose.rotation_vector))
            parts.append(name.encode() + self._written(FRAME, values))
        parts.append(b"AIPos" + self._written(AXES, tuple(each / DEGREE for each in actual.joints[:6])))
        told = b"<".join(parts)
        return b'<Rob Type="KUKA"><%s<Delay D="%d"/><IPOC>%d</IPOC></Rob>' % (told, actual.status, actual.sequence)

    def _written(self, names: tuple[str, ...], values: Numbers) -> bytes:
        return _write_attributes(names, [write_decimal(each, self.settings.decimals) for each in values])


def _write_attributes(names: tuple[str, ...], numbers: list[bytes]) -> bytes:
    return b"".join(b' %s="%s"' % (name.encode(), each) for name, each in zip(names, numbers, strict=True)) + b"/>"


def _frame_numbers(position: Numbers, quaternion: Numbers) -> Numbers:
    """Return the numbers of a frame on the wire: mm, degrees."""
    lengths = tuple(each * 1000.0 for each in position)
    return lengths + tuple(each / DEGREE for each in angles_of_quaternion(quaternion))


def _frame_of(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Return the position (m) and unit quaternion of the numbers of a frame."""
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
    """Return the joints that a robot tells; zero for those that it has not."""
    if b"AIPos" not in root.inner:
        return (0.0,) * JOINTS
    told = root.inner[b"AIPos"]
    joints = []
    for name in AXES:
        joints.append(told.number(name) * DEGREE if name.encode() in told.attributes else 0.0)
        check_range(joints[-1:])
    return tuple(joints) + (0.0,) * (JOINTS - len(AXES))


class RSIBehaviour(Keys):
    """What a robot of KUKA does besides what `[rig.device.robot]` says of its controller.

    Where `in_a_row`, an answer in time forgives late ones before it. A cycle without an answer has the last corrections
    where it is to `hold` (HOLDON="1"), else corrections of zero. The setpoint it tells is the programmed pose, unless it
    is `told_corrected`. Its clock, in ms, wraps at `clock_bits`.
    """

    kind: Literal["kuka-rsi"] = "kuka-rsi"
    in_a_row: bool = True
    hold: bool = True
    applies_after: Annotated[int, Field(ge=1, le=1000)] = 1
    told_corrected: bool = False
    first_ipoc: Annotated[int, Field(ge=0, lt=2**32)] = 4208000000
    clock_bits: Literal[32, 64] = 32


class RSIRobot(Robot):
    """A robot of KUKA with RobotSensorInterface, which speaks to this computer at `port`.

    From `precision` on the keys say what is set on its controller; without them what KUKA's objects have by default.
    """

    struct = "rsi"
    Emulated = RSIBehaviour
    tells_status, tells_late = False, True
    controller_settings = (
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
    unconfirmed = (
        "whether Timeout counts unanswered cycles in a row (two authors say so) or in all",
        "in which cycle after the answer the robot moves",
        "that the turn A, B, C of a correction is in front of the start's orientation, in the axes of the base",
        "whether MaxRotAngle is of the turn in all or of each of A, B, C, and MaxTrans of the distance or of each axis",
        "whether IPOC has 32 bits on every controller, and whether it has a sign: a negative one is refused",
    )

    kind: Literal["kuka-rsi"]
    port: Port = 49153
    sensor_type: str = "ImFree"
    correction: str = "RKorr"
    relative: bool = False
    decimals: Annotated[int, Field(ge=0, le=MOST_DECIMALS)] = MOST_DECIMALS
    precision: Annotated[int, Field(ge=0, le=32)] = 1
    timeout: Annotated[int, Field(ge=1)] = 10
    correction_limit: float = parameter("m", "a distance", default=5e-3, above=0)
    correction_turn_limit: float = parameter("rad", "an angle", default=radians(5), above=0)
    monitor_limit: float = parameter("m", "a distance", default=6e-3, above=0)
    monitor_turn_limit: float = parameter("rad", "an angle", default=radians(6), above=0)

    def settings(self, period: float) -> RSISettings:
        milliseconds = round(1000 * period)
        if abs(period - milliseconds / 1000) > 1e-9:
            raise ValueError(f"a cycle of {period:g} s: must be of whole milliseconds")
        return RSISettings(self.sensor_type, self.correction, self.relative, self.decimals, milliseconds)

    def stated(self) -> tuple[tuple[str, str], ...]:
        limit, monitor = 1e3 * self.correction_limit, 1e3 * self.monitor_limit
        turns = [degrees(each) for each in (self.correction_turn_limit, self.monitor_turn_limit)]
        return (
            (f"ETHERNET: Precision {self.precision}", "precision"),
            (f"ETHERNET: Timeout {self.timeout}", "timeout"),
            (f"POSCORR: LowerLimX, Y, Z {-limit:g} and UpperLimX, Y, Z {limit:g} mm", "correction_limit"),
            (f"POSCORR: MaxRotAngle {turns[0]:g}°", "correction_turn_limit"),
            (f"POSCORRMON: MaxTrans {monitor:g} mm", "monitor_limit"),
            (f"POSCORRMON: MaxRotAngle {turns[1]:g}°", "monitor_turn_limit"),
        )

    def hindrances(self, limits: LimitsSection, duration: float) -> list[str]:
        """Return which corrections within the box and the turns of the limits the context's objects would cut off or stop at.

        The programmed pose may be anywhere in the box, so that corrections may be as long as the box is wide, and by what its
        decimals leave out longer.
        """
        step = 10.0**-self.precision
        rounded, rounded_turn = sqrt(3) / 2 * step * 1e-3, 1.5 * radians(step)
        widths = [high - low for low, high in zip(limits.lowest, limits.highest, strict=True)]
        turn = 0.0 if limits.turn is None else min(2 * sqrt(3) * limits.turn + rounded_turn, pi)
        silently = "KUKA's POSCORR cuts longer corrections off without a word; set LowerLim and UpperLim"
        turned = "KUKA's POSCORR cuts larger turns off without a word; set MaxRotAngle"
        stops = "KUKA's POSCORRMON stops there; set"
        needs = (
            ("correction_limit", max(widths) + rounded, "m", silently),
            ("correction_turn_limit", turn, "rad", turned),
            ("monitor_limit", hypot(*widths) + rounded, "m", f"{stops} MaxTrans"),
            ("monitor_turn_limit", turn, "rad", f"{stops} MaxRotAngle"),
        )
        found = [
            f"rig.device.robot.{key}: {value:g} {unit}: rig.limits let corrections be as far as {needed:.4g} {unit}; {words} "
            "beyond that, and state it"
            for key, needed, unit, words in needs
            if (value := getattr(self, key)) < needed * (1 - 1e-12)
        ]
        seen = (
            ("tracking", limits.tracking, rounded, "m"),
            ("tracking_turn", limits.tracking_turn, rounded_turn, "rad"),
        )
        found += [
            f"rig.device.robot.precision: {self.precision}: poses are rounded by up to {error:.3g} {unit}, and "
            f"rig.limits.{key} is {limit:g} {unit}; set Precision of KUKA's ETHERNET object to more decimals, and state it"
            for key, limit, error, unit in seen
            if limit is not None and error >= limit
        ]
        return found

    def emulate(
        self, settings: RSISettings, start: ToolPose, period: float, stated: RSIBehaviour | None, connected: bool
    ) -> EmulatedRSI:
        from dockdyn.realtime.devices.emulated.rsi import EmulatedRSI

        return EmulatedRSI(settings, self, start, stated)
