"""How a scenario of one's own begins: a commented file that runs, its numbers derived from the masses of two bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

DENSITY = 100.0  # kg/m³, of a spacecraft taken for a cube
HEAD = """# {title}. Every number is a start: put in your own.
# A number without a unit is in SI units, a text has its own: "1.8 t", "30 mm/s", "2 deg".
schema = 2
"""


@dataclass(frozen=True)
class TwoBodies:
    """The masses (kg) that a start is made for, and what follows from them."""

    chaser: float
    target: float

    @property
    def effective_mass(self) -> float:
        """The mass (kg) that a contact on the line of both centres feels."""
        return self.chaser * self.target / (self.chaser + self.target)

    def stiffness(self, duration: float, mass: float | None = None) -> float:
        """Return the stiffness (N/m) of a contact that lasts for a `duration` (s)."""
        return (self.effective_mass if mass is None else mass) * (math.pi / duration) ** 2

    def damping(self, ratio: float, duration: float) -> float:
        """Return the damping (N s/m) of that contact with a damping ratio."""
        return 2 * ratio * math.sqrt(self.stiffness(duration) * self.effective_mass)


def side(mass: float) -> float:
    """Return the side (m) of a cube of that mass (kg)."""
    return (mass / DENSITY) ** (1 / 3)


def inertia(mass: float) -> str:
    """Return the moments of inertia (kg m²) of that cube, as a file has them."""
    moment = digits(mass * side(mass) ** 2 / 6)
    return f"[{moment}, {moment}, {moment}]"


def plain(value: float) -> str:
    """Return a number that was given, as a file has it."""
    return f"{value:.10g}"


def digits(value: float) -> str:
    """Return a number that was chosen, three digits of it, as a file has it."""
    return plain(float(f"{value:.3g}"))


@dataclass(frozen=True)
class Start:
    """What `dockdyn new` asks for a kind, and the file that it writes."""

    words: str  # what the kind is
    mechanisms: Mapping[str, str]  # in words, by name; the first is the default
    text: Callable[[TwoBodies, str], str]  # of the masses and the name of a mechanism
    bodies: tuple[str, str] = ("chaser", "target")
    masses: tuple[float, float] = (1800.0, 3200.0)  # kg, where none are given
