"""Joints of an assembly: how a body is held on the one that carries it, and what acts there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Protocol, Self

import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Discriminator, Field, Tag, model_validator

from dockdyn.elements import EndStops, JointDrive, one_sided
from dockdyn.kinds.assembly.schema_elements import Damping, Stiffness, TurningDamping, stated_number
from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist
from dockdyn.mechanics.trees.assembly import Link, tree_of
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies
from dockdyn.mechanics.trees.spatial import SpatialTree
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.geometry import Direction, Point
from dockdyn.scenario.tables.motion import number
from dockdyn.scenario.tables.part import refuse

Angle = quantity("rad", "an angle")
Turn = quantity("rad", "an angle", component=True)


class LockedSection(Section):
    """A weld: the body moves as part of the one that carries it."""

    kind: Literal["locked"] = "locked"
    position: Point | None = None
    moves: ClassVar[bool] = False

    def has_events(self) -> bool:
        """Whether what acts in it changes its law at instants, which must be located."""
        return False

    def settable(self) -> list[str]:
        """The keys that phases may set."""
        return []

    def acts(self) -> bool:
        """Whether anything acts in it."""
        return False

    def link(self, name: str, carrier: str, carrier_arm: Float[Array, "3"], pose: Pose, body: RigidBody) -> Link:
        """The body as a link, its frame at the joint, `pose` being its place on the carrier, whose frame is `carrier_arm` (m)
        from the carrier's centre of mass."""
        turn = pose.attitude.matrix().array()
        return Link(
            name=name,
            parent=carrier,
            joint=self.kind,
            mount=self.place(pose) - carrier_arm,
            mount_turn=turn,
            mass=body.mass,
            centre=-self.arm(pose),
            inertia=body.inertia,
            axis=self.along(turn),
        )

    def place(self, pose: Pose) -> Float[Array, "3"]:
        """The joint (m) on the carrier, in its axes from its centre of mass; the body's own centre where none is stated."""
        return pose.position.array() if self.position is None else jnp.asarray(self.position, float)

    def arm(self, pose: Pose) -> Float[Array, "3"]:
        """The joint from the body's centre of mass (m, its axes)."""
        return (self.place(pose) - pose.position.array()) @ pose.attitude.matrix().array()

    def along(self, turn: Float[Array, "3 3"]) -> Float[Array, "3"]:
        """The axis of a link that is mounted with the rotation `turn`; any of one that does not move."""
        return jnp.asarray([1.0, 0.0, 0.0])


class MovingJointSection(LockedSection):
    """A joint of one coordinate, which is zero where the body is placed; what is stated acts there, side by side."""

    axis: Direction
    moves: ClassVar[bool] = True
    motor: ClassVar[str]  # key of what the motor makes
    reflected: ClassVar[str]  # key of the inertia that it reflects
    start: float
    start_rate: float
    rest: float | None
    stiffness: float | None
    damping: float | None
    stroke: list[float] | None
    stop_stiffness: float | None
    stop_damping: float

    @model_validator(mode="after")
    def sound(self) -> Self:
        if self.rest is not None and self.stiffness is None:
            refuse("rest: is that of a spring; state the stiffness")
        if (self.stroke is None) != (self.stop_stiffness is None):
            refuse("stroke and stop_stiffness belong together; state both or neither")
        if self.stroke is not None and self.stroke[0] >= self.stroke[1]:
            refuse("stroke must be two numbers, the smallest first, counted from where the body is placed")
        return self

    def has_events(self) -> bool:
        return self.stroke is not None

    def settable(self) -> list[str]:
        fixed = ("start", "start_rate", self.reflected)
        return [key for key, held in self if isinstance(held, float) and key not in fixed]

    def acts(self) -> bool:
        return any(key is not None for key in (self.stiffness, self.damping, self.stroke, getattr(self, self.motor)))

    def along(self, turn: Float[Array, "3 3"]) -> Float[Array, "3"]:
        return jnp.asarray(self.axis, float) @ turn

    def drive(self) -> JointDrive:
        """What acts in it, also from traced numbers."""
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
        )

    def moved(self) -> Float[Array, ""]:
        """The inertia (kg m² or kg) that its motor reflects."""
        return number(getattr(self, self.reflected))


