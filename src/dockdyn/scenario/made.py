"""What sections make, as numbers: built by one compiled program each, not by one small computation after another."""

from __future__ import annotations

from typing import Any

from dockdyn.programs import Program
from dockdyn.scenario.tables.part import Part


@Program
def made(section: Part) -> Any:  # noqa: ANN401, a surface or a law
    """The surface or law of a section."""
    return section.make()


@Program
def model_of(content: Any) -> Any:  # noqa: ANN401, of the schema of a kind, and its model
    """The model that the content of a scenario describes."""
    return content.model()
