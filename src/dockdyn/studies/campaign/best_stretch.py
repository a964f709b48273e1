"""Where along the key that decides most the cases of a campaign succeed: the stretch of it to aim at."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from dockdyn.studies.campaign.capture_map import CELL, cell_edges
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.first_failure import Judged
from dockdyn.studies.cases.statistics import wilson_interval

FEWEST_CELLS, MOST_CELLS = 3, 10


def best_stretch(
    cases: CampaignCases, judged: Judged, sensitivity: dict[str, dict[str, dict[str, Any]]]
) -> dict[str, Any] | None:
    """Return the stretch of the key that decides most in which most cases succeed; None where none decides, or there are few.

    To succeed is to meet all requirements or, without any, to be captured; undecided cases are left out. The key is cut
    into cells; of all stretches of them it is the one whose share has the highest lower end of its interval, so that one
    with few cases is not taken for its luck. As the cases that judge it have chosen it, its share is somewhat too good.
    """
    of = "requirements" if cases.requirements else "captured"
    key = next((key for key, found in sensitivity.get(of, {}).items() if found["significant"]), None)
    if key is None:
        return None
    outcome, undecided = (
        (judged.all_met, judged.all_open) if of == "requirements" else (cases.captured, cases.undecided)
    )
    if outcome is None:
        return None
    values, held = cases.values[key][~undecided], outcome[~undecided]
    edges = cell_edges(values, int(np.clip(values.size / CELL, 1, MOST_CELLS)))
    count, good = (np.histogram(chosen, edges)[0] for chosen in (values, values[held]))
    share = np.divide(good, count, out=np.full(count.shape, np.nan), where=count > 0)
    if count.size < FEWEST_CELLS or not good.any():
        return None
    stretches = [
        (int(good[first:last].sum()), int(count[first:last].sum()), first, last)
        for first, last in combinations(range(count.size + 1), 2)
    ]
    successes, among, first, last = max(
        (one for one in stretches if one[1]), key=lambda one: float(wilson_interval(one[0], one[1])[0])
    )
    return {
        "of": of,
        "key": key,
        "unit": cases.units[key],
        "low": float(edges[first]),
        "high": float(edges[last]),
        "cases": among,
        "probability": successes / among,
        "interval_95": [float(end) for end in wilson_interval(successes, among)],
        "edges": [float(edge) for edge in edges],
        "shares": [None if np.isnan(one) else float(one) for one in share],
    }
