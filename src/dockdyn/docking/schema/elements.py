"""Force elements between bodies of a mechanism: struts, bushings, cables, magnets, latches; thrusters on one."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import ConfigDict, Field, field_validator, model_validator

from dockdyn.deferred import Array, Bool, Float, jnp, xp
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.attitude import LEVEL, Attitude, quaternion_of
from dockdyn.scenario.tables.geometry import Direction, Length, Point
from dockdyn.scenario.tables.latch import RampSection
from dockdyn.scenario.tables.own_part import OwnPart
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import (
    StatedRatio,
    StatedRestitution,
    keys_without,
    ratio_of,
    refuse_keys_without,
    relative_key,
    stated_damping,
)

if TYPE_CHECKING:
    from dockdyn.contact.latch import Ramp, Reach
    from dockdyn.contact.laws.normal_law import NormalLaw
    from dockdyn.contact.surfaces.cone import Cone
    from dockdyn.elements import Anchors, Compliant, ForceElement, Latch, Pull, Rigid, Strut, Thruster
    from dockdyn.mechanics.rigid_body import Placed, Pose
    from dockdyn.mechanics.vector import Scalar

Stiffness = quantity("N/m", "a stiffness", least=0)
Damping = quantity("N*s/m", "a damping", least=0)
TurningDamping = quantity("N*m*s/rad", "a damping", least=0)
Force = quantity("N", "a force", above=0)
Angle = quantity("rad", "an angle", least=0)
Places = list[Point]


def stated_number(value: float | None) -> Float[Array, ""] | None:
    """Return a number as an array; None for what is not there."""

    return None if value is None else jnp.asarray(value, float)


def _number_or_zero(value: float | None) -> float:
    """Return a number, also a traced one; zero for what is not there."""
    return 0.0 if value is None else value


class NamedElement(NamedSection):
    """What acts on bodies besides contacts, by a name."""

    kind: ClassVar[str]  # the key that its table stands under, before its name

    @property
    def path(self) -> str:
        """The key of its table."""
        return f"{self.kind}.{self.name}"

    def count(self) -> int:
        """Return how many members it has."""
        return 1

    def has_events(self) -> bool:
        """Return whether its law changes at instants, which must be located."""
        return False

    def is_spring(self) -> bool:
        """Return whether it gives back all that it takes."""
        return False

    def settable(self) -> list[str]:
        """Return the keys that phases may set: numbers that it states."""
        return [key for key, held in self if isinstance(held, float)]

    def acts_on(self) -> dict[str, list[str]]:
        """Return the names of its bodies, by the key that states them."""
        raise TypeError


class PlainSpring(NamedTuple):
    """A line along which an element is a spring, by its places in body axes."""

    own: Float[Array, "3"] | None  # m, on the first body; None where it is next to that on the second
    other: Float[Array, "3"]  # m, on the second body
    way: Float[Array, "3"] | None  # axes of the second body; None along the line between both
    stiffness: Float[Array, ""]  # N/m, or N m where it is one of turning
    turns: Bool[Array, ""]


class ElementSection(NamedElement):
    """What acts between two bodies; the force on the first is the opposite of that on the second."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]

    def acts_on(self) -> dict[str, list[str]]:
        return {"between": self.between}

    def make(self, first: Placed, second: Placed) -> ForceElement:
        """Return the element between two bodies as they are at the start, also from traced numbers."""
        raise TypeError

    def places(self, first: Placed, second: Placed) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        """Return where it is fixed on either body (m, body axes); of several members the middle."""
        raise TypeError

    def springs(self) -> list[PlainSpring] | None:
        """Return the lines along which it is a spring, also from traced numbers; None of one that holds, or of which that
        is not known."""
        return None


