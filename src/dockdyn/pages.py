"""The report of a result, whatever it is of: a run of any kind, or a study."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockdyn.api import replay_html, summarise
from dockdyn.report.embedded_replay import packed
from dockdyn.results.store import study_of
from dockdyn.scenario.kinds import kind_named

if TYPE_CHECKING:
    import xarray as xr

    from dockdyn.report.page import Measured

# where the function is that makes the report of a study; loaded when one is asked for
STUDIES = {
    "stability": "dockdyn.studies.margins.report:render_stability_report",
    "envelope": "dockdyn.studies.envelope.report:render_envelope_report",
    "campaign": "dockdyn.studies.campaign.report:render_campaign_report",
    "compare": "dockdyn.kinds.rig.compare_report:render_compare_report",
}


def report_html(dataset: xr.Dataset, measured: Measured | None = None, replay: dict[str, str] | None = None) -> str:
    """The report of a result as HTML: one page that needs nothing beside it; of a run with its replay inside.

    `measured` is what a log says of the run, `replay` what `replay_of` gives, which is asked by default.
    """
    study = study_of(dataset)
    if study:
        module, _, function = STUDIES[study].partition(":")
        render: Any = getattr(import_module(module), function)
        return render(dataset)
    inside = replay_of(dataset) if replay is None else replay
    return kind_named(str(dataset.attrs["kind"])).report(dataset, summarise(dataset), measured=measured, **inside)


def packed_replay(dataset: xr.Dataset, folder: Path | None = None) -> str:
    """The replay of a run, packed for its report."""
    return packed(replay_html(dataset, folder))


def replay_of(dataset: xr.Dataset, folder: Path | None = None) -> dict[str, str]:
    """The packed replay of a run; where it cannot be made, why: its report is worth having without.

    `folder` is that of the result, beside which modules of the user's own are looked for.
    """
    try:
        return {"replay": packed_replay(dataset, folder)}
    except Exception as error:
        return {"no_replay": f"the replay could not be made: {str(error) or type(error).__name__}"}
