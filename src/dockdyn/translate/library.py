"""The elementary functions as machine code of this process: each written once, when a program first calls it, and kept.

Units: none.
Source: definition.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dockdyn import kept
from dockdyn.translate.code import PREFIX
from dockdyn.translate.machine import initialised_llvm, load_object, lock, machine_code
from dockdyn.translate.store import name_of, store_folder

BEST = 2  # level of optimisation
_loaded: dict[str, Any] = {}  # engines by name


def load_functions(names: Iterable[str]) -> None:
    """Put elementary functions where the machine code of programs that call them finds them."""
    with lock:
        for name in names:
            if name not in _loaded:
                _loaded[name], (address,) = load_object(_function_code(name), [PREFIX + name])
                initialised_llvm().add_symbol(PREFIX + name, address)


def _function_code(name: str) -> bytes:
    """Return the object file of an elementary function."""
    place, entry = store_folder(), name_of(("elementary", name))
    machine = kept.find_entry(place, entry)
    if machine is None:
        machine = machine_code(elementary_text(name), BEST)
        kept.keep_entry(place, entry, machine)
    return machine


def elementary_text(name: str) -> str:
    """Return an elementary function in LLVM's language; what writes it is imported only here."""
    from dockdyn.translate.elementary import function_of
    from dockdyn.translate.llvm import function_text

    return function_text(function_of(name))
