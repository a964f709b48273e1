"""Contacts from a run: from onset to release, with what an engineer asks of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockdyn.results.log_data import Log
from dockdyn.results.measures import sum_in_order


@dataclass
class Episode:
    """One contact of one feature with one surface. NaN where the run ended before."""

    contact: int  # which pair
    onset: float  # s
    release: float = np.nan  # s; of what a latch catches when it does
    peak: float = 0.0  # N, normal force where it is generated
    peak_time: float = np.nan  # s
    impulse: float = 0.0  # N s, of the normal force
    friction_loss: float = 0.0  # J, that friction took
    onset_row: int = 0  # row of the moments (or samples) at onset


def contact_episodes(log: Log, delay: float) -> list[Episode]:
    """Return all contacts of a run in NumPy arrays, by onset; `delay` (s) is that of their forces."""
    rows, contacts = np.nonzero(log.began())
    order = np.lexsort((rows, contacts, log.time[rows]))
    released, ended = log.released(), log.ended()
    peaks, times, impulses, rubbed = log.peak_forces(), log.peak_times, log.impulses(), log.friction_losses()
    found = []
    for row, contact in zip(rows[order], contacts[order], strict=True):
        ends = np.flatnonzero(ended[row:, contact])
        last = row + ends[0] if len(ends) else len(log.time) - 1
        own = slice(row + 1, last + 1), contact
        episode = Episode(contact, log.time[row], released[row, contact], onset_row=row)
        episode.impulse = float(sum_in_order(np.append(0.0, impulses[own])))
        if rubbed is not None:
            episode.friction_loss = float(sum_in_order(np.append(0.0, rubbed[own])))
        forces = np.where(peaks[own] > 0, peaks[own], 0.0)  # not where it is no number
        if forces.any():
            episode.peak, episode.peak_time = forces.max(), times[own][forces.argmax()]
        found.append(episode)
    return found
