"""The last comparison of each rig, kept in the user's cache folder, so that a run can say what it found.

A rig is its resolved scenario without title, requirements, and what stands in the place of its compensator; and the
version of dockdyn, and the source of laws of the user's own.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from dockdyn import kept
from dockdyn.installed import version
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.scenario.load import Scenario

BESIDES = ("title", "compare", "requirements", "campaign")  # tables that do not make it another rig


def comparison_folder() -> Path:
    """Return where comparisons are kept."""
    return kept.cache_root() / "comparisons"


def _name_of(scenario: Scenario) -> str:
    """Return the name under which a rig's comparison is kept."""
    rig = {key: value for key, value in scenario.nominal().items() if key not in BESIDES}
    rig["loop"] = {key: value for key, value in rig.get("loop", {}).items() if key != "compensator"}
    parts = [version("dockdyn"), rig, own_modules(scenario.content)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def store_comparison(scenario: Scenario, found: dict[str, Any]) -> None:
    """Keep what a comparison of a rig found, in the place of an earlier one; nothing happens where that cannot be written."""
    kept.keep_entry(comparison_folder(), _name_of(scenario), json.dumps(found).encode())


def load_comparison(scenario: Scenario) -> dict[str, Any] | None:
    """Return what the last comparison of a rig found; None where there is none, or it cannot be read."""
    stored = kept.find_entry(comparison_folder(), _name_of(scenario))
    found = None if stored is None else json.loads(stored)
    return found if isinstance(found, dict) and {"choice", "settings"} <= found.keys() else None
