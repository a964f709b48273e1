"""Keys of links that come from a URDF: bodies when a scenario is checked, tables of a `[tree.NAME]` in its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dockdyn.scenario.language.errors import ScenarioError, is_key_inside, key_in


def relocate_to_tree(
    error: ScenarioError, name: str, trees: object, bodies: Mapping[str, Any], changed: Iterable[str]
) -> ScenarioError:
    """Return an error about a key of a link among the `bodies` of the scenario `name` as one about the key of its tree, where
    the file states it there; keys `changed` since are as they were set."""
    key = key_in(error, name)
    if key is None or not isinstance(trees, dict) or any(is_key_inside(key, other) for other in changed):
        return error
    stated = _key_of_tree(key, trees, bodies)
    if stated is None:
        return error
    said = str(error).removeprefix(f"{name}: ").removeprefix(key)
    return type(error)(f"{name}: {stated}{said}", stated, error.words)


def _key_of_tree(key: str, trees: Mapping[str, Any], bodies: Mapping[str, Any]) -> str | None:
    """Return where the tables of `trees` state a key of a body that is a link: in the link's own table, or of the link at the
    root of the tree in that of the tree; None where they do not."""
    body = max((own for own in bodies if is_key_inside(key, f"body.{own}")), key=len, default="")
    tree, _, link = body.partition(".")
    table, inside = trees.get(tree), key.removeprefix(f"body.{body}.")
    if not link or not isinstance(table, dict) or inside == key:
        return None
    own = table.get("body", {}).get(link, {}) if isinstance(table.get("body", {}), dict) else {}
    first = inside.partition(".")[0]
    if isinstance(own, dict) and first in own:
        return f"tree.{tree}.body.{link}.{inside}"
    at_root = body == next(other for other in bodies if other.startswith(f"{tree}."))
    return f"tree.{tree}.{inside}" if at_root and first in table else None
