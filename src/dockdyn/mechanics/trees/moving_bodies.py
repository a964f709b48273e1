"""Rigid bodies in space, each free or joined to others as a tree, with inertia reflected between any of them.

Units: SI: m, rad, N, N m.
Source: Newton and Euler; trees as in `jointed_bodies`, reflected inertia as in `mechanics.reflected`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.reflected import Reflected, coupled, free_answer, line_loads, row_of
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies, JointMotion
from dockdyn.mechanics.trees.jointed_equations import Acceleration, Equations
from dockdyn.mechanics.vector import Scalar, Vector


class Coordinates(NamedTuple):
    """Where bodies are: roots are free bodies and, of each tree, its common centre of mass with the attitude of its root."""

    roots: tuple[Pose, ...]
    joints: tuple[Scalar, ...]  # rad or m

    def shifted(self, by: Vector) -> Coordinates:
        """All moved `by` so much (m)."""
        return Coordinates(tuple(pose.shifted(by) for pose in self.roots), self.joints)


class Velocities(NamedTuple):
    """How they move, or the rate of that."""

    roots: tuple[Twist, ...]
    joints: tuple[Scalar, ...]  # rad/s or m/s


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
    """Rigid bodies, some of them joined to trees; without trees all are roots."""

    bodies: tuple[RigidBody, ...]
    trees: tuple[JointedBodies, ...] = ()

    def roots(self) -> list[int]:
        """The numbers of the bodies that no joint holds, in the order of `Coordinates.roots`."""
        held = {number for tree in self.trees for number in tree.members[1:]}
        return [number for number in range(len(self.bodies)) if number not in held]

    def held(self) -> list[tuple[int, int | None]]:
        """The bodies that joints hold, by number, each with the number of its joint; None of a locked one."""
        found = {
            body: joint.number for tree in self.trees for body, joint in zip(tree.members[1:], tree.joints, strict=True)
        }
        return sorted(found.items(), key=lambda item: item[0])

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
    ) -> Response:
        """What loads do: forces (N, inertial) on all bodies, torques about their centres of mass (N m, their axes), and the
        efforts of joints (N m or N), together with the inertia that is reflected between two bodies."""
        twists = [place.twist for place in here.bodies]
        free = list(map(RigidBody.acceleration, self.bodies, twists, forces, torques))
        equations = [Equations.of(tree, here.of(tree), here.joints) for tree in self.trees]

        def accelerated() -> list[Acceleration]:
            return [
                one.acceleration(_own(tree, forces), _own(tree, torques), efforts)
                for tree, one in zip(self.trees, equations, strict=True)
            ]

        moved = accelerated()
        for tree, own in zip(self.trees, moved, strict=True):
            for number, rate in zip(tree.members, own.bodies, strict=True):
                free[number] = rate

        def answer(rows: Float[Array, "lines bodies 6"]) -> Float[Array, "lines bodies 6"]:
            found = free_answer(self.bodies, rows)
            for tree, one in zip(self.trees, equations, strict=True):
                loads = [rows[:, number].T for number in tree.members]
                rates = one.answer([Vector.of(load[:3]) for load in loads], [Vector.of(load[3:]) for load in loads])
                for number, rate in zip(tree.members, rates, strict=True):
                    found = found.at[:, number].set(row_of(rate.velocity, rate.rate).T)
            return found

        bodies, along = coupled(tuple(free), answer, reflected)
        if reflected:
            forces, torques = list(forces), list(torques)
            for number, force, torque in line_loads(reflected, along):
                forces[number], torques[number] = forces[number] + force, torques[number] + torque
            moved = accelerated()
        return Response(self._rates(bodies, moved), bodies, along)

    def _rates(self, bodies: tuple[Twist, ...], moved: Sequence[Acceleration]) -> Velocities:
        """Rates of the velocities, of trees as they have `moved`."""
        roots = {number: bodies[number] for number in self.roots()}
        joints: dict[int, Scalar] = {}
        for tree, own in zip(self.trees, moved, strict=True):
            roots[tree.members[0]] = own.root
            joints |= dict(zip(tree.numbers(), own.joints, strict=True))
        return Velocities(tuple(roots.values()), tuple(joints[number] for number in sorted(joints)))

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
