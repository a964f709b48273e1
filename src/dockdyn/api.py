"""What can be done with every scenario, by it or its result alone: run, summary, replay."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dockdyn.dataset import Dataset, as_dataset
from dockdyn.report.notebook import Page, ShownAnswer
from dockdyn.results.requirements import judge_requirements
from dockdyn.results.store import result_from, run_from, study_of
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import number_from, path_from
from dockdyn.scenario.language.own_code import importable
from dockdyn.scenario.language.requirement import Requirement, requirements_of
from dockdyn.scenario.load import Scenario, parse, scenario_from
from dockdyn.scenario.sanity.check import check_numbers
from dockdyn.scenario.setups import setup_named

if TYPE_CHECKING:
    from dockdyn.dataset import GivenDataset
    from dockdyn.report.scene.scene import RunScene
    from dockdyn.results.drive import Progress
    from dockdyn.results.side_by_side import Stepper

HELD = {"stability": "margins", "envelope": "an envelope", "compare": "a comparison"}  # what studies have for a motion


def simulate(scenario: Scenario | str | Path, progress: Progress | None = None) -> Dataset:
    """Run a scenario, which may be given as a file or by the name of a preset.

    Returns a dataset with named dimensions, `units` and `long_name` on every variable, and the resolved scenario in its
    attributes. A run that stops early (not finite, too many events) returns what it had; `attrs["status"]` says so.
    `progress` is told the share of the duration that is done. Raises ScenarioError for what cannot be run.
    """
    scenario = scenario_from(scenario)
    try:
        dataset = as_dataset(setup_named(scenario.setup).simulate(scenario, progress))
    except np.linalg.LinAlgError as error:
        words = f"its matrices cannot be solved ({error}); masses, stiffnesses and lengths must be closer in size"
        raise ScenarioError(f"{scenario.name}: {words}") from None
    except ScenarioError as error:
        if str(error).startswith(f"{scenario.name}:"):
            raise
        raise ScenarioError(f"{scenario.name}: {error}") from None
    unusual = check_numbers(scenario)
    return dataset.assign_attrs(unusual_numbers="\n".join(unusual)) if unusual else dataset


def stepper(scenario: Scenario | str | Path, *, period: float | str | None = None, batch: int | None = None) -> Stepper:
    """Return a scenario that goes on one period at a time, told from outside what to do: bodies by commands, a rig by actions.

    `period`, in s or with its unit, is by default that of `[control]`, or that of a rig's compensator or dynamics. With a
    `batch` so many runs go on side by side, and all arrays have a leading axis. Raises ScenarioError for what cannot be
    stepped.
    """
    scenario = scenario_from(scenario)
    step = None if period is None else number_from(f"{scenario.name}: period", period, "s", "a period")
    return setup_named(scenario.setup).stepper(scenario, step, batch)


def summarise(dataset: GivenDataset | str | Path, name: str = "scenario") -> ShownAnswer:
    """Return contacts, energy, errors of conserved quantities, warnings, requirements. Keys carry their unit; plain Python
    types.

    A dictionary, which a notebook shows as a table. `dataset` is that of a run, or its file.

    Raises ScenarioError, which calls the scenario `name`, where a requirement does not fit the figures, and for what is no
    run.
    """
    dataset = run_from(dataset)
    summary = _within_range(setup_named(str(dataset.attrs["setup"])).summarise(dataset))
    summary["warnings"] = [*str(dataset.attrs.get("unusual_numbers", "")).splitlines(), *summary["warnings"]]
    return ShownAnswer(
        summary | {"requirements": judge_requirements(_stated_requirements(dataset, name), summary, name)}
    )


def _within_range(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the summary without the figures that are no numbers any more, such as energies that overflow; a warning names
    them."""
    lost = []

    def finite(value: Any, name: str) -> Any:  # noqa: ANN401, what JSON holds
        if isinstance(value, dict):
            return {key: finite(item, f"{name}.{key}".removeprefix(".")) for key, item in value.items()}
        if isinstance(value, list):
            return [finite(item, f"{name}.{index}") for index, item in enumerate(value)]
        if isinstance(value, float) and not math.isfinite(value):
            lost.append(name)
            return None
        return value

    kept = finite(summary, "")
    if lost:
        names = ", ".join(lost[:3]) + (f" and {len(lost) - 3} more" if len(lost) > 3 else "")
        kept["warnings"].append(f"beyond the range of numbers, so left out: {names}")
    return kept


def _stated_requirements(dataset: Dataset, name: str = "scenario") -> tuple[Requirement, ...]:
    """Return the requirements of the scenario that was run."""
    return requirements_of(tomllib.loads(dataset.attrs["scenario"]).get("requirements", {}), name)


def scene_of(dataset: Dataset, folder: Path | None = None, name: str = "result", content: object = None) -> RunScene:
    """Return the scene of a run. `folder` is where modules of the user's own laws and surfaces are looked for.

    `scenario_of_run` says where. `content` is that of its scenario, which is read from the result where it is not given.

    Raises `ScenarioError` for what is not a run.
    """
    instead = _not_a_run(dataset)
    if instead:
        raise ScenarioError(f"{name}: {instead}")
    from dockdyn.report.scene.drawable import can_be_drawn, drawable_part

    shown, cut = drawable_part(dataset)
    if not shown.sizes["time"]:
        raise ScenarioError(f"{name}: cannot be replayed; {cut}")
    of_run = scenario_of_run(dataset, folder, name).content if content is None else content
    found = setup_named(str(dataset.attrs["setup"])).scene(shown, of_run)
    if not can_be_drawn(found):
        raise ScenarioError(f"{name}: cannot be replayed; its numbers are not finite or too large to draw")
    if cut:
        found = replace(found, notes=[*found.notes, cut])
    return found


def scenario_of_run(dataset: Dataset, folder: Path | None = None, name: str = "result") -> Scenario:
    """Return the scenario of a run. Modules of the user's own are looked for in `folder`, in the one above it, where
    the scenario is when a run names its own folder, and in the working folder."""
    if folder is None and dataset.encoding.get("source"):
        folder = Path(dataset.encoding["source"]).parent
    above = None if folder is None else folder.resolve().parent
    with importable(above):
        return parse(dataset.attrs["scenario"], name, folder=folder)


def _not_a_run(dataset: Dataset) -> str:
    """Return why a result has nothing to replay, and what to do instead; empty for a run."""
    study = study_of(dataset)
    if study == "campaign":
        return "a campaign has many runs and no replay; replay one: dockdyn campaign rerun FOLDER NUMBER"
    if study is not None:
        return f"holds {HELD[study]}, no motion to replay; replay the result.nc of: dockdyn run SCENARIO"
    return ""


def replay_html(dataset: GivenDataset | str | Path, folder: str | Path | None = None) -> Page:
    """Return the replay of a run as one HTML page that needs no network: a text, which a notebook shows in a frame.

    `dataset` is what `dockdyn.simulate` or `dockdyn.open_result` gives, or a file. Modules of the user's own laws and
    surfaces are looked for in `folder`, by default that of the file the result was read from, in the one above and in the
    working folder. Raises `ScenarioError` for other results.
    """
    from dockdyn.report.scene.page import page_of

    dataset, folder = result_from(dataset), None if folder is None else path_from("folder", folder)
    return Page(page_of(scene_of(dataset, folder)))
