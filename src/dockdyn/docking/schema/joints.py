"""Joints of a mechanism: how a body is held on the one that carries it, and what acts there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.docking.schema.elements import Damping, Stiffness, TurningDamping, stated_number
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.geometry import Direction, Point
from dockdyn.scenario.tables.motion import number
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import keys_without, refuse_keys_without

if TYPE_CHECKING:
    from dockdyn.elements import JointDrive
    from dockdyn.mechanics.rigid_body import Pose
    from dockdyn.mechanics.trees.jointed_bodies import Joint
    from dockdyn.mechanics.trees.partial_motion import JointMotion
    from dockdyn.mechanics.vector import Vector

Angle = quantity("rad", "an angle")
Turn = quantity("rad", "an angle", component=True)


def unit_axis(stated: list[float]) -> Vector:
    """Return a direction as a unit vector."""

    from dockdyn.mechanics.vector import Vector

    axis = xp.asarray(stated, float)
    return Vector.of(axis / xp.sqrt(xp.sum(axis * axis)))


class JointSection(Section):
    """How a body is held on the one that carries it."""

    compiled: ClassVar[float] = 3.0  # 10 and 20 bodies in a row: 0.19 s each
    kind: Literal["revolute", "prismatic", "spherical", "locked", "mimic"]
    position: Point | None = None

    @property
    def motion(self) -> Literal["revolute", "prismatic", "spherical", "locked"]:
        """How it lets the body move."""
        assert self.kind != "mimic"
        return self.kind

    def led(self) -> tuple[Float[Array, ""], Float[Array, ""]] | None:
        """Return the share of another joint's coordinate that its own is, and what is added; None of a joint that follows
        none."""
        return None

    def has_events(self) -> bool:
        """Return whether what acts in it changes its law at instants, which must be located."""
        return False

    def settable(self) -> list[str]:
        """Return the keys that phases may set."""
        return []

    def acts(self) -> bool:
        """Return whether anything acts in it."""
        return False

    def place(self, pose: Pose) -> Vector:
        """Return where it is (m) on what carries the body, whose place there is `pose` where the coordinate is zero."""

        from dockdyn.mechanics.vector import Vector

        return pose.position if self.position is None else Vector.of(xp.asarray(self.position, float))

    def make(self, pose: Pose, carrier: int, number: int | None) -> Joint:
        """Return the joint of a body whose place on what carries it is `pose` where the coordinate is zero."""
        from dockdyn.mechanics.trees.jointed_bodies import Joint

        turn = pose.attitude.matrix()
        mount = self.place(pose)
        assert self.motion != "spherical"
        return Joint(
            seat=pose.attitude,
            mount=mount,
            arm=turn.transposed_times(pose.position - mount),
            axis=turn.transposed_times(self.direction()),
            moved=self.moved(),
            kind=self.motion,
            led=self.led(),
            carrier=carrier,
            number=number,
        )

    def direction(self) -> Vector:
        """Return the axis, a unit vector in the axes of what carries the body; any of a joint that does not move."""

        from dockdyn.mechanics.vector import Vector

        return Vector.of(xp.asarray([1.0, 0.0, 0.0]))

    def moved(self) -> Float[Array, ""]:
        """Return the inertia (kg m² or kg) that its motor reflects."""

        return jnp.zeros(())


class LockedSection(JointSection):
    """A weld: the body moves as part of the one that carries it."""

    kind: Literal["locked"] = "locked"


class MovingJointSection(JointSection):
    """A joint of one coordinate, which is zero where the body is placed; what is stated acts there, side by side."""

    axis: Direction
    motor: ClassVar[str]  # key of what the motor makes
    reflected: ClassVar[str]  # key of the inertia that it reflects
    needs: ClassVar[Mapping[str, Sequence[str]]] = {"stroke": ("stop_damping",), "friction": ("regularisation",)}
    start: float
    start_rate: float
    rest: float | None
    stiffness: float | None
    damping: float | None
    friction: float | None
    regularisation: float
    stroke: list[float] | None
    stop_stiffness: float | None
    stop_damping: float
    range: list[float] | None
    locked: bool = False  # held where it is from t = 0 on; what moves in it is stopped then

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if self.rest is not None and self.stiffness is None:
            refuse("rest: is that of a spring; state the stiffness")
        if (self.stroke is None) != (self.stop_stiffness is None):
            refuse("stroke and stop_stiffness belong together; state both or neither")
        refuse_keys_without(self, self.needs)
        if self.stroke is not None and self.stroke[0] >= self.stroke[1]:
            refuse("stroke must be two numbers, the smallest first, counted from where the body is placed")
        if self.range is not None and self.range[0] >= self.range[1]:
            refuse("range must be two numbers, the smallest first, counted from where the body is placed")
        return self

    def unstated(self) -> Collection[str]:
        """Return the keys of which nothing comes."""
        return keys_without(self, self.needs)

    def has_events(self) -> bool:
        return self.stroke is not None

    def settable(self) -> list[str]:
        fixed = ("start", "start_rate", self.reflected)
        return [key for key, held in self if isinstance(held, float) and key not in fixed]

    def acts(self) -> bool:
        stated = self.stiffness, self.damping, self.friction, self.stroke, getattr(self, self.motor)
        return any(key is not None for key in stated)

    def is_spring(self) -> bool:
        """Return whether what acts in it gives back all that it takes."""
        motor = getattr(self, self.motor)
        return not (self.damping or self.friction or motor or (self.stroke is not None and self.stop_damping))

    def direction(self) -> Vector:
        return unit_axis(self.axis)

    def begins(self) -> JointMotion:
        """Return its coordinate and the rate of it at t = 0."""
        return number(self.start), number(self.start_rate)

    def drive(self) -> JointDrive:
        """Return what acts in it, also from traced numbers."""

        from dockdyn.elements import EndStops, JointDrive, one_sided

        stops = None
        if self.stroke is not None and self.stop_stiffness is not None:
            low, high = (jnp.asarray(end, float) for end in self.stroke)
            stops = EndStops(low, high, one_sided(self.stop_stiffness, self.stop_damping))
        return JointDrive(
            rest=number(self.rest),
            stiffness=stated_number(self.stiffness),
            damping=stated_number(self.damping),
            effort=stated_number(getattr(self, self.motor)),
            stops=stops,
            friction=stated_number(self.friction),
            regularisation=None if self.friction is None else number(self.regularisation),
        )

    def moved(self) -> Float[Array, ""]:
        return number(getattr(self, self.reflected))


class RevoluteSection(MovingJointSection):
    """A hinge: the body turns about an axis of the one that carries it."""

    kind: Literal["revolute"] = "revolute"
    position: Point
    start: Angle = 0.0
    start_rate: quantity("rad/s", "an angular rate") = 0.0
    rest: Angle | None = None
    stiffness: quantity("N*m/rad", "a stiffness", least=0) | None = None
    damping: TurningDamping | None = None
    friction: quantity("N*m", "a torque", least=0) | None = None
    regularisation: quantity("rad/s", "an angular rate", above=0) = 1e-3  # rad/s
    torque: quantity("N*m", "a torque") | None = None
    moved_inertia: quantity("kg*m**2", "a moment of inertia", least=0) | None = None
    stroke: Annotated[list[Turn], Field(min_length=2, max_length=2)] | None = None
    stop_stiffness: quantity("N*m/rad", "a stiffness", above=0) | None = None
    stop_damping: TurningDamping = 0.0
    range: Annotated[list[Turn], Field(min_length=2, max_length=2)] | None = None
    motor: ClassVar[str] = "torque"
    reflected: ClassVar[str] = "moved_inertia"


class PrismaticSection(MovingJointSection):
    """A slide: the body moves along an axis of the one that carries it."""

    kind: Literal["prismatic"] = "prismatic"
    start: quantity("m", "a length") = 0.0
    start_rate: quantity("m/s", "a speed") = 0.0
    rest: quantity("m", "a length") | None = None
    stiffness: Stiffness | None = None
    damping: Damping | None = None
    friction: quantity("N", "a force", least=0) | None = None
    regularisation: quantity("m/s", "a speed", above=0) = 1e-4  # m/s
    force: quantity("N", "a force") | None = None
    moved_mass: quantity("kg", "a mass", least=0) | None = None
    stroke: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] | None = None
    stop_stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    stop_damping: Damping = 0.0
    range: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] | None = None
    motor: ClassVar[str] = "force"
    reflected: ClassVar[str] = "moved_mass"


class SphericalSection(JointSection):
    """A ball joint: the body turns about a point of the one that carries it."""

    kind: Literal["spherical"] = "spherical"
    position: Point
    start_rate: Annotated[
        list[quantity("rad/s", "an angular rate", component=True)], Field(min_length=3, max_length=3)
    ] = [0.0, 0.0, 0.0]  # noqa: RUF012
    damping: TurningDamping | None = None
    locked: bool = False


class MimicSection(JointSection):
    """A joint that follows a leader in its own tree: its coordinate is exactly `ratio` times the leader's, and `offset`."""

    kind: Literal["mimic"] = "mimic"
    moves: Literal["revolute", "prismatic"] = "revolute"
    position: Point
    axis: Direction
    follows: str
    ratio: float = 1.0
    offset: float = 0.0

    @property
    def motion(self) -> Literal["revolute", "prismatic", "spherical", "locked"]:
        return self.moves

    def led(self) -> tuple[Float[Array, ""], Float[Array, ""]]:
        return number(self.ratio), number(self.offset)

    def direction(self) -> Vector:
        return unit_axis(self.axis)


AnyJoint = Annotated[
    Annotated[RevoluteSection, Tag("revolute")]
    | Annotated[PrismaticSection, Tag("prismatic")]
    | Annotated[SphericalSection, Tag("spherical")]
    | Annotated[LockedSection, Tag("locked")]
    | Annotated[MimicSection, Tag("mimic")],
    Discriminator("kind"),
]
