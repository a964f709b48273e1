"""The figures of a run of free flight straight from its log: for batches, and to be differentiated.

They are those that `summarise` gives of a dataset, by the same names.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.contact.gate import APART
from dockdyn.contact.latch import HELD, ON_RAMP
from dockdyn.integrate.model import Scalar
from dockdyn.integrate.solution import Solution
from dockdyn.models.free_flight import FreeFlight
from dockdyn.study.capture_loads import LOADS, capture_loads

Figures = dict[str, Scalar]
Rows = Float[Array, "rows"]


def flight_figures(model: FreeFlight, solution: Solution) -> Figures:
    """Figures by their names in the summary, one number each; NaN for what did not happen."""
    count, log = solution.moments, solution.log
    rows = log.time.shape[0]
    valid = jnp.concatenate([jnp.ones(1, bool), jnp.arange(rows) < count])
    start = model.initial()
    states = jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), start, log.state)
    time = jnp.concatenate([jnp.zeros(1), log.time])
    silent = jax.tree.map(lambda leaf: jnp.zeros((rows + 1, *leaf.shape)), model.sense(time[0], start).signal)
    seen = jax.vmap(lambda state, force: model.observe(jnp.zeros(()), state, force))(states, silent)
    last = count  # row of the end, the start being row 0
    seated = seen["seated"] if model.latch is not None else jnp.zeros((rows + 1, len(model.contacts)), bool)
    found = {
        **contact_figures(model, solution, seen, states.mode, valid, time, seated),
        "kinetic_energy_start_J": seen["kinetic_energy"][0],
        "kinetic_energy_end_J": seen["kinetic_energy"][last],
        "end_time_s": solution.time,
        "steps": solution.steps.astype(float),
        "step_error": solution.roughest,
    }
    if model.latch is None:
        return found
    history = {
        name: jnp.concatenate([jnp.zeros((1, values.shape[1])), values])
        for name, values in (("peaks", solution.log.peaks), ("peak_times", solution.log.peak_times))
    }
    loads = capture_loads(jnp, history, seen, states.mode[-1], time, last)
    found |= capture_figures(seen, states.mode[-1], valid, time)
    found |= {name: loads[variable] for variable, (_, _, name) in LOADS.items()}
    return found | with_capture(found) | {"peak_force_known": loads["peak_force_known"]}


def with_capture(found: Figures) -> Figures:
    """The largest force and when it was, those of the capture counted."""
    contact, catch = found["peak_normal_force_N"], found["capture_peak_force_N"]
    governs = catch > contact  # not where there is none
    return {
        "peak_normal_force_N": jnp.where(governs, catch, contact),
        "peak_time_s": jnp.where(governs, found["capture_peak_time_s"], found["peak_time_s"]),
    }


def contact_figures(
    model: FreeFlight,
    solution: Solution,
    seen: Any,
    modes: Any,
    valid: Any,
    time: Rows,
    seated: Bool[Array, "rows contacts"],
) -> Figures:
    """How often and how hard the bodies met; of what is `seated` in a latch only the largest force counts."""
    if not model.contacts:
        none = jnp.asarray(jnp.nan)
        zeros = dict.fromkeys(("contact_count", "peak_normal_force_N", "contact_impulse_N_s"), jnp.zeros(()))
        return zeros | dict.fromkeys(("first_contact_s", "peak_time_s", "largest_approach_speed_m_s"), none)
    contacts = len(model.contacts)
    touching = jnp.stack([mode != APART for mode in modes[:contacts]], axis=1) & ~seated
    before = jnp.concatenate([jnp.zeros((1, touching.shape[1]), bool), touching[:-1]])
    onset = touching & ~before & valid[:, None]
    counted = valid[1:, None]
    peaks = jnp.where(counted, solution.log.peaks[:, :contacts], -jnp.inf)
    highest = jnp.argmax(peaks)
    peak = peaks.ravel()[highest]
    touched = jnp.any(onset)
    return {
        "contact_count": jnp.sum(onset).astype(float),
        "first_contact_s": first_of(jnp.any(onset, axis=1), time),
        "peak_normal_force_N": jnp.maximum(peak, 0.0),
        "peak_time_s": jnp.where(peak > 0, solution.log.peak_times[:, :contacts].ravel()[highest], jnp.nan),
        "contact_impulse_N_s": jnp.sum(jnp.where(counted & ~seated[:-1], solution.log.integrals[:, :contacts], 0.0)),
        "largest_approach_speed_m_s": jnp.where(
            touched, jnp.max(jnp.where(onset, seen["depth_rate"], -jnp.inf)), jnp.nan
        ),
    }


def capture_figures(seen: Any, mode: Any, valid: Bool[Array, "rows"], time: Rows) -> Figures:
    """Whether, when and how the latch caught the probe, and by which margin of speed.

    The attempt that counts is the one that succeeded, or came nearest to.
    """
    held = valid & (mode == HELD)
    captured = jnp.any(held)
    before = jnp.concatenate([jnp.full(1, -1), mode[:-1]])
    entries = valid & (mode == ON_RAMP) & (before != ON_RAMP)
    rows = jnp.arange(len(time))
    spare = seen["latch_rate"] - seen["latch_needed_speed"]
    last = jnp.max(jnp.where(entries & (rows < jnp.argmax(held)), rows, -1))
    best = jnp.argmax(jnp.where(entries, spare, -jnp.inf))
    counts = jnp.where(captured, last, best)
    met = jnp.any(entries) & (counts >= 0)
    caught = jnp.argmax(held)
    after = {
        f"capture_{name}": jnp.where(captured, seen[f"capture_{key}"][caught], jnp.nan)
        for name, key in (
            ("impulse_along_N_s", "impulse_along"),
            ("impulse_across_N_s", "impulse_across"),
            ("energy_loss_J", "loss"),
        )
    }
    return {
        "captured": captured.astype(float),
        "capture_time_s": first_of(held, time),
        "capture_speed_margin_m_s": jnp.where(met, spare[counts], jnp.nan),
        **after,
    }


def first_of(happens: Bool[Array, "rows"], time: Rows) -> Scalar:
    """Time (s) of the first row where something happens; NaN if none."""
    return jnp.where(jnp.any(happens), time[jnp.argmax(happens)], jnp.nan)
