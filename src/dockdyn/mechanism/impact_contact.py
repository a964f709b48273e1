"""A contact with an impact law, in the place of a group with a force law: velocities jump, and it may come to rest.

It has touched where its depth has risen to zero; the jump follows at once. While it rests it is a one-sided connection along
its normal. Between impacts, and before rest, it has no force.

Units: SI: m, m/s, N, N s.
Source: impact laws of `impact`; rest as a constraint, own derivation, in the page of theory.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from dockdyn.contact.contact_kinematics import ContactKinematics, kinematics_of
from dockdyn.contact.contact_memory import ContactMemory, Forgetful
from dockdyn.contact.contact_modes import APART, PRESSING, SLACK
from dockdyn.contact.group import FAR, GroupSignal, GroupState, Wrench
from dockdyn.contact.laws.friction import Friction
from dockdyn.contact.pairs.pair_geometry import PairGeometry
from dockdyn.contact.surfaces.surface import Surface
from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.impact.laws.by_name import StatedLaw
from dockdyn.impact.laws.energy_pair import is_possible
from dockdyn.impact.laws.result import Impact, end_slow_approach, impact_of_impulse
from dockdyn.mechanics.lines import Lines, Rows
from dockdyn.mechanics.rigid_body import Placed, Pose
from dockdyn.mechanics.rotation import from_x_axis
from dockdyn.mechanics.vector import Scalar, Vector, once, unit_vectors
from dockdyn.mechanism.connections import point_rows
from dockdyn.programs import trace_once
from dockdyn.trees import field, map_leaves

PAIR = "energy-pair"  # the law that not every impact allows
TOGETHER, OVERLAP = 1e-9, 1e-6  # m: what is nearer at the start touches; how deep it may be then
TOUCHED, RESTING = SLACK, PRESSING  # contact modes besides APART: it is struck at once; it rests


class Hit(NamedTuple):
    """What a contact remembers of its impacts."""

    level: Scalar  # m, the depth at which it touches: zero but for what rests have drifted
    impulse: Scalar  # N s, of all impacts so far, along their normals
    parting: Scalar  # 1 while it is apart and has not moved from where it rested but away; else 0
    rubbed: Scalar | None  # J that friction has taken in all impacts so far; None of what has none


class ImpactContact(Forgetful):
    """Two things of two bodies that meet in impacts.

    An impact that would leave less than `rest_speed` of normal velocity leaves none; what is pressed together then rests: the
    normal velocity is held at zero until the force that does it would pull. `friction` is that of rest.
    """

    geometry: PairGeometry
    law: StatedLaw
    friction: Friction | None
    rest_speed: Scalar  # m/s
    first: int = field(static=True)  # which bodies
    second: int = field(static=True)
    planar: bool = field(static=True, default=False)  # of bodies that cannot leave the x–y plane: one tangent

    @property
    def place(self) -> Float[Array, "3"]:
        """The middle of the first thing (m, axes of its body)."""
        return self.geometry.place()

    @property
    def reach(self) -> Scalar:
        """How far (m) the first thing reaches from there."""
        return self.geometry.extent()

    @property
    def rubs(self) -> bool:
        """Whether there is friction, in impacts or at rest."""
        return self.friction is not None or bool({"friction", "friction_ratio"} & self.law.parameters.keys())

    @property
    def events(self) -> int:
        """How many event functions it has."""
        return 2

    def is_exact_distance(self) -> bool:
        """Return whether the depth never changes by more than the two things move."""
        return self.surface is None or bool(self.surface.is_exact_distance())

    @property
    def surface(self) -> Surface | None:
        """Return what the first thing touches, if that is a surface."""
        return getattr(self.geometry, "surface", None)

    def acts_at(self, delayed: GroupSignal, own: Placed, other: Placed) -> tuple[Wrench, Vector]:
        """Return what acts of a signal, and where (m, inertial): nothing of its own."""
        assert isinstance(delayed, Wrench)
        return delayed, self.reference(own)

    def reference(self, own: Placed) -> Vector:
        """Return where its wrench is told about (m, inertial), `own` being the first body."""
        return own.point(Vector.of(self.place))

    def meeting(self, own: Placed, other: Placed) -> ContactKinematics:
        """Return where and how the two meet, with a normal of unit length."""
        return _meeting_of(self.geometry, own, other)

    def state(
        self, mode: Int[Array, ""], own: Placed, other: Placed, exact: bool = False, past: ContactMemory | None = None
    ) -> GroupState:
        """Return how the two meet, without any force; unless `exact`, of what is far apart a bound of the distance."""
        return _unloaded_state(self.geometry, own, other, exact=exact)

    def signal(self, mode: Int[Array, ""], own: Placed, other: Placed, past: ContactMemory | None = None) -> Wrench:
        """Return the wrench that acts by a force law: none."""
        return Wrench.zero()

    def signal_of(self, found: GroupState) -> GroupSignal:
        """Return what the loop delays of its state."""
        return found.wrench

    def guards(self, mode: Int[Array, ""], found: GroupState) -> tuple[Scalar, ...]:
        """Return two event functions: one that rises through zero as the two touch, and again, at once, for the jump; and one
        where what keeps them at rest would pull.

        What has just parted from rest is so near that only its velocity tells whether it comes back.
        """
        comes = jnp.where(found.force_sign < 0, found.rate, found.depth)
        touches = jnp.where(mode == APART, comes, jnp.where(mode == TOUCHED, 1.0, -1.0))
        return touches, jnp.where(mode == RESTING, -found.force_sign, -1.0)

    def next_mode(self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], ...]) -> Int[Array, ""]:
        """Return the mode after the guards in `fired` have fired; that after a jump of velocities is not decided here."""
        touches, parts = fired[0] & (mode == APART), fired[1] & (mode == RESTING)
        return jnp.where(touches, TOUCHED, jnp.where(parts, APART, mode)).astype(mode.dtype)

    def first_mode(self, own: Placed, other: Placed) -> Int[Array, ""]:
        """Return the mode at the start of a run: what touches then and does not part is struck, or comes to rest, at once."""
        found = self.meeting(own, other)
        return jnp.where((found.depth > -TOGETHER) & (found.rate > -self.rest_speed), TOUCHED, APART).astype(int)

    def axes(self, meeting: ContactKinematics) -> tuple[Vector, ...]:
        """Return the normal, from the second body to the first, and two tangents (inertial); in the plane one."""
        if self.planar:
            return meeting.normal, Vector(-meeting.normal.y, meeting.normal.x, jnp.zeros(()))
        turn = from_x_axis(meeting.normal).matrix()
        _, along, across = unit_vectors()
        return meeting.normal, turn @ along, turn @ across

    def rows(self, places: tuple[Placed, ...]) -> Rows:
        """Return the rows of an impact: the velocity of the first body against the second along `axes`."""
        meeting = once(self.meeting(places[self.first], places[self.second]))
        return point_rows(places, self.first, self.second, meeting.point, self.axes(meeting))

    def resolve(self, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
        """Return the impact by the law, or, where that leaves less than `rest_speed`, one without normal velocity after it.

        An approach slower than `rest_speed` is ended along the normal alone. No number where the law has no impact.
        """
        by_law = self.law.resolve(matrix, velocity)
        if self.law.name == PAIR:
            possible = is_possible(matrix, velocity, by_law, **self.law.parameters)
            by_law = map_leaves(lambda part: jnp.where(possible, part, jnp.nan * part), by_law)
        ended = impact_of_impulse(matrix, velocity, jnp.zeros_like(velocity).at[0].set(-velocity[0] / matrix[0, 0]))
        found = end_slow_approach(by_law, matrix, velocity, self.rest_speed)
        return map_leaves(lambda a, b: jnp.where(velocity[0] > -self.rest_speed, a, b), ended, found)

    def line(self, mode: Int[Array, ""], places: tuple[Placed, ...], yielding: Scalar) -> Lines:
        """Return the line along its normal, which is closed while it rests and then yields by so much (1/kg)."""
        own, other = places[self.first], places[self.second]
        meeting = once(self.meeting(own, other))
        push = meeting.normal
        if self.friction is not None:
            push = push + self.friction.force(jnp.ones(()), meeting.sliding)
        rows, pushes = (
            point_rows(places, self.first, self.second, meeting.point, [way]) for way in (meeting.normal, push)
        )
        lines = Lines.of_connection(rows, _drift_of(self.geometry, own, other)[None], mode == RESTING)
        return lines._replace(compliance=lines.compliance + lines.root * yielding, pushes=pushes)

    def load(self, force: Scalar, own: Placed, other: Placed) -> Wrench:
        """Return what a normal `force` (N) of rest puts on the first body, with its friction, about `reference`."""
        meeting = once(self.meeting(own, other))
        push = meeting.normal * force
        if self.friction is not None:
            push = push + self.friction.force(force, meeting.sliding)
        return Wrench(push, (meeting.point - self.reference(own)).cross(push))

    def rest_rubbing(self, force: Scalar, own: Placed, other: Placed) -> Scalar | None:
        """Return the power (W) that friction takes under a normal `force` (N) of rest; None of what never rubs."""
        if not self.rubs:
            return None
        if self.friction is None:
            return jnp.zeros(())
        sliding = once(self.meeting(own, other)).sliding
        return -self.friction.force(force, sliding).dot(sliding)


@trace_once
def _meeting_of(geometry: PairGeometry, own: Placed, other: Placed) -> ContactKinematics:
    depth, normal, point = geometry.touch(own, other)
    return kinematics_of((depth, normal * (1 / normal.norm()), point), own, other)


@trace_once
def _drift_of(geometry: PairGeometry, own: Placed, other: Placed) -> Scalar:
    """Return the rate of the normal velocity (m/s²) at constant twists of both bodies."""

    def parting(poses: tuple[Pose, Pose]) -> Scalar:
        first, second = (Placed.of(pose, body.twist) for pose, body in zip(poses, (own, other), strict=True))
        return -_meeting_of(geometry, first, second).rate

    poses = own.pose, other.pose
    moving = tuple(Pose(body.twist.velocity, body.pose.attitude.rate(body.twist.rate)) for body in (own, other))
    return jax.jvp(parting, (poses,), (moving,))[1]


@partial(trace_once, static=("exact",))
def _unloaded_state(geometry: PairGeometry, own: Placed, other: Placed, exact: bool) -> GroupState:
    """Return how two things meet on which no force acts."""
    zero, one = jnp.zeros(()), jnp.ones(())

    def near() -> GroupState:
        found = _meeting_of(geometry, own, other)
        speed = jnp.sqrt(found.sliding.dot(found.sliding))
        return GroupState(Wrench.zero(), zero, found.depth, found.rate, speed, found.point, one, zero)

    bound = None if exact else geometry.least_distance(own, other)
    if bound is None:
        return once(near())
    distance, size = once(bound)
    far = GroupState(Wrench.zero(), zero, -distance, zero, zero, own.point(Vector.of(geometry.place())), one, zero)
    return once(jax.lax.cond(distance > FAR * size, lambda: far, near))
