"""`dockdyn campaign`: many cases of a scenario with distributions, what they say, and any of them by itself."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dockdyn.cli.common import (
    Anew,
    Force,
    NoOwnCode,
    Overrides,
    Quiet,
    Refusal,
    Resume,
    ScenarioName,
    Scheduler,
    Trust,
    Workers,
    cluster_workers,
    describe_contents,
    echo_json,
    help_example,
    read_scenario,
    refuse_occupied,
    report_interruption,
    resume_command,
    say,
    show_progress,
    study_name,
    tell_unusual_numbers,
    to_resume,
    vacant_file,
    writing_into,
)
from dockdyn.cli.progress import WATCH, show_activity
from dockdyn.cli.results import KnownRun, NoLive, write_files
from dockdyn.files import write_file

if TYPE_CHECKING:
    from dockdyn.report.report import Report
    from dockdyn.scenario.load import Scenario
    from dockdyn.studies.campaign.store import Campaign, Store

app = typer.Typer(
    help="Run thousands of cases and say what comes of them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

EVERY = 10  # s between lines of progress where there is no terminal
PATIENT = 3.0  # s in which nothing is told of what begins

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answers as JSON and nothing else.")]


@app.command("run", epilog=help_example("dockdyn campaign run idss-probe-cone --runs 1000 --out idss"))
def run(
    scenario: ScenarioName,
    runs: Annotated[int | None, typer.Option("--runs", metavar="N", min=1, help="How many cases.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="What the cases are drawn from.")] = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; by default NAME-campaign.")] = None,
    resume: Resume = False,
    force: Anew = False,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="worst:N,random:N", help="Cases whose motion and report are kept, too."),
    ] = None,
    set_: Overrides = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
    trust: Trust = False,
    no_live: NoLive = False,
) -> None:
    """Run a campaign.

    Writes its cases and campaign-report.html into a folder and prints what they say.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.studies.campaign.conduct import compute_in_process, on_workers, plan_campaign, run_campaign
    from dockdyn.studies.campaign.keep import parse_keep
    from dockdyn.studies.campaign.store import Store

    kept = parse_keep(keep)
    tell_unusual_numbers(chosen)
    store = Store(out if out is not None else Path(f"{study_name(scenario)}-campaign"))
    planned = plan_campaign(chosen, runs, seed)
    with claim_folder(store):
        campaign = _campaign_to_run(store, planned, resume, force)
        with (
            show_activity(f"Campaign of {chosen.name}"),
            report_interruption(lambda: _describe_kept(store, campaign)),
            cluster_workers(workers, scheduler) as spread,
        ):
            missing = store.missing(campaign)
            if missing:
                campaign = _run_nominal(chosen, campaign, store.blank(), quiet)
            _write_campaign(store, campaign)
            if missing:
                with _show_count(chosen.name, campaign.runs, quiet) as tell:
                    run_campaign(campaign, store, compute_in_process if spread is None else on_workers(spread), tell)
            elif not store.whole.exists():
                store.finish(campaign)
            if kept:
                _keep_cases(store, campaign, kept, quiet)
            written = _write_report(store, as_json, live=not no_live)
    print_answer(written, store)


