"""Packets whose fields a scenario states: types, places, byte order, units. In C it is `raw_udp.c`.

For a controller that has no protocol of a robot's maker: Speedgoat, dSPACE, hexapods, programs of one's own.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from dockdyn.parameters import parameter
from dockdyn.realtime.devices.device import (
    ZERO,
    BadPacket,
    Counts,
    PacketError,
    Reading,
    Sequence,
    ToolCommand,
    ToolPose,
    check_range,
)
from dockdyn.realtime.devices.roles import ForceSensor, Keys, Port, Robot
from dockdyn.realtime.devices.rotations import (
    Numbers,
    angles_of_quaternion,
    normalise_quaternion,
    quaternion_of_angles,
    quaternion_of_vector,
    vector_of_quaternion,
)
from dockdyn.records import record
from dockdyn.scenario.language.units import scale_of

if TYPE_CHECKING:
    from dockdyn.realtime.devices.emulated.robot import CommandedRobot
    from dockdyn.realtime.devices.emulated.sensor import SensorErrors
    from dockdyn.realtime.devices.emulated.streaming import StreamingSensor
    from dockdyn.scenario.tables.emulator import EmulatedSensorSection

MOST_FIELDS = 32
LONGEST = 1472  # bytes of a datagram that one frame of Ethernet holds
_LARGEST_SINGLE = 3.4e38

# the first slot of a quantity, how many it has, and the units that it may have
_QUANTITIES = {
    "force": (0, 3, ("N",)),
    "torque": (3, 3, ("N*m",)),
    "position": (6, 3, ("m",)),
    "rotation": (9, 4, ("rad", "")),
    "joints": (13, 8, ("rad", "m")),
}
_SLOTS = {f"{name}.{i}": first + i for name, (first, count, _) in _QUANTITIES.items() for i in range(count)}
_SLOTS |= {"sequence": 21, "status": 22, "constant": 23}
_TYPES = {
    "i8": "b",
    "u8": "B",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "f32": "f",
    "f64": "d",
}
_ROTATIONS = ("vector", "quaternion", "angles")
Rotation = Literal["vector", "quaternion", "angles"]


@record
class RawField:
    """A field as the C struct has it: SI is the number times `scale` plus `zero`; `value` is that of a constant."""

    slot: int
    type: int
    at: int
    scale: float = 1.0
    zero: float = 0.0
    value: int = 0

    @classmethod
    def named(cls, name: str, type: str, at: int, unit: str = "", zero: float = 0.0, value: int = 0) -> Self:
        """Return a field such as `force.0` or `sequence`, of a type such as `f32`, at a byte of the packet, in a unit.

        `zero` (SI) is what the number 0 means. ValueError for a name, a type or a unit that there is not.
        """
        if name not in _SLOTS:
            raise ValueError(f"a packet has no {name!r}; it may have {', '.join(_SLOTS)}")
        if type not in _TYPES:
            raise ValueError(f"{name} must be one of {', '.join(_TYPES)}, not {type!r}")
        quantity = _QUANTITIES.get(name.partition(".")[0])
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"the value of {name} must fit into 64 bits with a sign, not {value}")
        if quantity is None and type.startswith("f"):
            raise ValueError(f"{name} must be a whole number, not {type}")
        if name == "status" and _code_size(_TYPES[type]) > 4:
            raise ValueError(f"status must be of at most 32 bits, not {type}")
        scale = _unit_scale(unit, quantity[2]) if quantity and unit else 1.0
        return cls(_SLOTS[name], ord(_TYPES[type]), at, scale, zero, value)

    @property
    def size(self) -> int:
        """Its bytes."""
        return _code_size(chr(self.type))


def _code_size(code: str) -> int:
    return struct.calcsize("<" + code)


def _unit_scale(unit: str, wanted: tuple[str, ...]) -> float:
    for each in wanted:
        try:
            return scale_of(unit, each)
        except ValueError:
            continue
    raise ValueError(f"must be a unit of {wanted[0]}, not {unit!r}")


@record
class RawLayout:
    """A packet: its length, byte order, how it tells rotations, and its fields; ValueError for one that cannot be."""

    length: int
    big: bool
    rotation: int
    fields: int
    field: tuple[RawField, ...]

    @classmethod
    def of(cls, length: int, fields: tuple[RawField, ...], big: bool = False, rotation: Rotation = "vector") -> Self:
        """Return a layout of so many bytes with these fields."""
        if not 0 < length <= LONGEST:
            raise ValueError(f"a packet must have 1 to {LONGEST} bytes, not {length}")
        if not 0 < len(fields) <= MOST_FIELDS:
            raise ValueError(f"a packet must have 1 to {MOST_FIELDS} fields, not {len(fields)}")
        taken: set[int] = set()
        for each in fields:
            place = set(range(each.at, each.at + each.size))
            if place & taken or each.at < 0 or each.at + each.size > length:
                raise ValueError(f"the field at byte {each.at} overlaps another or the end of the {length} bytes")
            taken |= place
        slots = [each.slot for each in fields if each.slot != _SLOTS["constant"]]
        for name, slot in _SLOTS.items():
            if slots.count(slot) > 1:
                raise ValueError(f"{name} stands in two fields; a packet must have it once")
        turned = {each.slot - _SLOTS["rotation.0"] for each in fields} & set(range(4))
        if turned and turned != set(range(4 if rotation == "quaternion" else 3)):
            raise ValueError(f"a rotation told as {rotation} needs {4 if rotation == 'quaternion' else 3} fields")
        return cls(length, big, _ROTATIONS.index(rotation), len(fields), fields)

    def missing(self, *quantities: str) -> list[str]:
        """Return what the packet lacks of quantities in space, such as `force.2`."""
        there = {each.slot for each in self.field}
        return [f"{name}.{axis}" for name in quantities for axis in range(3) if _SLOTS[f"{name}.{axis}"] not in there]


@record
class RawUDPSettings:
    """What a side receives and what it sends; of a server without anything to send, what its sensor sends."""

    received: RawLayout
    sent: RawLayout

    @property
    def other_side(self) -> RawUDPSettings:
        """The settings of what it talks to."""
        return RawUDPSettings(self.sent, self.received)


class RawUDP:
    """Codec of one side. A packet without a sequence is numbered as it comes; then none is stale, and none missed."""

    def __init__(self, settings: RawUDPSettings) -> None:
        self.settings = settings
        self.counts = Counts()
        self._numbered = next((each for each in settings.received.field if each.slot == _SLOTS["sequence"]), None)
        self.sequence = Sequence(8 * self._numbered.size) if self._numbered else None
        self._struct = {}
        for layout in (settings.received, settings.sent):
            for each in layout.field:
                code = (">" if layout.big else "<") + chr(each.type)
                self._struct[layout.big, each.type] = struct.Struct(code)

    def forget(self) -> None:
        """Forget a connection: the next packet is the first."""
        if self.sequence:
            self.sequence.last = None

    def decode_reading(self, packet: bytes) -> Reading:
        """Return what a force sensor sends; BadPacket where it is none."""
        values, sequence, status = self._decode(packet)
        return Reading(_named_part(values, "force"), _named_part(values, "torque"), sequence, status)

    def decode_pose(self, packet: bytes) -> ToolPose:
        """Return what a robot sends; BadPacket where it is none."""
        values, sequence, status = self._decode(packet)
        rotation = _named_part(values, "rotation")[:3]
        return ToolPose(_named_part(values, "position"), rotation, _named_part(values, "joints"), sequence, status)

    def decode_command(self, packet: bytes) -> tuple[ToolCommand, int]:
        """Return the robot's side: a command and its sequence; BadPacket where it is none."""
        values, sequence, _ = self._decode(packet)
        return ToolCommand(_named_part(values, "position"), _named_part(values, "rotation")[:3]), sequence

    def encode_reading(self, reading: Reading) -> bytes:
        """Return the sensor's side, NaN of a broken sensor included; BadPacket for a number that its type does not hold."""
        return self._encode({"force": reading.force, "torque": reading.torque}, reading.sequence, reading.status)

    def encode_pose(self, pose: ToolPose) -> bytes:
        """Return the robot's side; BadPacket for a number that its type does not hold."""
        check_range(pose.position + pose.rotation_vector + pose.joints)
        told = {"position": pose.position, "rotation": pose.rotation_vector, "joints": pose.joints}
        return self._encode(told, pose.sequence, pose.status)

    def encode_command(self, command: ToolCommand, sequence: int) -> bytes:
        """Return a command with its sequence; BadPacket for a number that its type does not hold."""
        check_range(command.position + command.rotation_vector)
        told = {"position": command.position, "rotation": command.rotation_vector}
        return self._encode(told, sequence, 0)

    def _decode(self, packet: bytes) -> tuple[list[float], int, int]:
        try:
            values, status = self._read(packet)
            sequence = self.counts.good + 1
            if self.sequence and self._numbered:
                number = self._number(self.settings.received, self._numbered, packet)
                self.sequence.advance(int(number), self.counts)
                sequence = self.sequence.last or 0
        except BadPacket as bad:
            raise self.counts.refuse(bad.error) from None
        self.counts.good += 1
        return values, sequence, status

    def _read(self, packet: bytes) -> tuple[list[float], int]:
        layout = self.settings.received
        if len(packet) != layout.length:
            raise BadPacket(PacketError.WRONG_LENGTH)
        for each in layout.field:
            if each.slot == _SLOTS["constant"] and (self._number(layout, each, packet) - each.value) % 2 ** (
                8 * each.size
            ):
                raise BadPacket(PacketError.WRONG_HEADER)
        values = [0.0] * _SLOTS["sequence"]
        values[_SLOTS["rotation.0"]] = float(layout.rotation == 1)
        status = 0
        for each in layout.field:
            if each.slot == _SLOTS["status"]:
                status = int(self._number(layout, each, packet)) % 2 ** (8 * each.size)
            elif each.slot < _SLOTS["sequence"]:
                values[each.slot] = float(self._number(layout, each, packet)) * each.scale + each.zero
                check_range(values[each.slot : each.slot + 1])
        first = _SLOTS["rotation.0"]
        values[first : first + 3] = _rotation_vector(_ROTATIONS[layout.rotation], tuple(values[first : first + 4]))
        return values, status

    def _number(self, layout: RawLayout, field: RawField, packet: bytes) -> float:
        return self._struct[layout.big, field.type].unpack_from(packet, field.at)[0]

    def _encode(self, told: dict[str, Numbers], sequence: int, status: int) -> bytes:
        layout = self.settings.sent
        told |= {"rotation": _rotation_as_laid_out(_ROTATIONS[layout.rotation], told.get("rotation", ZERO))}
        values = [0.0] * _SLOTS["sequence"]
        for name, numbers in told.items():
            first = _QUANTITIES[name][0]
            values[first : first + len(numbers)] = numbers
        out = bytearray(layout.length)
        for each in layout.field:
            whole = {_SLOTS["sequence"]: sequence, _SLOTS["status"]: status, _SLOTS["constant"]: each.value}.get(
                each.slot
            )
            if whole is None:
                self._pack(out, each, (values[each.slot] - each.zero) / each.scale)
            else:
                order: Literal["big", "little"] = "big" if layout.big else "little"
                out[each.at : each.at + each.size] = (whole % 2 ** (8 * each.size)).to_bytes(each.size, order)
        return bytes(out)

    def _pack(self, out: bytearray, field: RawField, number: float) -> None:
        packing = self._struct[self.settings.sent.big, field.type]
        if chr(field.type) == "f" and abs(number) > _LARGEST_SINGLE:
            raise BadPacket(PacketError.OUT_OF_RANGE)
        try:
            packing.pack_into(out, field.at, number if chr(field.type) in "fd" else round(number))
        except (struct.error, OverflowError, ValueError):
            raise BadPacket(PacketError.OUT_OF_RANGE) from None


