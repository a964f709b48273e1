"""The figures of colliding chains straight from the log of a run, to be differentiated."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from dockdyn.contact.latch import HELD
from dockdyn.integrate.model import Scalar
from dockdyn.integrate.solution import Solution
from dockdyn.models.latch import LatchingChains


def chain_figures(model: Any, solution: Solution) -> dict[str, Scalar]:
    """Figures by their names in the summary, one number each; NaN for what did not happen."""
    log = solution.log
    valid = jnp.arange(log.time.shape[0]) < solution.moments
    peaks = jnp.where(valid[:, None], log.peaks, -jnp.inf)
    highest = jnp.argmax(peaks)
    peak = jnp.maximum(peaks.ravel()[highest], 0.0)
    found = {
        "peak_normal_force_N": peak,
        "peak_time_s": jnp.where(peak > 0, log.peak_times.ravel()[highest], jnp.nan),
    }
    if not isinstance(model, LatchingChains):
        return found
    held = valid & (log.state.mode[0] == HELD)
    return found | {"capture_time_s": jnp.where(jnp.any(held), log.time[jnp.argmax(held)], jnp.nan)}
