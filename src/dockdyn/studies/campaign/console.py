"""A campaign's answers on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from dockdyn.report.report import ReportBlock, Table
from dockdyn.report.wording import format_significant
from dockdyn.studies.campaign.tables import requirements_table, ways_table
from dockdyn.studies.campaign.wording import format_probability, format_with_interval, released_words, stretch_words

WORST = 3  # cases listed
DECISIVE = 4  # keys listed
DECIDED = {"captured": "capture", "requirements": "whether all are met"}


def campaign_lines(answers: dict[str, Any]) -> Iterator[str | ReportBlock]:
    """Yield what a campaign answers: probabilities, the largest force, what fails first and what decides it."""
    yield answers["title"]
    failed = f", {answers['failed']} failed" if answers["failed"] else ""
    rate = answers["runs_per_second"]
    yield f"{answers['runs']} cases{failed}" + (f", {format_significant(rate, 3)} a second" if rate else "")
    if answers["capture_probability"] is not None:
        yield f"captured: {format_probability(answers['capture_probability'], answers['capture_interval_95'])}"
    if released := released_words(answers):
        yield released
    if answers["peak_force"]:
        percentiles, ends = answers["peak_force_percentiles_N"], answers["peak_force_intervals_N"]
        having = answers["figures"][answers["peak_force"]]["cases"]
        of = f", of {having} cases" if having < answers["runs"] else ""
        for share in ("50", "95", "99"):
            yield f"peak force, {share} %{of}: {format_with_interval(percentiles[share], ends[share], 'N')}"
    if answers["requirements"]:
        yield ReportBlock(table=_without_margins(requirements_table(answers)))
        yield f"all met: {format_probability(answers['requirements_probability'], answers['requirements_interval_95'])}"
    ways = ways_table(answers)
    if ways.rows:
        yield ReportBlock(table=ways)
    for name in ("captured", "requirements", answers["peak_force"]):
        if words := _deciding_keys(answers["sensitivity"].get(name, {})):
            yield f"what decides {DECIDED.get(name, 'the peak force')}: {words}"
    if stretch := answers["best_stretch"]:
        what = "captured" if stretch["of"] == "captured" else "all met"
        share = format_probability(stretch["probability"], stretch["interval_95"])
        yield f"{what} most often with {stretch['key']} from {' '.join(stretch_words(stretch)).rstrip()}: {share}"
    commands = [f"worst: {each['command']}" for each in answers["worst"][:WORST]]
    commands += [
        f"failed: {each['cases']} × {each['reason']} ({each['command']})" for each in answers["failures"][:WORST]
    ]
    yield ReportBlock(text="\n".join(commands))


def _without_margins(found: Table) -> Table:
    """Return requirements without their margins, which the page has."""
    rows = [[*row[:5], row[-1]] for row in found.rows]
    return replace(found, columns=[*found.columns[:5], found.columns[-1]], rows=rows)


def _deciding_keys(by_key: dict[str, dict[str, Any]]) -> str:
    """Return the keys that decide most, with their share of the variance."""
    found = [(key, each["first_order"]) for key, each in by_key.items() if each["significant"]]
    return ", ".join(f"{key} {max(index, 0.0):.2f}" for key, index in found[:DECISIVE])
