"""What the log of a located run tells, by the names that it has in a dataset: data of key figures that JAX may trace."""

from __future__ import annotations

from typing import Any, NamedTuple

from dockdyn.contact.gate import APART
from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.integrate.model import ContactModel, over_rows
from dockdyn.integrate.solution import Solution
from dockdyn.results.capture_loads import capture_data as of_capture
from dockdyn.results.measures import changed_by_contacts, settled_rows
from dockdyn.trees import leaves_of, map_leaves

type Rows = Float[Array, "rows"]
type Contacts = Float[Array, "rows contacts"]


class Log(NamedTuple):
    """Rows of a run: its start and its moments, those behind `last` of no meaning."""

    time: Rows  # s; inf behind `last`
    valid: Bool[Array, "rows"]
    last: Any  # the row of the end
    touching: Bool[Array, "rows contacts"]  # after the moment; a contact that is seated in a latch is over
    peaks: Float[Array, "rows monitored"]  # since the moment before: N of the contacts, then what a latch's catch has
    peak_times: Float[Array, "rows monitored"]  # s
    integrals: Float[Array, "rows monitored"]  # N s, since the moment before
    seen: dict[str, Any]  # what is observed at the rows
    samples: dict[str, Any]  # what is observed at the samples, the last one filling up the rest; empty without samples
    slack: Array | float  # s; a row so little after an instant is of that instant

    def before(self) -> Bool[Array, "rows contacts"]:
        """Return which contacts there were until each row."""
        return jnp.concatenate([jnp.zeros((1, self.touching.shape[1]), bool), self.touching[:-1]])

    def began(self) -> Bool[Array, "rows contacts"]:
        """Return where a contact begins."""
        return self.touching & ~self.before()

    def ended(self) -> Bool[Array, "rows contacts"]:
        """Return where a contact ends."""
        return self.before() & ~self.touching & self.valid[:, None]

    def released(self) -> Contacts:
        """Return when each contact ended (s), in the row where it began; NaN where none began or it has not ended."""
        times = jnp.where(self.ended(), self.time[:, None], jnp.inf)
        following = jax.lax.cummin(times, axis=0, reverse=True)
        return jnp.where(self.began() & jnp.isfinite(following), following, jnp.nan)

    def after_contacts(self, values: Rows, delay: Array | float) -> Contacts:
        """Return what `values` are when the last delayed force of each contact has acted, in the row where it began; else
        NaN."""
        row = settled_rows(self.time, self.released(), delay, self.slack)
        return jnp.where(row >= 0, values[row], jnp.nan)

    def acting(self, delay: Array | float) -> Bool[Array, ""]:
        """Return whether contacts last at the end of the run, or their forces with a `delay` (s)."""
        ends = jnp.max(jnp.where(self.ended(), self.time[:, None], -jnp.inf), initial=-jnp.inf)
        return jnp.any(self.touching[self.last]) | (ends + delay > self.time[self.last])

    def at_end(self) -> dict[str, Any]:
        """Return what is observed at the end."""
        return {name: values[self.last] for name, values in self.seen.items()}


