"""The report of a campaign, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.report import Plot, Report, ReportBlock, result_report
from dockdyn.report.wording import capitalise_first, format_significant, name_in_words
from dockdyn.results.requirements import with_lists
from dockdyn.studies.campaign.answers import answers_of
from dockdyn.studies.campaign.capture_map import CaptureMap, capture_map
from dockdyn.studies.campaign.cases import CampaignCases, campaign_cases
from dockdyn.studies.campaign.console import campaign_lines
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.campaign.first_screen import (
    campaign_advice,
    campaign_headline,
    campaign_tiles,
    mostly_missed,
    outcome_shares,
    requirement_bars,
)
from dockdyn.studies.campaign.map_plot import WORDS, map_figure
from dockdyn.studies.campaign.plots import convergence_figure, influence_figure, load_figure
from dockdyn.studies.campaign.tables import (
    describe_reasons,
    failures_table,
    firsts_table,
    loads_table,
    missing_table,
    requirements_table,
    varied_table,
    ways_table,
    worst_table,
)
from dockdyn.studies.campaign.wording import (
    figure_words,
    format_probability,
    format_with_interval,
    not_known,
    released_words,
    undecided_words,
)

WORST_NOTE = "Each can be run again alone, with its full result and report. "
BY_MARGIN = (
    "Ordered by the least margin to a requirement, relative to its limit; a yes or no that is not met counts −1, and of "
    "equals the one with the larger force comes first."
)
INFLUENCE = (
    "What decides {figures}: the share of the variance that a key explains by itself (first-order index). What is missing to "
    "1 takes several keys together. In brackets the rank correlation: whether the figure grows (+) or falls (−) with the key."
)
BESIDE = 3  # figures whose influences stand side by side


def campaign_report(dataset: Dataset, map_keys: Sequence[str] | None = None, folder: str | None = None) -> Report:
    """Return the report of a campaign; its map is over `map_keys`, else those that decide.

    `folder` is what the commands for single cases name; by default where the dataset was read from. Raises
    `ScenarioError` for a dataset of another sort and for a key that was not varied.
    """
    cases = campaign_cases(dataset)
    judged = judge_cases(cases)
    found = capture_map(cases, judged, map_keys)
    answers = answers_of(cases, judged, folder or folder_of(dataset))
    return result_report(
        dataset,
        verdict=_campaign_verdict(cases, answers),
        headline=campaign_headline(answers),
        alarming=mostly_missed(answers),
        advice=campaign_advice(cases, answers),
        tiles=campaign_tiles(cases, answers),
        bars=requirement_bars(answers),
        shares=outcome_shares(cases, judged),
        warnings=_campaign_warnings(cases, answers),
        key=overview_rows(cases, answers),
        blocks=report_blocks(cases, answers),
        plots=report_figures(cases, answers, found, map_keys is not None),
        made=_how_sampled(dataset, answers),
        terminal=tuple(campaign_lines(answers)),
    )


def report_blocks(cases: CampaignCases, answers: dict[str, Any]) -> list[ReportBlock]:
    """Return the tables of the page."""
    loads_note = (
        "Percentiles over the cases that have the figure, with the interval that is 95 % sure (bootstrap, exact)."
    )
    if any(None in ends for each in answers["figures"].values() for ends in each["intervals_95"].values()):
        loads_note += " “At least”: so few cases do not bound the percentile from above."
    worst_note = WORST_NOTE + (BY_MARGIN if answers["requirements"] else "Ordered by the largest force.")
    return [
        ReportBlock(table=requirements_table(answers), notes=[REQUIREMENTS_NOTE], where="requirements"),
        ReportBlock(
            "Cases that miss",
            words=describe_reasons(answers),
            table=missing_table(answers),
            notes=_missing_notes(answers),
            where="above",
        ),
        ReportBlock("Loads and other figures", table=loads_table(cases, answers), notes=[loads_note]),
        ReportBlock("What fails first", table=firsts_table(answers), notes=[FIRST_NOTE]),
        ReportBlock("Cases that were not captured", table=ways_table(answers), notes=["How far they came."]),
        ReportBlock("Worst cases", table=worst_table(cases, answers), notes=[worst_note], where="after"),
        ReportBlock("What was varied", table=varied_table(cases), where="after"),
        ReportBlock("Cases that failed", table=failures_table(answers), where="after"),
    ]


def _missing_notes(answers: dict[str, Any]) -> list[str]:
    """Return how the cases that miss are ordered, what is not among them, and what runs the first again."""
    if not answers["missing"]["listed"]:
        return []
    apart = [
        f"{answers[key]} that {words}"
        for key, words in (("failed", "failed"), ("undecided", "are not decided"))
        if answers[key]
    ]
    aside = f"; {' and '.join(apart)} aside" if apart else ""
    worst = answers["missing"]["listed"][0]
    return [
        f"The worst first, by what is missed relative to its limit{aside}. Any runs again alone: {worst['command']}"
    ]


REQUIREMENTS_NOTE = (
    "Probabilities with the interval that is 95 % sure (Wilson). The margin is positive where a requirement is met; 5 % of "
    "the cases have less than the last one. “Missed first” counts the cases in which this requirement was the first to be "
    "broken. A case that failed meets none. The margin of 5 % is over all cases that are decided: one without the figure, as "
    "a capture time without a capture, has less than any. The mean is of those that have it."
)
FIRST_NOTE = (
    "By the time at which each was broken, as far as the figures tell: a peak when it was reached, a deadline when it "
    "passed, everything else at the end of the run; of several at one time the one that is written first. A case that may "
    "still meet all is not decided."
)


def least_met(answers: dict[str, Any]) -> dict[str, Any] | None:
    """Return the requirement that is met in the fewest cases; None where all are met in every case, or there are none."""
    least = min(answers["requirements"], key=lambda one: one["probability"], default=None)
    return None if least is None or least["probability"] == 1.0 else least


def folder_of(dataset: Dataset) -> str:
    """Return the folder that a dataset was read from."""
    source = dataset.encoding.get("source")
    return str(Path(source).parent) if source else "DIR"


def _campaign_verdict(cases: CampaignCases, answers: dict[str, Any]) -> str:
    """Return the campaign in words."""
    count = f"{answers['runs']} case{'s' if answers['runs'] > 1 else ''}"
    words: list[str] = []
    if answers["capture_probability"] is not None:
        share = format_probability(answers["capture_probability"], answers["capture_interval_95"], f" of {count}")
        words += filter(None, [f"Captured in {share}.", released_words(answers)])
    else:
        words.append(f"{capitalise_first(count)}.")
    if answers["undecided"]:
        words.append(f"{answers['undecided']} {'is' if answers['undecided'] == 1 else 'are'} not decided.")
    if answers["requirements"]:
        share, least = (
            format_probability(answers["requirements_probability"], answers["requirements_interval_95"]),
            least_met(answers),
        )
        held = (
            ""
            if least is None
            else f"; least often {name_in_words(least['name'])} {least['text']}, in "
            + format_probability(least["probability"], least["interval_95"])
        )
        words.insert(0 if least else len(words), f"All requirements are met in {share}{held}.")
    if answers["peak_force"]:
        having = answers["figures"][answers["peak_force"]]["cases"]
        those = "the cases" if having == answers["runs"] else f"the {having} cases that have one"
        force = format_with_interval(
            answers["peak_force_percentiles_N"]["95"], answers["peak_force_intervals_N"]["95"], "N"
        )
        words.append(f"The {figure_words(cases, answers['peak_force'])} stays below {force} in 95 % of {those}.")
    return " ".join(words)


COUNTED = "they count as not captured and as meeting no requirement, their loads are left out"


def _campaign_warnings(cases: CampaignCases, answers: dict[str, Any]) -> list[str]:
    """Return what the reader should know before trusting the numbers."""
    found = []
    planned = int(cases.attributes.get("runs", cases.count))
    if planned > cases.count:
        found.append(f"the campaign is not complete: {cases.count} of {planned} cases")
    if answers["failed"]:
        found.append(f"{answers['failed']} of {cases.count} cases failed; {COUNTED}")
    found += [
        f"in {one['cases']} of {cases.count} cases {one['reason']}; the first of them: {one['command']}"
        for one in answers["doubtful"]
    ]
    found += filter(None, [undecided_words(answers), not_known(answers)])
    for requirement in answers["requirements"]:
        if requirement["figure"] not in with_lists(cases.figures):
            found.append(f"{requirement['name']}: no case has the figure {requirement['figure']}; counted as not met")
    return found


def overview_rows(cases: CampaignCases, answers: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary table."""
    rows = [("Setup", str(answers["setup"])), ("Cases", str(answers["runs"]))]
    if answers["failed"]:
        rows.append(("Failed", str(answers["failed"])))
    if answers["capture_probability"] is not None:
        rows.append(
            ("Capture probability", format_probability(answers["capture_probability"], answers["capture_interval_95"]))
        )
    if answers["requirements"]:
        share = format_probability(answers["requirements_probability"], answers["requirements_interval_95"])
        rows.append(("All requirements met", share))
    if answers["peak_force"]:
        words = figure_words(cases, answers["peak_force"])
        percentiles, ends = answers["peak_force_percentiles_N"], answers["peak_force_intervals_N"]
        label = capitalise_first(words)
        rows += [
            (f"{label}, {share} %", format_with_interval(percentiles[share], ends[share], "N"))
            for share in ("50", "95", "99")
        ]
        rows.append((f"{label}, largest", f"{format_significant(answers['figures'][answers['peak_force']]['max'])} N"))
    return [*rows, ("Keys varied", str(len(cases.values)))]


