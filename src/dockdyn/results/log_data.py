"""What the log of a run tells, by the names that it has in a dataset.

One definition for a run that is over, in NumPy, and for the lanes of a batch and derivatives, traced by JAX.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.contact_modes import APART
from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution
from dockdyn.results.measures import Either, changed_by_contacts, first_time, settled_rows

type Rows = Float[Any, "rows"]
type Contacts = Float[Any, "rows contacts"]


class Log(NamedTuple):
    """Rows of a run, in arrays of NumPy or of JAX: its start and its moments, those behind `last` of no meaning."""

    time: Rows  # s; inf behind `last`
    valid: Bool[Any, "rows"]
    last: Any  # the row of the end
    touching: Bool[Any, "rows contacts"]  # after the moment; a contact that is seated in a latch is over
    peaks: Float[Any, "rows monitored"]  # since the moment before: N of the contacts, then what a latch's catch has
    peak_times: Float[Any, "rows monitored"]  # s
    integrals: Float[Any, "rows monitored"]  # N s, since the moment before
    seen: dict[str, Any]  # what is observed at the rows
    samples: dict[str, Any]  # what is observed at the samples, the last one filling up the rest; empty without samples
    slack: Either  # s; a row so little after an instant is of that instant

    def before(self) -> Bool[Any, "rows contacts"]:
        """Return which contacts there were until each row."""
        xp = self.time.__array_namespace__()
        return xp.concat([xp.zeros((1, self.touching.shape[1]), dtype=bool), self.touching[:-1]])

    def began(self) -> Bool[Any, "rows contacts"]:
        """Return where a contact begins."""
        return self.touching & ~self.before()

    def ended(self) -> Bool[Any, "rows contacts"]:
        """Return where a contact ends."""
        return self.before() & ~self.touching & self.valid[:, None]

    def released(self) -> Contacts:
        """Return when each contact ended (s), in the row where it began; NaN where none began or it has not ended."""
        xp = self.time.__array_namespace__()
        following = _least_from_here(xp.where(self.ended(), self.time[:, None], xp.inf))
        return xp.where(self.began() & xp.isfinite(following), following, xp.nan)

    def settled(self, delay: Either) -> Int[Any, "rows contacts"]:
        """Return the row in which the last force of each contact, with a `delay` (s), has acted, in the row where the contact
        began; −1 where none began or the run ended before."""
        return settled_rows(self.time, self.released(), delay, self.slack)

    def peak_forces(self) -> Contacts:
        """Return the largest normal force (N) of each contact since the row before; zero where there is no contact."""
        xp = self.time.__array_namespace__()
        return xp.where(self.before(), self.peaks[:, : self.touching.shape[1]], 0.0)

    def impulses(self) -> Contacts:
        """Return the impulse of each contact's normal force since the row before (N s), with that of impacts, which no force
        shows; zero where there is no contact."""
        xp, impulses = self.time.__array_namespace__(), self.integrals[:, : self.touching.shape[1]]
        if "impact_impulse" in self.seen:
            jumps = xp.diff(self.seen["impact_impulse"], axis=0, prepend=xp.zeros((1, impulses.shape[1])))
            impulses = impulses + xp.where(self.valid[:, None], jumps, 0.0)
        return xp.where(self.before(), impulses, 0.0)

    def friction_losses(self) -> Contacts | None:
        """Return the energy (J) that friction of each contact has lost since the row before: its power where it is generated
        over time, with what impacts took, less what it stores; None where no friction acts.

        What is watched ends with these powers (`Mechanism.outputs`).
        """
        if "friction_beside_power" not in self.seen:
            return None
        xp, beside = self.time.__array_namespace__(), self.seen["friction_beside_power"]
        contacts = beside.shape[1]
        jumps = xp.diff(beside, axis=0, prepend=xp.zeros((1, contacts)))
        rubbed = self.integrals[:, self.integrals.shape[1] - contacts :]
        return xp.where(self.valid[:, None], rubbed + jumps, 0.0)

    def energies_after(self, delay: Either) -> Contacts:
        """Return the energy (J) relative to the start when the last force of each contact, with a `delay` (s), has acted, in
        the row where the contact began; else NaN.

        Of the contacts alone: without what control brings and a capture takes.
        """
        xp, row = self.time.__array_namespace__(), self.settled(delay)
        energy = changed_by_contacts(self.seen)
        return xp.where(row >= 0, energy[row] - energy[0], xp.nan)

    def energy_gains(self, delay: Either) -> Contacts:
        """Return the energy (J) then, relative to that when the contact began, in the row where it began; else NaN."""
        xp, row = self.time.__array_namespace__(), self.settled(delay)
        energy = changed_by_contacts(self.seen)
        return xp.where(row >= 0, energy[row] - energy[:, None], xp.nan)

    def acting(self, delay: Either) -> Bool[Any, ""]:
        """Return whether contacts last at the end of the run, or their forces with a `delay` (s)."""
        xp = self.time.__array_namespace__()
        ends = xp.max(xp.where(self.ended(), self.time[:, None], -xp.inf), initial=-xp.inf)
        return xp.any(self.touching[self.last]) | (ends + delay > self.time[self.last])

    def at_end(self) -> dict[str, Any]:
        """Return what is observed at the end."""
        return {name: values[self.last] for name, values in self.seen.items()}

    def first_time(self, holds: Either) -> Either:
        """Return the first time (s) at which something `holds`, row by row; NaN where it never does."""
        return first_time(holds & self.valid, self.time)


def _least_from_here(times: Either) -> Either:
    """Return the least of each row and those behind it."""
    if isinstance(times, np.ndarray):
        return np.minimum.accumulate(times[::-1])[::-1]
    return jax.lax.cummin(times, axis=0, reverse=True)


def log_of(solution: Solution, start: State, seen: dict[str, Any], samples: dict[str, Any]) -> Log:
    """Return the log of a solution that began as `start`, with what is observed at its rows and samples; of a contact that is
    seated in a latch nothing counts."""
    count, log = solution.moments, solution.log
    xp, rows, contacts = log.time.__array_namespace__(), log.time.shape[0], seen["depth"].shape[1]
    valid = xp.concat([xp.ones(1, dtype=bool), xp.arange(rows) < count])
    touching = xp.zeros((rows + 1, 0), dtype=bool)
    if contacts:
        modes = zip(start.mode[:contacts], log.state.mode[:contacts], strict=True)
        touching = xp.stack([xp.concat([first[None], later]) != APART for first, later in modes], 1)
    seated = seen["seated"].astype(bool) if "seated" in seen else xp.zeros((rows + 1, contacts), dtype=bool)

    def since(part: Float[Any, "rows monitored"]) -> Float[Any, "rows monitored"]:
        return xp.concat([xp.zeros((1, part.shape[1])), xp.where(valid[1:, None], part, 0.0)])

    return Log(
        xp.where(valid, xp.concat([xp.zeros(1), log.time]), xp.inf),
        valid,
        count,  # row 0 is the start
        touching & valid[:, None] & ~seated,
        since(log.peaks),
        since(log.peak_times),
        since(log.integrals),
        seen,
        samples,
        solution.slack,
    )


def log_data(log: Log, solution: Solution, delay: Array | float) -> dict[str, Any]:
    """Return what every run with contacts has, `delay` (s) being that of its contact forces.

    Entries over contacts are of shape (rows of the log, contacts). Onset, release, approach speed and energies of a contact
    are in the row where it began, NaN elsewhere. Peak force, its time and impulse are in parts, since the moment before
    each row: zero where there is no contact.
    """
    onset, kinetic = log.began(), log.seen["kinetic_energy"]
    return {
        **log.samples,
        "episode_onset": jnp.where(onset, log.time[:, None], jnp.nan),
        "episode_release": log.released(),
        "episode_approach_speed": jnp.where(onset, log.seen["depth_rate"], jnp.nan),
        "episode_peak_force": log.peak_forces(),
        "episode_peak_time": log.peak_times[:, : onset.shape[1]],
        "episode_impulse": log.impulses(),
        "episode_energy": log.energies_after(delay),
        "episode_energy_gain": log.energy_gains(delay),
        "kinetic_energy_start": kinetic[0],
        "kinetic_energy_end": kinetic[log.last],
        "end_time_s": solution.time,
        "steps": solution.steps,
        "step_error": solution.largest_local_error,
    }
