"""The table `[stability]`: the state around which margins are asked for."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse


class StabilitySection(Section):
    """Where contact is taken to rest: a place on the cone's wall, or by default the predicted first contact.

    `depth` is where on the law's curve it rests, by default the depth found there: zero, unless the run starts in contact.
    """

    azimuth: quantity("rad", "an angle") | None = None
    distance: quantity("m", "a distance", above=0) | None = None
    depth: quantity("m", "a penetration depth", least=0) | None = None

    @model_validator(mode="after")
    def placed(self) -> Self:
        if self.azimuth is not None and self.distance is None:
            refuse("azimuth needs a distance from the apex along the wall, too")
        return self
