"""`dockdyn check`: a scenario before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.common import (
    Force,
    NoOwnCode,
    Overrides,
    ScenarioName,
    command_line,
    read_scenario,
    say,
    vacant_file,
    with_ending,
    write_text,
)
from dockdyn.cli.progress import show_activity


def check(
    scenario: ScenarioName,
    set_: Overrides = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The page to write; by default NAME-check.html in this folder.")
    ] = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Look at a scenario before it is run.

    What overlaps, what touches first and when, masses and inertias, places and axes, what the first run costs; with the scene.
    """
    chosen = read_scenario(scenario, set_)
    page = with_ending(out, ".html") if out is not None else Path(f"{Path(scenario).stem}-check.html")
    vacant_file(page, force)
    from dockdyn.report.columns import PageColumns
    from dockdyn.report.page import render_page
    from dockdyn.report.scene.data import scene_data
    from dockdyn.report.terminal import show_report
    from dockdyn.studies.check.report import check_scenario

    with show_activity(f"Looking at {chosen.name}"):
        found = check_scenario(chosen, command_line())
    show_report(found.report)
    columns = PageColumns()
    scene = None if found.scene is None else scene_data(found.scene, columns)
    no_scene = "" if scene is not None else "the scene of this scenario is drawn after a run only"
    write_text(page, render_page(found.report, scene=scene, columns=columns, no_replay=no_scene), force)
    say(f"Scene and check: {page}")
