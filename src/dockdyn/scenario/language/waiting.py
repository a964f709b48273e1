"""What checks of a scenario wait for: to import JAX, and the physics with it, takes longer than all other checks together.

So keys, units and bounds are checked first. A table that only the physics can check says so by `wait_for_jax`, and is
checked when all others are right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic_core import PydanticCustomError

WAITS = "waits_for_jax"  # sort of a problem that pydantic tells
plain: ContextVar[bool] = ContextVar("plain", default=False)


@contextmanager
def without_jax() -> Iterator[None]:
    """Check inside what needs no JAX; what does is a problem of the sort `WAITS`."""
    before = plain.set(True)
    try:
        yield
    finally:
        plain.reset(before)


def jax_is_there() -> bool:
    """Return whether JAX has been imported, so that nothing needs to wait."""
    return "jax" in sys.modules


def waiting() -> bool:
    """Return whether a check that needs JAX is to be left for later."""
    return plain.get() and not jax_is_there()


def wait_for_jax() -> None:
    """Stop a check that needs JAX where it is to be left for later. Raises what pydantic tells as a problem."""
    if waiting():
        raise PydanticCustomError(WAITS, "is checked when all else is right")
