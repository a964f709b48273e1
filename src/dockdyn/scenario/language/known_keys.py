"""Which keys a scenario can have, table by table, and which of them one that it cannot have was meant to be."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import Any

from pydantic import VERSION

from dockdyn.backend import cache_folder
from dockdyn.kept import find_entry, keep_entry
from dockdyn.scenario.language.errors import COMPARED, close_to, nearest
from dockdyn.scenario.language.section import Section
from dockdyn.translate.store import name_of

TAGS = ("law", "shape", "kind")  # keys that say which table it is
ALIKE = 0.8  # of two words, from which on one is the other mistyped
WORDS = {  # of what a JSON schema calls the type of a value
    "object": "a table",
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}
SYNONYMS = {  # what other programs call a key, and what it is here
    "angular_velocity": "rate",
    "omega": "rate",
    "orientation": "attitude",
    "rotation": "attitude",
    "quaternion": "attitude",
    "com": "centre",
    "center": "centre",
    "origin": "position",
    "mu": "coefficient",
    "k": "stiffness",
    "parent": "on",
    "time": "duration",
    "t_end": "duration",
    "timestep": "step",
    "dt": "step",
}
MOST_TABLES = 300  # that are looked through for a key
REPEATED = "named"  # marks tables under names of their own
DEEPEST_ABSENT = 2  # tables inside each other that a scenario does not state
Node = dict[str, Any]


@cache
def _schema_of(kind: type[Section]) -> Node:
    """Return pydantic's own description of a kind, which is kept from one process to the next: it takes as long as a run."""
    place = cache_folder() / "keys"
    name = name_of((VERSION, kind.__module__, kind.__qualname__)) if kind.__module__.startswith("dockdyn.") else ""
    if name and (stored := find_entry(place, name)) is not None:
        return json.loads(stored)
    made = kind.model_json_schema(by_alias=True, mode="validation")
    if name:
        keep_entry(place, name, json.dumps(made).encode())
    return made


