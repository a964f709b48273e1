"""The `[control]` of bodies in space: what holds one, and the limits of its wheel and thrusters."""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, Self

import numpy as np
from pydantic import BeforeValidator, Discriminator, SerializeAsAny, Tag, create_model, model_validator

from dockdyn.deferred import Array, PyTree, jax, jnp
from dockdyn.parameters import parameters_of, settings_of
from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.actuators import THRUSTERS, WHEEL
from dockdyn.scenario.tables.approach import Port
from dockdyn.scenario.tables.arm_control import ArmControlSection
from dockdyn.scenario.tables.attitude import Attitude, quaternion_of
from dockdyn.scenario.tables.fmu_control import SCHEME, FmuControlSection
from dockdyn.scenario.tables.motion import Velocity, number
from dockdyn.scenario.tables.own_part import keys_of, read_table, refuse_taken, refuse_unfinished
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Point
from dockdyn.scenario.tables.rig.sampling import SAMPLING, SampledSection
from dockdyn.trees import flatten

if TYPE_CHECKING:
    from dockdyn.control.body_control import BodyControl
    from dockdyn.control.controller import Controller
    from dockdyn.control.reference import Reference
    from dockdyn.control.sampled import SampledControl
    from dockdyn.mechanics.rigid_body import Pose
    from dockdyn.mechanics.vector import Vector

Shapes = tuple[tuple[str, tuple[int, ...]], ...]  # of arrays by their names
PUSH = ("position_stiffness", "velocity_damping")
BOTH = (*WHEEL, *PUSH, "position", "velocity", "frame", *THRUSTERS, *SAMPLING)
# law: keys it needs, keys it may have
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "attitude-hold": (("base_stiffness", "base_damping"), ("attitude", *BOTH)),
    "rate-damping": (("base_damping",), BOTH),
}


class BodyControlSection(SampledSection):
    """Torque and force on a free body."""

    law: Literal["none", "attitude-hold", "rate-damping"] = "attitude-hold"
    attitude: Attitude | None = None
    position_stiffness: quantity("N/m", "a gain", least=0) | None = None
    velocity_damping: quantity("N*s/m", "a gain", least=0) | None = None
    position: Point | None = None
    velocity: Velocity | None = None
    frame: Literal["port"] | None = None

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        if self.law == "none":
            return self
        needed, allowed = KEYS[self.law]
        self.check_keys(needed, allowed + self.placing)
        self.check_references()
        if self.frame == "port" and self.position_stiffness is not None and self.position is None:
            refuse(
                "position is missing; with frame = 'port' it is that of the chaser's feature, before the target's port"
            )
        if self.thruster_force is not None and not self.pushes():
            refuse(f"thruster_force is the limit of {' and '.join(PUSH)}, which are missing")
        return self

    def check_references(self) -> None:
        """Refuse a reference without the gain on what is away from it."""
        for key, gain in (("position", "position_stiffness"), ("velocity", "velocity_damping")):
            if getattr(self, key) is not None and getattr(self, gain) is None:
                refuse(f"{key} is the reference of {gain}, which is missing")

    def pushes(self) -> bool:
        """Return whether thrusters are asked for a force."""
        return any(getattr(self, gain) is not None for gain in PUSH)

    def make(self, start: Pose, origin: Vector, port: Port | None) -> BodyControl | SampledControl | None:
        """Return the controller, also from traced numbers; references that are not stated are the `start`, or at the `port`.

        It is to see positions counted from `origin` (m, inertial).
        """
        from dockdyn.control.pose_control import PoseControl

        if self.law == "none":
            return None
        reference = self._make_reference(start, origin, port)
        law = PoseControl(
            stiffness=number(self.base_stiffness),
            damping=number(self.base_damping),
            position_stiffness=number(self.position_stiffness),
            velocity_damping=number(self.velocity_damping),
            reference=reference,
        )
        return self.control_by(law, reference)

    def _make_reference(self, start: Pose, origin: Vector, port: Port | None) -> Reference:
        """Return the pose and velocity that are wanted."""

        from dockdyn.control.reference import InertialReference

        def row(value: list[float] | None, default: Array) -> Array:
            return default if value is None else jnp.array(value, float)

        if self.frame == "port":
            assert port is not None
            return port.reference(
                row(self.position, jnp.zeros(3)), row(self.velocity, jnp.zeros(3)), quaternion_of(self.attitude)
            )
        return InertialReference(
            row(self.position, start.position.array()) - origin.array(),
            row(self.velocity, jnp.zeros(3)),
            start.attitude.array() if self.attitude is None else quaternion_of(self.attitude),
        )


