"""The arm of a mechanism that control moves: what its law sees, what it puts on the base and the joints.

Units: SI.
Source: as `dockdyn.control`; angular impulse about the common centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.control.actuators import Actuation, Actuators, Effort, idle_actuation
from dockdyn.control.joint_control import JointControl
from dockdyn.control.plant import ArmLaw, Response, Row, Three, attitude_error
from dockdyn.control.reference import InertialReference
from dockdyn.control.sampled import SampledControl
from dockdyn.control.set_points import SetPoints
from dockdyn.control.steering import Steering, observe_given
from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.elements.actor import ElementMemory
from dockdyn.integrate.model import choose_tree
from dockdyn.mechanics.dense import solve_definite, value_and_jacobian
from dockdyn.mechanics.lines import Lines
from dockdyn.mechanics.reflected import Reflected
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.bodies_in_plane import BodiesInPlane
from dockdyn.mechanics.trees.momentum import Momentum
from dockdyn.mechanics.trees.moving_bodies import MovingBodies, Placement
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.connections import Connection
from dockdyn.mechanism.grips import close_loops, free_yields
from dockdyn.mechanism.loads import all_held, element_loads, reflected_inertia
from dockdyn.mechanism.mounts import BendingLink, DrivenJoint, Mount, latches_of
from dockdyn.mechanism.steered_body import ControlAction, Places, Seen
from dockdyn.trees import Module, field


class HeldTogether(NamedTuple):
    """All bodies as a law of an arm knows them: what goes with the arm, by what, and what acts in joints besides control."""

    moving: MovingBodies | BodiesInPlane
    shares: Sequence[Scalar]  # by body, 1 where it is joined or held to the arm, 0 where not
    lines: Lines | None  # of what latches hold
    reflected: Sequence[tuple[int, int, Reflected]]
    efforts: Sequence[Scalar]  # N m or N, of all joints and modes
    modes: Sequence[int]  # which of these are modes'


class MechanismPlant(NamedTuple):
    """An arm of a mechanism at an instant, and what latches hold to it. A `Plant`."""

    held: HeldTogether
    here: Placement
    body: int  # the base, by number
    motors: tuple[int, ...]  # joints with motors, by number
    wheel: Three
    used: Float[Array, "2"]

    @property
    def axes(self) -> list[int]:
        return [2] if self.held.moving.planar else [0, 1, 2]

    @property
    def base(self) -> Placed:
        """The base as it is."""
        return self.here.bodies[self.body]

    def attitude(self) -> Float[Array, "4"]:
        return self.base.pose.attitude.array()

    def place(self) -> Three:
        return self.base.pose.position.array()

    def turning(self) -> Three:
        return self.base.twist.rate.array()

    def joints(self) -> tuple[Row, Row]:
        return _coordinate_rows([self.here.joints[number] for number in self.motors])

    def modes(self) -> tuple[Row, Row]:
        return _coordinate_rows([self.here.joints[number] for number in self.held.modes])

    def momentum(self) -> Momentum:
        mass, middle, linear, angular = jnp.zeros(()), Vector.zero(), Vector.zero(), Vector.zero()
        for tree in self.held.moving.in_place(self.here):
            share = self.held.shares[tree.members[0]]
            for one in tree.bending():
                linear, middle = linear + one.linear * share, middle + one.moved * share
                angular = angular + (one.angular + one.place.cross(one.linear)) * share
        for share, body, place in zip(self.held.shares, self.held.moving.bodies, self.here.bodies, strict=True):
            own, at = body.linear_momentum(place.twist) * share, place.pose.position
            mass, middle, linear = mass + share * body.mass, middle + at * (share * body.mass), linear + own
            angular = angular + at.cross(own) + body.spin(place.pose, place.twist) * share
        return Momentum(mass, (middle / mass).array(), linear.array(), angular.array())

    def rigid_response(self, given: Actuation) -> Response:
        modes, axes = list(self.held.modes), self.axes
        at, joints, turning = jnp.array([*self.motors, *modes], int), len(self.motors), len(axes)

        def moved(efforts: Row) -> Row:
            acting = jnp.stack(self.held.efforts).at[at].add(efforts)
            forces, torques = ([Vector.zero()] * len(self.here.bodies) for _ in range(2))
            forces[self.body] = self.base.rotation @ Vector.of(given.thrust)
            torques[self.body] = Vector.of(given.wheel + given.jets)
            found = self.held.moving.respond(
                self.here, forces, torques, list(acting), self.held.reflected, self.held.lines
            )
            every = self.held.moving.coordinate_rates(found.rates)
            rates = [every[number] for number in (*self.motors, *modes)]
            return jnp.concatenate([found.bodies[self.body].rate.array()[jnp.array(axes)], jnp.stack(rates)])

        start = jnp.concatenate([given.motors, jnp.zeros(len(modes))])
        alone, gain = value_and_jacobian(moved, start)
        if modes:
            bent = slice(turning + joints, None)
            still = solve_definite(
                gain[bent, joints:], jnp.concatenate([alone[bent, None], gain[bent, :joints]], axis=1)
            )
            alone, gain = alone - gain[:, joints:] @ still[:, 0], gain[:, :joints] - gain[:, joints:] @ still[:, 1:]
        moving = slice(turning, turning + joints)
        return Response(alone[:turning], alone[moving], gain[:turning, :joints], gain[moving, :joints])


class Holding(NamedTuple):
    """What holds a body to another one, as far as a law of an arm knows: latches, by element, which hold as one connection."""

    connection: Connection
    latches: tuple[int, ...]

    def closed(self, memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
        """Return whether all of them hold."""
        return all_held([memories[number] for number in self.latches])


def holdings_of(elements: Sequence[Mount], moving: MovingBodies | BodiesInPlane) -> tuple[Holding, ...]:
    """Return what latches hold together, groups of joined bodies two by two.

    A rigid latch holds as it does; compliant ones between the same groups hold together as a weld, unless other latches
    connect these already.
    """
    latches, found = latches_of(elements), []
    reached: dict[int, int] = {}

    def group_of(number: int) -> int:
        return moving.held_with(number)[0]

    rigid = [(group_of(one.first), group_of(one.second)) for one in latches if one.latch.rigid]
    loop = close_loops(rigid)

    def root(group: int) -> int:
        return group if group not in reached else root(reached[group])

    for one in sorted(latches, key=lambda one: not one.latch.rigid):
        ends = root(group_of(one.first)), root(group_of(one.second))
        if ends[0] == ends[1] and not one.latch.rigid:
            continue
        if ends[0] != ends[1]:
            reached[ends[0]] = ends[1]
        both = {group_of(one.first), group_of(one.second)}
        numbers = [other.number for other in latches if {group_of(other.first), group_of(other.second)} == both]
        hold = one.latch.hold if one.latch.rigid else "weld"
        yields = free_yields(moving, one) if loop else None
        connection = Connection(one.latch.striker, one.first, one.second, hold, moving.planar, yields)
        found.append(Holding(connection, (one.number,) if one.latch.rigid else tuple(numbers)))
    return tuple(found)


def held_together(
    moving: MovingBodies | BodiesInPlane,
    here: Placement,
    arm: int,
    elements: Sequence[tuple[Mount, PyTree, ElementMemory]],
) -> HeldTogether:
    """Return all bodies, and what is joined or held to the body `arm` by elements in their modes, with what they remember."""
    mounts, memories = [one for one, _, _ in elements], [memory for _, _, memory in elements]
    holdings = holdings_of(mounts, moving)
    closed = [holding.closed(memories) for holding in holdings]
    groups = [moving.held_with(number)[0] for number in range(len(moving.bodies))]
    shares = {group: jnp.asarray(group == moving.held_with(arm)[0], float) for group in groups}
    for _ in holdings:  # as far as what is held holds others
        for holding, holds in zip(holdings, closed, strict=True):
            ends = groups[holding.connection.first], groups[holding.connection.other]
            both = jnp.maximum(*(shares[end] for end in ends))
            shares |= {end: jnp.where(holds, both, shares[end]) for end in ends}
    modes = [mode for one in mounts if isinstance(one, BendingLink) for mode in one.modes]
    driven = [(one, mode, memory) for one, mode, memory in elements if isinstance(one, DrivenJoint)]
    acting = element_loads(
        [one for one, _, _ in driven], [mode for _, mode, _ in driven], [memory for _, _, memory in driven], here
    )
    lines = [one.connection.lines(here.bodies, holds) for one, holds in zip(holdings, closed, strict=True)]
    return HeldTogether(
        moving,
        [shares[group] for group in groups],
        Lines.joined(lines) if lines else None,
        reflected_inertia(mounts, here),
        acting.efforts,
        modes,
    )


class SteeredArm(Module):
    """A body by number that carries an arm, the joints of which control moves, as it does the body.

    Its law knows masses and inertias of the bodies in its own tree and of all that latches hold to it, springs, dampers and
    friction in joints, and where everything is; neither contacts nor what acts between bodies.
    """

    law: ArmLaw
    actuators: Actuators
    attitude: Float[Array, "4"]  # from which the error of the body's attitude is counted
    body: int = field(static=True)
    target: int = field(static=True)
    motors: tuple[int, ...] = field(static=True)  # joints by number
    phases: tuple[int, ...] | None = field(static=True, default=None)  # in which control acts; None: in all
    set_points: SetPoints | None = None  # of the joints; None: the law knows its own references
    period: Scalar | None = None  # s, in which a computer asks the law once; None: it acts at every instant

    def begin(self, seen: Seen) -> Steering:
        """Return what is remembered as control begins, before its first sample."""
        start = Steering((), Effort.nothing())
        computer = self.sampled(seen)
        return start if computer is None else start._replace(law=computer.init(self.plant(start, seen)))

    def sampled(self, seen: Seen) -> SampledControl | None:
        """Return the computer that asks the law, where one does."""
        if self.period is None:
            return None
        level = InertialReference(jnp.zeros(3), jnp.zeros(3), self.attitude)
        return SampledControl(self.aimed(seen), self.actuators, level, self.period)

    def plant(self, now: Steering, seen: Seen) -> MechanismPlant:
        """Return what the law sees."""
        return MechanismPlant(seen.held, seen.here, self.body, self.motors, now.effort.wheel, now.effort.used)

    def wanted(self, seen: Seen) -> tuple[Row, Row] | None:
        """Return where the joints are to be now, and how fast; None where no set-points are stated."""
        if self.set_points is None or seen.phase is None:
            return None
        phase, ramp = seen.phase
        return self.set_points.at_once(phase) if ramp is None else self.set_points.reference(phase, *ramp)

    def aimed(self, seen: Seen) -> ArmLaw:
        """Return the law with the set-points that hold now."""
        if isinstance(self.law, JointControl) and (wanted := self.wanted(seen)) is not None:
            return replace(self.law, joints=wanted[0], moving=wanted[1])
        return self.law

    def given(self, now: Steering, seen: Seen) -> tuple[PyTree, Actuation]:
        """Return the rate of what a computer remembers, and what actuators give."""
        plant, computer = self.plant(now, seen), self.sampled(seen)
        if computer is not None:
            return computer.act(now.law, plant)
        given = self.aimed(seen).act(plant, self.actuators)
        if seen.active is None:
            return (), given
        idle = idle_actuation(given, plant.turning(), plant.wheel)
        return (), choose_tree(seen.active, given, idle)

    def act(self, now: Steering, seen: Seen) -> ControlAction:
        """Return what control does to base and joints, and the rate of what is remembered."""
        (law, given), place = self.given(now, seen), seen.places[self.body]
        force, torque = place.rotation @ Vector.of(given.thrust), Vector.of(given.wheel + given.jets)
        power = force.dot(place.twist.velocity) + torque.dot(place.twist.rate)
        efforts = [(number, given.motors[index]) for index, number in enumerate(self.motors)]
        power += sum((one * seen.here.joints[number][1] for number, one in efforts), jnp.zeros(()))
        effort = given.effort(
            power,
            place.pose.attitude.matrix().array(),
            (place.pose.position - seen.centre).array(),
            place.twist.rate.array(),
            now.effort.wheel,
        )
        return ControlAction((self.body, Wrench(force, place.rotation @ torque)), efforts, Steering(law, effort))

    def corners(self, now: Steering, seen: Seen) -> tuple[Scalar, ...]:
        """Return where what control does has corners, as `Outputs` has them."""
        corners = self.given(now, seen)[1].corners if self.actuators.stated else None
        return () if corners is None else tuple(corners)

    def next_tick(self, now: Steering) -> Scalar | None:
        """Return when the computer's clock acts next (s); None of a law that acts at every instant."""
        return None if self.period is None else now.law.samples * self.period

    def tick(self, t: Scalar, now: Steering, seen: Seen) -> Steering:
        """Return what is remembered after the clock has acted at `t` (s)."""
        computer = self.sampled(seen)
        return (
            now if computer is None else now._replace(law=computer.tick(t, now.law, self.plant(now, seen), seen.active))
        )

    def observe(self, now: Steering, seen: Seen) -> dict[str, Array]:
        """Return what control does and has done."""
        _, given = self.given(now, seen)
        error = attitude_error(self.attitude, seen.places[self.body].pose.attitude.array())
        found = observe_given(given, now.effort, error) | {"motor_effort": given.motors}
        wanted = self.wanted(seen)
        return found if wanted is None else found | {"set_point": wanted[0]}

    def wheel(self, now: Steering, places: Places) -> Vector:
        """Return the angular momentum of the wheel (N m s, inertial)."""
        return places[self.body].rotation @ Vector.of(now.effort.wheel)


def _coordinate_rows(motions: Sequence[tuple[Scalar, Scalar]]) -> tuple[Row, Row]:
    """Return coordinates and rates as rows."""
    if not motions:
        return jnp.zeros(0), jnp.zeros(0)
    coordinates, rates = zip(*motions, strict=True)
    return jnp.stack(coordinates), jnp.stack(rates)
