"""The `[control]` of an arm and its base: a law, its gains, and the limits of motors, wheel and thrusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import model_validator

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.actuators import THRUSTERS, WHEEL, ActuatorSection
from dockdyn.scenario.tables.motion import number
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.rig.gains import LISTS, Gain, Period, RateGain, Torque

if TYPE_CHECKING:
    from dockdyn.control.actuators import Actuators
    from dockdyn.control.lqr import Weights
    from dockdyn.control.plant import ArmLaw, Row

# law: keys it needs, keys it may have
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rate-damping": (("damping",), ("limit", "base_stiffness", "base_damping", *WHEEL)),
    "joint-pd": (("stiffness", "damping"), ("limit", "base_stiffness", "base_damping", *WHEEL)),
    "lqr": (("limit",), (*WHEEL, "angle_error", "attitude_error", "rate_error", "modal_energy", "gain")),
    "detumble": (("limit", "time"), (*WHEEL, *THRUSTERS)),
    "reaction-null-space": (("damping",), ("limit",)),
}
ARM_LAWS = ("joint-pd", "lqr", "detumble", "reaction-null-space")  # that none but an arm has
DEFAULTS = {  # of the regulator's weights
    "angle_error": 0.1,  # rad
    "attitude_error": 0.01,  # rad
    "rate_error": 0.05,  # rad/s
    "modal_energy": 1.0,  # J
}


def refuse_other_count(key: str, values: list[float], joints: list[str]) -> None:
    """Refuse a list of control that has more or fewer entries than there are joints."""
    if len(values) != len(joints):
        entries, each = ("entry" if len(values) == 1 else "entries"), ("joint" if len(joints) == 1 else "joints")
        words = f"has {len(values)} {entries} for {len(joints)} {each} ({', '.join(joints)}); must have {len(joints)}"
        refuse(f"control.{key} = {shown(values)}: {words}")


class ArmControlSection(ActuatorSection):
    """Torques on joints and base; lists have an entry for every joint, in the order of the tree."""

    placing: ClassVar[tuple[str, ...]] = ()  # keys that say which arm it acts on

    law: Literal["none", "joint-pd", "rate-damping", "lqr", "detumble", "reaction-null-space"] = "rate-damping"
    stiffness: list[Gain] | None = None
    damping: list[RateGain] | None = None
    period: Period | None = None
    limit: list[Torque] | None = None
    time: quantity("s", "a time", above=0) | None = None
    angle_error: quantity("rad", "an angle", above=0) | None = None
    attitude_error: quantity("rad", "an angle", above=0) | None = None
    rate_error: quantity("rad/s", "an angular rate", above=0) | None = None
    modal_energy: quantity("J", "an energy", above=0) | None = None
    gain: list[list[Number]] | None = None

    @property
    def aims(self) -> bool:
        """Whether it drives joints to set-points that it states."""
        return False

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        if self.law == "none":
            return self
        needed, allowed = KEYS[self.law]
        self.check_keys(needed, (*allowed, "period", *self.placing), dict.fromkeys(LISTS, ", an entry for every joint"))
        if self.law == "detumble" and self.base_limit is None and self.thruster_torque is None:
            refuse("law detumble needs base_limit (a wheel) or thruster_torque: something has to take the momentum")
        return self

    def check_joints(self, joints: list[str], locked: list[str], axes: int) -> None:
        """Refuse what does not fit an arm with these joints, some of them locked, on a base that turns about so many axes."""
        for key in LISTS:
            values = getattr(self, key)
            if self.law != "none" and values is not None:
                refuse_other_count(key, values, joints)
        free = len(joints) - len(locked)
        if self.law == "reaction-null-space" and free <= axes:
            refuse(
                f"control.law: reaction-null-space: {free} joints that are not locked cannot leave alone a base that "
                f"turns about {axes} axes (the null space is empty); needs at least {axes + 1}"
            )
        if self.law == "lqr" and not free:
            refuse("control.law: lqr: all joints are locked")

    def free(self, joints: list[str], locked: list[str]) -> tuple[int, ...]:
        """Return the numbers of the joints that are not locked."""
        return tuple(number for number, name in enumerate(joints) if name not in locked)

    def by_joint(self, values: list[float] | None, default: float, joints: int) -> Row:
        """Return the entries of so many joints, or the default."""

        if values is None:
            return jnp.full(joints, default)
        return jnp.stack([jnp.asarray(value, float) for value in values])

    def limits(self, joints: int, moving: list[int], turning: list[int]) -> Actuators:
        """Return what actuators can give: motors of so many joints, wheel and thrusters by axes of the base."""

        wheel = {"rate-damping": jnp.inf, "joint-pd": jnp.inf}.get(self.law, 0.0)  # of a limit left out
        return self.make_actuators(
            self.by_joint(self.limit, jnp.inf, joints), moving, turning, wheel, 0.0, self.limit is not None
        )

    def make_law(
        self, attitude: Float[Array, "4"], joints: Row, free: tuple[int, ...], gain: Float[Array, "torques states"]
    ) -> ArmLaw:
        """Return the law; references are the base's attitude and the joints as they are given, the gain a regulator's."""

        from dockdyn.control.detumble import Detumble
        from dockdyn.control.joint_control import JointControl
        from dockdyn.control.lqr import Regulator
        from dockdyn.control.reaction_null_space import ReactionNullSpace

        at, count = jnp.array(free, int), joints.shape[0]
        if self.law == "detumble":
            return Detumble(jnp.asarray(self.time, float), free)
        if self.law == "reaction-null-space":
            return ReactionNullSpace(self.by_joint(self.damping, 0.0, count)[at], free)
        if self.law == "lqr":
            return Regulator(gain, attitude, joints[at], free, self.base_limit is not None)
        return JointControl(
            stiffness=self.by_joint(self.stiffness, 0.0, count),
            damping=self.by_joint(self.damping, 0.0, count),
            base_stiffness=number(self.base_stiffness),
            base_damping=number(self.base_damping),
            attitude=attitude,
            joints=joints,
        )

    def weights(self, free: tuple[int, ...], joints: int, axes: int) -> Weights:
        """Return what counts as one in a regulator's cost, with so many joints and axes of the base."""

        from dockdyn.control.lqr import Weights

        def value(key: str) -> Array:
            given = getattr(self, key)
            return jnp.asarray(DEFAULTS[key] if given is None else given, float)

        limits = self.by_joint(self.limit, 0.0, joints)[jnp.array(free, int)]
        if self.base_limit is not None:
            limits = jnp.concatenate([jnp.full(axes, self.base_limit), limits])
        return Weights(
            value("angle_error"), value("attitude_error"), value("rate_error"), value("modal_energy"), limits
        )
