"""`dockdyn explore`: a scenario's numbers to move in the browser."""

from __future__ import annotations

from dockdyn.cli.browser import Host, Html, Port, Showing
from dockdyn.cli.common import (
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    ScenarioName,
    explained_by_numbers,
    read_scenario,
    show_progress,
)


def explore(
    scenario: ScenarioName,
    set_: Overrides = None,
    html: Html = None,
    port: Port = None,
    host: Host = None,
    force: Force = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
) -> None:
    """Move a scenario's numbers in the browser.

    The page computes the run again as they are moved, until Ctrl-C; or, with --html, as a page to pass on.
    """
    chosen = read_scenario(scenario, set_)
    showing = Showing.of(html, host, port, force)
    from dockdyn.pages import explore

    with explained_by_numbers(chosen), show_progress(f"Simulating {chosen.name}", quiet) as advance:
        page = explore(chosen, advance)
    showing.show(page, "Explore")
