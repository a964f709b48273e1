"""The cases of a campaign as arrays: what was varied, what became of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from dockdyn.scenario.errors import ScenarioError, nearest
from dockdyn.scenario.load import parse

NEEDED = ("campaign", "kind", "title", "scenario", "dispersed", "figures")
OF_THE_SOLVER = ("steps", "step_s", "end_time_s", "wall_time_s")  # figures that no engineer asks percentiles of
FORCES = ("N", "N_s", "N_m", "N_m_s")  # suffixes of loads


@dataclass(frozen=True)
class CampaignCases:
    """Arrays over the cases of a campaign. Figures of cases that failed are NaN: they are those of a part of a run."""

    number: np.ndarray  # of each case
    values: dict[str, Float[np.ndarray, "cases"]]  # of the varied keys (SI); texts by their place in `texts`
    texts: dict[str, list[str]]  # of keys whose values are texts
    figures: dict[str, Float[np.ndarray, "cases"]]  # by key of the summary; NaN: did not happen; true and false 1 and 0
    units: dict[str, str]  # of keys and figures
    names: dict[str, str]  # of keys and figures, in words
    reasons: list[str]  # why a case failed; empty where it did not
    requirements: tuple[Any, ...]
    attributes: dict[str, Any]

    @property
    def count(self) -> int:
        return len(self.reasons)

    @property
    def failed(self) -> Bool[np.ndarray, "cases"]:
        return np.array([bool(reason) for reason in self.reasons], dtype=bool)

    @property
    def captured(self) -> Bool[np.ndarray, "cases"] | None:
        """Which cases were captured, failed ones not; None where nothing could capture."""
        figure = self.figures.get("captured")
        return None if figure is None or np.isnan(figure).all() else figure == 1

    def yes_or_no(self, name: str) -> bool:
        """Whether a figure is true or false."""
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
        return sorted(found, key=lambda name: (load_rank(name), list(self.figures).index(name)))

    @property
    def peak_force(self) -> str | None:
        """The name of the figure that is the largest force, if there is one."""
        forces = [name for name in self.measured if load_rank(name) == 0]
        return "peak_normal_force_N" if "peak_normal_force_N" in forces else next(iter(forces), None)

    def check_key(self, key: str) -> str:
        """`key`, which must have been varied."""
        if key not in self.values:
            raise ScenarioError(f"{key}: was not varied in this campaign; {nearest(key, list(self.values))}")
        return key


def load_rank(name: str) -> int:
    """Where a figure stands among loads: 0 a largest force, then others by kind; behind them what is no load."""
    tail = max((suffix for suffix in FORCES if name.endswith(f"_{suffix}")), key=len, default="")
    if not tail:
        return len(FORCES)
    return FORCES.index(tail) if tail != "N" or name.startswith("peak_") else 1


def campaign_cases(dataset: xr.Dataset) -> CampaignCases:
    """The arrays of a campaign's dataset. Raises `ScenarioError` where it is another one's."""
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
    values, texts = {}, {}
    for key in keys:
        given = dataset[key].values
        if given.dtype.kind in "OUS":
            distinct, given = np.unique(given.astype(str), return_inverse=True)
            texts[key] = distinct.tolist()
        values[key] = given.astype(float)
    described = {name: dataset[name].attrs for name in (*keys, *names)}
    return CampaignCases(
        number=dataset["case"].values,
        values=values,
        texts=texts,
        figures={name: np.where(fine, dataset[name].values.astype(float), np.nan) for name in names},
        units={name: plain_unit(str(given.get("units", ""))) for name, given in described.items()},
        names={name: str(given.get("long_name", name)) for name, given in described.items()},
        reasons=reasons,
        requirements=requirements_of(dataset),
        attributes=dict(dataset.attrs),
    )


def plain_unit(unit: str) -> str:
    """A unit as it is printed."""
    return "" if unit == "1" else unit.replace("**", "^").replace("*", " ")


def requirements_of(dataset: xr.Dataset) -> tuple[Any, ...]:
    """What the scenario requires; nothing where a law of the user's own in it can no longer be imported."""
    try:
        return tuple(getattr(parse(dataset.attrs["scenario"], "campaign"), "requirements", ()))
    except ScenarioError:
        return ()
