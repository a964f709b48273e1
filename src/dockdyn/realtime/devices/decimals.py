"""Decimal numbers in the text of a packet, by the rules of `device.c`."""

from __future__ import annotations

import re
from math import pi

from dockdyn.realtime.devices.device import BadPacket, PacketError

DEGREE = pi / 180.0
SPACE = b" \t\r\n"
_LONGEST = 64
_DIGITS = 15  # that count of a number; with a power of ten up to 22 they are exact in binary
_POWER = 22
_DECIMAL = re.compile(rb"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,3}))?")
_WHOLE = re.compile(rb"\d{1,19}")


def read_decimal(text: bytes) -> float:
    """Return the number in a text, of its first fifteen digits that count; BadPacket where it is none or far from all
    measurements."""
    found = _DECIMAL.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise BadPacket(PacketError.NOT_A_NUMBER)
    whole, _, fraction = found[2].partition(b".")
    digits = (whole + fraction).lstrip(b"0")
    kept = digits[:_DIGITS]
    exponent = len(digits) - len(kept) - len(fraction) + int(found[3] or 0)
    if kept and abs(exponent) > _POWER:
        raise BadPacket(PacketError.OUT_OF_RANGE)
    return float(found[1] + (b"%se%d" % (kept, exponent) if kept else b"0"))


def read_digits(text: bytes) -> int:
    """Return the whole number of at most 19 digits in a text; BadPacket where it is none."""
    if not _WHOLE.fullmatch(text):
        raise BadPacket(PacketError.NOT_A_NUMBER)
    return int(text)


def write_decimal(value: float, decimals: int) -> bytes:
    """Return a number with so many decimals, halves to even; BadPacket where its last digit is not known."""
    unit = 10**decimals
    scaled = value * float(unit)
    if not abs(scaled) < 2**53 or abs(round(scaled)) >= 2**53:
        raise BadPacket(PacketError.OUT_OF_RANGE)
    whole, rest = divmod(abs(round(scaled)), unit)
    sign = "-" if round(scaled) < 0 else ""
    return f"{sign}{whole}.{rest:0{decimals}d}".encode() if decimals else f"{sign}{whole}".encode()