@app.command("rerun", epilog=help_example("dockdyn campaign rerun idss 669"))
def rerun(
    folder: Folder,
    case: Annotated[int, typer.Argument(metavar="CASE", help="The number of a case.")],
    out: Annotated[Path | None, typer.Option("--out", help="Folder; by default DIR/cases/CASE.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
    trust: Trust = False,
) -> None:
    """Run one case of a campaign by itself.

    Writes its result.nc, scenario.toml and report.html.
    """
    from dockdyn.studies.campaign.conduct import changes_since
    from dockdyn.studies.campaign.store import Store

    store = Store(folder)
    campaign = store.campaign()
    place = out if out is not None else store.case(case)
    scenario = _case_scenario(campaign, case)
    for words in changes_since(campaign):
        say(f"warning: {folder}: the case may not be that of the campaign: {words}", err=True)
    refuse_occupied(place, force)
    _case_result(scenario, place, quiet, show=True)
    say(f"Report: {place / 'report.html'}")


@app.command(
    "report",
    epilog=help_example(
        "dockdyn campaign report idss \\", "    --map approach.closing_speed,approach.lateral_velocity.0"
    ),
)
def report(
    folder: Folder,
    map_: Annotated[
        str | None, typer.Option("--map", metavar="KEY,KEY", help="The two keys of the capture map.")
    ] = None,
    as_json: AsJson = False,
    no_own_code: NoOwnCode = False,
    no_live: NoLive = False,
) -> None:
    """Write a campaign's report again.

    Also of one that is not finished; prints what it says.
    """
    from dockdyn.studies.campaign.store import Store

    keys = None if map_ is None else tuple(key.strip() for key in map_.split(","))
    if keys is not None and len(keys) != 2:
        raise Refusal(f"--map {map_}: must be two keys, KEY,KEY")
    store = Store(folder)
    print_answer(_write_report(store, as_json, keys, live=not no_live), store)


@contextlib.contextmanager
def claim_folder(store: Store) -> Iterator[None]:
    """Claim the folder for this process alone; refuses one that holds something else than a campaign, or cannot be written
    to."""
    if not store.blank() and not (store.index.exists() or store.copy.exists()):
        raise Refusal(f"{store.folder}: holds no campaign but {describe_contents(store.folder)}; give another --out")
    with contextlib.ExitStack() as stack:
        with writing_into(store.folder):
            stack.enter_context(store.claimed())
        yield


def _campaign_to_run(store: Store, campaign: Campaign, resume: bool, force: bool) -> Campaign:
    """Return the campaign to run: a new one, also in the place of the one in the folder, or that one, to go on with."""
    from dockdyn.studies.campaign.conduct import resume_campaign

    if store.blank():
        return campaign
    if to_resume(store.folder, resume, force):
        return resume_campaign(store, campaign, lambda words: say(f"warning: {words}", err=True))
    store.clear()
    return campaign


def _run_nominal(chosen: Scenario, campaign: Campaign, new: bool, quiet: bool) -> Campaign:
    """Run the nominal case of a campaign, and tell so; a `new` one has chunks that fit how long a case takes."""
    from dockdyn.studies.campaign.conduct import SLOW, pace_chunks, run_nominal

    words = "note: compiling, and running the nominal case; no case is kept yet"
    told = threading.Timer(PATIENT, say, (words,), {"err": True})
    told.daemon = True
    if not quiet:
        told.start()
    try:
        with show_activity(f"Running the nominal case of {chosen.name}"):
            seconds = run_nominal(chosen, campaign)
    finally:
        told.cancel()
    found = pace_chunks(campaign, seconds) if new else campaign
    if seconds > SLOW and not quiet:
        about = f"the longer of the nominal case and the first one takes {seconds:.2g} s, others may take more or less"
        say(f"note: {about}; they are told and kept {chunks_in_words(found.chunk)}", err=True)
    return found


def chunks_in_words(chunk: int) -> str:
    """Return how many cases are kept at once."""
    return "one by one" if chunk == 1 else f"in chunks of {chunk}"


def _write_campaign(store: Store, campaign: Campaign) -> None:
    """Write what the campaign is."""
    with writing_into(store.folder):
        store.create(campaign)


def _describe_kept(store: Store, campaign: Campaign) -> str:
    """Return in words what is kept, and how to go on."""
    there = campaign if store.blank() else store.campaign()  # whose chunks may be smaller
    done = there.runs - sum(there.part(chunk)[1] for chunk in store.missing(there))
    again = resume_command()
    return f"{done} of {campaign.runs} cases are kept; go on with: {again}"


@contextlib.contextmanager
def _show_count(name: str, runs: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Show progress with rate and time left: a bar on a terminal, else, for a log, a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if quiet or not sys.stderr.isatty():
        with show_activity(f"Running the cases of {name}"):
            yield (lambda done: None) if quiet else ProgressLines(runs).tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    shown = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    with WATCH.bar(), shown as bar:
        task = bar.add_task("Compiling", total=runs, rate="")
        lines = ProgressLines(runs)

        def tell(done: int) -> None:
            bar.update(task, description="Cases", completed=done, rate=lines.rate(done))

        yield tell


class ProgressLines:
    """Progress in lines."""

    def __init__(self, runs: int):
        self.runs = runs
        self.began: tuple[float, int] | None = None  # when, and how many cases were done by then
        self.told = 0.0

    def rate(self, done: int) -> str:
        """Return cases a second since the first call."""
        now = time.monotonic()
        if self.began is None:
            self.began = now, done
        elapsed, fresh = now - self.began[0], done - self.began[1]
        return f"{fresh / elapsed:.3g} a second" if fresh and elapsed > 0 else ""

    def tell(self, done: int) -> None:
        rate = self.rate(done)
        now = time.monotonic()
        if now - self.told < EVERY or not rate:
            return
        self.told = now
        assert self.began is not None
        left = (self.runs - done) * (now - self.began[0]) / (done - self.began[1])
        say(f"{done} of {self.runs} cases, {rate}, {left:.0f} s left", err=True)


def _write_report(
    store: Store, as_json: bool, map_keys: Sequence[str] | None = None, live: bool = True
) -> dict[str, Any] | Report:
    """Write the report of a campaign, which computes where it is `live`; return it, or its answers to print as JSON."""
    from dockdyn.pages import live_campaign_of
    from dockdyn.report.page import render_page
    from dockdyn.results.store import as_written
    from dockdyn.studies.campaign.answers import campaign_answers
    from dockdyn.studies.campaign.report import campaign_report
    from dockdyn.studies.campaign.store import REPORT

    file, campaign = store.folder / REPORT, store.campaign()
    vacant_file(file, force=True)
    with as_written(store.folder), show_activity(f"Writing {file}"):
        dataset = store.read(campaign)
        report = campaign_report(dataset, map_keys, str(store.folder))
        own = None if campaign.folder is None else Path(campaign.folder)
        page = render_page(report, **(live_campaign_of(dataset, str(store.folder), own) if live else {}))
        answer = campaign_answers(dataset, str(store.folder)) if as_json else report
    write_file(file, page)
    return answer


def print_answer(answer: dict[str, Any] | Report, store: Store) -> None:
    """Print what a campaign says."""
    from dockdyn.report.terminal import show_report

    if isinstance(answer, dict):
        echo_json(answer)
        return
    show_report(answer)
    say(f"Report: {store.folder / 'campaign-report.html'}")


def _case_scenario(campaign: Campaign, case: int) -> Scenario:
    from dockdyn.studies.campaign.conduct import case_of

    return case_of(campaign, case)


def _case_result(scenario: Scenario, place: Path, quiet: bool, show: bool = False) -> None:
    """Run one case and write its files; with `show` the terminal has its report before."""
    from dockdyn.api import simulate

    with show_progress("Simulating the case", quiet) as advance:
        dataset = simulate(scenario, advance)
    write_files(place, dataset, "result.nc", show, KnownRun(scenario))


def _keep_cases(store: Store, campaign: Campaign, kept: dict[str, int], quiet: bool) -> None:
    """Write the results of the cases asked for that are not there yet."""
    from dockdyn.scenario.language.errors import ScenarioError
    from dockdyn.studies.campaign.keep import chosen_cases

    for case in chosen_cases(store.read(campaign), kept):
        place = store.case(case)
        if (place / "report.html").exists():
            continue
        with contextlib.suppress(ScenarioError):  # a case whose numbers are not allowed has no result
            _case_result(_case_scenario(campaign, case), place, quiet)
