"""Messages of ROS 2 as MCAP files hold them: definitions in text, contents in CDR; of a content its numbers alone are read."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dockdyn.records import record
from dockdyn.results.exchange.log_messages import MOST, MOST_NAMED, NAMES

MOST_TEXT = 1_000_000  # characters of a definition
MOST_IN_ONE = 200_000  # parts of a message: some 300 bytes each as they are read
HEADER = 4  # bytes before the content; places in it are counted from there
PLAIN = (0, 1)  # encapsulations: CDR with the most significant byte first, and last
FORMS = {  # how `struct` calls what ROS 2 has
    "bool": "?", "byte": "B", "char": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
BYTES = ("byte", "uint8")  # arrays of these are pictures and the like
TEXT = "string"
STAMP = "int32 sec\nuint32 nanosec"
KNOWN = {"builtin_interfaces/Time": STAMP, "builtin_interfaces/Duration": STAMP}
TYPE = re.compile(r"(?P<type>\w+(?:/\w+)?)(?:<=\d+)?(?P<array>\[(?P<bound><=)?(?P<size>[1-9]\d*)?\])?")


@dataclass
class MessageBudget:
    """How many parts of messages may be read of a file, and have been: a few bytes can say that they are billions."""

    most: int
    taken: int = 0


@record
class _Field:
    """A field: a number by its form, a text, or a message; one, or an array of `size`, which an empty one says itself."""

    name: str
    form: str  # "" of what is no number
    message: tuple[_Field, ...] | None
    array: bool
    size: int | None
    kept: bool  # whether something of it is read


def cdr_reader(name: str, text: str, parts: MessageBudget) -> Callable[[bytes], dict[str, Any]]:
    """Return what reads messages of a type, `geometry_msgs/msg/Wrench`, from its definition with those of its parts behind it.

    What it reads are fields by name: numbers, messages and lists of them; of lists that are too long for columns nothing.
    It raises ValueError for a message that is not as defined, or has too many parts. Raises ValueError for a
    definition that is none.

    Source: ROS 2 design, "Mapping between ROS interface types and DDS IDL"; OMG DDS-RTPS 2.3, 10 (plain CDR).
    """
    if len(text) > MOST_TEXT:
        raise ValueError(f"is longer than {MOST_TEXT} characters")
    written = _split_definitions(name, text)
    fields = _fields_of(_short_type_name(name), written, {}, ())

    def read(data: bytes) -> dict[str, Any]:
        return _Content(data, parts).message(fields)

    return read


def _short_type_name(name: str) -> str:
    """Return package and type: of `std_msgs/msg/Header` `std_msgs/Header`."""
    package, *_, last = name.split("/")
    return f"{package}/{last}"


def _split_definitions(name: str, text: str) -> dict[str, str]:
    """Return the text of each definition by package and type; the first is that of the message called `name`."""
    found, rule = dict(KNOWN), re.compile(r"^={3,}$", re.MULTILINE)
    for piece in rule.split("\n".join(line.strip() for line in text.splitlines())):
        if titled := re.search(r"^MSG:\s+(\S+)$", piece, re.MULTILINE):
            name, piece = titled[1], piece[: titled.start()] + piece[titled.end() :]
        found[_short_type_name(name)] = piece
    return found


def _fields_of(
    name: str, written: Mapping[str, str], known: dict[str, tuple[_Field, ...]], outer: tuple[str, ...]
) -> tuple[_Field, ...]:
    """Return the fields of a message, which is part of the `outer` ones. Raises ValueError."""
    if name in outer:
        raise ValueError(f"{name} is a part of itself")
    if name not in written:
        raise ValueError(f"{name} is not defined")
    if name not in known:
        lines = [line.partition("#")[0].split(maxsplit=2) for line in written[name].splitlines()]
        stated = [words for words in lines if words and "=" not in "".join(words[1:])]  # constants are in no message
        if any(len(words) < 2 for words in stated):
            raise ValueError(f"{name} has a field without a name")
        named = any(words[1] == NAMES and words[0].endswith("]") for words in stated)
        known[name] = tuple(
            _field_of(words[0], words[1], named, name, lambda part: _fields_of(part, written, known, (*outer, name)))
            for words in stated
        )
    return known[name]


def _field_of(
    sort: str, label: str, named: bool, inside: str, fields_of: Callable[[str], tuple[_Field, ...]]
) -> _Field:
    """Return a field of this sort in a message whose lists may be named. Raises ValueError."""
    found = TYPE.fullmatch(sort)
    if not found or found["type"] in ("wstring", "time", "duration"):
        raise ValueError(f"{label} in {inside} is of the type {sort}, which is not read")
    kind, array = found["type"], found["array"] is not None
    size = int(found["size"]) if found["size"] and not found["bound"] else None
    if kind in FORMS:
        kept = not (array and (kind in BYTES or (size is not None and size > (MOST_NAMED if named else MOST))))
        return _Field(label, FORMS[kind], None, array, size, kept)
    if kind == TEXT:
        return _Field(label, "", None, array, size, array and label == NAMES)
    fields = fields_of(kind if "/" in kind else f"{inside.partition('/')[0]}/{kind}")
    return _Field(label, "", fields, array, size, True)


class _Content:
    """A message in CDR, read from its beginning."""

    def __init__(self, data: bytes, parts: MessageBudget):
        if len(data) < HEADER:
            raise ValueError("ends before its content")
        if data[0] or data[1] not in PLAIN:
            raise ValueError(f"is in encapsulation {int.from_bytes(data[:2])}; must be plain CDR, 0 or 1")
        self.data, self.parts, self.at, self.order = data, parts, HEADER, "<" if data[1] else ">"
        self.most = min(parts.taken + MOST_IN_ONE, parts.most)

    def message(self, fields: tuple[_Field, ...]) -> dict[str, Any]:
        """Return the fields that are kept."""
        self._count_part()
        if not fields:
            self._numbers("B", 1)  # in IDL no structure is empty
        found: dict[str, Any] = {}
        for field in fields:
            value = self._read_array(field) if field.array else self._read_single(field)
            if field.kept:
                found[field.name] = value
        return found

    def _read_single(self, field: _Field) -> Any:  # noqa: ANN401, a number or a message
        """Return what a field is that is no array."""
        if field.message is not None:
            return self.message(field.message)
        return self._numbers(field.form, 1)[0] if field.form else self._text()

    def _read_array(self, field: _Field) -> list[Any]:
        """Return what a field is that is an array; nothing of one that is too long for columns."""
        count = self._numbers("I", 1)[0] if field.size is None else field.size
        kept = field.kept and count <= MOST_NAMED
        if field.form:
            return list(self._numbers(field.form, count, kept))
        found = []
        for _ in range(count):
            value = self._text() if field.message is None else self.message(field.message)
            if kept:
                found.append(value)
        return found

    def _numbers(self, form: str, count: int, kept: bool = True) -> tuple[Any, ...]:
        """Return the next numbers, which stand at multiples of their size; nothing where they are not kept."""
        if not count:
            return ()
        size = struct.calcsize(f"={form}")
        begin = self.at + (HEADER - self.at) % size
        self.at = self._place_until(begin + size * count)
        return struct.unpack_from(f"{self.order}{count}{form}", self.data, begin) if kept else ()

    def _text(self) -> str:
        """Return the next text, which ends with a zero that its length counts."""
        self._count_part()
        length = self._numbers("I", 1)[0]
        begin, self.at = self.at, self._place_until(self.at + length)
        return self.data[begin : max(begin, self.at - 1)].decode(errors="replace")

    def _count_part(self) -> None:
        """Count a part. Raises ValueError where there are too many of them in the message, or in all of the file."""
        self.parts.taken += 1
        if self.parts.taken > self.most:
            if self.most == self.parts.most:
                raise ValueError(f"has, with all before it, more than {self.most} parts")
            raise ValueError(f"has more than {MOST_IN_ONE} parts")

    def _place_until(self, end: int) -> int:
        """Return a place in the content. Raises ValueError for one beyond its end."""
        if end > len(self.data):
            raise ValueError("ends before what it says that it has")
        return end
