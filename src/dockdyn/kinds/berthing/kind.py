"""The kind `berthing`: two vehicles with arms, trees of rigid and flexible links, that touch at one place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    import xarray as xr

    from dockdyn.kinds.berthing.schema import BerthingSection
    from dockdyn.report.replay.scene import Scene
    from dockdyn.report.report import Report
    from dockdyn.results.drive import Progress
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.scenario.load import Scenario
    from dockdyn.scenario.start import Start


class BerthingKind(Kind):
    """Two trees of links, their impact, and what control does after it."""

    name: ClassVar = "berthing"
    marker: ClassVar = "impulse"

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.berthing.schema import BerthingSection

        return BerthingSection

    def prepare(self, data: dict[str, Any], name: str, folder: Path | None) -> dict[str, Any]:
        from dockdyn.kinds.berthing.urdf import with_urdf

        return with_urdf(data, name, folder)

    def start(self) -> Start:
        from dockdyn.kinds.berthing.start import START

        return START

    def simulate(self, scenario: Scenario, progress: Progress | None) -> xr.Dataset:
        from dockdyn.kinds.berthing.run import simulate_berthing

        return simulate_berthing(scenario, progress)

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.kinds.berthing.linearised import linearised_berthing

        return linearised_berthing(scenario)

    def summarise(self, dataset: xr.Dataset) -> dict[str, Any]:
        from dockdyn.kinds.berthing.summary import summarise_berthing

        return summarise_berthing(dataset)

    def report(self, dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.kinds.berthing.report import berthing_report

        return berthing_report(dataset, summary)

    def scene(self, dataset: xr.Dataset, content: BerthingSection) -> Scene:
        from dockdyn.kinds.berthing.replay import scene

        return scene(dataset, content)
