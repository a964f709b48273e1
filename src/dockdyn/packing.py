"""Bytes as text in a page, as short as its script can unpack them (`web/src/unpack.ts`).

Source: LZMA as of the LZMA SDK's specification (I. Pavlov, 2015); RFC 1952 (gzip) for a Python without `lzma`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from typing import Any

from dockdyn import kept
from dockdyn.installed import version

SETTINGS = {"preset": 6, "lc": 3, "lp": 0, "pb": 0}  # the last three as `web/src/unpack.ts` has them


def packed_text(data: bytes) -> str:
    """Return bytes packed, as text in base 64: by LZMA with their number (four bytes) behind, or else by gzip."""
    try:
        import lzma
    except ImportError:  # which some builds of Python lack
        return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    filters: list[dict[str, Any]] = [{"id": lzma.FILTER_LZMA1, **SETTINGS}]
    packed = lzma.compress(data, format=lzma.FORMAT_RAW, filters=filters)
    return base64.b64encode(packed + len(data).to_bytes(4, "little")).decode()


def kept_text(data: bytes) -> str:
    """Return the same of bytes that take long to pack and are the same in many pages: kept from one process to the next."""
    place = kept.cache_root() / "pages"
    name = hashlib.sha256(version("dockdyn").encode() + data).hexdigest()[:40]
    found = kept.find_entry(place, name)
    if found is None:
        found = packed_text(data).encode()
        kept.keep_entry(place, name, found)
    return found.decode()
