"""The figures of colliding chains straight from the log of a run, to be differentiated."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from dockdyn.contact.latch import HELD
from dockdyn.integrate.model import Scalar
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.chains.model_latch import LatchingChains
from dockdyn.results.measures import contact_totals


def chain_figures(model: Any, solution: Solution) -> dict[str, Scalar]:
    """Figures by their names in the summary, one number each; NaN for what did not happen."""
    log = solution.log
    valid = jnp.arange(log.time.shape[0]) < solution.moments
    peaks, times, impulses = (
        jnp.where(valid[:, None], part, 0.0) for part in (log.peaks, log.peak_times, log.integrals)
    )
    touched = jnp.where(jnp.any(peaks > 0), 0.0, jnp.nan)[None]  # there is no more to a contact than its force
    found = contact_totals(touched, touched, peaks, times, impulses)
    found = {name: found[name] for name in ("peak_normal_force_N", "peak_time_s")}
    if not isinstance(model, LatchingChains):
        return found
    held = valid & (log.state.mode[0] == HELD)
    return found | {"capture_time_s": jnp.where(jnp.any(held), log.time[jnp.argmax(held)], jnp.nan)}