class RevoluteSection(MovingJointSection):
    """A hinge: the body turns about an axis of the one that carries it."""

    kind: Literal["revolute"] = "revolute"  # type: ignore[assignment]
    position: Point
    start: Angle = 0.0
    start_rate: quantity("rad/s", "an angular rate") = 0.0
    rest: Angle | None = None
    stiffness: quantity("N*m/rad", "a stiffness", least=0) | None = None
    damping: TurningDamping | None = None
    torque: quantity("N*m", "a torque") | None = None
    moved_inertia: quantity("kg*m**2", "a moment of inertia", least=0) | None = None
    stroke: Annotated[list[Turn], Field(min_length=2, max_length=2)] | None = None
    stop_stiffness: quantity("N*m/rad", "a stiffness", above=0) | None = None
    stop_damping: TurningDamping = 0.0
    motor: ClassVar[str] = "torque"
    reflected: ClassVar[str] = "moved_inertia"


class PrismaticSection(MovingJointSection):
    """A slide: the body moves along an axis of the one that carries it."""

    kind: Literal["prismatic"] = "prismatic"  # type: ignore[assignment]
    start: quantity("m", "a length") = 0.0
    start_rate: quantity("m/s", "a speed") = 0.0
    rest: quantity("m", "a length") | None = None
    stiffness: Stiffness | None = None
    damping: Damping | None = None
    force: quantity("N", "a force") | None = None
    moved_mass: quantity("kg", "a mass", least=0) | None = None
    stroke: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] | None = None
    stop_stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    stop_damping: Damping = 0.0
    motor: ClassVar[str] = "force"
    reflected: ClassVar[str] = "moved_mass"


AnyJoint = Annotated[
    Annotated[RevoluteSection, Tag("revolute")]
    | Annotated[PrismaticSection, Tag("prismatic")]
    | Annotated[LockedSection, Tag("locked")],
    Discriminator("kind"),
]


class JointedSection(Protocol):
    """A body that may be held by a joint."""

    name: str
    on: str | None
    joint: RevoluteSection | PrismaticSection | LockedSection | None

    def body(self) -> RigidBody: ...

    def start(self) -> tuple[Pose, Twist]: ...


def moving_joints(bodies: Sequence[JointedSection]) -> dict[str, RevoluteSection | PrismaticSection]:
    """The joints that move, by the names of the bodies that they hold, in the order of the bodies."""
    return {body.name: body.joint for body in bodies if isinstance(body.joint, RevoluteSection | PrismaticSection)}


def jointed_bodies(bodies: Sequence[JointedSection]) -> tuple[JointedBodies, ...]:
    """The trees that joints make of the bodies, also from traced numbers."""
    roots = [body for body in bodies if body.joint is None and any(_held_on(body.name, bodies))]
    return tuple(_tree(root, bodies) for root in roots)


def _held_on(name: str, bodies: Sequence[JointedSection]) -> list[JointedSection]:
    return [body for body in bodies if body.joint is not None and body.on == name]


def _tree(root: JointedSection, bodies: Sequence[JointedSection]) -> JointedBodies:
    """The tree on a root."""
    own = root.body()
    members, links = [root], [Link(root.name, mass=own.mass, inertia=own.inertia)]
    arms = {root.name: jnp.zeros(3)}
    for carrier in members:  # grows as it goes
        for body in _held_on(carrier.name, bodies):
            assert body.joint is not None
            pose, _ = body.start()
            links.append(body.joint.link(body.name, carrier.name, arms[carrier.name], pose, body.body()))
            arms[body.name] = body.joint.arm(pose)
            members.append(body)
    names, joints = [body.name for body in bodies], moving_joints(bodies)
    own_joints = [body.name for body in members if body.name in joints]
    moved = [joints[name].moved() for name in own_joints]
    return JointedBodies(
        tree=SpatialTree(tree_of(links)),
        seats=tuple(body.start()[0].attitude for body in members[1:]),
        moved=jnp.stack(moved) if moved else jnp.zeros(0),
        members=tuple(names.index(body.name) for body in members),
        numbers=tuple(list(joints).index(name) for name in own_joints),
    )
