"""A free rigid body in a scenario: its mass and inertia, how it begins to move, what it carries."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from dockdyn.deferred import xp
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import NamedSection
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.attitude import Attitude, quaternion_of
from dockdyn.scenario.tables.geometry import Point
from dockdyn.scenario.tables.inertia import Inertia
from dockdyn.scenario.tables.look import LookSection
from dockdyn.scenario.tables.motion import Rate, Velocity
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse, refuse_repeated
from dockdyn.scenario.tables.parts import SurfaceSection

if TYPE_CHECKING:
    from dockdyn.mechanics.rigid_body import Pose, RigidBody, Twist
    from dockdyn.mechanics.vector import Vector


# of what is fixed, kg and kg m²: what pushes it moves it by less than rounding, and the momentum that it takes counts
FIXED = {"mass": 1e24, "inertia": [[1e28, 0.0, 0.0], [0.0, 1e28, 0.0], [0.0, 0.0, 1e28]]}
CARRIED = ("feature", "surface", "port")  # what a body has under names, of which each is there once


class PlaceSection(NamedSection):
    """A named place on a body, where loads are reported."""

    position: Point


class FreeBodySection(NamedSection):
    """A free rigid body; who has them says what features and ports it can carry."""

    fixed: bool = False
    mass: quantity("kg", "a mass", above=0)
    inertia: Inertia
    position: Point | None = None
    velocity: Velocity | None = None
    attitude: Attitude | None = None
    rate: Rate | None = None
    look: OrNone[LookSection] = None
    surface: named_tables(SurfaceSection) = []  # noqa: RUF012

    @model_validator(mode="before")
    @classmethod
    def fill_fixed_body(cls, value: object) -> object:
        """Return a body that is fixed with a mass and an inertia beside which others are nothing; refuses what it states."""
        if not isinstance(value, dict) or value.get("fixed") is not True:
            return value
        given = {key: number for key, number in FIXED.items() if key in cls.model_fields}
        for key in given.keys() & value.keys():
            refuse(f"{key}: a body that is fixed needs none; must be left out")
        return value | given

    def unstated(self) -> Collection[str]:
        """Return mass and inertia of a body that is fixed."""
        return FIXED if self.fixed else ()

    @model_serializer(mode="wrap")
    def _as_stated(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = write(self)
        return {key: value for key, value in found.items() if key not in self.unstated()}

    @model_validator(mode="after")
    def refuse_motion_of_fixed(self) -> Self:
        moves = [key for key in ("velocity", "rate") if self.fixed and getattr(self, key, None) is not None]
        if moves:
            refuse(f"{moves[0]}: a body that is fixed rests; must be left out")
        return self

    @model_validator(mode="after")
    def refuse_repeated_names(self) -> Self:
        carried = [item.name for kind in CARRIED for item in getattr(self, kind, [])]
        refuse_repeated(carried, "features, surfaces and ports")
        return self

    def states_motion(self) -> list[str]:
        return [name for name in ("position", "velocity", "attitude", "rate") if getattr(self, name) is not None]

    def body(self) -> RigidBody:
        from dockdyn.mechanics.rigid_body import RigidBody

        return RigidBody.of(self.mass, xp.array(self.inertia))

    def start(self) -> tuple[Pose, Twist]:
        from dockdyn.mechanics.rigid_body import Pose, Twist
        from dockdyn.mechanics.rotation import Quaternion
        from dockdyn.mechanics.vector import Vector

        def vector(value: list[float] | None) -> Vector:
            return Vector.of(xp.array(value if value is not None else [0.0, 0.0, 0.0], float))

        attitude = Quaternion.of(quaternion_of(self.attitude))
        return Pose(vector(self.position), attitude), Twist(vector(self.velocity), vector(self.rate))
