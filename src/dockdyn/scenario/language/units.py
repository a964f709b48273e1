"""Quantities with units: the one place where units appear on the way in."""

from __future__ import annotations

import functools
import hashlib
import io
import math
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo
from pydantic_core import PydanticCustomError

from dockdyn import kept
from dockdyn.records import record
from dockdyn.scenario.language.common_units import (
    common_magnitude,
    convert_common,
    convert_to_base,
    powers_of_base,
)
from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.language.or_none import means_none

LONGEST = 100  # characters of a number with its unit
NUMBER = re.compile(r"[-+(\s]*(\.?\d|nan|inf)", re.IGNORECASE)  # what a text with a unit begins with: "kg" is no mass
MISREAD = {  # what Pint reads otherwise than it is meant
    re.compile(r"\d\s*,"): "a comma is no decimal point",
    re.compile(r"\d\s+(?!1\s*/)\.?\d"): "digits stand without blanks between them",
    re.compile(r"\btons?\b"): "a ton has 1000, 907 or 1016 kg, t has 1000",
}
NUMBER_BEFORE = re.compile(r"^[-+(\s]*[\d.]+(e[-+]?\d+)?\s*\*?\s*", re.IGNORECASE)
POWER_AT_END = re.compile(r"^([A-Za-z]+)(\d)$")
EXPONENT = re.compile(r"\s*([-+]?\d{1,2}(\.\d+)?|\(\s*[-+]?\d{1,2}(\.\d+)?(\s*/\s*\d{1,2})?\s*\))(?![\w.])(?!\s*\*\*)")
POWER_OF_ONE = re.compile(r"\*\*1(?![\d.])")
POWER_OF_POWER = re.compile(r"\)[^()]*\)\s*$")  # what is in brackets, before a power, has brackets inside


@functools.cache
def _registry():
    """Return Pint's units. What it makes of its definitions is kept: Pint itself would run whatever lies in its own folder."""
    import pint

    facts = (pint.__version__, pint.__file__, sys.version)
    place, name = kept.cache_root() / "units", hashlib.sha256(repr(facts).encode()).hexdigest()[:40]
    stored = kept.find_entry(place, name)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if stored is not None:
                with zipfile.ZipFile(io.BytesIO(stored)) as archive:
                    archive.extractall(folder)
            registry = pint.UnitRegistry(cache_folder=folder)
            registry("m")  # reads its definitions
            if stored is None:
                packed = io.BytesIO()
                with zipfile.ZipFile(packed, "w") as archive:
                    for file in Path(folder).iterdir():
                        archive.write(file, file.name)
                kept.keep_entry(place, name, packed.getvalue())
            return registry
    except OSError:  # a full disk
        return pint.UnitRegistry()


@functools.lru_cache(maxsize=4096)
def convert(text: str, unit: str) -> float:
    """Return the number of `unit` in a text such as "3000 kg"; ValueError when it is none."""
    try:
        return float(text)
    except ValueError:
        pass
    known = convert_common(text, unit)
    return read(text, lambda quantity: _counting_turns(quantity, unit).to(unit)) if known is None else known


def _counting_turns(quantity: Any, unit: str) -> Any:  # noqa: ANN401, pint's
    """Return a quantity with or without the angle that `unit` has, if one of the two is in Hz, a cycle of which is a turn.

    So 50 rad/s is 7.96 Hz and 1 Hz is 6.28 rad/s, which to pint, with a radian of 1, are 50 Hz and 1 rad/s. What is plainly
    per second, without Hz, says nothing of turns and stays as it is; ValueError where Hz are asked, for it can be meant of
    cycles or of radians.
    """
    asked = _registry().Quantity(1, unit)
    in_hertz = [any(str(name).endswith("hertz") for name, _ in each.unit_items()) for each in (asked, quantity)]
    if not any(in_hertz):
        return quantity
    angles = [dict(each.to_base_units().unit_items()).get("radian", 0) for each in (asked, quantity)]
    if in_hertz == [True, False] and angles[0] == angles[1] and quantity.check(asked.dimensionality):
        raise ValueError(f"must be {unit} or count radians, as rad/s does")
    return quantity * _registry().Quantity(1, "turn") ** (angles[0] - angles[1])