class LineSection(ElementSection):
    """Along the line between an anchor on the first body and one on the second, or several alike."""

    anchor: Annotated[Places, Field(min_length=2, max_length=2)] | None = None
    anchors: Annotated[list[Annotated[Places, Field(min_length=2, max_length=2)]], Field(min_length=1)] | None = None

    @field_validator("anchors", mode="before", check_fields=False)
    @classmethod
    def refuse_one_pair(cls, value: object) -> object:
        """Refuse one pair of places, which is an `anchor`."""
        places = value if isinstance(value, list) and all(isinstance(one, list) for one in value) else []
        if len(places) == 2 and all(isinstance(number, int | float | str) for one in places for number in one):
            refuse("is one pair of places; must be a list of pairs, or for one pair state anchor")
        return value

    def lines(self) -> list[Anchors]:
        """Return the anchors of each member."""

        from dockdyn.elements import Anchors

        pairs = [self.anchor] if self.anchors is None else self.anchors
        return [Anchors(xp.asarray(own, float), xp.asarray(other, float)) for own, other in pairs]

    def places(self, first: Placed, second: Placed) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        lines = self.lines()
        own, other = (jnp.stack(ends) for ends in zip(*((line.own, line.other) for line in lines), strict=True))
        return own.mean(axis=0), other.mean(axis=0)

    def count(self) -> int:
        return 1 if self.anchors is None else len(self.anchors)

    def along_lines(self, stiffness: float) -> list[PlainSpring]:
        """Return a spring of this stiffness (N/m) along each line."""
        return [
            PlainSpring(line.own, line.other, None, jnp.asarray(stiffness, float), jnp.asarray(False))
            for line in self.lines()
        ]

    def joined(self, members: list[ForceElement]) -> ForceElement:
        """Return one element, or a group of several."""
        from dockdyn.elements import ElementGroup

        return members[0] if len(members) == 1 else ElementGroup.of(members)


def _one_way[Stated: LineSection](section: Stated) -> Stated:
    """Return the section, unless it states its anchors in no way or in two."""
    if (section.anchor is None) == (section.anchors is None):
        refuse("must state one of anchor and anchors")
    return section


class HexapodSection(Section):
    """Where the six struts of a hexapod are fixed: on circles about the x axes of two frames, one of each body."""

    ring_radius: Length  # on the first body
    base_radius: Length  # on the second
    ring_spread: Angle = 0.0
    base_spread: Angle = 0.0
    ring_position: Point = [0.0, 0.0, 0.0]  # noqa: RUF012
    base_position: Point = [0.0, 0.0, 0.0]  # noqa: RUF012
    ring_attitude: Attitude = LEVEL
    base_attitude: Attitude = LEVEL

    def frames(self) -> tuple[Pose, Pose]:
        """Return the frames of ring and base on their bodies."""
        from dockdyn.mechanics.rigid_body import Pose
        from dockdyn.mechanics.rotation import Quaternion

        stated = (self.ring_position, self.ring_attitude), (self.base_position, self.base_attitude)
        one, other = (Pose.at(place, Quaternion.of(quaternion_of(attitude))) for place, attitude in stated)
        return one, other


