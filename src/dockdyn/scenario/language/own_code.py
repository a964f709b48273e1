"""Code of a user's own that a scenario names, "module:Class": where it is looked for, and whether it may run.

Python runs a module when it imports it. So a scenario of a stranger, with a module beside it, is a stranger's program.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import ClassVar

from dockdyn.imports import let_in
from dockdyn.scenario.language.errors import ScenarioError

VARIABLE = "DOCKDYN_NO_OWN_CODE"  # of the environment; anything but nothing and 0 refuses
TRUST = "DOCKDYN_TRUST_FMUS"  # of the environment; anything but nothing and 0 lets FMUs run
TAGS = ("law", "shape", "kind", "distribution")  # keys that name a part, "module:Class" of one's own
REFUSED = f"is code of its own, which is refused (--no-own-code, {VARIABLE}, own_code=False); must be built in"

NATIVE = f"is a program of its own, which runs only where it is trusted (--trust, {TRUST}=1)"

allowed_here: ContextVar[bool] = ContextVar("allowed_here", default=True)
places: ContextVar[tuple[str, ...]] = ContextVar("places", default=())


class OwnCodeError(ScenarioError):
    """A scenario names code of its own where that is refused."""


def is_import_allowed() -> bool:
    """Return whether modules that a scenario names may be imported."""
    return allowed_here.get() and os.environ.get(VARIABLE, "") in ("", "0")


def are_fmus_trusted() -> bool:
    """Return whether FMUs that a scenario names may run: they are native code."""
    return is_import_allowed() and os.environ.get(TRUST, "") not in ("", "0")


class Own:
    """A table of something of the user's own."""

    of_others: ClassVar[bool] = True  # so that no program of it is stored: its code may change

    def own_class(self) -> str:
        """Return its class, as the scenario names it: "module:Class"."""
        raise TypeError

    def present_code(self) -> object:
        """Return that class as it was imported last; None before that."""
        module, _, name = self.own_class().partition(":")
        return getattr(sys.modules.get(module), name, None)


@contextmanager
def only_built_in(really: bool = True) -> Iterator[None]:
    """Refuse inside every module that a scenario names."""
    before = allowed_here.set(allowed_here.get() and not really)
    try:
        yield
    finally:
        allowed_here.reset(before)


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Look for modules that a scenario names in `folder` and in the working folder first."""
    here = os.getcwd()
    before = places.set((os.path.join(here, folder or ""), here, *places.get()))
    try:
        yield
    finally:
        places.reset(before)


def module_of(name: str) -> ModuleType:
    """Return the module that a scenario names, imported. No other import looks into the scenario's folder: it may be a
    stranger's.

    Raises what the module's own code raises.
    """
    let_in()
    before = list(sys.path)
    sys.path[:0] = map(os.path.realpath, places.get())
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before
