"""Bodies that move in the x–y plane and turn about z: three coordinates each that no joint holds, and one a joint.

What bodies are and how joints hold them is said as in space, each at its height. What pushes out of the plane moves nothing. A
tree moves as its common centre of mass and the angle of its root say: so linear momentum is kept to rounding.

Units: SI: m, rad, kg, N, N m.
Source: Newton and Euler in the plane; M = Σ Jᵀ m J of all bodies, Featherstone 2008, Rigid Body Dynamics Algorithms, chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.dense import solve_definite
from dockdyn.mechanics.lines import Lines, Rows, twist_of
from dockdyn.mechanics.reflected import Reflected, coupled_rates, reflected_lines
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.bodies import Bodies
from dockdyn.mechanics.trees.composite_bodies import Configuration, Row
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.moving_bodies import Coordinates, LoadResponse, MovingBodies, Placement, Velocities
from dockdyn.mechanics.trees.partial_motion import JointMotion
from dockdyn.mechanics.trees.tree_bodies import LinkJoint
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.programs import trace_once
from dockdyn.trees import Module

IN_PLANE = np.array([0, 1, 5])  # of a twist's six numbers: along x and y, about z


class Pair(NamedTuple):
    """A vector in the plane, or a rotation by its cosine and sine."""

    x: Scalar
    y: Scalar

    @staticmethod
    def turning(angle: Scalar) -> Pair:
        """Return the rotation by an angle (rad)."""
        return Pair(jnp.cos(angle), jnp.sin(angle))

    def plus(self, other: Pair, times: Scalar | float = 1.0) -> Pair:
        """Return the sum with so many `times` the other."""
        return Pair(self.x + other.x * times, self.y + other.y * times)

    def turned(self, other: Pair) -> Pair:
        """Return the other, turned by this rotation."""
        return Pair(self.x * other.x - self.y * other.y, self.y * other.x + self.x * other.y)

    def across(self) -> Pair:
        """Return it a quarter turn on."""
        return Pair(-self.y, self.x)


class Flat(NamedTuple):
    """A body in the plane."""

    place: Pair  # m, of its centre of mass
    turn: Pair
    angle: Scalar  # rad
    velocity: Pair  # m/s
    rate: Scalar  # rad/s

    def carries(self, joint: Joint, motions: Sequence[JointMotion]) -> Flat:
        """Return the body that a joint holds on it; `motions` are those of all joints."""
        arm, axis = self.turn.turned(Pair(joint.mount.x, joint.mount.y)), Pair(joint.axis.x, joint.axis.y)
        place, velocity = self.place.plus(arm), self.velocity.plus(arm.across(), self.rate)
        seat = Pair(joint.seat.w**2 - joint.seat.z**2, 2 * joint.seat.w * joint.seat.z)
        turn, angle, rate = self.turn.turned(seat), self.angle + joint.seat.planar_angle(), self.rate
        motion = None if joint.number is None else joint.motion(motions)
        if motion is not None and joint.kind == "revolute":
            coordinate, speed = motion
            turn = turn.turned(Pair.turning(joint.axis.z * coordinate))
            angle, rate = angle + joint.axis.z * coordinate, rate + joint.axis.z * speed
        lever = turn.turned(Pair(joint.arm.x, joint.arm.y))
        if motion is not None and joint.kind == "prismatic":
            coordinate, speed = motion
            along = turn.turned(axis)
            lever, velocity = lever.plus(along, coordinate), velocity.plus(along, speed)
        return Flat(place.plus(lever), turn, angle, velocity.plus(lever.across(), rate), rate)

    def placed(self, height: Scalar) -> Placed:
        """Return it at its height (m)."""
        zero, one, (cosine, sine) = jnp.zeros(()), jnp.ones(()), self.turn
        rotation = Matrix(Vector(cosine, -sine, zero), Vector(sine, cosine, zero), Vector(zero, zero, one))
        attitude = Quaternion(jnp.cos(self.angle / 2), zero, zero, jnp.sin(self.angle / 2))
        spin = Vector(zero, zero, self.rate)
        return Placed(
            Pose(Vector(*self.place, height), attitude), Twist(Vector(*self.velocity, zero), spin), rotation, spin
        )


class BodiesInPlane(Module):
    """Bodies in the x–y plane, rigid ones. Their coordinates are those of the joints, then place and angle of each root."""

    bodies: tuple[RigidBody, ...]
    trees: tuple[JointedBodies, ...]
    heights: tuple[Scalar, ...]  # m, of all bodies

    planar = True
    directions = 2  # along which they can move
    attitudes = 0  # quaternions among their coordinates

    @property
    def in_space(self) -> MovingBodies:
        """Return these bodies where nothing keeps them in the plane: what is known of placed bodies is the same there."""
        return MovingBodies(self.bodies, self.trees)

    def link(self, number: int) -> int:
        """Return the number of a body itself: none of these bends."""
        return number

    def frames_of(self, link: int) -> list[int]:
        """Return nothing: no link has frames."""
        return []

    def roots(self) -> list[int]:
        """Return the numbers of the bodies that no joint holds."""
        return self.in_space.roots()

    def mass_at(self, number: int) -> Scalar:
        """Return the mass (kg) of a body."""
        return self.bodies[number].mass

    def held(self) -> list[tuple[int, Joint | LinkJoint]]:
        """Return the bodies that joints hold, by number, each with its joint."""
        return self.in_space.held()

    def held_with(self, number: int) -> tuple[int, ...]:
        """Return the numbers of all bodies that joints hold together with one, itself among them."""
        return self.in_space.held_with(number)

    def in_place(self, here: Placement) -> Sequence[Bodies]:
        """Return the trees where they are and as they move."""
        return self.in_space.in_place(here)

    def coordinate_rates(self, v: Velocities) -> list[Scalar]:
        """Return the rates of all coordinates by number, those of joints first."""
        return list(v.joints)

    def begun(
        self,
        poses: Sequence[Pose],
        twists: Sequence[Twist],
        joints: Sequence[JointMotion],
        linked: Sequence[tuple[Configuration, Row]] = (),
    ) -> tuple[Coordinates, Velocities]:
        """Return the state in which the bodies are and move so; there are no trees with large beams."""
        q, v = self.in_space.begun(poses, twists, joints)
        places = [part for pose in q.roots for part in (pose.position.x, pose.position.y, pose.attitude.planar_angle())]
        rates = [part for one in v.roots for part in (one.velocity.x, one.velocity.y, one.rate.z)]
        return Coordinates((), (*q.joints, *places)), Velocities((), (*v.joints, *rates))

    def base_position(self, q: Coordinates, base: int) -> Vector:
        """Return where places are counted from (m): the origin."""
        return Vector.zero()

    def carried_on(self, v: Velocities, number: int, more: Vector) -> Velocities:
        """Return the velocities with which a body, and all that joints hold together with it, goes on by so much more (m/s)."""
        roots, found = self.roots(), list(v.joints)
        at = len(found) - 3 * len(roots) + 3 * roots.index(self.held_with(number)[0])
        found[at], found[at + 1] = found[at] + more.x, found[at + 1] + more.y
        return v._replace(joints=tuple(found))

    def rate(self, q: Coordinates, v: Velocities) -> Coordinates:
        """Return the rate of the coordinates of bodies that move so."""
        return q.rate(v)

    @trace_once
    def placed(self, q: Coordinates, v: Velocities) -> Placement:
        """Return all bodies where `q` and `v` put them; it is linear in `v`."""
        motions, found = tuple(zip(q.joints, v.joints, strict=True)), dict[int, Flat]()
        trees, roots = {tree.members[0]: tree for tree in self.trees}, self.roots()
        first = len(motions) - 3 * len(roots)
        for number, at in zip(roots, range(first, len(motions), 3), strict=True):
            (x, along), (y, across), (angle, rate) = motions[at : at + 3]
            centre, drift, zero = Pair(x, y), Pair(along, across), Pair(jnp.zeros(()), jnp.zeros(()))
            links = [Flat(zero, Pair.turning(angle), angle, zero, rate)]
            tree = trees.get(number)
            for joint in () if tree is None else tree.joints:
                assert isinstance(joint, Joint)
                links.append(links[joint.carrier].carries(joint, motions))
            if tree is not None:
                total = tree.mass()
                for body, link in zip(tree.bodies, links, strict=True):
                    centre = centre.plus(link.place, -body.mass / total)
                    drift = drift.plus(link.velocity, -body.mass / total)
            members = (number,) if tree is None else tree.members
            for member, link in zip(members, links, strict=True):
                found[member] = link._replace(place=link.place.plus(centre), velocity=link.velocity.plus(drift))
        return Placement(tuple(found[n].placed(height) for n, height in enumerate(self.heights)), motions)

    def respond(
        self,
        here: Placement,
        forces: Sequence[Vector],
        torques: Sequence[Vector],
        efforts: Sequence[Scalar],
        reflected: Sequence[tuple[int, int, Reflected]],
        connected: Lines | None = None,
    ) -> LoadResponse:
        """Return what loads do, as `MovingBodies.respond`; what is out of the plane does nothing."""
        between = tuple((first, other) for first, other, _ in reflected)
        inertia = tuple(one for _, _, one in reflected)
        given = (tuple(forces), tuple(torques), tuple(efforts))
        return self._respond(here, *given, inertia, connected, between=between)

    @partial(trace_once, static=("between",))
    def _respond(
        self,
        here: Placement,
        forces: tuple[Vector, ...],
        torques: tuple[Vector, ...],
        efforts: tuple[Scalar, ...],
        inertia: tuple[Reflected, ...],
        connected: Lines | None,
        between: tuple[tuple[int, int], ...],
    ) -> LoadResponse:
        reflected = [(*numbers, one) for numbers, one in zip(between, inertia, strict=True)]
        several = [one for one in (reflected_lines(len(self.bodies), reflected), connected) if one is not None]
        mobility = self.mobility(here)
        loads = [jnp.stack([force.x, force.y, torque.z]) for force, torque in zip(forces, torques, strict=True)]
        pushed = jnp.zeros(len(here.joints)).at[: len(efforts)].set(jnp.stack([*efforts, jnp.zeros(())])[:-1])
        drift = self._drift(here)
        rates = mobility.rates(jnp.stack(loads) - self._masses() * drift, pushed)
        free = tuple(map(twist_of, _in_space(mobility.moved(rates) + drift)))
        lines = Lines.joined(several) if several else None
        bodies, along = coupled_rates(free, mobility.answer, lines)
        if lines is not None:
            rates = rates + mobility.rates(jnp.einsum("k,kbi->bi", along, lines.acting)[:, IN_PLANE])
        return LoadResponse(Velocities((), tuple(rates)), bodies, along)

    def _drift(self, here: Placement) -> Float[Array, "bodies 3"]:
        """Return the rates of the twists where the rates of all coordinates stay: J̇ v."""
        q, v = jnp.stack([q for q, _ in here.joints]), jnp.stack([v for _, v in here.joints])
        return jax.jvp(lambda q: self._twists_in_plane(q, v), (q,), (v,))[1]

    def _twists_in_plane(self, q: Row, v: Row) -> Float[Array, "bodies 3"]:
        """Return the bodies' twists in the plane."""
        found = self.placed(Coordinates((), tuple(q)), Velocities((), tuple(v))).bodies
        each = [(one.twist.velocity.x, one.twist.velocity.y, one.twist.rate.z) for one in found]
        return jnp.stack([jnp.stack(one) for one in each])

    def _masses(self) -> Float[Array, "bodies 3"]:
        """Return what each body has against moving along x and y and turning about z (kg, kg m²)."""
        return jnp.stack([jnp.stack([one.mass, one.mass, one.inertia[2, 2]]) for one in self.bodies])

    def mobility(self, here: Placement) -> PlaneMobility:
        """Return M⁻¹ where the bodies are, to be asked several times."""
        q = jnp.stack([q for q, _ in here.joints])
        columns = jax.lax.map(lambda v: self._twists_in_plane(q, v), jnp.eye(q.shape[0]))
        moved = [jnp.zeros(())] * q.shape[0]
        for tree in self.trees:
            for number, mass in tree.moved().items():
                moved[number] = moved[number] + mass
        return PlaneMobility(
            columns, jnp.einsum("kbi,bi,lbi->kl", columns, self._masses(), columns) + jnp.diag(jnp.stack(moved))
        )

    def answer(self, here: Placement, rows: Rows) -> Rows:
        """Return M⁻¹ of loads on the bodies, line by line: rates of their twists."""
        return self.mobility(here).answer(rows)

    def kinetic_energies(self, here: Placement) -> list[Scalar]:
        """Return the kinetic energies (J) of all bodies."""
        found = []
        for body, place in zip(self.bodies, here.bodies, strict=True):
            velocity, rate = place.twist.velocity, place.twist.rate.z
            found.append(0.5 * (body.mass * (velocity.x**2 + velocity.y**2) + body.inertia[2, 2] * rate**2))
        return found

    def needed(self, here: Placement, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return the force (N, inertial) and torque (N m) that the motion of each body needs."""
        return self.in_space.needed(here, rates, twists)

    def centre(self, here: Placement) -> Vector:
        """Return the common centre of mass (m)."""
        return self.in_space.centre(here)

    def momentum_of_bending(self, here: Placement) -> tuple[Vector, Vector]:
        """Return zeros: none of these bends."""
        return Vector.zero(), Vector.zero()

    def reflected_energy(self, here: Placement) -> Scalar:
        """Return the kinetic energy (J) of what motors in joints reflect."""
        return self.in_space.reflected_energy(here)

    def reactions(
        self, here: Placement, forces: Sequence[Vector], torques: Sequence[Vector]
    ) -> dict[int, tuple[Vector, Vector]]:
        """Return what passes through the joint of each body that one holds, as `MovingBodies.reactions`."""
        return self.in_space.reactions(here, forces, torques)


class PlaneMobility(NamedTuple):
    """M⁻¹ of bodies in the plane."""

    columns: Float[Array, "n bodies 3"]  # J: twists in the plane by the rate of each coordinate
    mass: Float[Array, "n n"]  # M

    def rates(self, loads: Float[Array, "bodies 3"], efforts: Row | float = 0.0) -> Row:
        """Return M⁻¹ of loads on the bodies (N along x and y, N m about z) and of efforts along the coordinates."""
        return solve_definite(self.mass, jnp.einsum("kbi,bi->k", self.columns, loads) + efforts)

    def moved(self, rates: Row) -> Float[Array, "bodies 3"]:
        """Return the rates of the bodies' twists, of coordinates whose own change so."""
        return jnp.einsum("kbi,k->bi", self.columns, rates)

    def answer(self, rows: Rows) -> Rows:
        """Return rates of the bodies' twists under loads on them, line by line."""
        return jax.lax.map(lambda row: _in_space(self.moved(self.rates(row[:, IN_PLANE]))), rows)

    def change(self, load: Float[Array, "bodies 6"]) -> Velocities:
        """Return what impulses (N s; N m s) on the bodies change of the velocities at once."""
        return Velocities((), tuple(self.rates(load[:, IN_PLANE])))


def _in_space(rows: Float[Array, "bodies 3"]) -> Float[Array, "bodies 6"]:
    """Return twists in the plane as those in space."""
    return jnp.zeros((rows.shape[0], 6)).at[:, IN_PLANE].set(rows)
