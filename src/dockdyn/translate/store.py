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
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.installed import version
from dockdyn.translate.code import Code, Text
from dockdyn.translate.machine import processor_features

SIZE = 8  # bytes of a number
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
    size = int.from_bytes(body[:SIZE], "little")
    head, rest = json.loads(body[SIZE : SIZE + size]), io.BytesIO(body[SIZE + size :])
    texts = [Text(rest.read(one.pop("bytes")), **one) for one in head["texts"]]
    code = Code(
        text=texts[0],
        wide=texts[1] if texts[1:] else None,
        machine=rest.read(head["machine"]),
        level=head["level"],
        arguments=head["arguments"],
        results=[(dtype, tuple(shape)) for dtype, shape in head["results"]],
        constants=[np.load(rest, allow_pickle=False) for _ in range(head["constants"])],
        work=head["work"],
    )
    return code, head["beside"]


def store_code(name: str, code: Code, beside: Any) -> None:  # noqa: ANN401, plain data
    """Store code; where that cannot be done, the next process makes it again."""
    texts = [code.text, *([] if code.wide is None else [code.wide])]
    facts = [
        {"bytes": len(one.packed), "letters": one.letters, "lines": one.lines, "calls": one.calls} for one in texts
    ]
    head = {
        "texts": facts,
        "machine": len(code.machine),
        "level": code.level,
        "arguments": code.arguments,
        "results": code.results,
        "constants": len(code.constants),
        "work": code.work,
        "beside": beside,
    }
    words, data = json.dumps(head).encode(), io.BytesIO()
    for part in (len(words).to_bytes(SIZE, "little"), words, *(one.packed for one in texts), code.machine):
        data.write(part)
    for constant in code.constants:
        np.save(data, constant, allow_pickle=False)
    kept.keep_entry(store_folder(), name, data.getvalue())
