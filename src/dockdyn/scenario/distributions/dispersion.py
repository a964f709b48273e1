"""Numbers of a scenario that are distributed: found in what a file holds, checked by the fields of their keys, written back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import tomlkit
from pydantic import ValidationError
from pydantic_core import PydanticCustomError
from tomlkit.items import Array, Trivia, Whitespace

from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, nearest, refused_in, shown
from dockdyn.scenario.language.keys import Number, override, sort_of, value_at
from dockdyn.scenario.language.like import Copies
from dockdyn.scenario.language.own_code import OwnCodeError
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.table_names import NAME
from dockdyn.scenario.language.units import Bounds, number_of

if TYPE_CHECKING:
    from dockdyn.scenario.distributions.distribution import Cube, DistributionSection, Values

NEVER = ("schema", "title", "campaign", "design", "requirements")  # keys that are no part of what is simulated

Check = Callable[[Mapping[str, Any]], Any]  # the scenario's content with dotted keys set as written; ScenarioError


@record
class Dispersion:
    """One distribution, of one number of the scenario or of several together."""

    keys: tuple[str, ...]  # dotted, each one number; of more than the law is of, one draw serves them all
    units: tuple[str, ...]  # as texts with a unit have them; empty for none
    law: DistributionSection  # its numbers in SI units
    nominal: tuple[Any, ...]  # value of every key in the scenario as it runs alone
    table: str | None = None  # the name of its table; None where it stands in the place of its numbers

    @property
    def size(self) -> int:
        """How many numbers of the unit cube it takes."""
        return self.law.size()

    def values(self, cube: Cube) -> Values:
        """Return values (SI) of the keys at points of the unit cube, by the inverse of the distribution function."""
        drawn = self.law.inverse(cube)
        return np.tile(drawn, (1, len(self.keys) // drawn.shape[1]))

    def written(self) -> dict[str, Any]:
        """Return the table that a file holds."""
        table = self.law.model_dump(exclude_none=True)
        unit = self.units[0]
        for field in self.law.with_unit:
            if unit and isinstance(table.get(field), float):
                table[field] = f"{table[field]!r} {unit}"
        return table if self.table is None else {"keys": list(self.keys), **table}


@record
class Stated:
    """A distribution as a file states it."""

    law: DistributionSection  # its values as written
    where: str  # the file's key for it
    keys: tuple[str, ...]  # as written; in the place of numbers those of the copies, too
    table: str | None  # as of `Dispersion`

    def place_of(self, key: str) -> str:
        """Return where the file states a key of a [dispersion.NAME], for a message: "dispersion.NAME.keys.0 = '…'"."""
        return f"{self.where}.keys.{self.keys.index(key)} = {shown(key)}"

    def somewhere(self) -> dict[str, tuple[str, Any]]:
        """Return some value of every key, as written, and the field that holds it."""
        field, value = self.law.somewhere()
        if self.table is None or len(self.keys) == 1:
            return dict.fromkeys(self.keys, (field, value))
        if not isinstance(value, list):
            return dict.fromkeys(self.keys, (field, value))
        return {key: (f"{field}.{i}", part) for i, (key, part) in enumerate(zip(self.keys, cycle(value), strict=False))}


def extract_distributions(
    data: dict[str, Any], name: str, copies: Copies | None = None
) -> tuple[dict[str, Any], list[Stated]]:
    """Return `data` with some value in the place of every distribution, and the distributions; those of tables are not in
    it. What is distributed in a table and in its `copies` is one."""
    apart: list[Stated] = []
    plain = replace_distributions({key: value for key, value in data.items() if key != "dispersion"}, (), name, apart)
    shared: dict[str, Stated] = {}
    for one in apart:
        origin = one.where if copies is None else copies.origin_of(one.where)
        first = shared.get(origin)
        shared[origin] = replace(one, where=origin) if first is None else replace(first, keys=(*first.keys, *one.keys))
    found = list(shared.values())
    tables = data.get("dispersion", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ScenarioError(f"{name}: dispersion: must be tables, each under a name of its own: [dispersion.NAME]")
    found += [_of_table(table, own, name) for own, table in tables.items()]
    return plain, found


def replace_distributions(value: object, path: tuple[str, ...], name: str, found: list[Stated]) -> Any:  # noqa: ANN401, as `value`
    """Return `value` with some value in the place of every distribution inside, which `found` receives."""
    if isinstance(value, list):
        return [replace_distributions(item, (*path, str(place)), name, found) for place, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    if "distribution" not in value or not path:
        return {key: replace_distributions(item, (*path, key), name, found) for key, item in value.items()}
    where = ".".join(path)
    _distributable(where, where, name)
    found.append(Stated(_law_of(value, where, name), where, (where,), None))
    return found[-1].law.somewhere()[1]


def _of_table(table: dict[str, Any], own: str, name: str) -> Stated:
    """Return the table [dispersion.NAME] of its `own` name."""
    where = f"dispersion.{own}"
    if NAME.fullmatch(own) is None:
        raise ScenarioError(f"{name}: dispersion: {shown(own)} is no name; must be of letters, digits, - and _")
    keys = table.get("keys")
    if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
        given = "missing" if keys is None else shown(keys)
        raise ScenarioError(f"{name}: {where}.keys: {given}; must be a list of keys of numbers")
    for key in keys:
        _distributable(key, f"{where}.keys", name)
    law = _law_of({key: value for key, value in table.items() if key != "keys"}, where, name)
    if len(keys) > 1 and len(keys) % law.count():
        raise ScenarioError(
            f"{name}: {where}.keys: {len(keys)} keys; a {law.distribution} as given is of {law.count()}, or of so many again "
            "that one draw serves"
        )
    return Stated(law, where, tuple(keys), own)


def _distributable(key: str, where: str, name: str) -> None:
    """Refuse keys that are never distributed."""
    if key.split(".")[0] in NEVER:
        words = "" if key == where else f" {key}"
        raise ScenarioError(f"{name}: {where}:{words} cannot be distributed; must be a number of what is simulated")


def _law_of(table: dict[str, Any], where: str, name: str) -> DistributionSection:
    """Return the distribution that a table describes, its values as written."""
    from dockdyn.scenario.distributions.distribution import LAWS

    word = table.get("distribution")
    section = _own_of(word, where, name) if isinstance(word, str) and ":" in word else LAWS.get(str(word))
    if not isinstance(word, str) or section is None:
        given = "missing" if word is None else f"{shown(word)} is no distribution"
        raise ScenarioError(f"{name}: {where}.distribution: {given}; {nearest(str(word), LAWS)}")
    return _read(section, table, where, name)


def _own_of(word: str, where: str, name: str) -> type[DistributionSection]:
    """Return the table of a distribution of the user's own."""
    from dockdyn.scenario.distributions.own_distribution import own_section

    try:
        return own_section(word)
    except PydanticCustomError as error:
        sort = OwnCodeError if error.type == "own_code" else ScenarioError
        key = f"{where}.distribution"
        raise sort(f"{name}: {key} = {shown(word)}: {error.message()}", key, error.message()) from None


