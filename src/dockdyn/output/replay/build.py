"""From a result to its replay."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import xarray as xr

from dockdyn.output.replay.scene import Scene
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import parse

KINDS = {
    "free-flight": "free_flight",
    "four-mass": "chains",
    "latch": "chains",
    "berthing": "berthing",
    "orbital-arm": "orbital_arm",
    "rig": "rig",
}  # module of each kind


def scene_of(dataset: xr.Dataset, folder: Path | None = None, name: str = "result") -> Scene:
    """The scene of a run. `folder` is where modules of the user's own laws and surfaces are looked for, too.

    Raises `ScenarioError` for what is not a run.
    """
    instead = not_a_run(dataset)
    if instead:
        raise ScenarioError(f"{name}: {instead}")
    content = parse(dataset.attrs["scenario"], name, folder=folder).content
    module = import_module(f"dockdyn.output.replay.{KINDS[str(dataset.attrs['kind'])]}")
    found: Scene = module.scene(dataset, content)
    return with_warnings(found)


def with_warnings(scene: Scene) -> Scene:
    """The scene with a warning for every body whose mesh could not be read and which is drawn plainly instead."""
    lost = [f"{part.name}: {part.missing}; drawn as a plain shape" for part in scene.parts if part.missing]
    return replace(scene, warnings=[*scene.warnings, *lost])


def not_a_run(dataset: xr.Dataset) -> str:
    """Why a result has nothing to replay, and what to do instead; empty for a run."""
    if "campaign" in dataset.attrs:
        return "a campaign has many runs and no replay; replay one: dockdyn campaign rerun FOLDER NUMBER"
    others = {"margins": "margins", "envelope": "an envelope", "tuned_at_N_m": "a comparison"}
    for key, what in others.items():
        if key in dataset.attrs:
            return f"holds {what}, no motion to replay; replay the result.nc of: dockdyn run SCENARIO"
    return ""


def replay_html(dataset: xr.Dataset) -> str:
    """The replay of a run as one HTML page that needs no network.

    `dataset` is what `dockdyn.simulate` or `dockdyn.open_result` gives. Raises `ScenarioError` for other results.
    """
    from dockdyn.output.replay.page import page_of

    return page_of(scene_of(dataset))
