"""Names in a part that a scenario includes under a name: `include = { left = "arm.toml" }` makes the body `hand` of the file
`left-hand`, and so what the file says of `hand`.

A name that the file does not have itself is that of the scenario: an arm may be on a body which the scenario states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.like import KEY as LIKE

PARTS = (  # tables under names that a part may have
    *("body", "tree", "contact", "contact_law", "strut", "cable", "magnet", "bushing", "latch", "connection"),
    *("thruster", "element", "tank"),
)
CARRIED = ("feature", "surface", "port")  # what a body has under names
Tables = dict[str, Any]
Rename = Callable[[str], str]


def prefixed_key(key: str, part: str) -> str:
    """Return the dotted key of the scenario for that of a file which is included as `part`."""
    kind, _, name = key.partition(".")
    return f"{kind}.{part}-{name}" if name else kind


def with_prefixed_names(tables: Tables, part: str, label: str) -> Tables:
    """Return the tables of the file `label` that is included as `part`, their names and references with that before them.

    Raises ScenarioError for a table that is not of a part of a mechanism.
    """
    for key, table in tables.items():
        if key != "schema" and (key not in PARTS or not isinstance(table, dict)):
            words = f"is not of a part that is included under a name ({part}); must be one of {', '.join(PARTS)}"
            raise ScenarioError(f"{label}: {key}: {words}", key, words)
    names = _Names(tables, part)
    return {
        kind: {f"{part}-{name}": names.rename_in(kind, table) for name, table in tables[kind].items()}
        for kind in tables
        if kind != "schema"
    }


class _Names:
    """The names that a part has, and what they become."""

    def __init__(self, tables: Tables, part: str):
        self.part, self.tables = part, tables
        self.owners: dict[str, list[str]] = {}  # the bodies that carry a feature, surface or port of a name
        for body, table in self._list_bodies():
            for kind in CARRIED:
                for name in table.get(kind, {}) if isinstance(table.get(kind), dict) else ():
                    self.owners.setdefault(name, []).append(body)

    def rename_in(self, kind: str, table: object) -> object:
        """Return a table of a `kind` with its references renamed."""
        if not isinstance(table, dict):
            return table
        found = dict(table)
        if kind == "tree" and isinstance(table.get("body"), dict):
            found["body"] = {link: self.rename_in("body", inside) for link, inside in table["body"].items()}
        if isinstance(joint := table.get("joint"), dict) and isinstance(joint.get("follows"), str):
            found["joint"] = joint | {"follows": self._body(joint["follows"])}
        rename = self._carried if kind == "contact" else self._body
        for key in ("on", "body"):
            if isinstance(table.get(key), str):
                found[key] = self._body(table[key])
        for key in ("feature", "surface"):  # of a latch; of a body they are tables
            if isinstance(table.get(key), str) and "." in table[key]:
                found[key] = self._carried(table[key])
        if isinstance(table.get("between"), list):
            found["between"] = [rename(end) if isinstance(end, str) else end for end in table["between"]]
        if kind == "contact" and isinstance(table.get("law"), str):
            found["law"] = self._named("contact_law", table["law"])
        if isinstance(table.get(LIKE), str):
            found[LIKE] = self._named(kind, table[LIKE])
        for inside in CARRIED if kind == "body" else ():
            if isinstance(table.get(inside), dict):
                found[inside] = {name: self._carried_with_copies(one) for name, one in table[inside].items()}
        return found

    def _carried_with_copies(self, table: object) -> object:
        """Return what a body carries; what it is like may be another body's, "body.name"."""
        if not isinstance(table, dict) or not isinstance(like := table.get(LIKE), str) or "." not in like:
            return table
        body, _, name = like.partition(".")
        return table | {LIKE: f"{self._body(body)}.{name}"}

    def _list_bodies(self) -> list[tuple[str, Tables]]:
        """Return the names of the bodies that the file has tables of, links as "tree.link"."""
        found = [(name, table) for name, table in self.tables.get("body", {}).items() if isinstance(table, dict)]
        for name, tree in self.tables.get("tree", {}).items():
            links = tree.get("body") if isinstance(tree, dict) else None
            for link, table in links.items() if isinstance(links, dict) else ():
                found += [(f"{name}.{link}", table)] if isinstance(table, dict) else []
        return found

    def _named(self, kind: str, name: str) -> str:
        return f"{self.part}-{name}" if name in self.tables.get(kind, {}) else name

    def _body(self, name: str) -> str:
        """Return a body, or a link of a tree."""
        tree, _, link = name.partition(".")
        if link and tree in self.tables.get("tree", {}):
            return f"{self.part}-{name}"
        return self._named("body", name)

    def _carried(self, name: str) -> str:
        """Return what a body carries, "body.name"; of a name alone the body is that of the file which has such a one."""
        body, _, own = name.rpartition(".")
        if body:
            return f"{self._body(body)}.{own}"
        owners = self.owners.get(name, [])
        return f"{self.part}-{owners[0]}.{name}" if len(owners) == 1 else name
