"""The cases of a campaign as arrays: what was varied, what became of it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Bool, Float
from dockdyn.records import record
from dockdyn.results.outcome import undecided_cases
from dockdyn.results.requirements import limit_of, resolve_figure, unit_of_figure, with_lists
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.requirement import requirements_of
from dockdyn.scenario.language.toml_text import data_of

NEEDED = ("campaign", "setup", "title", "scenario", "dispersed", "figures")
OF_THE_SOLVER = ("steps", "step_s", "end_time_s", "wall_time_s", "approach_left_s")  # of which nobody asks percentiles
LOADS = ("N", "N s", "N m", "N m s")  # units of them


@record
class Required:
    """A requirement on a figure of the campaign."""

    name: str  # as the scenario has it
    figure: str  # in full; as the scenario has it where no case has the figure
    relation: str
    limit: bool | float  # in the figure's unit; NaN where no case has the figure
    unit: str
    text: str  # relation and limit as written


@record
class CampaignCases:
    """Arrays over the cases of a campaign. Figures of cases that failed are NaN: they are those of a part of a run."""

    number: np.ndarray  # of each case
    values: dict[str, Float[np.ndarray, "cases"]]  # of the varied keys (SI)
    figures: dict[str, Float[np.ndarray, "cases"]]  # by key of the summary; NaN: did not happen; true and false 1 and 0
    units: dict[str, str]  # of keys and figures
    names: dict[str, str]  # of keys and figures, in words
    reasons: list[str]  # why a case failed; empty where it did not
    requirements: tuple[Required, ...]
    attributes: dict[str, Any]

    @property
    def count(self) -> int:
        return len(self.reasons)

    @property
    def failed(self) -> Bool[np.ndarray, "cases"]:
        return np.array([bool(reason) for reason in self.reasons], dtype=bool)

    @property
    def undecided(self) -> Bool[np.ndarray, "cases"]:
        """Which cases end while their outcome is open."""
        return undecided_cases(self.figures, self.count)

    @property
    def captured(self) -> Bool[np.ndarray, "cases"] | None:
        """Which cases were captured, failed and undecided ones not; None where nothing could capture."""
        figure = self.figures.get("captured")
        ran = ~self.failed
        return None if figure is None or (ran.any() and np.isnan(figure[ran]).all()) else figure == 1

    def yes_or_no(self, name: str) -> bool:
        """Return whether a figure is true or false."""
        known = self.figures[name][np.isfinite(self.figures[name])]
        counted = self.units[name] or name.endswith("count") or name in OF_THE_SOLVER
        return not counted and bool(np.isin(known, (0.0, 1.0)).all())

    @property
    def measured(self) -> list[str]:
        """Figures that are numbers with percentiles worth knowing: loads first, forces before impulses and moments."""
        found = [
            name
            for name, values in self.figures.items()
            if np.isfinite(values).any()
            and not (self.yes_or_no(name) or name in OF_THE_SOLVER or name.endswith("_error"))
        ]
        return sorted(found, key=lambda name: (_load_rank(name), list(self.figures).index(name)))

    @property
    def peak_force(self) -> str | None:
        """The name of the figure that is the largest force, if there is one."""
        forces = [name for name in self.measured if _load_rank(name) == 0]
        return "peak_force_N" if "peak_force_N" in forces else next(iter(forces), None)

    def check_key(self, key: str) -> str:
        """Return `key`, which must have been varied."""
        if key not in self.values:
            raise ScenarioError(f"{key}: was not varied in this campaign; {nearest(key, list(self.values))}")
        return key


def _load_rank(name: str) -> int:
    """Return where a figure stands among loads: 0 a largest force, then others by kind; behind them what is no load."""
    unit = unit_of_figure(name)
    if unit not in LOADS:
        return len(LOADS)
    return LOADS.index(unit) if unit != "N" or ("peak" in name and "error" not in name) else 1


def campaign_cases(dataset: Dataset) -> CampaignCases:
    """Return the arrays of a campaign's dataset. Raises `ScenarioError` where it is another one's."""
    missing = [name for name in NEEDED if name not in dataset.attrs] + ["reason"] * ("reason" not in dataset)
    if missing or "case" not in dataset.dims:
        what = missing[0] if missing else "case"
        raise ScenarioError(f"not the dataset of a campaign: it has no {what!r}")
    keys, names = json.loads(dataset.attrs["dispersed"]), json.loads(dataset.attrs["figures"])
    absent = [name for name in (*keys, *names) if name not in dataset]
    if absent:
        raise ScenarioError(f"not the dataset of a campaign: it has no {absent[0]!r}")
    if not dataset.sizes["case"]:
        raise ScenarioError("the campaign has no cases yet")
    reasons = [str(reason) for reason in dataset.reason.values]
    fine = np.array([not reason for reason in reasons])
    figures = {name: np.where(fine, dataset[name].values.astype(float), np.nan) for name in names}
    described = {name: dataset[name].attrs for name in (*keys, *names)}
    return CampaignCases(
        number=dataset["case"].values,
        values={key: dataset[key].values.astype(float) for key in keys},
        figures=figures,
        units={name: plain_unit(str(given.get("units", ""))) for name, given in described.items()},
        names={name: str(given.get("long_name", name)) for name, given in described.items()},
        reasons=reasons,
        requirements=limits_of_cases(str(dataset.attrs["scenario"]), figures),
        attributes=dict(dataset.attrs),
    )


def plain_unit(unit: str) -> str:
    """Return a unit as it is printed."""
    return "" if unit == "1" else unit.replace("**", "^").replace("*", " ")


def limits_of_cases(scenario: str, figures: dict[str, Float[np.ndarray, "cases"]]) -> tuple[Required, ...]:
    """Return the requirements of a scenario's text on the figures of cases. Raises `ScenarioError` for a limit of another unit.

    Of the text no more is read, so that a law of the user's own, which may no longer be there, is not needed.
    """
    table = data_of(scenario, "campaign: scenario").get("requirements", {})
    found, offered = [], with_lists(figures)
    for one in requirements_of(table, "campaign"):
        where = f"campaign: requirements.{one.name}"
        try:
            figure = resolve_figure(one.figure, offered, where)
        except ScenarioError:
            found.append(Required(one.name, one.figure, one.relation, np.nan, "", one.text))
            continue
        unit = unit_of_figure(figure)
        limit = limit_of(one, figure, unit, offered[figure].ravel().tolist(), where)
        found.append(Required(one.name, figure, one.relation, limit, unit, one.text))
    return tuple(found)