def report_figures(
    cases: CampaignCases, answers: dict[str, Any], found: CaptureMap | None, chosen: bool = False
) -> Iterator[Plot]:
    """Yield the figures that there is something to show in, each with what to look for; the keys of the map may be
    `chosen`."""
    least = least_met(answers)
    missed = least["figure"] if least and least["figure"] in answers["figures"] else ""
    if missed and missed != answers["peak_force"] and answers["figures"][missed]["cases"] > 1:
        words = (
            f"The requirement that is met least often: how {figure_words(cases, missed)} is distributed, and its limit."
        )
        yield Plot("missed", partial(load_figure, cases, missed), words)
    if answers["peak_force"] and answers["figures"][answers["peak_force"]]["cases"] > 1:
        yield Plot(
            "load",
            partial(load_figure, cases, answers["peak_force"]),
            "How the largest force is distributed, and the share of cases that exceed it. Bars are the intervals of the "
            "percentiles.",
        )
    if found is not None:
        each = found.scattered and len(found.keys) > 1 and not chosen
        yield Plot("map", partial(map_figure, cases, found), _map_words(cases, found), replaced=each)
    asked = ("requirements" if least else "", missed, found.of if found else "", answers["peak_force"])
    decided = [name for name in asked if name in answers["sensitivity"]]
    if decided:
        names = list(dict.fromkeys(decided))[:BESIDE]
        told = ", ".join(WORDS_OF.get(name, f"the {figure_words(cases, name)}") for name in names)
        words = INFLUENCE.format(figures=told)
        yield Plot("influence", partial(influence_figure, cases, answers["sensitivity"], names), words)
    settled = answers["convergence"]
    if cases.count > 1 and len(settled) > 1:
        unit = cases.units.get(answers["peak_force"] or "", "")
        yield Plot(
            "convergence",
            partial(convergence_figure, settled, unit),
            "How the estimates settle: four times as many cases halve an interval.",
        )


