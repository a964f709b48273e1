"""One run on a rig."""

from __future__ import annotations

import json
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.results.drive import Progress
from dockdyn.rig.comparison.store import load_comparison
from dockdyn.rig.compensator import join_rig
from dockdyn.rig.data import dataset_of
from dockdyn.rig.rig_theory import add_judgement
from dockdyn.rig.run import simulate_course
from dockdyn.scenario.load import Scenario


def simulate_rig(scenario: Scenario, progress: Progress | None = None) -> Dataset:
    """Run a scenario of a rig; what `simulate` returns.

    Raises ScenarioError for a rig without contact within the duration, without hold, or whose periods never meet.
    """
    joined = join_rig(scenario)
    found, facts = simulate_course(scenario, joined.rig, progress), joined.facts()
    settings = json.loads(facts["compensator_settings"])
    facts["comparison"] = json.dumps(last_choice(scenario, facts["compensator"], settings))
    dataset = dataset_of(scenario, joined.rig, joined.loop, found, facts)
    return add_judgement(scenario, joined.loop, dataset)


def last_choice(scenario: Scenario, law: str, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the last comparison of this rig chose, and which of the compared the run's compensator is; None without one.

    A law that was compared with other settings is none of them.
    """
    found = load_comparison(scenario)
    if found is None:
        return None
    return {"choice": found["choice"], "own": law if found["settings"].get(law) == settings else None}
