"""Campaigns beside each other: in how many cases what holds, the figures' percentiles, and what differs of the scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.beside import (
    BesideFigure,
    change_headline,
    differ_in_words,
    difference_tiles,
    differing_inputs,
    differing_names,
    figures_table,
    join_names,
)
from dockdyn.report.report import Report, ReportBlock
from dockdyn.report.requirement_bar import RequirementBar
from dockdyn.report.wording import NOTHING, capitalise_first, count_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.campaign.answers import answers_of
from dockdyn.studies.campaign.cases import CampaignCases, campaign_cases
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.campaign.first_screen import requirement_bars
from dockdyn.studies.campaign.wording import (
    figure_words,
    format_probability,
    format_share,
    format_sure,
    format_with_interval,
)

FIGURES = 12  # with percentiles
PERCENTILES = ("50", "95")
MOST = 6  # campaigns


def campaigns_report(campaigns: Mapping[str, Dataset], again: str = "") -> Report:
    """Return the report of campaigns beside each other, by what to call them; `again` is what was typed for it.

    Raises `ScenarioError` for results that are no campaigns.
    """
    if len(campaigns) > MOST:
        raise ScenarioError(f"{len(campaigns)} campaigns: must be at most {MOST} in one report")
    cases = {name: campaign_cases(dataset) for name, dataset in campaigns.items()}
    answers = {name: answers_of(each, judge_cases(each), name) for name, each in cases.items()}
    figures = {name: _figures(cases[name], answers[name]) for name in campaigns}
    names, different = differing_names(figures), differing_inputs(campaigns)
    return Report(
        title=f"{join_names(list(campaigns))} beside each other",
        headline=change_headline(figures, names[0]) if names else "All figures are the same",
        verdict=_verdict(answers, differ_in_words(different)),
        neutral=True,
        tiles=difference_tiles(figures, names),
        bars=_bars(answers),
        blocks=[
            ReportBlock(
                table=figures_table(figures, names),
                notes=[
                    "Only what differs. In brackets the interval that is 95 % sure; campaigns of the same seed have the same "
                    "cases, so that their differences are surer than these say."
                ],
                where="key",
            ),
            ReportBlock(
                words="Keys of the scenarios that differ:" if different.rows else "The scenarios are the same.",
                table=different,
                where="inputs",
            ),
            *(
                ReportBlock(folded=f"Scenario of {name}, as it ran", text=dataset.attrs["scenario"], where="inputs")
                for name, dataset in campaigns.items()
            ),
        ],
        made=[
            (
                name,
                f"dockdyn {dataset.attrs['dockdyn_version']}, {answers[name]['sampling']}, seed {answers[name]['seed']}",
            )
            for name, dataset in campaigns.items()
        ],
        warnings=[
            f"{name}: {found['failed']} of {found['runs']} cases failed"
            for name, found in answers.items()
            if found["failed"]
        ],
        again=again,
    )


def _figures(cases: CampaignCases, answers: dict[str, Any]) -> dict[str, BesideFigure]:
    """Return what campaigns are compared by: shares in percent, then percentiles."""
    shares = [("All requirements met", "requirements"), ("Captured", "capture")]
    found = {
        of: _share_figure(words, answers[f"{of}_probability"], answers[f"{of}_interval_95"])
        for words, of in shares
        if answers[f"{of}_probability"] is not None
    }
    for one in answers["requirements"]:
        if one["figure"] != "captured":
            words = f"{one['name']} {one['text']}"
            found[f"required {words}"] = _share_figure(words, one["probability"], one["interval_95"])
    for name in list(answers["figures"])[:FIGURES]:
        told, words = answers["figures"][name], capitalise_first(figure_words(cases, name))
        for share in PERCENTILES:
            value = told["percentiles"].get(share)
            text, _, sure = format_with_interval(value, told["intervals_95"].get(share)).partition(" (")
            found[f"{name} {share}"] = BesideFigure(
                f"{words}, {share} %", told["unit"], value, text, sure.removesuffix(")")
            )
    return found


def _share_figure(words: str, share: float, interval: list[float]) -> BesideFigure:
    return BesideFigure(
        words, "%", 100 * share, format_share(share, interval), format_sure(interval).removesuffix(" %")
    )


def _bars(answers: Mapping[str, dict[str, Any]]) -> list[RequirementBar]:
    """Return the requirements of all campaigns, those of one name after each other."""
    found = {
        name: dict(zip(sorted(_names(each), key=lambda one: one[1]), requirement_bars(each), strict=True))
        for name, each in answers.items()
    }
    bars = []
    for required in dict.fromkeys(one["name"] for each in answers.values() for one in each["requirements"]):
        for campaign, each in found.items():
            bar = next((bar for (name, _), bar in each.items() if name == required), None)
            if bar is None:
                bars.append(RequirementBar(f"{campaign}: {required}", NOTHING, "open", "not required"))
            else:
                bars.append(replace(bar, asked=f"{campaign}: {bar.asked}"))
    return bars


def _names(answers: dict[str, Any]) -> list[tuple[str, float]]:
    return [(one["name"], one["probability"]) for one in answers["requirements"]]


def _verdict(answers: Mapping[str, dict[str, Any]], differ: str) -> str:
    """Return in what campaigns differ, and the share that meets all, or is captured, in sentences."""
    counts = {each["runs"] for each in answers.values()}
    of = f" of {count_of(counts.pop(), 'case')} each" if len(counts) == 1 else ""
    words = [f"{len(answers)} campaigns{of} {differ}."]
    for said, name in (("All requirements are met in", "requirements"), ("Captured in", "capture")):
        shares = [(each[f"{name}_probability"], each[f"{name}_interval_95"]) for each in answers.values()]
        if all(share is not None for share, _ in shares):
            words.append(f"{said} {join_names([format_probability(*one) for one in shares])}.")
    return " ".join(words)
