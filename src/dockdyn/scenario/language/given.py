"""What callers in Python hand over, taken as what is wanted or refused in one line."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.units import Bounds, number_of


def wrong_type(name: str, given: object, wanted: str) -> ScenarioError:
    """Return an error about something that is not what is wanted."""
    return ScenarioError(f"{name}: must be {wanted}; is of type {type(given).__name__}")


def path_from(name: str, given: object, wanted: str = "a path") -> Path:
    """Return a path, from text or a path. Raises ScenarioError for anything else."""
    if not isinstance(given, str | os.PathLike):
        raise wrong_type(name, given, wanted)
    return Path(given)


def number_from(name: str, given: object, unit: str, what: str, **bounds: float) -> float:
    """Return a number of `unit`, from a bare one, of Python or NumPy, or a text with a unit; `bounds` as of `Bounds`.

    Raises ScenarioError, which calls it `name` and the quantity `what`, for anything else.
    """
    value = given if isinstance(given, str | bool) or not hasattr(given, "__float__") else _scalar(given)
    try:
        return number_of(value, unit, what, Bounds(**bounds))
    except PydanticCustomError as error:
        raise ScenarioError(f"{name} = {shown(given)}: {(error.context or {})['allowed']}") from None


def _scalar(given: Any) -> object:  # noqa: ANN401, whatever may be a number
    """Return a number of NumPy's as one of Python's; what is none as it is."""
    try:
        return float(given)
    except (TypeError, ValueError):
        return given


def whole_from(name: str, given: object, least: int) -> int:
    """Return a whole number of at least `least`. Raises ScenarioError for anything else."""
    try:
        found = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise ScenarioError(f"{name} = {shown(given)}: must be a whole number of at least {least}") from None
    if found < least:
        raise ScenarioError(f"{name} = {shown(given)}: must be at least {least}")
    return found


def table_from(name: str, given: object, wanted: str) -> Mapping[str, Any]:
    """Return a mapping whose keys are texts. Raises ScenarioError for anything else."""
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, wanted)
    for key in (key for key in given if not isinstance(key, str)):
        raise ScenarioError(f"{name}: the key {shown(key)} is no text; must be {wanted}")
    return given


def name_from(name: str, given: object) -> str:
    """Return a name. Raises ScenarioError for anything else."""
    if not isinstance(given, str):
        raise wrong_type(name, given, "a name")
    return given


def names_from(name: str, given: object) -> list[str]:
    """Return names: one, or several. Raises ScenarioError for anything else."""
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, list | tuple | set | frozenset) or not all(isinstance(each, str) for each in several):
        raise wrong_type(name, given, "a name or a list of names")
    return list(several)
