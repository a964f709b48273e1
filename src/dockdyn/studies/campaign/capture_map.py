"""A campaign over two of its keys: how probable capture is where."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.deferred import Float, Int
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.first_failure import Judged
from dockdyn.studies.campaign.influence import influence_of_keys

CELL = 12  # cases in a cell, on average, at least
MOST_CELLS = 28  # along a side
SCATTERED = 400  # cases that are shown one by one, rather than by cells


@record
class CaptureMap:
    """Cells over two keys, or one, and what is known in each."""

    keys: tuple[str, ...]
    of: str  # "captured", "requirements", or the name of a figure whose mean is shown
    outcome: Float[np.ndarray, "cases"]  # case by case; NaN where it is not decided
    edges: tuple[Float[np.ndarray, "_"], ...]  # of the cells, by key
    cases: Int[np.ndarray, "..."]  # in each cell; the first axis is that of the first key
    mean: Float[np.ndarray, "..."]  # of the outcome in each cell, NaN where there are no cases

    @property
    def scattered(self) -> bool:
        """Whether cases are few enough to show each."""
        return self.outcome.size <= SCATTERED


def outcome_of(cases: CampaignCases, judged: Judged) -> tuple[str, Float[np.ndarray, "cases"]] | None:
    """Return what a campaign is judged by: capture where it is possible, requirements, or the largest force."""
    if cases.captured is not None:
        return "captured", np.where(cases.undecided, np.nan, cases.captured)
    if cases.requirements:
        return "requirements", np.where(judged.all_open, np.nan, judged.all_met)
    return (cases.peak_force, cases.figures[cases.peak_force]) if cases.peak_force else None


def capture_map(cases: CampaignCases, judged: Judged, keys: Sequence[str] | None = None) -> CaptureMap | None:
    """Return the map over two keys, by default those that decide most; None where there is nothing to map.

    Raises `ScenarioError` for a key that was not varied.
    """
    chosen = [cases.check_key(key) for key in keys] if keys else []
    if chosen and (len(chosen) > 2 or len(set(chosen)) < len(chosen)):
        raise ScenarioError(f"a map of {', '.join(chosen)}: must be over two different keys")
    found = outcome_of(cases, judged)
    spread = {key: values for key, values in cases.values.items() if np.ptp(values) > 0}
    if found is None or not spread:
        return None
    name, outcome = found
    by_influence = influence_of_keys(spread, outcome) or spread
    pair = tuple(chosen or sorted(list(by_influence)[:2], key=list(cases.values).index))
    known = np.isfinite(outcome)
    places = [cases.values[key][known] for key in pair]
    edges = tuple(cell_edges(cases.values[key], _cells_a_side(cases.count, len(pair))) for key in pair)
    counts, _ = np.histogramdd(places, bins=list(edges))
    sums, _ = np.histogramdd(places, bins=list(edges), weights=outcome[known])
    mean = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return CaptureMap(pair, name, outcome, edges, counts.astype(int), mean)


def _cells_a_side(count: int, sides: int) -> int:
    """Return so many that a cell has cases enough to tell a share."""
    return int(np.clip((count / CELL) ** (1 / max(sides, 1)), 1, MOST_CELLS))


def cell_edges(values: Float[np.ndarray, "cases"], most: int) -> Float[np.ndarray, "_"]:
    """Return edges of cells along a key: evenly spaced, or between values where they are few."""
    distinct = np.unique(values)
    if distinct.size <= most:
        middle = (distinct[1:] + distinct[:-1]) / 2
        half = float(np.diff(distinct).min()) / 2 if distinct.size > 1 else 0.5 * (abs(float(distinct[0])) or 1.0)
        return np.concatenate([[distinct[0] - half], middle, [distinct[-1] + half]])
    return np.linspace(distinct[0], distinct[-1], most + 1)
