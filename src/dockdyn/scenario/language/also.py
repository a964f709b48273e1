"""What a key of a file takes besides its type, for the JSON schema: pydantic does not know what is read before it checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockdyn.records import record


@record
class Also:
    """A form that is made one of the field's type before that is checked."""

    form: Any  # a JSON schema

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401, pydantic's
        return {"anyOf": [handler(core), self.form]}

    def __hash__(self) -> int:
        return hash(repr(self.form))


NUMBER = Also({"type": "number"})
THREE_NUMBERS = Also({"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3})
