"""Rigid bodies joined to a tree that floats in space, each seen from its own centre of mass.

The tree moves as its common centre of mass and the attitude of its root say, and as its joints do: so linear momentum is kept
to rounding. Its equations are those in axes of the root, which rests: a constant velocity of all changes nothing.

Units: SI: m, rad, N, N m; joints m, N and kg or rad, N m and kg m².
Source: composite bodies, see `composite_bodies`; loads on bodies by Newton and Euler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.dense import Factors, factored, solved
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.assembly import rigid_parts
from dockdyn.mechanics.trees.composite_bodies import Motion
from dockdyn.mechanics.trees.screws import applied, cross, transposed
from dockdyn.mechanics.trees.spatial import SpatialTree
from dockdyn.mechanics.vector import Scalar, Vector

Rows = Float[Array, "bodies 6"]
BASE = 6  # velocities of the root, which come first


class Joints(NamedTuple):
    """Coordinates of the joints of a tree that move, and their rates."""

    coordinates: Float[Array, "joints"]  # rad or m
    rates: Float[Array, "joints"]


class JointedMotion(NamedTuple):
    """A tree of bodies at an instant."""

    places: tuple[Placed, ...]  # the root first
    motion: Motion  # in axes of the root at its centre of mass, the root at rest but for its turning
    joints: Joints


class Acceleration(NamedTuple):
    """How the velocities of a tree change."""

    twist: Twist  # of the common centre of mass, inertial, and of the root's rate, its axes
    joints: Float[Array, "joints"]  # rad/s² or m/s²
    bodies: Rows  # of each body: of its velocity (inertial), of its rate (its axes)


class JointedBodies(eqx.Module):
    """A body, the root, and those joined to it by hinges, slides and welds; the frame of the tree is that of the root."""

    tree: SpatialTree
    seats: tuple[Quaternion, ...]  # of all but the root: attitude on what carries it where its joint is at zero
    moved: Float[Array, "joints"]  # kg m² or kg, which motors reflect, by joint
    members: tuple[int, ...] = eqx.field(
        static=True
    )  # numbers of the bodies, the root first, each after what carries it
    numbers: tuple[int, ...] = eqx.field(static=True)  # of the joints that move among those of all trees

    def joints_of(self, all_joints: Sequence[tuple[Scalar, Scalar]]) -> Joints:
        """Its own of the joints of all trees, coordinates and rates."""
        own = [all_joints[number] for number in self.numbers]
        return Joints(row([coordinate for coordinate, _ in own]), row([rate for _, rate in own]))

    def placed(self, centre: Pose, twist: Twist, joints: Joints) -> JointedMotion:
        """The bodies, their common centre of mass and the root's attitude moving as `centre` and `twist` say."""
        motion = self.tree.placed(joints.coordinates, twist.rate.array(), joints.rates)
        _, middle, drift = self.tree.middle(motion)
        attitudes = self._attitudes(centre.attitude.normalised(), joints.coordinates)
        turn = attitudes[0].matrix()
        places, velocities = self.tree.centres(motion) - middle, self._velocities(motion) - drift
        return JointedMotion(
            tuple(
                Placed.of(
                    Pose(centre.position + turn @ Vector.of(place), attitude),
                    Twist(twist.velocity + turn @ Vector.of(velocity), Vector.of(rate)),
                )
                for place, velocity, attitude, rate in zip(
                    places, velocities, attitudes, motion.twist[:, 3:], strict=True
                )
            ),
            motion,
            joints,
        )

    def centred(self, pose: Pose, twist: Twist, joints: Joints) -> tuple[Pose, Twist]:
        """Where the common centre of mass is, and how it moves, with the root at `pose` and `twist`."""
        motion = self.tree.placed(joints.coordinates, twist.rate.array(), joints.rates)
        _, middle, drift = self.tree.middle(motion)
        attitude = pose.attitude.normalised()
        turn = attitude.matrix()
        position, velocity = pose.position + turn @ Vector.of(middle), twist.velocity + turn @ Vector.of(drift)
        return Pose(position, attitude), Twist(velocity, twist.rate)

    def _attitudes(self, root: Quaternion, coordinates: Float[Array, "joints"]) -> list[Quaternion]:
        """Attitudes of all bodies, inertial, with the `root`'s."""
        layout, found, at = self.tree.tree.layout, [root], 0
        for link, seat in enumerate(self.seats, start=1):
            attitude = found[layout.parents[link]] * seat
            if layout.joints[link] == "revolute":
                attitude = attitude * Quaternion.exponential(
                    Vector.of(self.tree.tree.links.axis[link] * coordinates[at])
                )
            at += layout.joints[link] != "locked"
            found.append(attitude)
        return found

    def _velocities(self, motion: Motion) -> Float[Array, "bodies 3"]:
        """Velocities of the centres of mass (m/s), root axes, the root's centre at rest."""
        own = motion.twist[:, :3] + cross(motion.twist[:, 3:], self._arms())
        return applied(motion.rotation, own)

    def _arms(self) -> Float[Array, "bodies 3"]:
        """Centres of mass in the links' frames (m)."""
        return rigid_parts(self.tree.tree.links.inertia)[1]

    def equations(self, now: JointedMotion) -> Equations:
        """Equations of motion at an instant."""
        rates = now.motion.twist[0, 3:]
        mass, bias = self.tree.equations(now.joints.coordinates, rates, now.joints.rates, now.motion)
        mass = mass + jnp.diag(jnp.concatenate([jnp.zeros(BASE), self.moved]))
        return Equations(self, now, factored(mass), bias)


