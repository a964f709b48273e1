"""Equal contacts between two bodies taken together: many members, one wrench, one mode.

Units: lengths m, speeds m/s, force N, moment N m.
Source: resultant of a system of forces; own construction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

from dockdyn import backend
from dockdyn.contact.bound_tree import read_row, walk_tree
from dockdyn.contact.clearances import ROUNDING, Clearances, MemberBounds, frozen
from dockdyn.contact.contact_kinematics import ContactKinematics, kinematics_of
from dockdyn.contact.contact_memory import ContactMemory, DepthBefore
from dockdyn.contact.contact_modes import (
    APART,
    CARRIED,
    GATED,
    PRESSING,
    SLACK,
    force_guard,
    force_in_mode,
    gated_force,
)
from dockdyn.contact.expansions import AGAIN, ExpansionFrame, Expansions
from dockdyn.contact.laws.bristles import Bristles
from dockdyn.contact.laws.flowing_slip import FlowingSlip, PerSlice
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.preloaded import Preloaded
from dockdyn.contact.laws.stick_slip import StickSlip
from dockdyn.contact.pairs.ball_on_surface import BallOnSurface
from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.relative_pose import RelativePose
from dockdyn.contact.surfaces.surface import ExpandedSurface, Surface
from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Scalar, Vector, once
from dockdyn.programs import trace_once
from dockdyn.trees import Module, combine, field, leaves_of, map_leaves

FAR = 0.1  # of the size of a member: one that is farther away than that cannot touch within a step
MANY = 500  # members: of more, distances of those that touch are kept, expanded around where they are
FEW = 10_000  # members that take less time one after another than by a tree of which nothing is known
AHEAD = 8.0  # times what members have moved in a step at most: what is farther away cannot touch within the next
BRINK = 1e-10  # m: so near to the surface it is rounding that says whether a member overlaps


class Wrench(NamedTuple):
    """A force (N) and a moment (N m), both inertial, about a point that whoever holds it knows."""

    force: Vector
    moment: Vector

    @staticmethod
    def zero() -> Wrench:
        return Wrench(Vector.zero(), Vector.zero())

    def plus(self, other: Wrench) -> Wrench:
        """Return both together, about the same point."""
        return Wrench(self.force + other.force, self.moment + other.moment)


class MemberLoad(NamedTuple):
    """A force (N) and a torque (N m), both inertial, of a single member: the force acts where that touches."""

    force: Vector
    torque: Vector


Sticking = StickSlip | FlowingSlip | Bristles  # friction that remembers
type Growth = tuple[Float[Array, "members slices"], ...]  # m/s, of limits of slices, for each way of moving
type GroupSignal = Wrench | Vector | MemberLoad  # what the loop delays of a group


class MemberDetail(NamedTuple):
    """What is told of a member that is alone in its group beside its kinematics; None of what no one asks for."""

    force_sign: Scalar | None
    slipped: tuple[Scalar, ...]  # N
    torque: Vector | None  # N m, inertial


class Rubbing(NamedTuple):
    """What friction does to the first body of a member."""

    force: Vector  # N, inertial
    torque: Vector | None  # N m, inertial, where it resists turning
    slipped: tuple[Scalar, ...]  # N, for each way of moving
    stored: Scalar  # J; of a pressure per m²

    def power(self, sliding: Vector, turning: Vector) -> Scalar:
        """Return the power (W) that it takes from a first body that slides (m/s) and turns (rad/s) over the second."""
        taken = -self.force.dot(sliding)
        return taken if self.torque is None else taken - self.torque.dot(turning)

    def times(self, weight: Scalar) -> Rubbing:
        """Return force and torque of a member with a `weight`."""
        return self._replace(force=self.force * weight, torque=None if self.torque is None else self.torque * weight)


class GroupState(NamedTuple):
    """What a group does at an instant: its resultant, and the state of its deepest member."""

    wrench: Wrench  # on the first body, about the group's reference point
    normal_force: Scalar  # N, sum over the members
    depth: Scalar  # m, of the deepest member
    rate: Scalar  # m/s, of that depth
    sliding_speed: Scalar  # m/s, of that member
    point: Vector  # m, inertial, of that member
    force_sign: Scalar  # a number with the sign of the force of a member that is alone; of others unknown, 1
    stored: Scalar  # J, sum over the members, whatever the mode; zero where it was not asked for
    # N, of a single member that sticks, for each way of moving: rises while it slips and falls as it sticks again
    slipped: tuple[Scalar, ...] = ()
    torque: Vector | None = None  # N m, inertial, of a single member that resists turning
    rubbing: Scalar | None = None  # W that friction takes, sum over the members; None of what has none
    stretched: Scalar | None = None  # J that friction which sticks stores, part of `stored`


class MemberTree(NamedTuple):
    """Balls about the middles of members, in the order of these, each ball about two smaller ones or a few members."""

    balls: Float[Array, "balls 4"]  # m: centre, axes of the first body, and radius, with all that members extend
    children: Int[
        Array, "balls 2"
    ]  # of an inner one the first of two neighbours, and 0; of a leaf first member, members


class RestingSeat(NamedTuple):
    """Where and how what sticks rests, a row for each member."""

    on_own: Vector  # m, where it touches, axes of the first body
    on_other: Vector  # m, axes of the second
    attitude: Quaternion  # of the first body, axes of the second


class Rest(NamedTuple):
    """Where members rest, a row for each: then only what their forces are in slipped of the resting ones acts."""

    closed: Float[Array, "*members"]  # 1 of a member in contact, 0 of one that stays apart
    depth: Float[Array, "*members"]  # m, at which the law rests
    found: Float[Array, "*members"]  # m, the depth of the bodies that is taken for it
    seat: RestingSeat | None = None  # of what sticks

    def law(self, law: NormalLaw, memory: PyTree) -> NormalLaw:
        """Return the law of one member as it is felt from there, with what it remembers of small motions."""
        small = law.at_rest(self.depth)
        still = small.force(self.depth, jnp.zeros(()))
        return Preloaded(small if memory is None else small.after(memory), self.depth, self.found, still)

    def felt(self, law: NormalLaw, depth: Scalar) -> tuple[NormalLaw, Scalar]:
        """Return the law of small motions of one member, and the depth (m) of the bodies as that feels it."""
        return law.at_rest(self.depth), self.depth + (depth - self.found)

    def held_by(
        self, friction: Sticking, law: NormalLaw, meeting: ContactKinematics, own: Placed, other: Placed
    ) -> tuple[Vector, Vector | None]:
        """Return the force (N) and, where it resists turning, the torque (N m), inertial, on the first body, by which one
        member sticks that presses by a `law`."""
        assert self.seat is not None
        moved = own.point(self.seat.on_own) - other.point(self.seat.on_other)
        moved = moved - meeting.normal * moved.dot(meeting.normal)
        turned = other.rotation @ (attitude_over(own, other) * self.seat.attitude.conjugate()).logarithm()
        ways = (moved, turned), (meeting.sliding, own.rate - other.rate)
        stretched, moving = (friction.motions(meeting.normal, *way) for way in ways)
        pressing = law.at_rest(self.depth).force(self.depth, jnp.zeros(()))
        return friction.resting_load(self.depth, pressing, stretched, moving)


class ContactGroup(Module):
    """Members of one geometry between two bodies, with one law and one friction.

    The group touches while its deepest member does; its first onset and its last release are events. Between them each
    member presses where it overlaps, as its law says, and never pulls unless the law adheres. Of a member that is alone the
    end of the force, and its return, are events, too.
    """

    members: Any  # a `PairGeometry` whose numbers have a leading axis of members; what all share is None
    common: Any  # the same with what all share alone
    weights: Float[Array, "members"]  # of the law's force in each member: m² where the law gives a pressure, else 1
    law: NormalLaw
    friction: Friction | Sticking | None
    place: Float[Array, "3"]  # m, axes of the first body: where the wrench acts, on both bodies
    reach: Float[Array, ""]  # m, of the members from there
    first: int = field(static=True)  # which bodies
    second: int = field(static=True)
    rest: Rest | None = None  # of a group at rest, for small motions around that
    tree: MemberTree | None = None  # of many balls, so that those far away are passed over together
    clearances: Clearances | None = None  # what a solver keeps of them from step to step

    @staticmethod
    def of(
        geometries: Sequence[PairGeometry],
        bodies: tuple[int, int],
        law: NormalLaw,
        friction: Friction | Sticking | None = None,
        weights: Float[Array, "members"] | None = None,
    ) -> ContactGroup:
        """Return a group of `geometries` of one class, which share what their class says, between two `bodies` by number."""
        common = geometries[0]
        rows = [replace(one, **dict.fromkeys(common.shared)) for one in geometries]
        members = map_leaves(lambda *leaves: jnp.stack(leaves), *rows)
        shares = jnp.ones(len(geometries)) if weights is None else weights
        shared = {name: getattr(common, name) for name in common.shared}
        return ContactGroup.of_rows(replace(members, **shared), bodies, law, friction, shares)

    @staticmethod
    def of_rows(
        geometries: PairGeometry,
        bodies: tuple[int, int],
        law: NormalLaw,
        friction: Friction | Sticking | None,
        weights: Float[Array, "members"],
        tree: MemberTree | None = None,
    ) -> ContactGroup:
        """Return a group of members as one geometry whose own numbers, not those that all share, have a leading axis."""
        members = replace(geometries, **dict.fromkeys(geometries.shared))
        own = [field.name for field in fields(geometries) if field.name not in geometries.shared]
        places = jax.vmap(lambda one: one.place())(members)
        middle = jnp.mean(places, axis=0)
        return ContactGroup(
            members=members,
            common=replace(geometries, **dict.fromkeys(own)),
            weights=jnp.asarray(weights, float),
            law=law,
            friction=friction.under(law) if isinstance(friction, Sticking) else friction,
            place=middle,
            reach=jnp.max(jnp.linalg.norm(places - middle, axis=1) + jax.vmap(lambda one: one.extent())(members)),
            first=bodies[0],
            second=bodies[1],
            tree=tree,
        )

    def is_exact_distance(self) -> bool:
        """Return whether a depth never changes by more than the members move."""
        return self.surface is None or bool(self.surface.is_exact_distance())

    @property
    def surface(self) -> Surface | None:
        """Return what the members touch, if that is a surface."""
        return getattr(self.common, "surface", None)

    @property
    def single(self) -> bool:
        """Whether the group is a single member."""
        return self.weights.shape[0] == 1

    def member(self, number: int = 0) -> PairGeometry:
        """Return a member by number."""
        return combine(map_leaves(lambda leaf: leaf[number], self.members), self.common)

    @property
    def alone(self) -> bool:
        """Whether the group is a single member whose force may end before its depth does."""
        return self.single and not self.law.adheres()

    @property
    def events(self) -> int:
        """How many event functions it has."""
        return 2 if self.alone else 1

    def reference(self, own: Placed) -> Vector:
        """Return where the wrench acts (m, inertial), `own` being the first body."""
        return own.point(Vector.of(self.place))

    def signal_of(self, found: GroupState) -> GroupSignal:
        """Return what the loop delays of its state: of a single member, whose contact point is known, the force, and the torque
        where it resists turning.

        Around rest, where no force acts that a moved point would turn, both are one.
        """
        return self._delayed_part(found.wrench, found.torque)

    def _delayed_part(self, wrench: Wrench, torque: Vector | None) -> GroupSignal:
        if not self.single or self.rest is not None:
            return wrench
        return MemberLoad(wrench.force, torque) if self._resists and torque is not None else wrench.force

    @property
    def rubs(self) -> bool:
        """Whether there is friction."""
        return self.friction is not None

    @property
    def _resists(self) -> bool:
        """Whether its friction resists turning."""
        return self.friction is not None and self.friction.resists_turning()

    def acts_at(self, delayed: GroupSignal, own: Placed, other: Placed) -> tuple[Wrench, Vector]:
        """Return what acts now of a signal that was decided earlier, and where (m, inertial): a wrench acts at the reference
        point, the force (N) of a single member at its present contact point (Sazawal et al., eqs. 43 and 51)."""
        if isinstance(delayed, Wrench):
            return delayed, once(self.reference(own))
        geometry = self.member()
        force, torque = (delayed, Vector.zero()) if isinstance(delayed, Vector) else delayed

        def point() -> Vector:
            return geometry.contact_point(own, other)

        if geometry.least_distance(own, other) is None:
            return Wrench(force, torque), once(point())
        pushes = force.dot(force) > 0
        return Wrench(force, torque), once(jax.lax.cond(pushes, point, lambda: self.reference(own)))

    def first_memory(self) -> ContactMemory | None:
        """Return what it remembers at first, with a leading axis of members; None of one that remembers nothing."""
        sticks = isinstance(self.friction, Sticking)
        if not self.remembers:
            return None
        if self.rest is not None:
            law = jax.vmap(lambda depth: self.law.at_rest(depth).first_memory())(self.rest.depth)
            return ContactMemory(None, law, None)
        start = DepthBefore.unknown() if self.law.remembers() and self.law.turns() else None
        first = ContactMemory(self._sticking.unstretched() if sticks else None, self.law.first_memory(), start)
        count = self.weights.shape[0]
        return map_leaves(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), first)

    @property
    def remembers(self) -> bool:
        """Whether what it does depends on what was."""
        if self.rest is not None:
            return self.law.at_rest(self.rest.depth[0]).remembers()
        return isinstance(self.friction, Sticking) or self.law.remembers()

    def asks_for_steps(self) -> bool:
        """Return whether what it remembers is decided as steps end, however long they are."""
        asks = self.law.asks_for_steps() or (self.friction is not None and self.friction.asks_for_steps())
        return self.remembers and asks

    def flowing(self) -> ContactGroup:
        """Return the same contact, what sticks of which has rates and events alone, however long steps are."""
        return replace(self, friction=FlowingSlip(self.friction)) if isinstance(self.friction, StickSlip) else self

    def memory_rate(self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory) -> ContactMemory:
        """Return the rate of what it remembers."""
        apart, carried, mode = mode == APART, mode == CARRIED, _mode_within(mode)

        def one(row: tuple[Any, Rest | None, ContactMemory]) -> ContactMemory:
            member, rest, memory = row
            meeting, stretches = combine(member, self.common).meet(own, other), None
            start = None if memory.start is None else DepthBefore.unknown()._replace(time=jnp.ones(()))
            if memory.stretches is not None:
                touches = _touches(self._law_of(mode, meeting, own, memory), mode, meeting.depth)
                motions = tuple(motion * touches for motion in self._sticking_velocities(meeting, own, other))
                geometry = combine(member, self.common)
                stretches = self._sticking.memory_rates(
                    memory.stretches,
                    motions,
                    lambda: _turning_normal(geometry, own, other, touches),
                    lambda: self._member_grips(mode, meeting, own, other, memory),
                )
            if memory.law is None:
                return ContactMemory(stretches, None, None)
            law, depth = (self.law, meeting.depth) if rest is None else rest.felt(self.law, meeting.depth)
            rate = law.memory_rate(memory.law, depth, apart if rest is None else rest.closed == 0)
            held = law.carried_rate(memory.law, depth)
            return ContactMemory(stretches, map_leaves(lambda a, b: jnp.where(carried, a, b), held, rate), start)

        def still() -> ContactMemory:
            stretches = map_leaves(jnp.zeros_like, past.stretches)
            nowhere, kept = jnp.zeros(()), past.law
            if kept is not None:
                kept = _each_row(lambda one: self.law.memory_rate(one, nowhere, jnp.asarray(True)), kept)
            start = past.start
            if start is not None:
                start = map_leaves(jnp.zeros_like, start)._replace(time=jnp.ones_like(start.time))
            return ContactMemory(stretches, kept, start)

        def moving() -> ContactMemory:
            return _each_row(one, (self.members, self.rest, past))

        return moving() if self.rest is not None else jax.lax.cond(apart, still, moving)

    def _member_grips(
        self, mode: Int[Array, ""], meeting: ContactKinematics, own: Placed, other: Placed, past: ContactMemory
    ) -> tuple[Any, ...]:
        """Return how a member sticks that remembers its `past`."""
        pressing = _pressing_force(self._law_of(mode, meeting, own, past), mode, meeting, self.alone)
        return self._apply_sticking(meeting, pressing, own, other, past.stretches or ())

    def limits(self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory) -> Growth:
        """Return by how much (m) friction lets each slice of each member be stretched, for each way of moving, of a contact
        that is `flowing`; of others nothing."""
        mode = _mode_within(mode)

        def one(row: tuple[Any, ContactMemory]) -> tuple[PerSlice, ...]:
            member, memory = row
            meeting = combine(member, self.common).meet(own, other)
            return tuple(grip.most for grip in self._member_grips(mode, meeting, own, other, memory))

        return _each_row(one, (self.members, past)) if isinstance(self.friction, FlowingSlip) else ()

    def renewed(
        self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory, growth: Growth = ()
    ) -> ContactMemory:
        """Return what it remembers once a step has ended, where limits have this `growth`."""
        mode = _mode_within(mode)

        def one(row: tuple[Any, ContactMemory, Growth]) -> ContactMemory:
            member, memory, grows = row
            meeting = combine(member, self.common).meet(own, other)
            kept, start = self._turned_memory(mode, meeting, memory), memory.start
            if kept is not None:
                kept = self.law.renewed(kept, self._settled_depth(mode, meeting.depth))
            if start is not None:
                start = start.renewed(meeting.depth, meeting.rate)
            if memory.stretches is None:
                return ContactMemory(None, kept, start)
            grips = self._member_grips(mode, meeting, own, other, memory)
            touches = _touches(self._law_of(mode, meeting, own, memory), mode, meeting.depth)
            known = memory.stretches, grips, meeting.depth, touches
            friction = self._sticking
            if isinstance(friction, FlowingSlip):
                motions = self._sticking_velocities(meeting, own, other)
                return ContactMemory(friction.renewed(*known, motions, grows), kept, start)
            return ContactMemory(friction.renewed(*known), kept, start)

        return past if self.rest is not None else _each_row(one, (self.members, past, growth))

    def _settled_depth(self, mode: Int[Array, ""], depth: Scalar) -> Scalar:
        """Return the depth (m) by which it is decided what the law of a member remembers: a single one that adheres has
        touched from the event at which it begins to be held to that at which it parts, where depths say so but for rounding; of
        several each has that is about to part."""
        if not self.law.adheres():
            return depth
        least = 0.0 if self.single else self.law.acts_from()
        held = (mode == PRESSING) & (self.single | (jnp.abs(depth - least) < BRINK))
        return jnp.where(held, jnp.maximum(depth, least + BRINK), depth)

    def memory_within(self, start: ContactMemory, now: ContactMemory) -> ContactMemory:
        """Return what it remembers within a step that began with `start`, where `now` follows the rates."""
        stretches = start.stretches
        if now.stretches is not None and start.stretches is not None:
            both = zip(now.stretches, start.stretches, strict=True)
            stretches = tuple(later.between(before) for later, before in both)
        law = start.law
        if law is not None:
            law = _each_row(lambda both: self.law.memory_within(*both), (start.law, now.law))
        began = start.start
        if began is not None and now.start is not None:
            began = began._replace(time=now.start.time)
        return ContactMemory(stretches, law, began)

    def _apply_friction(
        self,
        meeting: ContactKinematics,
        each: Scalar,
        weight: Scalar,
        own: Placed,
        other: Placed,
        rest: Rest | None,
        past: ContactMemory | None,
    ) -> Rubbing:
        """Return what friction does to a member whose law gives `each` (N, or Pa), times a `weight`."""
        none, friction = jnp.zeros(()), self.friction
        if friction is None:
            return Rubbing(Vector.zero(), None, (), none)
        if not isinstance(friction, Sticking):
            # what pulls does not rub
            pressing = weight * (jnp.maximum(each, 0.0) if self.law.adheres() and rest is None else each)
            torque = friction.torque(pressing, meeting.normal, own.rate - other.rate) if self._resists else None
            return Rubbing(friction.force(pressing, meeting.sliding), torque, (), none)
        if rest is not None:
            return Rubbing(*rest.held_by(friction, self.law, meeting, own, other), (), none).times(weight)
        assert past is not None
        assert past.stretches is not None
        grips = self._apply_sticking(meeting, each, own, other, past.stretches)
        slipped = friction.slipped(past.stretches, grips)
        force, torque = friction.load(grips)
        torque = None if torque is None else other.rotation @ torque
        return Rubbing(other.rotation @ force, torque, slipped, friction.energy_in(grips)).times(weight)

    @property
    def turns(self) -> int:
        """How many quantities have a peak beside which a step must end: where what it remembers turns."""
        if not self.remembers:
            return 0
        sticks = self._sticking.turns() if isinstance(self.friction, Sticking) else 0
        return self.single * sticks + self.alone * self.law.turns()

    def turning(self, found: GroupState) -> tuple[Scalar, ...]:
        """Return these: what has slipped, the depth."""
        return (*found.slipped, *[found.depth] * (self.alone * self.law.turns())) if self.turns else ()

    def decisions(
        self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory, growth: Growth, carried: bool
    ) -> Float[Array, "members decisions"]:
        """Return the event functions that rise through zero where it is decided what members remember, beside the group's own
        events: where one is deepest whose law has a corner there, where slices come to slip and to stick, and, of members that
        are several, or that may be `carried`, where each touches and parts."""
        apart, mode = mode == APART, _mode_within(mode)

        def one(row: tuple[Any, ContactMemory, Growth]) -> Float[Array, "decisions"]:
            member, memory, grows = row
            meeting = combine(member, self.common).meet(own, other)
            over = meeting.depth - self._law_of(mode, meeting, own, memory).acts_from()
            found: list[Scalar] = []
            if self.law.turns():
                found.append(jnp.where(over > 0, -meeting.rate, -1.0))
            if isinstance(self.friction, FlowingSlip):
                grips = self._member_grips(mode, meeting, own, other, memory)
                motions = self._sticking_velocities(meeting, own, other)
                found += self.friction.guards(memory.stretches or (), grips, motions, grows)
            if carried or not self.single:
                # beyond what may be rounding, on either side
                found += [over - 2 * BRINK, -over - 2 * BRINK]
            return jnp.where(apart, -1.0, jnp.stack(found)) if found else jnp.zeros(0)

        return _each_row(one, (self.members, past, growth))

    def _law_of(
        self, mode: Int[Array, ""], meeting: ContactKinematics, own: Placed, past: ContactMemory | None
    ) -> NormalLaw:
        """Return the law of a member."""
        law = self.law.along(own.rotation.transposed_times(meeting.normal))
        return law if past is None or past.law is None else law.after(self._turned_memory(mode, meeting, past))

    def _turned_memory(self, mode: Int[Array, ""], meeting: ContactKinematics, past: ContactMemory) -> PyTree:
        """Return what the law of a member remembers, of a depth that has turned within the step, too: but where one is alone
        and events tell its mode, as steps end beside that."""
        if past.start is None:
            return past.law
        turned = self.law.renewed(past.law, past.start.turned(meeting.depth, meeting.rate))
        if not self.alone:
            return turned
        return map_leaves(lambda late, kept: jnp.where(mode == GATED, late, kept), turned, past.law)

    def _law_and_force(
        self,
        mode: Int[Array, ""],
        meeting: ContactKinematics,
        own: Placed,
        rest: Rest | None,
        past: ContactMemory | None,
    ) -> tuple[NormalLaw, Scalar]:
        """Return the law of a member, and what it gives (N, or Pa): around `rest` what that is more than there."""
        law = self._law_of(mode, meeting, own, past if rest is None else None)
        if rest is None:
            return law, _pressing_force(law, mode, meeting, self.alone)
        return law, rest.law(law, None if past is None else past.law).force(meeting.depth, meeting.rate)

    @property
    def _sticking(self) -> Sticking:
        assert isinstance(self.friction, Sticking)
        return self.friction

    def _sticking_velocities(self, meeting: ContactKinematics, own: Placed, other: Placed) -> tuple[Vector, ...]:
        """Return how a member that sticks moves over the second body (m/s), in the axes of that."""
        motions = self._sticking.motions(meeting.normal, meeting.sliding, own.rate - other.rate)
        return tuple(map(other.rotation.transposed_times, motions))

    def _apply_sticking(
        self,
        meeting: ContactKinematics,
        pressing: Scalar,
        own: Placed,
        other: Placed,
        past: tuple[Any, ...],
    ) -> tuple[Any, ...]:
        """Return how a member that presses with a force (N) by its law sticks."""
        normal = other.rotation.transposed_times(meeting.normal)
        return self._sticking.grips(
            past, normal, meeting.depth, pressing, self._sticking_velocities(meeting, own, other)
        )

    def state(
        self,
        mode: Int[Array, ""],
        own: Placed,
        other: Placed,
        exact: bool = False,
        loads: bool = False,
        past: ContactMemory | None = None,
    ) -> GroupState:
        """Return what the group does in its `mode`, `own` and `other` being its first and its second body, and `past` what
        it remembers.

        Unless it must be `exact`, the depth of a member that is surely far away is that of a bound of its distance, and nothing
        is told of energy. Where nothing but `loads` is asked, that is so of all that surely do not overlap.
        """
        alike = replace(self, first=0, second=0)  # groups between other bodies are traced together
        return alike._state(mode, own, other, past, exact=exact, loads=loads and not self.alone)

    @partial(trace_once, static=("exact", "loads"))
    def _state(
        self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory | None, exact: bool, loads: bool
    ) -> GroupState:
        about, idle, mode = once(self.reference(own)), _does_nothing(mode), _mode_within(mode)
        remembered = self._sticking.turns() if self.single and past is not None and past.stretches is not None else 0

        def detail(sign: Scalar, slipped: tuple[Scalar, ...], torque: Vector | None) -> MemberDetail:
            return MemberDetail(sign if self.alone else None, slipped[:remembered], torque if self.single else None)

        def one(row: tuple[Any, Scalar, Rest | None, ContactMemory | None]) -> tuple[Any, tuple[Scalar, Any]]:
            member, weight, rest, memory = row
            geometry: PairGeometry = combine(member, self.common)
            if rest is not None:
                nowhere = jnp.asarray(jnp.inf)
                return jax.lax.cond(rest.closed > 0, lambda: near(geometry, weight, rest, memory), lambda: far(nowhere))
            bound = None if exact else geometry.least_distance(own, other)
            if bound is None:
                return near(geometry, weight, memory=memory)
            distance, size = once(bound)
            reach = -self.law.acts_from()
            apart = distance > (BRINK + reach if loads else FAR * size + reach)
            return jax.lax.cond(apart, lambda: far(distance), lambda: near(geometry, weight, memory=memory))

        def far(distance: Scalar) -> tuple[Any, tuple[Scalar, Any]]:
            zero = jnp.zeros(())
            nothing = detail(zero, (zero,) * remembered, Vector.zero() if self._resists else None)
            deepest = -distance, (zero, zero, about, nothing)
            return (Wrench.zero(), zero, zero, *self._of_friction(zero, zero)), deepest

        def near(
            geometry: PairGeometry,
            weight: Scalar,
            rest: Rest | None = None,
            memory: ContactMemory | None = None,
            meeting: ContactKinematics | None = None,
        ) -> tuple[Any, tuple[Scalar, Any]]:
            meeting = geometry.meet(own, other) if meeting is None else meeting
            law, sums, rubs = self._member_sums(mode, meeting, weight, about, (own, other), exact, rest, memory)
            # a speed at rest has no derivative
            speed = jnp.sqrt(meeting.sliding.dot(meeting.sliding)) if rest is None else jnp.zeros(())
            more = detail(law.force_sign(meeting.depth, meeting.rate), rubs.slipped, rubs.torque)
            deepest = meeting.depth, (meeting.rate, speed, meeting.point, more)
            return sums, deepest

        found = None
        if self._passes_over():
            found = self._sum_over_near(near, own, other, exact=exact, loads=loads)
        (wrench, normal, stored, rubbing, stretched), (depth, (rate, speed, point, more)) = found or _sum_over_rows(
            one, (self.members, self.weights, self.rest, past)
        )
        wrench, normal, rubbing, torque = map_leaves(
            lambda leaf: jnp.where(idle, 0.0, leaf), (wrench, normal, rubbing, more.torque)
        )
        sign = jnp.ones(()) if more.force_sign is None else more.force_sign
        slipped = more.slipped
        return once(
            GroupState(wrench, normal, depth, rate, speed, point, sign, stored, slipped, torque, rubbing, stretched)
        )

    def _member_sums(
        self,
        mode: Int[Array, ""],
        meeting: ContactKinematics,
        weight: Scalar,
        about: Vector,
        bodies: tuple[Placed, Placed],
        exact: bool,
        rest: Rest | None,
        memory: ContactMemory | None,
    ) -> tuple[NormalLaw, tuple[Any, ...], Rubbing]:
        """Return the law of a member, what it adds to the sums of its group, `about` being where the wrench acts (m, inertial),
        and what friction does to it."""
        own, other = bodies
        law, each = self._law_and_force(mode, meeting, own, rest, memory)
        pressing, stored = weight * each, jnp.zeros(())
        if exact and rest is None:
            stored = self._stored_energy(law, self.stretched(law, mode, meeting.depth))
        rubs = self._apply_friction(meeting, each, weight, own, other, rest, memory)
        stored = stored + rubs.stored if exact else stored
        force = meeting.normal * pressing + rubs.force
        moment = (meeting.point - about).cross(force)
        wrench = Wrench(force, moment if rubs.torque is None else moment + rubs.torque)
        power = rubs.power(meeting.sliding, own.rate - other.rate)
        return law, (wrench, pressing, weight * stored, *self._of_friction(power, weight * rubs.stored)), rubs

    def _of_friction(self, power: Scalar, stored: Scalar) -> tuple[Scalar | None, Scalar | None]:
        """Return the `power` (W) that friction takes and what it has `stored` (J): None of what there is not."""
        return power if self.rubs else None, stored if isinstance(self.friction, Sticking) else None

    def _sum_over_near(
        self, near: Callable[..., tuple[Any, tuple[Scalar, Any]]], own: Placed, other: Placed, exact: bool, loads: bool
    ) -> tuple[Any, tuple[Scalar, Any]] | None:
        """Return the sum and the deepest of what `near` gives for members, as `_sum_over_rows` does, of those alone that touch
        or may be the deepest; None where no bound of their distance is known.

        Where none is near, the depth is a bound. While both bodies are near where what touches was expanded, that is asked.
        """
        if self._steepest is None:
            return None

        def one(row: tuple[Any, Scalar]) -> tuple[Any, tuple[Scalar, Any]]:
            return near(combine(row[0], self.common), row[1])

        start = _nothing(one, (self.members, self.weights))
        touching = None if self.clearances is None else self.clearances.touching
        if touching is None:
            return self._sum_over_tree(one, start, own, other, exact=exact, loads=loads)
        pose = RelativePose.of(*frozen((own, other, Vector.of(self.place))))
        holds = touching.hold(pose, frozen(self.reach), self._expansion_reach)
        found = jax.lax.cond(holds, lambda: self._sum_over_expanded(touching, near, start, own, other), lambda: start)
        known = holds if loads else holds & (found[1][0] > BRINK)  # else the nearest one is none of those that touch
        return jax.lax.cond(
            known, lambda: found, lambda: self._sum_over_tree(one, start, own, other, exact=exact, loads=loads)
        )

    def _sum_over_expanded(
        self,
        touching: Expansions,
        near: Callable[..., tuple[Any, tuple[Scalar, Any]]],
        start: tuple[Any, tuple[Scalar, Any]],
        own: Placed,
        other: Placed,
    ) -> tuple[Any, tuple[Scalar, Any]]:
        """Return the sum and the deepest of what touches, by what has been expanded of it, beginning with `start`."""
        rows = self.members, self.weights
        surface = self._expanded_surface
        frame = ExpansionFrame.of(surface, own, other)

        def take(
            number: Array, numbers: list[Scalar], state: tuple[Any, tuple[Scalar, Any]]
        ) -> tuple[Any, tuple[Scalar, Any]]:
            member, weight = _row_of(rows, number)
            ball = combine(member, self.common)
            assert isinstance(ball, BallOnSurface)
            touch = frame.touch(surface, numbers, (Vector.of(ball.centre), ball.size), own)
            return _with_row(state, near(ball, weight, meeting=kinematics_of(touch, own, other)))

        return touching.visit(take, start)

    def _sum_over_tree(
        self,
        one: Callable[[Any], tuple[Any, tuple[Scalar, Any]]],
        start: tuple[Any, tuple[Scalar, Any]],
        own: Placed,
        other: Placed,
        exact: bool,
        loads: bool,
    ) -> tuple[Any, tuple[Scalar, Any]]:
        """Return the same of what `one` gives for rows, by bounds of how far they are."""
        assert self.tree is not None
        bounds = self._bounds(own, other)
        far, brink = jnp.asarray(jnp.inf) if exact else self._far, jnp.asarray(BRINK)
        rows = self.members, self.weights

        def take(number: Scalar, state: tuple[Any, tuple[Scalar, Any]]) -> tuple[Any, tuple[Scalar, Any]]:
            return _with_row(state, one(_row_of(rows, number)))

        root = bounds.distance([self.tree.balls[0, column] for column in range(4)])
        if self.clearances is None:

            def limit(state: tuple[Any, tuple[Scalar, Any]]) -> Scalar:
                if loads:
                    return brink
                return jnp.maximum(brink, jnp.minimum(far, -jax.lax.stop_gradient(state[1][0])))

            total, (depth, thing) = walk_tree(self.tree, bounds.distance, limit, take, start)
        else:
            closed, nearest, far = self._bound_closing(self.clearances, own, other, exact)
            within = _sure_brink(closed)
            least = within if loads else jnp.maximum(within, jnp.minimum(far, nearest))

            def level(state: tuple[Any, tuple[Scalar, Any]]) -> Scalar:
                return closed + least

            total, (depth, thing) = bounds.visit(self.clearances.levels, level, take, start)
        passed_over = brink if loads else far  # m: so far apart are those at least
        bound = jnp.where(jnp.isneginf(depth), jnp.maximum(passed_over, root), passed_over)
        return total, (jnp.maximum(depth, -bound), thing)

    def _passes_over(self) -> bool:
        """Return whether members that are far away are passed over together: few are not where nothing is known of them, since
        where they lie on a face flat on another a tree takes longer than they do; nor those that remember, which are few."""
        if self.tree is None or self.rest is not None or self.remembers:
            return False
        return self.clearances is not None or self.weights.shape[0] > FEW

    @property
    def _far(self) -> Scalar:
        """From where on (m) the distance of the nearest member is not told."""
        return FAR * jax.lax.stop_gradient(self.reach)

    @property
    def _steepest(self) -> Scalar | None:
        """By how much (m) the distance of a member changes at most where it moves by 1 m; None if unknown."""
        return None if self.surface is None else self.surface.steepest_change()

    def _bounds(self, own: Placed, other: Placed) -> MemberBounds:
        assert self.tree is not None
        ball = self.member()
        assert isinstance(ball, BallOnSurface)
        surface = ball.surface

        def distance(numbers: list[Scalar]) -> Scalar:
            least = surface.least_distance(other.local(own.point(Vector(*numbers[:3]))), numbers[3])
            assert least is not None
            return jax.lax.stop_gradient(least - ball.size)

        return MemberBounds(*self.tree, self.members.centre, distance)

    def first_clearances(self) -> Clearances | None:
        """Return what is known at first of how far members are; None where it would be of no use."""
        if self.tree is None or self.rest is not None or self.remembers or self._steepest is None:
            return None
        count, surface = self.weights.shape[0], self.surface
        touching = None
        if isinstance(surface, ExpandedSurface) and count > MANY:
            touching = Expansions.none(count, surface.expands)
        return Clearances.unknown(self.tree.balls.shape[0] + count, touching)

    @property
    def _expanded_surface(self) -> ExpandedSurface:
        assert isinstance(self.surface, ExpandedSurface)
        return self.surface

    @property
    def _expansion_reach(self) -> Scalar:
        """How far (m) members may move from where they were expanded."""
        return jax.lax.stop_gradient(self._expanded_surface.expansion_reach())

    def renew_clearances(self, own: Placed, other: Placed, known: Clearances, exact: bool = False) -> Clearances:
        """Return what is known of how far members are where the bodies are now; for states that are `exact` also of the nearest
        one however far it is.

        Nothing is looked up while what touches is expanded near enough for a step more.
        """
        own, other, place = frozen((own, other, Vector.of(self.place)))
        seen = RelativePose.of(own, other, place)

        touching, reach = known.touching, frozen(self.reach)
        due: Bool[Array, ""] | bool = True
        if touching is not None:
            soon = AGAIN * seen.motion(touching.last, reach)  # what the next step may move
            due = ~touching.hold(seen, reach, self._expansion_reach - soon)
        bounds = self._bound_closing(known, own, other, exact)
        found = self._bounds(own, other).renewed(known, seen, due, bounds, _sure_brink(bounds[0]))
        if touching is None:
            return found
        slow = soon < self._expansion_reach
        further = self._expand_touching(found, touching, due & slow, seen, own, other)
        many = jnp.where(due & ~slow, 0, further.many)
        return found._replace(touching=further._replace(many=many, last=seen))

    def _expand_touching(
        self,
        known: Clearances,
        touching: Expansions,
        due: Bool[Array, ""],
        now: RelativePose,
        own: Placed,
        other: Placed,
    ) -> Expansions:
        """Return expansions, anew where they are `due`, of all members that may touch while the bodies are near where they are
        `now`."""
        ball, surface = self.member(), self._expanded_surface
        assert isinstance(ball, BallOnSurface)
        within = frozen(self._steepest) * self._expansion_reach + _sure_brink(known.closed)
        bounds = self._bounds(own, other)

        def expand(number: Array) -> tuple[Scalar, list[Scalar]]:
            centre = Vector(*read_row(self.members.centre, number, 0, 3))
            distance, numbers = surface.expand(other.local(own.point(centre)))
            return frozen((distance - ball.size, numbers))

        def visit(take: Callable[[Array, Expansions], Expansions], start: Expansions) -> Expansions:
            return bounds.visit(known.levels, lambda state: known.closed + within, take, start, due)

        return touching.renewed(due, now, visit, expand, within)

    def _bound_closing(
        self, known: Clearances, own: Placed, other: Placed, exact: bool = False
    ) -> tuple[Scalar, Scalar, Scalar]:
        """Return how much may have closed (m), within what (m) some member is now, and from where on (m) the distance of the
        nearest one is not told, unless it must be `exact`: on what is no distance, for which no step becomes the longer, as far
        as many steps go."""
        own, other, place, reach, steepest = frozen((own, other, Vector.of(self.place), self.reach, self._steepest))
        closed, nearest = known.since(RelativePose.of(own, other, place), reach, steepest)
        near = jnp.where(known.stride > 0, AHEAD * known.stride, jnp.inf)
        far = self._far if self.is_exact_distance() else jnp.minimum(self._far, near)
        return closed, nearest + _sure_brink(closed), jnp.asarray(jnp.inf) if exact else far

    def signal(
        self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory | None = None
    ) -> GroupSignal:
        """Return that of its state alone: nothing is computed while it does nothing."""

        return jax.lax.cond(
            _does_nothing(mode),
            lambda: self._delayed_part(Wrench.zero(), Vector.zero()),
            lambda: self.signal_of(self.state(mode, own, other, loads=True, past=past)),
        )

    def stretched(self, law: NormalLaw, mode: Int[Array, ""], depth: Scalar) -> Scalar:
        """Return the depth (m) at which a law stores what it does at a `depth`: nothing of what is apart."""
        return jnp.maximum(depth, jnp.where(mode == APART, 0.0, law.acts_from()))

    def _stored_energy(self, law: NormalLaw, depth: Scalar) -> Scalar:
        """Return the energy (J, or J/m²) that a law stores at a depth (m); nothing is computed where that is none."""
        idle = (depth == 0) & (not self.remembers)
        return jax.lax.cond(idle, lambda: jnp.zeros(()), lambda: law.stored_energy(depth))

    def stored_energy(self, own: Placed, other: Placed) -> Scalar:
        """Return the energy (J) that it stores at first."""
        return self.state(jnp.asarray(APART, int), own, other, exact=True, past=self.first_memory()).stored

    def depths(self, own: Placed, other: Placed) -> Float[Array, "members"]:
        """Return how deep (m) each member is, negative while apart."""
        return jax.lax.map(lambda member: combine(member, self.common).touch(own, other)[0], self.members)

    def seats(self, own: Placed, other: Placed) -> RestingSeat | None:
        """Return where on both bodies each member touches, and how they lie, if it sticks."""
        if not isinstance(self.friction, Sticking):
            return None

        def one(member: Any) -> RestingSeat:  # noqa: ANN401, a tree
            point = combine(member, self.common).touch(own, other)[2]
            return RestingSeat(own.local(point), other.local(point), attitude_over(own, other))

        return _each_row(one, self.members)

    def guards(self, mode: Int[Array, ""], found: GroupState) -> tuple[Scalar, ...]:
        """Return the event functions: one (m) that rises through zero at the first onset and at the last release; of a member
        that is alone also one where its force ends or returns."""
        across = jnp.where(mode == APART, found.depth, self.law.acts_from() - found.depth)
        return (across, force_guard(mode, found.force_sign)) if self.alone else (across,)

    def corners(self, mode: Int[Array, ""], found: GroupState) -> tuple[Scalar, ...]:
        """Return how far (m) a member that is alone is beyond each corner of its law, and, where its law has one as the depth
        turns, the rate (m/s) of that."""
        depths = self.law.corners() if self.alone else None
        corners = () if depths is None else tuple(found.depth - depth for depth in depths)
        if not (self.alone and self.law.turns()):
            return corners
        return *corners, jnp.where(mode == APART, -1.0, found.rate)

    def next_mode(self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the mode after the guards in `fired` have fired. At an onset depths grow, so that no force ends with it."""
        after = jnp.where(fired[0], jnp.where(mode == APART, PRESSING, APART), mode)
        if self.alone:
            switched = jnp.where(mode == PRESSING, SLACK, PRESSING)
            after = jnp.where(fired[1] & ~fired[0], switched, after)
        return after.astype(mode.dtype)

    def mode_of(self, found: GroupState) -> Int[Array, ""]:
        """Return the mode that fits a state."""
        inside = jnp.where(found.force_sign < 0, SLACK, PRESSING) if self.alone else PRESSING
        touches = found.depth > 0
        if self.law.adheres():  # also where it holds on
            touches |= found.normal_force < 0
        return jnp.where(touches, inside, APART).astype(int)

    def first_mode(self, own: Placed, other: Placed) -> Int[Array, ""]:
        """Return the mode at the start of a run."""
        return self.mode_of(self.state(jnp.asarray(APART, int), own, other, past=self.first_memory()))

    def present_mode(self, own: Placed, other: Placed, past: ContactMemory | None) -> Int[Array, ""]:
        """Return the mode where no event tells it: that of what remembers its `past`, of a bond that still holds, too."""
        return self.mode_of(self.state(jnp.asarray(GATED, int), own, other, past=past))


