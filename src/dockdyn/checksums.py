"""Checksums behind a netCDF file, of every variable and of all else in it: none of its numbers is read changed.

HDF5 has checksums of chunks only, not of attributes, names or texts, and has to read a file to check it. These are of the
file's bytes, in a line behind the end that the file states, where readers of HDF5 do not look.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path
from typing import Any

MARK = b"\ndockdyn-checksums "
LONGEST = 1 << 24  # bytes of a line of checksums
REST = "names, attributes and texts"  # all that is in no variable's own block of numbers
Part = tuple[str, int, int]  # name, first byte, number of bytes


def with_checksums(content: bytes) -> bytes:
    """Return a netCDF-4 file with a line of checksums behind it."""
    parts = _content_blocks(content)
    found = {"size": len(content), "rest": _rest_digest(content, parts)}
    found["parts"] = [[name, first, size, _digest_of(content[first : first + size])] for name, first, size in parts]
    return content + MARK + json.dumps(found).encode() + b"\n"


def find_damage(path: Path) -> str | None:
    """Return in words what of a file is not as it was written: a variable by its name, or `REST`.

    None where all is, or where there is no line of checksums: files of others have none. OSError where it cannot be read.
    """
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - LONGEST, 0))
        if MARK not in file.read():
            return None
        file.seek(0)
        there, _, line = file.read().rpartition(MARK)
    try:
        stated = json.loads(line.partition(b"\n")[0])
        there = there[: stated["size"]]
        for name, first, size, digest in stated["parts"]:
            if _digest_of(there[first : first + size]) != digest:
                return f"the checksum of {name} does not fit"
        parts = [(name, first, size) for name, first, size, _ in stated["parts"]]
        return None if _rest_digest(there, parts) == stated["rest"] else f"the checksum of {REST} does not fit"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "its checksums cannot be read"


def _content_blocks(content: bytes) -> list[Part]:
    """Return where in a file the numbers of its variables are, in order; not of those in chunks, which `REST` covers."""
    import h5py

    found: list[Part] = []

    def note(name: str, there: Any) -> None:  # noqa: ANN401, a group or a dataset of h5py
        if isinstance(there, h5py.Dataset) and (first := there.id.get_offset()) is not None:
            found.append((name, first, there.id.get_storage_size()))

    with h5py.File(io.BytesIO(content)) as file:
        file.visititems(note)
    return sorted(found, key=lambda part: part[1])


def _rest_digest(content: bytes, parts: list[Part]) -> str:
    """Return the digest of the bytes between the parts."""
    ends = [0, *(first + size for _, first, size in parts)]
    starts = [*(first for _, first, _ in parts), len(content)]
    return _digest_of(b"".join(content[end:start] for end, start in zip(ends, starts, strict=True)))


def _digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
