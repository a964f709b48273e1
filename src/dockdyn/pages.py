"""The report of a result, whatever it is of: a run of any setup, or a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockdyn.api import scenario_of_run, scene_of, simulate, summarise
from dockdyn.report.columns import PageColumns
from dockdyn.report.notebook import Page
from dockdyn.report.page import render_page
from dockdyn.results.store import result_from, study_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import table_from
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.convergence.console import with_convergence

if TYPE_CHECKING:
    from dockdyn.dataset import Dataset, GivenDataset
    from dockdyn.report.report import Report
    from dockdyn.results.drive import Progress

# where the function is that makes the report of a study; loaded when one is asked for
STUDIES = {
    "stability": "dockdyn.studies.margins.report:margins_report",
    "envelope": "dockdyn.studies.envelope.report:envelope_report",
    "campaign": "dockdyn.studies.campaign.report:campaign_report",
    "compare": "dockdyn.rig.comparison.report:comparison_report",
}


def report_of(dataset: Dataset, summary: dict[str, Any] | None = None) -> Report:
    """Return the report of a result as data, of a run or of a study; the `summary` of a run is made where it is not given.

    Raises ScenarioError as `summarise` does.
    """
    study = study_of(dataset)
    if study is None:
        found = summarise(dataset) if summary is None else summary
        return with_convergence(setup_named(str(dataset.attrs["setup"])).report(dataset, found), dataset)
    module, _, function = STUDIES[study].partition(":")
    make: Callable[[Dataset], Report] = getattr(import_module(module), function)
    return make(dataset)


def report_html(dataset: GivenDataset | str | Path, replay: dict[str, Any] | None = None) -> Page:
    """Return the report of a result as HTML: one page that needs nothing beside it; of a run with its replay inside.

    The page is a text, which a notebook shows in a frame. `dataset` is a result, or its file. `replay` is what `replay_of`
    gives, which is asked by default, with what lets the page compute. Raises ScenarioError for what is no result.
    """
    dataset = result_from(dataset)
    if replay is not None:
        table_from("replay", replay, "what replay_of gives")
    if replay is None and study_of(dataset) is None:
        summary = summarise(dataset)
        live = live_of(dataset, summary=summary)
        return Page(render_page(report_of(dataset, summary), **replay_of(dataset), **live))
    if replay is None and study_of(dataset) == "campaign":
        return Page(render_page(report_of(dataset), **live_campaign_of(dataset)))
    if replay is None and study_of(dataset) == "stability":
        return Page(render_page(report_of(dataset), **live_margins_of(dataset)))
    return Page(render_page(report_of(dataset), **(replay or {})))


def explore(scenario: Scenario | str | Path, progress: Progress | None = None) -> Page:
    """Return the page of a scenario's run, in which its numbers can be moved: the page computes the run again as they are.

    A notebook shows it in a frame. `scenario` is one that was loaded, a file or a preset. Raises ScenarioError as `simulate`
    does, and for a run that does not end or that no page can compute.
    """
    chosen = scenario_from(scenario)
    refused = "{}: no page can compute its run again: {}; dockdyn run writes its report"
    if why := setup_named(chosen.setup).not_in_pages(chosen):
        raise ScenarioError(refused.format(chosen.name, why))
    dataset = simulate(chosen, progress)
    summary = summarise(dataset, chosen.name)
    live = live_of(dataset, chosen.folder, chosen, summary)
    if "live" not in live:
        raise ScenarioError(refused.format(chosen.name, live.get("no_live", dataset.attrs["status"])))
    replay = replay_of(dataset, chosen.folder, chosen.content)
    return Page(render_page(report_of(dataset, summary), **replay, **live))


def packed_replay(dataset: Dataset, folder: Path | None = None, content: object = None) -> dict[str, Any]:
    """Return the scene of a run for its report, with the columns that its numbers are in, and, where there is any, what it had
    to leave out.

    `content` is that of its scenario, which is read from the result where it is not given.
    """
    from dockdyn.report.scene.data import scene_data

    scene, columns = scene_of(dataset, folder, content=content), PageColumns()
    lacking = {"replay_lacks": "; ".join(scene.warnings)} if scene.warnings else {}
    return {"scene": scene_data(scene, columns), "columns": columns, **lacking}


def replay_of(dataset: Dataset, folder: Path | None = None, content: object = None) -> dict[str, Any]:
    """Return the scene of a run and what it lacks; where it cannot be made, why: its report is worth having without.

    `folder` is that of the result, beside which modules of the user's own are looked for; `content` as of `packed_replay`.
    """
    try:
        return packed_replay(dataset, folder, content)
    except Exception as error:
        return {"no_replay": f"the replay could not be made: {str(error) or type(error).__name__}"}


def replay_beside(runs: Mapping[str, Dataset], folders: Sequence[Path | None]) -> dict[str, Any]:
    """Return the scene of the first of some runs with the others as ghosts, for the page that compares them; where it cannot be
    made, why. `folders` are as of `replay_of`."""
    from dockdyn.report.scene.beside import scene_beside
    from dockdyn.report.scene.data import scene_data

    try:
        first, *others = (scene_of(dataset, folder) for dataset, folder in zip(runs.values(), folders, strict=True))
        scene = scene_beside(first, dict(zip(list(runs)[1:], others, strict=True)))
        columns = PageColumns()
        return {} if scene is None else {"scene": scene_data(scene, columns), "columns": columns}
    except Exception as error:
        return {"no_replay": f"the replay could not be made: {str(error) or type(error).__name__}"}


def live_of(
    dataset: Dataset,
    folder: Path | None = None,
    scenario: Scenario | None = None,
    summary: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what the report of a run needs to compute it again with other numbers; where it cannot, why.

    `scenario` is read from the result and `summary` made where they are not given.
    """
    if not dataset.attrs["finished"]:
        return {}
    try:
        chosen = scenario_of_run(dataset, folder) if scenario is None else scenario
        if why := setup_named(chosen.setup).not_in_pages(chosen):
            return {"no_live": why}
        from dockdyn.studies.margins.live import loop_limits

        found = summarise(dataset) if summary is None else summary
        live = setup_named(chosen.setup).live_run(chosen, found)
        return {"live": live | ({"limits": limits} if (limits := loop_limits(chosen, live)) else {})}
    except Exception as error:
        return {"no_live": f"{str(error) or type(error).__name__}"}


