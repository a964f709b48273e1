"""Universal Robots: real-time data exchange (RTDE) over TCP, and the reverse interface for commands; both sides of both.

In C, `rtde.c` has what a cycle needs; versions and recipes are agreed on here. Sources: docs/devices.md.
"""

from __future__ import annotations

import struct
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.device import (
    BadPacket,
    Counts,
    PacketError,
    Reading,
    Sequence,
    ToolCommand,
    ToolPose,
    check_range,
)
from dockdyn.realtime.devices.roles import Keys, Port, Robot
from dockdyn.records import record

if TYPE_CHECKING:
    from dockdyn.realtime.connections import Connections
    from dockdyn.realtime.devices.emulated.rtde import URInPackets
    from dockdyn.realtime.links import URConnections

PORT = 30004
REVERSE_PORT, TRAJECTORY_PORT, SCRIPT_COMMAND_PORT = 50001, 50003, 50004
E_SERIES, CB3, OLD_RATE = 500, 125, 125  # Hz: cycles of the controllers, and packages in version 1
STOPPING = 4.0  # rad/s², of the joints when the program ends itself
IGNORED_SPEED = 20.0  # rad/s, of a joint: a target that needs more in one cycle of the controller is dropped
# types of a package
VERSION, SETUP_OUTPUTS, START, PAUSE, DATA, TEXT = b"VOSPUM"
OUTPUTS = {
    "timestamp": "DOUBLE",
    "actual_TCP_pose": "VECTOR6D",
    "actual_q": "VECTOR6D",
    "actual_TCP_force": "VECTOR6D",
    "robot_status_bits": "UINT32",
    "safety_status_bits": "UINT32",
}
# bits of a pose's status: the first two are what the robot does not tell to be so, those from 4 on are its safety bits
NOT_POWERED, NO_PROGRAM, UNSAFE = 1, 2, 0xFFC
PROTECTIVE_STOP, EMERGENCY_STOP = 1 << 2, 1 << 7
_HEAD = struct.Struct(">HB")
_CONTENT = struct.Struct(">d6d6d6dII")
_COMMAND = struct.Struct(">i6ii")
_PER_UNIT = 1e6  # of the numbers of commands: 1 µm, 1 µrad
_MODE_POSE = 5
_POWERED, _PROGRAM_RUNS, _NORMAL = 1, 2, 1


@record
class RTDESettings:
    """Version of the protocol, when packages come, how long a command is waited for, the recipe's number.

    Packages come each so many `cycles` of the controller, which has `rate` cycles a second: 500, or 125 of a CB3. `timeout` is
    in ms: without a command for so long the robot stops. The robot gives the number of a recipe, of which `RTDE` takes note; in
    C it is the setting. ValueError for what cannot be.
    """

    version: int = 2
    cycles: int = 1
    timeout: int = 20
    recipe: int = 1
    rate: int = E_SERIES

    def __post_init__(self) -> None:
        if self.version not in (1, 2):
            raise ValueError(f"version must be 1 or 2, not {self.version}")
        if self.rate not in (E_SERIES, CB3):
            raise ValueError(f"rate must be {E_SERIES} or {CB3} Hz, not {self.rate}")
        if not 1 <= self.cycles <= self.rate:
            raise ValueError(f"cycles must be 1 to {self.rate}, not {self.cycles}")
        if self.version == 1 and self.rate != OLD_RATE * self.cycles:
            raise ValueError(
                f"version 1 sends at {OLD_RATE} Hz and takes no other rate: take version 2, or a cycle of 8 ms"
            )
        if not 0 < self.timeout < 2**31 or not 0 <= self.recipe < 256:
            raise ValueError(f"timeout must be positive, recipe a byte: {self}")

    @property
    def frequency(self) -> float:
        """The frequency (Hz) to ask for.

        The robot sends each ⌊rate/frequency⌋ cycles; where that quotient is not exact a millionth less is asked for, so that no
        rounding makes it the next faster.
        """
        return self.rate / self.cycles * (1.0 if self.rate % self.cycles == 0 else 1 - 1e-6)


