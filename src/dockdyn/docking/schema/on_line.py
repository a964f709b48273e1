"""A mechanism whose bodies move along one line: what is said of them as numbers, and what cannot be said there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.deferred import jnp
from dockdyn.docking.schema.bodies import PortSection
from dockdyn.docking.schema.features import BallSection
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.docking.schema.on_line_parts import (
    LineApproachSection,
    LineBodySection,
    LineBushingSection,
    LineCableSection,
    LineContactLawSection,
    LineContactSection,
    LineLatchSection,
    LineMagnetSection,
    LineSteering,
    LineStrutSection,
    LineThrusterSection,
    OnLine,
    in_space,
)
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.body import CARRIED
from dockdyn.scenario.tables.named import NAME_OF_BODY, named_tables
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import PlaneShape

if TYPE_CHECKING:
    from dockdyn.contact.group import ContactGroup
    from dockdyn.contact.pairs import PairGeometry
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.docking.trees import Frames
    from dockdyn.mechanics.rigid_body import Pose, Twist
    from dockdyn.mechanism.impact_contact import ImpactContact
    from dockdyn.mechanism.mechanism import Mechanism

    Bodies = SeveralBodiesSection
else:
    Bodies = Section  # what is not said here is as the other class of a mechanism on a line says it

CENTRE = 0.0  # m, of a body named as a place


class BodiesOnLineSection(OnLine, Bodies):
    """Bodies on one line, contacts between their places, what acts between them."""

    motion: Literal["line"]  # type: ignore[assignment]
    approach: OrNone[LineApproachSection] = None
    body: named_tables(LineBodySection, Field(min_length=1), names=NAME_OF_BODY)
    contact: named_tables(LineContactSection) = []  # noqa: RUF012
    contact_law: named_tables(LineContactLawSection) = []  # noqa: RUF012
    strut: named_tables(LineStrutSection) = []  # noqa: RUF012
    cable: named_tables(LineCableSection) = []  # noqa: RUF012
    magnet: named_tables(LineMagnetSection) = []  # noqa: RUF012
    bushing: named_tables(LineBushingSection) = []  # noqa: RUF012
    latch: named_tables(LineLatchSection) = []  # noqa: RUF012
    connection: ClassVar[list[Any]] = []
    thruster: named_tables(LineThrusterSection) = []  # noqa: RUF012
    control: LineSteering | None = None
    orbit: ClassVar[None] = None
    tree: ClassVar[list[Any]] = []
    tank: ClassVar[list[Any]] = []
    off_line: ClassVar = {
        "orbit": "an orbit is no line",
        "tree": "the links of a URDF file are in space",
        "tank": "liquid sloshes across the axis of its tank",
        "connection": "on a line a joint or a latch holds bodies together",
    }

    def compliant_grips(self) -> str:
        """Return for a message how a latch may hold that is not rigid: nothing turns that a weld would hold."""
        return "'compliant'"

    @model_validator(mode="after")
    def refuse_far_places(self) -> Self:
        return self

    @model_validator(mode="after")
    def check_contacts(self) -> Self:
        for contact in self.contact:
            (first, _), (second, _) = (self.place(name, f"{contact.key}.between") for name in contact.between)
            if first == second:
                refuse(f"{contact.key}.between = {contact.between}: both are of the body {first!r}")
            if self.named(first).fixed and self.named(second).fixed:
                refuse(f"{contact.key}.between = {contact.between}: both bodies are fixed; one must be able to move")
        return self

    @model_validator(mode="after")
    def check_bilateral_contacts(self) -> Self:
        contacts: list[Any] = self.contacts
        for contact in contacts:
            if not contact.bilateral:
                continue
            key, law = f"{contact.key}.bilateral = true", contact.normal
            if law is None:
                refuse(f"{key}: what is struck parts; must state normal, not impact")
            if law.law != "spring-dashpot":
                refuse(f"{key}: a {law.law} contact does not act both ways; must be law = 'spring-dashpot'")
            if law.restitution is not None:
                where = self.law_key(contact, "normal")
                refuse(
                    f"{where}.restitution: a contact that acts both ways never parts; must be damping or damping_ratio"
                )
        return self

    @model_validator(mode="after")
    def check_facing(self) -> Self:
        if self.approach is not None:
            (_, own), (_, to) = map(self.find, (self.approach.of, self.approach.to))
            if own.axis is not None and own.axis == to.axis:
                refuse(f"approach: {self.approach.of!r} and {self.approach.to!r} face the same way, and nothing turns")
        return self

    @model_validator(mode="after")
    def refuse_coinciding_ends(self) -> Self:
        for element in self.elements:
            if isinstance(element, LineStrutSection | LineCableSection | LineMagnetSection):
                (one, other), ends = (self.begins_at(name) for name in element.between), element.anchor
                if one + ends[0] == other + ends[1]:
                    refuse(
                        f"{element.path}.anchor: both ends begin at one place, where a {element.kind} has no direction; "
                        "must be apart, or a bushing in its place"
                    )
        return self

    def begins_at(self, name: str) -> float:
        """Return where a body begins on the line (m); slides at zero, and one that approaches where it would be without."""
        body = self.named(name)
        place = float(body.position or 0.0)  # type: ignore[arg-type]
        return place if body.on is None else place + self.begins_at(body.on)

    def place(self, name: str, key: str = "") -> tuple[str, float]:
        """Return the body of a place and where on it that is (m): a body's own place, or one of its ports.

        `key` is where the scenario has the name.
        """
        if name in self.names():
            return name, CENTRE
        carried = [(body.name, one) for body in self.body for one in body.port]
        found = [(body, one.position) for body, one in carried if name in (one.name, f"{body}.{one.name}")]
        if not found:
            known = [*self.names(), *(f"{body}.{one.name}" for body, one in carried)]
            refuse(f"{key} has {name!r}: no such body or port; {nearest(name, known)}")
        if len(found) > 1:
            bodies = " and ".join(body for body, _ in found)
            refuse(f"{key} has {name!r}: {bodies} have such a port; must be named as body.name")
        return found[0]

    def find(self, name: str, kinds: Sequence[str] = CARRIED, key: str = "") -> tuple[str, Any]:
        body, found = super().find(name, kinds, key)
        return body, found.in_space()

    def sides(self, contact: LineContactSection) -> tuple[tuple[str, Any], tuple[str, Any]]:  # type: ignore[override]
        (first, own), (second, other) = map(self.place, contact.between)
        own_name, other_name = contact.between
        feature = BallSection.model_construct(name=own_name, position=in_space(own))
        surface = PlaneShape.model_construct(name=other_name, point=in_space(other), normal=in_space(-1.0))
        return (first, feature), (second, surface)

    def geometries(self, feature: Any, partner: Any) -> list[PairGeometry]:  # noqa: ANN401, sections
        from dockdyn.contact.pairs import PlacesOnLine

        return [PlacesOnLine(jnp.asarray(feature.position[0], float), jnp.asarray(partner.point[0], float))]

    def groups(self, frames: Frames) -> tuple[ContactGroup | ImpactContact, ...]:
        from dockdyn.contact.group import ContactGroup
        from dockdyn.mechanism.bilateral_group import BilateralGroup

        found = list(super().groups(frames))
        for number, (contact, group) in enumerate(zip(self.contact, found, strict=True)):
            if contact.bilateral and isinstance(group, ContactGroup):
                found[number] = BilateralGroup.around(group)
        return tuple(found)

    def meetings(self) -> list[tuple[str, float]]:
        both = zip(self.contact, super().meetings(), strict=True)
        return [(name, math.inf if contact.bilateral else deepest) for contact, (name, deepest) in both]

    def places_told(self, body: LineBodySection) -> list[PortSection]:  # type: ignore[override]
        return [port.in_space() for port in body.port]

    def _start(self, name: str, start: Callable[[str], tuple[Pose, Twist]]) -> tuple[Pose, Twist]:
        approach = self.approaches()
        if self.approach is None or approach is None or approach[0] != name:
            return self.named(name).start()
        from dockdyn.mechanics.rigid_body import Pose, Twist
        from dockdyn.mechanics.vector import Vector

        own, port = self.find(self.approach.of)
        place, _ = self.in_root(own, port.position)
        other, (_, to) = start(approach[1]), self.find(self.approach.to)
        out = float(to.axis[0])
        away = Vector.of(place) - Vector.of(in_space_of(to.position[0] + out * self.approach.distance))
        return (
            Pose(other[0].position - away, other[0].attitude),
            Twist(other[1].velocity - Vector.of(in_space_of(out * self.approach.closing_speed)), other[1].rate),
        )

    def acting_in_pairs(self) -> Mechanism:
        return replace(super().acting_in_pairs(), on_line=True)


def in_space_of(number: Any) -> Any:  # noqa: ANN401, a number, also a traced one, as an array
    """Return a number on the line as a vector."""

    return jnp.stack([jnp.asarray(part, float) for part in in_space(number)])


class LineMechanismSection(BodiesOnLineSection, MechanismSection):
    """A mechanism on a line."""
