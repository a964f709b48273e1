"""Where and how chaser and target of a berthing touch: `[contact]` and `[impact]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict, model_validator

from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.language.waiting import wait_for
from dockdyn.scenario.tables.impact_law import REPEATING, REST_SPEED, ImpactLawSection, friction_at_rest
from dockdyn.scenario.tables.own_impact import OwnImpact
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Direction, FrictionSection, NormalLawSection, SurfaceSection
from dockdyn.scenario.tables.parts import Point as PointField

if TYPE_CHECKING:
    from dockdyn.contact.group import ContactGroup
    from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
    from dockdyn.contact.surfaces.surface import Surface
    from dockdyn.elements.grip import Hold
    from dockdyn.impact.laws.by_name import StatedLaw
    from dockdyn.mechanism.impact_contact import ImpactContact

ON_SURFACE = 1e-6  # m


class TouchSection(Section):
    """Where chaser and target touch: a link of each, the place on the chaser's, and on the target's a place or a distance.

    A `surface` of the target's link, or the sphere of `target_radius` about its frame, is what the place on the chaser can
    touch again; `normal` and `friction` are the forces of a compliant contact.
    """

    chaser: str
    chaser_position: PointField = [0.0, 0.0, 0.0]  # noqa: RUF012
    target: str
    target_position: PointField | None = None
    target_radius: quantity("m", "a radius", above=0) | None = None
    surface: OrNone[SurfaceSection] = None
    normal: OrNone[NormalLawSection] = None
    friction: OrNone[FrictionSection] = None

    @model_validator(mode="after")
    def placed(self) -> Self:
        if (self.target_position is None) == (self.target_radius is None):
            both = "not both" if self.target_radius is not None else "one of them"
            refuse(f"target_position or target_radius: give {both}")
        if self.surface is not None:
            if self.target_position is None:
                refuse("surface: needs the target_position on it that touches")
            self.surface.check_tip(self.chaser_position, 0.0)
            wait_for("jax")
            from dockdyn.report.sampled_surface import signed_distances
            from dockdyn.scenario.made import made

            (off,) = signed_distances(made(self.surface), np.array([self.target_position]))
            if not abs(off) <= ON_SURFACE:
                refuse(
                    f"target_position: is {abs(off):g} m {'inside' if off < 0 else 'outside'} the surface; must be on it"
                )
        return self

    def solid(self) -> Surface | None:
        """What the place on the chaser can touch, in axes of the target's link."""
        import jax.numpy as jnp

        from dockdyn.contact.surfaces.sphere import Sphere

        if self.surface is not None:
            return self.surface.make()
        if self.target_radius is None:
            return None
        return Sphere(jnp.zeros(3), jnp.asarray(self.target_radius, float), inside=False)

    def geometry(self) -> BallOnSurface:
        """Return the place on the chaser and what it can touch."""
        import jax.numpy as jnp

        from dockdyn.contact.pairs.ball_on_surface import BallOnSurface

        solid = self.solid()
        assert solid is not None
        return BallOnSurface(jnp.asarray(self.chaser_position, float), None, solid)


class ImpactSection(ImpactLawSection):
    """The impact law and its parameters."""

    KEYS: ClassVar = {"energy_ratio": "r_e", "friction_ratio": "r_f"}
    LAWLESS: ClassVar = ("compliant",)

    law: Literal[
        "pin", "weld", "weld-brake", "energetic", "newton", "poisson", "frictionless", "energy-friction", "compliant"
    ]
    normal: Literal["y", "hand"] | Direction | None = None
    lock: list[str] = []  # noqa: RUF012
    r_e: Number | None = None
    r_f: Number | None = None
    again: bool = False
    rest_speed: quantity("m/s", "a speed", above=0) = REST_SPEED

    @model_validator(mode="after")
    def complete(self) -> Self:
        self.check_parameters()
        if self.again and self.law in self.LAWLESS:
            refuse("again: is of impacts; a compliant contact comes and goes without it, leave it out")
        if self.again and self.law not in REPEATING:
            refuse(f"again: law {self.law} is for one impact; must be one of {', '.join(REPEATING)}")
        if not self.again and self.rest_speed != REST_SPEED:
            refuse("rest_speed: is of repeated impacts; needs again = true, or leave it out")
        return self

    def make(self) -> StatedLaw:
        return self.stated_law()

    def acting(
        self, touch: TouchSection, bodies: tuple[int, int], planar: bool
    ) -> ContactGroup | ImpactContact | Hold | None:
        """Return what acts after t = 0 between two bodies by number: a contact, or a grip."""
        import jax.numpy as jnp

        from dockdyn.contact.group import ContactGroup
        from dockdyn.kinds.berthing.model import COMPLIANT
        from dockdyn.mechanism.impact_contact import ImpactContact

        law = self.make()
        if law.name in ("pin", "weld"):
            return "pin" if law.name == "pin" else "weld"
        if self.law == COMPLIANT:
            assert touch.normal is not None
            friction = None if touch.friction is None else touch.friction.make()
            return ContactGroup.of([touch.geometry()], bodies, touch.normal.make(), friction)
        if not self.again:
            return None
        rest = friction_at_rest(self.friction), jnp.asarray(self.rest_speed, float)
        return ImpactContact(touch.geometry(), law, *rest, *bodies, planar)


class OwnImpactSection(OwnImpact, ImpactSection):
    """The impact law, "module:Class", whose parameters stand beside these keys."""

    model_config = ConfigDict(extra="allow")
    law: str  # type: ignore[assignment]

    def make(self) -> StatedLaw:
        return self.stated_law()