def _read[Table: Section](section: type[Table], table: dict[str, Any], where: str, name: str) -> Table:
    """Return a table of a file, read; what is not allowed there is refused in one line."""
    try:
        return section.model_validate(table)
    except ValidationError as error:
        known = [field for field in section.model_fields if field != "distribution"]
        raise refused_in(error, where, table, known, name) from None


def relocate_error(error: ScenarioError, stated: Sequence[Stated], name: str) -> ScenarioError:
    """Return a refusal of a value that stands for a distribution, as one of what the distribution says."""
    for one in stated:
        for key, (field, value) in one.somewhere().items():
            if error.key != key and not error.key.startswith(f"{key}."):
                continue
            if error.words.startswith("unknown key"):
                where = key if one.table is None else one.place_of(key)
                return ScenarioError(f"{name}: {where}: {error.words}")
            at = f"{name}: {one.where}.{field}{error.key.removeprefix(key)}"
            count = one.law.count()
            if error.key == key and (isinstance(value, list) or "must be a list" in error.words):
                of = "one number" if count == 1 else f"{count} numbers"
                return ScenarioError(
                    f"{name}: {key}: a {one.law.distribution} stands for {of}; must be in the place of "
                    + ("one, not of a list" if count == 1 else f"a list of {count}")
                )
            last = error.key.removeprefix(key).removeprefix(".")
            part = value[int(last)] if last.isdecimal() and isinstance(value, list) else value
            return ScenarioError(f"{at} = {shown(part)}: {error.words}")
    return error


