"""Tables of a campaign, for the page and the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn.report.report import Table
from dockdyn.report.wording import NOTHING, as_stated, format_significant, name_in_words
from dockdyn.studies.campaign.cases import CampaignCases
from dockdyn.studies.campaign.first_failure import NOT_CAPTURED
from dockdyn.studies.campaign.wording import (
    DEGREES,
    describe_distributions,
    figure_words,
    format_probability,
    format_with_interval,
    in_degrees,
)

FIGURES = 12  # in the table of loads
KEYS = 4  # beside a worst case: those that decide
REASONS = 20  # of failed cases
OUTCOMES = "outcomes"  # what tables are of that a page that computes leaves to the report


def requirements_table(answers: dict[str, Any]) -> Table:
    """Return each requirement: its figure, how probable it is to be met, with what margin."""
    columns = [("requirement", ""), ("limit", ""), ("median", ""), ("worst", ""), ("met in", "")]
    columns += [("mean margin", ""), ("margin, 95 % of cases", ""), ("missed first", "cases")]
    rows = []
    for each in answers["requirements"]:
        keys = ("median", "worst", "mean_margin", "margin_5_percent")
        *figures, mean, low = (_in_its_unit(each, key) for key in keys)
        without = answers["runs"] - each["undecided"] - each["margin_cases"]
        if each["margin_cases"] and without:
            mean += f" (of {each['margin_cases']} cases)"
            low = low if each["margin_5_percent"] is not None else f"none: {without} cases without the figure"
        share = format_probability(each["probability"], each["interval_95"])
        count = each["undecided"]
        text = f"{each['text']} ({count} not decided)" if count else each["text"]
        rows.append([each["name"], text, *figures, share, mean, low, str(each["failed_first"])])
    live_keys = ("-", "-", "median", "worst", "met", "mean", "low", "first")
    return Table(columns, rows, worded={0, 1}, live="requirements", keys=live_keys)


def _in_its_unit(judged: dict[str, Any], key: str) -> str:
    """Return a figure of a requirement, in the unit that its limit is written in."""
    return NOTHING if judged[key] is None else as_stated(judged[key], judged["unit"], judged["text"], 3)


def listed_figures(cases: CampaignCases, most: int = FIGURES) -> list[str]:
    """Return the figures whose percentiles are listed: so many, loads first, and those that are required."""
    required = {one.figure for one in cases.requirements}
    return [name for row, name in enumerate(cases.measured) if row < most or name in required]


def loads_table(cases: CampaignCases, answers: dict[str, Any], most: int = FIGURES) -> Table:
    """Return percentiles of figures, loads first."""
    rows = []
    for name in listed_figures(cases, most):
        each = answers["figures"][name]
        whole = not each["unit"] and name.endswith("count")
        shares = [
            f"{each['percentiles'][share]:g}"
            if whole
            else format_with_interval(each["percentiles"][share], each["intervals_95"][share])
            for share in ("50", "95", "99")
        ]
        largest = f"{each['max']:g}" if whole else format_significant(each["max"])
        rows.append([figure_words(cases, name), each["unit"], str(each["cases"]), *shares, largest])
    columns = [("figure", ""), ("unit", ""), ("cases", ""), ("50 %", ""), ("95 %", ""), ("99 %", ""), ("largest", "")]
    keys = ("-", "-", "cases", "50", "95", "99", "largest")
    return Table(columns, rows, worded={0, 1}, look="dense", live="loads", keys=keys)


def firsts_table(answers: dict[str, Any]) -> Table:
    """Return what fails first, and in how many cases."""
    return table_of_counts("first requirement missed", answers["first_failures"], answers["runs"])


def ways_table(answers: dict[str, Any]) -> Table:
    """Return how far cases came that were not captured, and those of which it is not decided."""
    return table_of_counts("not captured", answers["missed_captures"] | answers["undecided_cases"], answers["runs"])


def table_of_counts(heading: str, counts: dict[str, int], runs: int) -> Table:
    rows = [[words, str(count), f"{100 * count / runs:.3g} %"] for words, count in counts.items()]
    return Table([(heading, ""), ("cases", ""), ("of all", "")], rows, worded={0}, live=OUTCOMES)


def missing_table(answers: dict[str, Any]) -> Table:
    """Return the cases that miss a requirement or were not captured, the worst first: what each missed, and by how much."""
    found = answers["missing"]
    rows = [[str(one["case"]), describe_misses(one)] for one in found["listed"]]
    left_out = found["cases"] - len(rows)
    columns = [("case", ""), ("what it missed, and by how much", "")]
    return Table(columns, rows, worded={0, 1}, look="wrapped", left_out=left_out, live="missing")


def describe_reasons(answers: dict[str, Any]) -> str:
    """Return how many cases miss something, and in how many it is what, in a sentence."""
    found = answers["missing"]
    if not found["cases"]:
        return "No case misses anything."
    reasons = ", ".join(f"{name_in_words(name)} in {count}" for name, count in found["reasons"].items())
    return f"{found['cases']} of {answers['runs']} cases miss: {reasons}."


def describe_misses(case: dict[str, Any]) -> str:
    """Return what a case missed, in words: that it was not captured once, not as a requirement, too."""
    way = case["capture"]
    words = [f"{NOT_CAPTURED}: {way}" if way != NOT_CAPTURED else way] if way else []
    words += [_describe_miss(one) for one in case["missed"] if not (way and one["figure"] == "captured")]
    return "; ".join(words)


def _describe_miss(one: dict[str, Any]) -> str:
    """Return a requirement that a case missed: the value and how far that is beyond the limit, where there is one."""
    name = name_in_words(one["name"])
    if one["text"] in ("true", "false"):
        return f"{name}: not {one['text']}"
    if one["value"] is None or one["margin"] is None:
        return f"{name} {one['text']}: no value"
    value, beyond = (as_stated(amount, one["unit"], one["text"], 3) for amount in (one["value"], -one["margin"]))
    return f"{name} {value}, {beyond} beyond its limit"


def worst_table(cases: CampaignCases, answers: dict[str, Any]) -> Table:
    """Return the worst cases: what runs each again, its least margin, and the keys that decide most."""
    required = bool(answers["requirements"])
    keys = _deciding_keys(cases, answers)
    columns = [("run it again", ""), *([("least margin", ""), ("to", "")] if required else []), ("peak force", "N")]
    columns += [(_breakable_key(key), DEGREES.get(cases.units[key], cases.units[key])) for key in keys]
    rows = []
    for each in answers["worst"]:
        margin = [least_margin(each), each["requirement"]] if required else []
        values = [_shown_value(cases, key, each["values"][key]) for key in keys]
        rows.append([each["command"], *margin, format_significant(each["peak_force_N"], 4), *values])
    return Table(columns, rows, worded={0, 2} if required else {0}, look="heads", code={0}, live=OUTCOMES)


def _breakable_key(key: str) -> str:
    """Return a dotted key that may go on in the next line behind a dot."""
    return key.replace(".", ".\N{ZERO WIDTH SPACE}")


def _shown_value(cases: CampaignCases, key: str, value: float) -> str:
    """Return what a key was in a case, without its unit."""
    return format_significant(float(in_degrees(value, cases.units[key])), 3)


def least_margin(each: dict[str, Any]) -> str:
    """Return the least margin of a case."""
    if each["margin"] is None:
        return "met" if each["met"] else "not met"
    return format_significant(each["margin"], 3)


def _deciding_keys(cases: CampaignCases, answers: dict[str, Any]) -> list[str]:
    """Return the keys that decide most, in the order of the scenario."""
    strength = dict.fromkeys(cases.values, 0.0)
    for by_key in answers["sensitivity"].values():
        for key, found in by_key.items():
            strength[key] = max(strength[key], found["first_order"] if found["significant"] else 0.0)
    chosen = sorted(strength, key=lambda key: -strength[key])[:KEYS]
    return [key for key in cases.values if key in chosen]


def varied_table(cases: CampaignCases) -> Table:
    """Return what was varied: as the scenario states it, and between what the cases lie."""
    rows = [
        [shared_name(keys), words, "; ".join(_value_range(cases, key) for key in keys if key in cases.values)]
        for keys, words in describe_distributions(cases)
    ]
    return Table([("key", ""), ("distribution", ""), ("in the cases", "")], rows, worded={0, 1, 2})


def shared_name(keys: tuple[str, ...]) -> str:
    """Return keys of one distribution: a list by its own name."""
    stem = keys[0].rpartition(".")[0]
    if len(keys) > 1 and keys == tuple(f"{stem}.{place}" for place in range(len(keys))):
        return stem
    return ", ".join(keys)


def _value_range(cases: CampaignCases, key: str) -> str:
    """Return the range of a key's values."""
    unit = cases.units[key]
    ends = (np.min(cases.values[key]), np.max(cases.values[key]))
    low, high = (format_significant(float(in_degrees(end, unit)), 3) for end in ends)
    return f"{low} to {high} {DEGREES.get(unit, unit)}".strip() if low != high else f"{low} {DEGREES.get(unit, unit)}"


def failures_table(answers: dict[str, Any]) -> Table:
    """Return why cases failed, and the command that runs one of each again."""
    rows = [[each["reason"], str(each["cases"]), each["command"]] for each in answers["failures"][:REASONS]]
    return Table(
        [("reason", ""), ("cases", ""), ("run the first again", "")], rows, worded={0, 2}, code={2}, live=OUTCOMES
    )
