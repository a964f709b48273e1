"""Wheel and thrusters of a chaser: keys that all with a `[control]` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.control.actuators import Actuators

WHEEL = ("base_limit", "base_capacity")
THRUSTERS = ("thruster_force", "thruster_torque", "thruster_impulse", "thruster_angular_impulse")


class ActuatorSection(Section):
    """Gains on the attitude of a chaser's base, and the limits of its wheel and thrusters."""

    law: str = "none"
    base_stiffness: quantity("N*m/rad", "a gain", least=0) | None = None
    base_damping: quantity("N*m*s/rad", "a gain", least=0) | None = None
    base_limit: quantity("N*m", "a torque", above=0) | None = None
    base_capacity: quantity("N*m*s", "an angular momentum", above=0) | None = None
    thruster_force: quantity("N", "a force", above=0) | None = None
    thruster_torque: quantity("N*m", "a torque", above=0) | None = None
    thruster_impulse: quantity("N*s", "an impulse", above=0) | None = None
    thruster_angular_impulse: quantity("N*m*s", "an angular impulse", above=0) | None = None

    def check_keys(
        self, needed: tuple[str, ...], allowed: tuple[str, ...], words: dict[str, str] | None = None
    ) -> None:
        """Refuse a missing key (`words` say more of it), one that the law has not, a budget of nothing."""
        for key in needed:
            if getattr(self, key) is None:
                refuse(f"law {self.law} needs {key}" + (words or {}).get(key, ""))
        for key in type(self).model_fields:
            if key != "law" and getattr(self, key) is not None and key not in needed + allowed:
                refuse(f"law {self.law} has no {key}; it has {', '.join(needed + allowed)}")
        for budget, limit in (("thruster_impulse", "thruster_force"), ("thruster_angular_impulse", "thruster_torque")):
            if getattr(self, budget) is not None and getattr(self, limit) is None:
                refuse(f"{budget} is a budget of {limit}, which is missing")
        if self.base_capacity is not None and self.base_limit is None:
            refuse("base_capacity is that of a wheel with base_limit, which is missing")

    def make_actuators(
        self,
        motors: Float[Array, "n"],
        moving: list[int],
        turning: list[int],
        wheel: float,
        thrust: float,
        motors_limited: bool = False,
    ) -> Actuators:
        """Return the limits, by the base's axes that it moves along and turns about, also from traced numbers.

        `wheel` (N m) and `thrust` (N) are the limits where none is stated; thrusters then give no torque.
        """

        from dockdyn.control.actuators import Actuators

        def by_axis(axes: list[int], value: float | None, default: float) -> Float[Array, "3"]:
            return jnp.zeros(3).at[jnp.array(axes, int)].set(default if value is None else value)

        budget = [
            jnp.inf if value is None else value for value in (self.thruster_impulse, self.thruster_angular_impulse)
        ]
        limits = {
            "motors": motors_limited,
            "wheel": self.base_limit is not None,
            "capacity": self.base_capacity is not None,
            "thrust": self.thruster_force is not None,
            "push": self.thruster_force is not None or thrust > 0,
            "jets": self.thruster_torque is not None,
        }
        return Actuators(
            motors=motors,
            wheel=by_axis(turning, self.base_limit, wheel),
            capacity=by_axis(turning, self.base_capacity, jnp.inf),
            thrust=by_axis(moving, self.thruster_force, thrust),
            jets=by_axis(turning, self.thruster_torque, 0.0),
            budget=jnp.stack([jnp.asarray(value, float) for value in budget]),
            stated=tuple(name for name, known in limits.items() if known),
        )
