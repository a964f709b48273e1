"""A measured bounce: the log of a contact, checked, and the part of it about the first contact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.records import record
from dockdyn.report.wording import count_of
from dockdyn.results.exchange.log_file import SignalLog, period_from, read_log, refuse_saturated, sampling_period
from dockdyn.results.exchange.log_roles import FORCE, OF_CONTACT
from dockdyn.scenario.language.given import path_from

FEWEST = 10  # samples in contact
QUIET = 5  # samples before contact, at least, that tell the force's bias and noise
CLEAR = 5.0  # standard deviations of that noise above which there is contact
SHARE = 0.02  # of the peak force: the same without noise
AROUND = 1.5  # durations of the contact that are looked at before and after it
type Row = Float[np.ndarray, "n"]


@record
class Bounce:
    """Measured signals about one contact; depth and force grow alike."""

    name: str
    time: Row  # s
    position: Row  # m, growing into the contact
    force: Row  # N
    velocity: Row | None  # m/s
    first: int  # samples in contact, by the force
    last: int
    ends: bool  # whether the log sees the contact end
    notes: Sequence[str] = ()  # of what was read, to be told
    force_sign: float = 1.0  # of the log's force in contact

    @property
    def period(self) -> float:
        return float(self.time[1] - self.time[0])

    @property
    def duration(self) -> float:
        return (self.last - self.first + 1) * self.period


def read_bounce(
    path: str | Path,
    columns: Mapping[str, str | None] | None = None,
    units: Mapping[str, str] | None = None,
    period: float | str | None = None,
) -> Bounce:
    """Return the first contact in a log of positions and forces, a CSV, MCAP or netCDF file, for `identify_contact`.

    Args:
        path: of the log; its header names the columns and their units, `time [s],position [mm],measured_force [N]`.
        columns: the heading of the role `time`, `position`, `measured-force` or `velocity`, where it is another.
        units: of a role or a heading, where it has none; SI otherwise, which is told.
        period: of the samples, in s or with its unit, where the log has no times.

    Raises:
        ScenarioError: names file and row of what cannot be used.
    """
    log, given = read_log(path_from("log", path), OF_CONTACT, columns or {}, units), period_from(period)
    step, notes = sampling_period(log, given)
    refuse_saturated(log, FORCE.name, "position", alike=False)
    force, position = log.signals[FORCE.name], log.signals["position"]
    if np.ptp(position) == 0:
        raise log.refuse(None, f"{log.headings['position']} is the same in all rows: nothing moves")
    first, last, ends, rest, touching = _find_contact(log, force)
    sign = float(np.sign(np.sum((force - rest)[first : last + 1])))
    inward = sign * float(np.sum((force - rest)[first : last + 1] * (position[first : last + 1] - position[first])))
    direction = 1.0 if inward >= 0 else -1.0
    around = math.ceil(AROUND * (last - first + 1))
    begin, end = max(0, first - around), min(len(force), last + 1 + around)
    again = np.flatnonzero(touching[last + 1 : end])
    if len(again):
        end = last + 1 + int(again[0])
    velocity, told = log.signals.get("velocity"), [*notes, *log.notes]
    if spikes := int(touching[:first].sum()):
        told.append(
            f"{log.headings[FORCE.name]}: above its noise in {count_of(spikes, 'row')} before the contact, too few for one"
        )
    if velocity is not None and float(velocity[begin:end] @ np.gradient(position[begin:end])) < 0:
        velocity = -velocity
        told.append(f"{log.headings['velocity']}: has the sign against that of the position's change, so it is turned")
    return Bounce(
        log.file,
        np.arange(begin, end) * step,
        direction * position[begin:end],
        sign * force[begin:end],
        None if velocity is None else direction * velocity[begin:end],
        first - begin,
        last - begin,
        ends,
        told,
        sign,
    )


class LoggedContact(NamedTuple):
    """Where the contact is in a log."""

    first: int  # samples in contact
    last: int
    ends: bool  # whether the log sees it end
    rest: float  # N, the force without contact
    touching: np.ndarray  # which samples have a force above its noise


def _find_contact(log: SignalLog, force: Row) -> LoggedContact:
    """Return the first contact by its force; what that is without contact, and its noise, is that of all rows before."""
    quiet = max(QUIET, len(force) // 50)
    rest, noise = float(np.median(force[:quiet])), float(np.std(force[:quiet]))
    size = np.abs(force - rest)
    slope, level = np.polyfit(np.arange(quiet), force[:quiet], 1)
    scatter = float(np.std(force[:quiet] - slope * np.arange(quiet) - level))
    if abs(slope) * quiet > max(CLEAR * scatter, SHARE * float(size.max())):
        raise log.refuse(0, f"in contact from the start; must begin with at least {QUIET} rows of free motion")
    touching = size > max(CLEAR * noise, SHARE * float(size.max()))
    if not touching.any() or size.max() <= CLEAR * noise:
        raise log.refuse(None, f"{log.headings[FORCE.name]} never rises above its noise: there is no contact")
    first, *_ = _first_contact(log, touching)
    free = force[:first][~touching[:first]]  # all rows before it, of which more is known than of a few, but for spikes
    rest, noise = float(np.median(free)), float(np.std(free))
    size = np.abs(force - rest)
    touching = size > max(CLEAR * noise, SHARE * float(size.max()))
    first, last, ends = _first_contact(log, touching)
    return LoggedContact(first, last, ends, rest, touching)


def _first_contact(log: SignalLog, touching: np.ndarray) -> tuple[int, int, bool]:
    """Return the first and last sample of the first contact that has enough of them, bridging short drops of the force to its
    threshold, and whether it ends in the log."""
    longest, begin = (0, 0), 0
    while touching[begin:].any():
        first = begin + int(np.argmax(touching[begin:]))
        if first < QUIET:
            raise log.refuse(first, f"in contact from the start; must begin with at least {QUIET} rows of free motion")
        apart = 0
        last = first
        for sample in range(first, len(touching)):
            apart = 0 if touching[sample] else apart + 1
            last = sample if touching[sample] else last
            if apart > max(QUIET, (last - first) // 4):
                break
        count = int(touching[first : last + 1].sum())
        if count >= FEWEST:
            return first, last, apart >= QUIET
        longest, begin = max(longest, (count, -first)), last + 1
    count, first = longest[0], -longest[1]
    words = f"the force is above its noise for {count} {'sample' if count == 1 else 'samples'} only: a spike, or a "
    words += f"contact that is sampled too slowly; must be at least {FEWEST}"
    raise log.refuse(first, words)