class StrutSection(LineSection):
    """A spring, damper, motor, load-limiting brake, end stops and the inertia that motor and screw reflect, as stated."""

    kind = "strut"
    hexapod: OrNone[HexapodSection] = None
    stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    damping: Damping | None = None
    damping_ratio: StatedRatio = None
    free_length: Length | None = None
    speed: quantity("m/s", "a speed") | None = None
    slip: Force | None = None
    stroke: Annotated[list[Coordinate], Field(min_length=2, max_length=2)] | None = None
    stop_stiffness: quantity("N/m", "a stiffness", above=0) = 1e6
    stop_damping: Damping | None = None
    stop_restitution: StatedRestitution = None
    moved_mass: quantity("kg", "a mass", above=0) | None = None
    needs: ClassVar[Mapping[str, Sequence[str]]] = {"stroke": ("stop_stiffness", "stop_damping", "stop_restitution")}

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if [self.anchor, self.anchors, self.hexapod].count(None) != 2:
            refuse("must state one of anchor, anchors and hexapod")
        stated_damping(self)
        if self.damping_ratio is not None and self.stiffness is None:
            refuse("damping_ratio: is that of damper and spring; state the stiffness")
        if self.slip is not None and self.stiffness is None:
            refuse("slip: a brake limits the force of a spring; state the stiffness")
        if self.stroke is not None and self.stroke[0] >= self.stroke[1]:
            refuse("stroke must be two lengths, the shortest first, counted from the free length")
        if self.speed is not None and self.stiffness is None:
            refuse("speed: a motor moves the free length of a spring; state the stiffness")
        if self.stop_damping is not None and self.stop_restitution is not None:
            refuse("has stop_damping and stop_restitution; must state one of them")
        refuse_keys_without(self, self.needs)
        if self.stop_damping is None and self.stop_restitution is None:
            return self.model_copy(update={"stop_damping": 0.0})
        return self

    def unstated(self) -> Collection[str]:
        """Return the keys of which nothing comes."""
        return keys_without(self, self.needs)

    def count(self) -> int:
        return 6 if self.hexapod is not None else super().count()

    def has_events(self) -> bool:
        return self.slip is not None or self.stroke is not None

    def is_spring(self) -> bool:
        damped = self.damping or self.damping_ratio
        stopped = self.stop_damping or self.stop_restitution not in (None, 1.0)
        return not (damped or self.slip or self.speed or (self.stroke is not None and stopped))

    def lines(self) -> list[Anchors]:
        from dockdyn.elements import Anchors, hexapod_anchors

        if self.hexapod is None:
            return super().lines()
        at = self.hexapod
        places = hexapod_anchors(at.ring_radius, at.base_radius, at.ring_spread, at.base_spread, *at.frames())
        return [Anchors(own, other) for own, other in zip(*places, strict=True)]

    def springs(self) -> list[PlainSpring]:
        return [] if self.stiffness is None else self.along_lines(self.stiffness)

    def make(self, first: Placed, second: Placed) -> ForceElement:
        return self.joined([self._strut(line, first, second) for line in self.lines()])

    def _strut(self, line: Anchors, first: Placed, second: Placed) -> Strut:
        from dockdyn.elements import Brake, EndStops, Strut, one_sided

        free = line.line(first, second).length if self.free_length is None else jnp.asarray(self.free_length, float)
        stops = None
        if self.stroke is not None:
            low, high = (jnp.asarray(length, float) for length in self.stroke)
            ratio = ratio_of(None, self.stop_restitution)
            stops = EndStops(low, high, one_sided(self.stop_stiffness, _number_or_zero(self.stop_damping), ratio))
        return Strut(
            anchors=line,
            free_length=free,
            stiffness=stated_number(self.stiffness),
            damping=jnp.zeros(()) if self.damping_ratio is not None else stated_number(self.damping),
            speed=stated_number(self.speed),
            brake=None if self.slip is None else Brake(jnp.asarray(self.slip, float)),
            stops=stops,
            moved_mass=stated_number(self.moved_mass),
            ratio=stated_number(self.damping_ratio),
        )


class CableSection(LineSection):
    """A cable, which pulls when it is taut; without a free length it is just taut at the start."""

    kind = "cable"
    stiffness: quantity("N/m", "a stiffness", above=0)
    damping: Damping | None = None
    damping_ratio: StatedRatio = None
    restitution: StatedRestitution = None
    free_length: Length | None = None

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        found = self if stated_damping(self) else self.model_copy(update={"damping": 0.0})
        return _one_way(found)

    def has_events(self) -> bool:
        return True

    def springs(self) -> list[PlainSpring]:
        return self.along_lines(self.stiffness)

    def make(self, first: Placed, second: Placed) -> ForceElement:
        from dockdyn.elements import Cable, one_sided

        found: list[ForceElement] = []
        for line in self.lines():
            free = line.line(first, second).length if self.free_length is None else jnp.asarray(self.free_length, float)
            ratio = ratio_of(self.damping_ratio, self.restitution)
            found.append(Cable(line, free, one_sided(self.stiffness, _number_or_zero(self.damping), ratio)))
        return self.joined(found)


class MagnetSection(LineSection):
    """A pull over the gap between two poles: by its law, or by a table."""

    kind = "magnet"
    force: Force | None = None
    gap: Length | None = None
    gaps: Annotated[list[quantity("m", "a gap", least=0)], Field(min_length=2)] | None = None
    forces: Annotated[list[quantity("N", "a force", least=0)], Field(min_length=2)] | None = None
    pole_radius: quantity("m", "a radius", least=0) = 0.0

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        _one_way(self)
        law, table = (self.force, self.gap), (self.gaps, self.forces)
        if (None in law) == (None in table) or law.count(None) == 1 or table.count(None) == 1:
            refuse("must state either force with gap (at which a quarter of it is left), or gaps with forces")
        if self.gaps is not None and self.forces is not None:
            if len(self.gaps) != len(self.forces):
                refuse(f"forces has {len(self.forces)} values; must have one for each of the {len(self.gaps)} gaps")
            if any(b <= a for a, b in zip(self.gaps, self.gaps[1:], strict=False)):
                refuse("gaps must increase")
        return self

    def springs(self) -> list[PlainSpring]:
        return []

    def make(self, first: Placed, second: Placed) -> ForceElement:
        from dockdyn.elements import GapPull, Magnet, TabulatedPull

        if self.gaps is None or self.forces is None:
            pull: Pull = GapPull(jnp.asarray(self.force, float), jnp.asarray(self.gap, float))
        else:
            pull = TabulatedPull.of(jnp.asarray(self.gaps, float), jnp.asarray(self.forces, float))
        radius = jnp.asarray(self.pole_radius, float)
        return self.joined([Magnet(line, pull, radius) for line in self.lines()])


