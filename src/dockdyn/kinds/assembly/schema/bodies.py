"""Bodies of an assembly: rigid or flexible, with what they touch with and the places where loads are told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from pydantic import model_validator

from dockdyn.kinds.assembly.schema.features import CloudSection, FeatureSection
from dockdyn.kinds.assembly.schema.flexible import AnyFlexible
from dockdyn.kinds.assembly.schema.joints import AnyJoint, LockedSection
from dockdyn.scenario.language.also import TEXT, Also
from dockdyn.scenario.tables.body import FreeBodySection, PlaceSection
from dockdyn.scenario.tables.geometry import Direction
from dockdyn.scenario.tables.inertia import InertiaOrPoint
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.mechanics.rigid_body import RigidBody


REPAIRED = Also({"type": "string", "const": "repair"})


class PortSection(PlaceSection):
    """A named place on a body where loads are reported; with an `axis`, out of the body, also a port to dock at."""

    axis: Direction | None = None

    def outward(self) -> Float[Array, "3"] | None:
        """The axis as a unit vector; None of a point that is no port."""
        import jax.numpy as jnp

        if self.axis is None:
            return None
        axis = jnp.asarray(self.axis, float)
        return axis / jnp.linalg.norm(axis)


class BodySection(FreeBodySection):
    """A body; one that is `on` another begins there, placed in its axes, and moves with it until forces part them, or as
    a `joint` lets it. A `flexible` one bends."""

    name: str
    inertia: Annotated[
        InertiaOrPoint, REPAIRED
    ]  # of a body with a `urdf`, "repair": possible inertias for impossible ones
    on: str | None = None
    joint: AnyJoint | None = None
    flexible: AnyFlexible | None = None
    urdf: Annotated[None, TEXT] = None  # while a file is read: the URDF file whose links are then bodies
    note: str | None = None  # said of it where the scenario is checked
    unread: ClassVar[tuple[str, ...]] = ("title", "note")
    feature: list[FeatureSection] = []  # noqa: RUF012
    point: list[PortSection] = []  # noqa: RUF012

    def body(self) -> RigidBody:
        """Return the body, also from traced numbers; one that is locked may be a point mass."""
        if not isinstance(self.joint, LockedSection):
            return super().body()
        import jax.numpy as jnp

        from dockdyn.mechanics.rigid_body import RigidBody

        tensor = jnp.array(self.inertia)
        point = jnp.all(tensor == 0)
        inverse = jnp.linalg.inv(tensor + jnp.where(point, 1.0, 0.0) * jnp.eye(3))
        return RigidBody(jnp.asarray(self.mass, float), tensor, jnp.where(point, 0.0, inverse))

    @model_validator(mode="after")
    def carried(self) -> Self:
        if not np.any(self.inertia) and not isinstance(self.joint, LockedSection):
            refuse(
                "inertia: a point mass has none about which it could turn; must be above 0, or the joint be 'locked'"
            )
        arm = math.sqrt(max(map(max, self.inertia)) / self.mass)
        for feature in self.feature:
            if isinstance(feature, CloudSection):
                feature.check_unit(arm)
        if self.on is not None and (self.velocity is not None or self.rate is not None):
            refuse("a body that is on another one begins with its motion; state no velocity and no rate")
        if self.joint is not None and self.on is None:
            refuse("joint: holds a body on another one; state on")
        if self.flexible is not None:
            if self.joint is None:
                refuse('flexible: needs a joint, by which the link is held at its root; kind = "locked" clamps it')
            self.flexible.check(self.mass, self.inertia)
        return self
