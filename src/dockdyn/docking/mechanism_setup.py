"""A mechanism as a scenario sets it up: bodies, groups of contacts between any two, delay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.docking.setup import Setup
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    from pathlib import Path

    from dockdyn.dataset import Dataset
    from dockdyn.docking.resting import Resting
    from dockdyn.docking.schema.mechanism import MechanismSection
    from dockdyn.docking.stepping import MechanismStepper
    from dockdyn.report.report import Report
    from dockdyn.report.scene.scene import RunScene
    from dockdyn.results.drive import Progress
    from dockdyn.results.functional_unit import FunctionalUnit
    from dockdyn.results.key_figures import LocatedFigures
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.scenario.load import Scenario


class MechanismSetup(Setup):
    """Any number of bodies in contact."""

    name: ClassVar = "mechanism"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.docking.schema.motions import MECHANISMS, schema_by_motion

        return schema_by_motion(data, name, MECHANISMS)

    def schemas(self) -> list[type[Section]]:
        from dockdyn.docking.schema.motions import MECHANISMS, different_schemas

        return different_schemas(MECHANISMS)

    def prepare(self, data: dict[str, Any], name: str, folder: Path | None) -> dict[str, Any]:
        from dockdyn.docking.schema.urdf import with_urdf

        return data if data.get("motion") == "line" else with_urdf(data, name, folder)

    def simulate(self, scenario: Scenario, progress: Progress | None) -> Dataset:
        from dockdyn.docking.data import describe_run
        from dockdyn.docking.delay_prediction import predicted_unstable
        from dockdyn.docking.regulators import with_gain
        from dockdyn.results.contact_run import simulate_contacts

        self.refuse_requirements(scenario)
        return simulate_contacts(scenario, progress, describe_run, predicted_unstable, with_gain)

    def refuse_requirements(self, scenario: Scenario) -> None:
        from dockdyn.docking.key_figures import refuse_unknown_requirements

        refuse_unknown_requirements(scenario, self.key_figures().figures)

    def begin(self, scenario: Scenario) -> Dataset | None:
        from dockdyn.docking.data import describe_run
        from dockdyn.docking.regulators import with_gain
        from dockdyn.results.contact_run import begin_contacts

        return begin_contacts(with_gain(scenario), describe_run)

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.docking.data import describe_run
        from dockdyn.results.contact_run import linearised_contacts
        from dockdyn.results.overlap import refuse_overlap

        refuse_overlap(scenario)
        return linearised_contacts(scenario, describe_run)

    def summarise(self, dataset: Dataset) -> dict[str, Any]:
        from dockdyn.docking.key_figures import capture_rows, member_summary
        from dockdyn.docking.run_warnings import mechanism_doubts, required_peak_doubts
        from dockdyn.docking.sampled_forces import sampling_doubts, sampling_summary
        from dockdyn.results.contact_summary import summarise_contacts
        from dockdyn.results.control.arm import arm_summary, arm_warnings
        from dockdyn.results.energy_class import energy_summary

        summary = summarise_contacts(dataset, self.key_figures().figures)
        summary |= energy_summary(dataset, summary) | member_summary(dataset) | arm_summary(dataset)
        summary |= sampling_summary(dataset) | {"captures": capture_rows(dataset)}
        doubts = [*arm_warnings(dataset), *mechanism_doubts(dataset), *sampling_doubts(dataset, summary)]
        doubts += required_peak_doubts(dataset, summary["peak_force_N"])
        return summary | {"warnings": [*summary["warnings"], *doubts]}

    def stated_limits(self, content: Any) -> list[str]:  # noqa: ANN401, of its motion
        from dockdyn.results.control.budget import actuator_limits

        return [] if content.control is None else [f"control.{key}" for key in actuator_limits(content.control)]

    def report(self, dataset: Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.docking.views.report import mechanism_report

        return mechanism_report(dataset, summary)

    def scene(self, dataset: Dataset, content: Any) -> RunScene:  # noqa: ANN401, of its motion
        from dockdyn.docking.views.scene import mechanism_scene

        if content.motion == "line":
            from dockdyn.docking.views.scene_line import scene_on_line

            return scene_on_line(dataset, content)
        return mechanism_scene(dataset, content)

    def key_figures(self) -> LocatedFigures:
        from dockdyn.docking.key_figures import MECHANISM

        return MECHANISM

    def runs_in_batches(self, scenario: Scenario) -> bool:
        from dockdyn.results.plan import with_events

        return with_events(scenario.content) and scenario.content.coupling() is None

    def not_in_pages(self, scenario: Scenario) -> str:
        from dockdyn.docking.schema.control import ArmSteeringSection
        from dockdyn.results.plan import with_events

        control, method = scenario.content.control, scenario.content.integrator.method
        if not with_events(scenario.content):
            return f"integrator.method = {method} runs in Python only; located, fixed and variational run in pages, too"
        if scenario.content.coupling() is not None:
            return "[control] is an FMU, which runs outside of pages"
        if isinstance(control, ArmSteeringSection) and control.law == "lqr" and control.gain is None:
            return "its gain is designed anew for other numbers"
        return ""

    def live_run(self, scenario: Scenario, summary: dict[str, Any]) -> dict[str, Any]:
        from dockdyn.docking.data import energy_effects
        from dockdyn.report.live import live_data
        from dockdyn.results.key_figures import left_out

        known = self.key_figures()
        live = live_data(scenario, summary, known.figures, left_out(known.figures, known.stated(scenario.content)))
        # which contacts take and give energy is told again where it is told at all, or would be of the first, and nothing but
        # forces acts between them
        content, classes = scenario.content, summary["energy_class"]
        struck = any(one.impact is not None for one in content.contacts)
        told = any(classes) or (not (classes or content.latch) and content.only_contacts())
        told = told and not struck and "latch.seat_peak_force_N" not in summary
        return live | ({"effects": energy_effects(content)} if told else {})

    def can_capture(self, scenario: Scenario) -> bool:
        return bool(scenario.content.latch)

    def ended_by_capture(self, scenario: Scenario) -> Scenario:
        latches = scenario.content.latch
        return scenario.at({f"{one.path}.ends_run": True for one in latches}) if latches else scenario

    def stepper(self, scenario: Scenario, period: float | None, batch: int | None) -> MechanismStepper:
        from dockdyn.docking.stepping import MechanismStepper

        return MechanismStepper(scenario, period, batch)

    def functional_unit(self, scenario: Scenario, integrated: bool) -> FunctionalUnit:
        from dockdyn.docking.functional_unit import mechanism_unit
        from dockdyn.docking.impossible_impacts import EXCHANGE, refuse_impacts, refuse_memory
        from dockdyn.results.overlap import refuse_overlap

        refuse_overlap(scenario)
        if not integrated:
            refuse_impacts(scenario.name, scenario.content, EXCHANGE)
            refuse_memory(scenario.name, scenario.content)
        unit = mechanism_unit(scenario)
        return unit.integrated() if integrated else unit.equations()

    def resting(self, name: str, content: MechanismSection) -> Resting:
        from dockdyn.docking.impossible_impacts import MARGINS, refuse_impacts
        from dockdyn.docking.resting import Resting

        refuse_impacts(name, content, MARGINS)
        return Resting()