def read_log(model: ContactModel, solution: Solution) -> Log:
    """Return the log of a solution with what the model observes at its rows, and at its samples where it has any."""
    count, log = solution.moments, solution.log
    rows = log.time.shape[0]
    valid = jnp.concatenate([jnp.ones(1, bool), jnp.arange(rows) < count])
    start = model.initial()
    states = map_leaves(lambda first, later: jnp.concatenate([first[None], later]), start, log.state)
    silent = map_leaves(lambda leaf: jnp.zeros((rows + 1, *leaf.shape)), model.signal(jnp.zeros(()), start))
    modes, samples, kept = states.mode, solution.samples, valid
    if samples is not None:
        states = map_leaves(lambda a, b: jnp.concatenate([a, b]), states, samples.state)
        silent = map_leaves(lambda a, b: jnp.concatenate([a, b]), silent, samples.delayed)
        kept = jnp.concatenate([valid, jnp.arange(leaves_of(samples.state)[0].shape[0]) < solution.sampled])
    observed = _observe_rows(model, kept, states, silent)
    seen = {name: values[: rows + 1] for name, values in observed.items()}
    contacts = seen["depth"].shape[1]
    touching = (
        jnp.stack([mode != APART for mode in modes[:contacts]], 1) if contacts else jnp.zeros((rows + 1, 0), bool)
    )
    seated = seen["seated"].astype(bool) if "seated" in seen else jnp.zeros((rows + 1, contacts), bool)

    def since(part: Float[Array, "rows monitored"]) -> Float[Array, "rows monitored"]:
        return jnp.concatenate([jnp.zeros((1, part.shape[1])), jnp.where(valid[1:, None], part, 0.0)])

    sampled = {}
    if samples is not None:
        place = jnp.minimum(jnp.arange(leaves_of(samples.state)[0].shape[0]), solution.sampled - 1)
        sampled = {name: values[rows + 1 :][place] for name, values in observed.items()}
    return Log(
        jnp.where(valid, jnp.concatenate([jnp.zeros(1), log.time]), jnp.inf),
        valid,
        count,  # row 0 is the start
        touching & valid[:, None] & ~seated,
        since(log.peaks),
        since(log.peak_times),
        since(log.integrals),
        seen,
        sampled,
        solution.slack,
    )


def _observe_rows(model: ContactModel, kept: Bool[Array, "rows"], states: PyTree, silent: PyTree) -> dict[str, Array]:
    """Return what is observed of states at the rows that are `kept`; zeros at the others, which cost nothing then."""
    shape = jax.eval_shape(lambda rows: model.observe(*map_leaves(lambda leaf: leaf[0], rows)), (states, silent))
    nothing = map_leaves(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)
    return over_rows(
        lambda counts, *row: jax.lax.cond(counts, lambda: model.observe(*row), lambda: nothing), kept, states, silent
    )


def log_data(log: Log, solution: Solution, delay: Array | float) -> dict[str, Any]:
    """Return what every run with contacts has, `delay` (s) being that of its contact forces.

    Entries over contacts are of shape (rows of the log, contacts). Onset, release, approach speed and energy of a contact
    are in the row where it began, NaN elsewhere. Peak force, its time and impulse are in parts, since the moment before
    each row: zero where there is no contact.
    """
    onset, before, contacts = log.began(), log.before(), log.touching.shape[1]
    peaks, peak_times, impulses = (part[:, :contacts] for part in (log.peaks, log.peak_times, log.integrals))
    if "impact_impulse" in log.seen:
        impulses = impulses + jnp.where(
            log.valid[:, None], jnp.diff(log.seen["impact_impulse"], axis=0, prepend=0.0), 0.0
        )
    kinetic = log.seen["kinetic_energy"]
    return {
        **log.samples,
        "episode_onset": jnp.where(onset, log.time[:, None], jnp.nan),
        "episode_release": log.released(),
        "episode_approach_speed": jnp.where(onset, log.seen["depth_rate"], jnp.nan),
        "episode_peak_force": jnp.where(before, peaks, 0.0),
        "episode_peak_time": peak_times,
        "episode_impulse": jnp.where(before, impulses, 0.0),
        "episode_energy": log.after_contacts(changed_by_contacts(log.seen), delay),
        "kinetic_energy_start": kinetic[0],
        "kinetic_energy_end": kinetic[log.last],
        "end_time_s": solution.time,
        "steps": solution.steps,
        "step_error": solution.largest_local_error,
    }


def capture_data(log: Log, speed: Rows, needed: Rows) -> dict[str, Any]:
    """Return what `CAPTURE` names of a log; `speed` and `needed` (m/s) are the probe's and the least that latches."""
    return of_capture(log.time, log.valid, log.seen, speed, needed)
