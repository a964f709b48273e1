"""A folder in which one process at a time keeps what a study has found."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from dockdyn.imports import let_in
from dockdyn.scenario.language.errors import ScenarioError

LOCK = ".lock"


@contextlib.contextmanager
def claim_study(folder: Path, index: Path, study: str) -> Iterator[None]:
    """Let this process alone run a `study` in the folder, which is made where there is none, and removed where no `index` came
    into it and nothing else is there.

    The system frees the lock when the process ends, however it ends. Raises ScenarioError where another process has it,
    OSError where it cannot be written to.
    """
    let_in("filelock")
    from filelock import FileLock, Timeout

    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        words = f"another process runs a {study} there; wait, or give another --out"
        raise ScenarioError(f"{folder}: {words}") from None
    except OSError:
        _give_up(folder)
        raise
    try:
        yield
    finally:
        if not index.exists():
            _give_up(folder)
        lock.release()


def _give_up(folder: Path) -> None:
    """Remove the lock's file, and the folder where nothing else is in it."""
    with contextlib.suppress(OSError):
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