def live_campaign_of(dataset: Dataset, folder: str | None = None, own: Path | None = None) -> dict[str, Any]:
    """Return what the page of a campaign needs to run all its cases again, with one of them in motion; where it cannot, why.

    `folder` is what commands for single cases name, by default that of the result; modules of the user's own laws are looked
    for in the folder `own`, by default that of the scenario.
    """
    from dockdyn.report.again import reproduce_command
    from dockdyn.studies.campaign.live import LiveCampaign
    from dockdyn.studies.campaign.report import folder_of

    try:
        live = LiveCampaign(dataset, own)
        live.refuse_beyond()
        programs = live.programs()
        number, case, run, report = live.shown_case()
        inside = replay_of(run, own, case.content)
        columns = inside.setdefault("columns", PageColumns())
        data = live.data(programs, columns, reproduce_command(dataset), folder or folder_of(dataset))
        return inside | {"live": data | {"shown": number}, "case": report}
    except Exception as error:
        return {"no_live": f"{str(error) or type(error).__name__}"}


def live_margins_of(dataset: Dataset, own: Path | None = None) -> dict[str, Any]:
    """Return what the page of margins needs to judge its loop again with other numbers; where it cannot, why.

    Modules of the user's own are looked for in the folder `own`, by default that of the scenario.
    """
    from dockdyn.studies.margins.live import live_margins

    try:
        return {"live": live_margins(dataset, own)}
    except Exception as error:
        return {"no_live": f"{str(error) or type(error).__name__}"}
