"""What sections make, as numbers: built by one compiled program each, not by one small computation after another."""

from __future__ import annotations

from typing import Any, Protocol

from dockdyn.contact.latch import Ramp
from dockdyn.impact.formulas.latching import latch_travel
from dockdyn.programs import Program
from dockdyn.scenario.tables.latch import RampSection

travel = Program(latch_travel)  # of a latch's ramp (m)


class Maker(Protocol):
    """A section that makes what it describes."""

    def make(self) -> Any: ...  # noqa: ANN401, a surface, a law, a robot


@Program
def made(section: Maker) -> Any:  # noqa: ANN401, a surface, a law, a robot
    """Return what a section describes."""
    return section.make()


@Program
def model_of(content: Any) -> Any:  # noqa: ANN401, of a setup's schema, and its model
    """Return the model that the content of a scenario describes."""
    return content.model()


@Program
def ramp_of(latch: RampSection) -> Ramp:
    """Return the ramp that a latch has."""
    return latch.ramp()
