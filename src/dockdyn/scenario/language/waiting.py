"""What checks of a scenario wait for: to import JAX and the physics, or Pint, takes longer than all other checks together.

So keys are checked first, then numbers with units, then what only the physics can check: whoever needs one of the two says so
by `wait_for`, and is asked when all else is right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NoReturn

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

Package = Literal["jax", "pint"]
WAITS = "waits"  # sort of a problem that pydantic tells
left_out: ContextVar[tuple[Package, ...]] = ContextVar("left_out", default=())
STAGES: tuple[tuple[Package, ...], ...] = (("pint", "jax"), ("jax",))  # what each stage of checks does without


@contextmanager
def without(*packages: Package) -> Iterator[None]:
    """Check inside what needs none of these packages; what does is a problem of the sort `WAITS`."""
    before = left_out.set(packages)
    try:
        yield
    finally:
        left_out.reset(before)


def is_there(package: Package) -> bool:
    """Return whether a package has been imported, so that nothing needs to wait for it."""
    return sys.modules.get(package) is not None


def waiting_for(package: Package) -> bool:
    """Return whether a check that needs a package is to be left for later."""
    return package in left_out.get() and not is_there(package)


def wait_for(package: Package) -> None:
    """Stop a check that needs a package where it is to be left for later. Raises what pydantic tells as a problem."""
    if waiting_for(package):
        leave_for_later()


def leave_for_later() -> NoReturn:
    """Raise what pydantic tells of a check that is left for later."""
    raise PydanticCustomError(WAITS, "is checked when all else is right")


def is_waiting(problem: BaseException | None) -> bool:
    """Return whether a problem, of one check or of a table, is that a check waits."""
    if isinstance(problem, ValidationError):
        return any(one["type"] == WAITS for one in problem.errors())
    return isinstance(problem, PydanticCustomError) and problem.type == WAITS
