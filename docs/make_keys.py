"""Write scenario-keys.md, the tables of every key of a scenario, from the schema: `python docs/make_keys.py`."""

from __future__ import annotations

import inspect
import tomllib
import types
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MaxLen, MinLen
from key_examples import TAGS, example_of, parts, sections  # type: ignore[import-not-found]
from pydantic import BaseModel, Discriminator
from pydantic.fields import FieldInfo

import dockdyn.scenario
from dockdyn.scenario.language.also import Also
from dockdyn.scenario.language.section import NamedSection
from dockdyn.scenario.language.units import Unit
from dockdyn.scenario.sanity.ranges import USUAL
from dockdyn.scenario.setups import SETUPS, setup_named
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.design import DesignSection
from dockdyn.scenario.tables.named import are_named_at

PAGE = Path(__file__).parent / "scenario-keys.md"
MEANINGS = Path(*dockdyn.scenario.__path__) / "keys.toml"
SCHEMAS: dict[str, type[BaseModel]] = {
    **{name: setup_named(name).schema({}, name) for name in SETUPS},
    "mechanism on a line": setup_named("mechanism").schema({"motion": "line"}, "mechanism"),
    "rig on a line": setup_named("rig").schema({"motion": "line"}, "rig"),
    "campaign": CampaignSection,
    "design": DesignSection,
}
SHARED = ("campaign", "design")  # tables that every scenario may have
SHORTER = {
    "array": "list of 3 numbers or ",
    "number": "numbers or of ",
    "string": "text or ",
}  # what a list may be written as instead
FEW = 4  # numbers of a default that is written out
INTRODUCTION = """# Every key of a scenario

Generated from the schema by `docs/make_keys.py`: what the reader of scenario files itself goes by. How a file is written, and
what its tables are for: [Scenario file](scenario.md). A number without a unit is in the unit of its row; a text such as
`"16 ms"` is converted. “required” stands where the key must be stated, “none” where it has no value unless it is: other keys
of the table, or what is asked of it, may need it all the same. “Tables by name” are `[key.NAME]`, of whatever name.
"""
USUAL_SIZES = """## Usual sizes

Beyond these a number is [told as hardly meant](sanity.md). Of the rows with its unit the first one counts whose key fits,
without names and indices; `*` stands for anything. Zero is usual everywhere. Of a number with a sign the size counts, of a
list the largest of its numbers, in m and m/s its length as a vector.

| Keys | Unit | From | To |
|---|---|---|---|
"""


def bare(annotation: Any) -> Any:
    """A type without what it is annotated with."""
    return annotation.__origin__ if get_origin(annotation) is Annotated else annotation


def alternatives(annotation: Any) -> list[Any]:
    """What a union allows, without None."""
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [part for part in get_args(annotation) if part is not type(None)]
    return [annotation]


def bare_name(section: type[BaseModel]) -> str:
    return section.__name__.removesuffix("Section")


def name_of(section: type[BaseModel]) -> str:
    """What a table is called: with its room where both rooms have one of that name."""
    name = bare_name(section)
    if len([other for other in tables_of_all() if bare_name(other) == name]) == 1:
        return name
    return f"{name} of {section.__module__.split('.')[1].replace('_', ' ')}"


@cache
def tables_of_all() -> list[type[BaseModel]]:
    """Every table that scenarios have, those of the whole left out."""
    found: dict[type[BaseModel], None] = {}
    waiting = list(SCHEMAS.values())
    while waiting:
        inner = [one for field in shown(waiting.pop(0)) for one in sections(field.annotation) if one not in found]
        found |= dict.fromkeys(inner)
        waiting += inner
    return list(found)


def link(section: type[BaseModel]) -> str:
    name = name_of(section)
    return f"[{name}](#{name.lower().replace(' ', '-')})"


def lengths(metadata: Iterable[Any]) -> tuple[int | None, int | None]:
    """The least and the most entries that a list may have; None where nothing is said."""
    every = [limit for one in metadata for limit in (one.metadata if isinstance(one, FieldInfo) else [one])]
    least = [limit.min_length for limit in every if isinstance(limit, MinLen)]
    most = [limit.max_length for limit in every if isinstance(limit, MaxLen)]
    return (*least, None)[0], (*most, None)[0]


