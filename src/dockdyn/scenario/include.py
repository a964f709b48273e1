"""Scenarios of several files: `include = "robot.toml"` puts the tables of that file beside the scenario's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, key_in, shown, within
from dockdyn.scenario.language.given_file import SCENARIO, check_given
from dockdyn.scenario.language.toml_text import DEEPEST, data_of, text_in
from dockdyn.scenario.tables.look import with_looks

KEY = "include"
Tables = dict[str, Any]
Places = dict[str, str]  # the file by the dotted key that it states; what is inside is of that file, too


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
    _include(data[KEY], own, places, [(name, file)], set())
    return own, places


def in_its_file(error: ScenarioError, name: str, places: Mapping[str, str], changed: Iterable[str]) -> ScenarioError:
    """Return an error about the scenario `name` as one about the included file that states the key; keys `changed` since are
    not."""
    found = key_in(error, name)
    if found is None or any(within(found, key) for key in changed):
        return error
    stating = [key for key in places if within(found, key)]
    if not stating:
        files = sorted({places[key] for key in places if within(key, found)} - {name})
        words = f"; {' and '.join(files)} {'states' if len(files) == 1 else 'state'} some of it" if files else ""
        return type(error)(f"{error}{words}", error.key, error.words)
    said = str(error).removeprefix(f"{name}: ")
    return type(error)(f"{places[max(stating, key=len)]}: {said}", error.key, error.words)


def _include(given: object, into: Tables, places: Places, way: list[tuple[str, Path]], done: set[Path]) -> None:
    """Merge the files that the last one on the `way` includes, each once, into the tables of the first."""
    name, file = way[-1]
    listed: list[Any] = given if isinstance(given, list) else [given]
    if not all(isinstance(each, str) and each for each in listed):
        raise ScenarioError(f"{name}: {KEY} = {shown(given)}: must be the path of a TOML file, or a list of such paths")
    if len(way) > DEEPEST:
        raise ScenarioError(f"{name}: {KEY} = {shown(given)}: must be at most {DEEPEST} files deep")
    for each in listed:
        place = Path(os.path.realpath(file.parent / each))
        stated = f"{name}: {KEY} = {shown(each)}"
        if not os.path.exists(place):
            raise ScenarioError(f"{stated}: no such file; must be a TOML file, relative to {name}")
        check_given(place, stated, SCENARIO)
        label = os.path.normpath(Path(name).parent / each)
        if any(place == passed for _, passed in way):
            circle = ", ".join([*(said for said, _ in way), label])
            raise ScenarioError(f"{name}: {KEY} = {shown(each)}: goes round ({circle}); must end")
        if place in done:
            continue
        done.add(place)
        tables = data_of(text_in(place, label), label)
        more = tables.pop(KEY, [])
        _merge(_with_paths(tables, label, place.parent), into, places, label, way[0][0])
        _include(more, into, places, [*way, (label, place)], done)


def _merge(more: Tables, into: Tables, places: Places, label: str, name: str, inside: str = "") -> None:
    """Put the tables of the file `label` into those of `name`, table by table; a list is one value."""
    for own, value in more.items():
        key = f"{inside}{own}"
        if own not in into:
            into[own] = value
            places[key] = label
        elif isinstance(value, dict) and isinstance(into[own], dict):
            _merge(value, into[own], places, label, name, f"{key}.")
        elif into[own] != value:
            stating = [other for other in places if within(key, other)]
            first = places[max(stating, key=len)] if stating else name
            words = f"{label} has {shown(value)}; must be in one of the files only, or alike"
            raise ScenarioError(f"{first}: {key} = {shown(into[own])}: {words}", key, words)


def _with_paths(tables: Tables, label: str, folder: Path) -> Tables:
    """Return the tables of an included file, their meshes and URDF files found from its own folder."""

    def found_from(value: Any) -> Any:  # noqa: ANN401, what a file holds
        if isinstance(value, list):
            return [found_from(one) for one in value]
        if isinstance(value, dict) and isinstance(value.get("urdf"), str):
            return value | {"urdf": str(folder / value["urdf"])}
        return value

    found = {own: found_from(value) for own, value in tables.items()}
    located: Tables = with_looks(found, label, folder)
    return located
