"""What the page of a run on a rig needs to run it again: with other numbers, and without its compensator.

Units: SI.
Source: definition.
"""

from __future__ import annotations

import math
from typing import Any

from dockdyn.report.charts.chart import Source
from dockdyn.report.live import requirement_in_page
from dockdyn.results.browser_unit import TooMuch
from dockdyn.results.requirements import figures_of, unit_of_figure
from dockdyn.rig.browser_unit import rig_unit_of_page, with_stated_compensator
from dockdyn.rig.first_screen import BOUNCE, FORCE, GAINS_UNJUDGED, LEADS, SWING, WITHOUT, law_in_words
from dockdyn.rig.scene import shown_forces
from dockdyn.rig.summary import MEASURES
from dockdyn.scenario.load import Scenario


def live_rig_data(scenario: Scenario, summary: dict[str, Any]) -> dict[str, Any]:
    """Return the programs of a rig and what a page says of their results, as JSON has it.

    `summary` is that of its run. Raises TooMuch, and Untranslatable where XLA computes a part of it.
    """
    stated, tuned = with_stated_compensator(scenario)
    unit, told = rig_unit_of_page(stated), figures_of(summary)
    known = {name for name in told if f"figure.{name}" in unit["results"]}
    if absent := [one["figure"] for one in summary["requirements"] if one["figure"] not in known]:
        raise TooMuch(f"{absent[0]}, which is required, is no figure that a page computes of a rig")
    axes = unit["results"]["contact_force"][2][-1]
    force = Source([("contact_force", axis, 1.0) for axis in range(axes)], size=True)
    return {
        "unit": unit,
        "touches": None if unit["bilateral"] else vars(force),
        "unjudged": True,
        "settled": [f"{key}={value!r}" for key, value in tuned.items()],
        "words": {key: [words, unit_of_figure(key), "float"] for words, key, *_ in MEASURES if key in known},
        "leads": [[dict(holds), words] for holds, words in LEADS],
        "laws": [WITHOUT, law_in_words(summary)],
        "unsaid": GAINS_UNJUDGED if summary["gain_range_stable"] else "",
        "contacts": [],
        "azimuths": [],
        "labels": [],
        "latch": "",
        "forces": shown_forces(scenario.content),
        "stated": {
            name: float(told[name])
            for name in sorted(known)
            if isinstance(told[name], int | float) and math.isfinite(told[name])
        },
        "requirements": [requirement_in_page(one) for one in summary["requirements"]],
        "aim": next((name for name in headline_figures(summary) if name in known), FORCE),
        "scattered": [key for one in scenario.dispersions for key in one.keys],
    }


def headline_figures(summary: dict[str, Any]) -> list[str]:
    """Return the figure that counts on a rig, the first that its run has: of the bounce, or of the swing."""
    bounces = summary["phase_error_rad"] is None and summary[BOUNCE] is not None
    return [BOUNCE] if bounces else [SWING] if summary[SWING] is not None else []
