"""One run of the kind `rig`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import xarray as xr

from dockdyn.scenario.load import Scenario
from dockdyn.study.rig_build import rig_of
from dockdyn.study.rig_compensator import Maker
from dockdyn.study.rig_data import dataset_of
from dockdyn.study.rig_run import course, loop_of, radius

NONE = "none"


def simulate_rig(scenario: Scenario, progress: Callable[[float], None] | None = None) -> xr.Dataset:
    """Run a scenario of kind `rig`; what `simulate` returns.

    Raises ScenarioError for a rig without contact within the duration, without hold, or whose periods never meet.
    """
    loop = loop_of(scenario)
    maker = Maker(scenario, loop)
    section = maker.complete(scenario.content.loop.compensator)
    rig = rig_of(scenario, loop, maker.make(section), None if section is None else section.period)
    if progress is not None:
        progress(0.1)
    found = course(scenario, rig)
    facts: dict[str, Any] = {
        "compensator": NONE if section is None else section.law,
        "compensator_settings": json.dumps({} if section is None else section.model_dump(exclude_none=True)),
        "spectral_radius": radius(rig, loop),
    }
    return dataset_of(scenario, rig, loop, found, facts)
