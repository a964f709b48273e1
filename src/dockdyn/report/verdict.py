"""What a reader of a page sees first: whether it went well, what decides, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from dockdyn.report.wording import format_significant, requirement_row

if TYPE_CHECKING:
    from dockdyn.report.report import Report

Sort = Literal["ok", "bad", "warn", ""]


@dataclass(frozen=True)
class Advice:
    """A sentence under the verdict, and a command to type where there is one."""

    word: str
    sentence: str
    command: str = ""


def split_sentences(words: str) -> list[str]:
    """Return the sentences of a verdict."""
    return re.split(r"(?<=[.!?]) (?=[A-ZÀ-Þ\d])", words)


def sort_of(report: Report) -> Sort:
    """Return whether a report is good news, bad, or to be read with care; nothing where it judges nothing."""
    if report.neutral:
        return ""
    sorts = {True: "ok", False: "bad", None: "open"}
    judged = [sorts[one["met"]] for one in report.requirements] or [bar.sort for bar in report.bars]
    if report.alarming or "bad" in judged:
        return "bad"
    if report.warnings or {"warn", "open"} & set(judged):
        return "warn"
    return "ok" if judged or report.headline else ""


def judgement_sentence(found: Sequence[dict[str, Any]]) -> str:
    """Return whether a run meets its requirements, in a sentence; empty where it has none."""
    missed = [one["name"] for one in found if one["met"] is False]
    undecided = [one["name"] for one in found if one["met"] is None]
    said = (("✗", "not met", missed), ("?", "not decided", undecided))
    words = [
        f"{mark} {len(names)} of {len(found)} requirements {what}: {', '.join(names)}."
        for mark, what, names in said
        if names
    ]
    if words or not found:
        return " ".join(words)
    return f"✓ All {len(found)} requirements met." if len(found) > 1 else "✓ The requirement is met."


def used_share(judged: dict[str, Any]) -> float | None:
    """Return how much of its limit a requirement uses, more than 1 where it is not met; None where that has no meaning."""
    limit, value = judged["limit"], judged["value"]
    if isinstance(limit, bool) or value is None or not (limit > 0 and value >= 0):
        return None
    if judged["relation"].startswith("<"):
        return value / limit
    return limit / value if judged["relation"].startswith(">") and value > 0 else None


def worst_first(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return requirements in the order of their concern: those that are not met, not decided, and met by the least margin."""
    return sorted(found, key=lambda one: ({False: 0, None: 1, True: 2}[one["met"]], -(used_share(one) or 0.0)))


def share_in_words(judged: dict[str, Any]) -> str:
    """Return how much of a limit is used, in words; empty where that has no meaning."""
    share = used_share(judged)
    if share is None:
        return ""
    if share > 1:
        return f"{format_significant(100 * (share - 1), 2)} % beyond the limit"
    return f"{format_significant(100 * share, 2)} % used" if share >= 0.01 else "under 1 % used"


def run_advice(found: Sequence[dict[str, Any]], scenario: str, delay: float) -> list[Advice]:
    """Return what decides whether a run meets its requirements, and what to do next.

    `scenario` is its file; with distributions in it the run is its nominal case. `delay` (s) is that of its loop.
    """
    advice = []
    if found:
        worst = worst_first(found)[0]
        asked, value, _, met = requirement_row(worst)
        share = share_in_words(worst)
        advice.append(Advice("Decides", f"{asked}: {met}, {value}{f', {share}' if share else ''}."))
    if re.search(r"\bdistribution\b", scenario):
        advice.append(
            Advice(
                "Next",
                "This is the nominal case; see how it goes over what scatters:",
                "dockdyn campaign run scenario.toml",
            )
        )
    elif delay > 0:
        advice.append(
            Advice("Next", "See which delays and settings leave the contact stable:", "dockdyn stability scenario.toml")
        )
    elif not found:
        advice.append(
            Advice("Next", "State what must hold under [requirements]: this page then shows by how much it does.")
        )
    return advice
