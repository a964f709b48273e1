"""Tables that a scenario may leave out, in words too: `control = "none"`, or `law = "none"` inside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

T = TypeVar("T")
NONE = "none"
WISHES = {NONE, "no", "off", "nothing", "null", "false"}  # words for it of whoever does not know that one


def means_none(value: object) -> bool:
    """Return whether a value that is not allowed says that there is to be none."""
    return value.strip().lower() in WISHES if isinstance(value, str) else value is False or value == 0


def paths_of_none(tables: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield where tables inside each other, below a `path`, say "none"."""
    for key, value in tables.items():
        if isinstance(value, str) and value == NONE:
            yield (*path, key)
        elif isinstance(value, dict):
            yield from paths_of_none(value, (*path, key))


def without_path(tables: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return tables without what is at a path in them."""
    first, *rest = path
    if not rest:
        return {key: value for key, value in tables.items() if key != first}
    return tables | {first: without_path(tables[first], rest)}


class _LeftOut:
    """What reads a table that says it is none as one that is not there, whatever else it says."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_none_if_left_out, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe one more alternative; of a table without any, it would hide from editors where inside it a key is wrong."""
        found = handler(schema)
        if all("$ref" in option or option.get("type") == "null" for option in found.get("anyOf", [])):
            return found
        table = {"type": "object", "properties": {"law": {"const": NONE}}, "additionalProperties": False}
        return {"anyOf": [found, {"const": NONE}, table]}


def _none_if_left_out(value: object) -> object:
    """Return a table as it is; None for one that says it is none."""
    return None if value == NONE or (isinstance(value, dict) and value.get("law") == NONE) else value


OrNone = Annotated[T | None, _LeftOut()]
