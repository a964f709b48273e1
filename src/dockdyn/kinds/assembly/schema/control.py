"""The `[control]` of an assembly: that of bodies in space, and which of the bodies it acts on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol

from pydantic import Discriminator, SerializeAsAny, Tag

from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.approach import Port
from dockdyn.scenario.tables.control import BodyControlSection, OwnControlSection, own_reader, whose
from dockdyn.scenario.tables.fmu_control import FmuControlSection
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.mechanics.rigid_body import Pose, Twist
    from dockdyn.mechanism.steered_body import SteeredBody


class SteeredSection(Section):
    """Which body control acts on, and which one it sees as its target."""

    body: str | None = None
    target: str | None = None
    placing: ClassVar[tuple[str, ...]] = ("body", "target")


class SteeringSection(SteeredSection, BodyControlSection):
    """Torque and force on a body of an assembly."""


class OwnSteeringSection(SteeredSection, OwnControlSection):
    """A controller of the user's own on a body of an assembly."""


class FmuSteeringSection(SteeredSection, FmuControlSection):
    """A controller in an FMU, on a body of an assembly."""


SteeringTable = Annotated[
    Annotated[SteeringSection, Tag("named")]
    | Annotated[SerializeAsAny[OwnSteeringSection], own_reader(OwnSteeringSection), Tag("user")]
    | Annotated[FmuSteeringSection, Tag("fmu")],
    Discriminator(whose),
]


class Begun(Protocol):
    """How the bodies of an assembly begin."""

    def names(self) -> list[str]:
        """The names of the bodies."""
        ...

    def root(self, name: str) -> str:
        """The body that carries another one at the start, or is it."""
        ...

    def approaches(self) -> tuple[str, str] | None:
        """The body that approaches and the one that has the port it approaches, where that is stated."""
        ...

    def meeting(self) -> Port:
        """The ports that approach each other."""
        ...

    def base(self) -> str:
        """The body from whose centre of mass places are counted."""
        ...


def steered_bodies(control: SteeredSection, bodies: Begun) -> tuple[str, str]:
    """The body that control acts on, and the one that it sees as its target: by default as they approach.

    Without that the target is the first body that begins apart from the steered one, or that one itself.
    """
    names, approach = bodies.names(), bodies.approaches()
    for key in control.placing:
        if (stated := getattr(control, key)) is not None and stated not in names:
            refuse(f"control.{key} = {stated!r}: no such body; {nearest(stated, names)}")
    body = control.body or (approach[0] if approach is not None else None)
    if body is None:
        refuse("control.body is missing: without an [approach] it must name the body that control acts on")
    if approach is not None and bodies.root(body) == approach[0]:
        other = approach[1]
    else:
        other = next((name for name in names if bodies.root(name) != bodies.root(body)), body)
    if control.target == body:
        refuse(f"control.target = {body!r}: is the body that control acts on; must be another one")
    return body, control.target or other


def check_steered(control: SteeredSection, bodies: Begun) -> None:
    """Refuses bodies that there are not, and references at a port where the two are not those that approach each other."""
    found, approach = steered_bodies(control, bodies), bodies.approaches()
    if getattr(control, "frame", None) != "port":
        return
    if approach is None:
        refuse("control.frame = 'port' needs an [approach]: its ports are where references count from")
    if found != approach:
        refuse(
            f"control.frame = 'port': must act on {approach[0]!r}, which approaches, with the target {approach[1]!r}, "
            "which has the port"
        )


def make_steered(
    control: SteeringSection | OwnSteeringSection | FmuSteeringSection,
    bodies: Begun,
    starts: dict[str, tuple[Pose, Twist]],
) -> SteeredBody | None:
    """What control acts on, of bodies that begin so, also from traced numbers; None where it does nothing."""
    from dockdyn.mechanism.steered_body import SteeredBody

    names, (body, target) = bodies.names(), steered_bodies(control, bodies)
    origin = starts[target][0].position
    port = bodies.meeting() if getattr(control, "frame", None) == "port" else None
    made = control.make(starts[body][0], origin, port)
    if made is None:
        return None
    return SteeredBody(made, origin - starts[bodies.base()][0].position, names.index(body), names.index(target))
