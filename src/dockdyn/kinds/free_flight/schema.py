"""Two free bodies in contact, as a rig states them."""

from __future__ import annotations

import abc
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section, absent
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.approach import ApproachSection, Port
from dockdyn.scenario.tables.body import FreeBodySection, PlaceSection
from dockdyn.scenario.tables.control import ControlTable
from dockdyn.scenario.tables.latch import ConeLatchSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import FrictionSection, NormalLawSection
from dockdyn.scenario.tables.rig.loop import LoopSection
from dockdyn.scenario.tables.run import Duration
from dockdyn.scenario.tables.stability import StabilitySection

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.contact.feature import Feature
    from dockdyn.contact.group import ContactGroup
    from dockdyn.mechanics.rigid_body import Pose, Twist
    from dockdyn.mechanism.mechanism import Mechanism
    from dockdyn.mechanism.mounts import Tie
    from dockdyn.mechanism.named_points import NamedPoint
    from dockdyn.mechanism.steered_body import SteeredBody


class FeatureSection(PlaceSection):
    """A point, or with a radius a spherical tip, that can touch surfaces of the other body."""

    radius: quantity("m", "a radius", least=0) = 0.0
    absent_at_zero: ClassVar = ("radius",)

    def make(self) -> Feature:
        import jax.numpy as jnp

        from dockdyn.contact.feature import Point, SphereTip

        position = jnp.array(self.position, float)
        if absent(self.radius):
            return Point(position=position)
        return SphereTip(position=position, radius=jnp.asarray(self.radius, float))


class BodySection(FreeBodySection):
    """A free rigid body with features that touch."""

    feature: list[FeatureSection] = []  # noqa: RUF012
    point: list[PlaceSection] = []  # noqa: RUF012


class ContactSection(Section):
    """One feature of a body against one surface of the other."""

    name: str | None = None
    feature: str
    surface: str
    normal: NormalLawSection
    friction: OrNone[FrictionSection] = None

    def partner(self) -> str:
        """The name of what the feature touches."""
        return self.surface

    def label(self) -> str:
        """What figures call it."""
        return self.name or f"{self.feature} – {self.surface}"


