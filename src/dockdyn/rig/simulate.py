"""One run on a rig."""

from __future__ import annotations

import json
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.results.drive import Progress
from dockdyn.rig.build import rig_of
from dockdyn.rig.comparison.choice import NONE
from dockdyn.rig.comparison.store import load_comparison
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.data import dataset_of
from dockdyn.rig.resting import loop_of
from dockdyn.rig.run import radius_of_cycle_map, simulate_course
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.compensators import facts_of


def simulate_rig(scenario: Scenario, progress: Progress | None = None) -> Dataset:
    """Run a scenario of a rig; what `simulate` returns.

    Raises ScenarioError for a rig without contact within the duration, without hold, or whose periods never meet.
    """
    loop = loop_of(scenario)
    maker = CompensatorMaker(scenario, loop)
    section = maker.complete(scenario.content.loop.compensator)
    rig = rig_of(scenario, loop, maker.make(section), None if section is None else section.period)
    found = simulate_course(scenario, rig, progress)
    settings = {} if section is None else section.model_dump(exclude_none=True)
    facts: dict[str, Any] = {
        "compensator": NONE if section is None else section.law,
        "compensator_law": json.dumps(None if section is None else facts_of(section.made)),
        "compensator_settings": json.dumps(settings),
        "comparison": json.dumps(last_choice(scenario, NONE if section is None else section.law, settings)),
        "spectral_radius": radius_of_cycle_map(rig, loop),
    }
    return dataset_of(scenario, rig, loop, found, facts)


def last_choice(scenario: Scenario, law: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the last comparison of this rig chose, and which of the compared the run's compensator is; None without one.

    A law that was compared with other settings is none of them.
    """
    found = load_comparison(scenario)
    if found is None:
        return None
    return {"choice": found["choice"], "own": law if found["settings"].get(law) == settings else None}
