"""The JSON schema of scenario files, by which editors complete keys and mark what is wrong, from what checks the files.

It says which keys there are and what they take, not which are needed: those may stand in an included file.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.json_schema import models_json_schema

from dockdyn.scenario.include import KEY as INCLUDE
from dockdyn.scenario.language.known_keys import REPEATED
from dockdyn.scenario.language.like import KEY as LIKE
from dockdyn.scenario.language.own_code import TAGS, Own
from dockdyn.scenario.setups import SETUPS, setup_named
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.design import DesignSection

FILE = "dockdyn.schema.json"
PLACE = "#/definitions/{model}"
NUMBER = r"^[-+(\s]*\.?[0-9]"  # what a text with a number begins with
DROPPED = ("title", "default", "required", "discriminator", REPEATED)
OWN = {"type": "string", "pattern": "^[^:]+:[^:]+$"}  # "module:Class"
Node = dict[str, Any]


def line_for(folder: Path, file: str = "") -> str:
    """Return the first line of a TOML file in a `folder`, which names the schema to Taplo and what uses it.

    Without a `file` it is the nearest one in the folder or above it; empty where there is none.
    """
    above = [folder, *folder.parents]
    found = file or next((("../" * up) + FILE for up, place in enumerate(above) if (place / FILE).is_file()), "")
    return f"#:schema {found if found.startswith('..') else f'./{found}'}\n" if found else ""


def scenario_schema() -> Node:
    """Return the schema (draft 7) of the scenarios of all setups, those of other packages included."""
    setups = [section for name in SETUPS for section in setup_named(name).schemas()]
    names, whole = models_json_schema(
        [(section, "validation") for section in (*setups, CampaignSection, DesignSection)],
        by_alias=True,
        ref_template=PLACE,
    )
    found: Node = whole["$defs"]
    conditions = []
    for section in setups:
        name = names[section, "validation"]["$ref"].rsplit("/", 1)[1]
        conditions.append({"if": _marks_of_table(found[name]), "then": {"$ref": PLACE.format(model=name)}})
    for made in _subclasses_of(Own):
        if made.__name__ in found:
            _mark_own(found[made.__name__])
    for name in set(_named_in(found)):
        found[name]["properties"][LIKE] = {"description": "The table that it copies.", "type": "string"}
    definitions: Node = {name: _as_written(table) for name, table in found.items()}
    for condition in conditions:
        definitions[condition["then"]["$ref"].rsplit("/", 1)[1]]["properties"].update(_shared_keys())
    union = _union([definitions[condition["then"]["$ref"].rsplit("/", 1)[1]] for condition in conditions])
    part = {"properties": union, "additionalProperties": False}  # of a scenario, in a file without a version
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "description": "A scenario of dockdyn.",
        "type": "object",
        "properties": {"motion": union["motion"]},
        "allOf": [{"anyOf": [part, {"required": ["schema"]}]}, *conditions],
        "definitions": definitions | {"Distribution": _distribution()},
    }


def _named_in(node: object) -> Iterator[str]:
    """Yield the definitions of the tables that stand under names of their own."""
    if isinstance(node, list | dict):
        for inside in node.values() if isinstance(node, dict) else node:
            yield from _named_in(inside)
    if isinstance(node, dict) and REPEATED in node:
        yield from _referred_tables(node["additionalProperties"])


def _referred_tables(node: Node) -> Iterator[str]:
    """Yield the definitions of the tables that one may be."""
    if "$ref" in node:
        yield node["$ref"].rsplit("/", 1)[1]
    for option in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _referred_tables(option)


def _marks_of_table(table: Node) -> Node:
    """Return what tells that a whole scenario is of this table: its motion, whether it is a rig, and of bodies."""
    properties, needed = table["properties"], table.get("required", [])
    found: Node = {"required": ["schema"], "allOf": []}
    if motion := {key: properties["motion"][key] for key in ("const", "enum") if key in properties.get("motion", {})}:
        found["properties"] = {"motion": motion}
        found["required"] += ["motion"] if "motion" in needed else []
    rig, bodies = {"required": ["rig"]}, {"anyOf": [{"required": ["body"]}, {"required": ["tree"]}]}
    found["allOf"].append(rig if "rig" in properties else {"not": rig})
    if "rig" in properties:
        found["allOf"].append(bodies if "body" in properties else {"not": bodies})
    return found


def _union(tables: list[Node]) -> Node:
    """Return the keys of all setups, each with all that it takes in one of them."""
    found: dict[str, list[Node]] = {}
    for table in tables:
        for key, value in table["properties"].items():
            options = found.setdefault(key, [])
            if value not in options:
                options.append(value)
    return {key: options[0] if len(options) == 1 else {"anyOf": options} for key, options in found.items()}


def _shared_keys() -> Node:
    """Return the keys of every setup that its own table does not hold."""
    path = {"type": "string"}
    return {
        INCLUDE: {
            "description": "Files whose tables belong here, too; of a table of them each with its name before theirs.",
            "anyOf": [path, {"type": "array", "items": path}, {"type": "object", "additionalProperties": path}],
        },
        "campaign": {"$ref": PLACE.format(model=CampaignSection.__name__)},
        "design": {"$ref": PLACE.format(model=DesignSection.__name__)},
        "dispersion": {
            "description": "Numbers that are distributed, by their keys.",
            "type": "object",
            "additionalProperties": _distribution({"keys": {"type": "array", "items": {"type": "string"}}}),
        },
        "requirements": {
            "description": 'What figures of the summary must be: true, false or a relation such as "< 500 N".',
            "type": "object",
            "additionalProperties": {"type": ["boolean", "string", "object"]},
        },
    }


def _distribution(more: Node | None = None) -> Node:
    """Return a table that says how a number is distributed; nothing of what is no table."""
    from dockdyn.scenario.distributions.distribution import LAWS

    keys: Node = {key: {} for law in LAWS.values() for key in law.model_fields}
    named = {"anyOf": [{"enum": list(LAWS)}, OWN]}
    return {"required": ["distribution"], "properties": {**keys, "distribution": named, **(more or {})}}


def _as_written(node: Any) -> Any:  # noqa: ANN401, of a schema
    """Return a part of pydantic's schema as a TOML file has it: nothing is null, a number may be a text with a unit, and it and
    a list may be distributed.
    """
    if isinstance(node, list):
        return [_as_written(each) for each in node]
    if not isinstance(node, dict):
        return node
    several: list[Node] = node.get("anyOf") or node.get("oneOf") or []
    options = [each for each in several if each.get("type") != "null"]
    kept = {key: value for key, value in node.items() if key not in (*DROPPED, "anyOf", "oneOf", "properties")}
    found = {key: _as_written(value) for key, value in kept.items()}
    if "properties" in node:
        found["properties"] = {key: _as_written(value) for key, value in node["properties"].items()}
        found |= {"required": list(node["own"])} if "own" in node else {}
        found.pop("own", None)
    if len(options) == 1:
        found = _as_written(options[0]) | found
    elif options:
        found["anyOf"] = [_as_written(each) for each in options]
    if found.get("type") in ("number", "integer", "array"):
        texts = {"pattern": NUMBER} if found["type"] == "number" else {}
        others = ["string", "object"] if texts else ["object"]
        found |= {"type": [found["type"], *others], "anyOf": [{"$ref": PLACE.format(model="Distribution")}], **texts}
    return found


def _mark_own(table: Node) -> None:
    """Mark a table of a part of the user's own, which has its name and whatever keys its class has."""
    (tag,) = (tag for tag in TAGS if tag in table["properties"])
    table["properties"][tag] = copy.copy(OWN)
    table["additionalProperties"] = True
    table["own"] = [tag]


def _subclasses_of(made: type) -> Iterator[type]:
    """Yield all classes that inherit from one."""
    derived: list[type] = made.__subclasses__()
    for each in derived:
        yield each
        yield from _subclasses_of(each)
