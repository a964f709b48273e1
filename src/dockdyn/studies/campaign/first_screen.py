"""What the page of a campaign shows first: headline, numbers that matter, requirements as bars, what decides, what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.report.requirement_bar import RequirementBar
from dockdyn.report.tile import Tile
from dockdyn.report.tile_pictures import draw_histogram, draw_shares, draw_squares
from dockdyn.report.verdict import Advice
from dockdyn.report.wording import as_stated, capitalise_first, count_of, format_significant, name_in_words
from dockdyn.results.requirements import ends_of
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.first_failure import Judged
from dockdyn.studies.campaign.wording import figure_words, format_share, format_sure, stretch_words

HALF = 0.5  # of the cases: where fewer meet what is required, that is bad news


def campaign_headline(answers: dict[str, Any]) -> str:
    """Return what came of a campaign in a few words: the share that meets all, else that is captured, else how many ran."""
    if answers["requirements"]:
        share = format_share(answers["requirements_probability"], answers["requirements_interval_95"])
        several = len(answers["requirements"]) > 1
        return f"{share} % of cases meet {'all requirements' if several else 'the requirement'}"
    if answers["capture_probability"] is not None:
        return f"{format_share(answers['capture_probability'], answers['capture_interval_95'])} % of cases are captured"
    return f"{count_of(answers['runs'], 'case')}, none of them judged"


def mostly_missed(answers: dict[str, Any]) -> bool:
    """Return whether fewer than half of the cases meet what is required."""
    share = answers["requirements_probability"]
    return share is not None and share < HALF


def outcome_shares(cases: CampaignCases, judged: Judged) -> list[tuple[str, str, int]]:
    """Return how many cases have come to what, each case once, with the colour that it has on the page; none where nothing
    judges them."""
    captured, required = cases.captured, bool(cases.requirements)
    if captured is None and not required:
        return []
    open_ones = judged.all_open if required else cases.undecided
    rest = "not all met" if captured is None else "captured, not all met" if required else "captured"
    sorts = [
        ("failed", "ink", cases.failed),
        ("all met", "green", judged.all_met if required else np.zeros(cases.count, bool)),
        ("not decided", "sky", open_ones),
        ("not captured", "purple", np.zeros(cases.count, bool) if captured is None else ~captured),
        (rest, "orange" if required else "green", np.ones(cases.count, bool)),
    ]
    left, shares = np.ones(cases.count, bool), []
    for words, colour, holds in sorts:
        shares.append((words, colour, int((left & holds).sum())))
        left &= ~holds
    return [one for one in shares if one[2]]


def requirement_bars(answers: dict[str, Any]) -> list[RequirementBar]:
    """Return requirements as the share of cases that meet each, with its interval; that which fewest meet comes first."""
    bars = []
    for one in sorted(answers["requirements"], key=lambda each: each["probability"]):
        share, interval = one["probability"], one["interval_95"]
        met = round(share * answers["runs"])
        words = f"95 % sure: {format_sure(interval)}"
        if one["undecided"]:
            words += f"; {one['undecided']} not decided"
        bars.append(
            RequirementBar(
                _write_requirement(one),
                f"{format_share(share, interval)} %",
                "ok" if share == 1 else "bad" if share < HALF else "warn",
                f"met in {met} of {answers['runs']} cases",
                share,
                (interval[0], interval[1]),
                words,
                _worst_words(one),
                one["name"],
            )
        )
    return bars


def _write_requirement(one: dict[str, Any]) -> str:
    """Return what is required: a figure and its limit."""
    return f"{name_in_words(one['name'])} {'= ' if one['text'] in ('true', 'false') else ''}{one['text']}"


def _worst_words(one: dict[str, Any]) -> str:
    """Return the worst value of a requirement's figure and its case; empty for a yes or no."""
    if one["worst"] is None:
        return ""
    return f"worst {as_stated(one['worst'], one['unit'], one['text'], 3)}, case {one['worst_case']}"


