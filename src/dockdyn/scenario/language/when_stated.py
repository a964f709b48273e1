"""Tables whose checks are built once there is something to check: a scenario states few of all that it could."""

from __future__ import annotations

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
        """Return what a value states. Raises what pydantic tells as problems inside of it."""
        return self.adapter.validate_python(value, context=info.context)


def when_stated(table: type[BaseModel]) -> Any:  # noqa: ANN401, a type
    """Return the type of a table whose checks are built when it is stated; one that holds itself has them with the others."""
    return Annotated[table, WhenStated(lambda: table)] if table.__pydantic_fields_complete__ else table
