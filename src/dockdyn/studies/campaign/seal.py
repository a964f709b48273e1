"""Files of a campaign that show when they are damaged, or belong to another one."""

from __future__ import annotations

import hashlib
import re

MARK = b"dockdyn"
SEAL = re.compile(rb"\ndockdyn ([0-9a-f]{64}) (\S{1,16}) ([0-9a-f]{64})\n\Z")
LONGEST = len(MARK) + 2 * 64 + 16 + 5  # bytes of a seal


class Damaged(Exception):
    """A file that is not what was written, or not of this place; says why."""


def add_seal(content: bytes, campaign: str, place: str) -> bytes:
    """Return `content` with a line behind it: the campaign's hash, the place in it, the SHA-256 of all that is before.

    A netCDF file stays one: readers of HDF5 do not look behind the end that the file states.
    """
    stated = content + b"\n%b %b %b " % (MARK, campaign.encode(), place.encode())
    return stated + hashlib.sha256(stated).hexdigest().encode() + b"\n"


def open_sealed(content: bytes, campaign: str, place: str) -> bytes:
    """Return what was sealed. Raises `Damaged`: no seal, another checksum, of another campaign or place."""
    found = SEAL.search(content, max(0, len(content) - LONGEST))
    if found is None:
        raise Damaged("its checksum is missing: cut short, or of an earlier dockdyn")
    if hashlib.sha256(content[: found.start(3)]).hexdigest().encode() != found[3]:
        raise Damaged("its checksum does not fit")
    if found[1].decode() != campaign:
        raise Damaged("it is of another campaign")
    if found[2].decode() != place:
        raise Damaged(f"it is {found[2].decode()} of the campaign, not {place}")
    return content[: found.start()]
