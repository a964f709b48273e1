"""A tree of links in a scenario: base, joints, rigid bodies, beams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FieldSerializationInfo,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_validator,
)

from dockdyn.scenario.language.also import TEXT, THREE_NUMBERS
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Bounds, number_of, quantity
from dockdyn.scenario.language.waiting import wait_for
from dockdyn.scenario.tables.inertia import Row, physical_or_point, tensor
from dockdyn.scenario.tables.look import LookSection
from dockdyn.scenario.tables.motion import Attitude, Rate, Velocity, number, unit
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Direction
from dockdyn.scenario.tables.parts import Point as PointField

if TYPE_CHECKING:
    from jaxtyping import Array, Float

    from dockdyn.mechanics.trees.assembly import Link
    from dockdyn.mechanics.trees.beam import Beam
    from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
    from dockdyn.mechanics.vector import Matrix

Bending = quantity("N*m**2", "a bending stiffness", above=0)
NOTHING = [0.0, 0.0, 0.0]
UPRIGHT = [1.0, 0.0, 0.0, 0.0]
GRIP = "grip"  # name of the massless frame where a tree is touched
BODY = ".rigid"  # ends the name of what is rigid on the beam of a link
FLAT = 1e-9  # sine of the angle by which an axis may leave the plane

# joint: key: unit, what it is; what is not here the joint does not have
OF_JOINT: dict[str, dict[str, tuple[str, str]]] = {
    "revolute": {
        "start": ("rad", "an angle"),
        "start_rate": ("rad/s", "an angular rate"),
        "stiffness": ("N*m/rad", "a stiffness"),
        "damping": ("N*m*s/rad", "a damping coefficient"),
    },
    "prismatic": {
        "start": ("m", "a length (the joint is prismatic)"),
        "start_rate": ("m/s", "a speed (the joint is prismatic)"),
        "stiffness": ("N/m", "a stiffness (the joint is prismatic)"),
        "damping": ("N*s/m", "a damping coefficient (the joint is prismatic)"),
    },
    "spherical": {
        "start": ("rad", "an angle"),
        "start_rate": ("rad/s", "an angular rate"),
        "damping": ("N*m*s/rad", "a damping coefficient"),
    },
    "locked": {},
}
SCALAR = ("revolute", "prismatic")  # joints with one coordinate


Inertia = Annotated[
    list[Row],
    Field(min_length=3, max_length=3),
    BeforeValidator(tensor),
    AfterValidator(physical_or_point),
    THREE_NUMBERS,
]


class BeamSection(Section):
    """A uniform beam along its link's x axis."""

    length: quantity("m", "a length", above=0)
    mass: quantity("kg", "a mass", above=0)
    bending: Bending
    torsion: quantity("N*m**2", "a torsional stiffness", above=0) | None = None
    polar_inertia: quantity("kg*m", "a moment of inertia per length", above=0) | None = None
    damping: quantity("s", "a damping time", least=0) | None = None


class FlexibleSection(Section):
    """How beams bend: number of modes in each plane, twist, basis, shortening.

    A basis may need more shapes than the modes whose frequencies it gives (`dockdyn.mechanics.trees.beam.shape_count`).
    """

    modes: Annotated[int, Field(ge=0, le=8)] = 2
    twist_modes: Annotated[int, Field(ge=0, le=8)] = 0
    basis: Literal["polynomial", "craig-bampton", "cantilever"] = "craig-bampton"
    stiffening: bool = True

    def beam(self, section: BeamSection, planar: bool) -> Beam:
        """The beam with its modes; in the plane it bends along y alone."""
        from dockdyn.mechanics.trees.beam import Beam, shape_count

        bending, twist = (shape_count(self.basis, modes) for modes in (self.modes, self.twist_modes))
        return Beam(
            length=number(section.length),
            mass=number(section.mass),
            bending_y=number(section.bending),
            bending_z=number(section.bending),
            torsion=number(section.torsion),
            polar_inertia=number(section.polar_inertia),
            damping=number(section.damping),
            modes=(bending, 0 if planar else bending, 0 if planar else twist),
            basis=self.basis,
            stiffening=self.stiffening,
        )


