"""The `[control]` of free flight: what holds the chaser, and the limits of its wheel and thrusters."""

from __future__ import annotations

from typing import Literal, Self

import jax.numpy as jnp
from jaxtyping import Array
from pydantic import model_validator

from dockdyn.control.body_hold import BodyControl, BodyHold
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanics.vector import Vector
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.actuators import THRUSTERS, WHEEL, ActuatorSection
from dockdyn.scenario.tables.motion import Attitude, Velocity, number
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Point

PUSH = ("position_stiffness", "velocity_damping")
BOTH = (*WHEEL, *PUSH, "position", "velocity", *THRUSTERS)
# law: keys it needs, keys it may have
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "attitude-hold": (("base_stiffness", "base_damping"), ("attitude", *BOTH)),
    "rate-damping": (("base_damping",), BOTH),
}


class BodyControlSection(ActuatorSection):
    """Torque and force on a free chaser."""

    law: Literal["none", "attitude-hold", "rate-damping"] = "attitude-hold"
    attitude: Attitude | None = None
    position_stiffness: quantity("N/m", "a gain", least=0) | None = None
    velocity_damping: quantity("N*s/m", "a gain", least=0) | None = None
    position: Point | None = None
    velocity: Velocity | None = None

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.law == "none":
            return self
        self.check_keys(*KEYS[self.law])
        for key, gain in (("position", "position_stiffness"), ("velocity", "velocity_damping")):
            if getattr(self, key) is not None and getattr(self, gain) is None:
                refuse(f"{key} is the reference of {gain}, which is missing")
        if self.thruster_force is not None and not self.pushes():
            refuse(f"thruster_force is the limit of {' and '.join(PUSH)}, which are missing")
        return self

    def pushes(self) -> bool:
        """Whether thrusters are asked for a force."""
        return any(getattr(self, gain) is not None for gain in PUSH)

    def make(self, start: Pose, origin: Vector) -> BodyControl | None:
        """The controller, also from traced numbers; references that are not stated are the `start`.

        It is to see positions counted from `origin` (m, inertial).
        """
        if self.law == "none":
            return None

        def row(value: list[float] | None, default: Array) -> Array:
            return default if value is None else jnp.array(value, float)

        law = BodyHold(
            stiffness=number(self.base_stiffness),
            damping=number(self.base_damping),
            attitude=row(self.attitude, start.attitude.array()),
            position_stiffness=number(self.position_stiffness),
            velocity_damping=number(self.velocity_damping),
            position=row(self.position, start.position.array()) - origin.array(),
            velocity=row(self.velocity, jnp.zeros(3)),
        )
        wheel = jnp.inf if self.thruster_torque is None else 0.0  # of a limit left out
        axes = [0, 1, 2]
        return BodyControl(law, self.make_actuators(jnp.zeros(0), axes, axes, wheel, jnp.inf))
