"""A spring latch in a scenario: its ramp, and where it sits in a cone."""

from __future__ import annotations

import functools
import math
from typing import Literal, Self

import jax.numpy as jnp
from pydantic import model_validator

from dockdyn.contact.cone import Cone
from dockdyn.contact.feature import Feature
from dockdyn.contact.latch import ConeLatch, Ramp
from dockdyn.impact.latching import JAM, latch_ramp, latch_travel
from dockdyn.scenario.parts import refuse
from dockdyn.scenario.section import Section
from dockdyn.scenario.units import Number, quantity


@functools.lru_cache(maxsize=1024)
def travel_of(angle: float, axial_length: float | None, lateral_length: float | None) -> float:
    """The ramp's travel (m); kept, since a campaign asks for the same one again and again."""
    return float(latch_travel(angle, axial_length, lateral_length))


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
    def sound(self) -> Self:
        if (self.axial_length is None) == (self.lateral_length is None):
            both = "not both" if self.axial_length is not None else "one of them"
            refuse(f"axial_length or lateral_length of the ramp: give {both}")
        if self.friction is not None and not 0 <= self.friction * math.tan(self.angle) < JAM:
            limit = f"{1 / math.tan(self.angle):g}"
            refuse(
                f"friction = {self.friction:g}: must be at least 0 and below 1/tan(angle) = {limit}, where the probe jams"
            )
        return self

    def ramp(self) -> Ramp:
        """The ramp, also from traced numbers."""
        travel = latch_travel(self.angle, self.axial_length, self.lateral_length)
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


class ConeLatchSection(RampSection):
    """A spring latch in the throat of a cone; `entry` is the tip's distance from the apex where the ramp begins."""

    feature: str
    surface: str
    entry: Length
    hold: Literal["pin", "weld"] = "pin"
    ends_run: bool = False

    def make(self, feature: Feature, cone: Cone, feature_on_chaser: bool) -> ConeLatch:
        """The latch, also from traced numbers."""
        return ConeLatch(
            ramp=self.ramp(),
            feature=feature,
            cone=cone,
            entry=jnp.asarray(self.entry, float),
            feature_on_chaser=feature_on_chaser,
            ends_run=self.ends_run,
            hold=self.hold,
        )

    def fits(self, half_angle: float, radius: float) -> None:
        """Refuses a latch that falls in deeper than a tip of `radius` (m) can come in a cone of `half_angle` (rad)."""
        deepest = radius / math.sin(half_angle)
        end = self.entry - travel_of(self.angle, self.axial_length, self.lateral_length)
        if end < deepest:
            refuse(
                f"latch.entry = {self.entry:g} m: the ramp ends {end:g} m from the apex, where the tip cannot come; "
                f"must be at least {self.entry - end + deepest:g} m"
            )
