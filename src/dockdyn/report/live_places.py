"""Where a page that computes puts what it makes: numbers to change, and figures that follow, each with the room that it takes.

What is read then stays where it is when the page's script has made them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dockdyn.report.elements import Html, element

MOST_NUMBERS = 6  # that are offered unasked
MOST_CONTACTS = 6  # whose limits of the delay are sought
LACKS = 0.45  # of a row with a slider, that one with a switch lacks


def numbers_place(live: Mapping[str, Any]) -> Html:
    """Return the place of the numbers to change."""
    numbers = live["unit"]["numbers"]
    count = min(sum(bool(number["value"]) for number in numbers), MOST_NUMBERS)
    shorter = LACKS if any("law" in number for number in numbers) else 0.0
    return element("div", id="live-numbers", style=f"--rows:{count - shorter:g}", data_most=MOST_NUMBERS)


def case_place(live: Mapping[str, Any]) -> Html:
    """Return the place of what makes a case of a campaign: its requirements, and the numbers that decide."""
    keys, met = len(live["deciding"][:MOST_NUMBERS]), len(live["requirements"])
    return element("div", id="live-case", style=f"--keys:{keys};--met:{met}")


def figures_place(live: Mapping[str, Any], contacts: int) -> Html:
    """Return the place of the figures of a run, or of a loop, that differ from the report's; of cases those stand elsewhere.

    `contacts` is how many of a run there are: the limits of the delay, which only the page knows, are there from the first.
    """
    if "cases" in live or "limits" not in live:
        return element("div", id="live", class_="brief" if "cases" in live else "bare")
    of_loop, sought = 0 if "loop" in live else 1, min(contacts, MOST_CONTACTS) if live["limits"]["pairs"] else 0
    return element("div", id="live", style=f"--rows:{of_loop + sought}")
