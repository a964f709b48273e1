"""Bodies in space, each free or joined to others as a tree, with inertia reflected between any of them.

Units: SI: m, rad, N, N m.
Source: Newton and Euler; trees as in `jointed_bodies`, reflected inertia as in `mechanics.reflected`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.lines import Lines, Rows, row_of, twist_of
from dockdyn.mechanics.reflected import Reflected, alone_answer, coupled, reflected_lines
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.jointed_equations import Acceleration, Equations
from dockdyn.mechanics.trees.partial_motion import JointMotion
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.programs import trace_once


class Coordinates(NamedTuple):
    """Where bodies are: roots are free bodies and, of each tree, its common centre of mass with the attitude of its root."""

    roots: tuple[Pose, ...]
    joints: tuple[Scalar, ...]  # rad or m; behind those of joints, modal coordinates of flexible links

    def shifted(self, by: Vector) -> Coordinates:
        """All moved `by` so much (m)."""
        return Coordinates(tuple(pose.shifted(by) for pose in self.roots), self.joints)

    def rate(self, v: Velocities) -> Coordinates:
        """Return the rate of these coordinates of bodies that move so."""
        both = zip(self.roots, v.roots, strict=True)
        return Coordinates(tuple(Pose(one.velocity, pose.attitude.rate(one.rate)) for pose, one in both), v.joints)


class Velocities(NamedTuple):
    """How they move, or the rate of that."""

    roots: tuple[Twist, ...]
    joints: tuple[Scalar, ...]  # rad/s or m/s; behind those of joints, of modal coordinates


class Placement(NamedTuple):
    """All bodies and joints at an instant."""

    bodies: tuple[Placed, ...]
    joints: tuple[JointMotion, ...]

    def of(self, tree: JointedBodies) -> tuple[Placed, ...]:
        """The bodies of a tree."""
        return tuple(self.bodies[number] for number in tree.members)


class Response(NamedTuple):
    """What loads do."""

    rates: Velocities
    bodies: tuple[Twist, ...]  # rates of all bodies' twists
    along: Float[Array, "lines"]  # N, forces of reflected inertia


class MovingBodies(eqx.Module):
    """Rigid bodies, some of them joined to trees; without trees all are roots.

    Behind them are frames without mass of flexible links, the mass of which moves as the body of the link.
    """

    bodies: tuple[RigidBody, ...]
    trees: tuple[JointedBodies, ...] = ()
    frames: tuple[int, ...] = eqx.field(static=True, default=())  # the link of each frame, by number

    def link(self, number: int) -> int:
        """The body itself, or the link of a frame, by number."""
        first = len(self.bodies) - len(self.frames)
        return number if number < first else self.frames[number - first]

    def frames_of(self, link: int) -> list[int]:
        """The numbers of the frames of a link."""
        first = len(self.bodies) - len(self.frames)
        return [number for number, own in enumerate(self.frames, start=first) if own == link]

    def roots(self) -> list[int]:
        """The numbers of the bodies that no joint holds, in the order of `Coordinates.roots`."""
        held = {number for tree in self.trees for number in tree.members[1:]}
        return [number for number in range(len(self.bodies)) if number not in held]

    def group_of(self, number: int) -> int:
        """Return the root of the tree that a body is of, by number; of one that is in none itself."""
        return next((tree.members[0] for tree in self.trees if number in tree.members), number)

    def held(self) -> list[tuple[int, Joint]]:
        """The bodies that joints hold, by number, each with its joint.

        Of a flexible link it is its frame at rest; they are in the order of the links.
        """
        found = {
            body: joint
            for tree in self.trees
            for body, joint in zip(tree.members[1:], tree.joints, strict=True)
            if isinstance(joint, Joint)
        }
        return sorted(found.items(), key=lambda item: self.link(item[0]))

    def begun(
        self, poses: Sequence[Pose], twists: Sequence[Twist], joints: Sequence[JointMotion]
    ) -> tuple[Coordinates, Velocities]:
        """The state in which the bodies are and move so."""
        starts = {number: (poses[number], twists[number]) for number in self.roots()}
        for tree in self.trees:
            starts[tree.members[0]] = tree.centred(*starts[tree.members[0]], joints)
        return (
            Coordinates(tuple(pose for pose, _ in starts.values()), tuple(q for q, _ in joints)),
            Velocities(tuple(twist for _, twist in starts.values()), tuple(rate for _, rate in joints)),
        )

    def base_position(self, q: Coordinates, base: int) -> Vector:
        """Return where the body by number is (m, from the origin); in a tree, the tree's common centre of mass."""
        return q.roots[self.roots().index(base)].position

    def held_with(self, number: int) -> tuple[int, ...]:
        """Return the numbers of all bodies that joints hold together with one, itself among them."""
        return next((tree.members for tree in self.trees if number in tree.members), (number,))

    def carried_on(self, v: Velocities, number: int, more: Vector) -> Velocities:
        """Return the velocities with which a body, and all that joints hold together with it, goes on by so much more (m/s)."""
        place = self.roots().index(self.held_with(number)[0])
        root = v.roots[place]
        faster = Twist(root.velocity + more, root.rate)
        return v._replace(roots=(*v.roots[:place], faster, *v.roots[place + 1 :]))

    @trace_once
    def placed(self, q: Coordinates, v: Velocities) -> Placement:
        """All bodies where `q` and `v` put them; it is linear in `v`."""
        joints = tuple(zip(q.joints, v.joints, strict=True))
        trees = {tree.members[0]: tree for tree in self.trees}
        found: dict[int, Placed] = {}
        for number, pose, twist in zip(self.roots(), q.roots, v.roots, strict=True):
            if number in trees:
                found |= dict(zip(trees[number].members, trees[number].placed(pose, twist, joints), strict=True))
            else:
                found[number] = Placed.of(pose, twist)
        return Placement(tuple(found[number] for number in range(len(self.bodies))), joints)

    def respond(
        self,
        here: Placement,
        forces: Sequence[Vector],
        torques: Sequence[Vector],
        efforts: Sequence[Scalar],
        reflected: Sequence[tuple[int, int, Reflected]],
        connected: Lines | None = None,
    ) -> Response:
        """What loads do: forces (N, inertial) on all bodies, torques about their centres of mass (N m, their axes), and the
        efforts of joints (N m or N), together with the inertia that is reflected between two bodies and with connections."""
        between = tuple((first, other) for first, other, _ in reflected)
        inertia = tuple(one for _, _, one in reflected)
        return self._respond(here, tuple(forces), tuple(torques), tuple(efforts), inertia, connected, between=between)

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
    ) -> Response:
        """The same; `between` are the numbers of the bodies between which each inertia is reflected."""
        reflected = [(*numbers, one) for numbers, one in zip(between, inertia, strict=True)]
        several = [one for one in (reflected_lines(len(self.bodies), reflected), connected) if one is not None]
        lines = Lines.joined(several) if several else None
        moving = {
            number: self.bodies[number].acceleration(here.bodies[number].twist, forces[number], torques[number])
            for number in self._alone()
        }
        equations = self._equations(here)

        def accelerated(forces: Sequence[Vector], torques: Sequence[Vector]) -> list[Acceleration]:
            return [
                one.acceleration(_own(tree, forces), _own(tree, torques), efforts)
                for tree, one in zip(self.trees, equations, strict=True)
            ]

        moved = accelerated(forces, torques)
        for tree, own in zip(self.trees, moved, strict=True):
            for number, rate in zip(tree.members, own.bodies, strict=True):
                moving[number] = rate
        free = tuple(moving[number] for number in range(len(self.bodies)))
        bodies, along = coupled(free, lambda rows: self._answer(equations, rows), lines)
        if lines is not None and self.trees:
            pushed = jnp.einsum("k,kbi->bi", along, lines.acting)
            moved = accelerated(
                [force + Vector.of(row[:3]) for force, row in zip(forces, pushed, strict=True)],
                [torque + Vector.of(row[3:]) for torque, row in zip(torques, pushed, strict=True)],
            )
        return Response(self._rates(bodies, moved), bodies, along)

    def answer(self, here: Placement, rows: Rows) -> Rows:
        """Return M⁻¹ of loads on the bodies (N, inertial; N m, body axes), line by line: rates of their twists."""
        return self._answer(self._equations(here), rows)

    def change(self, here: Placement, load: Float[Array, "bodies 6"]) -> Velocities:
        """Return what impulses (N s, inertial; N m s, body axes) on the bodies change of the velocities at once."""
        forces, torques = ([Vector.of(row[part]) for row in load] for part in (slice(3), slice(3, 6)))
        moved = [
            one.change(_own(tree, forces), _own(tree, torques))
            for tree, one in zip(self.trees, self._equations(here), strict=True)
        ]
        alone = {number: twist_of(alone_answer(self.bodies[number], load[None, number])[0]) for number in self._alone()}
        still = Twist(Vector.zero(), Vector.zero())
        return self._rates(tuple(alone.get(number, still) for number in range(len(self.bodies))), moved)

    def _alone(self) -> list[int]:
        """The numbers of the bodies that are in no tree."""
        joined = {number for tree in self.trees for number in tree.members}
        return [number for number in range(len(self.bodies)) if number not in joined]

    def _equations(self, here: Placement) -> list[Equations]:
        """The equations of motion of the trees."""
        return [Equations.of(tree, here.of(tree), here.joints) for tree in self.trees]

    def _answer(self, equations: Sequence[Equations], rows: Rows) -> Rows:
        found = {number: alone_answer(self.bodies[number], rows[:, number]) for number in self._alone()}
        for tree, one in zip(self.trees, equations, strict=True):
            loads = [rows[:, number].T for number in tree.members]
            rates = one.change([Vector.of(load[:3]) for load in loads], [Vector.of(load[3:]) for load in loads])
            for number, rate in zip(tree.members, rates.bodies, strict=True):
                found[number] = row_of(rate.velocity, rate.rate).T
        return jnp.stack([found[number] for number in range(len(self.bodies))], axis=1)

    def _rates(self, bodies: tuple[Twist, ...], moved: Sequence[Acceleration]) -> Velocities:
        """Rates of the velocities, of trees as they have `moved`."""
        roots = {number: bodies[number] for number in self.roots()}
        joints: dict[int, Scalar] = {}
        for tree, own in zip(self.trees, moved, strict=True):
            roots[tree.members[0]] = own.root
            joints |= dict(zip(tree.numbers(), own.joints, strict=True))
        return Velocities(tuple(roots.values()), tuple(joints[number] for number in sorted(joints)))

    def kinetic_energies(self, here: Placement) -> list[Scalar]:
        """Return the kinetic energies (J) of all bodies, of flexible links with that of their vibration."""
        found = [body.kinetic_energy(one.twist) for body, one in zip(self.bodies, here.bodies, strict=True)]
        for tree in self.trees:
            for number, energy in zip(tree.members, tree.kinetic_energies(here.of(tree), here.joints), strict=True):
                found[number] = energy
        return found

    def needed(self, here: Placement, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return force (N, inertial) and torque about the centre of mass (N m, body axes) that the motion of each body needs.

        `rates` are those of the velocities, and `twists` those of all bodies' twists.
        """
        found = [body.needed(one.twist, rate) for body, one, rate in zip(self.bodies, here.bodies, twists, strict=True)]
        accelerations = dict(enumerate(rates.joints))
        for tree in self.trees:
            bent, own = tree.bent(here.of(tree), here.joints), _own(tree, twists)
            loads = tree.needed(here.of(tree), bent, own, accelerations)
            for number, load in zip(tree.members, loads, strict=True):
                found[number] = load
        return found

    def momentum_of_bending(self, here: Placement, shares: Sequence[Scalar] | None = None) -> Vector:
        """Return the angular momentum (N m s, inertial) that flexible links have beside what they would have unbent; of each
        body the share that counts, all without `shares`."""
        found = Vector.zero()
        for tree in self.trees:
            placed = here.of(tree)
            for body, bent in tree.bent(placed, here.joints).items():
                more, one = bent.body.inertia - tree.bodies[body].inertia, placed[body]
                spin = one.rotation @ (Matrix.of(more) @ one.twist.rate + bent.spin)
                found = found + (spin if shares is None else spin * shares[tree.members[body]])
        return found

    def reflected_energy(self, here: Placement) -> Scalar:
        """Kinetic energy (J) of what motors in joints reflect."""
        return sum((tree.reflected_energy(here.joints) for tree in self.trees), jnp.zeros(()))

    def reactions(
        self, here: Placement, forces: Sequence[Vector], torques: Sequence[Vector]
    ) -> dict[int, tuple[Vector, Vector]]:
        """What passes through the joint of each body that one holds, by the body's number: force and moment at the joint, the
        body's axes. The loads on all bodies are those that their motion needs less those that are known."""
        found: dict[int, tuple[Vector, Vector]] = {}
        for tree in self.trees:
            equations = Equations.of(tree, here.of(tree), here.joints)
            passing = equations.reactions(_own(tree, forces), _own(tree, torques))
            found |= dict(zip(tree.members[1:], passing, strict=True))
        return found


def _own[Part](tree: JointedBodies, parts: Sequence[Part]) -> list[Part]:
    """Those of the bodies of a tree."""
    return [parts[number] for number in tree.members]
