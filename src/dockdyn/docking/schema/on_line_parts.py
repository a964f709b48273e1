"""What a mechanism on a line is stated with: bodies, slides, contacts and elements whose places and directions are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Discriminator, Field, SerializeAsAny, Tag, model_validator

from dockdyn.deferred import jnp
from dockdyn.docking.schema.bodies import BodySection, PortSection
from dockdyn.docking.schema.contacts import (
    BetweenPortsSection,
    ContactImpactSection,
    Laws,
    TouchingSection,
)
from dockdyn.docking.schema.control import FmuSteeringSection, OwnSteeringSection, SteeringSection
from dockdyn.docking.schema.elements import (
    BushingSection,
    CableSection,
    Damping,
    FixedThrusterSection,
    LatchSection,
    MagnetSection,
    StrutSection,
)
from dockdyn.docking.schema.joints import LockedSection, PrismaticSection
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import Coordinate, quantity
from dockdyn.scenario.tables.control import PUSH, own_reader, whose
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import NormalLawSection

if TYPE_CHECKING:
    from dockdyn.control.body_control import BodyControl
    from dockdyn.control.sampled import SampledControl
    from dockdyn.elements import ForceElement, Thruster
    from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
    from dockdyn.mechanics.vector import Vector
    from dockdyn.scenario.tables.approach import Port

Way = Literal[1, -1]  # a direction: along the line or against it
Place = quantity("m", "a length")
Speed = quantity("m/s", "a velocity")
Ends = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]
LEVEL = [1.0, 0.0, 0.0, 0.0]
STILL = [0.0, 0.0, 0.0]
TURNS = "on a line nothing turns"
ACROSS = "on a line nothing is across it"
A_POINT = "on a line a body touches with its ports"


def in_space(number: float) -> list[float]:
    """Return a place, a velocity or a direction on the line as one in space, also of a traced number."""
    return [number, 0.0, 0.0]


class OnLine(Section):
    """A table of a mechanism on a line: it says why keys that belong to space are none of its own."""

    off_line: ClassVar[dict[str, str]] = {}  # reasons by key

    @model_validator(mode="before")
    @classmethod
    def along_the_line(cls, value: object) -> object:
        """Refuse a key that only a table in space has, with the reason."""
        for key, reason in cls.off_line.items():
            if isinstance(value, dict) and key in value:
                refuse(f"{key}: {reason}; must be left out, or motion be 'space'")
        return value


class LinePortSection(OnLine, NamedSection):
    """A named place on a body, from its centre of mass; with an `axis`, out of the body, also a port to dock at."""

    position: Place
    axis: Way | None = None

    def in_space(self) -> PortSection:
        """Return it as a body in space has it."""
        axis = None if self.axis is None else in_space(self.axis)
        return PortSection.model_construct(name=self.name, position=in_space(self.position), axis=axis)


class LineSlideSection(OnLine, PrismaticSection):
    """A spring, damper, motor and stops between a body and the one that carries it; `axis` is where its coordinate grows."""

    kind: Literal["prismatic"] = "prismatic"
    axis: Way = 1  # type: ignore[assignment]
    position: ClassVar[None] = None
    moved_mass: ClassVar[None] = None
    off_line: ClassVar = {"moved_mass": "a slide of a line has no motor that reflects inertia, a strut may"}

    def direction(self) -> Vector:
        from dockdyn.mechanics.vector import Vector

        return Vector.of(jnp.asarray(in_space(self.axis), float))


class LineWeldSection(OnLine, LockedSection):
    """A weld: the body moves as part of the one that carries it."""

    position: ClassVar[None] = None


def _slide_or_weld(value: object) -> object:
    """Return which joint a table is; a slide where nothing is said."""
    return value.get("kind", "prismatic") if isinstance(value, dict) else getattr(value, "kind", None)


LineJoint = Annotated[
    Annotated[LineSlideSection, Tag("prismatic")] | Annotated[LineWeldSection, Tag("locked")],
    Discriminator(_slide_or_weld),
]


class LineBodySection(OnLine, BodySection):
    """A body on the line; one that is `on` another begins there, placed from its centre, and moves with it until forces part
    them, or as a `joint` lets it."""

    position: Place | None = None
    velocity: Speed | None = None
    joint: LineJoint | None = None
    port: named_tables(LinePortSection) = []  # noqa: RUF012
    inertia: ClassVar = [STILL, STILL, STILL]
    attitude: ClassVar[None] = None
    rate: ClassVar[None] = None
    look: ClassVar[None] = None
    flexible: ClassVar[None] = None
    feature: ClassVar[list[Section]] = []
    surface: ClassVar[list[Section]] = []
    off_line: ClassVar = {
        "inertia": TURNS,
        "attitude": TURNS,
        "rate": TURNS,
        "flexible": "on a line nothing bends; a second body on a slide with a stiffness yields",
        "look": "on a line bodies are drawn as cubes",
        "feature": f"{A_POINT}, [body.NAME.port.NAME]",
        "surface": f"{A_POINT}, [body.NAME.port.NAME]",
    }

    @model_validator(mode="after")
    def check_carrier(self) -> Self:
        if self.fixed and self.on is not None:
            refuse("on: a body that is fixed is on no other; must be left out, with its joint")
        if self.on is not None and self.velocity is not None:
            refuse("velocity: a body that is on another one begins with its motion; must be left out")
        if self.joint is not None and self.on is None:
            refuse("joint: holds a body on another one; state on")
        return self

    def body(self) -> RigidBody:
        from dockdyn.mechanics.rigid_body import RigidBody

        nothing = jnp.zeros((3, 3))
        return RigidBody(jnp.asarray(self.mass, float), nothing, nothing)

    def start(self) -> tuple[Pose, Twist]:
        place, speed = (in_space(0.0 if one is None else one) for one in (self.position, self.velocity))
        moved = BodySection.model_construct(mass=self.mass, inertia=self.inertia, position=place, velocity=speed)
        return moved.start()


class LineImpactSection(OnLine, ContactImpactSection):
    """The law of a contact whose velocities jump, its restitution, and below which speed of rebound it comes to rest."""

    law: Literal["frictionless", "variational"]
    friction: ClassVar[None] = None
    energy_ratio: ClassVar[None] = None
    friction_ratio: ClassVar[None] = None
    off_line: ClassVar = dict.fromkeys(("friction", "energy_ratio", "friction_ratio"), ACROSS)


class LineContactLawSection(OnLine, Laws):
    """The law of a pair of materials, stated once for the contacts that name it as their `law`."""

    normal: NormalLawSection | None = None
    impact: OrNone[LineImpactSection] = None
    friction: ClassVar[None] = None
    off_line: ClassVar = {"friction": ACROSS}


class LineContactSection(OnLine, TouchingSection):
    """A place on a body against one on another body: where the first comes beyond the second along the line, they touch.

    Places are bodies themselves, or their ports as "body.port"; names alone where no two bodies have such a port.
    """

    bilateral: bool = False
    normal: NormalLawSection | None = None
    impact: OrNone[LineImpactSection] = None
    friction: ClassVar[None] = None
    off_line: ClassVar = {"friction": ACROSS}


class LineApproachSection(OnLine, BetweenPortsSection):
    """The approach of a port to a port of another body that faces it."""

    lateral_offset: ClassVar = [0.0, 0.0]
    lateral_velocity: ClassVar = [0.0, 0.0]
    roll: ClassVar = 0.0
    pitch: ClassVar = 0.0
    yaw: ClassVar = 0.0
    roll_rate: ClassVar = 0.0
    pitch_rate: ClassVar = 0.0
    yaw_rate: ClassVar = 0.0
    axis: ClassVar = [1.0, 0.0, 0.0]
    off_line: ClassVar = {
        **dict.fromkeys(("lateral_offset", "lateral_velocity"), ACROSS),
        **dict.fromkeys(("roll", "pitch", "yaw", "roll_rate", "pitch_rate", "yaw_rate", "axis"), TURNS),
    }


class BetweenPlaces(OnLine):
    """An element between a place on either body, from its centre of mass."""

    anchor: Ends = [0.0, 0.0]  # noqa: RUF012
    anchors: ClassVar[None] = None
    off_line: ClassVar = {"anchors": "on a line several alike are one of the sum"}

    def anchors_in_space(self) -> list[list[float]]:
        """Return both places as in space."""
        return [in_space(end) for end in self.anchor]


class LineStrutSection(BetweenPlaces, StrutSection):
    """A strut between two places, which must not meet: its force is along the way from one to the other."""

    hexapod: ClassVar[None] = None
    off_line: ClassVar = {**BetweenPlaces.off_line, "hexapod": ACROSS}

    def make(self, first: Placed, second: Placed) -> ForceElement:
        stated = dict(self) | {"anchor": self.anchors_in_space()}
        return StrutSection.model_construct(**stated).make(first, second)


class LineCableSection(BetweenPlaces, CableSection):
    """A cable between two places, which pulls when it is taut."""

    def make(self, first: Placed, second: Placed) -> ForceElement:
        return CableSection.model_construct(**dict(self) | {"anchor": self.anchors_in_space()}).make(first, second)


class LineMagnetSection(BetweenPlaces, MagnetSection):
    """A pull over the gap between two places."""

    def make(self, first: Placed, second: Placed) -> ForceElement:
        return MagnetSection.model_construct(**dict(self) | {"anchor": self.anchors_in_space()}).make(first, second)


class LineBushingSection(OnLine, BushingSection):
    """A spring and a damper between two bodies, at rest as they begin; they may pass each other."""

    stiffness: quantity("N/m", "a stiffness", above=0)
    damping: Damping | None = None
    position: ClassVar = STILL
    attitude: ClassVar = LEVEL
    turning_stiffness: ClassVar = STILL
    turning_damping: ClassVar[None] = None
    off_line: ClassVar = {
        "position": "on a line a spring pushes wherever it is fixed",
        **dict.fromkeys(("attitude", "turning_stiffness", "turning_damping"), TURNS),
    }

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        return self

    def make(self, first: Placed, second: Placed) -> ForceElement:
        stated = dict(self) | {"position": STILL, "stiffness": in_space(self.stiffness), "turning_stiffness": STILL}
        if self.damping is not None:
            stated |= {"damping": in_space(self.damping), "turning_damping": STILL}
        return BushingSection.model_construct(**stated).make(first, second)


class LineLatchSection(BetweenPlaces, LatchSection):
    """A latch: a place on the first body is caught near the seat on the second, out of which `axis` points.

    A grip holds by spring and damper, or is rigid: on a line a pin and a weld are one.
    """

    axis: Way = -1  # type: ignore[assignment]
    lateral: ClassVar = 1.0  # type: ignore[assignment]
    grip: Literal["compliant", "pin", "weld"] = "compliant"
    feature: ClassVar[None] = None
    surface: ClassVar[None] = None
    entry: ClassVar[None] = None
    turning_stiffness: ClassVar[None] = None
    turning_damping: ClassVar[None] = None
    off_line: ClassVar = {
        **BetweenPlaces.off_line,
        "lateral": ACROSS,
        **dict.fromkeys(("feature", "surface", "entry"), "on a line there are no cones"),
        **dict.fromkeys(("turning_stiffness", "turning_damping"), "on a line nothing turns"),
    }

    def in_space(self) -> LatchSection:
        """Return it as bodies in space have it."""
        stated = dict(self) | {"anchor": self.anchors_in_space(), "axis": in_space(self.axis), "lateral": self.lateral}
        return LatchSection.model_construct(**stated)

    def make(self, first: Placed, second: Placed) -> ForceElement:
        return self.in_space().make(first, second)


class LineThrusterSection(OnLine, FixedThrusterSection):
    """A thruster of one body, along the line or against it."""

    direction: Way = 1  # type: ignore[assignment]
    position: ClassVar = STILL
    off_line: ClassVar = {"position": "on a line a thruster pushes wherever it is"}

    def make(self) -> Thruster:
        stated = dict(self) | {"position": STILL, "direction": in_space(self.direction)}
        return FixedThrusterSection.model_construct(**stated).make()


class LineSteeringSection(OnLine, SteeringSection):
    """The force of thrusters on a body, which keep it at a place or a velocity."""

    law: Literal["none", "pose"] = "pose"  # type: ignore[assignment]
    position: Place | None = None
    velocity: Speed | None = None
    attitude: ClassVar[None] = None
    frame: ClassVar[None] = None
    base_stiffness: ClassVar[None] = None
    base_damping: ClassVar[None] = None
    base_limit: ClassVar[None] = None
    base_capacity: ClassVar[None] = None
    thruster_torque: ClassVar[None] = None
    thruster_angular_impulse: ClassVar[None] = None
    thruster: ClassVar[None] = None
    modulation: ClassVar[None] = None
    off_line: ClassVar = {
        **dict.fromkeys(("attitude", "base_stiffness", "base_damping", "base_limit", "base_capacity"), TURNS),
        **dict.fromkeys(("thruster_torque", "thruster_angular_impulse"), TURNS),
        **dict.fromkeys(("thruster", "modulation"), "on a line thrusters are the thruster_force of control"),
        "frame": "on a line position is where the body is to be",
    }

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        if self.law == "none":
            return self
        if not self.pushes():
            refuse("law pose needs position_stiffness or velocity_damping")
        self.check_keys(
            (), (*PUSH, "position", "velocity", "thruster_force", "thruster_impulse", "period", *self.placing)
        )
        self.check_references()
        return self

    def make(self, start: Pose, origin: Vector, port: Port | None) -> BodyControl | SampledControl | None:
        stated = dict(self) | {"law": "none" if self.law == "none" else "attitude-hold"}
        for key in ("position", "velocity"):
            if stated[key] is not None:
                stated[key] = in_space(stated[key])
        return SteeringSection.model_construct(**stated).make(start, origin, port)


LineSteering = Annotated[
    Annotated[LineSteeringSection, Tag("named")]
    | Annotated[SerializeAsAny[OwnSteeringSection], own_reader(OwnSteeringSection), Tag("user")]
    | Annotated[FmuSteeringSection, Tag("fmu")],
    Discriminator(whose),
]
