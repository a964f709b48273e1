"""What a text in TOML holds, checked to be something that a scenario can hold."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given_file import SCENARIO, content_of
from dockdyn.scenario.language.mistaken import mistaken

LONGEST = 1_000_000  # characters of a file
LINE = re.compile(r"\(at line (\d{1,7}),")  # of tomllib's message
FIRST = 2000  # characters of a text that tell what it is
KEY = re.compile(r"""\s*([\w."'-]+)\s*=""")  # at the beginning of a line
HEADER = re.compile(r"\s*\[([^\[\]]+)\]")
DECLARED = re.compile(r"Cannot declare \((.+)\) twice")
PART = r"'([^']+)'"
QUOTED = re.compile(r""""[^"]*"|'[^']*'|#.*""")
WITH_UNIT = re.compile(r"=\s*([-+]?\d+\.?\d*\s*[A-Za-zµ°%][^,}#\]]*)")
WITH_COMMA = re.compile(r"=\s*[-+]?\d+,\d")
DEEPEST = 40  # tables and lists inside each other
MOST = 2**63  # TOML's integers are less, by size
# a key of more parts than that, which tomllib takes the square of their number for
LONG_KEY = re.compile(
    rf"""(?:^|[\[{{,])[ \t]*(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEEPEST}}}""", re.MULTILINE
)


def text_in(path: Path, name: str) -> str:
    """Return the text of a file that is called `name`. Raises `ScenarioError` where it cannot be read."""
    try:
        content = content_of(path, name, SCENARIO)
        if path.suffix != ".toml" and (words := mistaken(path, "scenario")):
            raise ScenarioError(f"{name}: {words}")
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError(f"{name}: cannot be read (not text); must be a scenario, in TOML") from None


def data_of(text: str, name: str) -> dict[str, Any]:
    """Return the tables of a file `name`. Raises `ScenarioError`."""
    if len(text) > LONGEST:
        raise ScenarioError(f"{name}: has {len(text)} characters; must be a scenario, of at most {LONGEST}")
    if LONG_KEY.search(text):
        raise ScenarioError(f"{name}: not TOML: a key has more than {DEEPEST} parts")
    try:
        data = tomllib.loads(text)
    except RecursionError:
        raise ScenarioError(f"{name}: not TOML: tables and lists are nested too deeply") from None
    except ValueError as error:  # also an integer of thousands of digits
        if sort := _other_sort(text):
            raise ScenarioError(f"{name}: is {sort}, not a scenario; must be TOML") from None
        raise ScenarioError(
            f"{name}: not TOML: {_twice(text, str(error)) or error}{_advice(text, str(error))}"
        ) from None
    check_admissible(data, name)
    return data


def _other_sort(text: str) -> str:
    """Return what a text is that is no TOML; empty where that cannot be told."""
    begins = text.lstrip()[:FIRST].lower()
    if begins.startswith("{"):
        return "JSON"
    if begins.startswith("<"):
        return "HTML" if "<html" in begins or "<!doctype html" in begins else "URDF" if "<robot" in begins else "XML"
    return ""


def _twice(text: str, problem: str) -> str:
    """Return which key or table is stated twice, where that is the problem; empty where it is another, or no key is found."""
    at = LINE.search(problem)
    if at is None:
        return ""
    if (table := DECLARED.match(problem)) is not None:
        return f"[{'.'.join(re.findall(PART, table[1]))}]: is stated twice, again in line {at[1]}; must be once"
    lines = text.splitlines()[: int(at[1])]
    if not problem.startswith("Cannot overwrite a value") or not lines or (key := KEY.match(lines[-1])) is None:
        return ""
    table = next((found for line in reversed(lines[:-1]) if (found := HEADER.match(line))), None)
    whole = f"{table[1].strip()}.{key[1]}" if table else key[1]
    return f"{whole}: is stated twice, again in line {at[1]}; must be once"


def _advice(text: str, problem: str) -> str:
    """Return what to do about a number that TOML does not read, in words; empty where the line in question has none."""
    at = LINE.search(problem)
    lines = text.splitlines()
    line = QUOTED.sub("", lines[int(at[1]) - 1]) if at and int(at[1]) <= len(lines) else ""
    if found := WITH_UNIT.search(line):
        return f'; a number with a unit stands in quotes: "{found[1].strip()}"'
    return "; a decimal point is a dot" if WITH_COMMA.search(line) else ""


def check_admissible(value: object, name: str, key: str = "") -> None:
    """Refuse what no scenario `name` holds at a dotted `key`, whatever the key: integers that TOML does not have, control
    characters, tables inside tables without end. Raises `ScenarioError`.
    """
    left = [(value, key, 0)]
    while left:
        part, place, depth = left.pop()
        where = f"{name}: {place}" if place else name
        if depth > DEEPEST:
            raise ScenarioError(f"{where}: is nested too deeply; must be at most {DEEPEST} tables and lists deep")
        if isinstance(part, str) and (sign := _control_character(part)):
            raise ScenarioError(f"{where} = {shown(part)}: holds the control character {sign!r}; must be text")
        if isinstance(part, int) and not -MOST <= part < MOST:
            digits = part.bit_length() * 3 // 10
            words = "must be an integer from -2^63 to 2^63 - 1, or a number with a decimal point"
            raise ScenarioError(f"{where}: is an integer of some {digits} digits; {words}")
        if isinstance(part, dict):
            items = [(str(own), item) for own, item in part.items()]
            for own, _ in items:
                if sign := _control_character(own):
                    raise ScenarioError(f"{where}: its key {own!r} holds the control character {sign!r}; must be text")
        elif isinstance(part, list):
            items = [(str(index), item) for index, item in enumerate(part)]
        else:
            continue
        left += [(item, ".".join(filter(None, [place, own or '""'])), depth + 1) for own, item in reversed(items)]


def _control_character(text: str) -> str | None:
    """Return the first control character in a text that is neither a line break nor a tab."""
    if text.isprintable():
        return None
    return next((sign for sign in text if unicodedata.category(sign) in ("Cc", "Cs") and sign not in "\n\r\t"), None)