class BushingSection(ElementSection):
    """Stiffness and damping between a place on the first body and one on the second, along and about three axes.

    Six numbers are three along and three about the axes of a frame at `position` on the second body; at rest as at the start.
    """

    kind = "bushing"
    position: Point
    attitude: Attitude = LEVEL
    stiffness: Annotated[list[Stiffness], Field(min_length=3, max_length=3)]
    turning_stiffness: Annotated[list[quantity("N*m/rad", "a stiffness", least=0)], Field(min_length=3, max_length=3)]
    damping: Annotated[list[Damping], Field(min_length=3, max_length=3)] | None = None
    turning_damping: Annotated[list[TurningDamping], Field(min_length=3, max_length=3)] | None = None
    damping_ratio: StatedRatio = None
    slip: Force | None = None

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if (self.damping is None) != (self.turning_damping is None):
            refuse("damping and turning_damping belong together; state both or neither")
        stated_damping(self)
        if self.slip is not None and not self.stiffness[0]:
            refuse("slip: a brake limits the force of the spring along x; its stiffness must be above 0")
        return self

    def has_events(self) -> bool:
        return self.slip is not None

    def is_spring(self) -> bool:
        return self.damping is None and not self.damping_ratio and self.slip is None

    def places(self, first: Placed, second: Placed) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        own, other = self._frames_on_bodies(first, second)
        return own.position.array(), other.position.array()

    def _frames_on_bodies(self, first: Placed, second: Placed) -> tuple[Pose, Pose]:
        """Return its frame on either body."""

        from dockdyn.mechanics.rigid_body import Pose
        from dockdyn.mechanics.rotation import Quaternion
        from dockdyn.mechanics.vector import Vector

        frame = Pose(Vector.of(jnp.asarray(self.position, float)), Quaternion.of(quaternion_of(self.attitude)))
        inertial = (second.pose.attitude * frame.attitude).normalised()
        own = Pose(first.local(second.point(frame.position)), first.pose.attitude.conjugate() * inertial)
        return own, frame

    def springs(self) -> list[PlainSpring]:
        from dockdyn.mechanics.rotation import Quaternion

        place = jnp.asarray(self.position, float)
        ways = Quaternion.of(quaternion_of(self.attitude)).matrix().array().T
        return [
            PlainSpring(None, place, way, size, jnp.asarray(turns))
            for turns, sizes in ((False, self.stiffness), (True, self.turning_stiffness))
            for way, size in zip(ways, jnp.asarray(sizes, float), strict=True)
        ]

    def make(self, first: Placed, second: Placed) -> ForceElement:
        from dockdyn.elements import Brake, Bushing

        own, frame = self._frames_on_bodies(first, second)

        def diagonal(moving: list[float], turning: list[float]) -> Float[Array, "6 6"]:
            return jnp.diag(jnp.concatenate([jnp.asarray(moving, float), jnp.asarray(turning, float)]))

        damping = None
        if self.damping is not None and self.turning_damping is not None:
            damping = diagonal(self.damping, self.turning_damping)
        brake = None if self.slip is None else Brake(jnp.asarray(self.slip, float))
        if self.damping_ratio is not None:
            damping = jnp.zeros((6, 6))
        stiffness = diagonal(self.stiffness, self.turning_stiffness)
        return Bushing(own, frame, stiffness, damping, brake, stated_number(self.damping_ratio))


