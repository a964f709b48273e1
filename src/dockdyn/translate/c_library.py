"""C compiled by the compiler of this machine, kept by what it was made of.

Units: none.
Source: definition.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dockdyn import kept
from dockdyn.backend import cache_folder
from dockdyn.files import write_file
from dockdyn.translate.c_step import CStep

OPTIONS = ("-std=gnu11", "-O2", "-ffp-contract=off")
_beside: dict[str, Path] = {}  # what could not be kept, by name


class NoCompiler(Exception):
    """This machine has no C compiler, or it refuses what it is given; the message says so in one line."""


def compile_texts(files: Mapping[str, str], *options: str, libraries: tuple[str, ...] = ("-lm",)) -> Path:
    """Return what the C compiler makes of texts by file name: an object named by their hash, in the cache where that can be
    written.

    `CC` names the compiler, `cc` without. Raises NoCompiler where there is none, or it fails.
    """
    words = shlex.split(os.environ.get("CC") or "cc")
    compiler = shutil.which(words[0]) if words else None
    if compiler is None:
        raise NoCompiler(f"no C compiler: {' '.join(words) or 'cc'}: not found; install one, or name it in CC")
    command = [compiler, *words[1:], *OPTIONS, *options]
    facts = (command, libraries, sorted(files.items()), os.stat(compiler).st_mtime_ns)
    place, name = cache_folder() / "c", hashlib.sha256(repr(facts).encode()).hexdigest()[:40]
    if name not in _beside and kept.find_entry(place, name) is not None:
        return place / name
    if name not in _beside:
        made = _run_compiler(command, files, libraries)
        if (file := kept.keep_entry(place, name, made)) is not None:
            return file
        _beside[name] = _written_aside(made)
    return _beside[name]


def _run_compiler(command: Sequence[str], files: Mapping[str, str], libraries: Sequence[str]) -> bytes:
    """Return what a compiler's command makes of texts by file name. Raises NoCompiler where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        sources = [name for name in files if name.endswith(".c")]
        ended = subprocess.run(
            [*command, *sources, *libraries, "-o", "made"], cwd=folder, capture_output=True, text=True
        )
        if ended.returncode:
            reason = next((line for line in ended.stderr.splitlines() if "error" in line), "it fails")
            raise NoCompiler(f"the C compiler {command[0]} refuses what it is given: {reason}")
        return (Path(folder) / "made").read_bytes()


def _written_aside(made: bytes) -> Path:
    """Return a file with an object that can be loaded or run, in a folder that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="dockdyn-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "made"
    write_file(file, made, mode=0o700)
    return file


class LibraryStepper:
    """A step in C within this process: its memory, its inputs and its outputs."""

    def __init__(self, step: CStep):
        """Raises NoCompiler without a C compiler."""
        files = {f"{step.name}.h": step.header, f"{step.name}.c": step.source}
        library = ctypes.CDLL(str(compile_texts(files, "-shared", "-fPIC")))
        self.function = getattr(library, f"{step.name}_step")
        self.function.restype = ctypes.c_bool
        self.memory = np.frombuffer(step.image, np.uint8).copy()
        self.inputs = np.zeros((), step.input_type)
        self.outputs = np.zeros((), step.output_type)
        parts = (self.memory, self.inputs, self.outputs)
        self.addresses = [ctypes.c_void_p(part.ctypes.data) for part in parts]

    def advance(self) -> None:
        """Take one step with the inputs as they are. Raises ArithmeticError where it meets what C cannot do."""
        if not self.function(*self.addresses):
            raise ArithmeticError("a step met what only Python can do")
