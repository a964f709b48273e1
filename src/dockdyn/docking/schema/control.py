"""The `[control]` of a mechanism: that of bodies in space or of an arm, which of the bodies it acts on, and when."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, Self, get_args

from pydantic import Discriminator, Field, SerializeAsAny, Tag, field_validator, model_validator

from dockdyn.deferred import Array, Float, jnp
from dockdyn.docking.schema.phases import Entries, entries_of
from dockdyn.scenario.language.errors import nearest
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.approach import Port
from dockdyn.scenario.tables.arm_control import ARM_LAWS, ArmControlSection, refuse_other_count
from dockdyn.scenario.tables.control import BodyControlSection, OwnControlSection, own_reader, whose
from dockdyn.scenario.tables.fmu_control import FmuControlSection
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.control.set_points import SetPoints
    from dockdyn.docking.schema.bodies import BodySection
    from dockdyn.docking.schema.phases import PhaseSection
    from dockdyn.mechanics.rigid_body import Pose, Twist
    from dockdyn.mechanics.trees.partial_motion import JointMotion
    from dockdyn.mechanism.mechanism import Mechanism
    from dockdyn.mechanism.regulated_arm import Design
    from dockdyn.mechanism.steered_arm import SteeredArm
    from dockdyn.mechanism.steered_body import SteeredBody


SET_POINT = "control.set_point"  # key that phases may set
Coordinate = quantity("rad", "an angle", component=True)  # of a slide a plain number, m


class SteeredSection(Section):
    """Which body control acts on, which one it sees as its target, and in which phases."""

    body: str | None = None
    target: str | None = None
    phases: Annotated[list[str], Field(min_length=1)] | None = None
    placing: ClassVar[tuple[str, ...]] = ("body", "target", "phases")


class SteeringSection(SteeredSection, BodyControlSection):
    """Torque and force on a body of a mechanism."""

    @field_validator("law", mode="before")
    @classmethod
    def known_law(cls, law: object) -> object:
        """Refuse a law that is neither of bodies nor of arms."""
        known = [*get_args(cls.model_fields["law"].annotation), *ARM_LAWS]
        if isinstance(law, str) and law not in known:
            refuse(f'no such law; {nearest(law, known)}; or "module:Class" for one of your own')
        return law


class OwnSteeringSection(SteeredSection, OwnControlSection):
    """A controller of the user's own on a body of a mechanism."""


class FmuSteeringSection(SteeredSection, FmuControlSection):
    """A controller in an FMU, on a body of a mechanism."""


class ArmSteeringSection(SteeredSection, ArmControlSection):
    """Torques in the joints of the tree of a body of a mechanism, and on that body; lists have an entry for every joint that
    moves, in the order of the bodies."""

    set_point: list[Coordinate] | None = None
    placing: ClassVar[tuple[str, ...]] = (*SteeredSection.placing, "set_point")

    @model_validator(mode="after")
    def check_set_point(self) -> Self:
        if self.set_point is not None and self.law != "joint-pd":
            refuse(f"set_point: law {self.law} drives joints to none; must be left out, or law be 'joint-pd'")
        return self

    @property
    def aims(self) -> bool:
        return self.set_point is not None


def whose_steering(table: object) -> str:
    """Return which of the tables of control one is: an arm's by its law, or where damping is stated joint by joint."""
    read = table.get if isinstance(table, dict) else partial(getattr, table)
    law = read("law", None)
    joint_by_joint = law in ("rate-damping", "none") and read("damping", None) is not None
    return "arm" if law in ARM_LAWS or joint_by_joint else whose(table)


SteeringTable = Annotated[
    Annotated[SteeringSection, Tag("named")]
    | Annotated[SerializeAsAny[OwnSteeringSection], own_reader(OwnSteeringSection), Tag("user")]
    | Annotated[FmuSteeringSection, Tag("fmu")]
    | Annotated[ArmSteeringSection, Tag("arm")],
    Discriminator(whose_steering),
]


