"""From a file or preset to a scenario: reading, overriding, checking, writing back."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from dockdyn.records import record
from dockdyn.scenario import compile_cost  # noqa: F401, which tells what programs of a scenario take
from dockdyn.scenario.distributions.dispersion import (
    Dispersion,
    Stated,
    dispersion_of,
    extract_distributions,
    refuse_duplicate_keys,
    relocate_error,
    with_inline,
    without_overridden,
    written_into,
)
from dockdyn.scenario.include import KEY as INCLUDE
from dockdyn.scenario.include import relocate_to_file, with_included
from dockdyn.scenario.language.errors import ScenarioError, allowed, locate_problem, refused_in, shown
from dockdyn.scenario.language.given import path_from, table_from, wrong_type
from dockdyn.scenario.language.keys import holds, override, refuse_unequal_twin, split, truth_drawn, value_at
from dockdyn.scenario.language.known_keys import TAGS, KnownKeys, first_in
from dockdyn.scenario.language.like import KEY as LIKE
from dockdyn.scenario.language.like import Copies, with_copies
from dockdyn.scenario.language.or_none import NONE, means_none, paths_of_none, without_path
from dockdyn.scenario.language.own_code import REFUSED, OwnCodeError, importable, only_built_in
from dockdyn.scenario.language.own_code import TAGS as OWN_TAGS
from dockdyn.scenario.language.requirement import Requirement, requirements_of, table_of
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.table_names import count_of_name
from dockdyn.scenario.language.toml_text import check_admissible, data_of, text_in
from dockdyn.scenario.language.when_stated import Checked
from dockdyn.scenario.preset_files import PRESETS, is_preset, preset_text, refuse_missing
from dockdyn.scenario.setups import setup_of
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.design import DesignSection
from dockdyn.scenario.tables.look import with_looks
from dockdyn.scenario.tables.mesh import NOT_MADE, Made, make_later
from dockdyn.scenario.tables.named import are_named_at
from dockdyn.scenario.tree_keys import relocate_to_tree

VERSION = 2  # of the language of files
STATED = "scenario"  # what one is called that is no file
SHARED = ("campaign", "design", "dispersion", "requirements")  # tables of every setup
NOT_OF_ALL = ("rig", "compare", "output")  # tables that either rigs or mechanisms have; the first makes a rig


@record
class Scenario:
    """A checked scenario. `content` holds it in SI units; `name` is the preset or file it came from."""

    name: str
    content: Any
    folder: Path | None = None  # where modules of the user's own laws are looked for
    dispersions: tuple[Dispersion, ...] = ()  # what is distributed; `content` has the nominal numbers
    requirements: tuple[Requirement, ...] = ()
    campaign: CampaignSection = field(default_factory=CampaignSection)
    design: DesignSection | None = None

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}: {self.title} ({self.setup})>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the title, and the resolved scenario as TOML."""
        return f"<b>{escape(self.title)}</b> ({escape(self.setup)})<pre>{escape(self.text())}</pre>"

    @property
    def setup(self) -> str:
        return self.content.setup

    @property
    def title(self) -> str:
        return self.content.title

    def text(self) -> str:
        """Return the resolved scenario as TOML: overrides applied, defaults filled in; it gives the same result again."""
        return tomlkit.dumps(with_inline(self.resolved()))

    def resolved(self) -> dict[str, Any]:
        """Return the same as a dictionary."""
        data = self.nominal()
        written_into(data, self.dispersions, self.name)
        stated = {"campaign": self.campaign.model_dump(exclude_unset=True), "requirements": table_of(self.requirements)}
        if self.design is not None:
            stated["design"] = self.design.model_dump(exclude_unset=True)
        return data | _without_empty(stated)

    def nominal(self) -> dict[str, Any]:
        """Return the case that runs alone, without distributions and requirements, as a dictionary."""
        return _without_empty(self.content.model_dump(by_alias=True, exclude_none=True), type(self.content))

    def at(self, values: Mapping[str, Any]) -> Scenario:
        """Return the same scenario, dotted keys set to `values`, nothing distributed; ScenarioError where one is not
        allowed."""
        table_from(f"{self.name}: values", values, "a mapping from dotted keys to values")
        content = content_at(self.nominal(), values, self.name, self.folder)
        return Scenario(self.name, content, self.folder, requirements=self.requirements)

    def model(self) -> Any:  # noqa: ANN401, of its setup
        """Return the model this scenario describes (`dockdyn.integrate.model.Model`)."""
        return self.content.model()


