"""What is wrong with a scenario, in one line."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from dockdyn.scenario.language.or_none import NONE
from dockdyn.scenario.language.printable import one_line

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

SHOWN = 60  # characters of a value in a message
LISTED = 380  # characters of names in a message, all there are
NEAREST = 6  # of more names than that
WORDS = {  # of pydantic's messages, as they are said here
    "Input should be": "must be",
    "String should": "must",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
SORTS = {  # what a key of one sort must be, by what pydantic calls its refusal
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "model_attributes_type": "must be a table",
    "list_type": "must be a list",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
}
MISTYPED = 0.85  # of two dotted names, from which on one is the other mistyped
ASKED = 3  # names in a question
FIRST_KEY = re.compile(r"[^\s:=]+")  # of a message, behind the file
COMPARED = 60  # characters of a word that can be a known one, mistyped


class AsInFile(reprlib.Repr):
    """Python's short text of a value, but for tables and for true and false, which are as a file has them."""

    def repr_bool(self, value: bool, level: int) -> str:
        return str(value).lower()

    def repr_dict(self, value: dict[object, Any], level: int) -> str:
        if value and level <= 0:
            return "{...}"
        shown = [f"{key} = {self.repr1(one, level - 1)}" for key, one in islice(value.items(), self.maxdict)]
        return f"{{{', '.join(shown + ['...'] * (len(value) > self.maxdict))}}}"


BRIEF = AsInFile()
BRIEF.maxstring = BRIEF.maxother = BRIEF.maxlong = 2 * SHOWN
BRIEF.maxlist = BRIEF.maxdict = 10


class ScenarioError(ValueError):
    """A scenario cannot be used; the message names file, key, value and what is allowed, in one printable line.

    `key` and `words`: the key in the file and what is said of it, where a key is what is wrong.
    """

    def __init__(self, message: str, key: str = "", words: str = ""):
        super().__init__(one_line(message))
        self.key, self.words = key, words


def key_in(error: ScenarioError, name: str) -> str | None:
    """Return the dotted key of the scenario `name` that an error is about; None of one about no key, or another scenario."""
    rest = str(error).removeprefix(f"{name}: ")
    found = FIRST_KEY.match(rest)
    return None if rest == str(error) or found is None else found[0]


def is_key_inside(key: str, of: str) -> bool:
    """Return whether a dotted key is another one or inside it."""
    return key == of or key.startswith(f"{of}.")


def nearest(word: str, allowed: Iterable[str]) -> str:
    """Return words for a message: the allowed name that was meant, those that end in the word, all there are, or that there is
    none."""
    names = sorted(allowed)
    if not names:
        return "there is none"
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6) if len(word) <= COMPARED else []
    return (
        f"did you mean {close[0]!r}?"
        if close
        else close_to(word, names) or f"allowed: {shorten_name_list(word, names)}"
    )


def close_to(word: str, names: Iterable[str]) -> str:
    """Return a question for a message: which of the dotted `names` have all parts of the dotted `word`, in its order and to
    its end, or something like that; empty where none does."""
    if len(word) > COMPARED:
        return ""
    parts = word.split(".")
    dotted = {name: name.split(".") for name in names}
    fitting = [name for name, own in dotted.items() if own[-1] == parts[-1] and _in_order(parts, own)]
    if not fitting and len(parts) > 1:
        # its last parts; or its first ones and the last, where the name in between is left out
        forms = {name: {".".join(own[-len(parts) :])} for name, own in dotted.items()}
        for name, own in dotted.items():
            if len(own) > len(parts):
                forms[name].add(".".join([*own[: len(parts) - 1], own[-1]]))
        like = difflib.get_close_matches(word, set().union(*forms.values()), n=1, cutoff=MISTYPED)
        fitting = [name for name, both in forms.items() if both & set(like)]
    fitting.sort(key=lambda name: (len(dotted[name]), name))
    few = fitting[:ASKED] if len(fitting) > ASKED + 1 else fitting
    more = f" or one of {len(fitting) - len(few)} more" if len(few) < len(fitting) else ""
    return f"did you mean {' or '.join(map(repr, few))}{more}?" if few else ""