class TwoBodiesSection(Section, abc.ABC):
    """Two free rigid bodies that touch: what the kinds that simulate them share."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: str
    title: str
    duration: Duration
    approach: OrNone[ApproachSection] = None
    chaser: BodySection
    target: BodySection
    contact: list[ContactSection] = []  # noqa: RUF012
    loop: LoopSection = LoopSection()
    stability: StabilitySection = StabilitySection()
    latch: OrNone[ConeLatchSection] = None
    control: ControlTable | None = None

    @model_validator(mode="after")
    def touching(self) -> Self:
        stated = self.chaser.states_motion()
        if self.approach is not None and stated:
            refuse(f"the chaser's {stated[0]} and [approach] both state the initial motion; give one of the two")
        if self.approach is None and self.chaser.position is None:
            refuse("the chaser needs a position, or the scenario an [approach]")
        if self.approach is not None and not self.contact:
            refuse("[approach] needs a [[contact]]: its surface gives the docking axis")
        for contact in self.contact:
            feature, surface, _ = self.pair(contact)
            surface.check_tip(feature.position, feature.radius)
        if self.approach is not None and not self.pair(self.contact[0])[2]:
            refuse("[approach] needs a first [[contact]] of a chaser's feature with a target's surface")
        self.stability.check(self.contact_names(), self.duration)
        return self

    def names(self) -> list[str]:
        """The names of the bodies, in their order."""
        return ["chaser", "target"]

    def contact_names(self) -> list[str]:
        """What margins call the contacts."""
        return [contact.name or f"{contact.feature}–{contact.surface}" for contact in self.contact]

    def contact_sizes(self) -> list[int]:
        """How many members each contact has."""
        return [1] * len(self.contact)

    def sides(self, contact: ContactSection) -> tuple[tuple[str, FeatureSection], tuple[str, Any]]:
        """The feature of a contact and the surface that it touches, each with its body."""
        feature, surface, on_chaser = self.pair(contact)
        own, other = self.names() if on_chaser else reversed(self.names())
        return (own, feature), (other, surface)

    def root_of(self, name: str) -> str:
        """The body at the root of the joints that hold the body of this name: itself, as there are none."""
        return name

    def at_rest(self) -> Self:
        """Return what margins are of: the contacts, without a latch."""
        return self if getattr(self, "latch", None) is None else self.model_copy(update={"latch": None})

    def only_contacts(self) -> bool:
        """Whether nothing but contacts acts between bodies `at_rest` that are free."""
        return True

    def pair(self, contact: ContactSection | ConeLatchSection) -> tuple[FeatureSection, Any, bool]:
        """The feature and surface of a contact, and whether the feature is the chaser's."""
        sides = ((self.chaser, self.target, True), (self.target, self.chaser, False))
        for owner, other, on_chaser in sides:
            for feature in owner.feature:
                if feature.name == contact.feature:
                    for surface in other.surface:
                        if surface.name == contact.surface:
                            return feature, surface, on_chaser
                    names = [surface.name for surface in other.surface]
                    refuse(
                        f"contact of {contact.feature!r} with {contact.surface!r}: the other body has no such surface; "
                        f"{nearest(contact.surface, names)}"
                    )
        names = [feature.name for body in (self.chaser, self.target) for feature in body.feature]
        refuse(f"contact of {contact.feature!r}: no body has such a feature; {nearest(contact.feature, names)}")

    def make_contact(self, section: ContactSection) -> ContactGroup:
        """The contact, between the bodies by number: 0 is the chaser; also from traced numbers."""
        from dockdyn.contact.group import ContactGroup
        from dockdyn.contact.pairs.ball_on_surface import BallOnSurface

        feature, surface, on_chaser = self.pair(section)
        made = feature.make()
        ball = BallOnSurface(made.position, getattr(made, "radius", None), surface.make())
        friction = None if section.friction is None else section.friction.make()
        return ContactGroup.of([ball], (0, 1) if on_chaser else (1, 0), section.normal.make(), friction)

    def starts(self) -> tuple[tuple[Pose, Twist], ...]:
        """Pose and twist of chaser and target at t = 0, also from traced numbers."""
        target = self.target.start()
        if self.approach is None:
            return self.chaser.start(), target
        feature, surface, _ = self.pair(self.contact[0])
        return self.approach.start(feature.make(), surface.make(), *target), target

    def bodies(self) -> Mechanism:
        """The two bodies and their contacts, without delay, also from traced numbers."""
        from dockdyn.mechanism.mechanism import Mechanism

        starts = self.starts()
        return Mechanism(
            bodies=(self.chaser.body(), self.target.body()),
            groups=tuple(self.make_contact(section) for section in self.contact),
            poses=tuple(pose for pose, _ in starts),
            twists=tuple(twist for _, twist in starts),
            delay=None,
            points=self.points(),
            body_names=("chaser", "target"),
            base=1,
            told=0,
        )

    def meetings(self) -> list[tuple[str, float]]:
        """Return how messages name each contact, and the radius (m) of the feature that touches in it."""
        return [(f"contact {contact.label()!r}", self.pair(contact)[0].radius) for contact in self.contact]

    def first_depths(self) -> Float[Array, "contacts"]:
        """Return how deep (m) every contact is at t = 0, also from traced numbers; positive is overlap."""
        import jax.numpy as jnp

        bodies = self.bodies()
        return jnp.stack([state.depth for state in bodies.states(bodies.uncommanded(), exact=True)])

    def points(self) -> tuple[NamedPoint, ...]:
        """The named points; where a body has none, its centre of mass and its features."""
        import jax.numpy as jnp

        from dockdyn.mechanism.named_points import NamedPoint

        return tuple(
            NamedPoint(jnp.array(place.position, float), name, 0 if on_chaser else 1, None)
            for name, place, on_chaser in self.named_places()
        )

    def named_places(self) -> list[tuple[str, PlaceSection, bool]]:
        """The name of each named point, its place on its body, and whether that is the chaser."""
        found: list[tuple[str, PlaceSection, bool]] = []
        for body, on_chaser in ((self.chaser, True), (self.target, False)):
            side = "chaser" if on_chaser else "target"
            places = body.point or [PlaceSection(name="centre of mass", position=[0.0, 0.0, 0.0]), *body.feature]
            found += [(f"{side} {place.name}", place, on_chaser) for place in places]
        return found

    @model_validator(mode="after")
    def steered(self) -> Self:
        if self.control is None:
            return self
        on_chaser = (self.pair(contact)[2] for contact in self.contact)
        if getattr(self.control, "frame", None) == "port" and not any(on_chaser):
            refuse("control.frame = 'port' needs a [[contact]] of a chaser's feature with a target's surface")
        return self

    @model_validator(mode="after")
    def latching(self) -> Self:
        if self.latch is not None:
            feature, surface, _ = self.pair(self.latch)
            if surface.shape != "cone":
                refuse(f"latch.surface = {self.latch.surface!r} is a {surface.shape}; must be a cone")
            contact = self.latched_contact(self.latch)
            self.latch.fits(surface.half_angle, feature.radius, None if contact is None else contact.normal)
        return self

    def latched_contact(self, latch: ConeLatchSection) -> ContactSection | None:
        """The contact of the tip that the latch catches with the cone it sits in, if there is one."""
        pairs = ((contact.feature, contact.surface) for contact in self.contact)
        return next(
            (c for c, pair in zip(self.contact, pairs, strict=True) if pair == (latch.feature, latch.surface)), None
        )

    def make_latch(self, model: Mechanism) -> Tie | None:
        """The latch, between the bodies of `model`."""
        from dockdyn.mechanics.rigid_body import Placed
        from dockdyn.mechanism.mounts import Tie

        if self.latch is None:
            return None
        feature, surface, on_chaser = self.pair(self.latch)
        contact = self.latched_contact(self.latch)
        law = None if contact is None else contact.normal.make()
        numbers = (0, 1) if on_chaser else (1, 0)
        sides = tuple((model.bodies[i], Placed.of(model.poses[i], model.twists[i])) for i in numbers)
        return Tie(self.latch.make(feature.make(), surface.make(), sides, law), "latch", *numbers)

    def model(self) -> Mechanism:
        """The model, also from traced numbers."""
        import jax.numpy as jnp

        from dockdyn.mechanics.vector import Vector
        from dockdyn.mechanism.steered_body import SteeredBody

        model = self.bodies()
        latch, steered = self.make_latch(model), None
        if self.control is not None:
            control = self.control.make(model.poses[0], model.origin(), self.port())
            steered = None if control is None else SteeredBody(control, Vector.zero(), 0, 1)
        return replace(
            model,
            elements=() if latch is None else (latch,),
            capturing=(0,) if self.latch is not None and self.latch.ends_run else (),
            steered=steered,
            delay=None if absent(self.loop.delay) else jnp.asarray(self.loop.delay, float),
        )

    def commanded(self) -> tuple[str, str]:
        """The body that a stepper commands, and the one before it."""
        return "chaser", "target"

    def steering(self, model: Mechanism) -> SteeredBody:
        """What a stepper commands where there is no control: the chaser, without limits; also from traced numbers."""
        from dockdyn.mechanics.vector import Vector
        from dockdyn.mechanism.steered_body import SteeredBody
        from dockdyn.scenario.tables.rig.sampling import idle_control

        return SteeredBody(idle_control(model.poses[0].attitude.array()), Vector.zero(), 0, 1)

    def port(self) -> Port | None:
        """Where the chaser docks: the first contact of its feature with a target's surface; None without."""
        import jax.numpy as jnp

        found = next((pair for pair in map(self.pair, self.contact) if pair[2]), None)
        axis = [1.0, 0.0, 0.0] if self.approach is None else self.approach.axis
        return None if found is None else Port(found[0].make(), found[1].make(), jnp.asarray(axis, float))

    @property
    def controlled(self) -> bool:
        """Whether control acts."""
        return self.control is not None and self.control.law != "none"
