"""The kind `orbital-arm`: an arm on an orbiting vehicle, impacts in time by a variational integrator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    import xarray as xr

    from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection
    from dockdyn.report.replay.scene import Scene
    from dockdyn.report.report import Report
    from dockdyn.results.drive import Progress
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.scenario.load import Scenario
    from dockdyn.scenario.start import Start


class OrbitalArmKind(Kind):
    """An arm in orbit that puts a payload into a bay, or takes it out."""

    name: ClassVar = "orbital-arm"
    marker: ClassVar = "event_time"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection

        return OrbitalArmSection

    def start(self) -> Start:
        from dockdyn.kinds.orbital_arm.start import START

        return START

    def simulate(self, scenario: Scenario, progress: Progress | None) -> xr.Dataset:
        from dockdyn.kinds.orbital_arm.run import simulate_orbital_arm

        return simulate_orbital_arm(scenario, progress)

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.kinds.orbital_arm.run import linearised_orbital_arm

        return linearised_orbital_arm(scenario)

    def summarise(self, dataset: xr.Dataset) -> dict[str, Any]:
        from dockdyn.kinds.orbital_arm.summary import summarise_orbital_arm

        return summarise_orbital_arm(dataset)

    def report(self, dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.kinds.orbital_arm.report import orbital_report

        return orbital_report(dataset, summary)

    def scene(self, dataset: xr.Dataset, content: OrbitalArmSection) -> Scene:
        from dockdyn.kinds.orbital_arm.replay import scene

        return scene(dataset, content)
