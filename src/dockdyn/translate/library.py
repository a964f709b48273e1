"""The elementary functions as machine code of this process: each written once, when a program first calls it, and kept.

Units: none.
Source: definition.
"""

from __future__ import annotations

import re
from typing import Any

from dockdyn import kept
from dockdyn.translate.elementary import function_of
from dockdyn.translate.llvm import PREFIX, function_text
from dockdyn.translate.machine import initialised_llvm, load_object, lock, machine_code
from dockdyn.translate.store import name_of, store_folder

BEST = 2  # level of optimisation
_loaded: dict[str, Any] = {}  # engines by name


def called_functions(text: str) -> list[str]:
    """Return the elementary functions that a program in LLVM's language calls."""
    return re.findall(rf"^declare double @{PREFIX}(\w+)\(", text, re.MULTILINE)


def load_functions(text: str) -> None:
    """Put the elementary functions that a program in LLVM's language calls where its machine code finds them."""
    with lock:
        for name in called_functions(text):
            if name not in _loaded:
                _loaded[name], (address,) = load_object(_function_code(name), [PREFIX + name])
                initialised_llvm().add_symbol(PREFIX + name, address)


def _function_code(name: str) -> bytes:
    """Return the object file of an elementary function."""
    place, entry = store_folder(), name_of(("elementary", name))
    machine = kept.find_entry(place, entry)
    if machine is None:
        machine = machine_code(function_text(function_of(name)), BEST)
        kept.keep_entry(place, entry, machine)
    return machine
