"""Whether anything begins deep inside something else that it touches."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from jaxtyping import Array, Float

from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

DEEP = 0.2  # m: of a point, which has no radius; more overlap than that at the start is a mistake


class Touching(Protocol):
    """The content of a scenario whose parts may be in contact at t = 0."""

    def meetings(self) -> list[tuple[str, float]]:
        """Return what may touch, in the order of the depths: how messages name it, and the radius (m) of what touches."""

    def first_depths(self) -> Float[Array, "meetings"]:
        """Return how deep (m) each of them is at t = 0, also from traced numbers; positive is overlap."""


def refuse_overlap(scenario: Scenario) -> None:
    """Raise ScenarioError where what touches begins deeper in something else than its own radius, a point than `DEEP`."""
    meetings = scenario.content.meetings()
    if not meetings:
        return
    for (where, radius), depth in zip(meetings, np.asarray(_first_depths(scenario.content)), strict=True):
        most = radius or DEEP
        if depth > most:
            raise ScenarioError(
                f"{scenario.name}: {where}: overlap at the start = {depth:.3g} m; must be at most {most:.3g} m"
            )


@jit_once
def _first_depths(content: Touching) -> Float[Array, "meetings"]:
    return content.first_depths()
