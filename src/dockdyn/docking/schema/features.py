"""What bodies of a mechanism touch with: balls and points, edges, circles, one or several around an axis, and clouds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.json_schema import SkipJsonSchema

from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.meshes.mesh_file import MeshUnit
from dockdyn.scenario.tables.attitude import LEVEL, Attitude, quaternion_of
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.mesh import doubt_unit, read_mesh
from dockdyn.scenario.tables.part import refuse, without_computed

if TYPE_CHECKING:
    from dockdyn.contact.group import MemberTree

MOST = 10_000  # of members of a feature
MOST_POINTS = 1_000_000  # of a cloud
Radius = quantity("m", "a radius", least=0)


class Ball(NamedTuple):
    """A ball, or without radius a point."""

    centre: Float[Array, "3"]  # m, body axes
    radius: Float[Array, ""]  # m


class Capsule(NamedTuple):
    """All places within a radius of a segment."""

    ends: Float[Array, "2 3"]  # m, body axes
    radius: Float[Array, ""]  # m


class CircleRing(NamedTuple):
    """All places within a radius of a circle."""

    centre: Float[Array, "3"]  # m, body axes
    axis: Float[Array, "3"]  # unit vector
    major_radius: Float[Array, ""]  # m
    radius: Float[Array, ""]  # m


class RepeatedSection(NamedSection):
    """A feature, and further ones like it around an axis."""

    radius: Radius = 0.0
    copies: Annotated[int, Field(ge=1, le=MOST)] = 1
    about: Point = [0.0, 0.0, 0.0]  # noqa: RUF012
    axis: Direction = [1.0, 0.0, 0.0]  # noqa: RUF012

    def member_count(self) -> int:
        """Return how many members there are, one feature and its copies."""
        return self.copies

    def stated(self) -> list[list[float]]:
        """Return places (m, body axes) that the section states."""
        raise TypeError

    def weights(self) -> None:
        """Return no weights: each member has the contact's own force."""

    def repeated(self, points: Float[Array, "n 3"]) -> list[Float[Array, "n 3"]]:
        """Return places (m, body axes) of this feature and of those like it, each turned about the axis by its share of a
        turn."""

        from dockdyn.mechanics.rotation import Quaternion
        from dockdyn.mechanics.vector import Vector

        axis = jnp.asarray(self.axis, float)
        axis, about = axis / jnp.linalg.norm(axis), jnp.asarray(self.about, float)
        found = [points]
        for number in range(1, self.copies):
            angle = 2 * math.pi * number / self.copies
            turn = Quaternion.exponential(Vector.of(axis * angle)).matrix().array()
            found.append(about + (points - about) @ turn.T)
        return found


class BallSection(RepeatedSection):
    """Balls of one radius; points where it is zero."""

    shape: Literal["ball", "point"] = "ball"
    position: Point | None = None
    positions: Annotated[list[Point], Field(min_length=1, max_length=MOST)] | None = None

    @model_validator(mode="after")
    def check_position(self) -> Self:
        if (self.position is None) == (self.positions is None):
            refuse("must state either position or positions")
        if self.shape == "point" and self.radius:
            refuse("a point has no radius; shape must be ball")
        return self

    def member_count(self) -> int:
        return self.copies * len(self.stated())

    def stated(self) -> list[list[float]]:
        return [*(self.positions or ()), *([] if self.position is None else [self.position])]

    def members(self) -> list[Ball]:
        places, radius = jnp.asarray(self.stated(), float), jnp.asarray(self.radius, float)
        return [Ball(place, radius) for turned in self.repeated(places) for place in turned]


class EdgeSection(RepeatedSection):
    """A polyline of rounded edges; a `width` makes it two, so far apart along a direction."""

    shape: Literal["edge"] = "edge"
    points: Annotated[list[Point], Field(min_length=2, max_length=MOST)]
    width: Length | None = None
    across: Direction = [0.0, 0.0, 1.0]  # noqa: RUF012

    @model_validator(mode="after")
    def refuse_repeated_points(self) -> Self:
        if any(a == b for a, b in zip(self.points, self.points[1:], strict=False)):
            refuse("points must differ from one to the next")
        return self

    def member_count(self) -> int:
        return self.copies * (len(self.points) - 1) * (1 if self.width is None else 2)

    def stated(self) -> list[list[float]]:
        return self.points

    def members(self) -> list[Capsule]:
        points, radius = jnp.asarray(self.points, float), jnp.asarray(self.radius, float)
        lines = [points]
        if self.width is not None:
            across = jnp.asarray(self.across, float)
            half = 0.5 * self.width * across / jnp.linalg.norm(across)
            lines = [points - half, points + half]
        turned = [line for points in lines for line in self.repeated(points)]
        return [Capsule(line[i : i + 2], radius) for line in turned for i in range(len(self.points) - 1)]