class RTDE:
    """Codec of packages and commands. TCP is a stream: `split_packages` finds the packages in it."""

    def __init__(self, settings: RTDESettings | None = None) -> None:
        self.settings = settings or RTDESettings()
        self.counts = Counts()
        self.recipe = self.settings.recipe
        self.forget()

    def forget(self) -> None:
        """Forget a connection: the next package is the first."""
        self.sequence = Sequence(64)
        self._first: int | None = None

    def encode_requests(self) -> list[bytes]:
        """Return what a client sends after connecting, each after the answer to the one before: version, recipe, start."""
        frequency = struct.pack(">d", self.settings.frequency) if self.settings.version > 1 else b""
        recipe = frequency + ",".join(OUTPUTS).encode()
        version = struct.pack(">H", self.settings.version)
        return [write_package(VERSION, version), write_package(SETUP_OUTPUTS, recipe), write_package(START)]

    def decode_answer(self, packet: bytes) -> None:
        """Take the robot's answer to a request; BadPacket where it refuses, or has not what is asked for."""
        kind, content = open_package(packet)
        if kind == SETUP_OUTPUTS:
            number, types = (1, content) if self.settings.version == 1 else (content[0] if content else 0, content[1:])
            if number == 0 or types != ",".join(OUTPUTS.values()).encode():
                raise BadPacket(PacketError.MISSING_FIELD)
            self.recipe = number
        elif kind not in (VERSION, START, PAUSE):
            raise BadPacket(PacketError.WRONG_HEADER)
        elif content != b"\x01":
            raise BadPacket(PacketError.WRONG_HEADER if len(content) == 1 else PacketError.WRONG_LENGTH)

    def decode_data(self, packet: bytes) -> tuple[ToolPose, Reading]:
        """Return where the robot is and the force at its tool; BadPacket for what is no package of the recipe, a text too."""
        head = self._head()
        try:
            if len(packet) >= _HEAD.size and _HEAD.unpack(packet[: _HEAD.size]) == (len(packet), TEXT):
                raise BadPacket(PacketError.OTHER_MESSAGE)
            if len(packet) != len(head) + _CONTENT.size or packet[:2] != head[:2]:
                raise BadPacket(PacketError.WRONG_LENGTH)
            if packet[2 : len(head)] != head[2:]:
                raise BadPacket(PacketError.WRONG_HEADER)
            time, *values, robot, safety = _CONTENT.unpack(packet[len(head) :])
            check_range((time, *values))
            if time < 0:
                raise BadPacket(PacketError.OUT_OF_RANGE)
            self._follow(time)
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        status = NOT_POWERED * (not robot & _POWERED) | NO_PROGRAM * (not robot & _PROGRAM_RUNS) | safety & UNSAFE
        number = self.sequence.last or 0
        pose = ToolPose(tuple(values[:3]), tuple(values[3:6]), (*values[6:12], 0.0, 0.0), number, status)
        return pose, Reading(tuple(values[12:15]), tuple(values[15:18]), number, status)

    def _follow(self, time: float) -> None:
        """Number the packages by the controller's cycle that they tell: the first by it, each other one by how many periods it
        is from there, to the nearest. So none is taken before its time, at whichever rate the robot sends.
        """
        cycle, period = round(time * self.settings.rate), self.settings.cycles
        first = cycle if self._first is None else self._first
        if cycle < first:
            raise BadPacket(PacketError.STALE)
        self.sequence.advance(first // period + (2 * (cycle - first) + period) // (2 * period), self.counts)
        self._first = first

    def encode_command(self, command: ToolCommand) -> bytes:
        """Return a command of the reverse interface, to 1 µm and 1 µrad; BadPacket for what does not fit into 32 bits."""
        try:
            units = [round(each * _PER_UNIT) for each in command.position + command.rotation_vector]
            return _COMMAND.pack(self.settings.timeout, *units, _MODE_POSE)
        except (ValueError, OverflowError, struct.error):
            raise BadPacket(PacketError.OUT_OF_RANGE) from None

    def decode_command(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return the robot's side: a command, and the ms without another after which it stops; BadPacket where it is none."""
        if len(packet) != _COMMAND.size:
            raise self.counts.refuse(PacketError.WRONG_LENGTH)
        timeout, *units, mode = _COMMAND.unpack(packet)
        if mode != _MODE_POSE:
            raise self.counts.refuse(PacketError.WRONG_HEADER)
        if timeout < 0:
            raise self.counts.refuse(PacketError.OUT_OF_RANGE)
        self.counts.good += 1
        numbers = tuple(each / _PER_UNIT for each in units)
        return ToolCommand(numbers[:3], numbers[3:]), timeout

    def encode_data(self, time: float, pose: ToolPose, reading: Reading) -> bytes:
        """Return the robot's side: a package of the recipe."""
        check_range(pose.position + pose.rotation_vector + pose.joints[:6])
        robot = (0 if pose.status & NOT_POWERED else _POWERED) | (0 if pose.status & NO_PROGRAM else _PROGRAM_RUNS)
        values = (*pose.position, *pose.rotation_vector, *pose.joints[:6], *reading.force, *reading.torque)
        return self._head() + _CONTENT.pack(time, *values, robot, pose.status & UNSAFE or _NORMAL)

    def _head(self) -> bytes:
        recipe = b"" if self.settings.version == 1 else bytes([self.recipe])
        return _HEAD.pack(_HEAD.size + len(recipe) + _CONTENT.size, DATA) + recipe


def write_text(version: int, message: str, source: str = "dockdyn", level: int = 2) -> bytes:
    """Return a text that the robot sends by itself: an error (1 or 0), a warning (2) or information (3)."""
    words, origin = message.encode()[:255], source.encode()[:255]
    if version == 1:
        return write_package(TEXT, bytes([level]) + words)
    return write_package(TEXT, bytes([len(words)]) + words + bytes([len(origin)]) + origin + bytes([level]))


def stop_distance(speed: float, patience: float, lever: float) -> float:
    """Return how far (m) the tool goes on at a `speed` (m/s) once commands fail: at that speed for the `patience` (s) that they
    state, then while its joints stop, of which the tool is a `lever` (m) away.
    """
    return speed * patience + speed**2 / (2 * STOPPING * lever)


def write_package(kind: int, content: bytes = b"") -> bytes:
    """Return a package: its size, its type, its content."""
    return _HEAD.pack(_HEAD.size + len(content), kind) + content


def open_package(packet: bytes) -> tuple[int, bytes]:
    """Return the type and the content of a whole package; BadPacket where it is none."""
    if len(packet) < _HEAD.size or int.from_bytes(packet[:2]) != len(packet):
        raise BadPacket(PacketError.WRONG_LENGTH)
    return packet[2], packet[_HEAD.size :]


def split_packages(stream: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole packages that a stream begins with, and its rest; BadPacket for a stream that is none."""
    packages = []
    while size := find_package(stream):
        packages.append(stream[:size])
        stream = stream[size:]
    return packages, stream


def find_package(stream: bytes) -> int:
    """Return the size of the package that a stream begins with, zero where more must come; BadPacket for one that is none."""
    if len(stream) < 2:
        return 0
    size = int.from_bytes(stream[:2])
    if size < _HEAD.size:
        raise BadPacket(PacketError.WRONG_LENGTH)
    return size if size <= len(stream) else 0


class URBehaviour(Keys):
    """What a robot of Universal Robots does; the defaults are those of one with the maker's unmodified program.

    It knows versions of RTDE up to `newest_version`. Without a command it `extrapolates` at its last speed, else it holds.
    When none comes for the time that the last one states, its joints, of which the tool is a `lever` away, stop at
    `stopping`, and its program ends. A target that needs more than `ignored_speed` of a joint in a cycle is dropped. It
    sends a text by itself each `text_period`.
    """

    kind: Literal["ur-rtde"] = "ur-rtde"
    newest_version: Annotated[int, Field(ge=1, le=2)] = 2
    applies_after: Annotated[int, Field(ge=1, le=1000)] = 1
    extrapolates: bool = True
    stopping: float = parameter("rad/s**2", "an angular acceleration", default=STOPPING, above=0)
    lever: float = parameter("m", "a distance", default=0.5, above=0)
    ignored_speed: float = parameter("rad/s", "an angular velocity", default=IGNORED_SPEED, above=0)
    text_period: float = parameter("s", "a time", default=1.0, above=0)


class URRobot(Robot):
    """A robot of Universal Robots: where it tells its state, and where its program takes commands from this computer.

    The program opens connections to three ports of this computer; an e-Series has 500 cycles a second, a CB3 125.
    """

    struct = "rtde"
    Emulated = URBehaviour
    asked = connected = True
    controller_settings = (
        (
            "the program external_control.urscript of the maker's client library, its placeholders filled in: this computer's"
            " address, its three ports, 1000000 for JOINT_STATE and TIME, the gain and look-ahead of servoj",
            "it reads the commands; dockdyn does not send it to the robot",
        ),
        (
            "three ports of this computer open to the robot: 50001 (reverse), 50003 (trajectory) and 50004 (script commands)"
            " unless the scenario has others",
            "the program begins only once it has all three, and shows a popup until then",
        ),
        (
            "remote control, the speed slider at 100 %, no limit of the safety planes inside the rig's workspace",
            "a scaled speed makes the robot lag behind its commands, and a limit stops it",
        ),
        (
            "a cycle of the rig of one or more whole cycles of the controller, 2 ms of an e-Series, 8 ms of a CB3; best one",
            "in each of its cycles without a command the program goes on at the last joint speed, between two commands too",
        ),
        (
            "the tool centre point and payload of the mock-up",
            "commands and poses are of the tool centre point; a wrong payload bends the path",
        ),
    )
    unconfirmed = (
        "in which of the robot's cycles a command applies, and how servoj's gain and look-ahead smooth it",
        "the deceleration of the tool while the joints stop at 4 rad/s²: it depends on the pose; the emulator takes a lever",
        "the meaning of safety bit 11 (enabling device active) in automatic mode: dockdyn stops at it",
        "the rate of version 1 on an e-Series: 125 Hz is that of the manuals",
    )

    kind: Literal["ur-rtde"]
    port: Port = PORT
    reverse_port: Port = 50001
    trajectory_port: Port = 50003
    script_command_port: Port = 50004
    controller: Literal["e-series", "cb3"] = "e-series"
    version: Annotated[int, Field(ge=1, le=2)] = 2
    patience: float = parameter("s", "a time", default=0.02, above=0)

    @property
    def program_ports(self) -> tuple[int, int, int]:
        """The ports of this computer that the program connects to, in its order."""
        return self.trajectory_port, self.script_command_port, self.reverse_port

    def settings(self, period: float) -> RTDESettings:
        rate = {"e-series": E_SERIES, "cb3": CB3}[self.controller]
        cycles = round(period * rate)
        if cycles < 1 or abs(cycles / rate - period) > 1e-9:
            raise ValueError(
                f"a cycle of {period:g} s: must be a whole number of {1 / rate:g} s, a cycle of {self.controller}"
            )
        if self.patience <= period:
            raise ValueError(
                f"patience: {self.patience:g} s: must be above the cycle of {period:g} s, or the robot stops"
            )
        return RTDESettings(self.version, cycles, max(round(1000 * self.patience), 1), rate=rate)

    def stated(self) -> tuple[tuple[str, str], ...]:
        return (
            (f"the program's reverse port {self.reverse_port}", "reverse_port"),
            (f"the program's trajectory port {self.trajectory_port}", "trajectory_port"),
            (f"the program's script command port {self.script_command_port}", "script_command_port"),
        )

    def emulate(
        self, settings: RTDESettings, start: ToolPose, period: float, stated: URBehaviour | None, connected: bool
    ) -> URInPackets:
        from dockdyn.realtime.devices.emulated.rtde import URInPackets

        return URInPackets(start, settings, stated, connected)

    def to_start(self) -> str:
        ports = ", ".join(map(str, self.program_ports))
        return f"start the robot's program: it connects to ports {ports} of this computer, in this order"

    def connect(self, settings: RTDESettings) -> AbstractContextManager[Connections]:
        from dockdyn.realtime.connections import connect_robot

        return connect_robot(self, settings)

    def emulated_link(self, emulated: URInPackets) -> URConnections:
        from dockdyn.realtime.links import URConnections

        return URConnections(emulated, (self.host, self.port), self.program_ports)
