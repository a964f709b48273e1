"""What a scenario sets up, a mechanism alone or with a rig around it: how it is checked, run and reported."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    from dockdyn.dataset import Dataset
    from dockdyn.docking.resting import Resting
    from dockdyn.report.report import Report
    from dockdyn.report.scene.scene import RunScene
    from dockdyn.results.drive import Progress
    from dockdyn.results.driver import Driver
    from dockdyn.results.functional_unit import FunctionalUnit
    from dockdyn.results.key_figures import LocatedFigures
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.results.side_by_side import Stepper
    from dockdyn.scenario.load import Scenario


class Setup(abc.ABC):
    """What a scenario sets up, a mechanism or a rig around one; what only one of them can do is a method here.

    Nothing outside their rooms asks for the name.

    Methods import what they need themselves, so that a setup is quick to load.
    """

    name: ClassVar[str]  # as results have it
    marker: ClassVar[str] = "episode_onset"  # a variable that every result of a run has
    along_normal: ClassVar[bool] = False  # margins are of one contact normal, whatever else the bodies can do

    @abc.abstractmethod
    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        """Return what checks the tables `data` of a scenario called `name`; raises ScenarioError where that cannot be told."""

    def schemas(self) -> list[type[Section]]:
        """Return everything that can check a scenario of this setup; several where a key decides which."""
        return [self.schema({}, self.name)]

    def prepare(self, data: dict[str, Any], name: str, folder: Path | None) -> dict[str, Any]:
        """Return the tables `data` with what other files in `folder` say, such as a URDF file."""
        return data

    @abc.abstractmethod
    def simulate(self, scenario: Scenario, progress: Progress | None) -> Dataset:
        """Return the dataset of a run; `progress` is told the share of the duration that is done. Raises ScenarioError."""

    @abc.abstractmethod
    def summarise(self, dataset: Dataset) -> dict[str, Any]:
        """Return the figures of a run by name, each with its unit; lists and plain numbers."""

    @abc.abstractmethod
    def report(self, dataset: Dataset, summary: dict[str, Any]) -> Report:
        """Return what the page and the terminal say of a run, mostly by `dockdyn.report.report.run_report`."""

    @abc.abstractmethod
    def scene(self, dataset: Dataset, content: Any) -> RunScene:  # noqa: ANN401, of its own schema
        """Return what the replay of a run shows; `content` is that of its scenario."""

    @abc.abstractmethod
    def refuse_requirements(self, scenario: Scenario) -> None:
        """Raise ScenarioError for a requirement on a figure that is known before a run to be none of its."""

    def begin(self, scenario: Scenario) -> Dataset | None:
        """Return the first samples of a run, whose bodies may overlap; None where a run is not made sample by sample."""
        return None

    # capabilities, which studies ask for, and runs

    def key_figures(self) -> LocatedFigures | None:
        """Return the key figures of runs, each defined once, of which batches and derivatives know too; None: only
        summaries."""
        return None

    @abc.abstractmethod
    def linearised(self, scenario: Scenario) -> LinearisedRun:
        """Return a run with its derivatives by the numbers of the scenario; raises ScenarioError where there is none."""

    def runs_in_batches(self, scenario: Scenario) -> bool:
        """Return whether the cases of a campaign run in compiled batches; only of a setup with `key_figures`."""
        return False

    def not_in_pages(self, scenario: Scenario) -> str:
        """Return why a page cannot run the scenario again with other numbers; empty where it can."""
        return ""

    @abc.abstractmethod
    def live_run(self, scenario: Scenario, summary: dict[str, Any]) -> dict[str, Any]:
        """Return what a page runs the scenario by again, beside the `summary` of its run, as JSON has it. Raises TooMuch, and
        Untranslatable where XLA computes a part."""

    def tuned(self, scenario: Scenario) -> Scenario:
        """Return the scenario with what it leaves to tuning, where margins count it."""
        return scenario

    def growth_of_small_motions(self, scenario: Scenario) -> float | None:
        """Return the growth rate (1/s) of small motions in contact as the run begins, with whatever law it has.

        It is that of the map of what runs; None where no such map is computed.
        """
        return None

    def can_capture(self, scenario: Scenario) -> bool:
        """Return whether anything in the scenario could capture."""
        return True

    @abc.abstractmethod
    def stepper(self, scenario: Scenario, period: float | None, batch: int | None) -> Stepper:
        """Return what advances the scenario one period of control at a time; raises ScenarioError where nothing steers it
        so."""

    def driver(self, scenario: Scenario) -> Driver:
        """Return what a computer needs to drive the rig of the scenario; raises ScenarioError where there is none to drive."""
        raise ScenarioError(f"{scenario.name}: rig: missing; without a [rig] there are no devices to drive")

    @abc.abstractmethod
    def functional_unit(self, scenario: Scenario, integrated: bool) -> FunctionalUnit:
        """Return the scenario as what another program advances; it is `integrated` inside, or by that program. Raises
        ScenarioError where it cannot be one."""

    def computer_unit(self, scenario: Scenario) -> FunctionalUnit:
        """Return the computer of the scenario's rig as what another program advances. Raises ScenarioError where there is
        none."""
        raise ScenarioError(f"{scenario.name}: rig: missing; without a [rig] there is no computer that drives devices")

    def ended_by_capture(self, scenario: Scenario) -> Scenario:
        """Return the scenario with runs that end when its latch falls in, where it can say so."""
        return scenario

    def left_out_of_margins(self, content: Any) -> list[str]:  # noqa: ANN401, of its own schema
        """Return what of a scenario's `content`, besides its loop, margins leave out, each in words."""
        if not (limits := self.stated_limits(content)):
            return []
        verb = "is" if len(limits) == 1 else "are"
        return [f"{' and '.join(limits)} {verb} left out: margins are of motions too small to reach limits"]

    def stated_limits(self, content: Any) -> list[str]:  # noqa: ANN401, of its own schema
        """Return the keys of what holds back what a robot, a sensor or control gives."""
        return []

    @abc.abstractmethod
    def resting(self, name: str, content: Any) -> Resting:  # noqa: ANN401, of its own schema
        """Return how contacts rest where the loop of the scenario called `name`, with this `content`, is judged; raises
        ScenarioError where there is no delayed loop, as for a mechanism without delay."""