class StartPose(Protocol):
    """How the bodies of a mechanism begin."""

    control: SteeringSection | OwnSteeringSection | FmuSteeringSection | ArmSteeringSection | None
    phase: list[PhaseSection]
    body: list[BodySection]

    @property
    def plane(self) -> bool:
        """Whether all moves in the x–y plane."""
        ...

    @property
    def linked_in_plane(self) -> bool:
        """Whether all moves in the x–y plane as trees of links do."""
        ...

    def root_of(self, name: str) -> str:
        """Return the body at the root of the joints that hold the one of this name."""
        ...

    def joint_starts(self) -> list[JointMotion]:
        """Return coordinates and rates of joints and modes at t = 0."""
        ...

    def names(self) -> list[str]:
        """Return the names of the bodies."""
        ...

    def modes(self) -> list[tuple[str, str]]:
        """Return the modes of all flexible links: link and mode."""
        ...

    def root(self, name: str) -> str:
        """Return the body that carries another one at the start, or is it."""
        ...

    def approaches(self) -> tuple[str, str] | None:
        """Return the body that approaches and the one that has the port it approaches, where that is stated."""
        ...

    def meeting(self) -> Port:
        """Return the ports that approach each other."""
        ...

    def base(self) -> str:
        """Return the body from whose centre of mass places are counted."""
        ...


def steered_bodies(control: SteeredSection, bodies: StartPose) -> tuple[str, str]:
    """Return the body that control acts on, and the one that it sees as its target: by default as they approach.

    Without that the target is the first body that begins apart from the steered one, or that one itself.
    """
    names, approach = bodies.names(), bodies.approaches()
    for key in ("body", "target"):
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


def check_steered(control: SteeredSection, bodies: StartPose) -> None:
    """Refuse bodies that there are not, and references at a port where the two are not those that approach each other."""
    found, approach = steered_bodies(control, bodies), bodies.approaches()
    names = [phase.name for phase in bodies.phase]
    if not isinstance(control, ArmSteeringSection) and any(body.fixed for body in bodies.body if body.name == found[0]):
        refuse(f"control: acts on {found[0]!r}, which is fixed; must be of a body that moves")
    for name in control.phases or []:
        if name not in names:
            refuse(f"control.phases: no phase {name!r}; {nearest(name, names)}")
    if isinstance(control, ArmSteeringSection):
        if not (joints := arm_joints(found[0], bodies)) and control.law != "none":
            refuse(
                f"control.law: {control.law}: no joint moves in the tree of {found[0]!r}; must be a body with an arm"
            )
        control.check_joints(joints, locked_joints(bodies), 1 if bodies.plane else 3)
        if control.law == "lqr":
            check_gain(control, bodies)
        if control.set_point is not None:
            refuse_other_count("set_point", control.set_point, joints)
    if getattr(control, "frame", None) != "port":
        return
    if approach is None:
        refuse("control.frame = 'port' needs an [approach]: its ports are where references count from")
    if found != approach:
        refuse(
            f"control.frame = 'port': must act on {approach[0]!r}, which approaches, with the target {approach[1]!r}, "
            "which has the port"
        )


def steered_lists(bodies: StartPose) -> dict[str, Entries]:
    """Return the lists of control that phases may set, by their keys."""
    control = bodies.control
    if not isinstance(control, ArmSteeringSection) or control.set_point is None:
        return {}
    names, units = moved_joints(bodies), {"revolute": "rad", "prismatic": "m"}
    joints = {body.name: body.joint.motion for body in bodies.body if body.joint is not None and body.name in names}
    return {SET_POINT: Entries([units[joints[name]] for name in names], "a set-point")}


def arm_joints(body: str, bodies: StartPose) -> list[str]:
    """Return the joints that move in the tree of a body, by the names of the bodies that they hold."""
    from dockdyn.docking.trees import moving_joints

    return [name for name in moving_joints(bodies.body) if bodies.root_of(name) == bodies.root_of(body)]


def locked_joints(bodies: StartPose) -> list[str]:
    """Return the joints that are held, by the names of the bodies that they hold."""
    return [body.name for body in bodies.body if getattr(body.joint, "locked", False)]


def moved_joints(bodies: StartPose) -> list[str]:
    """Return the joints that control moves, by the names of the bodies that they hold; none unless it is of an arm."""
    control = bodies.control
    return arm_joints(steered_bodies(control, bodies)[0], bodies) if isinstance(control, ArmSteeringSection) else []