def campaign_tiles(cases: CampaignCases, answers: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter: capture, the requirement that fewest meet, the largest force, where to aim."""
    tiles = []
    if answers["capture_probability"] is not None:
        tiles.append(
            _share_tile(
                "Captured", answers["capture_probability"], answers["capture_interval_95"], answers["runs"], "captured"
            )
        )
    numbers = [one for one in answers["requirements"] if one["figure"] != "captured"]
    for one in sorted(numbers, key=lambda each: each["probability"])[: 2 if not tiles else 1]:
        tiles.append(
            _share_tile(
                capitalise_first(_write_requirement(one)),
                one["probability"],
                one["interval_95"],
                answers["runs"],
                one["name"],
            )
        )
    if answers["peak_force"]:
        tiles.append(_force_tile(cases, answers))
    if stretch := answers["best_stretch"]:
        what = "are captured" if stretch["of"] == "captured" else "meet all"
        share = format_share(stretch["probability"], stretch["interval_95"])
        tiles.append(
            Tile(
                f"Best {stretch['key'].rpartition('.')[2].replace('_', ' ')}",
                *stretch_words(stretch, "–"),
                f"{share} % {what} there",
                picture=draw_shares(stretch["edges"], stretch["shares"], (stretch["low"], stretch["high"])),
            )
        )
    return tiles


def _share_tile(label: str, share: float, interval: list[float], runs: int, of: str) -> Tile:
    met = round(share * runs)
    note = f"{met} of {runs}; {format_sure(interval)}"
    picture = draw_squares(met, runs)
    return Tile(label, format_share(share, interval), "%", note, picture=picture, alarming=share < HALF, cases=of)


def _force_tile(cases: CampaignCases, answers: dict[str, Any]) -> Tile:
    """Return the force that 95 % of the cases stay below, with its distribution and the limit that there may be."""
    name = answers["peak_force"]
    force = answers["peak_force_percentiles_N"]["95"]
    limit = next(
        (
            one["limit"]
            for one in answers["requirements"]
            if one["relation"].startswith("<") and name in (one["figure"], *ends_of(one["figure"]))
        ),
        None,
    )
    largest = f"largest {format_significant(answers['figures'][name]['max'])} N"
    note = largest
    if limit is not None:
        side = "over" if force > limit else "under"
        note = f"{format_significant(abs(force - limit), 3)} N {side} the limit; {largest}"
    return Tile(
        f"{capitalise_first(figure_words(cases, name))}, 95 % of cases",
        format_significant(force),
        "N",
        note,
        picture=draw_histogram(cases.figures[name], limit),
        alarming=limit is not None and force > limit,
        cases=f"95 {name}",
    )


def campaign_advice(cases: CampaignCases, answers: dict[str, Any]) -> list[Advice]:
    """Return what decides a campaign, and what to do next."""
    advice = []
    judged = {"requirements": "whether all are met", "captured": "capture", answers["peak_force"]: "the largest force"}
    for of, about in judged.items():
        found = answers["sensitivity"].get(of, {})
        deciding = [(key, one) for key, one in found.items() if one["significant"]][:2]
        if not deciding:
            continue
        (key, first), *others = ((key, f"{100 * max(one['first_order'], 0.0):.0f} %") for key, one in deciding)
        words = f"{capitalise_first(name_in_words(key))} explains {first} of the variance of {about} by itself"
        words += f", {name_in_words(others[0][0])} {others[0][1]}." if others else "."
        if stretch := answers["best_stretch"]:
            share = format_share(stretch["probability"], stretch["interval_95"])
            what_there = "are captured" if stretch["of"] == "captured" else "meet all"
            words += f" From {' '.join(stretch_words(stretch)).rstrip()} {share} % {what_there}."
        advice.append(Advice("Decides", words))
        break
    planned = int(cases.attributes.get("runs", cases.count))
    if planned > cases.count:
        advice.append(Advice("Next", f"{planned - cases.count} cases are still to run: go on with --resume."))
    elif answers["worst"] and (mostly_missed(answers) or answers["requirements_probability"] != 1):
        worst = answers["worst"][0]
        to = f" ({name_in_words(worst['requirement'])} missed)" if worst.get("met") is False else ""
        advice.append(Advice("Next", f"See the worst case, {worst['case']}{to}, move:", worst["command"], "worst"))
    elif not answers["requirements"]:
        advice.append(
            Advice(
                "Next",
                "State what must hold under [requirements]: this page then shows in how many cases it does.",
                follows="nothing",
            )
        )
    return advice
