"""Records: frozen dataclasses whose methods are written once for all of them.

Python compiles five methods anew for each frozen dataclass that it meets, which of a command's time took a tenth.

Units: none.
Source: definition.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import Any, dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def record[T](kind: type[T]) -> type[T]:
    """Make a class a frozen dataclass: its annotated names are its fields, and none can be set again."""
    kind.__doc__ = kind.__doc__ or ""  # else one would be made, slowly, of the signature
    made: Any = with_fields(kind)
    for name, method in METHODS.items():
        if name not in vars(kind):
            setattr(kind, name, method)
    made._compared = attrgetter(*made._fields, "__class__")
    return kind


def with_fields[T](kind: type[T]) -> type[T]:
    """Find the fields of a class and keep them in it, by their names."""
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(kind)
    made._fields = {one.name: one for one in dataclasses.fields(made)}
    return kind


def set_fields(one: Any, values: tuple[Any, ...], named: dict[str, Any]) -> None:  # noqa: ANN401, of a class with fields
    """Set the fields of a new object, in their order; TypeError for values that are too few, too many or of other names."""
    fields = one._fields
    if len(values) > len(fields):
        raise TypeError(f"{type(one).__name__} takes {len(fields)} values but {len(values)} were given")
    given = dict(zip(fields, values, strict=False))
    for name, value in named.items():
        if name not in fields:
            raise TypeError(f"{type(one).__name__} got an unexpected value {name!r}")
        if name in given:
            raise TypeError(f"{type(one).__name__} got more than one value for {name!r}")
        given[name] = value
    own = one.__dict__
    for name, field in fields.items():
        own[name] = given[name] if name in given else _default_of(one, field)


def _default_of(one: Any, field: dataclasses.Field[Any]) -> Any:  # noqa: ANN401, of a class with fields
    """Return the value of a field that is not given."""
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    raise TypeError(f"{type(one).__name__} needs a value for {field.name!r}")


def refuse_setting(_: Any, name: str, value: object) -> None:  # noqa: ANN401, any record
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_deleting(_: Any, name: str) -> None:  # noqa: ANN401, any record
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def in_words(one: Any) -> str:  # noqa: ANN401, any record
    """Return the class of a record and its fields."""
    return f"{type(one).__name__}({', '.join(f'{name}={getattr(one, name)!r}' for name in one._fields)})"


def _set_all(self: Any, *values: Any, **named: Any) -> None:  # noqa: ANN401, any record
    set_fields(self, values, named)
    if (check := getattr(self, "__post_init__", None)) is not None:
        check()


def _are_equal(self: Any, other: Any) -> bool:  # noqa: ANN401, any record
    return self._compared(self) == self._compared(other) if type(self) is type(other) else NotImplemented


def _hash_of(self: Any) -> int:  # noqa: ANN401, any record
    return hash(self._compared(self))


METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _set_all,
    "__repr__": in_words,
    "__eq__": _are_equal,
    "__hash__": _hash_of,
    "__setattr__": refuse_setting,
    "__delattr__": refuse_deleting,
}
