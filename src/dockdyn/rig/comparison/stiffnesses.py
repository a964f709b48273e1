"""Stiffnesses that compensators are compared over, as a user states them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from pydantic import TypeAdapter, ValidationError

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given import number_from
from dockdyn.scenario.language.units import whole_number
from dockdyn.scenario.tables.parts import Stiffness

MOST = 200  # stiffnesses


KEY = re.compile(r"contact\.([^.]+\.)?normal\.stiffness")  # of a contact in one direction, or of one by its name


def stiffness_range(given: object, key: str) -> list[float] | None:
    """Return the stiffnesses (N/m) of a list, or of `LOW:HIGH:COUNT`, spread evenly by ratio to 12 digits, as a `key` is set to
    them.

    None for a single one. Raises ScenarioError.
    """
    if isinstance(given, list):
        if not 1 <= len(given) <= MOST:
            raise ScenarioError(f"--set {key}: a list of {len(given)}; must have 1 to {MOST} stiffnesses")
        return [stiffness_of(value, key) for value in given]
    if not isinstance(given, str) or ":" not in given:
        return None
    low, high, count = (*given.split(":"), "", "")[:3]
    if given.count(":") != 2 or not 2 <= (whole_number(count) or 0) <= MOST:
        allowed = f"must be a stiffness, a list, or LOW:HIGH:COUNT with COUNT from 2 to {MOST}"
        raise ScenarioError(f"--set {key}={given}: {allowed}")
    ends = stiffness_of(low.strip(), key), stiffness_of(high.strip(), key)
    if not ends[0] < ends[1]:
        raise ScenarioError(f"--set {key}={given}: must rise from LOW to HIGH")
    return [float(f"{value:.12g}") for value in np.geomspace(*ends, int(count))]


def stiffness_of(value: object, key: str) -> float:
    """Return a stiffness (N/m) that a `key` is set to, units allowed. Raises ScenarioError."""
    try:
        return float(TypeAdapter(Stiffness).validate_python(value))
    except ValidationError as error:
        raise ScenarioError(f"--set {key}: {shown(value)}: {error.errors()[0]['ctx']['allowed']}") from None


def stiffnesses_from(given: Sequence[float | str] | float | str) -> list[float]:
    """Return one stiffness or several (N/m), from numbers or texts with a unit."""
    several = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
    return [number_from("stiffnesses", value, "N/m", "a stiffness", above=0) for value in several]
