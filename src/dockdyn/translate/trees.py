"""Trees of arrays as plain data: what a stored program takes and gives, without tracing it again.

Units: none.
Source: definition.
"""

from __future__ import annotations

import dataclasses
import importlib
from functools import reduce
from typing import Any

import numpy as np

from dockdyn.deferred import PyTree
from dockdyn.trees import Structure


class Unstorable(Exception):
    """What is not of dockdyn alone, or cannot be written as plain data."""


def describe_structure(structure: Structure) -> Any:  # noqa: ANN401, plain data
    """Return what a structure is, for comparing: classes and all that is static. Raises Unstorable."""
    kind, static = structure.kind, structure.static
    if kind is None:
        return None if structure.num_leaves == 0 else "*"
    _check_node(kind)
    children = [describe_structure(one) for one in structure.children]
    return [_qualified_name(kind), in_words(getattr(static, "key", static)), children]


def _check_node(kind: type) -> None:
    """Refuse a node outside of dockdyn, or that stands for code there, `of_others`, which may change. Raises Unstorable."""
    own = kind.__module__.split(".")[0] not in ("dockdyn", "builtins", "collections")
    if own or getattr(kind, "of_others", False):
        raise Unstorable(_qualified_name(kind))


def _qualified_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def in_words(value: Any) -> str:  # noqa: ANN401, whatever is static
    """Return a static value in words that differ where it does. Raises Unstorable for what has no such words."""
    if value is None or isinstance(value, bool | int | float | str | np.generic):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(in_words, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{in_words(key)}: {in_words(one)}' for key, one in value.items())})"
    if isinstance(value, Structure):
        return repr(describe_structure(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        _check_node(type(value))
        fields = ", ".join(in_words(getattr(value, one.name)) for one in dataclasses.fields(value))
        return f"{_qualified_name(type(value))}({fields})"
    raise Unstorable(f"{type(value)}")


def encode_tree(tree: PyTree) -> Any:  # noqa: ANN401, plain data
    """Return a tree whose leaves are integers as plain data. Raises Unstorable."""
    if tree is None or isinstance(tree, int):
        return tree
    kind = type(tree)
    if kind in (tuple, list):
        return {kind.__name__: [encode_tree(one) for one in tree]}
    if kind is dict:
        if not all(isinstance(key, str) for key in tree):
            raise Unstorable("a table whose keys are no words")
        return {"dict": [[key, encode_tree(one)] for key, one in tree.items()]}
    _check_node(kind)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return {"class": _qualified_name(kind), "values": [encode_tree(one) for one in tree]}
    if not dataclasses.is_dataclass(tree):
        raise Unstorable(_qualified_name(kind))
    values, static = {}, {}
    for one in dataclasses.fields(tree):
        if one.metadata.get("static"):
            static[one.name] = _encode_static(getattr(tree, one.name))
        else:
            values[one.name] = encode_tree(getattr(tree, one.name))
    return {"class": _qualified_name(kind), "fields": values, "static": static}


def _encode_static(value: Any) -> Any:  # noqa: ANN401, plain data
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if type(value) is tuple:
        return {"tuple": [_encode_static(one) for one in value]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        _check_node(type(value))
        return {"class": _qualified_name(type(value)), "values": [_encode_static(one) for one in value]}
    raise Unstorable(f"{type(value)}")


def decode_tree(data: Any) -> PyTree:  # noqa: ANN401, plain data
    """Return the tree of `encode_tree`. Raises whatever its classes raise where they are not what they were."""
    if data is None or isinstance(data, int):
        return data
    if "class" not in data:
        ((kind, values),) = data.items()
        if kind == "dict":
            return {key: decode_tree(one) for key, one in values}
        return {"tuple": tuple, "list": list}[kind](decode_tree(one) for one in values)
    kind = _class_of(data["class"])
    if "values" in data:
        return kind(*(decode_tree(one) for one in data["values"]))
    made = object.__new__(kind)
    for field, value in data["fields"].items():
        object.__setattr__(made, field, decode_tree(value))
    for field, value in data["static"].items():
        object.__setattr__(made, field, _from_static(value))
    return made


def _from_static(value: Any) -> Any:  # noqa: ANN401, plain data
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(map(_from_static, value["tuple"]))
    return _class_of(value["class"])(*map(_from_static, value["values"]))


def _class_of(name: str) -> Any:  # noqa: ANN401, a class
    """Return a class of dockdyn by its name."""
    module, _, path = name.partition(":")
    if module.split(".")[0] != "dockdyn":
        raise Unstorable(module)
    return reduce(getattr, path.split("."), importlib.import_module(module))
