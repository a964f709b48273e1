"""The ramp of a spring latch in a scenario."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from dockdyn.deferred import jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.contact.latch import Ramp
    from dockdyn.mechanics.vector import Scalar


@functools.lru_cache(maxsize=1024)
def _travel_of(angle: float, axial_length: float | None, lateral_length: float | None) -> float:
    """Return the ramp's travel (m); kept, since a campaign asks for the same one again and again."""
    from dockdyn.scenario.made import travel

    return float(travel(angle, axial_length, lateral_length))


Length = quantity("m", "a length", above=0)


class RampSection(Section):
    """The ramp of a probe and the spring of the latch that rides on it; the ramp's length either way, not both."""

    stiffness: quantity("N/m", "a stiffness", above=0)
    angle: quantity("rad", "an angle", above=0, below=math.pi / 2)
    axial_length: Length | None = None
    lateral_length: Length | None = None
    preload: quantity("N", "a force", least=0) | None = None
    friction: Number | None = None
    regularisation: quantity("m/s", "a speed", above=0) = 1e-5

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if (self.axial_length is None) == (self.lateral_length is None):
            both = "not both" if self.axial_length is not None else "one of them"
            refuse(f"axial_length or lateral_length of the ramp: give {both}")
        if self.friction is None:
            return self
        from dockdyn.impact.formulas.latching import JAM

        if not 0 <= self.friction * math.tan(self.angle) < JAM:
            limit = f"{1 / math.tan(self.angle):g}"
            refuse(
                f"friction = {self.friction:g}: must be at least 0 and below 1/tan(angle) = {limit}, where the probe jams"
            )
        return self

    def travel(self) -> Scalar | float:
        """Return the travel (m) from where the ramp begins to its end, also from traced numbers."""
        stated = self.angle, self.axial_length, self.lateral_length
        if all(isinstance(number, float | None) for number in stated):
            return _travel_of(*stated)
        from dockdyn.impact.formulas.latching import latch_travel

        return latch_travel(*stated)

    def ramp(self) -> Ramp:
        """Return the ramp, also from traced numbers."""

        from dockdyn.contact.latch import Ramp
        from dockdyn.impact.formulas.latching import latch_ramp

        travel = jnp.asarray(self.travel(), float)
        friction, preload = (0.0 if value is None else value for value in (self.friction, self.preload))
        made = latch_ramp(self.stiffness, self.angle, travel, friction, preload)
        return Ramp(
            stiffness=made.stiffness,
            slope=made.slope,
            length=made.length,
            preload=made.preload,
            friction=made.friction,
            regularisation=jnp.asarray(self.regularisation, float),
        )
