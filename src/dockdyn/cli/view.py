"""`dockdyn view`: the replay of a run, served to a browser or written as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dockdyn.cli.browser import Host, Html, Port, Showing
from dockdyn.cli.common import Force, NoOwnCode, say


def view(
    result: Annotated[Path, typer.Argument(help="The result.nc of a run.")],
    html: Html = None,
    port: Port = None,
    host: Host = None,
    force: Force = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Replay a run in the browser.

    Bodies and forces, until Ctrl-C; or, with --html, as a page to pass on.
    """
    from dockdyn.api import scene_of
    from dockdyn.results.store import as_written, open_result, result_in

    result = result_in(result)
    showing = Showing.of(html, host, port, force, result)
    with as_written(result):
        scene = scene_of(open_result(result), result.parent, str(result))
    for words in scene.warnings:
        say(f"warning: {words}", err=True)
    from dockdyn.report.scene.page import page_of

    showing.show(page_of(scene), "Replay")
