"""Dotted keys of a scenario, as `--set` takes them: what they name, and setting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, nearest, shown
from dockdyn.scenario.language.known_keys import KnownKeys
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.table_names import are_named, count_of_name
from dockdyn.scenario.language.toml_text import DEEPEST
from dockdyn.scenario.language.units import Bounds, Unit, unit_beside, whole_number
from dockdyn.trees import Path

if TYPE_CHECKING:
    from dockdyn.scenario.load import Scenario


@record
class Number:
    """What a key of a checked scenario names."""

    key: str  # in one way
    value: Any  # in SI units
    unit: str  # as a text with a unit has it, such as N*s/m; empty where there is none
    limits: Bounds  # of what it may be


def number_at(scenario: Scenario, key: str) -> Number:
    """Return the one real number that a dotted `key` names; ScenarioError where it names none."""
    found = value_at(scenario.content, key, scenario.name)
    if not isinstance(found.value, float):
        raise ScenarioError(f"{scenario.name}: {key}: {sort_of(found.value)}; must be one real number of the scenario")
    return found


def sort_of(value: object) -> str:
    """Return what is not a real number, in words."""
    if value is None:
        return "is not stated"
    if isinstance(value, Section) or (isinstance(value, list) and any(isinstance(item, Section) for item in value)):
        return "is a whole table"
    if isinstance(value, list):
        return f"is a list of {len(value)}"
    return f"is {shown(value)}, a {'text' if isinstance(value, str) else 'yes or no' if isinstance(value, bool) else 'count'}"


def value_at(content: Any, key: str, name: str) -> Number:  # noqa: ANN401, walked by what is found in it
    """Return what a dotted `key` names in a checked scenario; ScenarioError for one that is not there."""
    here, section, field = content, content, ""
    parts: list[str] = []
    inside: list[int] = []  # indices since the field
    asked = split(key, name)
    passed = 0  # parts of a name with dots that are behind its first
    for place, part in enumerate(asked):
        if passed:
            passed -= 1
            continue
        if are_named(here):
            here, count = _named_table(here, asked[place:], key, name, content)
            parts.append(here.name)
            passed = count - 1
            continue
        if isinstance(here, list) and here and isinstance(here[0], Section):
            here = here[_index_in(here, part, key, name)]
            parts.append(part)
            continue
        dotted = here.dotted_numbers() if isinstance(here, Section) else {}
        if (rest := ".".join(asked[place:])) in dotted:
            field, index, unit = dotted[rest]
            return Number(".".join([*parts, rest]), getattr(here, field)[index], unit, Bounds())
        if any(one.startswith(f"{part}.") for one in dotted) and rest != part:
            raise ScenarioError(f"{name}: {key}: unknown key; {nearest(rest, dotted)}")
        if isinstance(here, Section):
            section, field, inside = here, _field_of(here, part, key, name, content), []
            here = getattr(section, field)
        elif isinstance(here, list):
            inside.append(_index_in(here, part, key, name))
            here = here[inside[-1]]
        else:
            words = "is not stated" if here is None else "is no table"
            raise ScenarioError(f"{name}: {key}: {'.'.join(parts)} {words}; must be a key inside a table")
        parts.append(part)
    if not isinstance(here, float):
        return Number(".".join(parts), here, "", Bounds())
    return Number(".".join(parts), here, unit_of(section, field, inside), _limits_of(section, field))


def _field_of(section: Section, part: str, key: str, name: str, content: Section) -> str:
    """Return the field of a section that a file calls `part`; `content` is the whole scenario."""
    stated = {own: field for own, field in type(section).model_fields.items() if not field.exclude}
    fields = {field.alias or own: own for own, field in stated.items()}
    fields |= {extra: extra for extra in section.__pydantic_extra__ or {}}
    if part not in fields:
        known = KnownKeys(type(content), content.model_dump(by_alias=True, exclude_none=True))
        raise ScenarioError(f"{name}: {key}: unknown key; {known.advice(part, list(fields), key)}")
    return fields[part]


def unit_of(section: Section, field: str, inside: Sequence[int] = ()) -> str:
    """Return the unit of a number, or of one `inside` a list: that of its field, or, where the joint or law decides, that it is
    written with."""
    described = type(section).model_fields.get(field)
    if described is None:  # of a part of the user's own
        return section.unit_of_extra(field)
    if units := _units_of(type(section), field):
        text = units[0].text
        return unit_beside(dict(section), text) if "{" in text else text
    written = section.model_dump(include={field})[field]
    for index in inside:
        written = written[index]
    return written.partition(" ")[2] if isinstance(written, str) else ""


def _limits_of(section: Section, field: str) -> Bounds:
    """Return what a number may be, as its field says; one that is there may not become one that is not."""
    units = _units_of(type(section), field)
    limits = units[0].limits if units else Bounds()
    return limits if field not in section.absent_at_zero else limits.without_zero()


@cache
def _units_of(kind: type[Section], field: str) -> list[Unit]:
    """Return what a field of a table says of its numbers; nothing of a part of the user's own."""
    described = kind.model_fields.get(field)
    said = () if described is None else (*described.metadata, *_nested_annotations(described.annotation))
    return [item for item in said if isinstance(item, Unit)]


