"""Packages that our libraries import wherever they are installed, and that commands seldom need.

Xarray and pint look for Dask, for arrays of a kind that dockdyn never makes: half a second of every command.
"""

from __future__ import annotations

import sys

SELDOM = ("dask",)


def leave_out() -> None:
    """To whoever imports them from now on, packages seldom needed are as if they were not installed."""
    for name in SELDOM:
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]  # what Python means by that


def let_in() -> None:
    """They can be imported again: before Dask's workers start, and before modules of a user's own."""
    for name in SELDOM:
        if sys.modules.get(name, sys) is None:
            del sys.modules[name]