def in_base_units(text: str) -> float:
    """Return the number in SI base units of a text such as "3 mm"; ValueError when it is none."""
    known = convert_to_base(text)
    return read(text, lambda quantity: quantity.to_base_units()) if known is None else known


BASE = {"kilogram": "kg", "meter": "m", "second": "s", "radian": "rad", "kelvin": "K", "ampere": "A"}


def base_units(unit: str) -> dict[str, float]:
    """Return the powers of SI base units and radians of a unit such as N*s/m or N s/m; empty for what is none."""
    if (known := powers_of_base(unit)) is not None:
        return known
    try:
        found = _evaluate(f"1 {unit.replace(' ', '*')}").to_base_units()
        powers = {BASE[str(name)]: float(power) for name, power in found.unit_items()}
    except Exception:  # pint evaluates the text, which can fail anywhere in it
        return {}
    return powers if found.magnitude == 1 else {}


def magnitude(text: str) -> float:
    """Return the number that a text such as "3 mm" begins with; ValueError when it is none."""
    known = common_magnitude(text)
    return read(text, lambda quantity: quantity) if known is None else known


def scale_of(unit: str, wanted: str) -> float:
    """Return how many `wanted` a `unit` is, which may be a number of another: 1e-3 N. Raises ValueError as `convert` does."""
    return convert(unit if unit[:1].isdigit() else f"1 {unit}", wanted)


def read(text: str, scaled: Callable[[Any], Any]) -> float:
    """Return the number of pint's quantity in `text` once it is `scaled`."""
    if not _begins_as_number(text) or _misread(text):
        raise ValueError("must be a number and a unit")
    try:
        return float(scaled(_evaluate(text)).magnitude)
    except Exception as error:  # pint evaluates the text, which can fail anywhere in it: 0 ** -1, 5 s)
        raise ValueError(str(error)) from None


def _evaluate(text: str) -> Any:  # noqa: ANN401, pint's
    """Return pint's quantity of a text from anywhere. Raises ValueError for one that it could take for ever to evaluate, and
    whatever pint raises."""
    from pint.util import string_preprocessor

    if len(text) > LONGEST or not _plain_powers(string_preprocessor(text)):
        raise ValueError("must be a number and a unit")
    return _registry().Quantity(text)


def _begins_as_number(text: str) -> bool:
    return len(text) <= LONGEST and NUMBER.match(text) is not None


def _misread(text: str) -> str:
    """Return what would be read otherwise than it is meant in a text, in words; empty where nothing is."""
    return next((words for pattern, words in MISREAD.items() if pattern.search(text)), "")


def _plain_powers(text: str) -> bool:
    """Return whether all powers are of a small number, and none is of a power: others can take for ever to evaluate."""
    return all(
        EXPONENT.match(text, power.end()) and not POWER_OF_POWER.search(text[: power.start()])
        for power in re.finditer(r"\*\*", text)
    )


