"""Mesh files as scenarios name them, and their units, which the files do not say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from dockdyn.scenario.language.units import in_base_units

MeshUnit = Literal["m", "cm", "mm", "inch", "foot"]


class MeshFile(NamedTuple):
    """A mesh file that is there."""

    path: Path
    changed: int  # its time of change
    unit: str | None  # m where none is stated
    repair: bool = False  # before it is used


def length_of(unit: str | None) -> float:
    """Return the length (m) of a unit; of m where none is stated."""
    return in_base_units(f"1 {unit or 'm'}")


def length_in_words(length: float, unit: str | None) -> str:
    """Return a length (m) with the unit of its mesh, in which its user thinks."""
    return f"{length / length_of(unit):.3g} {unit or 'm'}"