def _does_nothing(mode: Int[Array, ""]) -> Bool[Array, ""]:
    """Return whether a group in its `mode` has no force: it is apart, or a rigid grip carries what it would do."""
    return (mode == APART) | (mode == CARRIED)


def _mode_within(mode: Int[Array, ""]) -> Int[Array, ""]:
    """Return the `mode` by which a group stores and remembers: while a grip carries it, that which depths tell."""
    return jnp.where(mode == CARRIED, GATED, mode)


def attitude_over(own: Placed, other: Placed) -> Quaternion:
    """Return the attitude of the first body in axes of the second."""
    return other.pose.attitude.conjugate() * own.pose.attitude


def _turning_normal(geometry: PairGeometry, own: Placed, other: Placed, touches: Scalar) -> tuple[Vector, Vector]:
    """Return the normal of two things that meet, and its rate (1/s) while it `touches`, 1 or 0, both in the axes of the second
    body."""

    def seen(time: Scalar) -> Vector:
        first, second = (placed.after(time) for placed in (own, other))
        return second.rotation.transposed_times(geometry.touch(first, second).normal)

    normal, rate = jax.jvp(seen, (jnp.zeros(()),), (jnp.ones(()),))
    return normal, rate * touches


def _touches(law: NormalLaw, mode: Int[Array, ""], depth: Scalar) -> Scalar:
    """Return 1 where a member of a group in its `mode` touches: where it overlaps, or a law holds on to it; else 0.

    At the instants of the group's events the depth is zero but for rounding: there it has begun to, or still does.
    """
    over = depth - law.acts_from()
    touches = (over > 0) | ((mode == PRESSING) & (jnp.abs(over) < BRINK))
    return jnp.where(touches & (mode != APART), 1.0, 0.0)


