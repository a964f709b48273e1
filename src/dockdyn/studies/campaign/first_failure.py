"""Requirements over the cases of a campaign: who meets them, by how much, and what fails first where one is not met."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dockdyn.deferred import Bool, Float
from dockdyn.records import record
from dockdyn.results.outcome import is_moment, still_open
from dockdyn.results.requirements import hidden_by_capture, judge_values, with_lists
from dockdyn.studies.campaign.cases import CampaignCases, Required

MOMENTS = {  # figures that say when another one was reached
    "peak_force_N": "peak_time_s",
    "latch.peak_force_N": "latch.peak_time_s",
    "latch.seat_peak_force_N": "latch.seat_peak_time_s",
}
NUMERICAL = "the case failed"  # in place of a requirement
OPEN = "not decided"  # the same


@record
class Judged:
    """The requirements of a campaign, judged case by case. Rows are requirements, in the order written."""

    met: Bool[np.ndarray, "requirements cases"]  # whatever may follow the end of the run
    open: Bool[
        np.ndarray, "requirements cases"
    ]  # not decided: at the end of the run, or as its figure is a lower bound
    margin: Float[
        np.ndarray, "requirements cases"
    ]  # in the figure's unit; NaN for yes or no, what did not happen, open
    relative: Float[
        np.ndarray, "requirements cases"
    ]  # margin over the limit's size; −1, 1: not met, met without margin; inf: not decided
    first: list[str]  # what failed first: a requirement's name, `NUMERICAL`, `OPEN`, "" where all are met

    @property
    def all_met(self) -> Bool[np.ndarray, "cases"]:
        return self.met.all(axis=0)

    @property
    def all_open(self) -> Bool[np.ndarray, "cases"]:
        """Where it is not decided whether all are met: none has failed for good, and not all are met."""
        return (self.met | self.open).all(axis=0) & ~self.all_met

    @property
    def first_failures(self) -> dict[str, int]:
        """How many cases each failed first, the most frequent first."""
        return dict(Counter(name for name in self.first if name).most_common())


def judge_cases(cases: CampaignCases) -> Judged:
    """Return every requirement in every case. A case that failed meets none; neither does one without the figure.

    One that ended while its outcome was open has met none for good, and failed those that nothing can mend; so has one whose
    capture leaves but a lower bound of the figure.
    """
    count, offered = cases.count, with_lists(cases.figures)
    met, undecided, margin, relative, when = (
        np.zeros((len(cases.requirements), count), dtype=kind) for kind in (bool, bool, float, float, float)
    )
    for row, requirement in enumerate(cases.requirements):
        values = offered.get(requirement.figure, np.full(count, np.nan))
        met[row], margin[row] = judge_values(values, requirement.relation, requirement.limit)
        how = requirement.figure, requirement.relation, requirement.limit
        undecided[row] = still_open(*how, values, met[row], cases.figures)
        undecided[row] |= hidden_by_capture(*how, values, cases.figures)
        met[row] &= ~undecided[row]
        margin[row, undecided[row]] = np.nan
        scale = _limit_size(requirement, margin[row])
        without = np.where(undecided[row], np.inf, np.where(met[row], 1.0, -1.0))
        relative[row] = np.where(np.isfinite(margin[row]), margin[row] / scale, without)
        when[row] = np.where(met[row] | undecided[row], np.inf, _failure_time(cases, requirement, values))
    first = _first_failed(cases, met | undecided, when)
    judged = Judged(met, undecided, margin, relative, first)
    for place in np.flatnonzero(judged.all_open & ~cases.failed if cases.requirements else []):
        first[place] = OPEN
    return judged


def _limit_size(requirement: Required, margin: Float[np.ndarray, "cases"]) -> float:
    """Return what a margin is compared with: the limit, or the spread of the margins where that is zero."""
    size = abs(float(requirement.limit))
    known = margin[np.isfinite(margin)]
    return size or (float(known.std()) if known.size else 0.0) or 1.0


def _failure_time(
    cases: CampaignCases, requirement: Required, values: Float[np.ndarray, "cases"]
) -> Float[np.ndarray, "cases"]:
    """Return when (s) a requirement that is not met was broken, as far as the figures tell; inf: at the end of the run.

    A figure with a moment of its own that is too large, as the largest force: then. A moment that came too early: itself;
    one that came too late, or not at all: at its limit, when it was due. All others: at the end, as a capture that did not
    happen.
    """
    name = requirement.figure
    if name in MOMENTS and MOMENTS[name] in cases.figures and requirement.relation.startswith("<"):
        return np.nan_to_num(cases.figures[MOMENTS[name]], nan=np.inf)
    if is_moment(name) and requirement.relation.startswith("<"):
        return np.full(len(values), float(requirement.limit))
    if is_moment(name) and requirement.relation.startswith(">"):
        return np.nan_to_num(values, nan=np.inf)
    return np.full(len(values), np.inf)


def _first_failed(
    cases: CampaignCases, met: Bool[np.ndarray, "requirements cases"], when: Float[np.ndarray, "requirements cases"]
) -> list[str]:
    """Return by case the requirement that was broken first; of several at one time the one that is written first."""
    names = [requirement.name for requirement in cases.requirements]
    if not names:
        return [NUMERICAL if failed else "" for failed in cases.failed]
    order = np.where(met, 2 * len(names), np.arange(len(names))[:, None])  # those that are met come last
    earliest = np.where(when == when.min(axis=0), order, 2 * len(names)).min(axis=0)
    found = [names[place] if place < len(names) else "" for place in earliest]
    return [NUMERICAL if failed else name for failed, name in zip(cases.failed, found, strict=True)]


NO_CONTACT = "no contact"
MISSED_LATCH, TOO_SLOW = "did not reach the latch", "reached the latch too slowly"
HELD_OFF = "reached the latch fast enough but was held off by other contacts"
NOT_CAPTURED = "not captured"
WAYS = (NO_CONTACT, MISSED_LATCH, TOO_SLOW, HELD_OFF, NOT_CAPTURED)
SPARE = "latch.speed_margin_m_s"
CONTACTS = "contact.count"


def ways_missed(cases: CampaignCases) -> list[str]:
    """Return by case how far it came that was not captured, one of `WAYS`; empty for all others, undecided ones among them."""
    if cases.captured is None:
        return [""] * cases.count
    missed = ~cases.captured & ~cases.failed & ~cases.undecided
    spare = cases.figures.get(SPARE)
    touched = cases.figures.get(CONTACTS, np.ones(cases.count)) != 0
    if spare is None:
        ways = np.where(touched, NOT_CAPTURED, NO_CONTACT)
    else:  # a latch may be reached past all other surfaces; the speed that is needed is that of the latch alone
        reached = np.where(spare < 0, TOO_SLOW, HELD_OFF)
        ways = np.where(np.isfinite(spare), reached, np.where(touched, MISSED_LATCH, NO_CONTACT))
    return [str(way) for way in np.where(missed, ways, "")]


def missed_captures(cases: CampaignCases) -> dict[str, int]:
    """Return how far cases came that were not captured, in words, and how many; nothing where nothing could capture.

    Undecided ones are none of them (`ways_undecided`).
    """
    if cases.captured is None:
        return {}
    counted = Counter(ways_missed(cases))
    counts = {way: counted[way] for way in WAYS} | {NUMERICAL: int(cases.failed.sum())}
    return {words: count for words, count in counts.items() if count}
