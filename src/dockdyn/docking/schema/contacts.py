"""What touches what in a mechanism, and how a port approaches another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from dockdyn.deferred import jnp
from dockdyn.docking.schema.variational_limits import ELASTIC
from dockdyn.scenario.language.or_none import NONE, OrNone
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.approach import ApproachSection
from dockdyn.scenario.tables.impact_law import REST_SPEED, ImpactLawSection, friction_at_rest
from dockdyn.scenario.tables.own_impact import OwnImpact, or_own
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import FrictionSection, NormalLawSection

if TYPE_CHECKING:
    from dockdyn.contact.pairs import PairGeometry
    from dockdyn.impact.laws.by_name import StatedLaw
    from dockdyn.mechanism.impact_contact import ImpactContact

LAWS = ("normal", "friction", "impact")  # of a contact


class BetweenPortsSection(ApproachSection):
    """The approach of a port or feature of one body to a port or surface of another, as seen from there."""

    of: str
    to: str


class ContactImpactSection(ImpactLawSection):
    """The law of a contact whose velocities jump, its parameters, and below which speed of rebound it comes to rest."""

    law: Literal["energetic", "newton", "poisson", "frictionless", "energy-friction", "variational"]
    energy_ratio: Number | None = None
    friction_ratio: Number | None = None
    rest_speed: quantity("m/s", "a speed", above=0) = REST_SPEED

    JOINING: ClassVar = ("pin", "weld", "weld-brake")
    LAWLESS: ClassVar = (ELASTIC,)

    @field_validator("law", mode="before")
    @classmethod
    def refuse_joining_law(cls, law: object) -> object:
        if law in cls.JOINING:
            refuse("joins what touches; that is a [latch.NAME] with grip 'pin' or 'weld'")
        return law

    def make(self) -> StatedLaw:
        return self.stated_law()

    def stated_law(self) -> StatedLaw:
        """Return the law with its parameters: of the variational one that from which its impulse is sought."""

        from dockdyn.impact.laws.by_name import LAWS, StatedLaw

        if self.law != ELASTIC:
            return super().stated_law()
        return StatedLaw({"restitution": jnp.ones(())}, ELASTIC, LAWS["frictionless"])

    def contact(self, geometry: PairGeometry, bodies: tuple[int, int], plane: bool = False) -> ImpactContact:
        """Return the contact of a geometry between two bodies by number, which move in the plane or in space."""

        from dockdyn.mechanism.impact_contact import ImpactContact

        slowest = 0.0 if self.law == ELASTIC else self.rest_speed  # what is elastic never rests
        rest = friction_at_rest(self.friction), jnp.asarray(slowest, float)
        return ImpactContact(geometry, self.stated_law(), *rest, *bodies, plane)


class OwnContactImpactSection(OwnImpact, ContactImpactSection):
    """The law of a contact whose velocities jump, "module:Class", whose parameters stand beside these keys."""

    model_config = ConfigDict(extra="allow")
    law: str  # type: ignore[assignment]


class Laws(NamedSection):
    """The laws of a contact, with the fields that `LAWS` names; with a `law`, others are shared."""

    @model_validator(mode="after")
    def one_law(self) -> Self:
        """Refuse no law, and one of a force beside one by which velocities jump."""
        if getattr(self, "law", None) is not None:
            return self
        normal, friction, impact = (getattr(self, key) for key in LAWS)
        if impact is None:
            if normal is None:
                refuse("must state normal, the law of its force, or impact, the law by which velocities jump")
            return self
        for key, law in (("normal", normal), ("friction", friction)):
            if law is not None:
                refuse(f"{key}: the law of a force, beside impact, by which velocities jump; must be left out")
        return self


class ContactLawSection(Laws):
    """The laws of a pair of materials, stated once for the contacts that name it as their `law`."""

    normal: NormalLawSection | None = None
    friction: OrNone[FrictionSection] = None
    impact: OrNone[or_own(ContactImpactSection, OwnContactImpactSection)] = None


class TouchingSection(Laws):
    """Two places that touch, and by which laws: its own, and the others that it shares."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    law: str | None = None

    @model_validator(mode="before")
    @classmethod
    def whole_laws(cls, stated: object) -> object:
        """Refuse part of a law, or "none", in the place of one that is shared."""
        if not isinstance(stated, dict) or not isinstance(shared := stated.get("law"), str):
            return stated
        for key in LAWS:
            own = stated.get(key)
            if own == NONE:
                refuse(f"{key}: is that of [contact_law.{shared}]; must be left out there, or the laws be stated here")
            if isinstance(own, dict) and "law" not in own:
                first = f".{next(iter(own))}" if own else ""
                refuse(
                    f"{key}{first}: is what [contact_law.{shared}] says; must be set there, as "
                    f"contact_law.{shared}.{key}{first}, or all of {key} be stated here, with its law"
                )
        return stated

    def with_laws_of(self, shared: Laws) -> Self:
        """Return the contact with the laws that it does not state itself from those that it shares."""
        missing = [key for key in LAWS if getattr(self, key) is None]
        return self.model_copy(update={key: getattr(shared, key) for key in missing})

    def laws(self) -> list[Section]:
        """Return the laws of its forces; none of a contact with an impact law."""
        return [law for key in ("normal", "friction") if (law := getattr(self, key)) is not None]

    @property
    def key(self) -> str:
        """The key of the contact's table."""
        return f"contact.{self.name}"


class ContactSection(TouchingSection):
    """A feature against a surface, or against another feature, of another body; "body.name", or the name alone where no other
    body has one like it."""

    normal: NormalLawSection | None = None
    friction: OrNone[FrictionSection] = None
    impact: OrNone[or_own(ContactImpactSection, OwnContactImpactSection)] = None