def _in_order(parts: Sequence[str], of: Sequence[str]) -> bool:
    """Return whether `parts` are among those `of` a name, in their order."""
    rest = iter(of)
    return all(part in rest for part in parts)


def shorten_name_list(word: str, names: Sequence[str]) -> str:
    """Return names for a message: all of a few; of many how many there are, and those that are most like a word."""
    if len(whole := ", ".join(names)) <= LISTED:
        return whole
    like = difflib.get_close_matches(word[:COMPARED], names, n=NEAREST, cutoff=0.0)
    return f"{', '.join(like)} and {len(names) - len(like)} more"


def shown(value: object) -> str:
    """Return a value for a message, shortened."""
    text = BRIEF.repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def allowed(problem: ErrorDetails) -> str:
    """Return what is allowed instead, in words."""
    sort, context = problem["type"], problem.get("ctx", {})
    if sort in ("quantity", "part", "own_code"):
        return context["allowed"]
    if sort.startswith("union_tag"):
        names = context.get("expected_tags", "").replace("'user'", '"module:Class" for one of your own')
        told = context.get("discriminator", "").strip("'")
        if "(" in told:  # found by a function
            told = "law or shape"
        meant = difflib.get_close_matches(
            str(context.get("tag", ""))[:COMPARED], re.findall(r"'([^']+)'", names), 1, 0.6
        )
        question = f"; did you mean {meant[0]!r}?" if meant else ""
        return f"must name one of {names}{question}" if names else f"must be a table with a {told}"
    if sort in SORTS:
        return SORTS[sort]
    if sort in ("too_short", "too_long"):
        count = context.get("min_length", context.get("max_length"))
        entries = "entry" if count == 1 else "entries"
        return f"must have at {'least' if sort == 'too_short' else 'most'} {count} {entries}, has {context['actual_length']}"
    found = str(context["error"]) if sort == "value_error" else problem["msg"]
    for pydantic, house in WORDS.items():
        found = found.replace(pydantic, house)
    of_ones_own = sort == "literal_error" and "named" in problem["loc"]
    return f'{found}, or "module:Class" for one of your own' if of_ones_own else found


def locate_problem(loc: tuple[int | str, ...], data: object, missing: bool) -> tuple[list[str], Any]:
    """Return the path of a problem in the file itself (without pydantic's own tags), and the value there.

    Of tables under names, pydantic numbers those that the file has by name.
    """
    path: list[str] = []
    place: Any = data
    for index, part in enumerate(loc):
        if isinstance(place, dict) and isinstance(part, int):
            tables = (name for name, table in place.items() if table != NONE)  # those left out have no number
            part = next(islice(tables, part, None), part)
        inside = (isinstance(place, dict) and part in place) or (
            isinstance(place, list) and isinstance(part, int) and part < len(place)
        )
        if inside:
            place = place[part]
            path.append(str(part))
        elif missing and index == len(loc) - 1:
            path.append(str(part))
            place = None
    return path, place


def refused_in(error: ValidationError, where: str, table: object, fields: list[str], name: str) -> ScenarioError:
    """Return the first problem (of a pydantic ValidationError) of the `table` at `where` that has these fields, in one line."""
    problem = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    key = ".".join([where, *locate_problem(problem["loc"], table, problem["type"] == "missing")[0]])
    if problem["type"] == "extra_forbidden":
        return ScenarioError(f"{name}: {key}: unknown key; {nearest(str(problem['loc'][-1]), fields)}")
    if problem["type"] == "missing":
        return ScenarioError(f"{name}: {key}: missing")
    given = "" if isinstance(problem["input"], dict) else f" = {shown(problem['input'])}"
    return ScenarioError(f"{name}: {key}{given}: {allowed(problem)}")
