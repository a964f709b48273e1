"""Many small problems, a part of them at a time, a thread a core; through one compiled call where the parts are alike.

Units: those of the caller.
Source: own construction.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from dockdyn.deferred import PyTree
from dockdyn.trees import leaves_of, map_leaves

LANES = 64


def in_parts(function: Callable[[Any], Any], problems: PyTree, most: int = LANES) -> PyTree:
    """Return `function` of a tree of arrays with as many rows as problems, at most `most` at a time; its results as NumPy
    arrays.

    LAPACK is kept to one thread a call: small problems gain nothing from sharing one.
    """
    count = len(leaves_of(problems)[0])

    def part(start: int) -> PyTree:
        rows = slice(start, min(start + most, count))
        return map_leaves(np.asarray, function(map_leaves(lambda a: np.asarray(a)[rows], problems)))

    with _blas_threads("scipy.linalg" in sys.modules).limit(limits=1), ThreadPoolExecutor(os.cpu_count()) as cores:
        parts = list(cores.map(part, range(0, count, most)))
    return map_leaves(lambda *pieces: np.concatenate(pieces), *parts)


@cache
def _blas_threads(by_scipy: bool) -> ThreadpoolController:
    """Return what tells linear algebra its threads: NumPy's, and SciPy's where that is loaded."""
    return ThreadpoolController().select(user_api="blas")


def in_lanes(function: Callable[[Any], Any], problems: PyTree, most: int = LANES, always: bool = False) -> PyTree:
    """Return `in_parts` for a compiled function: the last part is filled up, so that few sizes are compiled.

    At most `most` lanes, a power of two, at a time; fewer where there are fewer problems, unless `always` as many.
    """
    count = len(leaves_of(problems)[0])
    lanes = most if always else min(most, 1 << max(0, count - 1).bit_length())
    rows = np.minimum(np.arange(-(-count // lanes) * lanes), count - 1)
    found = in_parts(function, map_leaves(lambda a: np.asarray(a)[rows], problems), lanes)
    return map_leaves(lambda values: values[:count], found)
