"""The kinds `four-mass` and `latch`: chains of masses on a line that meet, or a probe and its latch."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    import xarray as xr

    from dockdyn.kinds.chains.schema import FourMassSection, LatchSection
    from dockdyn.report.replay.scene import Scene
    from dockdyn.report.report import Report
    from dockdyn.results.drive import Progress
    from dockdyn.results.key_figures import LocatedFigures
    from dockdyn.results.linearised import LinearisedRun
    from dockdyn.scenario.load import Scenario
    from dockdyn.scenario.start import Start


class ChainsKind(Kind):
    """What both kinds of chains on a line have in common."""

    @abc.abstractmethod
    def key_figures(self) -> LocatedFigures: ...

    def linearised(self, scenario: Scenario) -> LinearisedRun:
        from dockdyn.kinds.chains.data import describe
        from dockdyn.results.contact_run import linearised_contacts

        return linearised_contacts(scenario, describe)

    def summarise(self, dataset: xr.Dataset) -> dict[str, Any]:
        from dockdyn.results.contact_summary import summarise_contacts

        return summarise_contacts(dataset, self.key_figures().figures)

    def report(self, dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
        from dockdyn.kinds.chains.report import chains_report

        return chains_report(dataset, summary)

    def scene(self, dataset: xr.Dataset, content: FourMassSection | LatchSection) -> Scene:
        from dockdyn.kinds.chains.replay import scene

        return scene(dataset, content)


class FourMassKind(ChainsKind):
    """Two chains of masses that meet on a line."""

    name: ClassVar = "four-mass"

    def key_figures(self) -> LocatedFigures:
        from dockdyn.kinds.chains.key_figures import FOUR_MASS

        return FOUR_MASS

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.chains.schema import FourMassSection

        return FourMassSection

    def start(self) -> Start:
        from dockdyn.kinds.chains.start import FOUR_MASS

        return FOUR_MASS

    def simulate(self, scenario: Scenario, progress: Progress | None) -> xr.Dataset:
        from dockdyn.kinds.chains.data import describe, impact_doubts
        from dockdyn.results.contact_run import simulate_contacts

        return simulate_contacts(scenario, progress, describe, lambda one, run: "\n".join(impact_doubts(one.content)))


class LatchKind(ChainsKind):
    """A probe and its latch on a line."""

    name: ClassVar = "latch"

    def key_figures(self) -> LocatedFigures:
        from dockdyn.kinds.chains.key_figures import LATCH

        return LATCH

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.chains.schema import LatchSection

        return LatchSection

    def start(self) -> Start:
        from dockdyn.kinds.chains.start import LATCH

        return LATCH

    def simulate(self, scenario: Scenario, progress: Progress | None) -> xr.Dataset:
        from dockdyn.kinds.chains.data import describe
        from dockdyn.results.contact_run import simulate_contacts

        return simulate_contacts(scenario, progress, describe, lambda one, run: "")
