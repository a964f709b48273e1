"""The kind `rig`: a hardware-in-the-loop rig along one direction, or with two bodies in space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from dockdyn.kinds.kind import Kind
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.section import Section

if TYPE_CHECKING:
    from dockdyn.scenario.tables.loop import LoopSection


class RigKind(Kind):
    """A rig: sensor, virtual spacecraft, compensator, robot, beside the contact that it should show."""

    name: ClassVar = "rig"
    marker: ClassVar = "ideal_force"
    along_normal: ClassVar = True

    def schema(self, data: Mapping[str, Any], name: str) -> type[Section]:
        from dockdyn.kinds.rig.schema import MODES

        mode = data.get("mode", "1-dof")
        if not isinstance(mode, str) or mode not in MODES:
            raise ScenarioError(f"{name}: mode = {shown(mode)}: must be one of {', '.join(MODES)}")
        return MODES[mode]

    def simulate(self, scenario: Any, progress: Any) -> Any:
        from dockdyn.kinds.rig.judgement import judged
        from dockdyn.kinds.rig.simulate import simulate_rig

        return judged(scenario, simulate_rig(scenario, progress))

    def summarise(self, dataset: Any) -> dict[str, Any]:
        from dockdyn.kinds.rig.summary import summarise_rig

        return summarise_rig(dataset)

    def report(self, dataset: Any, summary: dict[str, Any]) -> Any:
        from dockdyn.kinds.rig.report import rig_report

        return rig_report(dataset, summary)

    def scene(self, dataset: Any, content: Any) -> Any:
        from dockdyn.kinds.rig.replay import scene

        return scene(dataset, content)

    def model(self, scenario: Any) -> Any:
        return scenario.content.model() if scenario.content.mode == "6-dof" else super().model(scenario)

    def loop(self, content: Any) -> LoopSection:
        return content.loop

    def tuned(self, scenario: Any) -> Any:
        from dockdyn.kinds.rig.compensator import with_tuned_compensator

        return with_tuned_compensator(scenario)

    def check_loop(self, scenario: Any) -> None:
        return None
