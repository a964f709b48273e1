"""Contacts from a run: from onset to release, with what an engineer asks of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dockdyn.contact.gate import APART
from dockdyn.deferred import Bool, Float, Int
from dockdyn.integrate.solution import AT_ONCE, EventRecord
from dockdyn.results.measures import settled_rows


@dataclass
class Episode:
    """One contact of one feature with one surface. NaN where the run ended before."""

    contact: int  # which pair
    onset: float  # s
    release: float = np.nan  # s; of what a latch catches when it does
    peak: float = 0.0  # N, normal force where it is generated
    peak_time: float = np.nan  # s
    impulse: float = 0.0  # N s, of the normal force
    onset_row: int = 0  # row of the moments (or samples) at onset
    settled_row: int = -1  # and when the last delayed force of this contact has acted; −1: the run ended before


@dataclass
class Moments:
    """Moments of a run in time order: NumPy arrays over (moments,) and (moments, contacts)."""

    time: Float[Any, "moments"]
    touching: Float[Any, "moments contacts"]  # after the moment
    peaks: Float[Any, "moments contacts"]  # since the moment before
    peak_times: Float[Any, "moments contacts"]
    integrals: Float[Any, "moments contacts"]
    slack: float  # s; a moment at most this long after an instant is that instant


def from_log(
    log: EventRecord,
    count: int,
    first_mode: Sequence[Int[Any, ""]],
    seated: Bool[Any, "moments contacts"] | None = None,
    jumps: Float[Any, "moments contacts"] | None = None,
    slack: float = AT_ONCE,
) -> Moments:
    """Return moments of a run from its log, with the start as the first; of a contact that is `seated` in a latch nothing
    counts.

    `jumps` are the impulses (N s) that the contacts have had so far in impacts, which no force shows.
    """
    contacts = np.asarray(log.peaks).shape[1] if seated is None else seated.shape[1]
    log_mode = np.stack([np.asarray(mode)[:count] for mode in log.state.mode[:contacts]], axis=1)
    start_mode = np.array([[int(mode) for mode in first_mode[:contacts]]])
    zero = np.zeros((1, contacts))
    return Moments(
        time=np.concatenate([[0.0], np.asarray(log.time)[:count]]),
        touching=(np.concatenate([start_mode, log_mode]) != APART) & (True if seated is None else ~seated),
        peaks=np.concatenate([zero, np.asarray(log.peaks)[:count, :contacts]]),
        peak_times=np.concatenate([zero, np.asarray(log.peak_times)[:count, :contacts]]),
        integrals=np.concatenate([zero, np.asarray(log.integrals)[:count, :contacts]])
        + (0.0 if jumps is None else np.diff(jumps, axis=0, prepend=0.0)),
        slack=slack,
    )


def contact_episodes(moments: Moments, delay: float) -> list[Episode]:
    """Return all contacts, by onset."""
    found = []
    for contact in range(moments.touching.shape[1]):
        current = None
        for row, time in enumerate(moments.time):
            if current is not None:
                current.impulse += moments.integrals[row, contact]
                if moments.peaks[row, contact] > current.peak:
                    current.peak = moments.peaks[row, contact]
                    current.peak_time = moments.peak_times[row, contact]
            touching = moments.touching[row, contact]
            if touching and current is None:
                current = Episode(contact, onset=time, onset_row=row)
                found.append(current)
            elif not touching and current is not None:
                current.release = time
                _find_settling(current, moments, delay)
                current = None
    return sorted(found, key=lambda episode: episode.onset)


def _find_settling(episode: Episode, moments: Moments, delay: float) -> None:
    """Find when the episode's last delayed force has acted, if the run got there."""
    releases = np.array([episode.release])
    episode.settled_row = int(settled_rows(np.asarray(moments.time), releases, delay, moments.slack)[0])
