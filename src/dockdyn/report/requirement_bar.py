"""A requirement on a page: its sign, its value, a bar of what it uses of its limit, or of the cases that meet it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from dockdyn.records import record
from dockdyn.report.elements import Html, element
from dockdyn.report.verdict import share_in_words, used_share, worst_first
from dockdyn.report.wording import MET, NOTHING, typeset_numbers, worded_row

Sort = Literal["ok", "bad", "warn", "open"]
LIMIT = re.compile(r"(?<= )[<>=].*$")  # behind the name of what is required
MARKS: dict[Sort, str] = {"ok": "✓", "bad": "✗", "warn": "!", "open": "?"}


@record
class RequirementBar:
    """A requirement as it stands on a page.

    Attributes:
        asked: what is required.
        value: what came of it, written.
        sort: good, bad, to be read with care, or not decided.
        verdict: the same in words.
        share: how far the bar is filled; None where there is nothing to fill it by.
        interval: both ends of what the share is sure to lie between; None where it is exact.
        words: on the left below the bar.
        margin: on the right below it.
        name: by which a page that computes finds it.
    """

    asked: str
    value: str
    sort: Sort
    verdict: str
    share: float | None = None
    interval: tuple[float, float] | None = None
    words: str = ""
    margin: str = ""
    name: str = ""

    def html(self) -> Html:
        """Return it as it stands on the page, its limit unbroken."""
        asked = LIMIT.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), typeset_numbers(self.asked))
        filled = None
        if self.share is not None:
            sure = None
            if self.interval is not None:
                low, high = (100 * end for end in self.interval)
                sure = element("b", style=f"left:{low:.1f}%;width:{high - low:.1f}%")
            filled = element(
                "div", element("span", style=f"width:{100 * min(self.share, 1.0):.1f}%"), sure, class_="bar"
            )
        return element(
            "div",
            element(
                "div",
                element("em", MARKS[self.sort], title=self.verdict),
                element("span", asked, class_="n"),
                element("b", typeset_numbers(self.value)),
                class_="top",
            ),
            filled,
            element(
                "div",
                element("span", element("span", self.verdict), f", {self.words}" if self.words else None),
                element("span", typeset_numbers(self.margin)),
                class_="ticks",
            ),
            class_=f"requirement {self.sort}",
            data_name=self.name or None,
        )


def bars_of_run(found: Sequence[dict[str, Any]]) -> list[RequirementBar]:
    """Return the requirements of a run as judged, as bars of the margin that is used, worst first."""
    sorts: dict[bool | None, Sort] = {True: "ok", False: "bad", None: "open"}
    bars = []
    for one in worst_first(found):
        asked, value, margin, _ = worded_row(one)
        words = share_in_words(one) or one.get("why", "")
        met, left = one["met"], "" if margin == NOTHING else f"margin {margin}"
        bars.append(RequirementBar(asked, value, sorts[met], MET[met], used_share(one), None, words, left, one["name"]))
    return bars
