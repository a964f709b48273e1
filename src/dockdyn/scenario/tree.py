"""A tree of links in a scenario: base, joints, rigid bodies, beams."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import jax.numpy as jnp
from pydantic import Field, model_validator

from dockdyn.mechanics.assembly import Link, in_order, tree_of
from dockdyn.mechanics.beam import Beam
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.tree import Configuration, Tree
from dockdyn.scenario.free_flight import Attitude, Inertia, Rate, Velocity
from dockdyn.scenario.parts import Direction, refuse
from dockdyn.scenario.parts import Point as PointField
from dockdyn.scenario.section import Section
from dockdyn.scenario.units import quantity

Bending = quantity("N*m**2", "a bending stiffness", above=0)
NOTHING = [0.0, 0.0, 0.0]


class BeamSection(Section):
    """A uniform beam along its link's x axis."""

    length: quantity("m", "a length", above=0)
    mass: quantity("kg", "a mass", above=0)
    bending: Bending
    torsion: quantity("N*m**2", "a torsional stiffness", above=0) | None = None
    polar_inertia: quantity("kg*m", "a moment of inertia per length", above=0) | None = None
    damping: quantity("s", "a damping time", least=0) | None = None


class FlexibleSection(Section):
    """How beams bend: number of modes in each plane, twist, basis, shortening."""

    modes: Annotated[int, Field(ge=0, le=8)] = 2
    twist_modes: Annotated[int, Field(ge=0, le=8)] = 0
    basis: Literal["polynomial", "cantilever"] = "polynomial"
    stiffening: bool = True

    def beam(self, section: BeamSection, planar: bool) -> Beam:
        """The beam with its modes; in the plane it bends along y alone."""

        def number(value: Any) -> Any:
            return jnp.asarray(0.0 if value is None else value, float)

        return Beam(
            length=number(section.length),
            mass=number(section.mass),
            bending_y=number(section.bending),
            bending_z=number(section.bending),
            torsion=number(section.torsion),
            polar_inertia=number(section.polar_inertia),
            damping=number(section.damping),
            modes=(self.modes, 0 if planar else self.modes, 0 if planar else self.twist_modes),
            basis=self.basis,
            stiffening=self.stiffening,
        )


class LinkSection(Section):
    """A link with its joint to the parent; the base has no parent."""

    name: str
    parent: str | None = None
    joint: Literal["revolute", "locked"] = "revolute"
    coordinate: str | None = None
    axis: Direction = [0.0, 0.0, 1.0]  # noqa: RUF012
    mount: PointField = NOTHING
    at: Literal["tip"] | None = None  # of the parent's beam; mount is counted from there
    start: quantity("rad", "an angle") | None = None
    start_rate: quantity("rad/s", "an angular rate") | None = None
    mass: quantity("kg", "a mass", above=0) | None = None
    centre: PointField = NOTHING
    inertia: Inertia | None = None
    beam: BeamSection | None = None
    stiffness: quantity("N*m/rad", "a stiffness", least=0) | None = None
    damping: quantity("N*m*s/rad", "a damping coefficient", least=0) | None = None

    @model_validator(mode="after")
    def bodily(self) -> Self:
        if (self.mass is None) != (self.inertia is None):
            refuse(f"link {self.name}: mass and inertia belong together; give both or neither")
        if self.mass is None and self.beam is None:
            refuse(f"link {self.name}: needs a mass and inertia, or a beam")
        if self.parent is None and self.at is not None:
            refuse(f"link {self.name}: the base is attached to nothing; leave out `at`")
        return self

    def link(self, flexible: FlexibleSection, planar: bool) -> Link:
        def number(value: Any) -> Any:
            return jnp.asarray(0.0 if value is None else value, float)

        return Link(
            name=self.name,
            parent=self.parent,
            coordinate=self.coordinate,
            joint=self.joint,
            axis=jnp.asarray(self.axis, float),
            mount=jnp.asarray(self.mount, float),
            at=None if self.at is None else 1.0,
            mass=number(self.mass),
            centre=jnp.asarray(self.centre, float),
            inertia=jnp.zeros((3, 3)) if self.inertia is None else jnp.asarray(self.inertia, float),
            beam=None if self.beam is None else flexible.beam(self.beam, planar),
            stiffness=number(self.stiffness),
            damping=number(self.damping),
        )


class TreeSection(Section):
    """Chaser or target: links, and how the base starts."""

    link: Annotated[list[LinkSection], Field(min_length=1)]
    position: PointField | None = None
    velocity: Velocity | None = None
    attitude: Attitude | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def treelike(self) -> Self:
        try:
            in_order([section.link(FlexibleSection(modes=0), True) for section in self.link])
        except ValueError as error:
            refuse(f"must be a tree: {error}")
        beams = {link.name for link in self.link if link.beam is not None}
        for link in self.link:
            if link.at is not None and link.parent not in beams:
                refuse(f'link {link.name}: at = "tip": its parent {link.parent} has no beam')
        return self

    def joints(self) -> list[LinkSection]:
        """Links with a joint that moves, in the tree's order."""
        order = [link.name for link in in_order([s.link(FlexibleSection(modes=0), True) for s in self.link])]
        sections = sorted(self.link, key=lambda section: order.index(section.name))
        return [section for section in sections if section.parent is not None and section.joint == "revolute"]

    def tree(self, flexible: FlexibleSection, planar: bool, grip: Link) -> Tree:
        """The tree with a massless frame where it is gripped, its last link."""
        links = [section.link(flexible, planar) for section in self.link]
        return tree_of([*links, grip], base="planar" if planar else "free")

    def start(self, tree: Tree, planar: bool) -> tuple[Configuration, Any]:
        """Configuration and velocities at t = 0, beams straight."""

        def vector(value: Any) -> Any:
            return jnp.asarray(NOTHING if value is None else value, float)

        _, modal, count = tree.layout.columns()
        attitude = jnp.asarray([1.0, 0.0, 0.0, 0.0] if self.attitude is None else self.attitude, float)
        joints = self.joints()
        angles = [jnp.asarray(0.0 if link.start is None else link.start, float) for link in joints]
        rates = [jnp.asarray(0.0 if link.start_rate is None else link.start_rate, float) for link in joints]
        q = Configuration(
            position=vector(self.position),
            attitude=attitude,
            joints=jnp.stack(angles) if angles else jnp.zeros(0),
            balls=jnp.zeros((0, 4)),
            modes=jnp.zeros(sum(map(len, modal))),
        )
        velocity, rate = vector(self.velocity), vector(self.rate)
        twist = jnp.concatenate([turned_back(attitude, velocity), rate])
        base = twist[jnp.array([0, 1, 5])] if planar else twist
        v = jnp.zeros(count).at[: base.shape[0]].set(base)
        if rates:
            v = v.at[jnp.array(tree.joint_columns(), int)].set(jnp.stack(rates))
        return q, v


def turned_back(attitude: Any, vector: Any) -> Any:
    """An inertial vector in body axes."""
    return Quaternion.of(attitude).matrix().array().T @ vector