def make_steered(
    control: SteeringSection | OwnSteeringSection | FmuSteeringSection | ArmSteeringSection,
    bodies: StartPose,
    starts: dict[str, tuple[Pose, Twist]],
    model: Mechanism,
) -> SteeredBody | SteeredArm | None:
    """Return what control acts on, of bodies that begin so, also from traced numbers; None where it does nothing.

    A regulator is made for the `model`, which has no control.
    """
    from dockdyn.mechanism.steered_body import SteeredBody

    names, (body, target) = bodies.names(), steered_bodies(control, bodies)
    numbers, order = (names.index(body), names.index(target)), [phase.name for phase in bodies.phase]
    phases = None if control.phases is None or len(order) < 2 else tuple(map(order.index, control.phases))
    if isinstance(control, ArmSteeringSection):
        arm = _make_arm(control, bodies, starts[body][0].attitude.array(), body, model)
        return None if arm is None else replace(arm, body=numbers[0], target=numbers[1], phases=phases)
    origin = starts[target][0].position
    port = bodies.meeting() if getattr(control, "frame", None) == "port" else None
    made = control.make(starts[body][0], origin, port)
    if made is None:
        return None
    return SteeredBody(made, origin - starts[bodies.base()][0].position, *numbers, phases)


def _make_arm(
    control: ArmSteeringSection,
    bodies: StartPose,
    attitude: Float[Array, "4"],
    body: str,
    model: Mechanism,
) -> SteeredArm | None:
    """Return the arm of a body that control moves, in all phases; references are what holds at t = 0."""

    from dockdyn.docking.trees import coordinate_number
    from dockdyn.mechanism.steered_arm import SteeredArm

    if control.law == "none":
        return None
    motors, plane = arm_joints(body, bodies), bodies.plane
    moving, turning = ([0, 1], [2]) if plane else ([0, 1, 2], [0, 1, 2])
    at = tuple(coordinate_number(bodies.body, name, bodies.linked_in_plane) for name in motors)
    joints = jnp.stack([bodies.joint_starts()[number][0] for number in at])
    free, gain, number = control.free(motors, locked_joints(bodies)), jnp.zeros((0, 0)), bodies.names().index(body)
    if control.law == "lqr":
        gain = jnp.asarray(regulator(control, bodies, model).gain if control.gain is None else control.gain, float)
    law = control.make_law(attitude, joints, free, gain)
    set_points = None if control.set_point is None else _set_points(control.set_point, bodies.phase)
    limits = control.limits(len(at), moving, turning)
    period = None if control.period is None else jnp.asarray(control.period, float)
    return SteeredArm(law, limits, attitude, number, number, at, set_points=set_points, period=period)


def regulator(control: ArmSteeringSection, bodies: StartPose, model: Mechanism) -> Design:
    """Return the regulator that the weights ask for, of a model without control; also from traced numbers."""
    from dockdyn.docking.trees import coordinate_number
    from dockdyn.mechanism.regulated_arm import Arm, design_regulator

    body = steered_bodies(control, bodies)[0]
    motors = arm_joints(body, bodies)
    free = control.free(motors, locked_joints(bodies))
    at = tuple(coordinate_number(bodies.body, motors[one], bodies.linked_in_plane) for one in free)
    weights = control.weights(free, len(motors), 1 if bodies.plane else 3)
    return design_regulator(model, Arm(bodies.names().index(body), at, control.base_limit is not None), weights)


def check_gain(control: ArmSteeringSection, bodies: StartPose) -> None:
    """Refuse a regulator's gain of another shape than the states that it holds, and one of an arm that latches let go."""
    joints = control.free(arm_joints(steered_bodies(control, bodies)[0], bodies), locked_joints(bodies))
    wheel = (1 if bodies.plane else 3) if control.base_limit is not None else 0
    rows, columns = wheel + len(joints), 2 * (wheel + len(joints) + len(bodies.modes()))
    given = [len(row) for row in control.gain or []]
    if control.gain is not None and given != [columns] * rows:
        counts = str(max(given, default=0)) if len(set(given)) < 2 else "unequal"
        refuse(f"control.gain: has {len(given)} × {counts} numbers; must have {rows} × {columns}")


def _set_points(stated: list[float], phases: list[PhaseSection]) -> SetPoints:
    """Return the set-points of joints in all phases, also from traced numbers."""

    from dockdyn.control.set_points import SetPoints

    points, before = entries_of(phases, SET_POINT, stated) if phases else ([stated], [stated])
    rows = ([jnp.stack([jnp.asarray(one, float) for one in row]) for row in rows] for rows in (points, before))
    return SetPoints(*map(jnp.stack, rows))