class OwnControlSection(SampledSection, Own):
    """A controller of the user's own, "module:Class"; its keys are the class's fields, and those of wheel and thrusters."""

    made: ClassVar[type[Controller]]
    law: str

    def own_class(self) -> str:
        return self.law

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        self.check_keys(
            (),
            tuple({**parameters_of(self.made), **settings_of(self.made)}) + WHEEL + THRUSTERS + SAMPLING + self.placing,
        )
        shapes = tuple((name, np.shape(getattr(self, name))) for name in parameters_of(self.made))
        if problem := _problem(self.made, shapes, tuple(self._words().items())):
            refuse(f"{self.law}: {problem}")
        return self

    def _words(self) -> dict[str, Any]:
        """Return the static fields of the law."""
        return {name: getattr(self, name) for name in settings_of(self.made)}

    def controller(self) -> Controller:
        """Return the law, also from traced numbers."""

        numbers = {name: jnp.asarray(getattr(self, name), float) for name in parameters_of(self.made)}
        return self.made(**numbers, **self._words())

    def make(self, start: Pose, origin: Vector, port: Port | None) -> BodyControl | SampledControl:
        """Return the controller; errors of attitude are counted from the `start`."""

        from dockdyn.control.reference import InertialReference

        level = InertialReference(start.position.array() - origin.array(), jnp.zeros(3), start.attitude.array())
        return self.control_by(self.controller(), level)


@cache
def _problem(made: type[Controller], shapes: Shapes, words: tuple[tuple[str, Any], ...]) -> str:
    """Return what is wrong with a law whose parameters have these shapes, in words; empty where nothing is."""

    from dockdyn.control.controller import Command, FreeBody, Measured, as_floats

    given: Any = {name: jax.ShapeDtypeStruct(shape, float) for name, shape in shapes}
    two, three, four = (jax.ShapeDtypeStruct((count,), float) for count in (2, 3, 4))
    body: Any = (three, three, four, three)
    seen, method = Measured(FreeBody(*body), FreeBody(*body), *(three, two)), "init"  # type: ignore[arg-type]

    def law(given: dict[str, Any]) -> Controller:
        return made(**given, **dict(words))

    try:
        memory = jax.eval_shape(lambda given, seen: as_floats(law(given).init(seen)), given, seen)
        method = "act"
        answer = jax.eval_shape(lambda given, *seen: law(given).act(*seen), given, memory, seen)
    except Exception as error:  # of the user's own code
        return f"{method} fails ({type(error).__name__}: {str(error).partition(chr(10))[0]})"
    if _shapes(answer) != _shapes((memory, Command(three, three))):  # type: ignore[arg-type]
        return "act must give the rate of what init gives, in its shapes, and a Command of two rows of 3 numbers"
    return ""


def _shapes(tree: PyTree) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the structure of a tree and the shapes of its arrays."""

    leaves, structure = flatten(tree)
    return structure, [leaf.shape for leaf in leaves]


@cache
def own_section(target: str, made: type[Controller], base: type[OwnControlSection]) -> type[OwnControlSection]:
    """Return the table of a controller, with the keys of `base`."""
    refuse_taken(target, made, ("law", *WHEEL, *THRUSTERS, *SAMPLING, *base.placing), base)
    refuse_unfinished(target, made, ("act",))
    keys: dict[str, Any] = {"law": (Literal[target], ...)} | keys_of(made)
    section = create_model(f"{made.__name__}Section", __base__=base, __doc__=inspect.getdoc(made), **keys)
    section.made = made
    return section


def whose(table: object) -> str:
    """Return whether a table names a law of the user's own, or an FMU."""
    law = table.get("law") if isinstance(table, dict) else getattr(table, "law", None)
    if isinstance(law, str) and law.startswith(SCHEME):
        return "fmu"
    return "user" if isinstance(law, str) and ":" in law else "named"


def _controller() -> type:
    """Return of what a controller of the user's own must be a subclass."""
    from dockdyn.control.controller import Controller

    return Controller


def own_reader(base: type[OwnControlSection]) -> BeforeValidator:
    """Return what reads the table of a controller of the user's own into a section on `base`."""
    return BeforeValidator(partial(read_table, base=_controller, section_of=partial(own_section, base=base)))


ControlTable = Annotated[
    Annotated[BodyControlSection, Tag("named")]
    | Annotated[SerializeAsAny[OwnControlSection], own_reader(OwnControlSection), Tag("user")]
    | Annotated[FmuControlSection, Tag("fmu")],
    Discriminator(whose),
]


class Stepping(Protocol):
    """An integrator as far as samples ask of it."""

    @property
    def method(self) -> str:
        """How it finds events."""
        ...

    @property
    def max_steps(self) -> int:
        """How many steps it may take."""
        ...


def check_samples(control: SampledSection | ArmControlSection, duration: float, integrator: Stepping) -> None:
    """Refuse a period with an integrator that does not end steps at samples, or so short that they are too many."""
    if control.period is None:
        return
    if integrator.method != "located":
        refuse("integrator.method must be located: control.period has steps end at its samples")
    count = duration / control.period
    if count > integrator.max_steps:
        refuse(
            f"control.period = {control.period:g} s: takes {count:.3g} samples for a duration of {duration:g} s; must take "
            f"at most integrator.max_steps = {integrator.max_steps}"
        )
