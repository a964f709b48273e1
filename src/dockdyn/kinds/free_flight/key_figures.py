"""The figures of a run of free flight straight from its log: for batches, and to be differentiated.

They are those that `summarise` gives of a dataset, by the same names and definitions (`measures`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dockdyn.contact.gate import APART
from dockdyn.contact.latch import HELD, ON_RAMP
from dockdyn.integrate.model import Scalar
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.free_flight.model import FreeFlight
from dockdyn.results.capture_loads import LOADS, capture_loads, with_capture
from dockdyn.results.episodes import SLACK
from dockdyn.results.measures import (
    capture_totals,
    changed_by_contacts,
    contact_totals,
    control_totals,
    drift,
    energy_error,
    kept,
    latch_attempt,
    settled_rows,
    work_energy_error,
)
from dockdyn.results.outcome import outcome_left

Figures = dict[str, Scalar]
Rows = Float[Array, "rows"]
Contacts = Float[Array, "rows contacts"]
OF_THE_MOTION = (  # figures that need the samples of a run; its log has all others
    "linear_momentum_error", "angular_momentum_error", "energy_error", "work_energy_error", "control_work_J",
    "attitude_error_end_rad", "peak_wheel_momentum_N_m_s", "thruster_use_N_s", "thruster_use_N_m_s",
)  # fmt: skip


class Log(NamedTuple):
    """Rows of a run: its start and its moments, those behind `last` of no meaning."""

    time: Rows  # s; inf behind `last`
    valid: Bool[Array, "rows"]
    last: Any  # the row of the end
    touching: Bool[Array, "rows contacts"]  # after the moment; a contact that is seated in a latch is over
    seated: Bool[Array, "rows contacts"]  # until the moment
    latch: Any  # mode of the latch after the moment; None without one
    peaks: Float[Array, "rows watched"]  # since the moment before: N of the contacts, then what a latch's catch has
    peak_times: Float[Array, "rows watched"]  # s
    integrals: Float[Array, "rows watched"]  # N s, since the moment before
    seen: dict[str, Any]  # what is observed at the rows


def flight_figures(model: FreeFlight, solution: Solution) -> Figures:
    """Figures by their names in the summary, one number each; NaN for what did not happen.

    Of the figures that are lists in the summary the least and the largest. Those of `OF_THE_MOTION` are there where the
    solution has samples.
    """
    log, samples = read(model, solution)
    changes = energy_changes(model, log)
    whole = jnp.all(jnp.isfinite(changes) | ~ended(log))
    there = jnp.any(began(log)) & whole & ~jnp.any(log.touching[log.last])
    found = {
        **contact_figures(log),
        "kinetic_energy_start_J": log.seen["kinetic_energy"][0],
        "kinetic_energy_end_J": log.seen["kinetic_energy"][log.last],
        "kinetic_energy_change_J.least": jnp.where(there, jnp.nanmin(changes, initial=jnp.inf), jnp.nan),
        "kinetic_energy_change_J.largest": jnp.where(there, jnp.nanmax(changes, initial=-jnp.inf), jnp.nan),
        "end_time_s": solution.time,
        "steps": solution.steps.astype(float),
        "step_error": solution.roughest,
    }
    if model.latch is not None:
        loads = capture_loads(jnp, log._asdict(), log.seen, log.latch, log.time, log.last)
        found |= capture_figures(log) | with_capture(found, loads) | {"peak_force_known": loads["peak_force_known"]}
        found |= {name: loads[variable] for variable, (_, _, name) in LOADS.items()}
    found |= open_figures(model, log)
    return found if samples is None else found | motion_figures(samples, changes)


def read(model: FreeFlight, solution: Solution) -> tuple[Log, dict[str, Array] | None]:
    """The log of a solution with what is observed, and what is observed at its samples; the last one fills up the rest."""
    count, log = solution.moments, solution.log
    rows = log.time.shape[0]
    valid = jnp.concatenate([jnp.ones(1, bool), jnp.arange(rows) < count])
    start = model.initial()
    states = jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), start, log.state)
    silent = jax.tree.map(lambda leaf: jnp.zeros((rows + 1, *leaf.shape)), model.sense(jnp.zeros(()), start).signal)
    modes, samples = states.mode, solution.samples
    if samples is not None:
        states = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), states, samples.state)
        silent = jax.tree.map(lambda a, b: jnp.concatenate([a, b]), silent, samples.delayed)
    observed = jax.vmap(model.observe)(states, silent)
    seen = {name: values[: rows + 1] for name, values in observed.items()}
    contacts = len(model.contacts)
    touching = (
        jnp.stack([mode != APART for mode in modes[:contacts]], 1) if contacts else jnp.zeros((rows + 1, 0), bool)
    )
    seated = seen["seated"].astype(bool) if model.latch is not None else jnp.zeros((rows + 1, contacts), bool)

    def since(part: Any) -> Any:
        return jnp.concatenate([jnp.zeros((1, part.shape[1])), jnp.where(valid[1:, None], part, 0.0)])

    seen_log = Log(
        jnp.where(valid, jnp.concatenate([jnp.zeros(1), log.time]), jnp.inf),
        valid,
        count,  # row 0 is the start
        touching & valid[:, None] & ~seated,
        jnp.concatenate([jnp.zeros((1, contacts), bool), seated[:-1]]),
        None if model.latch is None else modes[-1],
        since(log.peaks),
        since(log.peak_times),
        since(log.integrals),
        seen,
    )
    if samples is None:
        return seen_log, None
    place = jnp.minimum(jnp.arange(jax.tree.leaves(samples.state)[0].shape[0]), solution.sampled - 1)
    return seen_log, {name: values[rows + 1 :][place] for name, values in observed.items()}


def began(log: Log) -> Bool[Array, "rows contacts"]:
    """Where a contact begins."""
    return log.touching & ~before(log)


def ended(log: Log) -> Bool[Array, "rows contacts"]:
    """Where a contact ends."""
    return before(log) & ~log.touching & log.valid[:, None]


def before(log: Log) -> Bool[Array, "rows contacts"]:
    """Which contacts there were until each row."""
    return jnp.concatenate([jnp.zeros((1, log.touching.shape[1]), bool), log.touching[:-1]])


def contact_figures(log: Log) -> Figures:
    """How often and how hard the bodies met, until a latch holds them."""
    onset, contacts = began(log), log.touching.shape[1]
    peaks, peak_times, integrals = (part[:, :contacts] for part in (log.peaks, log.peak_times, log.integrals))
    found = contact_totals(
        jnp.where(onset, log.time[:, None], jnp.nan),
        jnp.where(onset, log.seen["depth_rate"], jnp.nan),
        jnp.where(log.seated, 0.0, peaks),
        peak_times,
        jnp.where(log.seated, 0.0, integrals),
    )
    return found | {"contact_count": found["contact_count"].astype(float)}


def energy_changes(model: FreeFlight, log: Log) -> Contacts:
    """What each contact did to the kinetic energy (J) since the start, where it ends; NaN elsewhere."""
    delay = 0.0 if model.delay is None else model.delay
    row = settled_rows(log.time, jnp.where(ended(log), log.time[:, None], jnp.nan), delay, SLACK)
    return jnp.where(row >= 0, changed_by_contacts(log.seen)[row], jnp.nan)


def capture_figures(log: Log) -> Figures:
    """Whether, when and how the latch caught the probe, and by which margin of speed."""
    earlier = jnp.concatenate([jnp.full(1, -1), log.latch[:-1]])
    entries = log.valid & (log.latch == ON_RAMP) & (earlier != ON_RAMP)
    rate, needed = log.seen["latch_rate"], log.seen["latch_needed_speed"]
    captured, caught, met, counts = latch_attempt(log.valid & (log.latch == HELD), entries, rate - needed)
    found = capture_totals(
        captured.astype(float),
        log.time[caught],
        jnp.where(met, rate[counts], jnp.nan),
        needed[counts],
        {name: log.seen[name][caught] for name in ("capture_impulse_along", "capture_impulse_across", "capture_loss")},
    )
    always = ("captured", "capture_speed_margin_m_s")
    return {name: value if name in always else jnp.where(captured, value, jnp.nan) for name, value in found.items()}


def open_figures(model: FreeFlight, log: Log) -> Figures:
    """Whether the outcome is still open at the end of the run."""
    delay = 0.0 if model.delay is None else model.delay
    released = jnp.max(jnp.where(ended(log), log.time[:, None], -jnp.inf), initial=-jnp.inf)
    acting = jnp.any(log.touching[log.last]) | (released + delay > log.time[log.last])
    at_end = {name: values[log.last] for name, values in log.seen.items()}
    length = None if model.latch is None else model.latch.ramp.length
    captured = jnp.asarray(False) if model.latch is None else jnp.any(log.valid & (log.latch == HELD))
    found = outcome_left(acting, captured, at_end, length)
    return {name: value.astype(float) for name, value in found.items()}


def motion_figures(samples: dict[str, Array], changes: Contacts) -> Figures:
    """Figures of the whole motion, all of them: which of them a scenario has is for it to say."""
    return {
        "linear_momentum_error": drift(kept(samples, "linear"), samples["linear_momentum_scale"]),
        "angular_momentum_error": drift(kept(samples, "angular"), samples["angular_momentum_scale"]),
        "energy_error": energy_error(changes, samples["kinetic_energy"]),
        "work_energy_error": work_energy_error(samples),
        **control_totals(samples, attitude_hold=True),
    }