def load(
    source: str | Path | Mapping[str, Any], overrides: dict[str, Any] | None = None, own_code: bool = True
) -> Scenario:
    """Read a scenario from a file or preset, from a dictionary of its tables, or from a text in TOML.

    What is no file counts paths from the working folder, and is called "scenario" in messages.

    `overrides` maps dotted keys to values, as `--set` does: `{"loop.delay": "200 ms", "body.chaser.mass": 2000}`. Lists take
    an index or a name, and need neither when they have one element.

    A scenario may name laws and surfaces of its own, "module:Class", and so runs the code of a module beside it. Without
    `own_code` it is refused before. Raises `ScenarioError`.
    """
    if overrides is not None:
        table_from("overrides", overrides, "a mapping from dotted keys to values")
    name, text, folder = _stated_in(source)
    with only_built_in(not own_code):
        return parse(text, name, overrides, folder, PRESETS if folder is None else None)


def _stated_in(source: str | Path | Mapping[str, Any]) -> tuple[str, str, Path | None]:
    """Return name, text and folder of a scenario, whatever it is handed over as. Raises ScenarioError for what is none."""
    if isinstance(source, Mapping):
        tables = table_from(STATED, source, "a mapping from keys to values")
        try:
            return STATED, tomlkit.dumps(_as_toml(tables)), Path()
        except (TypeError, ValueError) as error:  # of tomlkit, about what no file can hold
            raise ScenarioError(f"{STATED}: holds what no scenario file can ({error})") from None
    if isinstance(source, str) and ("\n" in source or "=" in source):
        return STATED, source, Path()
    return read(path_from("scenario", source, "a scenario file or the name of a preset"))


