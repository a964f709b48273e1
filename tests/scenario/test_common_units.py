"""The units of scenarios that are read without Pint are read as Pint reads them, to the last bit."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dockdyn
from dockdyn.scenario.language import common_units, units

PINT = units._registry
NAMES = [name for name in (*common_units.BASE, *common_units.DERIVED) if name != "π"]
KIN = {
    "kg": ["kg", "g", "t", "Mg"],
    "m": ["m", "mm", "cm", "km", "µm", "nm"],
    "s": ["s", "ms", "us", "min", "h"],
    "rad": ["rad", "deg", "mrad", "turn", "°"],
    "N": ["N", "kN", "mN", "MN"],
    "Hz": ["Hz", "kHz", "rpm", "rad/s"],
    "Pa": ["Pa", "MPa", "GPa", "kN/m**2"],
}
ASKED = [
    *(
        "",
        "kg",
        "m",
        "s",
        "rad",
        "Hz",
        "m/s",
        "rad/s",
        "m/s**2",
        "N",
        "N*m",
        "N/m",
        "N*m/rad",
        "N*s/m",
        "Pa",
        "kg*m**2",
    ),
    *("m**2", "m**3", "kg/m**3", "N/m**1.5", "N*s/m**2", "N*m*s/rad", "J", "W"),
]
NUMBERS = st.integers(-999, 999).map(str) | st.floats(-1e9, 1e9).map(repr) | st.floats(1e-9, 1e9).map("{:.4e}".format)


def by_pint(text: str, unit: str) -> float | None:
    try:
        return units.read(text, lambda quantity: units._counting_turns(quantity, unit).to(unit))
    except ValueError:
        return None


@st.composite
def quantities(draw) -> tuple[str, str]:
    """Return a text, mostly of a unit that is one of those asked for, in other prefixes and spellings, and that unit."""
    asked = draw(st.sampled_from(ASKED))
    if draw(st.booleans()):
        unit = re.sub(r"[A-Za-z]+", lambda found: draw(st.sampled_from(KIN.get(found[0], [found[0]]))), asked)
        unit = unit.replace("**", draw(st.sampled_from(["**", "^", " ** "])))
        unit = re.sub(r"(?<!\*)\*(?!\*)", lambda found: draw(st.sampled_from(["*", " ", " * "])), unit)
    else:
        parts = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
        powers = [draw(st.sampled_from(["", "**2", "^-1", "**1.5"])) for _ in parts]
        unit = draw(st.sampled_from([" ", "*", "/"])).join(map("".join, zip(parts, powers, strict=True)))
    return draw(NUMBERS) + draw(st.sampled_from([" ", "", " * "])) + unit, asked


@pytest.mark.full
@settings(deadline=None, max_examples=1500)
@given(quantities())
def test_a_number_is_that_of_pint_to_the_last_bit(case):
    found = common_units.convert_common(*case)
    assert found is None or found == by_pint(*case), case


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_is_what_pint_takes_it_for(name):
    base = {"kilogram": "kg", "meter": "m", "second": "s", "radian": "rad"}
    expected = PINT().Quantity(f"7 {name}").to_base_units()
    assert common_units.convert_to_base(f"7 {name}") == expected.magnitude
    powers = {base[str(unit)]: power for unit, power in expected.unit_items()}
    assert common_units.powers_of_base(name) == (powers if expected.magnitude == 7 else None)


def texts_in(value) -> list[str]:
    """Return all texts in tables that are a number with a unit."""
    if isinstance(value, dict | list):
        return [text for one in (value.values() if isinstance(value, dict) else value) for text in texts_in(one)]
    return [value] if isinstance(value, str) and re.match(r"[-+.\d]+(e[-+]?\d+)? ?[A-Za-z°]", value) else []


@pytest.mark.full_cases("mesh-on-mesh")
@pytest.mark.parametrize("preset", dockdyn.presets())
def test_presets_are_read_without_pint(preset):
    stated = texts_in(dockdyn.load(preset).resolved())
    for text in stated:
        known = common_units.convert_to_base(text)
        assert known is not None and np.float64(known) == units.read(text, lambda quantity: quantity.to_base_units())


@pytest.mark.parametrize(
    "text", ["3 ft", "5 apples", "5 kg", "3 m)", "2 m m**", "1 m/", "9 m**3**2", "0x10 m", "5 cd", "1 π"]
)
def test_what_is_not_known_or_no_length_is_left_to_pint(text):
    assert common_units.convert_common(text, "m") is None
