"""XML as devices write it: a root with attributes and elements without elements in them; in C it is `flat_xml.c`.

Without entities, comments and declarations, which no such device sends, so that reading takes a time in proportion to the text.
"""

from __future__ import annotations

import re
from dataclasses import field

from dockdyn.realtime.devices.decimals import SPACE, read_decimal
from dockdyn.realtime.devices.device import BadPacket, PacketError
from dockdyn.records import record

LONGEST = 2048  # bytes
_SPACE = rb"[ \t\r\n]*"
_NAME = rb"[A-Za-z_][A-Za-z0-9_.-]*"
_ATTRIBUTE = rb"[ \t\r\n]+(?:%s)%s=%s(?:\"[^\"<]*\"|'[^'<]*')" % (_NAME, _SPACE, _SPACE)
_TAG = rb"%s<(%s)((?:%s)*)%s" % (_SPACE, _NAME, _ATTRIBUTE, _SPACE)
_ROOT = re.compile(_TAG + rb">")
_ELEMENT = re.compile(_TAG + rb"(?:/>|>([^<]*)</\1%s>)" % _SPACE)
_END = re.compile(rb"%s</(%s)%s>[ \t\r\n\0]*" % (_SPACE, _NAME, _SPACE))
_ENDS_NEXT = re.compile(_SPACE + b"</")
_EACH = re.compile(rb"(%s)%s=%s(?:\"([^\"<]*)\"|'([^'<]*)')" % (_NAME, _SPACE, _SPACE))


@record
class Element:
    """An element: its attributes, its text, and, of the root, the elements in it, each the first of its name."""

    name: bytes
    attributes: dict[bytes, bytes]
    text: bytes = b""
    inner: dict[bytes, Element] = field(default_factory=dict)

    def find(self, name: str) -> Element:
        """Return the first element of a name; BadPacket where there is none."""
        found = self.inner.get(name.encode())
        if found is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        return found

    def attribute(self, name: str) -> bytes:
        """Return the value of an attribute; BadPacket where there is none."""
        found = self.attributes.get(name.encode())
        if found is None:
            raise BadPacket(PacketError.MISSING_FIELD)
        return found

    def number(self, name: str) -> float:
        """Return the decimal number in an attribute; BadPacket where there is none."""
        return read_decimal(self.attribute(name).strip(SPACE))


def read_message(packet: bytes, root: str) -> Element:
    """Return the message in a packet, whose root has that name; spaces or zeros may follow it. BadPacket where it is none."""
    if not 0 < len(packet) <= LONGEST:
        raise BadPacket(PacketError.WRONG_LENGTH)
    opened = _ROOT.match(packet)
    if opened is None:
        raise BadPacket(PacketError.MALFORMED)
    if opened[1] != root.encode():
        raise BadPacket(PacketError.WRONG_HEADER)
    inner: dict[bytes, Element] = {}
    at = opened.end()
    while not _ENDS_NEXT.match(packet, at):
        found = _ELEMENT.match(packet, at)
        if found is None:
            raise BadPacket(PacketError.MALFORMED)
        inner.setdefault(found[1], Element(found[1], _read_attributes(found[2]), found[3] or b""))
        at = found.end()
    ended = _END.fullmatch(packet, at)
    if ended is None or ended[1] != opened[1]:
        raise BadPacket(PacketError.MALFORMED)
    return Element(opened[1], _read_attributes(opened[2]), inner=inner)


def _read_attributes(text: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    for name, double, single in _EACH.findall(text):
        found.setdefault(name, double or single)
    return found