def _pressing_force(law: NormalLaw, mode: Int[Array, ""], meeting: ContactKinematics, alone: bool) -> Scalar:
    """Return the normal force (N) of a member of a group in its `mode`: of one that is `alone` as that says, else as its depth
    does.

    At the instants of the group's events the depth is zero but for rounding: there the law goes on from within, lest force and
    slope at the ends of a step, of which cubics are made, be those of outside.
    """
    depth, rate = meeting.depth, meeting.rate
    force = law.force(depth, rate)
    if alone:
        return force_in_mode(law, mode, depth, force)
    within = force if law.adheres() else jnp.where(law.force_sign(depth, rate) > 0, force, 0.0)
    at_event = (mode == PRESSING) & (jnp.abs(depth - law.acts_from()) < BRINK)
    return jnp.where(at_event, within, gated_force(law, depth, force))


def _sure_brink(closed: Scalar) -> Scalar:
    """Return how far away (m) surely nothing presses, where so much (m) may have `closed`, with its rounding."""
    return 2 * BRINK + ROUNDING * closed


def _each_row(one: Callable[[Any], Any], rows: Any) -> Any:  # noqa: ANN401, trees
    """Return what `one` gives for each row."""
    if leaves_of(rows)[0].shape[0] == 1:
        return map_leaves(lambda leaf: leaf[None], one(map_leaves(lambda leaf: leaf[0], rows)))
    return jax.lax.map(one, rows) if backend.is_native() else jax.vmap(one)(rows)