class CircleSection(RepeatedSection):
    """Circles with a rounded edge, such as the rim of a ring."""

    shape: Literal["circle"] = "circle"
    centre: Point
    normal: Direction
    major_radius: Length

    def stated(self) -> list[list[float]]:
        return [self.centre]

    def members(self) -> list[CircleRing]:
        normal = jnp.asarray(self.normal, float)
        ends = jnp.stack([jnp.asarray(self.centre, float), jnp.asarray(self.centre, float) + normal])
        radii = jnp.asarray(self.major_radius, float), jnp.asarray(self.radius, float)
        return [
            CircleRing(turned[0], (turned[1] - turned[0]) / jnp.linalg.norm(normal), *radii)
            for turned in self.repeated(ends)
        ]


class SampleSection(Section):
    """What has been computed of a cloud: its points and their shares of the area."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    points: np.ndarray
    shares: np.ndarray
    spacing: float
    finest: float
    size: float
    area: float
    balls: np.ndarray
    children: np.ndarray


class CloudSection(NamedSection):
    """A closed mesh in a file that touches at points spread over it, each with its share of the contact's force.

    Balls of the `radius` about the points touch the mesh from inside.
    """

    computed_from: ClassVar = ("radius",)
    shape: Literal["cloud"]
    file: str
    unit: MeshUnit | None = None
    repair: bool = False
    count: Annotated[int, Field(ge=1, le=MOST_POINTS)] = 200
    radius: Radius = 0.0
    point: Point = [0.0, 0.0, 0.0]  # noqa: RUF012
    attitude: Attitude = LEVEL
    sample: SkipJsonSchema[SampleSection | None] = Field(None, exclude=True, repr=False)

    def data_file(self) -> str | None:
        return self.file

    @model_validator(mode="before")
    @classmethod
    def without_sample(cls, value: object) -> object:
        """Refuse a stated sample, which is computed."""
        return without_computed(value, "sample")

    @model_validator(mode="after")
    def sample_mesh(self) -> Self:
        from dockdyn.scenario.meshes.kept import cloud_of

        found = read_mesh(self, "cloud", lambda mesh: cloud_of(mesh, self.count, self.radius))
        return self.model_copy(update={"sample": SampleSection(**found._asdict())})

    def check_unit(self, arm: float) -> None:
        """Refuse a mesh without a unit that is far too large for a body with this radius of gyration (m)."""
        assert self.sample is not None
        if self.unit is None and (doubt := doubt_unit(self.sample.size, arm, "unit")):
            refuse(f"file = {shown(Path(self.file).name)}: {doubt}")

    def member_count(self) -> int:
        """Return how many points there are."""
        assert self.sample is not None
        return len(self.sample.points)

    def stated(self) -> list[list[float]]:
        """Return the place (m, body axes) that the section states."""
        return [self.point]

    def members(self) -> list[Ball]:
        """Return all balls as one, whose numbers have a leading axis."""
        assert self.sample is not None
        return [Ball(self.placed(self.sample.points), jnp.full(len(self.sample.points), self.radius, float))]

    def tree(self) -> MemberTree:
        """Return the tree over the balls."""
        from dockdyn.contact.group import MemberTree

        assert self.sample is not None
        centres, radii = self.placed(self.sample.balls[:, :3]), jnp.asarray(self.sample.balls[:, 3:])
        return MemberTree(jnp.hstack([centres, radii]), jnp.asarray(self.sample.children))

    def placed(self, points: Float[np.ndarray, "n 3"]) -> Float[Array, "n 3"]:
        """Return points of the file (m) in body axes."""
        from dockdyn.mechanics.rotation import Quaternion

        turn = Quaternion.of(quaternion_of(self.attitude)).matrix().array()
        return xp.asarray(self.point, float) + points @ turn.T

    def weights(self) -> Float[Array, "members"]:
        """Return the share of each member in the contact's force; together 1."""

        assert self.sample is not None
        return jnp.asarray(self.sample.shares)


def _shape(value: object) -> object:
    """Return what a feature is; a ball where nothing is said."""
    found = value.get("shape", "ball") if isinstance(value, dict) else getattr(value, "shape", None)
    return "ball" if found == "point" else found


FeatureSection = Annotated[
    Annotated[BallSection, Tag("ball")]
    | Annotated[EdgeSection, Tag("edge")]
    | Annotated[CircleSection, Tag("circle")]
    | Annotated[CloudSection, Tag("cloud")],
    Discriminator(_shape),
]