class KnownKeys:
    """The keys of a scenario's tables, by pydantic's own description of what checks its kind."""

    def __init__(self, kind: type[Section], data: Mapping[str, Any]):
        self.kind, self.data = kind, data

    @cached_property
    def _schema(self) -> Node:
        return _schema_of(self.kind)

    def beside(self, path: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
        """Return the keys allowed in the table that refused the one at `path`, and by law or shape those of the others that it
        could name."""
        node, value = self._at(path[:-1])
        mine = self._choose_table(node, value, path[-1])
        others = {_distinct_tag(o, mine): list(o.get("properties", {})) for o in self._options(node) if o is not mine}
        return list(mine.get("properties", {})), {tag: keys for tag, keys in others.items() if tag != "None"}

    def words_at(self, path: Sequence[str]) -> list[str]:
        """Return the words by which the table at `path` can say what it is."""
        return [tag for option in self._options(self._at(path)[0]) if (tag := _tag(option)) is not None]

    def length_at(self, path: Sequence[str]) -> int | None:
        """Return how many entries the list at `path` must have; None where that is not one number."""
        lists = [option for option in self._options(self._at(path)[0]) if "items" in option]
        counts = {option.get(key) for option in lists for key in ("minItems", "maxItems")}
        return counts.pop() if len(counts) == 1 else None

    def needed_at(self, path: Sequence[str]) -> str:
        """Return words for a message: what the key at `path`, which the file does not state, must be."""
        node, value = self._at(path[:-1])
        return self._words_of(self._inside(self._choose_table(node, value), path[-1]))

    def is_optional(self, path: Sequence[str]) -> bool:
        """Return whether the key at `path` may be left out."""
        return path[-1] not in self._choose_table(*self._at(path[:-1])).get("required", ())

    def is_optional_table(self, path: Sequence[str]) -> bool:
        """Return whether a table, or tables under names, can stand at `path`, and may be left out."""
        return self._is_table(self._at(path)[0]) and self.is_optional(path)

    def _words_of(self, node: Node) -> str:
        """Return what a value can be, in words: "a mass greater than 0 kg", "a list of 3 entries, each a length in m"."""
        several = [option for option in self._options(node) if option.get("type") != "null"]
        if len(several) > 1:
            return ", or ".join(sorted({self._words_of(option) for option in several}, key=len))
        node = several[0]
        if choices := [node["const"]] if "const" in node else node.get("enum", []):
            return " or ".join(map(repr, choices))
        if node.get("type") == "array":
            count = node.get("minItems") if node.get("minItems") == node.get("maxItems") else None
            return f"a list{'' if count is None else f' of {count} entries'}, each {self._words_of(node['items'])}"
        if node.get("type") == "number" and "description" in node:
            what, unit, *limits = node["description"].split(", ", 2)
            return f"{what} {limits[0]}" if limits else what if unit == "1" or "{" in unit else f"{what} in {unit}"
        if REPEATED in node:
            return "tables, each under a name of its own"
        return WORDS.get(node.get("type", ""), "stated")

    def _at(self, path: Sequence[str]) -> tuple[Node, Any]:
        """Return what is at a path, as pydantic describes it and as it is stated."""
        node, value = self._schema, self.data
        for part in path:
            node = self._choose_table(node, value)
            value = value[int(part)] if isinstance(value, list) else value[part]
            node = self._inside(node, part)
        return node, value

    def advice(self, word: str, keys: Sequence[str], asked: str) -> str:
        """Return words for a message: what the unknown `word` of a table with these `keys` was meant to be, or what is allowed.

        `asked` is the whole dotted key. One mistyped is of its own table, any other of one that ends as it does.
        """
        if close := difflib.get_close_matches(word[:COMPARED], keys, n=1, cutoff=ALIKE):
            return f"did you mean {close[0]!r}?"
        if (here := SYNONYMS.get(word)) in keys:
            return f"it is called {here!r} here"
        stated, others = self._keys_of_all_tables()
        first, _, inside = asked.partition(".")
        for key in (stated + others) if first == word and inside else ():
            table, _, rest = key.partition(".")
            if rest == inside and difflib.get_close_matches(word[:COMPARED], [table], n=1):
                return f"did you mean {table!r}?"
        own, last = nearest(word, keys), asked.rpartition(".")[2]
        for found in (close_to(asked, stated), close_to(asked, others), own if own.startswith("did") else ""):
            if found:
                return found
        return close_to(last, stated) or own

    def _keys_of_all_tables(self) -> tuple[list[str], list[str]]:
        """Return the dotted keys of all numbers and words that the tables state, and of those that they could."""
        stated: list[str] = []
        others: list[str] = []
        for path, keys, given in islice(self._walk_tables(self._schema, self.data, (), 0), MOST_TABLES):
            for key in keys:
                (stated if key in given else others).append(".".join([*path, key]))
        return stated, others

    def _walk_tables(
        self, node: Node, value: object, path: tuple[str, ...], absent: int
    ) -> Iterator[tuple[tuple[str, ...], list[str], Node]]:
        """Walk the tables: each with how it is named in a key, its own keys that hold no table, and what it states."""
        if isinstance(value, list):
            items = self._inside(node, "0")
            for index, item in enumerate(value):
                yield from self._walk_tables(items, item, (*path, str(index)), absent)
            return
        if isinstance(value, dict) and self._holds_names(node):
            for name, table in value.items():
                yield from self._walk_tables(self._inside(node, name), table, (*path, name), absent)
            return
        properties = self._choose_table(node, value).get("properties", {})
        if not properties or absent > DEEPEST_ABSENT:
            return
        given = value if isinstance(value, dict) else {}
        yield path, [key for key, inside in properties.items() if not self._is_table(inside)], given
        for key, inside in properties.items():
            if key in given or not self._is_list(inside):
                yield from self._walk_tables(inside, given.get(key), (*path, key), absent + (key not in given))

    def _options(self, node: Node) -> list[Node]:
        """Return what a value can be, references followed."""
        while "$ref" in node:
            node = self._schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
        several = node.get("anyOf", []) + node.get("oneOf", [])
        return [option for one in several for option in self._options(one)] if several else [node]

    def _choose_table(self, node: Node, value: object, refused: str = "") -> Node:
        """Return the table that a value names by its tag, of several the one with most of its keys, or the first there is; none
        that has a key which it `refused`."""
        given = next((value[name] for name in TAGS if name in value), None) if isinstance(value, dict) else None
        tables = [option for option in self._options(node) if "properties" in option]
        named = None if isinstance(given, str) and ":" in given else given  # one's own: the table without a tag
        alike = [option for option in tables if _tag(option) == named and given is not None]
        if len(alike) > 1 and isinstance(value, dict):
            stated, fitting = value.keys(), [option for option in alike if refused not in option["properties"]]
            return max(fitting or alike, key=lambda option: len(stated & option["properties"].keys()))
        if alike or any(_tag(option) for option in tables):
            return next(iter(alike), tables[0])
        keys = value.keys() if isinstance(value, dict) else ()
        return max(tables, key=lambda option: len(set(keys) & option["properties"].keys()), default=node)

    def _inside(self, node: Node, part: str) -> Node:
        """Return what is at a key of a table, under a name, or at an index of a list."""
        if self._holds_names(node):
            return next(option["additionalProperties"] for option in self._options(node) if REPEATED in option)
        items: Node = next((option["items"] for option in self._options(node) if "items" in option), {})
        return items if part.isdigit() else node.get("properties", {}).get(part, {})

    def _holds_names(self, node: Node) -> bool:
        """Return whether tables stand there, each under a name of its own."""
        return any(REPEATED in option for option in self._options(node))

    def _is_table(self, node: Node) -> bool:
        return any("properties" in option for option in self._options(node)) or self._is_list(node)

    def _is_list(self, node: Node) -> bool:
        """Return whether it is a list of tables."""
        if self._holds_names(node):
            return True
        items = (option["items"] for option in self._options(node) if "items" in option)
        return any(any("properties" in option for option in self._options(one)) for one in items)


def _tag(option: Node) -> str | None:
    properties = option.get("properties", {})
    return next((properties[name].get("const") for name in TAGS if name in properties), None)


def _distinct_tag(option: Node, mine: Node) -> str:
    """Return the tag of a table, with what tells it from `mine` where that has the same."""
    tag = str(_tag(option))
    if tag != str(_tag(mine)):
        return tag
    ways = [
        (word, [key for key in one.get("required", ()) if key not in other.get("properties", {})])
        for one, other, word in ((mine, option, "without"), (option, mine, "with"))
    ]
    word, keys = min(((word, keys) for word, keys in ways if keys), key=lambda way: len(way[1]), default=("", []))
    return f"{tag} {word} {keys[0]}" if keys else tag


def first_in(path: Iterable[str], value: object) -> str:
    """Return the dotted key at `path`, or where its `value` is a table, the first key inside."""
    parts = list(path)
    while isinstance(value, dict) and value:
        parts.append(str(next(iter(value))))
        value = value[parts[-1]]
    return ".".join(parts)
