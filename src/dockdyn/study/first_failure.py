"""Requirements over the cases of a campaign: who meets them, by how much, and what fails first where one is not met."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from dockdyn.study.campaign_cases import CampaignCases, Required
from dockdyn.study.requirements import BOUNDED, COMPARED, KNOWN, is_open, margin_of

MOMENTS = {"peak_normal_force_N": "peak_time_s"}  # figures that say when another one was reached
TIMES = ("capture_time_s", "first_contact_s")  # figures that are moments themselves
NUMERICAL = "the case failed"  # in place of a requirement


@dataclass(frozen=True)
class Judged:
    """The requirements of a campaign, judged case by case. Rows are requirements, in the order written."""

    met: Bool[np.ndarray, "requirements cases"]
    undecided: Bool[np.ndarray, "requirements cases"]  # not known to be met, as the figure is but a lower bound
    margin: Float[np.ndarray, "requirements cases"]  # in the figure's unit; NaN for yes or no and what did not happen
    relative: Float[
        np.ndarray, "requirements cases"
    ]  # margin over the limit's size; −1, 1: not met, met without margin
    first: list[str]  # what failed first: a requirement's name, `NUMERICAL`, "" where all are met

    @property
    def all_met(self) -> Bool[np.ndarray, "cases"]:
        return self.met.all(axis=0)

    @property
    def first_failures(self) -> dict[str, int]:
        """How many cases each failed first, the most frequent first."""
        return dict(Counter(name for name in self.first if name).most_common())


def judge_cases(cases: CampaignCases) -> Judged:
    """Every requirement in every case. A case that failed meets none; neither does one without the figure.

    Where a capture leaves but a lower bound of the figure, a requirement that may be met or not counts as not met.
    """
    count = cases.count
    met, margin, relative, when = (
        np.zeros((len(cases.requirements), count), dtype=kind) for kind in (bool, float, float, float)
    )
    undecided = np.zeros_like(met)
    bound = cases.figures.get(KNOWN, np.ones(count)) == 0
    for row, requirement in enumerate(cases.requirements):
        values = cases.figures.get(requirement.figure, np.full(count, np.nan))
        met[row] = COMPARED[requirement.relation](values, requirement.limit)
        if requirement.figure in BOUNDED:
            undecided[row] = bound & (np.isnan(values) | is_open(values, requirement.relation, requirement.limit))
            met[row] &= ~undecided[row]
        yes_or_no = isinstance(requirement.limit, bool)
        margin[row] = np.nan if yes_or_no else margin_of(values, requirement.relation, requirement.limit)
        margin[row] = np.where(undecided[row], np.nan, margin[row])
        scale = limit_size(requirement, margin[row])
        relative[row] = np.where(np.isfinite(margin[row]), margin[row] / scale, np.where(met[row], 1.0, -1.0))
        when[row] = np.where(met[row], np.inf, failure_time(cases, requirement, values))
    return Judged(met, undecided, margin, relative, first_failed(cases, met, when))


def limit_size(requirement: Required, margin: Float[np.ndarray, "cases"]) -> float:
    """What a margin is compared with: the limit, or the spread of the margins where that is zero."""
    size = abs(float(requirement.limit))
    known = margin[np.isfinite(margin)]
    return size or (float(known.std()) if known.size else 0.0) or 1.0


def failure_time(
    cases: CampaignCases, requirement: Required, values: Float[np.ndarray, "cases"]
) -> Float[np.ndarray, "cases"]:
    """When (s) a requirement that is not met was broken, as far as the figures tell; inf: at the end of the run.

    A figure with a moment of its own that is too large, as the largest force: then. A moment that came too early: itself;
    one that came too late, or not at all: at its limit, when it was due. All others: at the end, as a capture that did not
    happen.
    """
    name = requirement.figure
    if name in MOMENTS and MOMENTS[name] in cases.figures and requirement.relation.startswith("<"):
        return np.nan_to_num(cases.figures[MOMENTS[name]], nan=np.inf)
    if name in TIMES and requirement.relation.startswith("<"):
        return np.full(values.shape, float(requirement.limit))
    if name in TIMES and requirement.relation.startswith(">"):
        return np.nan_to_num(values, nan=np.inf)
    return np.full(values.shape, np.inf)


def first_failed(
    cases: CampaignCases, met: Bool[np.ndarray, "requirements cases"], when: Float[np.ndarray, "requirements cases"]
) -> list[str]:
    """By case, the requirement that was broken first; of several at one time the one that is written first."""
    names = [requirement.name for requirement in cases.requirements]
    if not names:
        return [NUMERICAL if failed else "" for failed in cases.failed]
    order = np.where(met, 2 * len(names), np.arange(len(names))[:, None])  # those that are met come last
    earliest = np.where(when == when.min(axis=0), order, 2 * len(names)).min(axis=0)
    found = [names[place] if place < len(names) else "" for place in earliest]
    return [NUMERICAL if failed else name for failed, name in zip(cases.failed, found, strict=True)]


def missed_captures(cases: CampaignCases) -> dict[str, int]:
    """How far cases came that were not captured, in words, and how many; nothing where nothing could capture."""
    captured = cases.captured
    if captured is None:
        return {}
    missed = ~captured & ~cases.failed
    ways = {"no contact": cases.figures.get("contact_count", np.ones(cases.count)) == 0}
    spare = cases.figures.get("capture_speed_margin_m_s")
    if spare is None:
        ways["not captured"] = missed
    else:  # the speed that is needed is that of the latch alone
        ways["did not reach the latch"] = np.isnan(spare)
        ways["reached the latch too slowly"] = spare < 0
        ways["reached the latch fast enough but for other contacts"] = spare >= 0
    counts: dict[str, int] = {}
    for words, holds in ways.items():
        counts[words] = int(np.sum(missed & holds))
        missed = missed & ~holds
    counts[NUMERICAL] = int(cases.failed.sum())
    return {words: count for words, count in counts.items() if count}
