"""Machine code kept from one process to the next, by what it was made of: damaged and foreign entries are ignored.

Units: none.
Source: definition.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import sys
import time
import zlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.backend import cache_folder
from dockdyn.files import write_file
from dockdyn.translate.native import Code

LARGEST = 512 * 2**20  # bytes in all; the oldest entries go first
SHARE = 64  # the folder is looked through when a process has written one of so many parts of that
ABANDONED = 86400  # s, after which what a process has begun to write and not finished is nobody's
MADE_OF = ("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix", "jaxtyping", "numpy", "llvmlite")


def folder() -> Path:
    return cache_folder() / "native"


_unseen: dict[Path, int] = {}  # bytes that this process has written into a folder since it was looked through


@cache
def fingerprint() -> str:
    """Of dockdyn's own files, of the libraries that trace and write programs, and of Python."""
    source = str(Path(__file__).parents[1])
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(source) for name in names if name.endswith(".py")
    )
    facts = [(file, (found := os.stat(file)).st_mtime_ns, found.st_size) for file in files]
    versions = []
    for name in MADE_OF:
        with contextlib.suppress(PackageNotFoundError):
            versions.append((name, version(name)))
    return hashlib.sha256(repr((source, facts, versions, sys.version, platform.machine())).encode()).hexdigest()


def name_of(key: Any) -> str:  # noqa: ANN401, plain data
    """The name of an entry: what is called, with which structure, made of what."""
    return hashlib.sha256(repr((fingerprint(), key)).encode()).hexdigest()[:40]


def stored(name: str) -> tuple[Code, Any] | None:
    """The code of a name and what was kept beside it; None where there is none that is whole."""
    file = folder() / f"{name}.bin"
    try:
        whole = file.read_bytes()
        digest, body = whole[:32], whole[32:]
        if hashlib.sha256(body).digest() != digest:
            return None
        size = int.from_bytes(body[:8], "little")
        head = json.loads(body[8 : 8 + size])
        if head["name"] != name:
            return None
        arrays = np.load(io.BytesIO(body[8 + size :]), allow_pickle=False)
        code = Code(
            text=zlib.decompress(arrays["text"].tobytes()).decode(),
            machine=arrays["machine"].tobytes(),
            level=head["level"],
            arguments=head["arguments"],
            results=[(dtype, tuple(shape)) for dtype, shape in head["results"]],
            constants=[arrays[f"constant{place}"] for place in range(head["constants"])],
            work=head["work"],
        )
        with contextlib.suppress(OSError):
            file.touch()
        return code, head["beside"]
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None


def keep(name: str, code: Code, beside: Any) -> None:  # noqa: ANN401, plain data
    """Stores code; where that cannot be done, the next process makes it again."""
    head = {
        "name": name,
        "level": code.level,
        "arguments": code.arguments,
        "results": code.results,
        "constants": len(code.constants),
        "work": code.work,
        "beside": beside,
    }
    text = json.dumps(head).encode()
    arrays = {f"constant{place}": one for place, one in enumerate(code.constants)}
    arrays["text"] = np.frombuffer(zlib.compress(code.text.encode(), 1), np.uint8)
    arrays["machine"] = np.frombuffer(code.machine, np.uint8)
    data = io.BytesIO()
    np.savez(data, allow_pickle=False, **arrays)
    body = len(text).to_bytes(8, "little") + text + data.getvalue()
    place = folder()
    with contextlib.suppress(OSError):
        write_file(place / f"{name}.bin", hashlib.sha256(body).digest() + body)
        _unseen[place] = _unseen.get(place, LARGEST) + len(body)  # the first time, whatever others have left
        if SHARE * _unseen[place] >= LARGEST:
            _unseen[place] = 0
            bound(place)


def bound(place: Path) -> None:
    """Removes the entries of a folder that were not used for longest, where there are too many with what may come before it
    is looked through again, and what killed processes have left."""
    for part in place.glob(".*.part"):
        if time.time() - part.stat().st_mtime > ABANDONED:
            part.unlink(missing_ok=True)
    found = [(one.stat().st_mtime_ns, one.stat().st_size, one) for one in place.glob("*.bin")]
    total = sum(size for _, size, _ in found)
    for _, size, file in sorted(found):
        if SHARE * total <= (SHARE - 1) * LARGEST:
            return
        file.unlink(missing_ok=True)
        total -= size