def _nested_annotations(annotation: object) -> list[Any]:
    """Return everything that a type is annotated with, inside lists and alternatives too."""
    found = list(getattr(annotation, "__metadata__", ()))
    return found + [item for part in get_args(annotation) for item in _nested_annotations(part)]


def override(data: dict[str, Any], key: str, value: object, name: str) -> None:
    """Set the dotted `key` in `data`, the content of a file."""
    place, part = _place_in(data, key, name)
    place[part] = value
    if isinstance(place, list) and (twin := mirrored_key(key)) not in (None, key):
        other, index = _place_in(data, str(twin), name)
        other[index] = value


def truth_drawn(data: dict[str, Any], key: str, value: object, name: str) -> object:
    """Return true or false for 0.0 or 1.0 that was drawn for a dotted `key` of such in `data`; any other value as it is."""
    if not isinstance(value, float) or value not in (0.0, 1.0) or not holds(data, key, name):
        return value
    place, part = _place_in(data, key, name)
    return bool(value) if isinstance(place[part], bool) else value


def refuse_unequal_twin(key: str, changes: Mapping[str, Any], name: str) -> None:
    """Refuse a product of inertia that is set to one value in its row and to another in its column. Raises ScenarioError."""
    twin = mirrored_key(key)
    if twin is not None and twin in changes and changes[twin] != changes[key]:
        given = f"{shown(changes[key])}, {twin} to {shown(changes[twin])}"
        raise ScenarioError(f"{name}: {key} is set to {given}; an inertia is symmetric: set one of them")


def mirrored_key(key: str) -> str | None:
    """Return the key of the same product in an inertia tensor; None of other numbers."""
    *table, row, column = key.split(".") if key.count(".") >= 2 else ("", "", "")
    both = row.isdecimal() and column.isdecimal()
    return ".".join([*table, column, row]) if both and table[-1].endswith("inertia") else None


def holds(data: dict[str, Any], key: str, name: str) -> bool:
    """Return whether `data` states the dotted `key`."""
    try:
        place, part = _place_in(data, key, name, make=False)
    except ScenarioError:
        return False
    return isinstance(place, list) or part in place


