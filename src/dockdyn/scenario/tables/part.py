"""What a part of a scenario is, a surface or a law by name, and how its table becomes the thing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, NoReturn, Union

from pydantic import Discriminator, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from dockdyn.deferred import xp
from dockdyn.scenario.language.section import MaybeNamedSection, Section
from dockdyn.scenario.language.when_stated import when_stated


class Part(Section):
    """A surface or law by name; `make` turns its numbers, as arrays, into the thing itself."""

    def make(self) -> Any:  # noqa: ANN401, a surface or a law
        raise TypeError


class Shape(Part, MaybeNamedSection):
    """A surface; one that a body carries has a name, a part of a surface has none."""

    def check_unit(self, arm: float) -> None:
        """Refuse a mesh without a unit, here or in a part, far too large for a body with this radius of gyration (m)."""
        for part in getattr(self, "parts", ()):
            part.check_unit(arm)

    def check_tip(self, radius: float) -> None:
        """Refuse a tip of a `radius` (m) that the surface, or a part of it, is not for."""
        for part in getattr(self, "parts", ()):
            part.check_tip(radius)


def array(value: Any) -> Any:  # noqa: ANN401, a tree of numbers, words and parts
    """Return numbers as arrays, sections as what they make, everything else as it is."""

    if isinstance(value, Part):
        return value.make()
    if isinstance(value, list):
        items = [array(item) for item in value]
        return tuple(items) if any(isinstance(item, Part) for item in value) else xp.stack(items)
    return xp.asarray(value, float) if not isinstance(value, str | bool | None) else value


def part(
    key: str, name: str, maker: Callable[..., Any] | str, check: Callable[[Any], Any] | None = None, **fields: object
) -> type[Part]:
    """Return the section of one part: `fields` are types, or (type, default).

    `maker` makes the part of its numbers: a function, or "module:Class" of one that is imported when it is first made. `check`
    refuses what cannot be, and may return the section with what it leaves out.
    """

    def make(self: Part) -> object:
        made_by = resolve_name(maker) if isinstance(maker, str) else maker
        return made_by(**{field: array(getattr(self, field)) for field in fields})

    def checked(self: Part) -> Part:
        return self if check is None else check(self) or self

    types = {field: spec if isinstance(spec, tuple) else (spec, ...) for field, spec in fields.items()}
    made = create_model(
        f"{name} {key}",
        __base__=Shape if key == "shape" else Part,
        __validators__={"checked": model_validator(mode="after")(checked)},
        **{key: (Literal[name], name)},
        **types,
    )
    made.make = make
    return made


def refuse(allowed: str) -> NoReturn:
    """Raise what pydantic tells with the key: what is `allowed` there."""
    raise PydanticCustomError("part", "{allowed}", {"allowed": allowed})


def refuse_repeated(names: Sequence[str | None], things: str) -> None:
    """Refuse `names`, of these `things`, of which one is empty or two are the same."""
    if "" in names:
        refuse(f"one of the {things} has an empty name; must have a letter at least")
    for place, name in enumerate(names):
        if name in names[:place]:
            refuse(f"two of the {things} have the same name, {name!r}; names must differ")


def without_computed(value: object, *names: str) -> object:
    """Return what a file states of a table; refuses fields by these `names`, which are computed."""
    for name in names:
        if isinstance(value, dict) and name in value:
            refuse(f"{name!r}: unknown key")
    return value


def choice(key: str, parts: list[type[Part]], own: type[Part]) -> Any:  # noqa: ANN401, a type
    """Return the field type: whichever of `parts` the value of `key` names, or a part of the user's own."""

    def name(value: object) -> str | None:
        given = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
        return "user" if isinstance(given, str) and ":" in given else given

    tagged = [Annotated[when_stated(made), Tag(made.model_fields[key].default)] for made in parts]
    return Annotated[Union[(*tagged, Annotated[own, Tag("user")])], Discriminator(name)]
