"""Processes of Python that dockdyn starts: none looks for modules in the working folder, where a stranger's may lie.

Python puts the working folder first where a module is run (`-m`) and where multiprocessing starts a process (`-c`): a file
`json.py` there would be run in the place of Python's own.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

VARIABLE = "PYTHONSAFEPATH"  # of the environment; what is not empty keeps the working folder out


def module_command(module: str, *words: str) -> list[str]:
    """Return the command that runs an installed `module` in a process of its own."""
    return [sys.executable, "-P", "-m", module, *words]


@contextlib.contextmanager
def safe_children() -> Iterator[None]:
    """Keep the working folder out of what Python's libraries start while the block runs."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
