"""`dockdyn design`: the numbers of a scenario that meet its constraints best."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dockdyn.cli.common import (
    NOT_MET,
    Anew,
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
    command_line,
    describe_contents,
    echo_json,
    read_scenario,
    report_interruption,
    resume_command,
    say,
    show_progress,
    study_name,
    tell_unusual_numbers,
    to_resume,
    writing_into,
)

if TYPE_CHECKING:
    from dockdyn.studies.design.plan import Evaluation, Plan
    from dockdyn.studies.design.trail import Trail


def design(
    scenario: ScenarioName,
    set_: Overrides = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder; by default NAME-design.")] = None,
    resume: Resume = False,
    force: Anew = False,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON and nothing else.")] = False,
    quiet: Quiet = False,
    no_own_code: NoOwnCode = False,
    trust: Trust = False,
) -> None:
    """Seek the numbers that meet a scenario's constraints best.

    As its table [design] says; writes every design tried, the scenario with the best one and a report.
    """
    chosen = read_scenario(scenario, set_)
    from dockdyn.report.page import render_page
    from dockdyn.report.terminal import show_report
    from dockdyn.studies.design.answer import REPORT, answer_of, written_design
    from dockdyn.studies.design.conduct import run_design
    from dockdyn.studies.design.plan import plan_design
    from dockdyn.studies.design.report import design_report, first_words
    from dockdyn.studies.design.trail import Trail
    from dockdyn.studies.design.variables import RealVariable

    plan = plan_design(chosen)
    tell_unusual_numbers(plan.scenario, {one.key: one.ends for one in plan.variables if isinstance(one, RealVariable)})
    trail = Trail(out if out is not None else Path(f"{study_name(scenario)}-design"))
    anew = _begins_anew(trail, resume, force)

    def say_first(first: Evaluation) -> None:
        if not quiet and (words := first_words(plan, first)) is not None:
            say(f"note: {words}", err=True)

    with contextlib.ExitStack() as stack:
        with writing_into(trail.folder):
            stack.enter_context(trail.claimed())
            if anew:
                trail.clear()
        bar = show_progress(f"Designs of {plan.scenario.name}", quiet, left="")  # `report_interruption` says it
        with (
            report_interruption(lambda: _describe_kept(trail, plan)),
            cluster_workers(workers, scheduler) as spread,
            bar as advance,
        ):
            plan = replace(plan, spread=spread)
            evaluations = run_design(plan, trail, advance, say_first)
            answer = answer_of(plan, evaluations)
            report = design_report(plan, evaluations, answer, command_line())
            written_design(plan, answer, trail.folder, render_page(report))
    if as_json:
        echo_json(answer)
    else:
        show_report(report)
        say(f"Report: {trail.folder / REPORT}")
    if not answer["feasible"]:
        raise SystemExit(NOT_MET)


def _begins_anew(trail: Trail, resume: bool, force: bool) -> bool:
    """Return whether a design in the folder is to be lost; refuses a folder with something else, and one of which nothing is
    said."""
    if trail.folder.exists() and not trail.folder.is_dir():
        raise Refusal(f"{trail.folder}: is a file; must be a folder")
    if trail.blank():
        return False
    if not trail.file.exists():
        raise Refusal(f"{trail.folder}: holds no design but {describe_contents(trail.folder)}; give another --out")
    return not to_resume(trail.folder, resume, force)


def _describe_kept(trail: Trail, plan: Plan) -> str:
    """Return in words what is kept, and how to go on."""
    again = resume_command()
    return f"{trail.count()} of {plan.stated.evaluations} designs are kept; go on with: {again}"
