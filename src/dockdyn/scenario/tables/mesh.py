"""A surface that a mesh file describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from dockdyn.deferred import jnp
from dockdyn.scenario.language.errors import shown
from dockdyn.scenario.language.given_file import MESH, refusal
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.meshes.contents import SUFFIXES, check_mesh_file
from dockdyn.scenario.meshes.mesh_file import MeshFile, MeshUnit, length_in_words
from dockdyn.scenario.tables.attitude import LEVEL, Attitude, quaternion_of
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.part import Shape, refuse, without_computed

Made = Literal["cloud", "field", "solid"]
NOT_MADE = "not_made"  # the sort of problem that a section has of whose mesh nothing is made yet
_later: ContextVar[tuple[Made, ...]] = ContextVar("what is made of meshes later", default=())
HUGE = 50  # times what is a length of the body: such a mesh is hardly in metres


class FieldSection(Section):
    """What has been computed of a mesh: numbers of a spline, and how well it fits."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    coefficients: np.ndarray
    children: np.ndarray
    counts: np.ndarray
    corner: np.ndarray
    spacing: float
    finest: float
    steepest: float
    error: float
    largest_error: float
    convex_error: float
    concave_error: float
    size: float


class MeshInFile(Protocol):
    """What is asked of a section that names a mesh file."""

    @property
    def file(self) -> str: ...

    @property
    def unit(self) -> str | None: ...

    @property
    def repair(self) -> bool: ...


@contextmanager
def make_later(*sorts: Made) -> Iterator[None]:
    """Make none of these of mesh files, which takes a while: their sections have a problem instead, `NOT_MADE`."""
    token = _later.set(sorts)
    try:
        yield
    finally:
        _later.reset(token)


def read_mesh[Result](section: MeshInFile, sort: Made, maker: Callable[[MeshFile], Result]) -> Result:
    """Return what `maker` makes of the mesh file of a section, which is of a `sort`; refuses what is none."""
    name = section.file
    file = Path(name)
    if file.suffix.lower() not in SUFFIXES:
        refuse(f"file = {shown(name)}: must be a mesh, a file that ends in {', '.join(SUFFIXES)}")
    try:
        check_mesh_file(file)
        if sort in _later.get():
            raise PydanticCustomError(NOT_MADE, "nothing is made of the mesh yet")
        return maker(MeshFile(file, file.stat().st_mtime_ns, section.unit, section.repair))
    except PydanticCustomError as problem:
        if problem.type == NOT_MADE:
            raise
        refuse(f"file = {shown(file.name)}: {problem}")
    except OSError as error:
        refuse(str(refusal(error, f"file = {shown(name)}", MESH)))


def doubt_unit(size: float, reach: float, key: str) -> str:
    """Return what to say of a mesh of this size (m) that is `HUGE` beside a length of its body, `reach` (m); empty of any
    other.

    `key` is what states its unit.
    """
    return f"is {size:g} m large; is it in mm? state {key}" if size > HUGE * reach > 0 else ""


class MeshSection(Shape):
    """The closed mesh in a file, placed on its body."""

    computed_from: ClassVar = ("tolerance", "tip_radius")
    shape: Literal["mesh"] = "mesh"
    file: str
    unit: MeshUnit | None = None
    repair: bool = False
    point: Point = [0.0, 0.0, 0.0]  # noqa: RUF012
    attitude: Attitude = LEVEL
    axis: Direction = [1.0, 0.0, 0.0]  # noqa: RUF012
    tolerance: Length = 2e-4  # m
    tip_radius: quantity("m", "a radius", least=0) = 0.0
    field: SkipJsonSchema[FieldSection | None] = Field(None, exclude=True, repr=False)

    def data_file(self) -> str | None:
        return self.file

    @model_validator(mode="before")
    @classmethod
    def without_field(cls, value: object) -> object:
        """Refuse a stated field, which is computed."""
        return without_computed(value, "field")

    @model_validator(mode="after")
    def compute_field(self) -> Self:
        found = read_mesh(self, "field", self._field)
        return self.model_copy(update={"field": FieldSection(**found._asdict())})

    def _field(self, mesh: MeshFile) -> Any:  # noqa: ANN401, of a module that is imported late
        from dockdyn.scenario.meshes.kept import field_of

        return field_of(mesh, self.tolerance, self.tip_radius)

    def check_unit(self, arm: float) -> None:
        assert self.field is not None
        if self.unit is None and (doubt := doubt_unit(self.field.size, arm, "unit")):
            refuse(f"file = {shown(Path(self.file).name)}: {doubt}")

    def check_tip(self, radius: float) -> None:
        assert self.field is not None
        own, needed = (length_in_words(one, self.unit) for one in (self.tip_radius, radius))
        if radius > self.tip_radius:
            refuse(f"tip_radius = {own}: must be at least that of what touches the mesh, {needed}")
        if radius < self.tip_radius - self.field.finest:
            refuse(
                f"tip_radius = {own}: must be that of what touches the mesh, {needed}, where it is near enough; for tips of "
                "two sizes name the mesh in two surfaces"
            )

    def make(self) -> Any:  # noqa: ANN401, a surface

        from dockdyn.contact.surfaces.distance_field import DistanceField

        assert self.field is not None
        axis = jnp.asarray(self.axis, float)
        return DistanceField(
            coefficients=jnp.asarray(self.field.coefficients, float),
            children=jnp.asarray(self.field.children),
            counts=jnp.asarray(self.field.counts, float),
            corner=jnp.asarray(self.field.corner, float),
            spacing=jnp.asarray(self.field.spacing, float),
            finest=jnp.asarray(self.field.finest, float),
            steepest=jnp.asarray(self.field.steepest, float),
            point=jnp.asarray(self.point, float),
            attitude=quaternion_of(self.attitude),
            axis=axis / jnp.linalg.norm(axis),
        )
