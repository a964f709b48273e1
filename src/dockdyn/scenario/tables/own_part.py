"""A law or surface of the user's own, named "module:Class": its keys are the class's fields."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, TypeAliasType, get_type_hints

from pydantic import (
    BeforeValidator,
    ConfigDict,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from dockdyn.parameters import Parameter, parameters_of, settings_of
from dockdyn.scenario.language import own_code
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import (
    LARGEST,
    SMALLEST,
    Bounds,
    Unit,
    in_base_units,
    number_of,
    quantity,
    unit_beside,
)
from dockdyn.scenario.tables.own_trial import Trial, trial_problem
from dockdyn.scenario.tables.part import Part, Shape, array, refuse
from dockdyn.trees import Module

RUBS, TURNS = (
    Trial("force", ("number", "vector"), "vector"),
    Trial("torque", ("number", "vector", "vector"), "vector"),
)
BRISTLES = (
    Trial("bend", ("vector", "vector"), "vector"),
    Trial("pull", ("number", "vector", "vector"), "vector"),
    Trial("stored_energy", ("number", "vector"), "number"),
)


class OwnPart(Part, own_code.Own):
    """A part named "module:Class"; what the class declares as a `dockdyn.parameter` is read as the keys of built-in parts."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def base(cls) -> type:
        """Return of what the class must be a subclass."""

        return Module

    @model_validator(mode="after")
    def check_class_fields(self) -> OwnPart:
        cls = import_class(self.own_class(), self.base)
        fields = dataclasses.fields(cls)
        names = {field.name: named(cls, field.name) for field in fields}
        needed = {field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING}
        given = self.stated()
        for problem, words in ((given - set(names), "has no field"), (needed - given, "needs the field")):
            if problem:
                fields_known = ", ".join(names[name] for name in sorted(names)) or "none"
                refuse(f"{self.own_class()} {words} {sorted(problem)[0]!r}; its fields: {fields_known}")
        refuse_unfinished(self.own_class(), cls, sorted(getattr(cls, "__abstractmethods__", ())))
        if (trials := self.trials()) and (wrong := trial_problem(self.make(), trials)):
            refuse(f"{self.own_class()}: {wrong}")
        return self

    def trials(self) -> tuple[Trial, ...]:
        """Return which methods of what it makes are tried as it is read; none by default."""
        return ()

    def stated(self) -> set[str]:
        """Return the fields of the class that the scenario states."""
        return set(self.__pydantic_extra__ or {})

    def make(self) -> Any:  # noqa: ANN401, a law or a surface
        return import_class(self.own_class())(**{name: array(getattr(self, name)) for name in self.stated()})

    def unit_of_extra(self, field: str) -> str:
        """Return the unit that the class declares for a field; empty for one that says nothing."""
        about = parameters_of(import_class(self.own_class())).get(field)
        return "" if about is None else about.unit.format(**dict(self))

    @model_serializer(mode="wrap")
    def write_numbers(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return numbers with their units, where the class declares them."""
        found: dict[str, Any] = handler(self)
        units = {key: self.unit_of_extra(key) for key, value in found.items() if isinstance(value, float)}
        return found | {key: f"{found[key]!r} {unit}" for key, unit in units.items() if unit}

    @model_validator(mode="before")
    @classmethod
    def read_numbers(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return all numbers in SI units; what the class declares within its bounds and, where it is not stated, at its
        default."""
        given, target = (
            dict(data),
            next((data[tag] for tag in own_code.TAGS if tag in cls.model_fields and tag in data), None),
        )
        if not (isinstance(target, str) and ":" in target):
            return given  # which other rules refuse
        made = import_class(target, cls.base)
        others = {
            key: si(value) for key, value in given.items() if key not in (*cls.model_fields, *parameters_of(made))
        }
        return given | others | _read_parameters(made, given)


def named(made: type, name: str) -> str:
    """Return a field of a class and, where it is declared, its unit."""
    about = parameters_of(made).get(name)
    return name if about is None or not about.unit else f"{name} ({about.unit})"


def _read_parameters(made: type, given: dict[str, Any]) -> dict[str, Any]:
    """Return the values (SI) of what a class declares, as its units and bounds allow; what has no value is left out."""
    known = [
        name for name in parameters_of(made) if name in given or _default_of(made, name) is not dataclasses.MISSING
    ]
    keys: dict[str, Any] = {name: type_of(made, name) for name in known}
    read = create_model(made.__name__, **keys)
    return dict(read.model_validate({name: given[name] for name in known if name in given}))


def type_of(made: type, name: str, about: Parameter | None = None) -> Any:  # noqa: ANN401, what pydantic takes
    """Return type and default of the key that a declared parameter is; None is the default of one that is left to the tuning.

    `about`: what is said in the place of what the field says of itself.
    """
    about, shape = parameters_of(made)[name] if about is None else about, shape_of(made, name)
    kind: Any = quantity(
        about.unit, about.what, above=about.above, least=about.least, below=about.below, most=about.most
    )
    if shape != ():
        read = BeforeValidator(lambda value, info: read_value(value, about, info.data, shape))
        kind = Annotated[list[Any], read, Unit(about.unit, about.what, _bounds_of(about))]
    default = _default_of(made, name)
    if default is not dataclasses.MISSING:
        return kind, default
    return (kind | None, None) if about.tuned else (kind, ...)


def keys_of(made: type) -> dict[str, Any]:
    """Return type and default of all keys of a class: its parameters and its static fields."""
    hints = get_type_hints(made)
    keys = {name: type_of(made, name) for name in parameters_of(made)}
    return keys | {name: (hints[name], default) for name, default in settings_of(made).items()}


def refuse_taken(target: str, made: type, names: Iterable[str], section: type[Section]) -> None:
    """Refuse a class with a parameter or static field of a name that is taken: one of `names`, or what its table has."""
    for field in (*parameters_of(made), *settings_of(made)):
        if field in names or hasattr(section, field):
            refuse(f"{target} has a field {field!r}, a name that is taken; must have another one")


def refuse_unfinished(target: str, made: type, methods: Iterable[str]) -> None:
    """Refuse a class that leaves out one of the `methods` of its base."""
    if missing := [name for name in methods if getattr(getattr(made, name), "__isabstractmethod__", False)]:
        refuse(f"{target} must define {' and '.join(missing)}")


def read_table(value: object, base: Callable[[], type], section_of: Callable[[str, type], type[Section]]) -> object:
    """Return the table of a law of the user's own, "module:Class" of what `base` gives, with the keys that `section_of` gives
    it."""
    if not isinstance(value, dict):
        return value
    made = import_class(value["law"], base)
    section = section_of(value["law"], made)
    if unknown := sorted(set(value) - set(section.model_fields)):
        known = ", ".join(named(made, name) for name in section.model_fields if name not in ("law", "name"))
        refuse(f"{value['law']} has no field {unknown[0]!r}; its fields: {known}")
    return section.model_validate(value)


def _default_of(made: type, name: str) -> object:
    return next(_default_as_list(field.default) for field in dataclasses.fields(made) if field.name == name)


def _default_as_list(value: object) -> object:
    """Return a default as a file would have it: a class cannot have a list as one."""
    return [_default_as_list(item) for item in value] if isinstance(value, tuple) else value


def read_value(
    value: object, about: Parameter, given: dict[str, Any], shape: tuple[int | None, ...] | None
) -> float | list[Any]:
    """Return a number of a parameter's unit or, where it has a shape, a list of such; a length of None is any."""
    if shape:
        if not isinstance(value, list) or shape[0] not in (None, len(value)):
            refuse(f"must be a list of {'numbers' if shape[0] is None else f'{shape[0]} numbers'}")
        return [read_value(item, about, given, shape[1:]) for item in value]
    if shape is None and isinstance(value, list):
        return [read_value(item, about, given, None) for item in value]
    return number_of(value, unit_beside(given, about.unit), about.what, _bounds_of(about))


def _bounds_of(about: Parameter) -> Bounds:
    return Bounds(about.above, about.least, about.below, about.most, SMALLEST)


def shape_of(made: type, name: str) -> tuple[int | None, ...] | None:
    """Return the shape that a field's annotation says: of Float[Array, "3"] (3,), of a plain float (); None where it says
    none."""
    said = get_type_hints(made)[name]
    if isinstance(said, TypeAliasType):
        said = said.__value__
    if said is float:
        return ()
    sizes = getattr(said, "dim_str", "...").split()
    return None if "..." in sizes else tuple(int(size) if size.isdecimal() else None for size in sizes)


class OwnNormalLaw(OwnPart):
    """A normal-force law of one's own."""

    law: str

    @classmethod
    def base(cls) -> type:
        from dockdyn.contact.laws.normal_law import NormalLaw

        return NormalLaw

    def own_class(self) -> str:
        return self.law

    def trials(self) -> tuple[Trial, ...]:
        return () if self.make().remembers() else (Trial("force", ("number", "number"), "number"),)


class OwnFriction(OwnPart):
    """A friction law of one's own."""

    law: str

    @classmethod
    def base(cls) -> type:
        from dockdyn.contact.laws.friction import Friction

        return Friction

    def own_class(self) -> str:
        return self.law

    def trials(self) -> tuple[Trial, ...]:
        from dockdyn.contact.laws.bristles import Bristles

        friction = self.make()
        if isinstance(friction, Bristles):
            return BRISTLES
        return (RUBS, TURNS) if friction.resists_turning() else (RUBS,)


class OwnShape(Shape, OwnPart):
    """A surface of one's own."""

    shape: str

    @classmethod
    def base(cls) -> type:
        from dockdyn.contact.surfaces.surface import Surface

        return Surface

    def own_class(self) -> str:
        return self.shape

    def trials(self) -> tuple[Trial, ...]:
        return Trial("signed_distance", ("vector",), "number"), Trial("reference", (), "vector")


def si(value: object) -> object:
    """Return numbers, also inside lists and texts with units, in SI units; other things as they are."""
    if isinstance(value, list):
        return [si(item) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) <= LARGEST:
            refuse(f"a number of one's own part must be finite and at most {LARGEST:g} in size")
        return float(value)
    if isinstance(value, str) and re.match(r"\s*[-+]?\.?\d", value):  # "3 mm" is a quantity, "bar" a word
        try:
            number = in_base_units(value)
        except ValueError:
            return value
        return si(number)
    return value


def import_class(target: str, base: Callable[[], type] | None = None) -> type:
    """Return the class "module:Class", a subclass of what `base` gives.

    Modules beside the scenario file and in the working folder are found.
    """
    if not own_code.is_import_allowed():
        raise PydanticCustomError("own_code", "{allowed}", {"allowed": f"{target!r} {own_code.REFUSED}"})
    module, _, name = target.partition(":")
    try:
        found = getattr(own_code.module_of(module), name)
    except Exception as error:  # of the module's own code, too
        words = str(error) if isinstance(error, ImportError | AttributeError) else f"{type(error).__name__}: {error}"
        place = os.path.realpath(next(iter(own_code.places.get()), Path.cwd()))
        refuse(f'cannot import {target!r} ({words}); must be "module:Class" with the module importable from {place}')

    wanted = Module if base is None else base()
    if not (isinstance(found, type) and issubclass(found, wanted)):
        own = (
            "the package's own base class (a dockdyn.trees.Module)"
            if wanted is Module
            else f"dockdyn.{wanted.__name__}"
        )
        refuse(f"{target} must be a subclass of {own}")
    return found
