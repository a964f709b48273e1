"""Packages that our libraries import wherever they are installed, and that commands seldom need.

Xarray and pint look for Dask, for arrays of a kind that dockdyn never makes: half a second of every command.
"""

from __future__ import annotations

import sys

SELDOM = ("dask",)
LOOKING = ("xarray", "pint")  # who looks for them when it is imported, and keeps what it found


def leave_out() -> None:
    """To whoever imports them from now on, packages seldom needed are as if they were not installed.

    Where somebody has looked for them already they stay: they would be missed halfway.
    """
    if any(name in sys.modules for name in LOOKING):
        return
    for name in SELDOM:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # what Python means by that


def let_in() -> None:
    """They can be imported again: before Dask's workers start, and before modules of a user's own."""
    for name in SELDOM:
        if sys.modules.get(name, sys) is None:
            del sys.modules[name]
