"""Tables that repeat, each under a name of its own: `[phase.lunge]`, `[contact.faces]`.

A file has them by name; a checked scenario has them as a list, in the order of the file, each with its `name`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, get_args

from pydantic import (
    BeforeValidator,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    WrapSerializer,
)
from pydantic_core import CoreSchema

from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.language.known_keys import REPEATED
from dockdyn.scenario.language.or_none import NONE
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.table_names import NAME
from dockdyn.scenario.language.when_stated import WhenStated
from dockdyn.scenario.tables.part import refuse

Node = dict[str, Any]


NAME_OF_BODY = re.compile(rf"{NAME.pattern}(\..+)?")  # a link of a tree has the names of both


class _Named:
    """What a JSON schema says of tables whose names match a pattern."""

    def __init__(self, names: re.Pattern[str]):
        self.names = names

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Node:
        listed = handler(core)
        sizes = {"minItems": "minProperties", "maxItems": "maxProperties"}
        found = {sizes[key]: value for key, value in listed.items() if key in sizes}
        names = {"propertyNames": {"pattern": f"^{self.names.pattern}$"}, REPEATED: True}
        return {"type": "object", "additionalProperties": listed["items"], **names, **found}


def _list_tables(names: re.Pattern[str], value: object, info: ValidationInfo) -> object:
    """Return tables by name as a list of them, each with its name, without those left out; refuse what is no table."""
    if isinstance(value, list) and all(isinstance(item, NamedSection) for item in value):
        return value
    if value == NONE:
        return []
    if not isinstance(value, dict):
        refuse(f"must be tables, each under a name of its own, as [{info.field_name}.NAME]")
    found = []
    for name, table in value.items():
        if not isinstance(table, dict | Section) and table != NONE:
            refuse(f"{name} stands there without a table; each has a name of its own, as [{info.field_name}.NAME]")
        if names.fullmatch(name) is None:
            refuse(f"{shown(name)} is no name; must be of letters, digits, - and _")
        if isinstance(table, dict) and "name" in table:
            refuse(f"[{info.field_name}.{name}] has a key 'name', and is called {name!r} already; must be left out")
        if table != NONE:
            found.append(table | {"name": name} if isinstance(table, dict) else table)
    return found


def _by_name(tables: list[NamedSection], write: SerializerFunctionWrapHandler) -> dict[str, Any]:
    """Return what a file has of tables: each under its name."""
    written = write(tables)
    return {
        own.name: {key: value for key, value in table.items() if key != "name"}
        for own, table in zip(tables, written, strict=True)
    }


def named_tables(table: Any, *more: object, names: re.Pattern[str] = NAME) -> Any:  # noqa: ANN401, a type
    """Return the type of a field that holds tables under `names` of their own; `more` as of `Annotated`, of their list."""
    return Annotated[
        list[Annotated[table, WhenStated(lambda: table)]],
        *more,
        BeforeValidator(partial(_list_tables, names)),
        WrapSerializer(_by_name),
        _Named(names),
    ]


def are_named_at(kind: type[Section], path: Sequence[str]) -> bool:
    """Return whether tables under names of their own stand at a dotted `path` of a scenario of this `kind`.

    Of laws and shapes it is enough that one has such tables there.
    """
    tables, here = {kind}, False
    for part in path:
        if here:  # the part is a name
            here = False
            continue
        fields = [
            about for table in tables for own, about in table.model_fields.items() if part == (about.alias or own)
        ]
        inside = [item for about in fields for item in (*about.metadata, *_parts_of(about.annotation))]
        here = any(isinstance(item, _Named) for item in inside)
        tables = {item for item in inside if isinstance(item, type) and issubclass(item, Section)}
    return here


def _parts_of(annotation: Any) -> list[Any]:  # noqa: ANN401, a type
    """Return all that a type is made of: alternatives, what is in lists, and what each is annotated with."""
    metadata = list(getattr(annotation, "__metadata__", ()))
    return [annotation, *metadata, *(item for part in get_args(annotation) for item in _parts_of(part))]