WORDS_OF = {"captured": "capture", "requirements": "whether all requirements are met"}


def _map_words(cases: CampaignCases, found: CaptureMap) -> str:
    """Return what the map shows."""
    keys = " and ".join(found.keys)
    what = "Capture" if found.of == "captured" else "Where all requirements are met"
    if found.of not in WORDS:
        what = figure_words(cases, found.of)
        what = capitalise_first(what)
    if found.scattered and len(found.keys) > 1:
        return f"{what} over {keys}, case by case."
    if len(found.keys) == 1:
        return f"{what} over {keys}, " + (
            "in cells." if found.of in WORDS else "case by case, and the mean of each cell."
        )
    return f"{what} over {keys}, in cells of {round(float(found.cases[found.cases > 0].mean()))} cases on average."


def _how_sampled(dataset: Dataset, answers: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how the campaign was computed."""
    even = "" if answers["sampling"] == "random" else "; intervals are those of random cases, wider than need be"
    rows = [("Sampling", answers["sampling"] + even), ("Seed", str(answers["seed"]))]
    if "chunk" in dataset.attrs:
        rows.append(("Chunk", f"{int(dataset.attrs['chunk'])} cases"))
    if answers["wall_time_s"] > 0:
        rate = f"{format_significant(answers['runs_per_second'], 3)} cases a second"
        rows.append(("Computing time", f"{format_significant(answers['wall_time_s'], 3)} s, {rate}"))
    return rows
