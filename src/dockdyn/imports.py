"""What our libraries do as they are imported and commands seldom need: packages where they are installed, threads, plug-ins.

Xarray and pint look for Dask, for arrays of a kind that dockdyn never makes: half a second of every command. JAX looks for
filelock, for a bound on its cache that dockdyn does not set; filelock listens to all that Python does from then on, which
takes a tenth of a command's time. OpenBLAS starts a thread a core, which then wait beside matrices as small as ours. Pydantic
looks through all that is installed for plug-ins of its own.
"""

from __future__ import annotations

import os
import sys

SELDOM = {"dask": ("xarray", "pint"), "filelock": ("jax",)}  # who looks for each when imported, and keeps what it found
SETTINGS = {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}  # where the user has set nothing
BOUND = "JAX_COMPILATION_CACHE_MAX_SIZE"  # where somebody states it, JAX needs filelock


def spare_threads_and_plugins() -> None:
    """Let libraries that are imported from now on, and in processes of this one, start no threads and seek no plug-ins."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)


def leave_out(*names: str) -> None:
    """Let, to whoever imports them from now on, packages seldom needed, or some of them, are as if they were not installed.

    Where somebody has looked for one already it stays: it would be missed halfway.
    """
    for name in names or SELDOM:
        needed = name == "filelock" and BOUND in os.environ
        if not needed and not any(one in sys.modules for one in SELDOM[name]):
            sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # what Python means by that


def let_in(*names: str) -> None:
    """Let them, or some of them, be imported again: before Dask's workers start, and before modules of a user's own."""
    for name in names or SELDOM:
        if sys.modules.get(name, sys) is None:
            del sys.modules[name]
