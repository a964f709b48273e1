"""How a scenario states an attitude: Euler angles, axis and angle, two axes, a matrix or a quaternion."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from dockdyn.deferred import Array, Float, xp
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Number, quantity
from dockdyn.scenario.tables.geometry import Direction, Triple
from dockdyn.scenario.tables.part import refuse

LEVEL = [1.0, 0.0, 0.0, 0.0]  # the quaternion that turns nothing
NEAR = 1e-3  # of unit length, of a right angle (rad): what rounded numbers may be off
FORMS = "a quaternion [w, x, y, z], {euler, order}, {axis, angle}, two of {x, y, z}, or {matrix}"
KEYS = {
    "by Euler angles": {"euler", "order"},
    "by axis": {"axis", "angle"},
    "by matrix": {"matrix"},
    "by axes": {*"xyz"},
}
Angle = quantity("rad", "an angle")


class Turned(Section):
    """An attitude that is not stated as a quaternion."""

    def quaternion(self) -> Float[Array, "4"]:
        """Return the attitude as a unit quaternion, scalar first; also from traced numbers."""
        raise TypeError


class EulerAngles(Turned):
    """Angles about the axes of the body that `order` names, one after another, each as the ones before have turned it."""

    euler: Annotated[list[Angle], Field(min_length=3, max_length=3)]
    order: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"]

    def quaternion(self) -> Float[Array, "4"]:
        first, second, third = map(_turn, self.order, [xp.asarray(angle, float) for angle in self.euler])
        return (first * second * third).array()


class AxisAngle(Turned):
    """A turn about an axis, right-handed."""

    axis: Direction
    angle: Angle

    def quaternion(self) -> Float[Array, "4"]:
        axis, half = xp.asarray(self.axis, float), xp.asarray(self.angle, float) / 2
        return xp.concatenate([xp.cos(half)[None], xp.sin(half) * axis / xp.sqrt(xp.sum(axis * axis))])


class TwoAxes(Turned):
    """Where two of the body's axes point, at right angles; the first of them exactly."""

    x: Direction | None = None
    y: Direction | None = None
    z: Direction | None = None

    def _stated(self) -> dict[str, list[float]]:
        return {name: value for name in "xyz" if (value := getattr(self, name)) is not None}

    @model_validator(mode="after")
    def at_right_angles(self) -> Self:
        if len(self._stated()) != 2:
            refuse("must state two of x, y and z, where these axes of the body point")
        (first, one), (second, other) = ((name, np.array(value)) for name, value in self._stated().items())
        cosine = float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
        if abs(cosine) > NEAR:
            refuse(
                f"{first} and {second} must be at right angles; they are {math.degrees(math.acos(cosine)):.4g} deg apart"
            )
        return self

    def quaternion(self) -> Float[Array, "4"]:
        (first, one), (second, other) = ((name, xp.asarray(value, float)) for name, value in self._stated().items())
        one = one / xp.sqrt(xp.sum(one * one))
        other = other - one * (one @ other)
        other = other / xp.sqrt(xp.sum(other * other))
        third = xp.cross(one, other) if first + second != "xz" else xp.cross(other, one)
        (last,) = set("xyz") - {first, second}
        columns = {first: one, second: other, last: third}
        return _of_matrix(xp.stack([columns[name] for name in "xyz"], axis=1))


class RotationMatrix(Turned):
    """A matrix whose columns are where the body's axes point."""

    matrix: Annotated[list[Triple], Field(min_length=3, max_length=3)]

    @model_validator(mode="after")
    def check_rotation(self) -> Self:
        matrix = np.array(self.matrix, float)
        if np.abs(matrix.T @ matrix - np.eye(3)).max() > NEAR or np.linalg.det(matrix) < 0:
            refuse("matrix must be a rotation: columns of unit length at right angles, right-handed")
        return self

    def quaternion(self) -> Float[Array, "4"]:
        return _of_matrix(xp.asarray(self.matrix, float))


def _turn(axis: str, angle: Any) -> Any:  # noqa: ANN401, a traced number, a Quaternion
    """Return the turn about an axis by an angle (rad)."""

    from dockdyn.mechanics.rotation import Quaternion

    parts = [xp.cos(angle / 2), *(xp.sin(angle / 2) if name == axis else xp.zeros(()) for name in "xyz")]
    return Quaternion.of(parts)


def _of_matrix(matrix: Float[Array, "3 3"]) -> Float[Array, "4"]:
    from dockdyn.mechanics.rotation import Quaternion
    from dockdyn.mechanics.vector import Matrix

    return Quaternion.from_matrix(Matrix.of(matrix)).array()


def _unit(value: list[float]) -> list[float]:
    """Return a quaternion, normalised when it is within 1e-3 of unit length."""
    length = math.sqrt(sum(part * part for part in value))
    if abs(length - 1) > NEAR:
        refuse(f"must be a quaternion within 1e-3 of unit length, scalar first; its length is {length:g}")
    return value if abs(length - 1) < 1e-15 else [part / length for part in value]


def _form(value: object) -> str:
    """Return in which form an attitude is stated."""
    if isinstance(value, list):
        return "by quaternion"
    keys: Any = value if isinstance(value, dict) else type(value).model_fields  # type: ignore[attr-defined]
    return next((form for form, own in KEYS.items() if own & keys.keys()), "by axes")


def _refuse_unknown_form(value: object) -> object:
    """Refuse what has none of the forms."""
    stated = value.keys() if isinstance(value, dict) else ()
    if isinstance(value, list | Turned) or any(own & set(stated) for own in KEYS.values()):
        return value
    refuse(f"must be {FORMS}")


Attitude = Annotated[
    Annotated[Annotated[list[Number], Field(min_length=4, max_length=4), AfterValidator(_unit)], Tag("by quaternion")]
    | Annotated[EulerAngles, Tag("by Euler angles")]
    | Annotated[AxisAngle, Tag("by axis")]
    | Annotated[TwoAxes, Tag("by axes")]
    | Annotated[RotationMatrix, Tag("by matrix")],
    Discriminator(_form),
    BeforeValidator(_refuse_unknown_form),
]


def quaternion_of(stated: Any) -> Float[Array, "4"]:  # noqa: ANN401, of the type `Attitude`, or None
    """Return an attitude as a unit quaternion, scalar first, also from traced numbers; level where none is stated."""

    return stated.quaternion() if isinstance(stated, Turned) else xp.asarray(LEVEL if stated is None else stated, float)
