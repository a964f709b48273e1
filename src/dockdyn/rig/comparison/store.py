"""The last comparison of each rig, kept in the user's cache folder, so that a run can say what it found; and what each
compensator did in comparisons, so that another one computes only what is new in it.

A rig is its resolved scenario without title, requirements, and what stands in the place of its compensator; and the
version of dockdyn, and the source of laws of the user's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn import backend, kept
from dockdyn.installed import version
from dockdyn.records import record
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw
from dockdyn.translate.store import name_of

BESIDES = ("title", "compare", "requirements", "campaign")  # tables that do not make it another rig


def comparison_folder() -> Path:
    """Return where comparisons are kept."""
    return kept.cache_root() / "comparisons"


def _name_of(scenario: Scenario) -> str:
    """Return the name under which a rig's comparison is kept."""
    rig = _tables_of(scenario)
    rig["loop"] = {key: value for key, value in rig.get("loop", {}).items() if key != "compensator"}
    parts = [version("dockdyn"), rig, own_modules(scenario.content)]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _tables_of(scenario: Scenario) -> dict[str, Any]:
    return {key: value for key, value in scenario.nominal().items() if key not in BESIDES}


def store_comparison(scenario: Scenario, found: dict[str, Any]) -> None:
    """Keep what a comparison of a rig found, in the place of an earlier one; nothing happens where that cannot be written."""
    kept.keep_entry(comparison_folder(), _name_of(scenario), json.dumps(found).encode())


def load_comparison(scenario: Scenario) -> dict[str, Any] | None:
    """Return what the last comparison of a rig found; None where there is none, or it cannot be read."""
    stored = kept.find_entry(comparison_folder(), _name_of(scenario))
    found = None if stored is None else json.loads(stored)
    return found if isinstance(found, dict) and {"choice", "settings"} <= found.keys() else None


@record
class ComparedLaw:
    """What a rig with one compensator did at every stiffness."""

    values: dict[str, list[float]]  # by variable of the comparison, over stiffness; of `wall_time` one
    limited: dict[str, dict[str, float]]  # by key of a limit and lane: when (s) a run first reached it

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: np.array(values) for name, values in self.values.items()}


class ComparedLaws:
    """What compensators did on a rig over stiffnesses (N/m), by their complete tables."""

    def __init__(self, scenario: Scenario, stiffnesses: Sequence[float]):
        self.rig = (backend.is_native(), _tables_of(scenario), own_modules(scenario.content), list(stiffnesses))

    def _name_of(self, table: CompensatorLaw | None) -> str:
        return name_of(("compared", *self.rig, None if table is None else table.model_dump()))

    def load(self, table: CompensatorLaw | None) -> ComparedLaw | None:
        """Return what this version of dockdyn has found with a compensator; None where it has not, or it cannot be read."""
        stored = kept.find_entry(comparison_folder(), self._name_of(table))
        return None if stored is None else ComparedLaw(**json.loads(stored))

    def store(self, table: CompensatorLaw | None, found: ComparedLaw) -> None:
        """Keep what was found with a compensator; nothing happens where that cannot be written."""
        kept.keep_entry(comparison_folder(), self._name_of(table), json.dumps(asdict(found)).encode())
