"""The table `[design]`: which numbers of a scenario are sought, for what, and subject to what."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.part import refuse


class DesignVariableSection(Section):
    """A number of the scenario that is sought between two ends."""

    key: str
    low: float | str
    high: float | str


class DesignSection(Section):
    """What a design is of. The goal is a figure of the summary or a key of a variable, minimised or maximised."""

    minimise: str | None = None
    maximise: str | None = None
    evaluations: Annotated[int, Field(ge=1)] = 400
    cases: Annotated[int, Field(ge=1)] = 200
    seed: Annotated[int, Field(ge=0)] = 0
    constraints: Annotated[dict[str, Any], Field(default_factory=dict)]
    variables: Annotated[list[DesignVariableSection], Field(min_length=1)]

    @model_validator(mode="after")
    def of_one_goal(self) -> Self:
        if (self.minimise is None) == (self.maximise is None):
            refuse("must have one of minimise and maximise")
        return self

    @property
    def goal(self) -> str:
        """The goal as written."""
        return str(self.minimise if self.maximise is None else self.maximise)
