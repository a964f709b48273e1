"""What a study that is gone on with must have in common with the one that was begun."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.keys import leaves
from dockdyn.scenario.language.toml_text import data_of

SHOWN = 3  # differences told when a study cannot go on


def refuse_another(found: Sequence[str], folder: Path, study: str) -> None:
    """Refuse to go on with a `study` in a folder that is another one, where differences were `found`; says the first."""
    if found:
        more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise ScenarioError(f"{folder}: cannot be resumed with another {study}: {'; '.join(found[:SHOWN])}{more}")


def scenario_differences(before: str, now: str) -> list[str]:
    """Return keys of two scenario texts that differ, with both values."""
    old, new = (dict(leaves(data_of(text, "scenario"))) for text in (before, now))
    nothing = "not there"
    return [
        f"{key} was {shown(old[key]) if key in old else nothing}, is {shown(new[key]) if key in new else nothing}"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]


def changed_modules(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return modules with parts of the user's own, and files of theirs, that are not what they were, by their hashes."""
    changed = [name for name in before if now.get(name) != before[name]]
    return [f"{'file' if Path(name).is_absolute() else 'module'} {name} has changed" for name in changed]