def list_words(annotation: Any, metadata: Iterable[Any] = (), word: str = "list") -> Iterator[str]:
    """What each list that an annotation allows is called, down to its entries: "list of 2 lists of 3 "."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from list_words(inner, [*more, *metadata], word)
    elif get_origin(annotation) in (Union, types.UnionType):
        each = {part: list(list_words(part, metadata, word)) for part in get_args(annotation)}
        single = any(not words and bare(bare(part)) is float for part, words in each.items())
        yield from (f"{'number or ' if single else ''}{one}" for words in each.values() for one in words)
    elif get_origin(annotation) is list:
        least, most = lengths(metadata)
        count = f"{least} " if least == most and least is not None else f"up to {most} " if most is not None else ""
        inner = list(list_words(*get_args(annotation), word="lists")) or [""]
        shorter = "".join(SHORTER[also.form["type"]] for also in metadata if isinstance(also, Also))
        yield from (f"{shorter}{word} of {count}{one}" for one in inner)


def whole_numbers(field: FieldInfo) -> str:
    """Return the bounds of a whole number, ", 1 to 10"; empty without."""
    said = [limit for part in [field.metadata, *map(metadata_of, parts(field.annotation))] for limit in part]
    every: list[Any] = [limit for each in said for limit in (each.metadata if isinstance(each, FieldInfo) else [each])]
    least = next((limit.ge for limit in every if isinstance(limit, Ge)), None)
    most = next((limit.le for limit in every if isinstance(limit, Le)), None)
    if least is None:
        return "" if most is None else f", at most {most}"
    return f", at least {least}" if most is None else f", {least} to {most}"


def metadata_of(part: Any) -> tuple[Any, ...]:
    """Return what an annotation is annotated with."""
    return getattr(part, "__metadata__", ())


@cache
def meanings() -> dict[str, dict[str, str]]:
    """Return what the keys mean, by the class that has them."""
    return tomllib.loads(MEANINGS.read_text(encoding="utf-8"))


def owners(section: type[BaseModel]) -> list[str]:
    """Return the names under which the keys of a table may stand in the file of meanings, the nearest first."""
    named = [bare_name(each) for each in section.__mro__ if issubclass(each, BaseModel)]
    setup = next((setup for setup, schema in SCHEMAS.items() if schema is section), None)
    return [*([] if setup is None else [setup if setup in SHARED else "Setup"]), *named]


def meaning_of(section: type[BaseModel], key: str) -> str:
    """Return what a key of a table means. KeyError where nobody says it."""
    return next(meanings()[owner][key] for owner in owners(section) if key in meanings().get(owner, {}))


def kind_of(field: FieldInfo, named: bool = False) -> str:
    """Unit, words or table of a key, and what is allowed."""
    annotation = field.annotation
    units = [item for item in [*field.metadata, *parts(annotation)] if isinstance(item, Unit)]
    words = [word for part in parts(annotation) if get_origin(part) is Literal for word in get_args(part)]
    tables = sections(annotation)
    if any(get_origin(bare(part)) is dict for part in alternatives(annotation)):
        return "table"
    several = "or ".join(dict.fromkeys(list_words(annotation, field.metadata)))
    said = []
    if tables:
        listed = any(sections(part) for part in alternatives(annotation) if get_origin(bare(part)) is list)
        how = "tables by name: " if named else f"{several}tables: " if listed else "table: "
        said.append(how + ", ".join(map(link, tables)))
    if units:
        said.append(f"{several}{units[0].words('numbers' if several else '')}")
    if words:
        alone = any(get_origin(part) is Literal for part in alternatives(annotation))
        said.append(("" if alone else several) + " or ".join(f"`{word!r}`".replace("'", '"') for word in words))
    plain = {bool: "true or false", str: "text", int: "whole number", float: "number"}
    many = {float: "numbers", int: "whole numbers", str: "texts"} if several else {}
    one = [
        f"{plain[part]} or " for part in map(bare, alternatives(annotation)) if several and part in plain and not units
    ]
    one_or_several = "".join(one) + several
    said += [
        one_or_several + (plain | many)[part]
        for part in parts(annotation)
        if part in plain and not units and not tables
    ]
    numbered = int in map(bare, parts(annotation)) and not units and not tables
    return ("; ".join(dict.fromkeys(said)) or "text") + (whole_numbers(field) if numbered else "")


@cache
def tags_to_state() -> set[tuple[type[BaseModel], str]]:
    """Every table with the key that must say which of several tables it is: its default is never taken."""
    found = {(schema, key) for setup, schema in SCHEMAS.items() if setup not in SHARED for key in ("schema_", "setup")}
    for field in [field for section in [*SCHEMAS.values(), *tables_of_all()] for field in shown(section)]:
        for union, chosen_by in unions_in(field):
            without = chosen_by({}) if callable(chosen_by) else None
            for member in sections(union):
                tags = [name for name in TAGS if name in member.model_fields and name_alone(member.model_fields[name])]
                found |= {(member, name) for name in tags if member.model_fields[name].default != without}
    return found


def name_alone(field: FieldInfo) -> bool:
    """Whether a key takes one word only, which names its table."""
    return len(get_args(field.annotation) if get_origin(field.annotation) is Literal else ()) == 1


def unions_in(field: FieldInfo) -> Iterator[tuple[Any, Any]]:
    """Yield each choice between tables in a field, and what chooses: the name of a key, or a function of the table."""
    if field.discriminator is not None:
        yield field.annotation, field.discriminator
    for part in parts(field.annotation):
        for one in part.__metadata__ if get_origin(part) is Annotated else ():
            chosen_by = one.discriminator if isinstance(one, Discriminator | FieldInfo) else None
            if chosen_by is not None:
                yield part, chosen_by
    for one in field.metadata:
        if isinstance(one, Discriminator):
            yield field.annotation, one.discriminator


def default_of(section: type[BaseModel], name: str) -> str:
    field = section.model_fields[name]
    if field.is_required() or (section, name) in tags_to_state():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return "as the table's"
    if isinstance(value, list | tuple):
        few = len(value) <= FEW and all(isinstance(entry, int | float) for entry in value)
        return f"`{list(value)}`" if value and few else f"{len(value)} entries" if value else "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def shown(section: type[BaseModel]) -> list[FieldInfo]:
    """The fields that a file states; others are computed."""
    return [field for field in section.model_fields.values() if not field.exclude]


def stated_keys(section: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the fields that stand in the table: not its name, which is above it."""
    hidden = "name" if issubclass(section, NamedSection) else None
    return {name: field for name, field in section.model_fields.items() if not field.exclude and name != hidden}


