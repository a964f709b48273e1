"""The bay into which an arm lowers its payload: surfaces, the law of impacts, the latch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.impact_law import ImpactLawSection
from dockdyn.scenario.tables.own_impact import OwnImpact
from dockdyn.scenario.tables.part import refuse, refuse_repeated
from dockdyn.scenario.tables.parts import Point, SurfaceSection
from dockdyn.scenario.tables.tree import NOTHING

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.kinds.orbital_arm.model_parts import Law, Loop, Touch


class BaySection(Section):
    """Points of one link that touch surfaces of the station."""

    link: str
    points: Annotated[list[Point], Field(min_length=1)] = [[0.0, 0.0, 0.0]]  # noqa: RUF012
    surface: Annotated[list[SurfaceSection], Field(min_length=1)]

    @model_validator(mode="after")
    def named(self) -> Self:
        names = self.names()
        if None in names:
            refuse("every surface needs a name")
        refuse_repeated(names, "surfaces")
        for surface in self.surface:
            for point in self.points:
                surface.check_tip(point, 0.0)
        return self

    def names(self) -> list[str]:
        return [surface.name for surface in self.surface]

    def make(self, payload: int) -> Touch:
        """What touches what, the link that touches being the tree's link `payload`."""
        import jax.numpy as jnp

        from dockdyn.kinds.orbital_arm.model_parts import Touch

        surfaces = tuple(surface.make() for surface in self.surface)
        return Touch(points=jnp.asarray(self.points, float), surfaces=surfaces, link=payload)


class BounceSection(ImpactLawSection):
    """The law of impacts, and below which speed of rebound a contact stays."""

    LAWLESS: ClassVar = ("variational",)

    law: Literal["frictionless", "energetic", "poisson", "newton", "variational"] = "frictionless"
    rest_speed: quantity("m/s", "a speed", above=0) = 1e-4

    def make(self) -> Law:
        import jax.numpy as jnp

        from dockdyn.kinds.orbital_arm.model_parts import Law

        return Law(impact=self.stated_law(), rest_speed=jnp.asarray(self.rest_speed, float))

    def lossless(self) -> bool:
        """Whether the law takes no energy, so that nothing comes to rest."""
        from dockdyn.kinds.orbital_arm.model import VARIATIONAL
        from dockdyn.scenario.made import made

        return self.law == VARIATIONAL or made(self).impact.lossless()


class OwnBounceSection(OwnImpact, BounceSection):
    """The law of impacts, "module:Class", whose parameters stand beside these keys."""

    model_config = ConfigDict(extra="allow")
    law: str  # type: ignore[assignment]

    def make(self) -> Law:
        return BounceSection.make(self)


class BayLatchSection(Section):
    """A latch at a surface: an impact there is plastic and closes it."""

    surface: str
    hold: Literal["pin", "weld"] = "pin"

    def check(self, bay: BaySection | None) -> None:
        if bay is None:
            refuse("latch: needs a [contact] with the surface that latches")
        elif self.surface not in bay.names():
            refuse(f"latch.surface = {self.surface!r}: no surface of the contact; {nearest(self.surface, bay.names())}")


class ClosureSection(Section):
    """Two points of two links that stay together."""

    links: Annotated[list[str], Field(min_length=2, max_length=2)]
    points: Annotated[list[Point], Field(min_length=2, max_length=2)] = [NOTHING, NOTHING]  # noqa: RUF012
    hold: Literal["pin", "weld"] = "pin"

    def check(self, names: list[str]) -> None:
        """Refuses links that there are not."""
        for link in self.links:
            if link not in names:
                refuse(f"closure.links: {link!r} is no link of the arm; {nearest(link, names)}")
        if self.links[0] == self.links[1]:
            refuse(f"closure.links: {self.links[0]!r} twice; must be two links")

    def make(self, names: Sequence[str], rotation: Sequence[Float[Array, "3 3"]]) -> Loop:
        """The loop, from the links' names and rotations at the start."""
        import jax.numpy as jnp

        from dockdyn.kinds.orbital_arm.model_parts import Loop

        first, second = (names.index(link) for link in self.links)
        off = rotation[first].T @ rotation[second]
        return Loop(jnp.asarray(self.points, float), off, links=(first, second), weld=self.hold == "weld")
