"""Tables whose checks are built once there is something to check: a scenario states few of all that it could."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter, ValidationInfo
from pydantic_core import CoreSchema, core_schema


class WhenStated:
    """What checks a field by the type that `made` returns, and asks for it when there is a value.

    A value is written as what it is itself, whatever the field.
    """

    def __init__(self, made: Callable[[], Any]):
        self.made = made

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.made())

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(core_schema.definitions_schema(self.adapter.core_schema, []))  # by what its own parts say

    def check(self, value: object, info: ValidationInfo) -> object:
        """Return what a value states, of `Checked` tables the one of the same words. Raises what pydantic tells as problems
        inside of it."""
        checked: Checked | None = info.context
        if checked is None or (words := _words_of(value)) is None:
            return self.adapter.validate_python(value, context=checked)
        if (self, words) not in checked:
            checked[self, words] = self.adapter.validate_python(value, context=checked)
        return checked[self, words]


Checked = dict[tuple[WhenStated, bytes], Any]  # tables that were checked, of many scenarios that share most


def _words_of(value: object) -> bytes | None:
    """Return what tells a value from every other that is not the same in each word and number; None of what has none."""
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def when_stated(table: type[BaseModel]) -> Any:  # noqa: ANN401, a type
    """Return the type of a table whose checks are built when it is stated; one that holds itself has them with the others."""
    return Annotated[table, WhenStated(lambda: table)] if table.__pydantic_fields_complete__ else table
