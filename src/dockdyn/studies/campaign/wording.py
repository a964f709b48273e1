"""A campaign's numbers in words: shares and percentiles with their intervals, distributions as a reader says them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.report.wording import NOTHING, align_numbers, format_significant
from dockdyn.results.measures import Either
from dockdyn.results.requirements import without_unit
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import parse
from dockdyn.studies.campaign.cases import CampaignCases, plain_unit

DEGREES = {"rad": "deg", "rad/s": "deg/s"}  # what angles are read in
FORMS = {  # distributions by name; what is in braces is a key of its table
    "uniform": "uniform, {low} to {high}",
    "normal": "normal, mean {mean}, standard deviation {std}",
    "truncated-normal": "normal, mean {mean}, standard deviation {std}, cut to {low} to {high}",
    "log-normal": "log-normal, median {median}, standard deviation of the logarithm {sigma}",
    "choice": "one of {values}",
    "disc": "uniform over a disc of radius {radius}",
    "cone": "uniform in solid angle within {half_angle} of {axis}",
    "correlated-normal": "normal, mean {mean}, standard deviation {std}",
}
MORE = {  # what is said besides where it is stated
    "weights": ", weights {weights}",
    "centre": " about {centre}",
    "length": ", of length {length}",
    "correlation": ", correlation {correlation}",
    "covariance": ", covariance {covariance}",
    "nominal": "; nominal {nominal}",
}
NAMED = ("distribution", *MORE)  # keys that are said, in the words of a distribution of one's own, elsewhere
WITHOUT_UNIT = ("weights", "sigma", "axis", "correlation", "covariance")


def format_probability(share: float | None, interval: list[float] | None, among: str = "") -> str:
    """Return a probability with its interval, to the digits that the interval leaves: 40.2 % (39.9 to 40.5 %)."""
    if share is None or interval is None:
        return NOTHING
    return f"{format_share(share, interval)} %{among} ({format_sure(interval)})"


def format_share(share: float, interval: list[float]) -> str:
    """Return a probability in percent, without the sign, to the digits that its interval leaves."""
    return _format_percents(100 * share, _digits_left(interval))


def format_sure(interval: list[float]) -> str:
    """Return the interval of a probability: 39.9 to 40.5 %."""
    low, high = (_format_percents(100 * end, _digits_left(interval)) for end in interval)
    return f"{low} to {high} %"


def _digits_left(interval: list[float]) -> int:
    """Return how many decimals of percents an interval leaves."""
    low, high = (100 * end for end in interval)
    return min(max(1 - math.floor(math.log10(max(high - low, 1e-9))), 0), 4)


def stretch_words(stretch: dict[str, Any], between: str = " to ") -> tuple[str, str]:
    """Return the ends of the best stretch of a key, and their unit: angles in degrees, lengths below a metre in mm."""
    unit, ends = stretch["unit"], np.array([stretch["low"], stretch["high"]])
    ends, shown = in_degrees(ends, unit), DEGREES.get(unit, unit)
    if unit in ("m", "m/s") and np.abs(ends).max() < 1:
        ends, shown = 1e3 * ends, f"m{unit}"
    return between.join(align_numbers(list(map(float, ends)), 3)), shown


def undecided_words(answers: dict[str, Any]) -> str:
    """Return what to know of cases that are not decided at the end of the duration; empty where all are."""
    count = answers["undecided"]
    if not count:
        return ""
    return (
        f"{count} of {answers['runs']} cases are not decided at the end of the duration: the probe still approaches, or "
        "touches; probabilities count them as failures at the lower end of their interval, as successes at the upper, and "
        f"loads are those so far. duration = {answers['deciding_duration_s']:g} s should decide them"
    )


def released_words(answers: dict[str, Any]) -> str:
    """Return in how many cases what was captured is not held at the end, in a sentence; empty where it is in all."""
    count = answers["released"]
    return f"In {count} of the cases that were captured not all latches hold at the end." if count else ""


def not_known(answers: dict[str, Any]) -> str:
    """Return in how many cases the largest force is but a lower bound, and why; empty where it is known in all."""
    count = answers["peak_force_not_known"]
    if not count:
        return ""
    return (
        f"the largest force is not known in {count} of {answers['runs']} cases, what is given of them is a lower bound: their "
        "capture is instantaneous, yields beyond the stroke, or is cut off before its first swing is over"
    )


def _format_percents(value: float, digits: int) -> str:
    """Return a number of percents with so many decimals; none for 0 and 100, where they are exact."""
    return f"{value:.0f}" if value in (0.0, 100.0) else f"{value:.{digits}f}"


def format_with_interval(value: float | None, interval: list[float | None] | None, unit: str = "") -> str:
    """Return a number with its interval, to the digits that the interval leaves: 893 N (885 to 897 N)."""
    if value is None:
        return NOTHING
    low, high = interval or [None, None]
    narrow = low is not None and high is not None and high - low < 0.01 * abs(value)
    digits = 4 if narrow else 3
    said, tail = format_significant(value, digits), f" {unit}" if unit else ""
    if low is None and high is None:
        return said + tail
    if high is None:
        return f"{said}{tail} (at least {format_significant(low, digits)}{tail})"
    if low is None:
        return f"{said}{tail} (at most {format_significant(high, digits)}{tail})"
    ends = [format_significant(end, digits) for end in (low, high)]
    if ends == [said, said]:
        return f"{said}{tail} (alike to these digits)"
    return f"{said}{tail} ({ends[0]} to {ends[1]}{tail})"


def figure_words(cases: CampaignCases, name: str) -> str:
    """Return a figure in words: its long name, or its key without unit."""
    words = cases.names.get(name, name)
    if words != name and words != name.replace("_", " "):
        return words
    return without_unit(name).replace("_", " ").replace(".", " ")


def label_with_unit(words: str, unit: str) -> str:
    """Return an axis or row with its unit."""
    return f"{words}, {DEGREES.get(unit, unit)}" if unit else words


def in_degrees(values: Either, unit: str) -> Either:
    """Return values as they are read: angles in degrees."""
    return np.degrees(values) if unit in DEGREES else values


def describe_distributions(cases: CampaignCases) -> list[tuple[tuple[str, ...], str]]:
    """Return what was varied: keys, and their distribution in words; a dash where the scenario can no longer be read."""
    try:
        folder = Path(str(cases.attributes.get("source", ""))).parent  # where a distribution of the user's own may be
        dispersions = parse(str(cases.attributes["scenario"]), "campaign", folder=folder).dispersions
    except ScenarioError:  # a law of the user's own
        dispersions = ()
    found = [
        (each.keys, _in_words(each.law.model_dump(exclude_none=True, exclude_defaults=True), plain_unit(each.units[0])))
        for each in dispersions
    ]
    told = {key for keys, _ in found for key in keys}
    return found + [((key,), NOTHING) for key in cases.values if key not in told]


def _in_words(table: dict[str, Any], unit: str) -> str:
    """Return a distribution as a reader says it; numbers without unit are SI."""
    name = str(table["distribution"])
    form = FORMS.get(name) or name + "".join(f", {key} {{{key}}}" for key in table if key not in NAMED)
    form += "".join(words for key, words in MORE.items() if key in table)
    units = {key: "" if key in WITHOUT_UNIT else "rad" if key == "half_angle" else unit for key in table}
    told = {key: _with_unit(value, units[key]) for key, value in table.items()}
    for key in {"values", "weights"} & set(table):
        told[key] = ", ".join(_with_unit(value, units[key]) for value in table[key])
    return form.format_map(StatedWords(told))


class StatedWords(dict[str, str]):
    """Words by key; a dash for what is not stated."""

    def __missing__(self, key: str) -> str:
        return NOTHING


def _with_unit(value: object, unit: str) -> str:
    """Return a value of a scenario file, with the unit that it lacks."""
    if isinstance(value, list):
        inner = ", ".join(_with_unit(item, "") for item in value)
        bare = all(isinstance(item, int | float) for item in value)
        return f"({inner}) {unit}".strip() if bare else f"({inner})"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{in_degrees(value, unit):.6g} {DEGREES.get(unit, unit)}".strip()
    return str(value).lower() if isinstance(value, bool) else str(value)
