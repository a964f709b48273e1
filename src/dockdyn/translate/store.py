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
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.installed import version
from dockdyn.translate.machine import Code, processor_features

MADE_OF = ("jax", "jaxlib", "equinox", "diffrax", "lineax", "optimistix", "jaxtyping", "numpy", "llvmlite")


def store_folder() -> Path:
    return cache_folder() / "native"


@cache
def program_fingerprint() -> str:
    """Return that of dockdyn's own files, of the libraries that trace and write programs, of Python and of the processor."""
    source = str(Path(__file__).parents[1])
    files = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(source) for name in names if name.endswith(".py")
    )
    facts = [(file, (found := os.stat(file)).st_mtime_ns, found.st_size) for file in files]
    versions = []
    for name in MADE_OF:
        with contextlib.suppress(ModuleNotFoundError):
            versions.append((name, version(name)))
    processor = processor_features()  # of which code for another one may use what this one does not have
    return hashlib.sha256(
        repr((source, facts, versions, sys.version, platform.machine(), processor)).encode()
    ).hexdigest()


def name_of(key: Any) -> str:  # noqa: ANN401, plain data
    """Return the name of an entry: what is called, with which structure, made of what."""
    return hashlib.sha256(repr((program_fingerprint(), key)).encode()).hexdigest()[:40]


def load_code(name: str) -> tuple[Code, Any] | None:
    """Return the code of a name and what was kept beside it; None where there is none that is whole."""
    body = kept.find_entry(store_folder(), name)
    if body is None:
        return None
    size = int.from_bytes(body[:8], "little")
    head = json.loads(body[8 : 8 + size])
    arrays = np.load(io.BytesIO(body[8 + size :]), allow_pickle=False)
    code = Code(
        text=zlib.decompress(arrays["text"].tobytes()).decode(),
        better=zlib.decompress(arrays["better"].tobytes()).decode(),
        machine=arrays["machine"].tobytes(),
        level=head["level"],
        arguments=head["arguments"],
        results=[(dtype, tuple(shape)) for dtype, shape in head["results"]],
        constants=[arrays[f"constant{place}"] for place in range(head["constants"])],
        work=head["work"],
    )
    return code, head["beside"]


def store_code(name: str, code: Code, beside: Any) -> None:  # noqa: ANN401, plain data
    """Store code; where that cannot be done, the next process makes it again."""
    head = {
        "level": code.level,
        "arguments": code.arguments,
        "results": code.results,
        "constants": len(code.constants),
        "work": code.work,
        "beside": beside,
    }
    text = json.dumps(head).encode()
    arrays = {f"constant{place}": one for place, one in enumerate(code.constants)}
    for name_, text_ in (("text", code.text), ("better", code.better)):
        arrays[name_] = np.frombuffer(zlib.compress(text_.encode(), 1), np.uint8)
    arrays["machine"] = np.frombuffer(code.machine, np.uint8)
    data = io.BytesIO()
    np.savez(data, allow_pickle=False, **arrays)
    kept.keep_entry(store_folder(), name, len(text).to_bytes(8, "little") + text + data.getvalue())
