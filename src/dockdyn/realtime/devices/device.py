"""What the cycle of a rig exchanges with its devices, in SI units, and why a packet is refused; in C it is `device.h`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from math import isfinite
from pathlib import Path

from dockdyn.records import record

HERE = Path(__file__).parent  # where the C files lie
ZERO = (0.0, 0.0, 0.0)
JOINTS = 8
LARGEST = 1e9  # of any number in SI units: what is larger is no measurement
_WHOLE = 2**64


@record
class Reading:
    """Of a force sensor: N and N m. A status of zero is healthy."""

    force: tuple[float, ...] = ZERO
    torque: tuple[float, ...] = ZERO
    sequence: int = 0
    status: int = 0


@record
class ToolPose:
    """Of a robot's tool in the robot's base: m and rad, joints in rad or m. A status of zero is healthy."""

    position: tuple[float, ...] = ZERO
    rotation_vector: tuple[float, ...] = ZERO
    joints: tuple[float, ...] = (0.0,) * JOINTS
    sequence: int = 0
    status: int = 0


@record
class ToolCommand:
    """Where the tool shall be in the robot's base: m and rad."""

    position: tuple[float, ...] = ZERO
    rotation_vector: tuple[float, ...] = ZERO


class PacketError(IntEnum):
    """Why a packet is refused; the numbers are those that a decoder in C returns."""

    WRONG_LENGTH = -1
    WRONG_HEADER = -2
    MALFORMED = -3
    MISSING_FIELD = -4
    NOT_A_NUMBER = -5
    OUT_OF_RANGE = -6
    STALE = -7
    OTHER_MESSAGE = -8  # a good packet that tells neither reading nor pose: a text, an answer

    @property
    def words(self) -> str:
        """The name as C and the logs have it."""
        return self.name.lower().replace("_", "-")


class BadPacket(ValueError):
    """A packet that is refused, or cannot be written, and why."""

    def __init__(self, error: PacketError) -> None:
        super().__init__(error.words)
        self.error = error


def check_range(values: Iterable[float]) -> None:
    """Refuse what is no measurement: NaN, an infinity, or a number (SI) larger than any."""
    for value in values:
        if not isfinite(value):
            raise BadPacket(PacketError.NOT_A_NUMBER)
        if abs(value) > LARGEST:
            raise BadPacket(PacketError.OUT_OF_RANGE)


@dataclass
class Counts:
    """Packets of a codec: good, refused by their error, and lost by what their sequence says."""

    good: int = 0
    lost: int = 0
    bad: dict[PacketError, int] = field(default_factory=lambda: dict.fromkeys(PacketError, 0))

    def refuse(self, error: PacketError) -> BadPacket:
        """Count a packet that is refused, and give what to raise."""
        self.bad[error] += 1
        return BadPacket(error)


@dataclass
class Sequence:
    """A counter on the wire that wraps at so many bits, unwrapped; None before the first."""

    bits: int
    stride: int = 1
    last: int | None = None

    def advance(self, number: int, counts: Counts) -> None:
        """Follow the counter; a number that is not ahead is refused as stale."""
        whole = 2**self.bits
        if self.last is None:
            self.last = number % whole
            return
        step = (number - self.last) % whole
        if step == 0 or step > (whole - 1) // 2:
            raise BadPacket(PacketError.STALE)
        if step >= self.stride:
            counts.lost = (counts.lost + step // self.stride - 1) % _WHOLE
        self.last = (self.last + step) % _WHOLE


def c_initialiser(settings: object) -> str:
    """Return the settings of a device as the initialiser of its struct in C, whose fields have the same names."""
    values = [(name, getattr(settings, name)) for name in settings.__dataclass_fields__]  # type: ignore[attr-defined]
    return "{" + (", ".join(f".{name} = {_c_value(value)}" for name, value in values) or "0") + "}"


def _c_value(value: object) -> str:
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, bool | int):
        return str(int(value))
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, tuple):
        return "{" + ", ".join(_c_value(each) for each in value) + "}"
    return c_initialiser(value)
