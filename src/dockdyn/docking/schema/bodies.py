"""Bodies of a mechanism: rigid or flexible, with what they touch with and the places where loads are told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.docking.schema.any_flexible import AnyFlexible
from dockdyn.docking.schema.features import CloudSection, FeatureSection
from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.joints import AnyJoint, LockedSection
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.tables.attitude import Attitude
from dockdyn.scenario.tables.body import FreeBodySection, PlaceSection
from dockdyn.scenario.tables.geometry import Direction, Point
from dockdyn.scenario.tables.inertia import InertiaOrPoint
from dockdyn.scenario.tables.motion import Rate, Velocity
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import Shape, refuse

if TYPE_CHECKING:
    from dockdyn.mechanics.rigid_body import RigidBody


class PortSection(PlaceSection):
    """A named place on a body where loads are reported; with an `axis`, out of the body, also a port to dock at."""

    axis: Direction | None = None

    def outward(self) -> Float[Array, "3"] | None:
        """Return the axis as a unit vector; None of a point that is no port."""

        if self.axis is None:
            return None
        axis = jnp.asarray(self.axis, float)
        return axis / jnp.linalg.norm(axis)


def kind_of(carried: Section) -> str:
    """Return under which key a body has what it carries: `feature`, `surface` or `port`."""
    if isinstance(carried, Shape):
        return "surface"
    return "port" if isinstance(carried, PortSection) else "feature"


class BodySection(FreeBodySection):
    """A body; one that is `on` another begins there, placed in its axes, and moves with it until forces part them, or as
    a `joint` lets it. A `flexible` one bends."""

    inertia: InertiaOrPoint
    on: str | None = None
    joint: AnyJoint | None = None
    flexible: AnyFlexible | None = None
    note: str | None = None  # said of it where the scenario is checked
    unread: ClassVar[tuple[str, ...]] = ("title", "note")
    feature: named_tables(FeatureSection) = []  # noqa: RUF012
    port: named_tables(PortSection) = []  # noqa: RUF012

    def body(self) -> RigidBody:
        """Return the body, also from traced numbers; one that is locked may be a point mass."""
        if not isinstance(self.joint, LockedSection):
            return super().body()

        from dockdyn.mechanics.rigid_body import RigidBody

        tensor = xp.array(self.inertia)
        point = xp.all(tensor == 0)
        inverse = xp.linalg.inv(tensor + xp.where(point, 1.0, 0.0) * xp.eye(3))
        return RigidBody(xp.asarray(self.mass, float), tensor, xp.where(point, 0.0, inverse))

    @model_validator(mode="after")
    def check_carrier(self) -> Self:
        if not np.any(self.inertia) and not isinstance(self.joint, LockedSection):
            refuse(
                "inertia: a point mass has none about which it could turn; must be above 0, or the joint be 'locked'"
            )
        arm = math.sqrt(max(map(max, self.inertia)) / self.mass)
        for shape in [*self.feature, *self.surface] if not self.fixed else []:
            if isinstance(shape, CloudSection | Shape):
                shape.check_unit(arm)
        if self.fixed and self.on is not None:
            refuse("on: a body that is fixed is on no other; must be left out, with its joint")
        if self.on is not None and (self.velocity is not None or self.rate is not None):
            refuse("a body that is on another one begins with its motion; state no velocity and no rate")
        if self.joint is not None and self.on is None:
            refuse("joint: holds a body on another one; state on")
        if self.flexible is not None:
            free = isinstance(self.flexible, FiniteElementSection)
            if self.fixed:
                refuse(
                    "flexible: a body that is fixed does not move; fixed must be left out, or the body be on a fixed one by a "
                    'joint, kind = "locked", which holds what is nearest to it'
                )
            if not free and self.joint is None:
                refuse('flexible: needs a joint, by which the link is held at its root; kind = "locked" clamps it')
            self.flexible.check(self.mass, self.inertia)
            if isinstance(self.flexible, FiniteElementSection) and self.joint is not None:
                from dockdyn.docking.linked_trees import arm_of

                root = (-arm_of(self)).array().tolist()
                return self.model_copy(update={"flexible": self.flexible.held_at(root)})
        return self


class TreeSection(NamedSection):
    """The links of a URDF file as bodies `NAME.LINK`, where its root begins, and what holds that; read before a scenario is
    checked, so that one that is checked has none."""

    urdf: str
    on: str | None = None
    position: Point | None = None
    velocity: Velocity | None = None
    attitude: Attitude | None = None
    rate: Rate | None = None
    joint: AnyJoint | None = None
    inertia: Literal["repair"] | None = None  # possible inertias for impossible ones
    body: dict[str, dict[str, Any]] = {}  # noqa: RUF012, by link: what the file lacks, with the keys of a body
