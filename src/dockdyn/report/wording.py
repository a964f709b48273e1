"""Numbers and contacts in words, the same in figures and tables."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from dockdyn.scenario.language.units import convert

NOTHING = "–"  # what there is no number for
AT_AN_INSTANT = ("Largest force of the impacts", "not known: they act at an instant")  # row of a summary table
LIMIT = re.compile(r"^\s*[<>=]*\s*[-+]?[\d.]+(e[-+]?\d+)?\s*", re.IGNORECASE)  # relation and number, before a unit
HYPHEN = re.compile(r"(?<![\w.=–-])-(?=\.?\d)")  # in the place of the sign of a number
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([-+]?\d+)(?![\w.]*\w)")  # of ten, as it is typed
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SMALL = 1e-3  # of the unit that a limit is written in: smaller amounts have a prefix of their own
PREFIXES = (("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9))
SMALLEST = PREFIXES[-1][1]
PREFIXED = ("N", "N m", "N s", "J", "m", "m/s", "s")
MET = {True: "met", False: "not met", None: "not decided"}


def format_significant(value: float | None, digits: int = 4) -> str:
    """Return a number with so many significant digits, trailing zeros kept: 0.004284, 70.0, 5.21e-9; a dash for none."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == 0:
        return "0"  # also where it is −0
    if math.isinf(value):
        return f"{value:g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = int(exponent)  # after rounding: 9.9996 with four digits is 10.00
    if -4 <= power < max(digits, 5):
        return f"{value:.{max(digits - 1 - power, 0)}f}"
    return f"{mantissa}e{power}"


def typeset_numbers(words: str) -> str:
    """Return words as they are set for readers: negative numbers with the minus sign, powers of ten raised."""
    raised = POWER.sub(lambda found: f"{found[1]}×10{str(int(found[2])).translate(RAISED)}", words)
    return HYPHEN.sub("−", raised)


def with_unit(value: float | None, unit: str, digits: int = 4) -> str:
    """Return a number with its unit; a dash for none."""
    return f"{format_significant(value, digits)} {format_unit(unit)}".rstrip() if value is not None else NOTHING


def format_unit(unit: str) -> str:
    """Return a unit for readers."""
    return unit.replace("**2", "²").replace("**", "^").replace("*", " ")


