"""The `[control]` of a berthing: a law, its gains, and the limits of motors, wheel and thrusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import model_validator

from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.actuators import THRUSTERS, WHEEL, ActuatorSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.rig.gains import LISTS, Gain, RateGain, Torque

if TYPE_CHECKING:
    from jaxtyping import Array

    from dockdyn.control.actuators import Actuators
    from dockdyn.control.plant import Law, Row
    from dockdyn.kinds.berthing.model import Berthing, Control
    from dockdyn.kinds.berthing.model_captured import Design, Weights

# law: keys it needs, keys it may have
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rate-damping": (("damping",), ("limit", "base_stiffness", "base_damping", *WHEEL)),
    "joint-pd": (("stiffness", "damping"), ("limit", "base_stiffness", "base_damping", *WHEEL)),
    "lqr": (("limit",), (*WHEEL, "angle_error", "attitude_error", "rate_error", "modal_energy", "gain")),
    "detumble": (("limit", "time"), (*WHEEL, *THRUSTERS)),
    "reaction-null-space": (("damping",), ("limit",)),
}
DEFAULTS = {  # of the regulator's weights
    "angle_error": 0.1,  # rad
    "attitude_error": 0.01,  # rad
    "rate_error": 0.05,  # rad/s
    "modal_energy": 1.0,  # J
}


class ControlSection(ActuatorSection):
    """Torques on joints and base; lists have an entry for every joint, in the order of the tree."""

    law: Literal["none", "joint-pd", "rate-damping", "lqr", "detumble", "reaction-null-space"] = "rate-damping"
    stiffness: list[Gain] | None = None
    damping: list[RateGain] | None = None
    limit: list[Torque] | None = None
    time: quantity("s", "a time", above=0) | None = None
    angle_error: quantity("rad", "an angle", above=0) | None = None
    attitude_error: quantity("rad", "an angle", above=0) | None = None
    rate_error: quantity("rad/s", "an angular rate", above=0) | None = None
    modal_energy: quantity("J", "an energy", above=0) | None = None
    gain: list[list[Number]] | None = None

    @model_validator(mode="after")
    def complete(self) -> Self:
        if self.law == "none":
            return self
        self.check_keys(*KEYS[self.law], dict.fromkeys(LISTS, ", an entry for every joint"))
        if self.law == "detumble" and self.base_limit is None and self.thruster_torque is None:
            refuse("law detumble needs base_limit (a wheel) or thruster_torque: something has to take the momentum")
        return self

    def check(self, joints: list[str], locked: list[str], planar: bool, impact: str) -> None:
        """Refuses what does not fit the chaser, its locked joints or the law of impact."""
        for key in LISTS:
            values = getattr(self, key)
            if self.law != "none" and values is not None and len(values) != len(joints):
                refuse(f"control.{key}: has {len(values)} entries for {len(joints)} joints ({', '.join(joints)})")
        if self.law in ("lqr", "detumble") and not impact.startswith("weld"):
            refuse(f"control.law: {self.law} is for what a weld holds together; impact.law is {impact}")
        free, axes = len(joints) - len(locked), 1 if planar else 3
        if self.law == "reaction-null-space" and free <= axes:
            refuse(
                f"control.law: reaction-null-space: {free} joints that are not locked cannot leave alone a base that "
                f"turns about {axes} axes (the null space is empty); needs at least {axes + 1}"
            )
        if self.law == "lqr" and not free:
            refuse("control.law: lqr: all joints are locked")

    def make(self, model: Berthing, names: list[str], locked: list[str]) -> Control | None:
        """The controller, also from traced numbers; references are what holds at t = 0."""
        from dockdyn.kinds.berthing.model import Control

        if self.law == "none":
            return None
        columns = self.columns(model, names, locked)
        return Control(self.make_law(model, columns), self.actuators(model))

    def columns(self, model: Berthing, names: list[str], locked: list[str]) -> tuple[int, ...]:
        """Velocity columns of the joints that are not locked."""
        at = model.sides[0].tree.joint_columns()
        return tuple(column for column, name in zip(at, names, strict=True) if name not in locked)

    def actuators(self, model: Berthing) -> Actuators:
        import jax.numpy as jnp

        from dockdyn.control.plant import moving_columns, turning_axes

        tree = model.sides[0].tree
        wheel = {"rate-damping": jnp.inf, "joint-pd": jnp.inf}.get(self.law, 0.0)  # of a limit left out
        motors = self.by_joint(model, self.limit, jnp.inf)
        return self.make_actuators(motors, moving_columns(tree), turning_axes(tree), wheel, 0.0)

    def by_joint(self, model: Berthing, values: list[float] | None, default: float) -> Row:
        """A row of the chaser's velocities with the entries of the joints, zero elsewhere."""
        import jax.numpy as jnp

        tree = model.sides[0].tree
        found = jnp.zeros(model.sides[0].velocities.shape[0])
        filled = default if values is None else jnp.stack([jnp.asarray(value, float) for value in values])
        return found.at[jnp.array(tree.joint_columns(), int)].set(filled)

    def make_law(self, model: Berthing, columns: tuple[int, ...]) -> Law:
        import jax.numpy as jnp

        from dockdyn.control.detumble import Detumble
        from dockdyn.control.joint_control import JointControl
        from dockdyn.control.lqr import Regulator
        from dockdyn.control.plant import turning_columns
        from dockdyn.control.reaction_null_space import ReactionNullSpace

        tree, q = model.sides[0].tree, model.sides[0].configuration
        at = jnp.array(columns, int)
        if self.law == "detumble":
            return Detumble(jnp.asarray(self.time, float), columns)
        if self.law == "reaction-null-space":
            return ReactionNullSpace(self.by_joint(model, self.damping, 0.0)[at], columns)
        if self.law == "lqr":
            places = jnp.array([tree.joint_columns().index(column) for column in columns], int)
            gain = self.design(model, columns).gain if self.gain is None else jnp.asarray(self.gain, float)
            return Regulator(gain, q.attitude, q.joints[places], columns, self.base_limit is not None)
        base = jnp.array(turning_columns(tree), int)

        def filled(values: list[float] | None, of_base: float | None) -> Row:
            return self.by_joint(model, values, 0.0).at[base].set(0.0 if of_base is None else of_base)

        return JointControl(
            stiffness=filled(self.stiffness, self.base_stiffness),
            damping=filled(self.damping, self.base_damping),
            attitude=q.attitude,
            joints=q.joints,
        )

    def design(self, model: Berthing, columns: tuple[int, ...]) -> Design:
        """The regulator that the weights ask for."""
        from dockdyn.kinds.berthing.model_captured import design

        return design(model, columns, self.base_limit is not None, self.weights(model, columns))

    def weights(self, model: Berthing, columns: tuple[int, ...]) -> Weights:
        import jax.numpy as jnp

        from dockdyn.control.plant import turning_columns
        from dockdyn.kinds.berthing.model_captured import Weights

        def value(key: str) -> Array:
            given = getattr(self, key)
            return jnp.asarray(DEFAULTS[key] if given is None else given, float)

        limits = self.by_joint(model, self.limit, 0.0)[jnp.array(columns, int)]
        if self.base_limit is not None:
            limits = jnp.concatenate([jnp.full(len(turning_columns(model.sides[0].tree)), self.base_limit), limits])
        return Weights(
            value("angle_error"), value("attitude_error"), value("rate_error"), value("modal_energy"), limits
        )
