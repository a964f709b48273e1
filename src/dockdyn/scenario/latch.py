"""A spring latch in a scenario: its ramp, and where it sits in a cone."""

from __future__ import annotations

import math
from typing import Self

import jax.numpy as jnp
from pydantic import model_validator

from dockdyn.contact.latch import Ramp
from dockdyn.impact.latching import latch_ramp, latch_travel
from dockdyn.scenario.parts import refuse
from dockdyn.scenario.section import Section
from dockdyn.scenario.units import Number, quantity

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
        if self.friction is not None and not 0 <= self.friction < 1 / math.tan(self.angle):
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
