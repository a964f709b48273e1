"""An FMU beside the run of its scenario: what a validator finds, and how far its outputs are from those of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dockdyn.api import simulate
from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.exchange.fmu import INSIDE, unit_of
from dockdyn.records import record
from dockdyn.results.drive import Progress
from dockdyn.results.exchange.fmu_archive import text_in
from dockdyn.results.exchange.fmu_instance import Fmu, findings_of
from dockdyn.results.functional_unit import Output
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given_file import SCENARIO
from dockdyn.scenario.language.keys import value_at
from dockdyn.scenario.load import Scenario, parse


@record
class Difference:
    """A variable of the results: how large it becomes in the run, and the largest difference of the FMU's outputs from it."""

    variable: str
    unit: str
    largest: float
    difference: float
    time: float  # s, at which that is


@record
class Checked:
    """What a check has found."""

    findings: list[str]  # of the validator
    differences: list[Difference]  # the largest relative one first
    steps: int
    end: float  # s


def scenario_inside(file: Path) -> Scenario:
    """Return the scenario that an FMU of dockdyn was made from. Raises ScenarioError where there is none."""
    text = text_in(file, INSIDE, SCENARIO.most)
    if text is None:
        raise ScenarioError(f"{file}: has no scenario of dockdyn inside; name the one that it shall be like")
    return parse(text, str(file))


def check_fmu(file: Path, scenario: Scenario | None = None, progress: Progress | None = None) -> Checked:
    """Validate an FMU and run it beside a scenario, by default the one inside it, from instant to instant of the results.

    The FMU is given the scenario's numbers. Raises ScenarioError for what is no FMU, or has not the scenario's outputs.
    """
    findings = findings_of(file)
    scenario = scenario_inside(file) if scenario is None else scenario
    dataset = simulate(scenario)
    if not dataset.attrs["finished"]:
        raise ScenarioError(f"{scenario.name}: the run {dataset.attrs['status']}; must run to its end")
    outputs = unit_of(scenario).outputs
    times, found = run_beside(file, scenario, outputs, dataset, progress)
    rows = sorted(_output_differences(outputs, dataset, found), key=lambda one: -one.difference / (one.largest or 1.0))
    return Checked(findings, rows, len(times) - 1, float(times[-1]))


def run_beside(
    file: Path, scenario: Scenario, outputs: Sequence[Output], dataset: Dataset, progress: Progress | None = None
) -> tuple[Float[np.ndarray, "times"], dict[str, Float[np.ndarray, "times"]]]:
    """Return the outputs of an FMU with a scenario's numbers at the instants of a run, by name."""
    times = np.asarray(dataset["time"].values, float)
    with Fmu(file) as fmu:
        names = [one.name for one in outputs]
        if missing := [name for name in names if name not in fmu.named("output")]:
            raise ScenarioError(f"{file}: has no output {missing[0]}, which {scenario.name} has")
        numbers = {key: value_at(scenario.content, key, scenario.name).value for key in fmu.named("parameter")}
        if not fmu.steps:
            return times, fmu.integrated(numbers, names, times)
        running = fmu.instance(numbers, float(times[0]))
        rows = [running.read(names)]
        for count, time in enumerate(times[1:], 1):
            running.step_to(float(time))
            rows.append(running.read(names))
            if progress is not None:
                progress(count / (len(times) - 1))
        running.close()
    return times, dict(zip(names, np.array(rows).T, strict=True))


def _output_differences(
    outputs: Sequence[Output], dataset: Dataset, found: dict[str, Float[np.ndarray, "times"]]
) -> Iterator[Difference]:
    """Yield one for each variable that the results have over time."""
    times = np.asarray(dataset["time"].values, float)
    for variable in dict.fromkeys(output.variable for output in outputs if output.variable in dataset):
        own = [output for output in outputs if output.variable == variable]
        values = np.moveaxis(np.asarray(dataset[variable].values, float), 0, -1)
        expected = np.stack([values[output.place] for output in own])
        apart = np.abs(np.array([found[output.name] for output in own]) - expected).max(axis=0)
        last = int(np.argmax(apart))
        yield Difference(variable, own[0].unit, float(np.abs(expected).max()), float(apart[last]), float(times[last]))
