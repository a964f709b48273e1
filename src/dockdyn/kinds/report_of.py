"""The report that fits a result, whatever it is of."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import xarray as xr

from dockdyn.report.embedded_replay import packed_replay
from dockdyn.report.page import Measured
from dockdyn.results.store import study_of

# module in this room and its function, by study or, of a run, by kind; loaded when a report is asked for
REPORTS = {
    "stability": "stability_report.render_stability_report",
    "envelope": "envelope_report.render_envelope_report",
    "campaign": "campaign_report.render_campaign_report",
    "compare": "compare_report.render_compare_report",
    "free-flight": "report.render_report",
    "four-mass": "chains_report.render_chains_report",
    "latch": "chains_report.render_chains_report",
    "berthing": "berthing_report.render_berthing_report",
    "orbital-arm": "orbital_report.render_orbital_report",
    "rig": "rig_report.render_rig_report",
}


def report_of(dataset: xr.Dataset, measured: Measured | None = None, replay: dict[str, str] | None = None) -> str:
    """The report of a result as HTML: one page that needs nothing beside it; of a run with its `replay` inside."""
    study = study_of(dataset)
    module, function = REPORTS[study or str(dataset.attrs["kind"])].split(".")
    render: Any = getattr(importlib.import_module(f"dockdyn.report.{module}"), function)
    return (
        render(dataset)
        if study
        else render(dataset, measured=measured, **(replay_of(dataset) if replay is None else replay))
    )


def replay_of(dataset: xr.Dataset, folder: Path | None = None) -> dict[str, str]:
    """The packed replay of a run; where it cannot be made, why: its report is worth having without.

    `folder` is that of the result, beside which modules of the user's own are looked for.
    """
    try:
        return {"replay": packed_replay(dataset, folder)}
    except Exception as error:
        return {"no_replay": f"the replay could not be made: {str(error) or type(error).__name__}"}
