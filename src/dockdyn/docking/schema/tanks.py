"""Tanks with a free surface: what stands for their liquid, as bodies on joints that a mechanism has anyway."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.deferred import Array, Float, xp
from dockdyn.docking.schema.bodies import BodySection
from dockdyn.docking.schema.joints import LockedSection, PrismaticSection, RevoluteSection, unit_axis
from dockdyn.mechanics.slosh import FILLS, Liquid, SloshingMass, liquid_in_cylinder, liquid_in_sphere, liquid_volume
from dockdyn.scenario.language.section import NamedSection, absent
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.mechanics.rigid_body import RigidBody
    from dockdyn.mechanics.vector import Vector

STEEP = 0.9  # cosine of the angle to z below which the first direction is across z
MOST_MODES = 3
HIGH = 20.0  # radii that a liquid may stand high


class LiquidPartSection(BodySection):
    """A part of a tank's liquid, as a body: what is rigid, what sloshes, or a guide without mass between the two directions in
    which that moves."""

    def body(self) -> RigidBody:
        """Return the body, also from traced numbers; nothing asks for its inverse inertia, as joints hold it."""
        from dockdyn.mechanics.rigid_body import RigidBody

        tensor = xp.asarray(self.inertia, float)
        return RigidBody(xp.asarray(self.mass, float), tensor, 0.0 * tensor)


class TankSection(NamedSection):
    """An upright circular cylinder or a sphere on a body, with a liquid that sloshes across its axis; the body's own mass is
    without it."""

    compiled: ClassVar[float] = 6.0
    absent_at_zero: ClassVar = ("damping_ratio",)
    on: str
    position: Point
    axis: Direction
    shape: Literal["cylinder", "sphere"] = "cylinder"
    radius: Length
    fill: Length
    mass: quantity("kg", "a mass", above=0) | None = None
    density: quantity("kg/m**3", "a density", above=0) | None = None
    model: Literal["spring", "pendulum"] = "spring"
    frequency: quantity("Hz", "a frequency", above=0) | None = None
    acceleration: quantity("m/s**2", "an acceleration", above=0) | None = None
    damping_ratio: quantity("", "a damping ratio", least=0, below=1) = 0.0
    modes: Annotated[int, Field(ge=1, le=MOST_MODES)] = 1
    liquid: Literal["ideal", "frozen"] = "ideal"
    start: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] = [0.0, 0.0]  # noqa: RUF012

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if (self.mass is None) == (self.density is None):
            refuse("mass, density: how much liquid there is; must be one of the two")
        if self.fill > HIGH * self.radius:
            told = f"{self.fill:g} m is over {HIGH:g} radii high; must be less"
            refuse(f'fill: {told}: is it in mm? then state it so, as in "5 mm"')
        if math.hypot(*self.start) > self.radius:
            refuse(f"start: beyond the radius of {self.radius:g} m, which is no small wave; must be less")
        if self.shape == "sphere":
            low, high = (end * 2 * self.radius for end in FILLS)
            if not low <= self.fill <= high:
                shares = " to ".join(f"{100 * end:g}" for end in FILLS)
                refuse(f"fill: of a sphere must be {shares} % of its diameter, here {low:.4g} to {high:.4g} m")
            if self.modes > 1:
                refuse("modes: of a sphere the first alone is known; must be 1")
        if self.model == "pendulum":
            if self.frequency is not None:
                refuse("frequency: a pendulum swings as thrust makes it; must be left out, or model = 'spring'")
            if not absent(self.damping_ratio) and self.acceleration is None:
                refuse("acceleration: missing; a damping_ratio is of a pendulum that swings under one")
            if abs(self.start[0]) + abs(self.start[1]) > 0.5 / float(self.contents().sloshing[0].wave_number):
                refuse("start: beyond half the length of the pendulum, which is no small wave; must be less")
        elif (self.frequency is None) == (self.acceleration is None):
            refuse(
                "frequency, acceleration: what the spring is; must be one of the two: of the first mode, or along the axis"
            )
        return self

    def contents(self) -> Liquid:
        """Return the masses that stand for the liquid, also from traced numbers."""
        radius, fill = xp.asarray(self.radius, float), xp.asarray(self.fill, float)
        if self.mass is None:
            mass = liquid_volume(self.shape, radius, fill) * xp.asarray(self.density, float)
        else:
            mass = xp.asarray(self.mass, float)
        if self.shape == "sphere":
            return liquid_in_sphere(radius, fill, mass, self.liquid == "ideal")
        return liquid_in_cylinder(radius, fill, mass, self.modes, self.liquid == "ideal")

    def directions(self) -> tuple[Vector, Vector, Vector]:
        """Return the axis and the two directions across it in which the liquid sloshes, in axes of the body.

        The first is z × axis, and y × axis of an axis that is nearly along z.
        """
        from dockdyn.mechanics.vector import Vector

        axis = unit_axis(self.axis)
        steep = xp.abs(axis.z) > STEEP
        beside = Vector(0.0 * axis.x, xp.where(steep, 1.0, 0.0), xp.where(steep, 0.0, 1.0)).cross(axis)
        first = beside * (1.0 / xp.sqrt(beside.dot(beside)))
        return axis, first, axis.cross(first)

    def stated_acceleration(self, liquid: Liquid) -> Float[Array, ""]:
        """Return the acceleration (m/s²) along the axis by which frequencies are as stated; zero where none is."""
        if self.frequency is not None:
            return (2.0 * math.pi * xp.asarray(self.frequency, float)) ** 2 / liquid.sloshing[0].wave_number
        return xp.asarray(0.0 if self.acceleration is None else self.acceleration, float)

    def frequencies(self) -> Float[Array, "modes"]:
        """Return the frequencies (Hz) of its modes at the stated acceleration, also from traced numbers."""
        liquid = self.contents()
        squares = [one.wave_number * self.stated_acceleration(liquid) for one in liquid.sloshing]
        return xp.sqrt(xp.stack(squares)) / (2.0 * math.pi)

    def bodies(self, plane: bool) -> list[BodySection]:
        """Return the bodies that stand for the liquid: what is rigid, locked to the body, and on it what sloshes.

        In the x–y `plane` that moves in the plane alone.
        """
        liquid = self.contents()
        axis, first, second = self.directions()
        along = axis.array()
        place = xp.asarray(self.position, float) + along * (liquid.centre + liquid.rigid_height)
        tensor = liquid.across * xp.eye(3) + (liquid.about - liquid.across) * along[:, None] * along[None, :]
        joint = LockedSection()
        found: list[BodySection] = [_part(self.name, self.on, joint, place, liquid.rigid_mass, tensor)]
        for number, sloshing in enumerate(liquid.sloshing, start=1):
            starts = self.start if number == 1 else [0.0, 0.0]
            ways = [(first, starts[0])] if plane else [(first, starts[0]), (second, starts[1])]
            found += self._sloshing_bodies(number, sloshing, liquid, axis, ways)
        return found

    def _sloshing_bodies(
        self, number: int, sloshing: SloshingMass, liquid: Liquid, axis: Vector, ways: list[tuple[Vector, Any]]
    ) -> list[BodySection]:
        """Return the bodies of one mode, each on the one before, which slide along `ways` by so much (m) at t = 0."""
        on, place = self.name, axis.array() * (sloshing.height - liquid.rigid_height)
        names = [f"{self.name}.slosh{number}"]
        if len(ways) == 2:
            names.insert(0, f"{self.name}.guide{number}")
        found: list[BodySection] = []
        for name, (way, start) in zip(names, ways, strict=True):
            mass = sloshing.mass if name == names[-1] else 0.0 * sloshing.mass
            joint = self._joint(sloshing, self.stated_acceleration(liquid), axis, way, start, place)
            found.append(_part(name, on, joint, place, mass, xp.zeros((3, 3))))
            on, place = name, xp.zeros(3)
        return found

    def _joint(
        self,
        sloshing: SloshingMass,
        acceleration: Float[Array, ""],
        axis: Vector,
        way: Vector,
        start: float,
        place: Float[Array, "3"],
    ) -> PrismaticSection | RevoluteSection:
        """Return the joint on which a mass slides along a `way`, or swings."""
        length = 1.0 / sloshing.wave_number
        rate = xp.sqrt(acceleration / length)  # rad/s
        damping = 2.0 * self.damping_ratio * sloshing.mass * rate if not absent(self.damping_ratio) else None
        if self.model == "spring":
            return PrismaticSection.model_construct(
                axis=way.array(), start=start, stiffness=sloshing.mass * rate**2, damping=damping
            )
        return RevoluteSection.model_construct(
            axis=axis.cross(way).array() * -1.0,
            position=place + axis.array() * length,
            start=xp.arcsin(start / length),
            damping=None if damping is None else damping * length**2,
        )


def _part(
    name: str,
    on: str,
    joint: LockedSection | PrismaticSection | RevoluteSection,
    place: Float[Array, "3"],
    mass: Float[Array, ""],
    inertia: Float[Array, "3 3"],
) -> LiquidPartSection:
    """Return a part of a liquid, placed (m) in the axes of the body that it is `on`."""
    return LiquidPartSection.model_construct(name=name, on=on, joint=joint, position=place, mass=mass, inertia=inertia)
