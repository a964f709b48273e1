"""Many cases of one scenario: a row of figures each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.study.simulate import simulate
from dockdyn.study.summarise import summarise

LEFT_OUT = ("wall_time_s",)  # what differs between two runs of one case


@dataclass(frozen=True)
class Cases:
    """What became of some cases."""

    figures: dict[str, Float[np.ndarray, "cases"]]  # by key of the summary; NaN: none; true and false are 1 and 0
    reasons: list[str]  # why a case failed; empty where it did not


def run_cases(scenario: Scenario, keys: Sequence[str], values: Float[np.ndarray, "cases keys"]) -> Cases:
    """Run a scenario once for every row of `values`, its dotted `keys` set to the numbers (SI) of the row.

    A case that fails, because its numbers are not allowed or its run stops early, does not stop the rest.
    """
    rows = [run_case(scenario, dict(zip(keys, row, strict=True))) for row in values.tolist()]
    names = list(dict.fromkeys(name for figures, _ in rows for name in figures))
    figures = {name: np.array([row.get(name, np.nan) for row, _ in rows]) for name in names}
    return Cases(figures, [reason for _, reason in rows])


def run_case(scenario: Scenario, values: Mapping[str, Any]) -> tuple[dict[str, float], str]:
    """Figures of one case, and why it failed if it did."""
    try:
        dataset = simulate(scenario.at(values))
    except ScenarioError as error:
        return {}, str(error)
    return figures_of(summarise(dataset)), "" if dataset.attrs["finished"] else str(dataset.attrs["status"])


def figures_of(summary: Mapping[str, Any], prefix: str = "") -> dict[str, float]:
    """The single numbers of a summary, those of tables inside it by dotted names; None is NaN."""
    found: dict[str, float] = {}
    for name, value in summary.items():
        if isinstance(value, dict):
            found |= figures_of(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, bool | int | float):
            found[prefix + name] = np.nan if value is None else float(value)
    return {name: value for name, value in found.items() if name not in LEFT_OUT}