class LinkSection(Section):
    """A link with its joint to the parent; the base has no parent."""

    name: str
    parent: str | None = None
    joint: Literal["revolute", "prismatic", "spherical", "locked"] = "revolute"
    coordinate: str | None = None
    axis: Direction = [0.0, 0.0, 1.0]  # noqa: RUF012
    mount: PointField = NOTHING
    mount_attitude: Attitude | None = None  # joint axes → the parent's where it is mounted
    at: Literal["tip"] | None = None  # of the parent's beam; mount is counted from there
    start: float | list[float] | None = None  # of a spherical joint: rotation vector or quaternion
    start_rate: float | list[float] | None = None
    mass: quantity("kg", "a mass", above=0) | None = None
    centre: PointField = NOTHING
    inertia: Inertia | None = None
    beam: OrNone[BeamSection] = None
    stiffness: float | None = None
    damping: float | None = None
    look: OrNone[LookSection] = None
    note: str | None = None  # said of it where the scenario is checked
    unread: ClassVar[tuple[str, ...]] = ("title", "note")

    @field_validator("start", "start_rate", "stiffness", "damping", mode="before")
    @classmethod
    def of_joint(cls, value: object, info: ValidationInfo) -> float | list[float] | None:
        """The number, or three or four of a spherical joint, in the units of the joint."""
        joint = "locked" if info.data.get("parent") is None else info.data.get("joint", "revolute")
        if value is None:
            return None
        if info.field_name not in OF_JOINT[joint]:
            refuse(f"{'the base' if info.data.get('parent') is None else f'a {joint} joint'} has no {info.field_name}")
        units, what = OF_JOINT[joint][info.field_name]
        if joint != "spherical" or info.field_name == "damping":
            least = 0.0 if info.field_name in ("stiffness", "damping") else -np.inf
            return number_of(value, units, what, Bounds(least=least))
        lengths = (3, 4) if info.field_name == "start" else (3,)
        if not isinstance(value, list) or len(value) not in lengths:
            forms = (
                "a rotation vector (three angles) or a unit quaternion, scalar first" if 4 in lengths else "three rates"
            )
            refuse(f"must be {forms} (the joint is spherical)")
        if len(value) == 4:
            return unit([number_of(part, "", "a number", Bounds()) for part in value])
        return [number_of(part, units, what, Bounds()) for part in value]

    @field_serializer("start", "start_rate", "stiffness", "damping")
    def written(self, value: object, info: FieldSerializationInfo) -> Any:  # noqa: ANN401, pydantic goes by this
        return f"{value!r} {OF_JOINT[self.joint][info.field_name][0]}" if isinstance(value, float) else value

    @model_validator(mode="after")
    def bodily(self) -> Self:
        if (self.mass is None) != (self.inertia is None):
            refuse(f"link {self.name}: mass and inertia belong together; give both or neither")
        if self.name == GRIP:
            refuse(f"link {self.name}: the name of the place that touches; must be another")
        if self.name.endswith(BODY):
            refuse(f"link {self.name}: names that end in {BODY!r} are of what is rigid on beams; must be another")
        if self.parent is None:
            for key in ("at", "mount_attitude"):
                if getattr(self, key) is not None:
                    refuse(f"link {self.name}: the base is attached to nothing; leave out `{key}`")
        return self

    @property
    def moves(self) -> bool:
        """Whether it has a joint that moves."""
        return self.parent is not None and self.joint != "locked"

    @property
    def heavy(self) -> bool:
        """Whether it has a mass."""
        return self.mass is not None or self.beam is not None

    def turn(self) -> Matrix:
        """Rotation, joint axes → the parent's where it is mounted."""
        from dockdyn.mechanics.rotation import Quaternion

        attitude: Any = UPRIGHT if self.mount_attitude is None else self.mount_attitude
        return Quaternion.of(attitude).matrix()

    def attitude(self) -> Float[Array, "4"]:
        """Quaternion at which a spherical joint starts."""
        import jax.numpy as jnp

        from dockdyn.mechanics.rotation import Quaternion
        from dockdyn.mechanics.vector import Vector

        if self.start is None:
            return jnp.asarray(UPRIGHT)
        start = jnp.asarray(self.start, float)
        return start if start.shape[0] == 4 else Quaternion.exponential(Vector.of(start)).array()

    def check_place(self, place: list[float], key: str) -> None:
        """Refuses a place on the link (m, link axes) beyond the ends of its beam."""
        wait_for("jax")
        from dockdyn.mechanics.trees.assembly import PAST_END

        if self.beam is not None and not -PAST_END <= place[0] / self.beam.length <= 1 + PAST_END:
            words = f"is beyond the beam of {self.name}; its x must be 0 to {self.beam.length:g} m"
            refuse(f'{key} = {place}: {words} (what reaches further: on a link with `at = "tip"`)')

    def seat(self, place: Float[Array, "3"] | list[float]) -> dict[str, Any]:
        """Where on the link a place (m, link axes, its beam straight) is fixed: `at` and `mount` of a `Link` there.

        On a beam it is fixed to the section at its x, and moves and turns with that.
        """
        import jax.numpy as jnp

        place = jnp.asarray(place, float)
        if self.beam is None:
            return {"mount": place}
        return {"at": place[0] / self.beam.length, "mount": place.at[0].set(0.0)}

    def link(self, flexible: FlexibleSection, planar: bool, parent: LinkSection | None = None) -> Link:
        """The link on its `parent`, to be left out where nothing bends; what is rigid on a beam is none of it (`body`)."""
        import jax.numpy as jnp

        from dockdyn.mechanics.trees.assembly import Link

        if parent is None or self.at is not None:
            seat = {"at": None if self.at is None else 1.0, "mount": jnp.asarray(self.mount, float)}
        else:
            seat = parent.seat(self.mount)
        return Link(
            name=self.name,
            parent=self.parent,
            coordinate=self.coordinate,
            joint=self.joint,
            axis=jnp.asarray(self.axis, float),
            mount_turn=self.turn().array(),
            beam=None if self.beam is None else flexible.beam(self.beam, planar),
            stiffness=number(self.stiffness),
            damping=number(self.damping),
            **seat,
            **({} if self.beam is not None else self.rigid()),
        )

    def rigid(self) -> dict[str, Any]:
        """What is rigid of the link, as a `Link` takes it."""
        import jax.numpy as jnp

        inertia = jnp.zeros((3, 3)) if self.inertia is None else jnp.asarray(self.inertia, float)
        mass = jnp.asarray(0.0 if self.mass is None else self.mass, float)
        return {"mass": mass, "centre": jnp.asarray(self.centre, float), "inertia": inertia}

    def body(self) -> Link:
        """What is rigid on a beam, as a link of its own that is locked to the section where its centre is."""
        import jax.numpy as jnp

        from dockdyn.mechanics.trees.assembly import Link

        found = {**self.rigid(), "centre": jnp.zeros(3)}
        return Link(f"{self.name}{BODY}", self.name, joint="locked", **self.seat(self.centre), **found)


