"""How long a run lasts, how time advances in it and what is kept of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dockdyn.parameters import TOLERANCE
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity

Duration = quantity("s", "a duration", above=0)
MOST_STEPS = 1_000_000_000
FINEST = 1e-15  # relative: below is rounding, which no step is short enough for
MostSteps = Annotated[int, Field(ge=1, le=MOST_STEPS)]  # attempts; a run that would need more stops


class IntegratorSection(Section):
    """How time advances. Without a `step`, in steps so short that the error of each stays below `tolerance`, relative to the
    motion; at most 5 ms, or 20 ms without a delay where contacts are of one pair each, and longer before anything touches."""

    method: Literal["located", "fixed"] = "located"
    step: quantity("s", "a step", above=0) | None = None
    tolerance: quantity("", "a relative error", least=FINEST, most=1e-3) = TOLERANCE
    max_events: Annotated[int, Field(ge=1, le=100000)] = 1000
    max_steps: MostSteps = 5_000_000


class OutputSection(Section):
    """What is kept."""

    interval: quantity("s", "an interval", above=0) | None = None
