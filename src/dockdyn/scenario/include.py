"""Scenarios of several files: `include = "robot.toml"` puts the tables of that file beside the scenario's own, and
`include = { left = "arm.toml" }` its parts with that name before theirs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from dockdyn.scenario.language.errors import ScenarioError, is_key_inside, key_in, shown
from dockdyn.scenario.language.given_file import SCENARIO, check_given
from dockdyn.scenario.language.table_names import NAME
from dockdyn.scenario.language.toml_text import DEEPEST, data_of, text_in
from dockdyn.scenario.part_names import prefixed_key, with_prefixed_names
from dockdyn.scenario.tables.look import with_looks

KEY = "include"
MOST = 1000  # files that are read: parts that include parts may be many more than there are files
Tables = dict[str, Any]


class KeyOfFile(NamedTuple):
    """Where a key is stated."""

    file: str
    key: str  # as that file has it


Places = dict[str, KeyOfFile]  # by the dotted key of the scenario; what is inside is of that file, too


def with_included(data: Tables, name: str, folder: Path | None) -> tuple[Tables, Places]:
    """Return the tables `data` of the file `name` and those of the files that it includes, and which file states which key.

    Paths count from the including file (`folder`; None: the working folder). Raises `ScenarioError` for a file that cannot
    be read, for files that include each other, and for a key that two files state differently.
    """
    if KEY not in data:
        return data, {}
    own = {key: value for key, value in data.items() if key != KEY}
    places: Places = {}
    file = Path(os.path.realpath((folder or Path()) / Path(name).name))
    _include(data[KEY], own, places, [(name, file)], set(), count())
    return own, places


def relocate_to_file(
    error: ScenarioError, name: str, places: Mapping[str, KeyOfFile], changed: Iterable[str]
) -> ScenarioError:
    """Return an error about the scenario `name` as one about the included file that states the key; keys `changed` since are
    not."""
    found = key_in(error, name)
    if found is None or any(is_key_inside(found, key) for key in changed):
        return error
    stating = [key for key in places if is_key_inside(found, key)]
    if not stating:
        files = sorted({places[key].file for key in places if is_key_inside(key, found)} - {name})
        words = f"; {' and '.join(files)} {'states' if len(files) == 1 else 'state'} some of it" if files else ""
        return type(error)(f"{error}{words}", error.key, error.words)
    said = str(error).removeprefix(f"{name}: ")
    nearest = max(stating, key=len)
    stated = places[nearest]
    if stated.key != nearest:
        said = f"{stated.key}{said.removeprefix(nearest)}; it is included as {nearest}"
    return type(error)(f"{stated.file}: {said}", error.key, error.words)


def _include(
    given: object, into: Tables, places: Places, way: list[tuple[str, Path]], done: set[Path], read: Iterator[int]
) -> None:
    """Merge the files that the last one on the `way` includes, each once, into the tables of the first; `read` counts them."""
    name, _ = way[-1]
    if isinstance(given, dict):
        for part, path in given.items():
            _include_part(part, path, into, places, way, read)
        return
    listed: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(each, str) and each for each in listed):
        words = "must be the path of a TOML file, or a list of such paths, or a table of them by name"
        raise ScenarioError(f"{name}: {KEY} = {shown(given)}: {words}")
    for each in listed:
        label, place = _locate(each, f"{name}: {KEY} = {shown(each)}", way, read)
        if place in done:
            continue
        done.add(place)
        tables = _tables_of(place, label, name)
        more = tables.pop(KEY, [])
        _merge(
            _with_paths(tables, label, place.parent),
            into,
            places,
            lambda key, label=label: KeyOfFile(label, key),
            way[0][0],
        )
        _include(more, into, places, [*way, (label, place)], done, read)


def _include_part(
    part: str, path: object, into: Tables, places: Places, way: list[tuple[str, Path]], read: Iterator[int]
) -> None:
    """Merge the file at a `path`, and those that it includes, with the name of the `part` before their names."""
    where = f"{way[-1][0]}: {KEY}.{part}"
    if NAME.fullmatch(part) is None:
        raise ScenarioError(f"{where}: {shown(part)} is no name; must be of letters, digits, - and _")
    if not isinstance(path, str) or not path:
        raise ScenarioError(f"{where} = {shown(path)}: must be the path of a TOML file")
    label, place = _locate(path, f"{where} = {shown(path)}", way, read)
    tables = _tables_of(place, label, way[-1][0])
    more = tables.pop(KEY, [])
    tables, inner = _with_paths(tables, label, place.parent), Places()
    _include(more, tables, inner, [*way, (label, place)], set(), read)
    in_scenario = {prefixed_key(key, part): stated for key, stated in inner.items()}

    def stated_at(key: str) -> KeyOfFile:
        own = [one for one in in_scenario if is_key_inside(key, one)]
        kind, _, name = key.partition(".")
        return in_scenario[max(own, key=len)] if own else KeyOfFile(label, f"{kind}.{name.removeprefix(f'{part}-')}")

    for kind, named in with_prefixed_names(tables, part, label).items():
        into.setdefault(kind, {})
        for name, table in named.items():
            _merge({kind: {name: table}}, into, places, stated_at, way[0][0])
            places.setdefault(f"{kind}.{name}", stated_at(f"{kind}.{name}"))
    places |= {key: stated for key, stated in in_scenario.items() if key not in places}


def _locate(path: str, stated: str, way: list[tuple[str, Path]], read: Iterator[int]) -> tuple[str, Path]:
    """Return how messages call the file at a `path` that the last one on the `way` includes, and where it is."""
    name, file = way[-1]
    if len(way) > DEEPEST:
        raise ScenarioError(f"{stated}: must be at most {DEEPEST} files deep")
    if next(read) >= MOST:
        raise ScenarioError(f"{stated}: must be at most {MOST} files in all, each as often as it is included")
    place = Path(os.path.realpath(file.parent / path))
    if not os.path.exists(place):
        raise ScenarioError(f"{stated}: no such file; must be a TOML file, relative to {name}")
    check_given(place, stated, SCENARIO)
    label = os.path.normpath(Path(name).parent / path)
    if any(place == passed for _, passed in way):
        circle = ", ".join([*(said for said, _ in way), label])
        raise ScenarioError(f"{stated}: goes round ({circle}); must end")
    return label, place


def _tables_of(place: Path, label: str, name: str) -> Tables:
    """Return what the file at a `place` holds, called `label`; where that is no scenario the file `name` that includes it is
    named, too."""
    try:
        return data_of(text_in(place, label), label)
    except ScenarioError as error:
        raise ScenarioError(f"{error}; {name} includes it") from None


def _merge(
    more: Tables, into: Tables, places: Places, stated_at: Callable[[str], KeyOfFile], name: str, inside: str = ""
) -> None:
    """Put tables of a file, which states each key as `stated_at` says, into those of `name`, table by table; a list is one
    value."""
    for own, value in more.items():
        key = f"{inside}{own}"
        if own not in into:
            into[own] = value
            places[key] = stated_at(key)
        elif isinstance(value, dict) and isinstance(into[own], dict):
            _merge(value, into[own], places, stated_at, name, f"{key}.")
        elif into[own] != value:
            label = stated_at(key).file
            stating = [other for other in places if is_key_inside(key, other)]
            first = places[max(stating, key=len)].file if stating else name
            words = f"{label} has {shown(value)}; must be in one of the files only, or alike"
            raise ScenarioError(f"{first}: {key} = {shown(into[own])}: {words}", key, words)


def _with_paths(tables: Tables, label: str, folder: Path) -> Tables:
    """Return the tables of an included file, their meshes and URDF files found from its own folder."""

    def found_from(value: Any) -> Any:  # noqa: ANN401, what a file holds
        if isinstance(value, dict) and isinstance(value.get("urdf"), str):
            return value | {"urdf": str(folder / value["urdf"])}
        return value

    found = tables
    if isinstance(tables.get("tree"), dict):
        found = tables | {"tree": {name: found_from(tree) for name, tree in tables["tree"].items()}}
    located: Tables = with_looks(found, label, folder)
    return located
