"""The unit that was likely meant: another one in which the same digits are a number of a usual size."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Choice = tuple[str, float]  # a unit, and what one of it is in the SI unit that the number was read in

SAME = ""  # what was meant is told in the SI unit: a prefix was wrong

SMALLER = {  # units in which a number that is too large may have been meant
    "m/s": (("mm/s", 1e-3),),
    "rad/s": (("deg/s", 0.0174532925),),
    "rad": (("deg", 0.0174532925),),
    "m": (("mm", 1e-3), ("cm", 1e-2), ("um", 1e-6)),
    "s": (("ms", 1e-3), ("us", 1e-6)),
    "N": ((SAME, 1e-3),),
    "N*m": (("N mm", 1e-3),),
    "kg": ((SAME, 1e-3),),
    "Hz": ((SAME, 1e-3),),
    "kg*m**2": (("kg cm^2", 1e-4), ("kg mm^2", 1e-6)),
    "": (("%", 1e-2),),
}
LARGER = {  # the same of one that is too small
    "m": (("km", 1e3),),
    "s": (("ks", 1e3), ("min", 60.0)),
    "kg": (("t", 1e3),),
    "N": (("kN", 1e3),),
    "N/m": (("N/mm", 1e3), ("N/um", 1e6)),
    "N*s/m": (("N s/mm", 1e3),),
    "s/m": (("s/mm", 1e3),),
    "Hz": (("kHz", 1e3),),
    "kg*m**2": (("t m^2", 1e3),),
}
LEAST_DIGITS, MOST_DIGITS = 0.5, 1e4  # of numbers as one writes them
THOUSANDTH = 1e-3  # of a number that was written in a unit a thousand times too large


def amount(value: float, unit: str) -> str:
    """Return a number with its unit, as a text of a scenario has it."""
    return f"{value:.6g} {unit.replace('**', '^').replace('*', ' ')}".strip()


def rough(value: float) -> str:
    """Return a number with two digits."""
    return f"{float(f'{value:.2g}'):g}"


def likely(value: float, unit: str, others: Sequence[Choice], usual: Callable[[float], bool]) -> str:
    """Return "; is it 4 ms?" with the first of the other units in which a `value` is usual; empty where it is so in none.

    Where the digits are not such as one writes, the number was meant with a prefix: then it is told in `unit` again, 20 Hz for
    0.02 kHz.
    """
    for other, size in others:
        if usual(value * size):
            written = other != SAME and LEAST_DIGITS <= abs(value) < MOST_DIGITS
            return f"; is it {amount(value, other) if written else amount(value * size, unit)}?"
    return ""
