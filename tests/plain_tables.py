"""Tables of a scenario in plain numbers, as TOML takes them."""

import numpy as np


def plain(value):
    """`value` with NumPy arrays and numbers as lists and numbers of Python, as TOML needs them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


KINDS = ("strut", "cable", "magnet", "bushing", "latch", "connection", "thruster", "element")  # of elements


def by_name(tables):
    """Tables with a `name` inside as a file has them: under their names."""
    return {table["name"]: {key: value for key, value in table.items() if key != "name"} for table in tables}


def listed(tables):
    """Tables under their names as a list, each with its `name` inside: what `by_name` makes a file's."""
    return [{"name": name, **table} for name, table in tables.items()]


def acting(*elements):
    """Elements with their `kind` and `name` inside as a file has them: by kind, then by name."""
    found = {}
    for element in elements:
        own = ":" in element["kind"]
        left = {key: value for key, value in element.items() if key != "name" and (own or key != "kind")}
        found.setdefault("element" if own else element["kind"], {})[element["name"]] = left
    return found


def elements_of(case):
    """The elements of a case, each with its kind and its name inside."""
    return [{"kind": kind, "name": name} | one for kind in KINDS for name, one in case.get(kind, {}).items()]


def without_elements(case):
    """A case without its elements."""
    return {key: value for key, value in case.items() if key not in KINDS}


def contacts_by_name(tables):
    """Contacts as a file has them: under the `name` inside, or that of what touches first, with the partner's where one touches
    several."""
    pairs = [[end.rpartition(".")[2] for end in table["between"]] for table in tables]
    firsts, named = [first for first, _ in pairs], {}
    for (first, partner), table in zip(pairs, tables, strict=True):
        name = table.get("name", first if firsts.count(first) == 1 else f"{first}-{partner}")
        named[name] = {key: value for key, value in table.items() if key != "name"}
    assert len(named) == len(tables), "two contacts of one name"
    return named
