"""Bytes as text in a page, as short as its script can unpack them (`web/src/unpack.ts`).

Source: LZMA as of the LZMA SDK's specification (I. Pavlov, 2015); RFC 1952 (gzip) for a Python without `lzma`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dockdyn import kept

SETTINGS = {"preset": 6, "lc": 3, "lp": 0, "pb": 0}  # the last three as `web/src/unpack.ts` has them
AT_ONCE = 1 << 18  # bytes


class TooLong(Exception):
    """What is packed has become longer than was allowed."""


def packed_text(data: bytes, most: float = math.inf) -> str:
    """Return bytes packed, as text in base 64: by LZMA with their number (four bytes) behind, or else by gzip.

    Raises TooLong as soon as the text has more than `most` letters: a hundred megabytes of numbers take minutes to pack.
    """
    try:
        import lzma
    except ImportError:  # which some builds of Python lack
        return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    filters: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA1, **SETTINGS}]
    packer, packed = lzma.LZMACompressor(format=lzma.FORMAT_RAW, filters=filters), bytearray()
    for at in range(0, len(data), AT_ONCE):
        packed += packer.compress(data[at : at + AT_ONCE])
        if len(packed) > most * 3 / 4:  # three bytes in four letters
            raise TooLong
    packed += packer.flush()
    return base64.b64encode(packed + len(data).to_bytes(4, "little")).decode()


def kept_text(data: bytes, arrange: Callable[[bytes], bytes] | None = None) -> str:
    """Return the same of bytes that take long to pack and are the same in many pages, kept from one process to the next.

    `arrange` is a function of a module that puts them in another order before; what it and the packing are made of is part of
    the name under which the text is kept.
    """
    makers = [kept.makers_of(Path(__file__).parent, ("dockdyn",))]
    if arrange is not None:
        makers.append(kept.makers_of(Path(str(sys.modules[arrange.__module__].__file__)).parent, ()))
    place, name = kept.cache_root() / "pages", hashlib.sha256("".join(makers).encode() + data).hexdigest()[:40]
    found = kept.find_entry(place, name)
    if found is None:
        found = packed_text(data if arrange is None else arrange(data)).encode()
        kept.keep_entry(place, name, found)
    return found.decode()
