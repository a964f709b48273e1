"""Base of everything a scenario file holds: unknown keys refused, numbers as leaves."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from types import NoneType
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, Strict, model_serializer
from pydantic.json_schema import SkipJsonSchema

from dockdyn.deferred import is_array_of_jax
from dockdyn.scenario.language.own_code import Own
from dockdyn.trees import register

STRICT = Strict()  # of true and false: neither "yes" nor 1 is one of them


class Section(BaseModel):
    """One table of a scenario file.

    A section is also a tree: its numbers and lists of numbers are leaves, everything else is static. So a model can
    be built from a traced section, and another number is not another compilation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
    absent_at_zero: ClassVar[tuple[str, ...]] = ()  # numbers whose zero means "not there": then they are static
    compiled: ClassVar[float] = 1.0  # how long its part of a program takes to compile, in tables of a contact
    unread: ClassVar[tuple[str, ...]] = ("title",)  # fields on which nothing that is computed depends
    computed_from: ClassVar[tuple[str, ...]] = ()  # fields that others are computed from as the table is checked

    def fields(self) -> dict[str, Any]:
        """Return all that the table holds, by field."""
        return self.__dict__ | (self.__pydantic_extra__ or {})

    def unit_of_extra(self, field: str) -> str:
        """Return the unit of a key that the table's own class does not name, as a part of the user's own has it; empty
        without."""
        return ""

    def data_file(self) -> str | None:
        """Return the file that the table is of, whose contents what is computed depends on; None of others."""
        return None

    def unstated(self) -> Collection[str]:
        """Return the fields that a file does not state here, besides those that it never states."""
        return ()

    def dotted_numbers(self) -> dict[str, tuple[str, int, str]]:
        """Return numbers of the table whose keys have dots of their own: by key, the field and the place in it that hold them,
        and the unit."""
        return {}

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401, those of pydantic
        super().__pydantic_init_subclass__(**kwargs)
        for field in cls.model_fields.values():
            if field.annotation is bool and STRICT not in field.metadata:
                field.metadata.append(STRICT)
        register(cls, flatten, partial(unflatten, cls), lambda static: static.names)


def absent(value: object) -> bool:
    """Return whether a number of `absent_at_zero` is zero, in a section with traced numbers too."""
    return isinstance(value, float) and value == 0


PLAIN = (str, bool, int, NoneType)  # classes of most that is static


def _is_leaf(value: object) -> bool:
    """Return whether a field holds numbers, traced ones included, or a (nested) list of numbers."""

    if isinstance(value, list):
        return bool(value) and all(_is_leaf(item) for item in value)
    if type(value) in PLAIN:
        return False
    return isinstance(value, float | np.ndarray) or is_array_of_jax(value)


def _holds_sections(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_sections(item) for item in value)
    return isinstance(value, Section)


class Static:
    """Static fields of a section, compared by value, but for those that are `unread`; and the `code` of the user's own that it
    names, as it is now: where that has changed, nothing that was traced of it serves."""

    def __init__(self, names: tuple[str, ...], fixed: dict[str, Any], unread: tuple[str, ...], code: object):
        self.names, self.fixed, self.code = names, fixed, code
        self.key = (names, repr(sorted(item for item in fixed.items() if item[0] not in unread)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key and self.code is other.code

    def __hash__(self) -> int:
        return hash(self.key)


def flatten(section: Section) -> tuple[tuple[Any, ...], Static]:
    data = section.fields()
    moving = {
        name: value
        for name, value in data.items()
        if (_is_leaf(value) and not (name in section.absent_at_zero and absent(value))) or _holds_sections(value)
    }
    fixed = {name: value for name, value in data.items() if name not in moving}
    code = section.present_code() if isinstance(section, Own) else None
    return tuple(moving.values()), Static(tuple(moving), fixed, section.unread, code)


def unflatten(cls: type[Section], static: Static, children: tuple[Any, ...]) -> Section:
    return cls.model_construct(**static.fixed, **dict(zip(static.names, children, strict=True)))


class NamedSection(Section):
    """A table that stands under a name of its own in a file: `[phase.lunge]`."""

    name: SkipJsonSchema[str]


class MaybeNamedSection(NamedSection):
    """A table that stands under a name in one place of a file, and without one in another."""

    name: SkipJsonSchema[str] = ""

    def unnamed(self) -> Self:
        """Return the table as it stands where it has no name."""
        return self.model_copy(update={"name": ""})

    @model_serializer(mode="wrap")
    def _without_empty_name(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = write(self)
        if not self.name:
            found.pop("name", None)
        return found
