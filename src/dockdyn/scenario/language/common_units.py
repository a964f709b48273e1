"""The units that scenarios are mostly written in, read without Pint, which takes half a second to import.

Factors are found as Pint finds them, from the same definitions in the same order, so that a number is the same to the last bit
whoever reads it. What is not here is left to Pint, and what is refused, too: it says why.
"""

from __future__ import annotations

import functools
import math
import re
from collections import defaultdict

Powers = dict[str, float]  # by unit

BASE = ("m", "g", "s", "rad")
DERIVED: dict[str, tuple[float, Powers]] = {  # a factor, and the units that it is of
    "N": (1, {"kg": 1, "m": 1, "s": -2}),
    "J": (1, {"N": 1, "m": 1}),
    "W": (1, {"J": 1, "s": -1}),
    "Pa": (1, {"N": 1, "m": -2}),
    "Hz": (1, {"s": -1}),
    "π": (math.pi, {}),
    "deg": (1 / 180, {"π": 1, "rad": 1}),
    "turn": (2, {"π": 1, "rad": 1}),
    "min": (60, {"s": 1}),
    "h": (60, {"min": 1}),
    "rpm": (1, {"turn": 1, "min": -1}),
    "t": (1e3, {"kg": 1}),
}
PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6, "G": 1e9}
WITH_PREFIX = ("m", "g", "s", "rad", "N", "J", "W", "Pa", "Hz", "deg")
DERIVED |= {prefix + unit: (factor, {unit: 1}) for prefix, factor in PREFIXES.items() for unit in WITH_PREFIX}
SPELLED = str.maketrans({"µ": "u", "μ": "u", "°": "deg"})
QUANTITY = re.compile(
    r"([-+]?(?:\d{1,15}\.?\d{0,20}|\.\d{1,20})(?:[eE][-+]?\d{1,3})?)\s*(\*(?!\*)|/|)\s*([A-Za-zµμ°].*)"
)
UNIT = re.compile(
    r"([A-Za-zµμ]+|°)(?:\s*(?:\*\*|\^)\s*(-?\d{1,2}(?:\.\d{1,2})?)(?![\d.]))?"  # with its power
    r"(?:\s*(\*(?!\*)|/)\s*(?=\S)|\s+(?=\S)|$)"  # and what comes before the next
)


def convert_common(text: str, unit: str) -> float | None:
    """Return the number of `unit` in a text such as "3 kN/m"; None where Pint has to say it, or that it is none.

    Hz count turns (`units._counting_turns`).
    """
    read, asked = _quantity_in(text), _units_in(unit)
    if read is None or asked is None:
        return None
    number, powers = read
    (_, own), (_, wanted) = _root_of(powers), _root_of(asked)
    counted = [any(name.endswith("Hz") for name in each) for each in (asked, powers)]
    turns = wanted.get("rad", 0) - own.get("rad", 0)
    if _dimensions(own) != _dimensions(wanted) or (counted == [True, False] and not turns):
        return None
    return number * _factor_to(_times(powers, {"turn": turns}) if any(counted) else powers, asked)


def convert_to_base(text: str) -> float | None:
    """Return the number in SI base units of a text such as "3 mm"; None where Pint has to say it."""
    if (read := _quantity_in(text)) is None:
        return None
    return read[0] * _factor_to(read[1], _base_of(read[1]))


def common_magnitude(text: str) -> float | None:
    """Return the number that a text such as "3 mm" begins with; None where Pint has to say it."""
    return None if (read := _quantity_in(text)) is None else read[0]


def powers_of_base(unit: str) -> dict[str, float] | None:
    """Return the powers of SI base units and radians of a unit that is a product of them; None where Pint has to say it."""
    powers = _units_in(unit.replace(" ", "*"))
    if not powers or _factor_to(powers, _base_of(powers)) != 1:
        return None
    return {name: float(power) for name, power in _base_of(powers).items()}


def _quantity_in(text: str) -> tuple[float, Powers] | None:
    """Return the number of a text and the powers of its units."""
    found = QUANTITY.fullmatch(text.strip())
    units = None if found is None else _units_in(found[3], -1 if found[2] == "/" else 1)
    return None if found is None or units is None else (float(found[1]), units)


@functools.lru_cache(maxsize=4096)
def _units_in(text: str, sign: int = 1) -> Powers | None:
    """Return the powers of units in a text such as N*s/m, from left to right; the first has the `sign`."""
    powers: Powers = {}
    place, text = 0, text.strip()
    while place < len(text):
        found = UNIT.match(text, place)
        if found is None or (name := found[1].translate(SPELLED)) not in (*BASE, *DERIVED):
            return None
        power = 1 if found[2] is None else float(found[2]) if "." in found[2] else int(found[2])
        powers = _times(powers, {name: sign * power})
        sign, place = -1 if found[3] == "/" else 1, found.end()
    return powers


def _times(powers: Powers, others: Powers) -> Powers:
    """Return the powers of a product of units, without those that are zero."""
    found = powers | {name: powers.get(name, 0) + power for name, power in others.items()}
    return {name: power for name, power in found.items() if power}


def _factor_to(powers: Powers, others: Powers) -> float:
    """Return how many of one product of units another is."""
    if powers == others:
        return 1
    return _root_of(_times(powers, {name: -power for name, power in others.items()}))[0]


def _root_of(powers: Powers) -> tuple[float, Powers]:
    """Return the factor of a product of units, and the powers of meters, grams, seconds and radians in it.

    Factors that are there above and below cancel before they are multiplied.
    """
    root: Powers = defaultdict(int)
    above: dict[float, float] = defaultdict(int)
    below: dict[float, float] = defaultdict(int)

    def add(units: Powers, times: float) -> None:
        for name, power in units.items():
            if name in BASE:
                root[name] += times * power
                continue
            factor, of = DERIVED[name]
            if times * power < 0:
                below[factor] -= times * power
            else:
                above[factor] += times * power
            add(of, times * power)

    add(powers, 1)
    common = {factor: min(above[factor], below[factor]) for factor in above.keys() & below.keys()}
    found = 1.0
    for factors, sign in ((above, 1), (below, -1)):
        for factor, times in factors.items():
            if left := times - common.get(factor, 0):
                found *= factor ** (sign * left)
    return found, {name: power for name, power in root.items() if power}


def _base_of(powers: Powers) -> Powers:
    """Return SI base units, and radians, with the powers that a product of units has of them."""
    return {"kg" if name == "g" else name: power for name, power in _root_of(powers)[1].items()}


def _dimensions(root: Powers) -> Powers:
    return {name: power for name, power in root.items() if name != "rad"}
