"""A campaign's answers on the terminal."""

from __future__ import annotations

from typing import Any

from dockdyn.report.page import Table
from dockdyn.report.terminal import Terminal, table_of
from dockdyn.report.wording import significant
from dockdyn.studies.campaign.tables import requirements_table, ways_table
from dockdyn.studies.campaign.wording import not_known, percent, sure, undecided_words

WORST = 3  # cases listed
DECISIVE = 4  # keys listed


def show_campaign(answers: dict[str, Any]) -> None:
    """What a campaign answers: probabilities, the largest force, what fails first and what decides it."""
    console = Terminal()
    console.print(answers["title"], markup=False)
    failed = f", {answers['failed']} failed" if answers["failed"] else ""
    rate = answers["runs_per_second"]
    console.print(f"{answers['runs']} cases{failed}" + (f", {significant(rate, 3)} a second" if rate else ""))
    if answers["capture_probability"] is not None:
        console.print(f"captured: {percent(answers['capture_probability'], answers['capture_interval_95'])}")
    if answers["peak_force"]:
        percentiles, ends = answers["peak_force_percentiles_N"], answers["peak_force_intervals_N"]
        having = answers["figures"][answers["peak_force"]]["cases"]
        of = f", of {having} cases" if having < answers["runs"] else ""
        for share in ("50", "95", "99"):
            console.print(f"peak force, {share} %{of}: {sure(percentiles[share], ends[share], 'N')}")
    if words := not_known(answers):
        console.print(f"warning: {words}", markup=False)
    if answers["requirements"]:
        show(console, narrow(requirements_table(answers)))
        console.print(f"all met: {percent(answers['requirements_probability'], answers['requirements_interval_95'])}")
    ways = ways_table(answers)
    if ways.rows:
        show(console, ways)
    if undecided := undecided_words(answers):
        console.print(f"warning: {undecided}", soft_wrap=True)
    for name in ("captured", "requirements", answers["peak_force"]):
        if words := decisive(answers["sensitivity"].get(name, {})):
            console.print(f"what decides {DECIDED.get(name, 'the peak force')}: {words}", markup=False)
    for each in answers["worst"][:WORST]:
        console.print(f"worst: {each['command']}", markup=False, soft_wrap=True)
    for each in answers["failures"][:WORST]:
        console.print(f"failed: {each['cases']} × {each['reason']} ({each['command']})", markup=False, soft_wrap=True)


DECIDED = {"captured": "capture", "requirements": "whether all are met"}


def narrow(found: Table) -> Table:
    """Requirements without their margins, which the report has."""
    rows = [[name, wanted, share, first] for name, wanted, share, *_, first in found.rows]
    columns = [("requirement", ""), ("", ""), ("probability", ""), ("failed first", "")]
    return Table(columns, rows, [], worded={0, 1})


def show(console: Terminal, found: Table) -> None:
    """A table of the report."""
    headings = ["\n".join(filter(None, [words, unit])) for words, unit in found.columns]
    shown = table_of(None, headings, tuple(headings[place] for place in found.worded))
    for row in found.rows:
        shown.add_row(*row)
    console.print(shown)


def decisive(by_key: dict[str, dict[str, Any]]) -> str:
    """The keys that decide most, with their share of the variance."""
    found = [(key, each["first_order"]) for key, each in by_key.items() if each["significant"]]
    return ", ".join(f"{key} {max(index, 0.0):.2f}" for key, index in found[:DECISIVE])