def whole_number(text: str) -> int | None:
    """Return the number that digits alone write, where it is one that counts something; None of any other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text.strip()) else None


LARGEST = 1e30  # SI units: products of several numbers of this size are still numbers
SMALLEST = 1e-30  # the same of quotients


class Bounds:
    """Allowed range of a number in SI units, and the least size it may have unless it is zero."""

    def __init__(
        self,
        above: float = -math.inf,
        least: float = -math.inf,
        below: float = math.inf,
        most: float = math.inf,
        size: float = 0.0,
    ):
        self.above, self.least, self.below, self.most, self.size = above, least, below, most, size

    def without_zero(self) -> Bounds:
        """Return the same of a number that is at least zero and may not be zero."""
        return Bounds(max(self.above, 0.0), self.least, self.below, self.most, self.size)

    def hold(self, value: float) -> bool:
        return math.isfinite(value) and self.above < value < self.below and self.least <= value <= self.most

    def computable(self, value: float) -> bool:
        return value == 0 or self.size <= abs(value) <= LARGEST

    def words(self, unit: str) -> str:
        parts = [
            f"{word} {self.amount(bound, unit)}"
            for word, bound in (
                ("greater than", self.above),
                ("of at least", self.least),
                ("less than", self.below),
                ("at most", self.most),
            )
            if math.isfinite(bound)
        ]
        return " and ".join(parts)

    def amount(self, bound: float, unit: str) -> str:
        return f"{math.degrees(bound):g} deg" if unit == "rad" else f"{bound:g} {unit}".strip()


@record
class Unit:
    """The unit of a field's numbers, for who asks for it; may name fields of its section, as in N/m**{exponent}."""

    text: str
    what: str  # the quantity in words
    limits: Bounds

    def words(self, what: str = "") -> str:
        """Return quantity, or `what` else it is called, unit and what is allowed: "a mass, kg, greater than 0 kg"."""
        limits = self.limits.words(self.text) if "{" not in self.text else ""
        return ", ".join(filter(None, [what or self.what or "a number", self.text.replace("**", "^") or "1", limits]))

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:  # noqa: ANN401, pydantic's
        """Return what a JSON schema says of the field: of a number its bounds, in the unit of a bare one."""
        found = handler(core) | {"description": self.words()}
        if found.get("type") != "number":
            return found
        names = {"exclusiveMinimum": "above", "minimum": "least", "exclusiveMaximum": "below", "maximum": "most"}
        bounds = {key: getattr(self.limits, name) for key, name in names.items()}
        return found | {key: bound for key, bound in bounds.items() if math.isfinite(bound)}


def number_of(value: object, unit: str, what: str, limits: Bounds) -> float:
    """Return a bare number in SI units or a text with a unit, as a number of `unit`; refused where it is none or out of
    range."""

    def allowed() -> str:
        limit = limits.words(unit) or (f"in {unit}" if unit else "")
        return f"must be {what} {limit}".strip()

    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = convert(value, unit) if isinstance(value, str) else float(value)
    except (ValueError, OverflowError):
        zero = "; for none write 0" if limits.least == 0 and means_none(value) else _why(value, unit)
        raise _make_refusal(value, f'{allowed()}, as a number or a text such as "{_example(unit)}"{zero}') from None
    if not limits.hold(number):
        raise _make_refusal(value, f"{allowed()}{_meant_degrees(value, number, unit, limits)}")
    if not limits.computable(number):
        least = f"from {limits.size:g} to" if limits.size else "up to"
        raise _make_refusal(value, f"{allowed()}, of a size {least} {LARGEST:g}")
    return number


def _meant_degrees(value: object, number: float, unit: str, limits: Bounds) -> str:
    """Return a question for a message: whether a bare `number` of rad that is beyond its limits is one of degrees; empty where
    that is none either, or the unit is stated."""
    bare = not isinstance(value, str) or _is_plain(value)
    if unit != "rad" or not bare or not limits.hold(math.radians(number)):
        return ""
    return f'; {number:g} rad is {math.degrees(number):.4g} deg; did you mean "{number:g} deg"?'


WHAT = {  # what is measured in a unit, in words
    "": "a pure number",
    "kg": "a mass",
    "m": "a length",
    "s": "a time",
    "rad": "an angle",
    "Hz": "a frequency",
    "m/s": "a speed",
    "rad/s": "an angular rate",
    "m/s**2": "an acceleration",
    "N": "a force",
    "N*m": "a moment",
    "N/m": "a stiffness along an axis",
    "N*m/rad": "a stiffness about an axis",
    "N*s/m": "a damping",
    "Pa": "a pressure",
    "kg*m**2": "an inertia",
    "m**2": "an area",
    "m**3": "a volume",
    "kg/m**3": "a density",
}


