"""The kind `orbital-arm`: an arm on an orbiting vehicle, impacts in time by a variational integrator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section


class OrbitalArmKind(Kind):
    """An arm in orbit that puts a payload into a bay, or takes it out."""

    name: ClassVar = "orbital-arm"
    marker: ClassVar = "event_time"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection

        return OrbitalArmSection

    def simulate(self, scenario: Any, progress: Any) -> Any:
        from dockdyn.kinds.orbital_arm.run import simulate_orbital_arm

        return simulate_orbital_arm(scenario, progress)

    def model(self, scenario: Any) -> Any:
        return scenario.content.model()

    def summarise(self, dataset: Any) -> dict[str, Any]:
        from dockdyn.kinds.orbital_arm.summary import summarise_orbital_arm

        return summarise_orbital_arm(dataset)

    def report(self, dataset: Any, summary: dict[str, Any]) -> Any:
        from dockdyn.kinds.orbital_arm.report import orbital_report

        return orbital_report(dataset, summary)

    def scene(self, dataset: Any, content: Any) -> Any:
        from dockdyn.kinds.orbital_arm.replay import scene

        return scene(dataset, content)
