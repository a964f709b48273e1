"""The numbers in a message, whatever decoded it, each with a name such as `wrench.force.x`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MOST = 64  # numbers in a list that are columns; longer ones are pictures and clouds
STAMPS = (("sec", "nanosec"), ("sec", "nsec"), ("seconds", "nanos"))  # of ROS 2, Foxglove and Protobuf
MOST_NAMED = 10_000  # in a list whose entries the message names
LONGEST = 1000  # characters of a name
SECOND = 10**9  # ns
ONLY = "data"  # the field of a message that has no other, such as a Float64
NAMES = "name"  # the field that names the entries of the lists beside it: of JointState


def numbers_in(message: Any, name: str = "") -> Iterator[tuple[str, int | float]]:  # noqa: ANN401, of any decoder
    """Yield names and values of all numbers in a message; stamps are one number, `header.stamp [ns]`.

    Entries of a list are `position.0` or, where the message names them, `position.joint`; a message that is a number, `data`.
    Raises ValueError for a name that is too long.
    """
    if len(name) > LONGEST:
        raise ValueError(f"has a name of more than {LONGEST} characters")
    if isinstance(message, bool | int | float):
        yield name or ONLY, message
        return
    parts = _parts_of(message)
    for seconds, rest in (each for each in STAMPS if set(each) == set(parts)):
        yield f"{name} [ns]", int(parts[seconds]) * SECOND + int(parts[rest])
        return
    for part, value in parts.items():
        inner = f"{name}.{part}" if name else part
        if _is_list(value):
            for label, entry in zip(_entry_labels(parts, part, len(value)), value, strict=False):
                yield from numbers_in(entry, f"{inner}{label}")
        else:
            yield from numbers_in(value, inner)


def _parts_of(message: Any) -> dict[str, Any]:  # noqa: ANN401, of any decoder
    """Return the fields of a message; nothing of what is none, such as a text."""
    if isinstance(message, Mapping):
        return {str(key): value for key, value in message.items()}
    if (described := getattr(message, "DESCRIPTOR", None)) is not None:  # of Protobuf
        return {each.name: getattr(message, each.name) for each in described.fields}
    return {each: getattr(message, each) for each in getattr(type(message), "__slots__", ())}  # of ROS 2


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview)


def _entry_labels(parts: dict[str, Any], part: str, count: int) -> list[str]:
    """Return what to call the entries of a list; none of a long one."""
    names = parts.get(NAMES, [])
    if part != NAMES and _is_list(names) and count <= MOST_NAMED and len(names) == len(set(map(str, names))) == count:
        return [f".{each}" for each in names]
    return [f".{each}" for each in range(count)] if count <= MOST else []