class LatchSection(LineSection):
    """Capture latches: a striker of the first body is caught near a seat on the second, and held by spring and damper, or by a
    grip that is rigid: a pin holds the place, a weld the attitude, too, as a compliant weld does.

    An anchor is a striker and its seat; `axis` points out of the seats, in axes of the second body. A striker is caught within
    `lateral` of it and no farther out than `reach`; one that is deeper than the seat, at any depth. In place of `reach` a
    `ramp`, which ends at the seat: on it the striker pushes the latch aside, and behind it is caught. In the throat of a
    cone the striker is the middle of a `feature` and the seat is on the axis of the `surface`: `entry` is how far from the
    apex the ramp begins, and what the catch does not state is that of their contact. With a `stroke`, as in a cone, the
    loads of the capture are told. With a `draw_speed` a motor draws what was caught along the axis until it is as deep as
    the seat. A phase that sets `closed` to false lets go.
    """

    kind = "latch"
    feature: str | None = None
    surface: str | None = None
    entry: Length | None = None
    axis: Direction | None = None
    reach: quantity("m", "a length", least=0) | None = None
    ramp: OrNone[RampSection] = None
    lateral: Length | None = None
    grip: Literal["compliant", "compliant-weld", "pin", "weld"] = "compliant"
    stiffness: quantity("N/m", "a stiffness", above=0) | None = None
    damping: Damping | None = None
    damping_ratio: StatedRatio = None
    turning_stiffness: quantity("N*m/rad", "a stiffness", above=0) | None = None
    turning_damping: TurningDamping | None = None
    stroke: Length | None = None
    play: quantity("m", "a length", least=0) = 0.0
    draw_speed: quantity("m/s", "a speed", least=0) | None = None
    closed: bool = True
    ends_run: bool = False

    @property
    def rigid(self) -> bool:
        """Whether a connection holds what it has caught."""
        return self.grip in ("pin", "weld")

    @property
    def in_cone(self) -> bool:
        """Whether it sits in the throat of a cone."""
        return self.surface is not None

    @property
    def tells_loads(self) -> bool:
        """Whether the largest loads of a capture are told."""
        return not self.rigid and (self.in_cone or self.stroke is not None)

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if any(value is not None for value in (self.feature, self.surface, self.entry)):
            self._refuse_not_in_cone()
        elif self.lateral is None:
            refuse("lateral: missing; must be stated, or feature, surface and entry of a latch in a cone")
        if (self.reach is None) == (self.ramp is None):
            refuse("must state one of reach and ramp")
        if self.ramp is not None and self.anchors is not None:
            refuse("anchors: a ramp has one striker; must state anchor")
        if self.ramp is not None and self.draw_speed is not None:
            refuse("draw_speed: a striker behind a ramp is in the seat, where nothing draws it; must be left out")
        if self.rigid:
            for key in (
                "stiffness",
                "damping",
                "damping_ratio",
                "turning_stiffness",
                "turning_damping",
                "stroke",
                "play",
                "draw_speed",
            ):
                if getattr(self, key):
                    refuse(f"{key}: a {self.grip} is rigid; must be left out, or grip be {self._compliant_grips()}")
            if self.anchors is not None:
                refuse(f"anchors: a {self.grip} holds one striker; must state anchor")
        else:
            self._refuse_not_yielding()
        return self if self.in_cone else _one_way(self)

    def _compliant_grips(self) -> str:
        """Return for a message the grips that are not rigid."""
        named = get_args(type(self).model_fields["grip"].annotation)
        return " or ".join(repr(grip) for grip in named if grip.startswith("compliant"))

    def _refuse_not_in_cone(self) -> None:
        """Refuse what does not belong to a latch in a cone."""
        for key in ("feature", "surface", "entry"):
            if getattr(self, key) is None:
                refuse(f"{key}: missing; a latch in a cone must state feature, surface and entry")
        for key in ("anchor", "anchors", "axis", "lateral"):
            if getattr(self, key) is not None:
                refuse(f"{key}: feature, surface and entry say where a latch in a cone is; must be left out")
        if self.ramp is None:
            refuse("ramp: missing; a latch in a cone must state it")

    def _refuse_not_yielding(self) -> None:
        """Refuse what a compliant grip cannot have."""
        stated_damping(self)
        if self.stiffness is None and not self.in_cone:
            refuse("stiffness: missing; must be stated of a compliant grip")
        for key in ("turning_stiffness", "turning_damping"):
            if self.grip == "compliant" and getattr(self, key) is not None:
                refuse(
                    f"{key}: what a compliant grip holds turns freely; must be left out, or grip be 'compliant-weld'"
                )
        if self.tells_loads:
            if self.ramp is None:
                refuse("stroke: loads are told of a capture behind a ramp; must be left out")
            if self.play:
                refuse("play: a latch that tells its loads has none; must be left out, and stroke, too")

    def has_events(self) -> bool:
        return True

    def settable(self) -> list[str]:
        """Return the numbers that phases may set, and the switch; the cone stays where it is."""
        return [*(key for key in super().settable() if key != "entry"), "closed"]

    def check_cone(self, half_angle: float, depth: float, radius: float, law: Any) -> None:  # noqa: ANN401, a law of whatever kind
        """Refuse what cannot be of a tip of `radius` (m) in a cone of `half_angle` (rad) and `depth` (m), whose contact has
        this `law`, if any.

        That is a ramp that begins outside of the cone, a latch that falls in deeper than the tip can come, and a catch of which
        nothing tells the stiffness.
        """
        assert self.ramp is not None and self.entry is not None
        if self.entry > depth:
            refuse(
                f"{self.path}.entry = {self.entry:g} m: how far from the apex the ramp begins; must be within the cone, "
                f"at most {depth:.4g} m"
            )
        deepest = radius / math.sin(half_angle)
        end = self.entry - float(self.ramp.travel())
        if end < deepest:
            refuse(
                f"{self.path}.entry = {self.entry:g} m: the ramp ends {end:g} m from the apex, where the tip cannot come; "
                f"must be at least {self.entry - end + deepest:g} m"
            )
        if self.rigid:
            return
        if self.stiffness is None and law is None:
            refuse(
                f"{self.path}.stiffness: no [contact.NAME] between {self.feature!r} and {self.surface!r} tells it; must be "
                "stated, or grip be 'pin' or 'weld'"
            )
        if self.damping is not None or self.damping_ratio is not None:
            return
        if getattr(law, "unloading_force", None) is not None:
            refuse(f"{self.path}.damping: must be stated, since the contact's law has an unloading_force of its own")
        if key := relative_key(law):
            refuse(
                f"{self.path}.damping: must be stated, or damping_ratio, since the contact's law says its own by a {key}"
            )

    def springs(self) -> list[PlainSpring] | None:
        if self.rigid or self.in_cone or self.stiffness is None:
            return None
        size, no = jnp.asarray(self.stiffness, float), jnp.asarray(False)
        return [PlainSpring(line.own, line.other, way, size, no) for line in self.lines() for way in jnp.eye(3)]

    def make(self, first: Placed, second: Placed) -> ForceElement:
        return self.joined([self.caught_at(line, self._axis_out_of_seat(), self.lateral) for line in self.lines()])

    def _axis_out_of_seat(self) -> Float[Array, "3"]:
        """Return the unit vector out of the seat; the second body's x axis where none is stated."""

        axis = jnp.asarray(self.axis or [1.0, 0.0, 0.0], float)
        return axis / jnp.linalg.norm(axis)

    def in_throat(self, striker: Float[Array, "3"], cone: Cone, law: NormalLaw | None) -> Latch:
        """Return the latch for a `striker` (m, first body's axes) in the throat of a `cone`, also from traced numbers.

        `law` is that of their contact, as it acts head on; None without one.
        """

        from dockdyn.elements import Anchors
        from dockdyn.mechanics.vector import Vector

        assert self.ramp is not None
        entry = jnp.asarray(self.entry, float)
        seat = Vector.of(cone.apex) + Vector.of(cone.axis) * (entry - self.ramp.ramp().length)
        lateral = entry * cone.sine / cone.cosine
        return self.caught_at(Anchors(striker, seat.array()), cone.axis, lateral, law)

    def caught_at(
        self, line: Anchors, axis: Float[Array, "3"], lateral: Scalar | float | None, law: NormalLaw | None = None
    ) -> Latch:
        """Return the latch of one striker and its seat, `axis` pointing out of that, also from traced numbers."""

        from dockdyn.contact.latch import Reach
        from dockdyn.elements import Latch, Rigid

        lateral, closed = (jnp.asarray(number, float) for number in (lateral, self.closed))
        entry: Reach | Ramp = Reach(jnp.asarray(self.reach, float)) if self.ramp is None else self.ramp.ramp()
        grip: Compliant | Rigid = Rigid("weld" if self.grip == "weld" else "pin")
        if not self.rigid:
            grip = self._make_compliant_grip(entry, jnp.maximum(jnp.linalg.norm(line.own), lateral), law)
        ends = self.ends_run and self.tells_loads
        return Latch(line.own, line.other, axis, lateral, entry, grip, closed, ends_run=ends)

    def _make_compliant_grip(self, entry: Reach | Ramp, lever: Scalar, law: NormalLaw | None) -> Compliant:
        """Return the grip that yields; `lever` (m) is that with which a weld holds against turning where that is not stated."""

        from dockdyn.contact.latch import Ramp
        from dockdyn.contact.laws.linearised import linearise_law
        from dockdyn.elements import Compliant

        ratio = stated_number(self.damping_ratio)
        stated: tuple[Any, Any] = self.stiffness, self.damping if ratio is None else 0.0
        if law is not None and None in stated:
            assert isinstance(entry, Ramp)
            spare = linearise_law(law, entry.greatest_force(), jnp.asarray(self.entry, float))
            stated = _prefer_stated(stated, spare)
        stiffness, damping = (jnp.asarray(0.0 if value is None else value, float) for value in stated)
        turning = None
        if self.grip == "compliant-weld":
            turning = _prefer_stated(
                (self.turning_stiffness, self.turning_damping), (lever**2 * stiffness, lever**2 * damping)
            )
        follows = ratio is not None and turning is not None and self.turning_damping is None
        grip = Compliant(stiffness, damping, turning, ratio=ratio, lever=lever if follows else None)
        if self.tells_loads:
            return replace(grip, stroke=jnp.asarray(self.entry if self.stroke is None else self.stroke, float))
        speed = None if self.draw_speed is None else jnp.asarray(self.draw_speed, float)
        return replace(grip, play=jnp.asarray(self.play, float), speed=speed)


