"""Distributions of a user's own, "module:Class" in the place of a built-in one's name."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import AfterValidator, create_model, model_validator

from dockdyn.parameters import Parameter, parameters_of, settings_of
from dockdyn.scenario.distributions.distribution import Cube, DistributionSection, Reader, Values, inner
from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.tables.own_part import (
    import_class,
    keys_of,
    read_value,
    refuse_taken,
    refuse_unfinished,
    shape_of,
    si,
    type_of,
)
from dockdyn.scenario.tables.part import refuse
from dockdyn.trees import Module

KEY = "{key}"  # in the unit of a parameter: that of the keys


class Distribution(Module):
    """A distribution of one number of a scenario, or of several together.

    Its numbers are fields, declared as `dockdyn.parameter`, and are the keys of its table in a scenario; so are its static
    fields. A parameter whose unit is "{key}" is in the unit of the key that is distributed; "1/{key}" is per that unit. Such
    a parameter is for one key, or for keys of one unit. All arrive as numbers, or arrays of NumPy, in SI units.
    """

    @abc.abstractmethod
    def inverse(self, cube: Cube) -> Values:
        """Return values (SI) at points of the unit cube, by the inverse of the distribution function: a column for each key.

        `cube` has a row for each case and `size()` columns, of numbers between 0 and 1 and neither of them.
        """

    @abc.abstractmethod
    def nominal(self) -> float | list[float]:
        """Return the value (SI) with which the scenario runs alone where it states none; a list for several keys."""

    def count(self) -> int:
        """Return how many numbers of a scenario it stands for."""
        return 1

    def size(self) -> int:
        """Return how many numbers of the unit cube it takes."""
        return self.count()


class OwnDistribution(DistributionSection, Own):
    """The table of a distribution of the user's own: its keys are the parameters and static fields of the class."""

    made: ClassVar[type[Distribution]]
    with_unit: ClassVar = ("nominal",)  # the others write their own

    def own_class(self) -> str:
        return self.distribution

    @model_validator(mode="after")
    def check_answers(self) -> Self:
        """Refuse a class that does not answer with numbers, also at the ends of the unit cube."""
        try:
            self.middle()
            self.inverse(np.array([[0.0], [0.5], [1.0]]).repeat(self.size(), axis=1))
        except ValueError as problem:
            refuse(str(problem))
        return self

    def make(self) -> Distribution:
        """Return the distribution, from numbers in SI units. ValueError where its class refuses them."""
        numbers = {name: si(getattr(self, name)) for name in parameters_of(self.made)}
        given = {name: np.array(value) if isinstance(value, list) else value for name, value in numbers.items()}
        words = {name: getattr(self, name) for name in settings_of(self.made)}
        with self._blame_own_code():
            return self.made(**given, **words)

    def count(self) -> int:
        return self._whole("count")

    def size(self) -> int:
        return self._whole("size")

    def somewhere(self) -> tuple[str, Any]:
        if self.nominal is not None:
            return "nominal", self.nominal
        middle = self.middle()
        return "nominal", middle if len(middle) > 1 else middle[0]

    def read(self, keys: Reader) -> Self:
        in_keys_unit = any(KEY in about.unit for about in parameters_of(self.made).values())
        section = section_of(self.distribution, self.made, keys.one_unit() if in_keys_unit else "")
        return keys.checked(section, dict(self))  # type: ignore[return-value]

    def middle(self) -> list[Any]:
        found: Any = self._answer("nominal")
        return self._numbers("nominal", found if np.ndim(found) else [found], (self.count(),)).tolist()

    def inverse(self, cube: Cube) -> Values:
        return self._numbers("inverse", self._answer("inverse", inner(cube)), (len(cube), self.count()))

    @contextmanager
    def _blame_own_code(self, method: str = "") -> Iterator[None]:
        """Raise what the user's own code raises inside as a ValueError of one line that names it."""
        try:
            yield
        except Exception as error:
            words = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise ValueError(f"{self.distribution}: {method}{': ' if method else ''}{words}") from None

    def _answer(self, method: str, *given: object) -> ArrayLike:
        """Return what a method of the class answers. ValueError where it fails."""
        made = self.make()
        with self._blame_own_code(method):
            return getattr(made, method)(*given)

    def _whole(self, method: str) -> int:
        found = self._answer(method)
        if not isinstance(found, int) or found < 1:
            raise ValueError(f"{self.distribution}: {method} gives {found!r}; must give a whole number above 0")
        return found

    def _numbers(self, method: str, found: ArrayLike, shape: tuple[int, ...]) -> Values:
        """Return what a method gives, as finite numbers of a shape."""
        with self._blame_own_code(method):
            values = np.asarray(found, float)
        if values.shape != shape:
            raise ValueError(f"{self.distribution}: {method} gives numbers of shape {values.shape}; must be {shape}")
        if not np.isfinite(values).all():
            raise ValueError(f"{self.distribution}: {method} gives numbers that are not finite")
        return values


@cache
def section_of(target: str, made: type[Distribution], unit: str | None = None) -> type[OwnDistribution]:
    """Return the table of a class. What is in the key's unit, a `unit` that may not be known yet, is then left as written."""
    keys: dict[str, Any] = {"distribution": (Literal[target], ...)} | keys_of(made)
    for name, about in parameters_of(made).items():
        if KEY not in about.unit:
            continue
        if unit is None:
            _, *default = type_of(made, name, replace(about, unit=""))
            read = AfterValidator(_left_as_written(about, shape_of(made, name)))
            keys[name] = (Annotated[Any, read], *default)
        else:
            keys[name] = type_of(made, name, replace(about, unit=_in_unit(about.unit, unit)))
    section = create_model(f"{made.__name__}Section", __base__=OwnDistribution, __doc__=inspect.getdoc(made), **keys)
    section.made = made
    return section


def _in_unit(declared: str, unit: str) -> str:
    """Return the unit of a parameter of a key with this unit; none is none."""
    return unit if declared == KEY else declared.replace(KEY, f"({unit or 'dimensionless'})")


def _left_as_written(about: Parameter, shape: tuple[int | None, ...] | None) -> Callable[[object], object]:
    """Refuse what no unit could make a value of a parameter."""

    def checked(value: object) -> object:
        read_value(si(value), replace(about, unit=""), {}, shape)
        return value

    return checked


def own_section(target: str) -> type[OwnDistribution]:
    """Return the table of the class "module:Class", as written. PydanticCustomError where it is no distribution."""
    made = import_class(target, lambda: Distribution)
    refuse_taken(target, made, ("keys", *OwnDistribution.model_fields), OwnDistribution)
    refuse_unfinished(target, made, ("inverse", "nominal"))
    return section_of(target, made)
