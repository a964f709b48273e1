"""Which contact a run with too many events stopped for, and what keeps it bouncing.

Units: SI: m, s, N.
Source: own construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dockdyn.results.episodes import Episode
from dockdyn.results.run import Run

LAST = 20  # contacts from which the one that bounces is told
HARDER = 1.2  # the largest force of the second half over that of the first, from which on bounces grow


def describe_chatter(run: Run, names: Sequence[str], delay: float) -> str:
    """Return the cause of too many events in words: the contact, how often and how deep, and whether the delay (s) feeds it.

    Without a contact that was closed, none is named.
    """
    if not run.episodes:
        return "no contact was closed: latches, elements or controls switch too often"
    contact = Counter(each.contact for each in run.episodes[-LAST:]).most_common(1)[0][0]
    own = [each for each in run.episodes if each.contact == contact]
    name = names[contact] if contact < len(names) else f"number {contact}"
    lately = own[-LAST:]
    often = f"{len(own)} times" if len(own) > 1 else "once"
    pace = (
        f", lately every {(lately[-1].onset - lately[0].onset) / (len(lately) - 1):.3g} s and" if len(own) > 1 else ""
    )
    words = f"{name} has closed {often}{pace} by up to {_last_depth(run, own):.3g} m"
    peaks = np.array([each.peak for each in own])
    half = len(peaks) // 2
    if delay > 0 and half and peaks[half:].max() > HARDER * peaks[:half].max():
        return f"{words}, ever harder, as the delay of {delay:g} s puts energy in; less delay or more damping ends that"
    return f"{words}; more damping of that contact, or a higher integrator.max_events, lets it go on"


def _last_depth(run: Run, own: Sequence[Episode]) -> float:
    """Return the largest depth (m) of the last contacts of one pair, at the samples and moments within them."""
    contact, since = own[0].contact, own[-min(len(own), LAST)].onset
    found = [
        np.asarray(rows["depth"])[np.asarray(times) >= since, contact]
        for times, rows in ((run.time, run.sampled), (run.log.time, run.log.seen))
        if "depth" in rows
    ]
    return float(max((np.nanmax(each) for each in found if each.size), default=0.0))
