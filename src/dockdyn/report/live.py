"""What a page needs to run its scenario again with other numbers, and to show what changes.

Units: SI.
Source: definition.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from dockdyn.report.drawing import short_label
from dockdyn.report.verdict import worst_first
from dockdyn.report.wording import name_in_words, stated_unit
from dockdyn.results.browser_unit import TooMuch, browser_unit
from dockdyn.results.key_figures import KeyFigure, names_in_cases
from dockdyn.results.requirements import LARGEST, LEAST, figures_of, is_at_least, is_bounded

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario

MOST_STEPS = 200_000  # of a run, beyond which a page is too slow
PEAKS = (
    "peak_force_N",
    "contact.impulse_N_s",
)  # the first that is not zero is what a run without requirements is asked for


def live_data(
    scenario: Scenario, summary: dict[str, Any], figures: Collection[KeyFigure], without: Collection[str]
) -> dict[str, Any]:
    """Return the programs of a scenario and what a page says of their results, as JSON has it.

    `summary` is that of its run, `figures` are the key figures of its setup, of which those `without` meaning are left out.
    Raises TooMuch, and Untranslatable where XLA computes a part of it.
    """
    requirements = summary["requirements"]
    if (steps := summary["steps"]) > MOST_STEPS:
        raise TooMuch(f"its run takes {with_thousands(steps)} steps, which takes a page too long")
    stated = [one for one in requirements if not isinstance(one["limit"], bool)]
    told = figures_of(summary)
    return shown_run(scenario, figures, without) | {
        "stated": {
            name: float(value)
            for name, value in told.items()
            if isinstance(value, bool | int | float) and math.isfinite(value)
        },
        "requirements": [requirement_in_page(one) for one in requirements],
        "aim": worst_first(stated)[0]["figure"]
        if stated
        else next((name for name in PEAKS if told.get(name)), PEAKS[0]),
        "scattered": [key for one in scenario.dispersions for key in one.keys],
    }


def shown_run(scenario: Scenario, figures: Collection[KeyFigure], without: Collection[str]) -> dict[str, Any]:
    """Return the programs of a scenario, words for the figures that they give, and what its curves, scene and table of contacts
    need to follow a run of them. Raises as `live_data`."""
    unit = browser_unit(scenario).packed()
    return {
        "unit": unit,
        "words": {
            name: [_words(name, one), one.unit, one.number.__name__]
            for name, one in sorted(names_in_cases(figures).items(), key=lambda both: _concerns_solver(both[0]))
            if one.name not in without and f"figure.{name}" in unit["results"]
        },
        "contacts": [list(contact.between) for contact in scenario.content.contact],
        "azimuths": scenario.content.contacts_with_azimuth(),
        "labels": [short_label(contact.name) for contact in scenario.content.contact],
        "latch": next((latch.name for latch in scenario.content.latch if latch.ramp is not None), ""),
    }


def with_thousands(count: int) -> str:
    """Return a count as it is read in a text."""
    return f"{count:,}".replace(",", "\u202f")


def _concerns_solver(figure: str) -> bool:
    """Return whether a figure says how well a run was computed, and not what came of it."""
    return "error" in figure or figure.startswith(("step", "end_time"))


def _words(name: str, figure: KeyFigure) -> str:
    """Return what a figure of a case is, in words."""
    end = next((words for words, ending in (("least", LEAST), ("largest", LARGEST)) if name.endswith(ending)), "")
    return f"{end} {figure.words}".strip()


def requirement_in_page(judged: dict[str, Any]) -> dict[str, Any]:
    """Return a requirement for a page: with the unit in which its limit was written, and how much of SI that is."""
    kept = {key: judged[key] for key in ("name", "figure", "relation", "limit")}
    kept["words"] = name_in_words(judged["name"])
    stated = "" if isinstance(judged["limit"], bool) else judged.get("text") or ""
    written, scale = stated_unit(judged["unit"], stated)
    return kept | {
        "words": name_in_words(judged["name"]),
        "si": judged["unit"],
        "unit": written,
        "scale": scale,
        "bounded": is_bounded(judged["figure"]),
        "least": is_at_least(judged["figure"]),
    }
