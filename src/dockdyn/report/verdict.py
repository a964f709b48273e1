"""What a reader of a page sees first: whether it went well, what decides, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dockdyn.records import record
from dockdyn.report.wording import format_significant, name_in_words, worded_row

if TYPE_CHECKING:
    from dockdyn.report.report import Report

Sort = Literal["ok", "bad", "warn", ""]


@record
class Advice:
    """A sentence under the verdict, and a command to type where there is one.

    `follows` is what it is by where a page computes other numbers: the requirements, the worst of cases, or the settings that
    its command then takes; "nothing" is said whatever the numbers are. Else it is of the report's own numbers alone.
    """

    word: str
    sentence: str
    command: str = ""
    follows: Literal["", "requirements", "worst", "settings", "nothing"] = ""


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


UNMET: tuple[tuple[bool | None, str, str], ...] = ((False, "✗", "not met"), (None, "?", "not decided"))
MISSED = "{mark} {count} of {all} requirements {what}: {names}."
MET_ALL, MET_ONE = "✓ All {all} requirements met.", "✓ The requirement is met."


def judgement_sentence(found: Sequence[dict[str, Any]]) -> str:
    """Return whether a run meets its requirements, in a sentence; empty where it has none."""
    words = [
        MISSED.format(mark=mark, count=len(names), all=len(found), what=what, names=", ".join(names))
        for sort, mark, what in UNMET
        if (names := [name_in_words(one["name"]) for one in found if one["met"] is sort])
    ]
    if words or not found:
        return " ".join(words)
    return (MET_ALL if len(found) > 1 else MET_ONE).format(all=len(found))


# what figures must be, None where it is enough that there is one, and the words then, with figures in braces
type Headlines = Sequence[tuple[Mapping[str, bool | None], str]]


def headline_of(headlines: Headlines, figures: Mapping[str, Any]) -> str:
    """Return the words of the first that holds of the figures of a run; empty where none does."""
    for holds, words in headlines:
        given = {name: figures.get(name) for name in holds}
        if all(given[name] is not None and value in (None, given[name]) for name, value in holds.items()):
            return words.format_map(
                {name: format_significant(value) for name, value in figures.items() if _number(value)}
            )
    return ""


def _number(value: object) -> bool:
    return isinstance(value, int | float)


def verdict_words(report: Report) -> dict[str, Any]:
    """Return the words by which a page that computes tells the verdict of a run again, as JSON has them."""
    return {
        "headlines": [[dict(holds), words] for holds, words in report.headlines],
        "unmet": [list(one) for one in UNMET],
        "missed": MISSED,
        "met": [MET_ONE, MET_ALL],
        "warned": bool(report.warnings),
    }


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
        asked, value, _, met = worded_row(worst)
        told = [met] if isinstance(worst["limit"], bool) else [met, value, share_in_words(worst)]
        advice.append(Advice("Decides", f"{asked}: {', '.join(filter(None, told))}.", follows="requirements"))
    if re.search(r"\bdistribution\b", scenario):
        advice.append(
            Advice(
                "Next",
                "This is the nominal case; see how it goes over what scatters:",
                "dockdyn campaign run scenario.toml",
                "settings",
            )
        )
    elif delay > 0:
        advice.append(
            Advice(
                "Next",
                "See which delays and settings leave the contact stable:",
                "dockdyn stability scenario.toml",
                "settings",
            )
        )
    elif not found:
        advice.append(
            Advice(
                "Next",
                "State what must hold under [requirements]: this page then shows by how much it does.",
                follows="nothing",
            )
        )
    return advice
