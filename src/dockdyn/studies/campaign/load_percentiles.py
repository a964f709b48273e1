"""Percentiles of the loads of a campaign: its figures in N and N m but those of errors, with how sure they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.mechanism.named_points import NOTHING as NO_LOAD
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, format_significant
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.cases.statistics import percentile_interval

SHARES = (0.5, 0.95, 0.99)
LOADS = ("N", "N m")  # units
ERROR = "error"  # a word in the name of a figure that says by how much another is off, as peak_force_error_N
SLACK = 1e-6  # of `NO_LOAD`, by which smoothed loads are rounded


def load_percentiles(dataset: Dataset) -> list[dict[str, Any]]:
    """Return of each load of a campaign its percentiles over the cases that have it and did not fail, with 95 % intervals, the
    largest, and the case that has it; loads up to `NO_LOAD` are 0. Raises ScenarioError for a campaign without loads."""
    ended = np.array([not reason for reason in dataset["reason"].values], bool)  # what failed was stopped at some load
    found = []
    for name in json.loads(dataset.attrs["figures"]):
        array = dataset[name]
        if array.attrs.get("units") not in LOADS or ERROR in name.split("_"):
            continue
        values = np.asarray(array.values, float)
        values = np.where(np.abs(values) <= (1 + SLACK) * NO_LOAD, 0.0, values)
        known = np.isfinite(values) & ended
        if not known.any():
            continue
        ordered, shares = np.sort(values[known]), []
        for share in SHARES:
            low, high = percentile_interval(ordered, share)
            value = float(np.quantile(ordered, share))
            shares.append({"share": share, "value": value, "least": low, "most": high})
        worst = int(np.argmax(np.where(known, values, -np.inf)))
        found.append(
            {
                "load": name,
                "unit": array.attrs["units"],
                "cases": int(known.sum()),
                "percentiles": shares,
                "largest": float(values[worst]),
                "case": int(dataset["case"].values[worst]),
            }
        )
    if not found:
        raise ScenarioError("no loads: the campaign has no figure in N or N m; state one as a requirement, and run it")
    return found


def percentiles_report(dataset: Dataset, answer: list[dict[str, Any]]) -> Report:
    """Return what the terminal shows of them."""
    rows = [
        [
            one["load"],
            str(one["cases"]),
            *(format_significant(share["value"], 4) for share in one["percentiles"]),
            _at_most(one["percentiles"][-1]["most"]),
            format_significant(one["largest"], 4),
            str(one["case"]),
        ]
        for one in answer
    ]
    heads = [(f"{100 * share:g} %", "") for share in SHARES]
    last = f"{100 * SHARES[-1]:g} % at most"
    table = Table([("load", ""), ("cases", ""), *heads, (last, ""), ("largest", ""), ("in case", "")], rows, worded={0})
    title = str(dataset.attrs["title"])
    words = (
        "Percentiles of loads over the cases that have each; at most: with 97.5 % confidence, a dash where so few cases cannot "
        "say."
    )
    blocks = [ReportBlock("", table=table)]
    return Report(title=title, verdict=words, blocks=blocks, terminal=[title, words, *blocks])


def _at_most(end: float | None) -> str:
    return NOTHING if end is None else format_significant(end, 4)
