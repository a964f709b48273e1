"""The kind `free-flight`: two rigid bodies in space, contacts between them, a latch, control, delay in the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    import xarray as xr

    from dockdyn.kinds.free_flight.schema import FreeFlightSection
    from dockdyn.kinds.resting import Resting
    from dockdyn.kinds.stepping import MechanismStepper
    from dockdyn.report.replay.scene import Scene
    from dockdyn.report.report import Report
    from dockdyn.results.drive import Progress
    from dockdyn.results.functional_unit import FunctionalUnit
    from dockdyn.results.key_figures import LocatedFigures
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.scenario.load import Scenario
    from dockdyn.scenario.start import Start


class FreeFlightKind(Kind):
    """Two rigid bodies in free flight."""

    name: ClassVar = "free-flight"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.free_flight.schema import FreeFlightSection

        return FreeFlightSection

    def start(self) -> Start:
        from dockdyn.kinds.free_flight.start import START

        return START

    def simulate(self, scenario: Scenario, progress: Progress | None) -> xr.Dataset:
        from dockdyn.kinds.free_flight.data import describe
        from dockdyn.kinds.prediction import predicted_unstable
        from dockdyn.results.contact_run import simulate_contacts

        return simulate_contacts(scenario, progress, describe, predicted_unstable)

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.kinds.free_flight.data import describe
        from dockdyn.results.contact_run import linearised_contacts
        from dockdyn.results.overlap import refuse_overlap

        refuse_overlap(scenario)
        return linearised_contacts(scenario, describe)

    def summarise(self, dataset: xr.Dataset) -> dict[str, Any]:
        from dockdyn.kinds.free_flight.summary import summarise_flight

        return summarise_flight(dataset, self.key_figures().figures)

    def report(self, dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.kinds.free_flight.report import flight_report

        return flight_report(dataset, summary)

    def scene(self, dataset: xr.Dataset, content: FreeFlightSection) -> Scene:
        from dockdyn.kinds.free_flight.replay import scene

        return scene(dataset, content)

    def key_figures(self) -> LocatedFigures:
        from dockdyn.kinds.free_flight.key_figures import FLIGHT

        return FLIGHT

    def runs_in_batches(self, scenario: Scenario) -> bool:
        from dockdyn.results.plan import with_events

        return with_events(scenario.content) and scenario.content.coupling() is None

    def can_capture(self, scenario: Scenario) -> bool:
        return scenario.content.latch is not None

    def stepper(self, scenario: Scenario, period: float | None, batch: int | None) -> MechanismStepper:
        from dockdyn.kinds.stepping import MechanismStepper

        return MechanismStepper(scenario, period, batch)

    def functional_unit(self, scenario: Scenario, integrated: bool) -> FunctionalUnit:
        from dockdyn.kinds.free_flight.functional_unit import flight_unit
        from dockdyn.results.overlap import refuse_overlap

        refuse_overlap(scenario)
        unit = flight_unit(scenario)
        return unit.integrated() if integrated else unit.equations()

    def ended_by_capture(self, scenario: Scenario) -> Scenario:
        return scenario if scenario.content.latch is None else scenario.at({"latch.ends_run": True})

    def left_out_of_margins(self, content: FreeFlightSection) -> list[str]:
        return [] if content.latch is None else ["the latch is left out: these are the margins of the contact alone"]

    def resting(self, name: str, content: FreeFlightSection) -> Resting:
        from dockdyn.kinds.resting import Resting

        return Resting()