def row(section: type[BaseModel], name: str, field: FieldInfo) -> str:
    key = field.alias or name
    takes = kind_of(field, are_named_at(section, [key]))
    example = example_of(section, name, sections(field.annotation))
    cells = (f"`{key}`", takes, default_of(section, name), meaning_of(section, key), example)
    return f"| {' | '.join(cells)} |"


def table(section: type[BaseModel]) -> str:
    own = section.__dict__.get("__doc__")
    told = inspect.cleandoc(own).split("\n\n")[0].replace("\n", " ") if own else ""
    rows = [row(section, name, field) for name, field in stated_keys(section).items()]
    head = ["| Key | What it takes | Default | What it is | Example |", "|---|---|---|---|---|"]
    return "\n".join([told, "", *head, *rows]) if rows else told


def page() -> str:
    """The whole page: the whole of each setup first, then every table that they have, once."""
    written = [INTRODUCTION]
    for setup, schema in SCHEMAS.items():
        written.append(f"## {'Table' if setup in SHARED else 'Scenario of a'} `{setup}`\n\n{table(schema)}\n")
    written.append("## Tables\n")
    done = {name_of(section): section for section in tables_of_all()}
    assert len(done) == len(tables_of_all()), "two tables have the same name"
    for name in sorted(done, key=str.lower):
        written.append(f"### {name}\n\n{table(done[name])}\n")
    return "\n".join([*written, usual_sizes()])


def usual_sizes() -> str:
    """The table of the sizes beyond which a number is told."""
    rows = []
    for usual in USUAL:
        ends = (f"{end:g}" if 0 < end < float("inf") else "" for end in (usual.least, usual.most))
        cells = (", ".join(f"`{key}`" for key in usual.keys), usual.unit.replace("**", "^").replace("*", " "), *ends)
        rows.append(f"| {' | '.join(cells)} |\n")
    return USUAL_SIZES + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
