"""The version of an installed package, read from the name of the folder that says so: to parse what is in it takes longer."""

from __future__ import annotations

import os
import re
import sys
from functools import cache

FOLDER = re.compile(r"(.+?)-(.+)\.dist-info")


@cache
def version(package: str) -> str:
    """Return the version of a package. Raises ModuleNotFoundError for one that is not installed."""
    wanted = _normal_name(package)
    for place in sys.path:
        if wanted in (found := _versions_in(place)):
            return found[wanted]
    from importlib.metadata import version

    return version(package)  # installed otherwise, or not at all


@cache
def _versions_in(place: str) -> dict[str, str]:
    """Return the versions of the packages in a folder of modules, by name."""
    try:
        names = os.listdir(place or os.curdir)
    except OSError:  # an archive, or none
        return {}
    return {_normal_name(told[1]): told[2] for name in names if (told := FOLDER.fullmatch(name))}


def _normal_name(package: str) -> str:
    """Return the name of a package as all write it alike."""
    return re.sub(r"[-_.]+", "_", package).lower()
