"""Many small problems through one compiled call: a fixed number of lanes at a time, a thread a core.

Units: those of the caller.
Source: own construction.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from threadpoolctl import threadpool_limits

LANES = 64


def in_lanes(function: Callable[[Any], Any], problems: Any, most: int = LANES, always: bool = False) -> Any:
    """`function` of a tree of arrays with as many rows as problems, its results as NumPy arrays.

    At most `most` lanes, a power of two, at a time; fewer where one problem needs much memory, or there are fewer
    problems, unless `always` as many. The last lanes are filled up, so that few sizes are compiled. LAPACK is kept to
    one thread a call: small problems gain nothing from sharing one.
    """
    count = len(jax.tree.leaves(problems)[0])
    lanes = most if always else min(most, 1 << max(0, count - 1).bit_length())

    def part(start: int) -> Any:
        rows = np.minimum(np.arange(start, start + lanes), count - 1)
        return jax.tree.map(np.asarray, function(jax.tree.map(lambda a: np.asarray(a)[rows], problems)))

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as cores:
        parts = list(cores.map(part, range(0, count, lanes)))
    return jax.tree.map(lambda *pieces: np.concatenate(pieces)[:count], *parts)
