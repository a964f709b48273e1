"""Masses and inertias of bodies against each other: where the mass of a body would have to be.

Source: the radius of gyration √(I/m), against that of a solid ball of the same mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from dockdyn.scenario.sanity.likely import LARGER, SAME, SMALLER, amount, likely, rough
from dockdyn.scenario.sanity.stated import StatedNumber

LIGHT, DENSE = 100.0, 20000.0  # kg/m³: of spacecraft with all the room in them, and of what is denser than lead
SPREAD = 10.0  # radii of a light ball: further out no body has its mass
BALL = 0.632  # radius of gyration of a ball, in its radii
CLOSE = 0.3  # of the radius of gyration of a dense ball: closer no body has it


def _radius(mass: float, density: float) -> float:
    """Return the radius (m) of a ball."""
    return float((3 * mass / (4 * pi * density)) ** (1 / 3))


def is_usual(inertia: float, mass: float) -> bool:
    """Tell whether a body of a `mass` (kg) may have a moment of `inertia` (kg m²)."""
    gyration = (inertia / mass) ** 0.5
    return CLOSE * BALL * _radius(mass, DENSE) <= gyration <= SPREAD * _radius(mass, LIGHT)


def unusual_inertias(numbers: list[StatedNumber]) -> Iterator[str]:
    """Yield what is unusual about the moments of inertia of bodies, each beside the mass of its own table."""
    masses = {id(one.table): one for one in numbers if one.field == "mass" and one.unit == "kg"}
    for one in numbers:
        mass = masses.get(id(one.table))
        if one.field != "inertia" or mass is None or not one.largest or is_usual(one.largest, mass.largest):
            continue
        gyration = (one.largest / mass.largest) ** 0.5
        units = (SMALLER if gyration > _radius(mass.largest, LIGHT) else LARGER)["kg*m**2"]
        words = (
            f"{one.key} up to {amount(one.largest, 'kg*m**2')}: in no body of {amount(mass.largest, 'kg')} the mass is "
        )
        words += f"{rough(gyration)} m from its centre"
        other = likely(one.largest, "kg*m**2", units, lambda value, mass=mass: is_usual(value, mass.largest))
        heavier = likely(
            mass.largest, "kg", (("t", 1e3), (SAME, 1e-3)), lambda value, one=one: is_usual(one.largest, value)
        )
        both = other + heavier.replace("; is it", "; or is the mass" if other else "; is the mass")
        yield words + both.replace("?; or", ", or")