def _why(value: object, unit: str) -> str:
    """Return why a text is no number of a `unit`, to stand behind what is allowed; empty where it says nothing of units."""
    if not isinstance(value, str) or not _begins_as_number(value):
        return ""
    if words := _misread(value):
        return f"; {words}"
    import pint

    try:
        given = _evaluate(value)
    except pint.UndefinedUnitError as error:
        names = error.unit_names if isinstance(error.unit_names, str) else ", ".join(error.unit_names)
        power = POWER_AT_END.sub(r"\1**\2", names)
        return f"; unknown unit {shown(names)}{f', is it {power}?' if power != names else ''}"
    except Exception:  # pint evaluates the text, which can fail anywhere in it
        return ""
    stated = NUMBER_BEFORE.sub("", value).strip()
    powers = dict(given.to_base_units().unit_items())  # radians count, unlike in what Pint calls compatible
    known = next((words for one, words in WHAT.items() if dict(_base_items(one)) == powers), "")
    return f"; {stated} is {known}" if stated and known and not given.is_compatible_with(unit or "1") else ""


@functools.cache
def _base_items(unit: str) -> tuple[tuple[str, float], ...]:
    """Return the base units of a unit, with their powers."""
    return tuple(_registry().Quantity(1, unit).to_base_units().unit_items())


def _is_plain(text: str) -> bool:
    """Return whether a text is a number without a unit."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def unit_beside(values: Mapping[str, object], unit: str) -> str:
    """Return a unit with the fields that it names filled in; one that names a field without a value, without its power."""
    try:
        return POWER_OF_ONE.sub("", unit.format(**{name: _plain(value) for name, value in values.items()}))
    except KeyError:
        return unit.split("**", maxsplit=1)[0]


def _plain(value: object) -> object:
    """Return a number as a unit has it: 2, not 2.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def quantity(unit: str, what: str, component: bool = False, **bounds: float) -> Any:  # noqa: ANN401, a type
    """Return the field type: a bare number in SI units or a text with a unit; `what` names the quantity in messages.

    A `unit` may name fields declared before it, as in "N/m**{exponent}". A number is written back with its unit, unless
    it is a `component` of a vector or matrix.
    """
    limits = Bounds(size=0.0 if component else SMALLEST, **bounds)
    always = None if "{" in unit else unit_beside({}, unit)

    def parse(value: object, info: ValidationInfo) -> float:
        try:
            return number_of(value, unit_beside(info.data or {}, unit) if always is None else always, what, limits)
        except PydanticCustomError as error:
            base, power, key = unit.partition("**{")
            if not (power and isinstance(value, str) and _is_in(value, base)):
                raise
            raise _make_refusal(value, f"{error}, for which {key.rstrip('}')} must be 1") from None

    def written(value: float, info: Any) -> Any:  # noqa: ANN401, pydantic goes by what is said here
        return value if component or "{" in unit or not unit else f"{value!r} {unit}"

    return Annotated[float, BeforeValidator(parse), PlainSerializer(written), Unit(unit, what, limits)]


def _is_in(text: str, unit: str) -> bool:
    """Return whether a text is an amount of a unit."""
    try:
        convert(text, unit)
    except ValueError:
        return False
    return True


def _example(unit: str) -> str:
    examples = {"rad": "30 deg", "s": "16 ms", "Hz": '5 Hz" or "30 rad/s'}
    return examples.get(unit, f"5 {unit}".strip())


def _make_refusal(value: object, allowed: str) -> PydanticCustomError:
    """Return a refusal of `value` that says what is allowed."""
    return PydanticCustomError("quantity", "{allowed}", {"allowed": allowed, "value": shown(value)})


Number = quantity("", "a number", component=True)
Coordinate: Any = quantity("m", "a length", component=True)
