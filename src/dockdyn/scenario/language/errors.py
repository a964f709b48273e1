"""What is wrong with a scenario, in one line."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dockdyn.scenario.language.printable import one_line

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

SHOWN = 60  # characters of a value in a message
LISTED = 40  # names in a message, all there are
NEAREST = 6  # of more names than that
WORDS = {  # of pydantic's messages, as they are said here
    "Input should be": "must be",
    "String should": "must",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
COMPARED = 60  # characters of a word that can be a known one, mistyped

BRIEF = reprlib.Repr()
BRIEF.maxstring = BRIEF.maxother = BRIEF.maxlong = 2 * SHOWN
BRIEF.maxlist = BRIEF.maxdict = 10


class ScenarioError(ValueError):
    """A scenario cannot be used; the message names file, key, value and what is allowed, in one printable line.

    `key` and `words`: the key in the file and what is said of it, where a key is what is wrong.
    """

    def __init__(self, message: str, key: str = "", words: str = ""):
        super().__init__(one_line(message))
        self.key, self.words = key, words


def nearest(word: str, allowed: Iterable[str]) -> str:
    """Words for a message: the allowed names, or the nearest of them."""
    names = sorted(allowed)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6) if len(word) <= COMPARED else []
    return f"did you mean {close[0]!r}?" if close else f"allowed: {listed(word, names)}"


def listed(word: str, names: Sequence[str]) -> str:
    """Names for a message: all of a few; of many how many there are, and those that are most like a word."""
    if len(names) <= LISTED:
        return ", ".join(names)
    like = difflib.get_close_matches(word[:COMPARED], names, n=NEAREST, cutoff=0.0)
    return f"{', '.join(like)} and {len(names) - len(like)} more"


def shown(value: object) -> str:
    """A value for a message, shortened."""
    text = BRIEF.repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def allowed(problem: ErrorDetails) -> str:
    """What is allowed instead, in words."""
    sort, context = problem["type"], problem.get("ctx", {})
    if sort in ("quantity", "part", "own_code"):
        return context["allowed"]
    if sort.startswith("union_tag"):
        names = context.get("expected_tags", "").replace("'user'", '"module:Class" for one of your own')
        told = context.get("discriminator", "").strip("'")
        return (
            f"must name one of {names}"
            if names
            else f"must be a table with a {'law or shape' if '(' in told else told}"
        )
    if sort in ("model_type", "dict_type", "model_attributes_type"):
        return "must be a table"
    if sort == "list_type":
        return "must be a list"
    if sort in ("too_short", "too_long"):
        count = context.get("min_length", context.get("max_length"))
        return f"must have {'at least ' if sort == 'too_short' else 'at most '}{count} entries, has {context['actual_length']}"
    found = str(context["error"]) if sort == "value_error" else problem["msg"]
    for pydantic, house in WORDS.items():
        found = found.replace(pydantic, house)
    of_ones_own = sort == "literal_error" and "named" in problem["loc"]
    return f'{found}, or "module:Class" for one of your own' if of_ones_own else found


def refused_in(error: ValidationError, where: str, fields: list[str], name: str) -> ScenarioError:
    """The first problem (of a pydantic ValidationError) of a table at `where` that has these fields, in one line."""
    problem = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    key = ".".join([where, *map(str, problem["loc"])])
    if problem["type"] == "extra_forbidden":
        return ScenarioError(f"{name}: {key}: unknown key; {nearest(str(problem['loc'][-1]), fields)}")
    if problem["type"] == "missing":
        return ScenarioError(f"{name}: {key}: missing")
    given = "" if isinstance(problem["input"], dict) else f" = {shown(problem['input'])}"
    return ScenarioError(f"{name}: {key}{given}: {allowed(problem)}")
