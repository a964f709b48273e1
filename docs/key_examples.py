"""One example of each key of a scenario: as a preset or a page states it, else one made of its type, unit and bounds."""

from __future__ import annotations

import inspect
import json
import math
import re
import tomllib
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from dockdyn.scenario.language.like import KEY as LIKE
from dockdyn.scenario.language.units import Unit
from dockdyn.scenario.preset_files import PRESETS
from dockdyn.scenario.setups import setup_of
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.design import DesignSection
from dockdyn.scenario.tables.named import are_named_at
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw, OwnCompensator, laws

TAGS = ("law", "shape", "kind")  # keys that say which of several tables one is
OF_EVERY_KIND: dict[str, type[BaseModel]] = {"campaign": CampaignSection, "design": DesignSection}
OF_NO_SCHEMA = ("requirements", "dispersion", "include")  # keys of every setup whose tables no schema describes
PAGES = sorted(path for path in Path(__file__).parent.glob("*.md") if path.stem != "scenario-keys")
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LONGEST = 60  # characters of an example
DIRECTION = [0.0, 1.0, 0.0]
QUATERNION = [0.707107, 0, 0, 0.707107]  # a quarter turn about z
BODIES = ("chaser", "target")  # in lists of names
TYPICAL: dict[str, tuple[float, str]] = {  # of a docking, by unit: SI, and as it is written
    "m": (0.01, "10 mm"),
    "m/s": (0.01, "10 mm/s"),
    "s": (0.01, "10 ms"),
    "kg": (20.0, "20 kg"),
    "N": (100.0, "100 N"),
    "N/m": (1e4, "10 kN/m"),
    "N*s/m": (100.0, "100 N s/m"),
    "N*m": (10.0, "10 N m"),
}
VALUES: dict[str, Any] = {  # where nothing states the key and its type says too little
    "believed_inertia": [2, 3, 4],
    "inertia": [2, 3, 4],
    "against": "target",
    "body": "chaser",
    "carries": "chaser",
    "event": "latched",
    "file": "part.stl",
    "MatrixSection.file": "vehicle.op4",
    "RecoverySection.file": "vehicle.op4",
    "MatrixSection.matrix": "MXX",
    "RecoverySection.matrix": "stress",
    "follows": "finger",
    "kind": "my_module:MyPart",
    "law": "my_module:MyLaw",
    "name": "force.0",
    "note": "inertia estimated",
    "of": "chaser.probe",
    "depth": ["0 mm", "1 mm"],
    "matrix": [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
    "poles": [[-5, 3], [-5, -3]],
    "stroke": ["0 mm", "1 mm"],
    "zeros": [-20],
    "measured law.force": [["0 N", "0 N"], ["50 N", "60 N"]],
    "measured law.rate": ["0 m/s", "0.1 m/s"],
    "on": "base",
    "profile": [["0 mm", "20 mm"], ["100 mm", "80 mm"], ["100 mm", "120 mm"]],
    "shape": "my_module:MyShape",
    "target": "target",
    "to": "target.cone",
    "unit": "N",
    "urdf": "arm.urdf",
}


def example_of(section: type[BaseModel], name: str, tables: list[type[BaseModel]]) -> str:
    """Return what a file may state of a key, as TOML; of a key that is a table the head of one."""
    field = section.model_fields[name]
    stated = stated_examples().get((section, name))
    if stated is not None:
        return stated
    if tables:
        inside = ".NAME" if are_named_at(section, [field.alias or name]) else ""
        return f"`[….{field.alias or name}{inside}]`"
    key, value = field.alias or name, made_up(field.annotation, field.metadata, field)
    of_table = f"{section.__name__}.{key}"
    said_here = value is None or (isinstance(value, list) and (key in VALUES or of_table in VALUES))
    return f"`{as_toml(VALUES[of_table if of_table in VALUES else key] if said_here else value)}`"


@cache
def stated_examples() -> dict[tuple[type[BaseModel], str], str]:
    """Return the first example of each key of each table that presets and pages state."""
    found: dict[tuple[type[BaseModel], str], str] = {}
    for whole, data in scenarios():
        schema = setup_of(whole).schema(whole, "of a page")
        for key, section in OF_EVERY_KIND.items():
            if key in data:
                collect([section], data.pop(key), (key,), found)
        collect([schema], {key: table for key, table in data.items() if key not in OF_NO_SCHEMA}, (), found)
    return found


def scenarios() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the tables of every preset, then of every block of a page that is a scenario or a part of one: all of the scenario,
    and what is stated."""
    presets = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(PRESETS.glob("*.toml"))}
    yield from ((data, dict(data)) for data in presets.values())
    for page in PAGES:
        for text in BLOCK.findall(page.read_text(encoding="utf-8")):
            of = presets.get(match[1], {}) if (match := re.match(r"# in ([\w-]+)\n", text)) else {}
            stated = tomllib.loads(text)
            yield of | stated, stated


def collect(
    choices: list[type[BaseModel]],
    stated: Any,
    path: tuple[str, ...],
    found: dict[tuple[type[BaseModel], str], str],
) -> None:
    """Add an example of each key that a table states, and of those inside it, as the schema of the table calls them."""
    section = next((each for each in choices if isinstance(stated, dict) and is_of(each, stated)), None)
    if section is None:
        return
    for name, field in section.model_fields.items():
        key = field.alias or name
        if key not in stated or field.exclude:
            continue
        value, inside, here = stated[key], sections(field.annotation), (*path, key)
        if inside and are_named_at(section, [key]) and isinstance(value, dict):
            for own, table in value.items():
                found.setdefault((section, name), f"`[{'.'.join((*here, own))}]`")
                collect(inside, table, (*here, own), found)
        elif inside and isinstance(value, dict):
            found.setdefault((section, name), f"`[{'.'.join(here)}]`")
            collect(inside, value, here, found)
        elif inside and isinstance(value, list):
            for entry in value:
                collect(inside, entry, here, found)
        elif not (isinstance(value, dict) and "distribution" in value):
            short = dict([*value.items()][:1]) if isinstance(value, dict) else value
            known = found.get((section, name), "").strip("`")
            better = not known or (is_all_alike(tomllib.loads(f"known = {known}")["known"]) and not is_all_alike(short))
            if better and len(as_toml(short)) <= LONGEST:
                found[section, name] = f"`{as_toml(short)}`"


def is_all_alike(value: Any) -> bool:
    """Return whether a value is a list whose entries are all equal, which does not show which is which."""
    return isinstance(value, list) and len(value) > 1 and all(entry == value[0] for entry in value)


def is_of(section: type[BaseModel], stated: dict[str, Any]) -> bool:
    """Return whether a table has keys of the section only, and its word for what the table is."""
    keys = {field.alias or name: field for name, field in section.model_fields.items()}
    words = {
        key: [word for word in get_args(keys[key].annotation) if isinstance(word, str)]  # none where any text will do
        for key in TAGS
        if key in keys and key in stated
    }
    return set(stated) - {LIKE} <= set(keys) and all(not known or stated[key] in known for key, known in words.items())


def parts(annotation: Any) -> Iterator[Any]:
    """An annotation and all it is made of."""
    yield annotation
    for inner in get_args(annotation) if get_origin(annotation) is not Literal else ():
        yield from parts(inner)


def sections(annotation: Any) -> list[type[BaseModel]]:
    found = [part for part in parts(annotation) if inspect.isclass(part) and issubclass(part, BaseModel)]
    several = [[*laws().values(), OwnCompensator] if part is CompensatorLaw else [part] for part in found]
    return list(dict.fromkeys(part for each in several for part in each))


def as_toml(value: Any) -> str:
    """Return a value as TOML writes it in one line."""
    if isinstance(value, dict):
        keys = {key: key if re.fullmatch(r"[\w-]+", key) else json.dumps(key) for key in value}
        return f"{{ {', '.join(f'{keys[key]} = {as_toml(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def made_up(annotation: Any, metadata: list[Any] | tuple[Any, ...], field: FieldInfo) -> Any:
    """Return a value of a type, in its unit and within its bounds; its default where that says something."""
    default = field.get_default(call_default_factory=True) if not field.is_required() else None
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return made_up(inner, [*more, *metadata], field)
    if get_origin(annotation) in (Union, types.UnionType):
        return made_up(next(part for part in get_args(annotation) if part is not type(None)), metadata, field)
    unit = next((each for each in metadata if isinstance(each, Unit)), None)
    if get_origin(annotation) is list:
        entries = [each for each in metadata if not isinstance(each, Unit)]
        bounds = [limit for each in entries for limit in (each.metadata if isinstance(each, FieldInfo) else [each])]
        count = next((limit.min_length for limit in bounds if isinstance(limit, MinLen)), 1)
        inner = get_args(annotation)[0]
        unit = unit or next((each for each in get_args(inner)[1:] if isinstance(each, Unit)), None)
        if unit is not None:
            return QUATERNION if count == len(QUATERNION) else different(unit, count)
        entry = made_up(inner, [], FieldInfo(annotation=inner))
        if entry is None:
            return list(BODIES[:count])
        return QUATERNION if count == len(QUATERNION) else [turned(entry, place) for place in range(count)]
    if get_origin(annotation) is dict:
        return {}
    if get_origin(annotation) is Literal:
        words = [word for word in get_args(annotation) if word != default]
        return (words or [default])[0]
    if unit is not None:
        return number(unit, default)
    if annotation is bool:
        return not default
    if annotation in (int, float):
        bounds_of_it: list[Any] = list(metadata)
        least: Any = next((limit.ge for limit in bounds_of_it if isinstance(limit, Ge)), 1)
        most: Any = next((limit.le for limit in bounds_of_it if isinstance(limit, Le)), math.inf)
        return default if default else 0.1 if annotation is float else min(max(2, least), most)
    return default if isinstance(default, str) and default else None


def different(unit: Unit, count: int) -> list[Any]:
    """Return so many numbers within bounds, each another where that can be: equal ones would not show which is which."""
    values = [number(unit, None, place, among=True) for place in range(1, count + 1)]
    return values if count != len(DIRECTION) or unit.text else DIRECTION


def turned(entry: Any, places: int) -> Any:
    """Return a list with its last entries so many places in front; what is no list as it is."""
    places = places % len(entry) if isinstance(entry, list) else 0
    return entry[-places:] + entry[:-places] if places else entry


def number(unit: Unit, default: Any, times: int = 1, among: bool = False) -> Any:
    """Return the default or a typical number within bounds, or, `among` others, a small one so many times, as a text where it
    has a unit."""
    typical, written = TYPICAL.get(unit.text, (0.0, ""))
    if typical and not (isinstance(default, float) and default) and not among and unit.limits.hold(typical):
        return written
    value = default if isinstance(default, float) and default else math.radians(30) if unit.text == "rad" else 1.0
    value = next(each for each in (value, 0.5, 1e-3, 1e-6, 5.0, 100.0) if unit.limits.hold(each))
    value = times * value if unit.limits.hold(times * value) else value
    if not unit.text or "{" in unit.text:
        return value
    if unit.text == "rad":
        return f"{math.degrees(value):.6g} deg"
    return f"{value:.6g} {unit.text if '**' in unit.text else unit.text.replace('*', ' ')}"
