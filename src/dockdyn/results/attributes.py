"""What every result says of itself in its attributes, whatever its setup or study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dockdyn.installed import version
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.scenario.load import Scenario


def result_attributes(scenario: Scenario) -> dict[str, Any]:
    """Return what was asked, resolved, and of which version of dockdyn; where parts come from files and modules of the user's
    own, the names of these with their hashes, too."""
    own: dict[str, list[str]] = {}
    for name, digest in own_modules(scenario.content).items():
        own.setdefault(Path(name).name, []).append(digest)  # nobody else need know the folder
    return {
        "setup": scenario.setup,
        "title": scenario.title,
        "scenario": scenario.text(),
        "dockdyn_version": version("dockdyn"),
    } | ({"files": json.dumps(own)} if own else {})


def study_attributes(scenario: Scenario) -> dict[str, Any]:
    """Return those of `result_attributes`, and the file or preset that a study of the scenario is repeated with."""
    return result_attributes(scenario) | {"source": scenario.name}


def run_attributes(
    scenario: Scenario, status: str, finished: bool, integrator: str, wall_time: float
) -> dict[str, Any]:
    """Return those of `result_attributes`, and how a run ended.

    `status` says it in words, `integrator` by what method; `wall_time` is what the run took, s.
    """
    return result_attributes(scenario) | {
        "status": status,
        "finished": int(finished),
        "integrator": integrator,
        "wall_time_s": wall_time,
    }