def _place_in(data: dict[str, Any], key: str, name: str, make: bool = True) -> tuple[Any, Any]:
    """Return the table or list of `data` that holds the last part of a dotted `key`, and that part; tables on the way are
    made, if `make`."""
    parts = split(key, name)
    place: Any = data
    passed = 0  # parts of a name with dots that are behind its first
    for at, (part, following) in enumerate(zip(parts, [*parts[1:], None], strict=True)):
        if passed:
            passed -= 1
            continue
        if isinstance(place, list):
            index = _index_in(place, part, key, name)
            if following is None and isinstance(place[index], dict) and "distribution" not in place[index]:
                raise ScenarioError(f"{name}: {key}: names a whole table; must name one of its keys")
            if following is None:
                return place, index
            place = place[index]
            continue
        if not isinstance(place, dict):
            raise ScenarioError(f"{name}: {key}: {part!r} is not inside a table")
        if (rest := ".".join(parts[at:])) in place:  # a key with dots of its own
            return place, rest
        if (count := count_of_name(parts[at:], place)) > 1:
            place, passed = place[".".join(parts[at : at + count])], count - 1
            continue
        if following is None:
            return place, part
        if part not in place and following.isdecimal():
            raise ScenarioError(f"{name}: {key}: {part!r} is not stated; must be a list of the scenario")
        place = place.setdefault(part, {}) if make else place.get(part, {})
    raise AssertionError


def leaves(value: object, whole_lists: bool = False, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what tables and lists inside each other hold, each with its dotted key below `key`; items of a list by number from
    0.

    With `whole_lists` only lists of tables are taken apart, any other is a value.
    """
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, list) and not (whole_lists and not _all_tables(value)):
        items = enumerate(value)
    else:
        yield key, value
        return
    for part, item in items:
        yield from leaves(item, whole_lists, f"{key}.{part}" if key else str(part))


def _all_tables(items: list[Any]) -> bool:
    """Return whether a list holds tables and nothing else."""
    return bool(items) and all(isinstance(item, dict) for item in items)


def split(key: str, name: str) -> list[str]:
    parts = key.split(".")
    if not all(parts) or len(parts) > DEEPEST:
        raise ScenarioError(f"{name}: {key}: must be a dotted key such as loop.delay")
    return parts


def _named_table(
    tables: Sequence[NamedSection], parts: Sequence[str], key: str, name: str, content: Section
) -> tuple[NamedSection, int]:
    """Return the table that the first `parts` of a key name, and how many do; `content` is the whole scenario.

    Raises ScenarioError where there is no such table.
    """
    names = {table.name: table for table in tables}
    if count := count_of_name(parts, names):
        return names[".".join(parts[:count])], count
    part = parts[0]
    known = KnownKeys(type(content), content.model_dump(by_alias=True, exclude_none=True))
    raise ScenarioError(f"{name}: {key}: there is no {part!r}; {known.advice(part, list(names), key)}")


def _index_in(items: list[Any], part: str, key: str, name: str) -> int:
    """Return an index into a list."""
    index = whole_number(part)
    if index is None or index >= len(items):
        raise ScenarioError(f"{name}: {key}: {part!r} is no index of the list; must be 0 to {len(items) - 1}")
    return index


def constraint_on(name: str) -> str:
    """Return what a number is part of that keeps it from changing by itself; empty where nothing does."""
    parts = name.split(".")
    if parts[-1].isdecimal() and parts[-2].endswith("attitude"):
        return "a unit quaternion"
    if parts[-3:-2] == ["matrix"]:
        return "a rotation matrix"
    return "a pole or zero that is real" if parts[-3:-2] in (["poles"], ["zeros"]) and parts[-1] == "1" else ""


def key_of(path: Path, content: Any) -> str:  # noqa: ANN401, walked by what is found in it
    """Return the dotted key of a number, as `--set` takes it."""
    parts, here, table, field = [], content, content, ""
    for part in path:
        if isinstance(part, str):
            table, field = here, part
            parts.append(field)
            here = getattr(here, field)
            continue
        dotted = {(own, place): key for key, (own, place, _) in table.dotted_numbers().items()}
        if (field, part) in dotted:
            parts[-1] = dotted[field, part]
        elif are_named(here):
            parts.append(here[part].name)
        else:
            parts.append(str(part))
        here = here[part]
    return ".".join(parts)
