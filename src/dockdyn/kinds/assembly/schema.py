"""Scenario kind `assembly`: any number of rigid bodies, contacts between any two of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

import jax.numpy as jnp
from jaxtyping import Array, Float
from pydantic import Field, model_validator

from dockdyn.contact.feature import Point
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.surfaces.plane import Plane
from dockdyn.kinds.assembly.connections import Connection, DrivenJoint, MountedThruster, Tie
from dockdyn.kinds.assembly.model import Assembly
from dockdyn.kinds.assembly.named_points import NamedPoint
from dockdyn.kinds.assembly.pairs import check_pair, geometries
from dockdyn.kinds.assembly.schema_elements import AnyElement, ElementSection, FixedThrusterSection
from dockdyn.kinds.assembly.schema_features import CloudSection, FeatureSection
from dockdyn.kinds.assembly.schema_joints import AnyJoint, MovingJointSection, jointed_bodies, moving_joints
from dockdyn.kinds.assembly.schema_phases import PhaseSection, make_phases, read_phases, variants_of
from dockdyn.kinds.assembly.schema_stability import RestSection
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies, JointMotion
from dockdyn.mechanics.vector import Vector
from dockdyn.results.run import contact_names
from dockdyn.scenario.language.also import TEXT
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section, absent
from dockdyn.scenario.tables.approach import ApproachSection
from dockdyn.scenario.tables.body import FreeBodySection, PlaceSection
from dockdyn.scenario.tables.geometry import Direction
from dockdyn.scenario.tables.loop import LoopSection
from dockdyn.scenario.tables.part import refuse, refuse_repeated
from dockdyn.scenario.tables.parts import FrictionSection, NormalLawSection
from dockdyn.scenario.tables.run import Duration, IntegratorSection, OutputSection

MOST_PAIRS = 20_000  # of a contact


class PortSection(PlaceSection):
    """A named place on a body where loads are reported; with an `axis`, out of the body, also a port to dock at."""

    axis: Direction | None = None

    def outward(self) -> Float[Array, "3"] | None:
        """The axis as a unit vector; None of a point that is no port."""
        if self.axis is None:
            return None
        axis = jnp.asarray(self.axis, float)
        return axis / jnp.linalg.norm(axis)


class BodySection(FreeBodySection):
    """A rigid body; one that is `on` another begins there, placed in its axes, and moves with it until forces part them, or as
    a `joint` lets it."""

    name: str
    on: str | None = None
    joint: AnyJoint | None = None
    urdf: Annotated[None, TEXT] = None  # while a file is read: the URDF file whose links are then bodies
    feature: list[FeatureSection] = []  # noqa: RUF012
    point: list[PortSection] = []  # noqa: RUF012

    @model_validator(mode="after")
    def carried(self) -> Self:
        arm = math.sqrt(max(map(max, self.inertia)) / self.mass)
        for feature in self.feature:
            if isinstance(feature, CloudSection):
                feature.check_unit(arm)
        if self.on is not None and (self.velocity is not None or self.rate is not None):
            refuse("a body that is on another one begins with its motion; state no velocity and no rate")
        if self.joint is not None and self.on is None:
            refuse("joint: holds a body on another one; state on")
        return self


class BetweenPortsSection(ApproachSection):
    """The approach of a port (a point with an axis, or any point) to a port of another body, as seen from there."""

    port: str
    to: str


class ContactSection(Section):
    """A feature against a surface, or against another feature, of another body; names as "body.name" where two share one."""

    name: str | None = None
    feature: str
    surface: str | None = None
    against: str | None = None
    normal: NormalLawSection
    friction: FrictionSection | None = None

    @model_validator(mode="after")
    def one_partner(self) -> Self:
        if (self.surface is None) == (self.against is None):
            refuse("must state either the surface or, for a feature of another body, against")
        return self

    def partner(self) -> str:
        """The name of what the feature touches."""
        return str(self.surface if self.against is None else self.against)

    def label(self) -> str:
        """What figures call it."""
        return self.name or f"{self.feature} – {self.partner()}"


class AssemblySection(Section):
    """Rigid bodies, contacts between them."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["assembly"] = "assembly"
    title: str = "Assembly"
    duration: Duration
    approach: BetweenPortsSection | None = None
    body: Annotated[list[BodySection], Field(min_length=1)]
    contact: list[ContactSection] = []  # noqa: RUF012
    element: list[AnyElement] = []  # noqa: RUF012
    phase: list[PhaseSection] = []  # noqa: RUF012
    loop: LoopSection = LoopSection()
    stability: RestSection = RestSection()
    integrator: IntegratorSection = IntegratorSection()
    output: OutputSection = OutputSection()

    @model_validator(mode="after")
    def joined(self) -> Self:
        names = self.names()
        refuse_repeated(names, "bodies")
        for name in names:
            seen = [name]
            while (carrier := self.named(seen[-1]).on) is not None:
                if carrier not in names:
                    refuse(f"body.{seen[-1]}.on = {carrier!r}: no such body; {nearest(carrier, names)}")
                if carrier in seen:
                    refuse(f"body.{name}.on: bodies are on each other in a circle: {' on '.join([*seen, carrier])}")
                seen.append(carrier)
        return self

    @model_validator(mode="after")
    def touching(self) -> Self:
        for number, contact in enumerate(self.contact):
            key, kind = ("surface", "surface") if contact.against is None else ("against", "feature")
            first, feature = self.find("feature", contact.feature, f"contact.{number}.feature")
            second, partner = self.find(kind, contact.partner(), f"contact.{number}.{key}")
            if first == second:
                refuse(f"contact of {contact.feature!r} with {contact.partner()!r}: both are of the body {first!r}")
            if getattr(partner, "shape", "") == "cloud" or (contact.against is not None and feature.shape == "cloud"):
                refuse(f"contact of {contact.feature!r} with {contact.partner()!r}: a cloud touches surfaces only")
            count = check_pair(feature, partner)
            if count > MOST_PAIRS:
                refuse(
                    f"contact of {contact.feature!r} with {contact.partner()!r}: {count} pairs; must be at most {MOST_PAIRS}"
                )
        return self

    @model_validator(mode="after")
    def acting(self) -> Self:
        refuse_repeated([element.name for element in self.element], "elements")
        for element in self.element:
            for key, bodies in element.acts_on().items():
                for body in bodies:
                    if body not in self.names():
                        refuse(f"element {element.name!r}: {key}: no body {body!r}; {nearest(body, self.names())}")
                if len(set(bodies)) < len(bodies):
                    refuse(f"element {element.name!r}: {key} must be two bodies")
        if self.integrator.method != "located" and any(one.has_events() for one in self.acts().values()):
            refuse("integrator.method must be located: elements or end stops of joints change their law at instants")
        if self.integrator.method != "located" and self.phase:
            refuse("integrator.method must be located: phases begin at instants")
        phases = read_phases(self.phase, self.acts(), self.names(), touching=bool(self.contact))
        return self.model_copy(update={"phase": phases})

    @model_validator(mode="after")
    def approaching(self) -> Self:
        if self.approach is None:
            return self
        own, _ = self.find("point", self.approach.port, "approach.port")
        other, to = self.find("point", self.approach.to, "approach.to")
        mover, base = self.root(own), self.root(other)
        if mover == base:
            refuse(f"approach: {self.approach.port!r} and {self.approach.to!r} are of bodies that begin as one")
        if stated := self.named(mover).states_motion():
            refuse(f"body.{mover}.{stated[0]} and [approach] both state the initial motion; give one of the two")
        if to.axis is None:
            refuse(f"approach.to = {self.approach.to!r}: has no axis; a port needs one, out of its body")
        return self

    @model_validator(mode="after")
    def judged(self) -> Self:
        self.stability.check(self.contact_names(), self.duration)
        return self

    @property
    def controlled(self) -> bool:
        """Whether control acts: an assembly has none."""
        return False

    def contact_names(self) -> list[str]:
        """What the contacts are called."""
        found = self.contact
        return contact_names([c.name for c in found], [c.feature for c in found], [c.partner() for c in found])

    def names(self) -> list[str]:
        """The names of the bodies, in their order."""
        return [body.name for body in self.body]

    def named(self, name: str) -> BodySection:
        """The body of that name."""
        return next(body for body in self.body if body.name == name)

    def find(self, kind: str, name: str, key: str = "") -> tuple[str, Any]:
        """The body with a `feature`, `surface` or `point` of that name (or "body.name"), and its section.

        `key` is where the scenario has the name.
        """
        carried = [(body.name, item) for body in self.body for item in getattr(body, kind)]
        found = [(body, item) for body, item in carried if name in (item.name, f"{body}.{item.name}")]
        if not found:
            names = [f"{body}.{item.name}" if "." in name else item.name for body, item in carried]
            refuse(f"{key} = {name!r}: no body has such a {kind}; {nearest(name, dict.fromkeys(names))}")
        if len(found) > 1:
            bodies = " and ".join(body for body, _ in found)
            refuse(f"{key} = {name!r}: {bodies} have such a {kind}; must be named as body.name")
        return found[0]

    def root(self, name: str) -> str:
        """The body that carries, directly or through others, the one of that name at the start."""
        while (carrier := self.named(name).on) is not None:
            name = carrier
        return name

    def base(self) -> str:
        """The body from whose centre of mass places are counted: the one that is approached, else the first."""
        return self.body[0].name if self.approach is None else self.root(self.find("point", self.approach.to)[0])

    def ties(self) -> list[ElementSection]:
        """The elements between two bodies."""
        return [element for element in self.element if isinstance(element, ElementSection)]

    def thrusters(self) -> list[FixedThrusterSection]:
        """The elements that push one body."""
        return [element for element in self.element if isinstance(element, FixedThrusterSection)]

    def acts(self) -> dict[str, Any]:
        """The sections of what acts besides contacts: elements by name, joints in which anything acts as "body.joint"."""
        joints = moving_joints(self.body).items()
        return {element.name: element for element in self.element} | {
            f"{body}.joint": joint for body, joint in joints if joint.acts()
        }

    def starts(self) -> dict[str, tuple[Pose, Twist]]:
        """Pose and twist of each body at t = 0, also from traced numbers."""
        return self._starts(self._start)

    def _starts(
        self, begin: Callable[[str, Callable[[str], tuple[Pose, Twist]]], tuple[Pose, Twist]]
    ) -> dict[str, tuple[Pose, Twist]]:
        """Pose and twist of each body; `begin` says those of a body that is on no other, which it may ask of others."""
        found: dict[str, tuple[Pose, Twist]] = {}
        trees, names = jointed_bodies(self.body), self.names()

        def start(name: str) -> tuple[Pose, Twist]:
            if name not in found:
                section = self.named(name)
                if section.joint is not None:
                    place_tree(next(tree for tree in trees if names.index(name) in tree.members))
                elif section.on is not None:
                    found[name] = carried(section.start()[0], *start(section.on))
                else:
                    found[name] = begin(name, start)
            return found[name]

        def place_tree(tree: JointedBodies) -> None:
            joints = self.joint_starts()
            placed = tree.placed(*tree.centred(*start(names[tree.members[0]]), joints), joints)
            for member, place in zip(tree.members[1:], placed[1:], strict=True):
                found[names[member]] = place.pose, place.twist

        return {name: start(name) for name in names}

    def joint_starts(self) -> list[JointMotion]:
        """Coordinate (rad or m) and rate at t = 0 of the joints that move."""
        return [joint.begins() for joint in moving_joints(self.body).values()]

    def _start(self, name: str, start: Callable[[str], tuple[Pose, Twist]]) -> tuple[Pose, Twist]:
        section = self.named(name)
        if self.approach is None or self.root(self.find("point", self.approach.port)[0]) != name:
            return section.start()
        (own, port), (other, to) = self.find("point", self.approach.port), self.find("point", self.approach.to)
        place, axis = self.in_root(own, port)
        approach = self.approach if port.axis is None else self.approach.model_copy(update={"axis": axis})
        return approach.start(Point(place), Plane.of(to.position, to.axis), *start(other))

    def in_root(self, name: str, port: PortSection) -> tuple[Any, Any]:
        """The place (m) and the axis of a port of a body in the axes of the body that carries it at the start."""
        resting = Pose.at([0.0, 0.0, 0.0]), Twist.of([0.0, 0.0, 0.0])
        pose, _ = self._starts(lambda _name, _start: resting)[name]
        turn = pose.attitude.matrix()
        place, axis = (
            Vector.of(jnp.asarray(port.position, float)),
            Vector.of(jnp.asarray(port.axis or [1.0, 0, 0], float)),
        )
        return (pose.position + turn @ place).array(), (turn @ axis).array()

    def groups(self) -> tuple[ContactGroup, ...]:
        """The groups of contacts, also from traced numbers."""
        numbers = {name: index for index, name in enumerate(self.names())}
        found = []
        for contact in self.contact:
            first, feature = self.find("feature", contact.feature)
            second, partner = self.find("surface" if contact.against is None else "feature", contact.partner())
            friction = None if contact.friction is None else contact.friction.make()
            bodies = numbers[first], numbers[second]
            pairs, law = geometries(feature, partner), contact.normal.make()
            found.append(ContactGroup.of(pairs, bodies, law, friction, feature.weights()))
        return tuple(found)

    def connections(self, sections: list[Any], starts: dict[str, tuple[Pose, Twist]]) -> tuple[Connection, ...]:
        """What `sections`, in the order of `acts`, describe: elements between bodies as they are at the start, and joints."""
        found: list[Connection] = []
        names, moving = self.names(), list(moving_joints(self.body))
        for name, section in zip(self.acts(), sections, strict=True):
            if isinstance(section, MovingJointSection):
                found.append(DrivenJoint(section.drive(), moving.index(name.removesuffix(".joint")), name))
            elif isinstance(section, FixedThrusterSection):
                found.append(MountedThruster(section.make(), names.index(section.body), name))
            else:
                sides = (Placed.of(*starts[body]) for body in section.between)
                first, second = map(names.index, section.between)
                found.append(Tie(section.make(*sides), first, second, name))
        return tuple(found)

    def points(self) -> list[tuple[str, PortSection, int]]:
        """The name of each point at which loads are reported, its place on its body, and the body's number."""
        return [
            (f"{body.name} {place.name}", place, index)
            for index, body in enumerate(self.body)
            for place in body.point or [PortSection(name="centre of mass", position=[0.0, 0.0, 0.0])]
        ]

    def ports(self) -> list[str]:
        """The names of the points that are ports."""
        return [name for name, place, _ in self.points() if place.axis is not None]

    def model(self) -> Assembly:
        """The model, also from traced numbers."""
        starts = self.starts()
        variants = [self.connections(sections, starts) for sections in variants_of(self.phase, self.acts())]
        elements = [tuple(one.element for one in connections) for connections in variants]
        return Assembly(
            bodies=tuple(section.body() for section in self.body),
            groups=self.groups(),
            poses=tuple(pose for pose, _ in starts.values()),
            twists=tuple(twist for _, twist in starts.values()),
            delay=None if absent(self.loop.delay) else jnp.asarray(self.loop.delay, float),
            elements=variants[0] if variants else self.connections(list(self.acts().values()), starts),
            phases=make_phases(self.phase, elements, self.names()),
            points=tuple(
                NamedPoint(jnp.asarray(place.position, float), name, body, place.outward())
                for name, place, body in self.points()
            ),
            trees=jointed_bodies(self.body),
            joints=tuple(self.joint_starts()),
            body_names=tuple(self.names()),
            joint_names=tuple(moving_joints(self.body)),
            base=self.names().index(self.base()),
        )


def carried(pose: Pose, carrier: Pose, motion: Twist) -> tuple[Pose, Twist]:
    """Pose and twist of a body at `pose` in the axes of a body that moves as `carrier` and `motion` say, and moves with it."""
    other = Placed.of(carrier, motion)
    place = other.point(pose.position)
    rate = pose.attitude.matrix().transposed_times(motion.rate)
    return Pose(place, (carrier.attitude * pose.attitude).normalised()), Twist(other.velocity(place), rate)