def _as_toml(value: object) -> Any:  # noqa: ANN401, what a file holds
    """Return tables as a file has them: tuples and arrays as lists, numbers of NumPy as Python's."""
    if isinstance(value, Mapping):
        return {key: _as_toml(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_as_toml(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def scenario_from(given: Scenario | str | Path | Mapping[str, Any]) -> Scenario:
    """Return a scenario as it is, or what `load` takes. Raises ScenarioError for what is none."""
    if isinstance(given, Scenario):
        return given
    if not isinstance(given, str | Path | Mapping):
        raise wrong_type("scenario", given, "a dockdyn.Scenario, a scenario file or the name of a preset")
    return load(given)


def refuse_own_code(text: str, name: str) -> None:
    """Raise `OwnCodeError` for a scenario in a result `name` that has code of its own, without running it."""
    try:
        with only_built_in():
            parse(text, name)
    except OwnCodeError:
        raise
    except ScenarioError:  # here; in another folder, with its URDF, it may be one
        try:
            data = data_of(text, name)
        except ScenarioError:
            return
        if key := _own_code_in(data):
            raise OwnCodeError(f"{name}: {key} {REFUSED}", key, REFUSED) from None


def _own_code_in(data: object, key: str = "") -> str | None:
    """Return the first key of `data` that names a law, shape, element or distribution "module:Class"; None where none does."""
    if not isinstance(data, dict | list):
        return None
    for name, value in data.items() if isinstance(data, dict) else enumerate(data):
        here = f"{key}.{name}".lstrip(".")
        if name in OWN_TAGS and isinstance(value, str) and ":" in value:
            return here
        if found := _own_code_in(value, here):
            return found
    return None


def read(source: str | Path) -> tuple[str, str, Path | None]:
    """Return name, text and folder of a scenario file or preset."""
    refuse_missing(source)
    path = Path(source)
    if path.is_file() or not is_preset(str(source)):
        return str(source), text_in(path, str(source)), path.parent
    return str(source), preset_text(str(source)), None


def parse(
    text: str,
    name: str,
    overrides: dict[str, Any] | None = None,
    folder: Path | None = None,
    meshes: Path | None = None,
) -> Scenario:
    """Return the scenario in `text`; `folder` is where included and URDF files and modules of the user's own laws are looked
    for.

    The text's own meshes are in the folder `meshes`, by default in that, too; those of `overrides` are always.
    """
    data, places = with_included(data_of(text, name), name, folder)
    if meshes is not None:
        data = with_looks(data, name, meshes)
    changes = copy.deepcopy(overrides or {})  # a later key may go into the table of an earlier one
    copies = Copies()
    try:
        if data.get("schema", VERSION) != VERSION:  # what else is wrong is wrong by another language
            raise ScenarioError(f"{name}: schema = {shown(data['schema'])}: must be {VERSION}")
        data, copies = with_copies(data, name, partial(_are_named_at, _section_of(data, name)))
        return _read_tables(data, name, changes, folder, copies)
    except ScenarioError as error:
        raise relocate_to_file(copies.at_origin(error, name, changes), name, places, changes) from None


def _read_tables(
    data: dict[str, Any], name: str, changes: dict[str, Any], folder: Path | None, copies: Copies
) -> Scenario:
    """Return the scenario that the tables `data` of one or several files describe, with `changes` to its keys."""
    for key, value in changes.items():
        check_admissible({key: value}, name)
        refuse_unequal_twin(key, changes, name)
        if key.rpartition(".")[2] in (INCLUDE, LIKE):
            raise ScenarioError(f"{name}: {key} = {shown(value)}: cannot be set; must stand in a scenario file")
    gone = {key for key, value in changes.items() if key in (*SHARED, *NOT_OF_ALL) and value == NONE}
    data = {key: value for key, value in data.items() if key not in gone and (key not in NOT_OF_ALL or value != NONE)}
    changes = {key: value for key, value in changes.items() if key not in gone}
    trees = {key: value for key, value in changes.items() if key.startswith("tree.")}  # first: others reach their links
    for key, value in trees.items():
        data = overridden(data, key, value, name, folder, copies)
    prepared = setup_of(data).prepare(data, name, folder)
    links, changed = prepared.get("body", {}), [key for key in changes if key not in trees]
    try:
        return _check_changed(prepared, {key: changes[key] for key in changed}, changes, name, folder, copies)
    except ScenarioError as error:
        raise relocate_to_tree(error, name, data.get("tree"), links, changed) from None


def _check_changed(
    data: dict[str, Any],
    others: dict[str, Any],
    changes: dict[str, Any],
    name: str,
    folder: Path | None,
    copies: Copies,
) -> Scenario:
    """Return the scenario that tables describe whose links are bodies, with the `others` of all `changes` to its keys."""
    for key, value in others.items():
        data = overridden(data, key, value, name, folder, copies)
    if "schema" not in data:
        raise ScenarioError(f"{name}: schema: missing; must be {VERSION}")
    data = with_looks(data, name, folder)
    return check_tables(data, name, folder, changes, copies)


def _refuse_unknown_tables(data: dict[str, Any], changes: Iterable[str], name: str) -> None:
    """Refuse changed keys of tables that such a scenario has not, which takes no check of all others. Raises ScenarioError."""
    kind = _section_of(data, name)
    known = {*kind.model_fields, *(field.alias for field in kind.model_fields.values())}
    for key in changes:
        if (table := split(key, name)[0]) in data and table not in known and not hasattr(kind, table):
            raise _unknown_key([table], data[table], KnownKeys(kind, data), name)


def check_tables(
    data: dict[str, Any], name: str, folder: Path | None, fixed: Iterable[str] = (), copies: Copies | None = None
) -> Scenario:
    """Return the scenario that `data` describes; what is distributed there and named in `fixed` is so no more, and what is
    distributed in a table and its copies is one."""
    data = _without_left_out(data, name)
    others = {key: data[key] for key in ("campaign", "design", "requirements") if key in data}
    with importable(folder):
        plain, stated = extract_distributions(
            {key: value for key, value in data.items() if key not in others}, name, copies
        )
    campaign = _stated_table(CampaignSection, others.get("campaign", {}), "campaign", name)
    design = _stated_table(DesignSection, others["design"], "design", name) if "design" in others else None
    own = {key for one in stated if one.table is not None for key in one.keys if holds(plain, key, name)}
    for one in stated:
        for key, (_, value) in one.somewhere().items():
            if one.table is not None and key not in own:
                try:
                    plain = overridden(copy.deepcopy(plain), key, value, name, folder)  # of what fails tables are left
                except ScenarioError as error:
                    raise _not_there(error, one, key, plain, name, folder) from None
    try:
        requirements = requirements_of(others.get("requirements", {}), name)
        _refuse_unknown_tables(plain, fixed, name)
        content = _validate(plain, name, folder)
    except ScenarioError as error:
        raise relocate_error(error, stated, name) from None
    scenario = Scenario(name, content, folder, requirements=requirements, campaign=campaign, design=design)
    if not stated:
        return scenario
    found = [dispersion_of(one, content, lambda values: scenario.at(values).content, own, name) for one in stated]
    kept = without_overridden(found, content, fixed, name)
    refuse_duplicate_keys(kept, name)
    kept.sort(key=lambda one: one.keys if one.table is None else ("~",))  # one order, however the file is written
    nominal = {key: value for one in kept for key, value in zip(one.keys, one.nominal, strict=True)}
    return replace(scenario, content=scenario.at(nominal).content, dispersions=tuple(kept))


def _not_there(
    error: ScenarioError, stated: Stated, key: str, plain: dict[str, Any], name: str, folder: Path | None
) -> ScenarioError:
    """Return why a key of a [dispersion.NAME] cannot be set in the tables `plain`: an unknown key of theirs is told first."""
    try:
        value_at(_validate(plain, name, folder), key, name)
    except ScenarioError as found:
        if not str(found).startswith(f"{name}: {key}: "):
            return found if found.words.startswith("unknown key") else error
        error = found
    return ScenarioError(
        f"{name}: {stated.place_of(key)}: {str(error).removeprefix(f'{name}: ').removeprefix(f'{key}: ')}"
    )


def _without_left_out(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return `data` without the tables of which it says "none" and that may be left out."""
    data = {key: value for key, value in data.items() if key not in SHARED or value != NONE}
    if said := [path for path in paths_of_none(data) if path[-1] not in TAGS]:
        known = KnownKeys(_section_of(data, name), data)
        for path in [path for path in said if known.is_optional_table(path)]:
            data = without_path(data, path)
    return data


def content_at(
    data: dict[str, Any], values: Mapping[str, Any], name: str, folder: Path | None, checked: Checked | None = None
) -> Section:
    """Return what `data` describes with dotted keys set to `values`; tables as others had are those of `checked`.

    What campaigns draw are floats: of true or false in `data` 0.0 and 1.0 are those.
    """
    for key, value in values.items():
        override(data, key, truth_drawn(data, key, value, name), name)
    if any(isinstance(value, str) and value == NONE for value in values.values()):
        data = _without_left_out(data, name)
    return _validate(data, name, folder, checked)


def _validate(data: dict[str, Any], name: str, folder: Path | None, checked: Checked | None = None) -> Section:
    """Return what `data` describes, without distributions and requirements.

    What takes a while is made of mesh files once nothing else is wrong. Tables that were `checked` have theirs.
    """
    section = _section_of(data, name)
    stages: tuple[tuple[Made, ...], ...] = ((),) if checked is not None else (("cloud", "field"), ("field",), ())
    with importable(folder):
        for later in stages:
            try:
                with make_later(*later):
                    return section.model_validate(data, context=checked)
            except ValidationError as error:
                if problems := [one for one in error.errors() if one["type"] != NOT_MADE]:
                    raise _refusal(problems, data, name, section) from None
    raise AssertionError("in the last stage all is made")


def _stated_table[Table: Section](section: type[Table], table: object, where: str, name: str) -> Table:
    """Return a table that any scenario may have and that is not simulated."""
    try:
        return section.model_validate(table)
    except ValidationError as error:
        raise refused_in(error, where, table, list(section.model_fields), name) from None


def _section_of(data: dict[str, Any], name: str) -> type[Section]:
    """Return what checks the scenario that has these tables."""
    return setup_of(data).schema(data, name)


def _are_named_at(section: type[Section], path: tuple[str, ...]) -> bool:
    """Return whether tables under names of their own stand at a path of a file that `section` checks."""
    return are_named_at(DesignSection, path[1:]) if path[:1] == ("design",) else are_named_at(section, path)


def overridden(
    data: dict[str, Any], key: str, value: object, name: str, folder: Path | None, copies: Copies | None = None
) -> dict[str, Any]:
    """Return `data` with the dotted `key` set, as written or, where it is not there as written, as resolved.

    So one moment of an inertia tensor can be set also where the file gives its diagonal alone. No new table comes to be where
    each has a name of its own.
    """
    _refuse_new_name(data, key, name)
    try:
        override(data, key, value, name)
    except ScenarioError as problem:
        try:
            resolved = check_tables(data, name, folder, copies=copies).resolved()
            override(resolved, key, value, name)
        except ScenarioError:
            raise problem from None
        return resolved
    return data


def _refuse_new_name(data: dict[str, Any], key: str, name: str) -> None:
    """Refuse a dotted `key` into a table under a name that none has. Raises ScenarioError."""
    place: Any = data
    parts = split(key, name)
    passed = 0  # parts of a name with dots that are behind its first
    for depth, part in enumerate(parts):
        if passed:
            passed -= 1
            continue
        if not isinstance(place, dict) or ".".join(parts[depth:]) in place:
            return
        if (count := count_of_name(parts[depth:], place)) > 1:
            place, passed = place[".".join(parts[depth : depth + count])], count - 1
            continue
        if part not in place:
            kind = _section_of(data, name)
            if depth and are_named_at(kind, parts[:depth]):
                words = KnownKeys(kind, data).advice(part, list(place), key)
                raise ScenarioError(f"{name}: {key}: there is no {part!r}; {words}")
            if depth + 1 < len(parts) and are_named_at(kind, parts[: depth + 1]):
                raise ScenarioError(f"{name}: {key}: the scenario states no {part}; must be one that it states")
            return
        place = place[part]


def _none_in_words(known: KnownKeys, path: list[str], value: object) -> str:
    """Return how to say that there is none of the table at `path`, where its `value` means that and it may be left out."""
    return "; for none leave it out" if means_none(value) and path and known.is_optional(path) else ""


def _refusal(problems: list[ErrorDetails], data: dict[str, Any], name: str, kind: type[Section]) -> ScenarioError:
    """Return the first problem in one line: file, key, value and what is allowed."""
    problem = min(problems, key=_lateness)
    path, value = locate_problem(problem["loc"], data, problem["type"] == "missing")
    key = named = ".".join(path)
    sort = problem["type"]
    if sort == "extra_forbidden":
        return _unknown_key(path, value, KnownKeys(kind, data), name)
    if sort == "own_code":
        return OwnCodeError(f"{name}: {named}: {allowed(problem)}", named, allowed(problem))
    if sort == "missing":
        words = f"missing; must be {KnownKeys(kind, data).needed_at(path)}"
        return ScenarioError(f"{name}: {named}: {words}", named, words)
    if sort.startswith("union_tag"):
        told = problem.get("ctx", {}).get("discriminator", "").strip("'")
        shaped = any(table in key for table in ("surface", "parts", "feature"))
        sorted_by_kind = path[-1:] == ["flexible"]
        tag = told if told in TAGS else "shape" if shaped else "kind" if sorted_by_kind else "law"
        if not isinstance(value, dict):
            known = KnownKeys(kind, data)
            tags = ", ".join(one for one in known.words_at(path) if one != NONE)
            words = f"must be a table with a {tag}, one of {tags}{_none_in_words(known, path, value)}"
            return ScenarioError(f"{name}: {named} = {shown(value)}: {words}", named, words)
        key = named = f"{key}.{tag}"
        if sort == "union_tag_not_found" and tag not in value:
            words = f"missing; allowed: {', '.join(KnownKeys(kind, data).words_at(path))}"
            return ScenarioError(f"{name}: {named}: {words}", named, words)
        value = value.get(tag)
    given = "" if isinstance(value, dict) or value is None else f" = {shown(value)}"
    words = allowed(problem)
    if sort in ("model_type", "dict_type", "model_attributes_type"):
        one = f"must be one table, [{named}]" if isinstance(value, list) else words
        words = f"{one}{_none_in_words(KnownKeys(kind, data), path, value)}"
    if sort in ("list_type", "too_short", "too_long") and (count := KnownKeys(kind, data).length_at(path)):
        has = problem.get("ctx", {}).get("actual_length")
        words = f"{words} of {count}" if has is None else f"must have {count} entries, has {has}"
    if not key:  # of the scenario as a whole, which says itself which keys do not go together
        return ScenarioError(f"{name}: {words}")
    return ScenarioError(f"{name}: {named}{given}: {words}", named, words)


def _unknown_key(path: list[str], value: object, known: KnownKeys, name: str) -> ScenarioError:
    """Return what is said of a key that a table cannot have."""
    keys, others = known.beside(path)
    tables = [other for other, theirs in others.items() if path[-1] in theirs]
    words = (
        f"of {' or '.join(tables)} only; allowed: {', '.join(keys)}"
        if tables
        else known.advice(path[-1], [*keys, *(() if path[:-1] else SHARED)], first_in(path, value))
    )
    if path[-1] == INCLUDE:
        words = "must stand above the first table"
    named = ".".join(path)
    return ScenarioError(f"{name}: {named}: unknown key; {words}", named, f"unknown key; {words}")


def _lateness(problem: ErrorDetails) -> tuple[bool, bool, bool]:
    """Return orders problems: an unknown law early, whose keys are then unknown, and an unknown key, for what it was meant to
    be is then missing."""
    sort, place = problem["type"], problem["loc"]
    unknown_law = sort in ("literal_error", "part") and bool(place) and place[-1] in TAGS
    return sort != "own_code", not unknown_law, sort != "extra_forbidden"


def _without_empty(data: Any, kind: type[Section] | None = None, path: tuple[str, ...] = ()) -> Any:  # noqa: ANN401, what a file holds
    """Return `data` without empty tables and lists, which say nothing; of a scenario of a `kind`, but for those under names."""
    if isinstance(data, dict):
        kept = {key: _without_empty(value, kind, (*path, key)) for key, value in data.items()}
        return {
            key: value
            for key, value in kept.items()
            if value not in ({}, []) or (kind is not None and are_named_at(kind, path))
        }
    return [_without_empty(item, kind, path) for item in data] if isinstance(data, list) else data