class TreeSection(Section):
    """Chaser or target: links, and how the base starts."""

    urdf: Annotated[None, TEXT] = None  # while a file is read: the URDF file that `link` then holds
    inertia: Annotated[None, TEXT] = None  # the same: "repair" takes possible inertias for impossible ones
    link: Annotated[list[LinkSection], Field(min_length=1)]
    position: PointField | None = None
    velocity: Velocity | None = None
    attitude: Attitude | None = None
    rate: Rate | None = None

    @model_validator(mode="after")
    def treelike(self) -> Self:
        wait_for("jax")
        try:
            ordered = self.ordered()
        except ValueError as error:
            refuse(f"must be a tree: {error}")
        beams = {link.name for link in self.link if link.beam is not None}
        for link in self.link:
            if link.at is not None and link.parent not in beams:
                refuse(f'link {link.name}: at = "tip": its parent {link.parent} has no beam')
        for link in self.link:
            if link.parent is not None and link.at is None:
                self.named(link.parent).check_place(link.mount, f"link {link.name}: mount")
            link.check_place(link.centre, f"link {link.name}: centre")
        names = [link.coordinate or link.name for link in self.joints()]
        for name in names:
            if names.count(name) > 1:
                refuse(f"two joints have the coordinate {name!r}; names must differ")
        self.weighed(ordered)
        return self

    def weighed(self, ordered: list[LinkSection]) -> None:
        """Refuses joints that move no mass, and a base without one."""
        carried = {link.name: link.heavy for link in ordered}  # by it and all that hangs on it
        fixed = dict(carried)  # by it and all that is locked to it
        for link in reversed(ordered):
            if link.parent is not None:
                carried[link.parent] |= carried[link.name]
                fixed[link.parent] |= fixed[link.name] and not link.moves
        for link in ordered:
            if link.moves and not carried[link.name]:
                refuse(
                    f"link {link.name}: mass 0 on a leaf: its {link.joint} joint moves no mass; "
                    "must have a mass and inertia, or be locked"
                )
        if not fixed[ordered[0].name]:
            refuse(f"link {ordered[0].name}: the base has mass 0; it, or what is locked to it, must have a mass")

    def flat(self) -> None:
        """Refuses what does not stay in the x–y plane."""
        import jax

        if self.attitude is not None and np.hypot(*self.attitude[1:3]) > FLAT:
            refuse('attitude: with motion = "planar", must be a turn about z')
        turns: dict[str | None, Any] = {None: np.eye(3)}
        for link in self.ordered():
            turn = turns[link.parent] @ np.reshape(jax.tree.leaves(link.turn()), (3, 3))
            turns[link.name] = turn
            axis = turn @ np.asarray(link.axis) / np.linalg.norm(link.axis)
            out = {"revolute": np.hypot(*axis[:2]), "prismatic": abs(axis[2]), "spherical": 1.0}
            if link.moves and out[link.joint] > FLAT:
                allowed = {"revolute": "along z", "prismatic": "across z"}.get(link.joint)
                words = (
                    f"axis of its {link.joint} joint must be {allowed}"
                    if allowed
                    else "spherical joints leave the plane"
                )
                refuse(f'link {link.name}: with motion = "planar", {words}')
            if link.beam is not None and np.hypot(*turn[:2, 2]) > FLAT:
                refuse(
                    f'link {link.name}: with motion = "planar", a beam\'s z axis must be along z, as it bends along y'
                )

    def ordered(self) -> list[LinkSection]:
        """The links in the tree's order; ValueError where they are no tree."""
        wait_for("jax")
        from dockdyn.mechanics.trees.assembly import Link, in_order

        sections = {section.name: section for section in self.link}
        return [sections[link.name] for link in in_order([Link(s.name, s.parent) for s in self.link])]

    def joints(self, kinds: tuple[str, ...] = ("revolute", "prismatic", "spherical")) -> list[LinkSection]:
        """Links with a joint of these kinds, in the tree's order."""
        return [section for section in self.ordered() if section.parent is not None and section.joint in kinds]

    def named(self, name: str) -> LinkSection:
        """The link of a name."""
        return next(link for link in self.link if link.name == name)

    def grip(self, name: str, place: Float[Array, "3"] | list[float]) -> Link:
        """The massless frame at a place on a link (m, link axes)."""
        from dockdyn.mechanics.trees.assembly import Link

        return Link(GRIP, name, joint="locked", **self.named(name).seat(place))

    def tree(self, flexible: FlexibleSection, planar: bool, *frames: Link) -> Tree:
        """The tree: links, what is rigid on beams, and then further massless frames, such as where it is gripped."""
        from dockdyn.mechanics.trees.assembly import tree_of

        known = {link.name: link for link in self.link}
        links = [link.link(flexible, planar, None if link.parent is None else known[link.parent]) for link in self.link]
        bodies = [link.body() for link in self.link if link.beam is not None and link.mass is not None]
        return tree_of([*links, *bodies, *frames], base="planar" if planar else "free")

    def start(self, tree: Tree, planar: bool) -> tuple[Configuration, Float[Array, "n"]]:
        """Configuration and velocities at t = 0, beams straight."""
        import jax.numpy as jnp

        from dockdyn.mechanics.trees.composite_bodies import Configuration

        def vector(value: list[float] | None) -> Float[Array, "3"]:
            return jnp.asarray(NOTHING if value is None else value, float)

        columns, modal, count = tree.layout.columns()
        attitude = jnp.asarray(UPRIGHT if self.attitude is None else self.attitude, float)
        joints, balls = self.joints(SCALAR), self.joints(("spherical",))
        starts = [jnp.asarray(0.0 if link.start is None else link.start, float) for link in joints]
        q = Configuration(
            position=vector(self.position),
            attitude=attitude,
            joints=jnp.stack(starts) if starts else jnp.zeros(0),
            balls=jnp.stack([link.attitude() for link in balls]) if balls else jnp.zeros((0, 4)),
            modes=jnp.zeros(sum(map(len, modal))),
        )
        velocity, rate = vector(self.velocity), vector(self.rate)
        twist = jnp.concatenate([turned_back(attitude, velocity), rate])
        base = twist[jnp.array([0, 1, 5])] if planar else twist
        v = jnp.zeros(count).at[: base.shape[0]].set(base)
        for link in [*joints, *balls]:
            if link.start_rate is not None:
                own = columns[tree.layout.names.index(link.name)]
                v = v.at[jnp.array(own)].set(jnp.asarray(link.start_rate, float))
        return q, v


def turned_back(attitude: Float[Array, "4"], vector: Float[Array, "3"]) -> Float[Array, "3"]:
    """An inertial vector in body axes."""
    from dockdyn.mechanics.rotation import Quaternion

    return Quaternion.of(attitude).matrix().array().T @ vector
