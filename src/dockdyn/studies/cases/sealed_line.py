"""Lines and indices in JSON that show when a bit of them is not as it was written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

SUM = "sum"  # the last key, of the checksum
BEFORE = f', "{SUM}": "'.encode()
END = b'"}'
DIGITS = 32  # hexadecimal


def sealed_line(facts: dict[str, Any], of: str = "") -> bytes:
    """Return facts as a line of JSON that ends with a checksum of itself, and `of` what it belongs to."""
    text = json.dumps(facts).encode()
    return text.removesuffix(b"}") + BEFORE + _line_checksum(text, of) + END + b"\n"


def checksum_of(line: bytes) -> str:
    """Return the checksum that a line states, as what others belong to."""
    return line.rpartition(BEFORE)[2][:DIGITS].decode(errors="replace")


def facts_in(line: bytes, of: str = "") -> dict[str, Any]:
    """Return the facts that `sealed_line` has written. Raises ValueError for a line that is damaged or of something else."""
    start, mark, stated = line.rpartition(BEFORE)
    text = start + b"}"
    if not mark or stated != _line_checksum(text, of) + END + b"\n":
        raise ValueError("its checksum does not fit")
    found: dict[str, Any] = json.loads(text)
    return found


def _line_checksum(text: bytes, of: str) -> bytes:
    return hashlib.sha256(of.encode() + b"\n" + text).hexdigest()[:DIGITS].encode()
