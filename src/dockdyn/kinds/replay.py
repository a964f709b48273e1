"""From a result to its replay."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import xarray as xr

from dockdyn.report.replay.drawable import can_be_drawn, drawable
from dockdyn.report.replay.scene import Scene
from dockdyn.results.store import study_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.own_code import importable
from dockdyn.scenario.load import parse

KINDS = {
    "free-flight": "free_flight",
    "four-mass": "chains",
    "latch": "chains",
    "berthing": "berthing",
    "orbital-arm": "orbital_arm",
    "rig": "rig",
}  # module of each kind
HELD = {"stability": "margins", "envelope": "an envelope", "compare": "a comparison"}  # what studies have for a motion


def scene_of(dataset: xr.Dataset, folder: Path | None = None, name: str = "result") -> Scene:
    """The scene of a run. `folder` is where modules of the user's own laws and surfaces are looked for (`parsed`).

    Raises `ScenarioError` for what is not a run.
    """
    instead = not_a_run(dataset)
    if instead:
        raise ScenarioError(f"{name}: {instead}")
    shown, cut = drawable(dataset)
    if not shown.sizes["time"]:
        raise ScenarioError(f"{name}: cannot be replayed; {cut}")
    content = parsed(dataset, folder, name)
    module = import_module(f"dockdyn.report.replay.{KINDS[str(dataset.attrs['kind'])]}")
    found: Scene = module.scene(shown, content)
    if not can_be_drawn(found):
        raise ScenarioError(f"{name}: cannot be replayed; its numbers are not finite or too large to draw")
    if cut:
        found = replace(found, notes=[*found.notes, cut])
    return with_warnings(found)


def parsed(dataset: xr.Dataset, folder: Path | None, name: str) -> Any:
    """The content of a run's scenario. Modules of the user's own are looked for in `folder`, in the one above it, where
    the scenario is when a run names its own folder, and in the working folder."""
    if folder is None and dataset.encoding.get("source"):
        folder = Path(dataset.encoding["source"]).parent
    above = None if folder is None else folder.resolve().parent
    with importable(above):
        return parse(dataset.attrs["scenario"], name, folder=folder).content


def with_warnings(scene: Scene) -> Scene:
    """The scene with a warning for every body whose mesh could not be read and which is drawn plainly instead."""
    lost = [f"{part.name}: {part.missing}; drawn as a plain shape" for part in scene.parts if part.missing]
    return replace(scene, warnings=[*scene.warnings, *lost])


def not_a_run(dataset: xr.Dataset) -> str:
    """Why a result has nothing to replay, and what to do instead; empty for a run."""
    study = study_of(dataset)
    if study == "campaign":
        return "a campaign has many runs and no replay; replay one: dockdyn campaign rerun FOLDER NUMBER"
    if study is not None:
        return f"holds {HELD[study]}, no motion to replay; replay the result.nc of: dockdyn run SCENARIO"
    return ""


def replay_html(dataset: xr.Dataset, folder: Path | None = None) -> str:
    """The replay of a run as one HTML page that needs no network.

    `dataset` is what `dockdyn.simulate` or `dockdyn.open_result` gives. Modules of the user's own laws and surfaces are
    looked for in `folder`, by default that of the file the result was read from, in the one above and in the working
    folder. Raises `ScenarioError` for other results.
    """
    from dockdyn.report.replay.page import page_of

    return page_of(scene_of(dataset, folder))
