"""What touches what in an assembly, and how a port approaches another one."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.approach import ApproachSection
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import FrictionSection, NormalLawSection


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
    friction: OrNone[FrictionSection] = None

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