def align_numbers(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """Return numbers of one kind with the same decimals, so that the largest has so many significant digits."""
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(sizes, default=0.0)
    if not 1e-4 <= largest < 1e5:
        return [format_significant(value, digits) for value in values]
    decimals = max(digits - 1 - math.floor(math.log10(largest)), 0)
    return [
        f"{value:z.{decimals}f}" if value is not None and math.isfinite(value) else format_significant(value)
        for value in values
    ]


def capitalise_first(words: str) -> str:
    """Return words at the start of a sentence."""
    return words[:1].upper() + words[1:]


def format_ranges(numbers: Sequence[int]) -> str:
    """Return contacts by number: [1, 2, 3, 5] is "Q1–Q3, Q5"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    long = [f"Q{run[0]}–Q{run[-1]}" if len(run) > 2 else ", ".join(f"Q{number}" for number in run) for run in runs]
    return ", ".join(long)


def contacts_or_count(numbers: Sequence[int], room: int = 16) -> str:
    """Return contacts by number, or their count where the list is longer than `room` characters."""
    listed = format_ranges(numbers)
    return listed if len(listed) <= room else f"{len(numbers)} contacts"


def capture_load(summary: dict[str, Any]) -> str:
    """Return what the capture of a probe put on the latch; empty where there was none, or it is not told."""
    if summary.get("latch.peak_force_N") is None:
        return ""
    impulse = f"{format_significant(summary['latch.impulse_along_N_s'])} N s along the docking axis"
    least = "" if summary["peak_force_known"] else "at least "
    return (
        f"The catch took up {impulse} with {least}{format_significant(summary['latch.peak_force_N'])} N, at "
        f"{format_significant(summary['latch.peak_time_s'])} s, and yielded "
        f"{format_significant(summary['latch.grip_travel_m'] * 1e3, 3)} mm."
    )


def format_gains(intervals: list[list[float | None]]) -> str:
    """Return intervals of gains (N s/m) in words; None is an end that was not found."""
    said = []
    for low, high in intervals:
        ends = [f"above {low:.6g}" if low is not None else "", f"below {high:.6g}" if high is not None else ""]
        said.append(f"{low:.6g} to {high:.6g}" if low is not None and high is not None else "".join(ends) or "any")
    return ", ".join(said) or "none"


def as_stated(amount: float, unit: str, limit: str, digits: int = 4) -> str:
    """Return an amount of a `unit` in the unit that a user has written a limit in: 0.025 m beside "< 50 mm" is 25 mm.

    One far below that unit has a prefix of its own: 0.00023 N beside "< 6.5 kN" is 0.23 mN.
    """
    written, scale = stated_unit(unit, limit)
    if unit in PREFIXED and SMALLEST <= abs(amount) < SMALL * scale:
        prefix, size = next((prefix, size) for prefix, size in PREFIXES if abs(amount) >= size)
        return f"{format_significant(amount / size, digits)} {prefix}{unit}"
    return f"{format_significant(amount / scale, digits)} {written}".rstrip()


def stated_unit(unit: str, limit: str) -> tuple[str, float]:
    """Return the unit that a user has written a limit in, and how many of a `unit` one of it is; else that unit itself."""
    written = LIMIT.sub("", limit).strip()
    try:
        scale = convert(f"1 {written}", unit.replace("²", "**2")) if written else 1.0
    except ValueError:
        scale = 0.0
    return (written or unit, scale) if scale else (unit, 1.0)


def name_in_words(key: str) -> str:
    """Return the name of a requirement as it is read: contact.faces.peak_force is contact faces: peak force."""
    table, _, last = key.rpartition(".")
    words = last.replace("_", " ")
    return f"{table.replace('.', ' ')}: {words}" if table else words


def requirement_row(judged: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return a requirement as judged: what is required, the value, the margin, met or not."""
    unit, limit = judged["unit"], judged["limit"]
    if isinstance(limit, bool):
        asked = f"{judged['name']} = {'true' if limit else 'false'}"
        value = NOTHING if judged["value"] is None else "true" if judged["value"] else "false"
        return asked, value, NOTHING, MET[judged["met"]]
    stated = judged.get("text") or f"{judged['relation']} {limit:g} {unit}".rstrip()
    asked = f"{judged['name']} {stated}"
    value, margin = (
        NOTHING if amount is None else as_stated(amount, unit, stated)
        for amount in (0.0 if judged.get("rounding") else judged["value"], judged["margin"])
    )
    if "at" in judged:
        value += f" at {judged['at']}"
    if judged["met"] is None:  # a lower bound
        value = "not known" if judged["value"] is None else f"at least {value}"
    return asked, value, margin, MET[judged["met"]]


def worded_row(judged: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return a row of a requirement with its name in words, as pages have it; a terminal has the key, which can be typed."""
    return requirement_row(judged | {"name": name_in_words(judged["name"])})


def join_keys(keys: str) -> str:
    """Return keys that change together, joined by commas, with what they share written once: loop.{hold, sensor}.period."""
    rows = [key.split(".") for key in keys.split(", ")]
    if len(rows) == 1:
        return keys
    shortest = min(map(len, rows))
    first = next((i for i in range(shortest) if len({row[i] for row in rows}) > 1), shortest)
    last = next((i for i in range(shortest - first) if len({row[-1 - i] for row in rows}) > 1), shortest - first)
    middle = ", ".join(".".join(row[first : len(row) - last]) for row in rows)
    return ".".join([*rows[0][:first], f"{{{middle}}}", *rows[0][len(rows[0]) - last :]])


def count_of(count: int, thing: str) -> str:
    return f"{count or 'no'} {thing}{'' if count == 1 else 's'}"
