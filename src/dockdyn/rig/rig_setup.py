"""A rig as a scenario sets it up: a mechanism, two of whose bodies meet in hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.docking.setup import Setup
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    from pathlib import Path

    from dockdyn.dataset import Dataset
    from dockdyn.docking.resting import Resting
    from dockdyn.report.report import Report
    from dockdyn.report.scene.scene import RunScene
    from dockdyn.results.drive import Progress
    from dockdyn.results.driver import Driver
    from dockdyn.results.functional_unit import FunctionalUnit
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.results.side_by_side import Stepper
    from dockdyn.rig.schema import RigContent
    from dockdyn.scenario.load import Scenario


class RigSetup(Setup):
    """A rig: sensor, virtual spacecraft, compensator, robot, beside the contact that it should show."""

    name: ClassVar = "rig"
    marker: ClassVar = "ideal_force"
    along_normal: ClassVar = True

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.docking.schema.motions import schema_by_motion
        from dockdyn.rig.schema import MECHANISMS

        return schema_by_motion(data, name, MECHANISMS)

    def schemas(self) -> list[type[Section]]:
        from dockdyn.docking.schema.motions import different_schemas
        from dockdyn.rig.schema import MECHANISMS

        return different_schemas(MECHANISMS)

    def prepare(self, data: dict[str, Any], name: str, folder: Path | None) -> dict[str, Any]:
        from dockdyn.docking.schema.urdf import with_urdf

        return data if data.get("motion") == "line" else with_urdf(data, name, folder)

    def simulate(self, scenario: Scenario, progress: Progress | None) -> Dataset:
        from dockdyn.results.overlap import refuse_overlap
        from dockdyn.rig.simulate import simulate_rig

        self.refuse_requirements(scenario)
        refuse_overlap(scenario)
        return simulate_rig(scenario, progress)

    def refuse_requirements(self, scenario: Scenario) -> None:
        from dockdyn.rig.figures import refuse_unknown_requirements

        refuse_unknown_requirements(scenario)

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.results.overlap import refuse_overlap
        from dockdyn.rig.linearised import linearised_rig

        refuse_overlap(scenario)
        return linearised_rig(scenario)

    def summarise(self, dataset: Dataset) -> dict[str, Any]:
        from dockdyn.rig.summary import summarise_rig

        return summarise_rig(dataset)

    def report(self, dataset: Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.rig.report import rig_report

        return rig_report(dataset, summary)

    def scene(self, dataset: Dataset, content: RigContent) -> RunScene:
        from dockdyn.rig.scene import scene_of_rig

        return scene_of_rig(dataset, content)

    def live_run(self, scenario: Scenario, summary: dict[str, Any]) -> dict[str, Any]:
        from dockdyn.rig.live import live_rig_data

        return live_rig_data(scenario, summary)

    def tuned(self, scenario: Scenario) -> Scenario:
        from dockdyn.rig.compensator import with_tuned_compensator

        return with_tuned_compensator(scenario)

    def growth_of_small_motions(self, scenario: Scenario) -> float | None:
        from dockdyn.rig.compensator import growth_of_run

        return growth_of_run(scenario)

    def left_out_of_margins(self, content: RigContent) -> list[str]:
        of_axes = "the robot along the normal is taken to be that of loop.robot; those of single axes are left out"
        found = [of_axes] if content.loop.robot is not None and content.loop.robot.of_axes() else []
        return [*found, *super().left_out_of_margins(content)]

    def stated_limits(self, content: RigContent) -> list[str]:
        from dockdyn.rig.limits import stated_limits

        return stated_limits(content)

    def stepper(self, scenario: Scenario, period: float | None, batch: int | None) -> Stepper:
        from dockdyn.rig.stepping import RigStepper

        return RigStepper(scenario, period, batch)

    def driver(self, scenario: Scenario) -> Driver:
        from dockdyn.results.overlap import refuse_overlap
        from dockdyn.rig.driven import driver_of

        refuse_overlap(scenario)
        return driver_of(scenario)

    def functional_unit(self, scenario: Scenario, integrated: bool) -> FunctionalUnit:
        from dockdyn.results.overlap import refuse_overlap
        from dockdyn.rig.functional_unit import rig_unit

        if not integrated:
            raise ScenarioError(f"{scenario.name}: a rig goes from instant to instant; must be for co-simulation")
        refuse_overlap(scenario)
        return rig_unit(scenario)

    def computer_unit(self, scenario: Scenario) -> FunctionalUnit:
        from dockdyn.results.overlap import refuse_overlap
        from dockdyn.rig.functional_unit import computer_unit

        refuse_overlap(scenario)
        return computer_unit(scenario)

    def resting(self, name: str, content: RigContent) -> Resting:
        from dockdyn.rig.resting import OF_MOCK_UPS

        return OF_MOCK_UPS