class DistributionReading:
    """Reads what one distribution says of its keys (a `Reader`)."""

    def __init__(self, stated: Stated, content: Section, check: Check, name: str):
        self.stated, self.check, self.name = stated, check, name
        several = [_numbers_at(content, key, stated, name) for key in stated.keys]
        self.found = [found for one in several for found in one]
        self.every_key = [found.key for found in self.found]
        count = stated.law.count()
        self.keys, self.units = self.every_key[:count], [found.unit for found in self.found[:count]]
        whole = stated.table is None or len(stated.keys) == 1  # each key is all that the law is of
        if any(len(one) != (count if whole else 1) for one in several):
            of = f"a {stated.law.distribution} as given is of {count}"
            if stated.table is not None and count > 1:
                words = f"{of} numbers; must be {count} keys of one number each, or one of a list of {count}"
                raise ScenarioError(f"{name}: {stated.where}.keys = {shown(list(stated.keys))}: {words}")
            raise ScenarioError(f"{name}: {stated.where}: {of}; keys given: {', '.join(self.every_key)}")
        units = [found.unit for found in self.found]
        if units != self.units * (len(units) // count):
            listed = ", ".join(f"{key} in {unit or '1'}" for key, unit in zip(self.every_key, units, strict=True))
            self.refuse("", None, f"one draw serves keys of one unit; these are {listed}")

    def value(self, field: str, written: object) -> list[Any]:
        parts = [written] if len(self.keys) == 1 else written
        if not isinstance(parts, list) or len(parts) != len(self.keys):
            self.refuse(field, written, f"must be a list of {len(self.keys)}, one for each key")
        try:
            content = self.check(dict(zip(self.every_key, cycle(parts), strict=False)))
        except ScenarioError as error:
            self.refuse(field, written, self.own(error))
        return [value_at(content, key, self.name).value for key in self.keys]

    def own(self, error: ScenarioError) -> str:
        """Return what is said of one of the keys, of another one that it does not fit, or of the scenario as a whole."""
        if not error.key:
            return str(error).removeprefix(f"{self.name}: ")
        try:
            mine = value_at(self.check({}), error.key, self.name).key in self.every_key
        except ScenarioError:
            mine = False
        return error.words if mine else f"{error.key}: {error.words}"

    def spread(self, field: str, written: object, key: int = 0) -> float:
        what = {"std": "a standard deviation"}.get(field.split(".")[0], f"a {field}")
        return self.number(field, written, self.units[key], what, Bounds(above=0))

    def product(self, field: str, written: object, row: int, column: int) -> float:
        units = [f"({unit})" for unit in (self.units[row], self.units[column]) if unit]
        return self.number(field, written, "*".join(units), "a covariance", Bounds())

    def number(self, field: str, written: object, unit: str, what: str, bounds: Bounds) -> float:
        try:
            return number_of(written, unit, what, bounds)
        except PydanticCustomError as error:
            self.refuse(field, written, str(error))
            raise

    def checked[Table: Section](self, section: type[Table], table: dict[str, Any]) -> Table:
        return _read(section, table, self.stated.where, self.name)

    def one_unit(self) -> str:
        if len(set(self.units)) > 1:
            units = ", ".join(f"{key} in {unit or '1'}" for key, unit in zip(self.keys, self.units, strict=True))
            self.refuse("", None, f"a {self.stated.law.distribution} needs keys of one unit; these are {units}")
        return self.units[0]

    def refuse(self, field: str, written: object, allowed: str) -> NoReturn:
        where = f"{self.stated.where}.{field}" if field else self.stated.where
        given = "" if written is None else f" = {shown(written)}"
        raise ScenarioError(f"{self.name}: {where}{given}: {allowed}")


def _numbers_at(content: Section, key: str, stated: Stated, name: str) -> list[Number]:
    """Return the numbers that a key of a distribution names: one, or those of a list."""
    from dockdyn.scenario.distributions.distribution import ValueChoice

    try:
        found = value_at(content, key, name)
    except ScenarioError as error:
        if stated.table is None:
            raise
        words = str(error).removeprefix(f"{name}: {key}: ")
        raise ScenarioError(f"{name}: {stated.place_of(key)}: {words}") from None
    last = key.rpartition(".")[2]
    if isinstance(found.value, list) and last.isdecimal() and stated.law.count() == 1:
        found = value_at(content, f"{key}.{last}", name)  # of a diagonal, which is a whole tensor by now
    if isinstance(found.value, list) and found.value and not isinstance(found.value[0], Section | list):
        several = [value_at(content, f"{key}.{place}", name) for place in range(len(found.value))]
    else:
        several = [found]
    for one in several:
        if isinstance(one.value, float) or (isinstance(one.value, int) and isinstance(stated.law, ValueChoice)):
            continue
        words = "; only a choice can be of it" if isinstance(one.value, int) else ""
        raise ScenarioError(
            f"{name}: {one.key}: {sort_of(one.value)}; cannot be distributed{words or ': must be a number'}"
        )
    return several


def dispersion_of(stated: Stated, content: Section, check: Check, own: set[str], name: str) -> Dispersion:
    """Return what is distributed, in SI units. `own`: keys of tables that the file states, too; those are the nominal
    numbers."""
    reading = DistributionReading(stated, content, check, name)
    law = stated.law.read(reading)
    nominal = law.middle()
    if stated.law.nominal is not None:
        nominal = reading.value("nominal", stated.law.nominal)
        law = law.model_copy(update={"nominal": nominal if len(nominal) > 1 else nominal[0]})
    keys, times = reading.every_key, len(reading.every_key) // len(reading.keys)
    nominal = nominal * times
    if stated.law.nominal is None:
        of = stated.keys if len(stated.keys) == len(keys) else stated.keys * len(keys)
        nominal = [
            found.value if key in own else value for key, found, value in zip(of, reading.found, nominal, strict=False)
        ]
    table = stated.table
    if table is None and times > 1:  # in the place of numbers that are copies of each other
        table = stated.where.replace(".", "-")
    return Dispersion(tuple(keys), tuple(reading.units) * times, law, tuple(nominal), table)


def written_into(data: dict[str, Any], dispersions: Sequence[Dispersion], name: str) -> None:
    """Put distributions into what a file holds."""
    for one in dispersions:
        if one.table is None:
            place = one.keys[0] if one.law.count() == 1 else one.keys[0].rpartition(".")[0]
            override(data, place, one.written(), name)
    if tables := {one.table: one.written() for one in dispersions if one.table is not None}:
        data["dispersion"] = tables


def with_inline(data: object) -> Any:  # noqa: ANN401, as `data`
    """Return what a file holds, distributions in the place of numbers as tables of one line."""
    if isinstance(data, list):
        items = [with_inline(item) for item in data]
        return items if any(isinstance(item, dict) for item in items) else array(items)
    if not isinstance(data, dict):
        return data
    if "distribution" in data and "keys" not in data:
        table = tomlkit.inline_table()
        table.update(data)
        return table
    return {key: with_inline(value) for key, value in data.items()}


def array(items: list[Any]) -> Array:
    """Return a list without tables; put together here, since tomlkit's own way takes the square of its length."""
    parts = [part for item in items for part in (Whitespace(", "), tomlkit.item(item))]
    return Array(parts[1:], Trivia())


def without_overridden(
    dispersions: Sequence[Dispersion], content: Section, fixed: Iterable[str], name: str
) -> list[Dispersion]:
    """Return them without those of tables whose keys are all set otherwise; ScenarioError where some are."""
    names = set()
    for key in fixed:
        try:
            names.add(value_at(content, key, name).key)
        except ScenarioError:
            continue
    kept = []
    for one in dispersions:
        free = [key for key in one.keys if not {key, key.rpartition(".")[0]} & names]
        if one.table is None or len(free) == len(one.keys):
            kept.append(one)
        elif free:
            nominal = dict(zip(one.keys, one.nominal, strict=True))
            too = " ".join(f"--set {key}={nominal[key]:g}" for key in free)
            raise ScenarioError(
                f"{name}: {next(key for key in one.keys if key not in free)}: is distributed together with {', '.join(free)}; "
                f"must be set with them or not at all: add {too}"
            )
    return kept


def refuse_duplicate_keys(dispersions: Sequence[Dispersion], name: str) -> None:
    """Refuse a key that is distributed twice."""
    seen: set[str] = set()
    for key in (key for one in dispersions for key in one.keys):
        if key in seen:
            raise ScenarioError(f"{name}: {key}: is distributed twice; must be once")
        seen.add(key)
