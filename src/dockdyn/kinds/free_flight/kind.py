"""The kind `free-flight`: two rigid bodies in space, contacts between them, a latch, control, delay in the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    from dockdyn.results.key_figures import LocatedFigures
    from dockdyn.scenario.tables.loop import LoopSection


class FreeFlightKind(Kind):
    """Two rigid bodies in free flight."""

    name: ClassVar = "free-flight"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.free_flight.schema import FreeFlightSection

        return FreeFlightSection

    def simulate(self, scenario: Any, progress: Any) -> Any:
        from dockdyn.kinds.free_flight.data import describe
        from dockdyn.kinds.free_flight.prediction import predicted_unstable
        from dockdyn.results.contact_run import simulate_contacts

        return simulate_contacts(scenario, progress, describe, predicted_unstable)

    def summarise(self, dataset: Any) -> dict[str, Any]:
        from dockdyn.kinds.free_flight.summary import summarise_flight

        return summarise_flight(dataset, self.key_figures().figures)

    def report(self, dataset: Any, summary: dict[str, Any]) -> Any:
        from dockdyn.kinds.free_flight.report import flight_report

        return flight_report(dataset, summary)

    def scene(self, dataset: Any, content: Any) -> Any:
        from dockdyn.kinds.free_flight.replay import scene

        return scene(dataset, content)

    def key_figures(self) -> LocatedFigures:
        from dockdyn.kinds.free_flight.key_figures import FLIGHT

        return FLIGHT

    def runs_in_batches(self, scenario: Any) -> bool:
        return scenario.content.integrator.method == "located"

    def can_capture(self, scenario: Any) -> bool:
        return scenario.content.latch is not None

    def model(self, scenario: Any) -> Any:
        return scenario.content.model()

    def loop(self, content: Any) -> LoopSection:
        return content.loop

    def ended_by_capture(self, scenario: Any) -> Any:
        return scenario if scenario.content.latch is None else scenario.at({"latch.ends_run": True})

    def check_loop(self, scenario: Any) -> None:
        return None