def _prefer_stated(stated: tuple[Any, Any], spare: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
    """Return two numbers as stated, and those of `spare` where they are not."""

    first, second = (
        other if own is None else jnp.asarray(own, float) for own, other in zip(stated, spare, strict=True)
    )
    return first, second


class ConnectionSection(LineSection):
    """Two bodies that stay together while it is `closed`, which phases may change: a pin holds both anchors together, a weld
    the attitude, too. It may close a loop of joints. What closes later holds what it finds, where it is then.
    """

    kind = "connection"
    grip: Literal["pin", "weld"] = "weld"
    closed: bool = True

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        if self.anchor is None:
            refuse("must state anchor: where it is on either body")
        return self

    def has_events(self) -> bool:
        return True

    def settable(self) -> list[str]:
        return ["closed"]

    def gap(self, first: Placed, second: Placed) -> float:
        """Return how far (m) its ends are apart."""
        (line,) = self.lines()
        return float(line.line(first, second).length)

    def make(self, first: Placed, second: Placed) -> ForceElement:
        from dockdyn.contact.latch import Anywhere
        from dockdyn.elements import Latch, Rigid

        (line,) = self.lines()
        axis, lateral = jnp.asarray([1.0, 0.0, 0.0]), jnp.zeros(())
        closed = jnp.asarray(self.closed, float)
        return Latch(line.own, line.other, axis, lateral, Anywhere(), Rigid(self.grip), closed)


class FixedThrusterSection(NamedElement):
    """A thruster at a place of one body: a force along a direction in the axes of the body, as the present phase says."""

    kind = "thruster"
    body: str
    position: Point
    direction: Direction
    force: quantity("N", "a force", least=0)

    def acts_on(self) -> dict[str, list[str]]:
        return {"body": [self.body]}

    def make(self) -> Thruster:
        """Return the thruster, also from traced numbers."""

        from dockdyn.elements import Thruster

        direction = jnp.asarray(self.direction, float)
        unit = direction / jnp.linalg.norm(direction)
        return Thruster(jnp.asarray(self.position, float), unit, jnp.asarray(self.force, float))


class OwnElement(ElementSection, OwnPart):
    """An element of one's own, `kind = "module:Class"`, with the class's fields as keys."""

    model_config = ConfigDict(extra="allow")
    kind: str

    @property
    def path(self) -> str:
        return f"element.{self.name}"

    @classmethod
    def base(cls) -> type:
        from dockdyn.elements import ForceElement

        return ForceElement

    def own_class(self) -> str:
        return self.kind

    def has_events(self) -> bool:
        return True

    def make(self, *bodies: Placed) -> ForceElement:
        made: ForceElement = OwnPart.make(self)
        return made

    def places(self, first: Placed, second: Placed) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        refuse(f"{self.path}: one of one's own cannot be on a flexible link, as it does not say where")
