"""The page of all keys: what it says of lists is what is taken, and each table is told without another one."""

import re
import tomllib
from typing import Annotated

import pytest
from places import DOCS
from pydantic import TypeAdapter, ValidationError

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.units import Unit
from dockdyn.scenario.load import load
from dockdyn.scenario.preset_files import PRESETS
from dockdyn.scenario.tables.named import are_named_at

# what points to something that stands elsewhere, where tables are in the order of the alphabet
POINTERS = re.compile(
    r"\b(such an?\b|the two|the same|this (?!computer|table)|those (?!of)|these (?!keys))", re.IGNORECASE
)


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_keys

    return make_keys


def nestings(schema, definitions):
    """Yield the bounds of every list that a JSON schema takes, from outside in: ((2, 2), (3, 3)) of two lists of three."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = {} if definitions[name].get("type") == "object" else definitions[name]
    for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from nestings(one, definitions)
    if schema.get("type") == "array":
        bounds = schema.get("minItems", 0), schema.get("maxItems")
        inner = list(nestings(schema.get("items", {}), definitions))
        yield from ((bounds, *one) for one in inner or [()])
        if inner and any("type" in one and one["type"] == "number" for one in schema["items"].get("anyOf", ())):
            yield (bounds,)


def said_of(words):
    """The same as the page says it: a set of nestings, each a tuple of exact counts, of most ones, or of neither."""
    found = set()
    for form in re.findall(r"lists? of [^|;`]*?(?=,| or list|$)", words):
        levels = tuple(
            (count or None, most or None) for most, count in re.findall(r"lists? of (?:up to (\d+) |(\d+) )?", form)
        )
        found.add(levels)
        if " or of lists" in form:  # entries that are lists, or not
            found.add(levels[:-1])
    return found


def as_said(nesting):
    """A nesting as words say it: an exact count, else the most."""
    return tuple(
        (str(most), None) if least == most else (None, str(most) if most is not None else None)
        for least, most in nesting
    )


@pytest.mark.full
def test_lists_are_as_long_and_as_deep_as_the_page_says(keys):
    """Beside the JSON schema that pydantic makes of the same tables by itself."""
    wrong, compared = {}, 0
    for table in {*keys.tables_of_all(), *keys.SCHEMAS.values()}:
        schema = table.model_json_schema(by_alias=True)
        definitions = schema.get("$defs", {})
        properties = (definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema).get(
            "properties", {}
        )
        for name, field in table.model_fields.items():
            key = field.alias or name
            words = keys.kind_of(field, are_named_at(table, [key]))
            if field.exclude or "list of" not in words or key not in properties:
                continue
            taken = {as_said(one) for one in nestings(properties[key], definitions)}
            compared += 1
            if taken != said_of(words):
                wrong[f"{table.__name__}.{key}"] = words, taken
    assert not wrong
    assert compared > 150


def test_an_example_of_each_key_is_taken(keys):
    """By what checks the key in a file."""
    refused, tried = {}, 0
    for section in [*keys.SCHEMAS.values(), *keys.tables_of_all()]:
        for name, field in keys.stated_keys(section).items():
            example = keys.example_of(section, name, keys.sections(field.annotation)).strip("`")
            if example.startswith("[") and not example.startswith(("[[", "[]")) and keys.sections(field.annotation):
                continue  # the head of a table
            if any(isinstance(each, Unit) and "{" in each.text for each in field.metadata):
                continue  # in a unit that another key of the table says
            value = tomllib.loads(f"example = {example}")["example"]
            try:
                TypeAdapter(Annotated[field.annotation, *(field.metadata or [None])]).validate_python(value)
            except ValidationError as error:
                refused[section.__name__, field.alias or name] = value, error.errors()[0]["msg"]
            tried += 1
    assert not refused
    assert tried > 500


def test_examples_of_lists_show_which_entry_is_which(keys):
    """None has equal entries alone, but for what presets and pages state where no other one does."""
    page = (DOCS / "scenario-keys.md").read_text(encoding="utf-8")
    lists = [
        tomllib.loads(f"example = {one}")["example"] for one in re.findall(r"\| `(\[[\d\"\[-][^`]*\])` \|$", page, re.M)
    ]
    alike = {str(one) for one in lists if len(one) > 1 and all(entry == one[0] for entry in one)}
    assert len(lists) > 50
    stiff, damped = ["500 N m/rad"] * 3, ["2 N m s/rad"] * 3  # of a bushing that is round
    assert alike <= {str(stiff), str(damped), "['50 kN m**2', '50 kN m**2']", "[0, 0, 0]"}


def test_each_table_is_told_without_another_one(keys):
    told = {keys.name_of(table): keys.table(table).split("\n")[0] for table in keys.tables_of_all()}
    assert not {name: words for name, words in told.items() if POINTERS.search(words)}


def named_tables(tables, place=()):
    """Yield the place of every table that says by a word what it is, the key of that word and the word."""
    if isinstance(tables, dict):
        yield from ((place, key, tables[key]) for key in ("schema", "kind", "law", "shape") if key in tables)
    inner = tables.items() if isinstance(tables, dict) else enumerate(tables) if isinstance(tables, list) else ()
    for key, value in inner:
        yield from named_tables(value, (*place, key))


def at(tables, place):
    """What stands at a place of tables."""
    for part in place:
        tables = tables[part]
    return tables


def defaults_of(key, word, page):
    """What the page says is the default of each key of this name that takes a word."""
    return re.findall(rf"^\| `{key}` \| [^|]*`\"?{word}\"?`[^|]* \| ([^|]*) \|", page, re.MULTILINE)


@pytest.mark.parametrize(
    "presets",
    [
        pytest.param("probe-cone*", id="probe-cone"),
        pytest.param("*", marks=pytest.mark.full),
        pytest.param("sits*", id="rigs"),
    ],
)
def test_a_word_that_says_what_a_table_is_has_a_default_where_the_page_says_so(keys, presets):
    """Each table of presets is read again without that word."""
    page, tried = keys.page(), set()
    for file in sorted(PRESETS.glob(f"{presets}.toml")):
        for place, key, word in named_tables(tomllib.loads(file.read_text())):
            case = tuple(part for part in place if not isinstance(part, int)), key, word
            if case in tried:
                continue
            tried.add(case)
            tables = tomllib.loads(file.read_text())
            del at(tables, place)[key]
            try:
                taken = at(load(tables).resolved(), place)[key]
            except ScenarioError as error:
                needed = re.search(rf"\b{key}: (missing|must be a table with)", str(error))
                assert needed is None or "required" in defaults_of(key, word, page), (file.stem, *case)
            else:
                assert f"`{taken}`" in defaults_of(key, taken, page), (file.stem, *case)
    assert len(tried) > 3


def test_an_example_of_a_law_of_a_pair_is_a_name_and_corners_make_an_outline(keys):
    """What stands as an example beside a key could stand in a file."""
    page = (DOCS / "scenario-keys.md").read_text(encoding="utf-8")
    (law,) = re.findall(
        r"^\| `law` \| text .*`\"([^\"`]+)\"` \|$", page.split("### Contact\n")[1].split("\n### ")[0], re.M
    )
    assert ":" not in law
    (corners,) = re.findall(r"^\| `profile` .*`(\[\[.*\]\])` \|$", page, re.M)
    places = tomllib.loads(f"corners = {corners}")["corners"]
    assert len({tuple(one) for one in places}) == len(places) >= 3