def row(scalars: Sequence[Scalar]) -> Float[Array, "n"]:
    """Numbers as an array, which may be empty."""
    return jnp.stack([jnp.asarray(one, float) for one in scalars]) if scalars else jnp.zeros(0)


class Equations(NamedTuple):
    """Equations of motion of a tree at an instant, M v̇ + h = Nᵀ f; loads on bodies are forces (inertial) and torques about
    their centres of mass (their axes)."""

    bodies: JointedBodies
    now: JointedMotion
    factors: Factors
    bias: Float[Array, "n"]

    def acceleration(self, loads: Rows, efforts: Float[Array, "joints"]) -> Acceleration:
        """Under `loads` on all bodies and the `efforts` of the joints (N m or N)."""
        general = self.general(loads) + jnp.concatenate([jnp.zeros(BASE), efforts])
        v = solved(self.factors, general - self.bias)
        force = Vector.of(loads[:, :3].sum(0)) / jnp.sum(self.bodies.tree.mass())
        return Acceleration(Twist(force, Vector.of(v[3:BASE])), v[BASE:], self.carried(v) + self.drift())

    def answer(self, loads: Rows) -> Rows:
        """What `loads` add to the rates of the bodies' twists."""
        return self.carried(solved(self.factors, self.general(loads)))

    def general(self, loads: Rows) -> Float[Array, "n"]:
        """Nᵀ times loads."""
        return self.bodies.tree.tree.generalised(self.now.motion, self.in_root(loads))

    def in_root(self, loads: Rows) -> Rows:
        """Loads as forces and moments about the root's centre of mass, root axes."""
        motion = self.now.motion
        force = loads[:, :3] @ self._turn()
        moment = applied(motion.rotation, loads[:, 3:]) + cross(self.bodies.tree.centres(motion), force)
        return jnp.concatenate([force, moment], -1)

    def reactions(self, loads: Rows) -> Rows:
        """What passes through the joint of each body but the root, force and moment at the joint, the body's axes; `loads` are
        those that accelerate the bodies less those that are known."""
        motion = self.now.motion
        beyond = self.bodies.tree.tree.beyond(self.in_root(loads))[1:]
        force, back = beyond[:, :3], transposed(motion.rotation[1:])
        moment = beyond[:, 3:] - cross(motion.position[1:], force)
        return jnp.concatenate([applied(back, force), applied(back, moment)], -1)

    def carried(self, v: Float[Array, "n"]) -> Rows:
        """N v: of each body its centre's velocity (inertial) and its rate (its axes)."""
        motion = self.now.motion
        screws = self.bodies.tree.tree.carried(motion, v)
        spin = screws[:, 3:]
        velocity = screws[:, :3] + cross(spin, self.bodies.tree.centres(motion))
        return jnp.concatenate([velocity @ self._turn().T, applied(transposed(motion.rotation), spin)], -1)

    def drift(self) -> Rows:
        """Rates of the bodies' twists where the velocities of the tree stay."""
        motion, arms = self.now.motion, self.bodies._arms()
        v, spin, turning = motion.twist[:, :3], motion.twist[:, 3:], motion.bias[:, 3:]
        inward = motion.bias[:, :3] + cross(spin, v + cross(spin, arms)) + cross(turning, arms)
        return jnp.concatenate([applied(motion.rotation, inward) @ self._turn().T, turning], -1)

    def _turn(self) -> Float[Array, "3 3"]:
        return self.now.places[0].rotation.array()
