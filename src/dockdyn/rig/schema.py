"""The tables of a rig: a mechanism, two of whose bodies meet in hardware."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dockdyn.deferred import Array, Float
from dockdyn.docking.schema.multibody import SeveralBodiesSection, middle
from dockdyn.docking.schema.on_line import BodiesOnLineSection
from dockdyn.parameters import TOLERANCE
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.arm_control import ArmControlSection
from dockdyn.scenario.tables.control import check_samples
from dockdyn.scenario.tables.fmu_control import FmuControlSection
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import Shape, refuse
from dockdyn.scenario.tables.parts import creeps, remembers
from dockdyn.scenario.tables.rig.compensators import CompensatorSection
from dockdyn.scenario.tables.rig.driven import RigTableSection
from dockdyn.scenario.tables.rig.mounting import RigLoopSection
from dockdyn.scenario.tables.rig.robot import AXES
from dockdyn.scenario.tables.rig.sampling import SampledSection
from dockdyn.scenario.tables.run import OutputSection
from dockdyn.scenario.tables.stability import StabilitySection

if TYPE_CHECKING:
    from dockdyn.mechanics.rigid_body import Pose
    from dockdyn.mechanism.mechanism import Mechanism

FINEST = 64  # times that the parts of a motion are shorter, at most
MOST_EVENTS = 1000  # of the motion without rig
MOST_STEPS = 5_000_000  # of it besides those at the rig's instants
UNFIT = {  # for the motion between the instants of a rig's loop: why not
    "fixed": "samples, holds and delays of a loop fall between steps of one length",
    "variational": "a step knows no past, which a loop of delays has",
}


class RigIntegratorSection(Section):
    """How a rig's motion is computed between the instants of its loop, in `finer` times as many parts as it needs; and how far
    off, relative to the motion, a step of the motion without rig may be. Neither changes what the rig does."""

    finer: Annotated[int, Field(ge=1, le=FINEST)] = 1
    tolerance: quantity("", "a relative error", above=0, most=1e-3) = TOLERANCE
    # of the motion without rig
    method: ClassVar = "located"
    step: ClassVar = None
    max_events: ClassVar = MOST_EVENTS
    max_steps: ClassVar = MOST_STEPS

    @model_validator(mode="before")
    @classmethod
    def between_instants(cls, data: Any) -> Any:  # noqa: ANN401, tables not yet checked
        if isinstance(data, dict) and (method := data.get("method")) in UNFIT:
            refuse(f"method = {method!r}: {UNFIT[method]}; must be left out, loop.dynamics says how the computer steps")
        return data


def fits(loop: RigLoopSection, duration: float) -> None:
    """Refuse a delay that outlasts the run."""
    if not loop.latest() < duration:
        refuse(
            f"loop.delay, loop.sensor: delays of up to {loop.latest():g} s; must be shorter than the run of {duration:g} s"
        )


def check_axes(rig: RigTableSection, loop: RigLoopSection, axes: int) -> None:
    """Refuse limits of a driven rig, and a mounting, that are not those of a robot with so many `axes`."""
    if rig.limits is not None:
        rig.limits.check_axes(axes)
    if loop.tool is not None:
        loop.tool.check_axes(axes)
    if loop.sensor_frame is not None and axes == 1:
        refuse("loop.sensor_frame: a robot along one direction has none")
    own = {} if loop.robot is None else loop.robot.of_axes()
    for axis, robot in own.items():
        if axes == 1:
            refuse(f"loop.robot.{axis}: a robot along one direction has none")
        loop.check_robot(robot, f"loop.robot.{axis}")


def check_control(
    control: SampledSection | FmuControlSection | ArmControlSection, duration: float, integrator: RigIntegratorSection
) -> None:
    """Refuse control that an FMU computes, and one with too many samples."""
    if isinstance(control, FmuControlSection):
        refuse(f"control.law = {control.law!r}: the computer of a rig asks no FMU; must be another law")
    check_samples(control, duration, integrator)


class RigMechanismSection(SeveralBodiesSection):
    """Bodies as of a mechanism, two of which meet in hardware: a robot carries the first, as seen from the second."""

    setup: ClassVar = "rig"
    title: str = "Rig"
    motion: Literal["plane", "space"] = "space"  # type: ignore[assignment]
    rig: RigTableSection
    seed: int = Field(0, ge=0, lt=2**63)
    compare: named_tables(CompensatorSection) = []  # noqa: RUF012
    loop: RigLoopSection = RigLoopSection()
    stability: StabilitySection = StabilitySection()
    integrator: RigIntegratorSection = RigIntegratorSection()
    # of the motion without rig
    output: ClassVar = OutputSection()
    axes: ClassVar = len(AXES)  # of the robot

    @property
    def mock_ups(self) -> tuple[str, str]:
        """The bodies that meet in hardware: that which the robot carries, and that from which it is seen."""
        return self.rig.carries, self.rig.against

    @property
    def plane(self) -> bool:
        """Whether all moves in the x–y plane."""
        return self.motion == "plane"

    @property
    def bilateral(self) -> bool:
        """Whether what meets in hardware never parts."""
        return False

    @model_validator(mode="after")
    def in_time(self) -> Self:
        fits(self.loop, self.duration)
        return self

    @model_validator(mode="after")
    def every_axis(self) -> Self:
        check_axes(self.rig, self.loop, self.axes)
        return self

    @model_validator(mode="after")
    def check_mock_ups(self) -> Self:
        for key, name in zip(("carries", "against"), self.mock_ups, strict=True):
            if name not in self.names():
                refuse(f"rig.{key} = {name!r}: no such body; {nearest(name, self.names())}")
            if self.named(name).flexible is not None:
                refuse(
                    f"rig.{key} = {name!r}: bends, a mock-up does not; must be a body that a locked joint holds on it"
                )
        first, second = self.mock_ups
        if self.named(first).fixed:
            refuse(f"rig.carries = {first!r}: is fixed; must be a body that moves")
        if first == second:
            refuse(f"rig.against = {second!r}: the robot carries that body; must be another one")
        if not self.measured_contacts():
            refuse(f"rig: no [contact.NAME] of {first!r} with {second!r}; what meets in hardware must have one")
        return self

    @model_validator(mode="after")
    def check_stability_table(self) -> Self:
        names = self.contact_names()
        self.stability.check(names, self.duration)
        measured = [names[number] for number in self.measured_contacts()]
        if self.stability.closed is not None and not set(self.stability.closed) & set(measured):
            refuse(
                f"stability.closed = {self.stability.closed}: none is of the mock-ups; must have one of {', '.join(measured)}"
            )
        return self

    @model_validator(mode="after")
    def check_computed_part(self) -> Self:
        if self.control is not None:
            check_control(self.control, self.duration, self.integrator)
        self._refuse_unlocated()
        for contact in self.contacts:
            if contact.impact is not None:
                refuse(f"{self.law_key(contact, 'impact')}: the sensor of a rig measures no jump; must state normal")
        for latch in self.latch:
            if latch.rigid:
                refuse(f"{latch.path}.grip = {latch.grip!r}: on a rig must be {self.compliant_grips()}")
            if latch.ends_run:
                refuse(f"{latch.path}.ends_run: the run of a rig goes on to its end; must be false")
        return self

    def _refuse_unlocated(self) -> None:
        """Refuse Euler's methods, with which no instant is located, where the computed motion has instants."""
        dynamics, beside = self.loop.dynamics, len(self.measured_contacts()) < len(self.contact)
        parts = {
            "elements or joints": bool(self.elements) or not self.only_contacts(),
            "[control]": self.control is not None,
            "[phase.NAME]": bool(self.phase),
            "contacts that are computed": beside,
        }
        computed = [words for words, present in parts.items() if present]
        if computed and dynamics is not None and dynamics.method.endswith("euler"):
            refuse(
                f"loop.dynamics.method = {dynamics.method!r}: with {computed[0]} it must be 'zero-order-hold', 'half-period' "
                "or 'continuous', which locate their instants"
            )

    @property
    def of_one_normal(self) -> bool:
        """Whether small motions in contact are of a mass, and of stiffness and damping along a normal, alone: nothing else is
        behind what is in hardware, which neither sticks nor creeps."""
        contacts = [self.contacts[number] for number in self.measured_contacts()]
        rubs = [contact.friction for contact in contacts if contact.friction is not None]
        remembering = any(map(remembers, rubs)) or any(creeps(contact.normal) for contact in contacts)
        return not (remembering or self.acts() or self.controlled)

    def model(self) -> Mechanism:
        """Return the motion without rig, whose forces are not late, also from traced numbers."""
        return replace(super().model(), delay=None)

    def measured_contacts(self) -> list[int]:
        """Return the numbers of the contacts in hardware: those between the bodies of the mock-ups."""
        bodies = [{name for name, _ in self.sides(contact)} for contact in self.contact]
        return [number for number, pair in enumerate(bodies) if pair == set(self.mock_ups)]

    @property
    def stiffness_key(self) -> str:
        """The key of the stiffness that compensators are compared over: of the first contact in hardware."""
        return f"{self.law_key(self.contact[self.measured_contacts()[0]], 'normal')}.stiffness"

    def mounted_bodies(self) -> tuple[int, int]:
        """Return the numbers of the body whose mock-up is carried, and of that whose mock-up stands."""
        carried, standing = map(self.names().index, self.mock_ups)
        return carried, standing

    def mounted_starts(self) -> tuple[Pose, Pose]:
        """Return poses of these at t = 0."""
        carried, standing = (self.starts()[name][0] for name in self.mock_ups)
        return carried, standing

    def port_contact(self) -> int:
        """Return the number of the contact in which the port touches: the first whose feature is carried, that being the port;
        without one the first, and the port is at what its feature touches."""
        hardware = self.measured_contacts()
        carried = [number for number in hardware if self.sides(self.contact[number])[0][0] == self.mock_ups[0]]
        return (carried or hardware)[0]

    def partner_place(self) -> Float[Array, "3"]:
        """Return where on its body (m) what is touched in the port's contact is: the reference point of a surface, the middle
        of a feature; also from traced numbers."""
        _, (_, partner) = self.sides(self.contact[self.port_contact()])
        return partner.make().reference().array() if isinstance(partner, Shape) else middle(partner.stated())


class RigLineSection(BodiesOnLineSection, RigMechanismSection):
    """Bodies as of a mechanism on a line, two of which meet in hardware; the robot moves along the line."""

    axes: ClassVar = 1

    @property
    def bilateral(self) -> bool:
        return all(self.contact[number].bilateral for number in self.measured_contacts())


MECHANISMS = {  # by motion
    "space": f"{__name__}:RigMechanismSection",
    "plane": f"{__name__}:RigMechanismSection",
    "line": f"{__name__}:RigLineSection",
}
RigContent = RigMechanismSection  # of a scenario


def way_in(content: RigContent) -> float:
    """Return 1 where what is carried on a line goes along it as it touches, −1 where it comes against it."""
    first, _ = content.sides(content.contact[content.port_contact()])
    return 1.0 if first[0] == content.rig.carries else -1.0
