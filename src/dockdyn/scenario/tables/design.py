"""The table `[design]`: what of a scenario is sought, for what, and subject to what."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse

GOALS = 2  # at most


class DesignVariableSection(NamedSection):
    """A number of the scenario that is sought between two ends, or one of several values."""

    key: str
    low: float | str | None = None
    high: float | str | None = None
    values: Annotated[list[Any], Field(min_length=2)] | None = None

    @model_validator(mode="after")
    def of_a_range(self) -> Self:
        ends = [name for name in ("low", "high") if getattr(self, name) is not None]
        if self.values is not None and ends:
            refuse(f"has values and {' and '.join(ends)}; must have one or the other")
        if self.values is None and len(ends) < 2:
            missing = [name for name in ("low", "high") if name not in ends]
            refuse(f"{' and '.join(missing)} missing; must have low and high, or values")
        return self


class DesignSection(Section):
    """What a design is of. A goal is a figure of the summary, a margin or a key of a variable; with two goals it is a front."""

    minimise: str | list[str] | None = None
    maximise: str | list[str] | None = None
    evaluations: Annotated[int, Field(ge=1)] = 400
    cases: Annotated[int, Field(ge=1)] = 200
    seed: Annotated[int, Field(ge=0)] = 0
    constraints: Annotated[dict[str, Any], Field(default_factory=dict)]
    variable: named_tables(DesignVariableSection, Field(min_length=1))

    @model_validator(mode="after")
    def of_one_goal_or_two(self) -> Self:
        if not 1 <= len(self.goals()) <= GOALS:
            refuse(f"must have one goal, minimise or maximise, or two; has {len(self.goals())}")
        return self

    def goals(self) -> list[tuple[str, str, str]]:
        """Return every goal: whether it is minimised or maximised, its key in the table, and the goal as written."""
        found = []
        for way in ("minimise", "maximise"):
            stated = getattr(self, way)
            if isinstance(stated, list):
                found += [(way, f"{way}.{place}", text) for place, text in enumerate(stated)]
            elif stated is not None:
                found.append((way, way, stated))
        return found
