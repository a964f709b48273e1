"""What touches what in an assembly, and how a port approaches another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from dockdyn.kinds.assembly.schema.variational import ELASTIC
from dockdyn.scenario.language.or_none import OrNone
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


class BetweenPortsSection(ApproachSection):
    """The approach of a port to a port of another body, as seen from there; features and surfaces are ports, too."""

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
    def parting(cls, law: object) -> object:
        if law in cls.JOINING:
            refuse("joins what touches; that is a [latch.NAME] with grip 'pin' or 'weld'")
        return law

    def make(self) -> StatedLaw:
        return self.stated_law()

    def stated_law(self) -> StatedLaw:
        """Return the law with its parameters: of the variational one that from which its impulse is sought."""
        import jax.numpy as jnp

        from dockdyn.impact.laws.by_name import LAWS, StatedLaw

        if self.law != ELASTIC:
            return super().stated_law()
        return StatedLaw({"restitution": jnp.ones(())}, ELASTIC, LAWS["frictionless"])

    def contact(self, geometry: PairGeometry, bodies: tuple[int, int], plane: bool = False) -> ImpactContact:
        """Return the contact of a geometry between two bodies by number, which move in the plane or in space."""
        import jax.numpy as jnp

        from dockdyn.mechanism.impact_contact import ImpactContact

        slowest = 0.0 if self.law == ELASTIC else self.rest_speed  # what is elastic never rests
        rest = friction_at_rest(self.friction), jnp.asarray(slowest, float)
        return ImpactContact(geometry, self.stated_law(), *rest, *bodies, plane)


class OwnContactImpactSection(OwnImpact, ContactImpactSection):
    """The law of a contact whose velocities jump, "module:Class", whose parameters stand beside these keys."""

    model_config = ConfigDict(extra="allow")
    law: str  # type: ignore[assignment]


class ContactSection(NamedSection):
    """A feature against a surface, or against another feature, of another body; "body.name", or the name alone where no other
    body has one like it."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    normal: NormalLawSection | None = None
    friction: OrNone[FrictionSection] = None
    impact: OrNone[or_own(ContactImpactSection, OwnContactImpactSection)] = None

    @model_validator(mode="after")
    def one_law(self) -> Self:
        if self.impact is None:
            if self.normal is None:
                refuse("must state normal, the law of its force, or impact, the law by which velocities jump")
            return self
        for key in ("normal", "friction"):
            if getattr(self, key) is not None:
                refuse(f"{key}: the law of a force, beside impact, by which velocities jump; must be left out")
        return self

    def laws(self) -> list[Section]:
        """Return the laws of its forces; none of a contact with an impact law."""
        return [law for law in (self.normal, self.friction) if law is not None]

    @property
    def key(self) -> str:
        """The key of the contact's table."""
        return f"contact.{self.name}"