def _named_part(values: list[float], name: str) -> Numbers:
    first, count, _ = _QUANTITIES[name]
    return tuple(values[first : first + count])


def _rotation_vector(rotation: str, told: Numbers) -> Numbers:
    """Return the rotation vector of a rotation as a layout tells it."""
    if rotation == "vector":
        return told[:3]
    return vector_of_quaternion(
        normalise_quaternion(told) if rotation == "quaternion" else quaternion_of_angles(told[:3])
    )


def _rotation_as_laid_out(rotation: str, vector: Numbers) -> Numbers:
    """Return a rotation vector as a layout tells it."""
    if rotation == "vector":
        return vector
    quaternion = quaternion_of_vector(vector)
    return quaternion if rotation == "quaternion" else angles_of_quaternion(quaternion)


class PacketFieldSection(Keys):
    """A number in a packet: its name, its type, at which byte, in which unit."""

    name: str
    type: Literal["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]
    at: Annotated[int, Field(ge=0)]
    unit: str = ""
    zero: float = parameter("", "a number", default=0.0)
    value: int = 0


class PacketSection(Keys):
    """A packet of so many bytes, and what is in it."""

    length: Annotated[int, Field(ge=1)]
    big_endian: bool = False
    rotation: Rotation = "vector"
    field: Annotated[list[PacketFieldSection], Field(min_length=1)]

    def layout(self) -> RawLayout:
        """Return how its numbers lie. Raises ValueError for one that cannot be."""
        fields = [
            RawField.named(each.name, each.type, each.at, each.unit, each.zero, each.value) for each in self.field
        ]
        return RawLayout.of(self.length, tuple(fields), self.big_endian, self.rotation)


def _plain_layout(first: str, second: str, status: bool) -> RawLayout:
    """Return the layout of six doubles, little endian, then a sequence of eight bytes and perhaps a status of four."""
    names = [f"{name}.{index}" for name in (first, second) for index in range(3)]
    fields = [RawField.named(name, "f64", 8 * place) for place, name in enumerate(names)]
    fields.append(RawField.named("sequence", "u64", 8 * len(names)))
    if status:
        fields.append(RawField.named("status", "u32", 8 * len(names) + 8))
    return RawLayout.of(64 if status else 56, tuple(fields))


READING, POSE, COMMAND = (
    _plain_layout("force", "torque", True),
    _plain_layout("position", "rotation", True),
    _plain_layout("position", "rotation", False),
)
SET_ON_CONTROLLER = (
    (
        "packets exactly as the scenario states them, with a sequence and a status",
        "without a sequence none can be found lost or stale, without a status a device cannot say that it is not well",
    ),
    (
        "a robot stops by itself where commands stay away for some cycles",
        "where this computer has died nobody else stops it",
    ),
)
NEVER_SEEN = ("all of it: the controller is the user's",)


class RawSensor(ForceSensor):
    """A force sensor whose packets are stated; it sends to this computer at `port`."""

    struct = "raw_udp"
    controller_settings, unconfirmed = SET_ON_CONTROLLER, NEVER_SEEN

    kind: Literal["raw-udp"] = "raw-udp"
    port: Port = 49152
    packet: PacketSection | None = None

    def settings(self, period: float) -> RawUDPSettings:
        layout = READING if self.packet is None else self.packet.layout()
        return RawUDPSettings(layout, layout)

    def missing_in_space(self, period: float) -> list[str]:
        lacks = self.settings(period).received.missing("force", "torque")
        return [f"packet: has no {', '.join(lacks)}"] if lacks else []

    def emulate(
        self, settings: RawUDPSettings, errors: SensorErrors, period: float, stated: EmulatedSensorSection
    ) -> StreamingSensor:
        from dockdyn.realtime.devices.emulated.streaming import StreamingSensor

        return StreamingSensor(RawUDP(settings.other_side).encode_reading, errors, 1 / period)


class RawRobot(Robot):
    """A robot whose packets are stated, which speaks to this computer at `port`; it is answered, or told by the clock."""

    struct = "raw_udp"
    controller_settings, unconfirmed = SET_ON_CONTROLLER, NEVER_SEEN

    kind: Literal["raw-udp"] = "raw-udp"
    port: Port = 49153
    pace: Literal["robot", "clock"] = "robot"
    timeout: Annotated[int, Field(ge=1)] = 5
    pose: PacketSection | None = None
    command: PacketSection | None = None

    @property
    def by_clock(self) -> bool:
        return self.pace == "clock"

    def settings(self, period: float) -> RawUDPSettings:
        received = POSE if self.pose is None else self.pose.layout()
        return RawUDPSettings(received, COMMAND if self.command is None else self.command.layout())

    def missing_in_space(self, period: float) -> list[str]:
        settings = self.settings(period)
        packets = {"pose": settings.received, "command": settings.sent}
        lacks = {key: layout.missing("position", "rotation") for key, layout in packets.items()}
        return [f"{key}: has no {', '.join(names)}" for key, names in lacks.items() if names]

    def stated(self) -> tuple[tuple[str, str], ...]:
        return ((f"the robot stops by itself after {self.timeout} cycles in a row without a command", "timeout"),)

    def emulate(
        self, settings: RawUDPSettings, start: ToolPose, period: float, stated: None, connected: bool
    ) -> CommandedRobot:
        from dockdyn.realtime.devices.emulated.cycle import CycleSettings
        from dockdyn.realtime.devices.emulated.robot import emulate_raw_robot

        return emulate_raw_robot(settings, CycleSettings(period, self.timeout, in_a_row=True), start)