def _sum_over_rows(one: Callable[[Any], tuple[Any, tuple[Scalar, Any]]], rows: Any) -> tuple[Any, tuple[Scalar, Any]]:  # noqa: ANN401, a tree
    """Return the sum over rows of the first thing that `one` gives, and of the second that of the row where its number is
    largest.

    One row after another in machine code of dockdyn's own, side by side where XLA compiles.
    """
    if leaves_of(rows)[0].shape[0] == 1:
        return one(map_leaves(lambda leaf: leaf[0], rows))
    if not backend.is_native():
        sums, (numbers, things) = jax.vmap(one)(rows)
        best = jnp.argmax(numbers)
        total = map_leaves(lambda leaf: jnp.sum(leaf, axis=0), sums)
        return total, map_leaves(lambda leaf: leaf[best], (numbers, things))
    found, _ = jax.lax.scan(lambda carry, row: (_with_row(carry, one(row)), None), _nothing(one, rows), rows)
    return found


def _nothing(one: Callable[[Any], tuple[Any, tuple[Scalar, Any]]], rows: Any) -> tuple[Any, tuple[Scalar, Any]]:  # noqa: ANN401
    """Return the sum over no rows."""
    shape = jax.eval_shape(one, map_leaves(lambda leaf: leaf[0], rows))
    nothing, (_, thing) = map_leaves(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)
    return nothing, (jnp.asarray(-jnp.inf), thing)


def _with_row(carry: Any, row: tuple[Any, tuple[Scalar, Any]]) -> Any:  # noqa: ANN401, trees
    """Return a sum, and the row of the largest number, with a further row."""
    (total, (largest, kept)), (more, (number, new)) = carry, row
    larger = number > largest
    kept = map_leaves(lambda a, b: jnp.where(larger, a, b), new, kept)
    return map_leaves(jnp.add, total, more), (jnp.where(larger, number, largest), kept)


def _row_of(rows: Any, number: Scalar) -> Any:  # noqa: ANN401, a tree
    """Return a row by its number, which is computed."""
    return map_leaves(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, number, keepdims=False), rows)
