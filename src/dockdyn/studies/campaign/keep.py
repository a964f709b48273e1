"""Which cases of a campaign are kept with their whole motion."""

from __future__ import annotations

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.units import whole_number
from dockdyn.studies.campaign.answers import worst_first
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.first_failure import judge_cases

WAYS = ("worst", "random")


def parse_keep(text: str | None) -> dict[str, int]:
    """Return `worst:10,random:5` as how many of each; ScenarioError otherwise."""
    found: dict[str, int] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        way, colon, count = (piece.strip() for piece in part.partition(":"))
        if way not in WAYS:
            raise ScenarioError(f"--keep {text}: {way!r}: {nearest(way, WAYS)}")
        number = whole_number(count)
        if not colon or number is None:
            raise ScenarioError(f"--keep {text}: must be worst:N, random:N or both, separated by a comma")
        found[way] = number
    return found


def chosen_cases(dataset: Dataset, keep: dict[str, int]) -> list[int]:
    """Return numbers of the cases to keep: the worst of a campaign, and some at random, the same ones every time."""
    cases = campaign_cases(dataset)
    worst = worst_first(cases, judge_cases(cases))[: keep.get("worst", 0)]
    others = np.random.default_rng(int(dataset.attrs["seed"])).permutation(cases.count)[: keep.get("random", 0)]
    return list(dict.fromkeys(int(cases.number[place]) for place in (*worst, *others)))
