"""The links of a tree with large beams as bodies of a mechanism: what `composite_bodies` knows, told body by body.

A body is a link seen from where its centre of mass is while it is straight; frames without mass are bodies, too. Springs and
dampers of joints and beams are inside the tree.

Units: SI: m, rad, kg, N, N m; modal coordinates in m or rad.
Source: as `composite_bodies`; a link's twist at another point and wrenches about it, Murray, Li and Sastry 1994, chapter 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.trees.bodies import Bending
from dockdyn.mechanics.trees.composite_bodies import Configuration, Motion, Row, Tree
from dockdyn.mechanics.trees.link_inertia import BeamLinks, Inertia
from dockdyn.mechanics.trees.partial_motion import JointMotion, Motions
from dockdyn.mechanics.trees.screws import cross_matrix, cross_product
from dockdyn.mechanics.trees.tree_building import rigid_parts
from dockdyn.mechanics.vector import Matrix, Scalar, Vector
from dockdyn.programs import trace_once
from dockdyn.trees import Module, field

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.moving_bodies import Velocities


class TreePlace(NamedTuple):
    """Where a tree is, how it moves, and all its links with it."""

    q: Configuration
    v: Row
    motion: Motion
    mass: Float[Array, "n n"]  # M
    bias: Row  # h


class TreeAcceleration(NamedTuple):
    """How the velocities of a tree change, or what a load changes of them."""

    v: Float[Array, "n *more"]
    bodies: list[Twist]  # rates of the links' twists


class LinkJoint(NamedTuple):
    """What holds a link on another one: the number of its coordinate among those of all that move; None without one."""

    number: int | None

    def motion(self, motions: Motions | Sequence[JointMotion]) -> JointMotion:
        """Return its coordinate and the rate of it."""
        assert self.number is not None
        return motions[self.number]


class TreeBodies(Module):
    """A tree of links, which are bodies by number; some of its velocities may be held at zero."""

    tree: Tree
    bodies: tuple[RigidBody, ...]  # of the links while they are straight
    centres: Float[Array, "links 3"]  # m, of their centres of mass then, link axes
    members: tuple[int, ...] = field(static=True)  # numbers of the links among all bodies
    first: int = field(static=True, default=0)  # the number of its first coordinate among those of all that move
    locked: tuple[int, ...] = field(static=True, default=())  # velocity columns of joints that are held

    @staticmethod
    def of(
        tree: Tree,
        members: Sequence[int],
        first: int = 0,
        locked: Sequence[int] = (),
        frames: Mapping[int, Float[Array, "3"]] | None = None,
    ) -> TreeBodies:
        """Return a tree whose links have these numbers; `frames` are links without mass, by their places in the tree, and the
        places (m, their axes) that stand for their centres of mass."""
        links = tree.links
        heavy = links.place * links.slice_mass
        beam = jnp.sum(links.place * heavy, axis=1)
        polar = jnp.sum(links.slice_polar, axis=1)
        spread = jnp.stack([jnp.diag(jnp.stack([a, b, b])) for a, b in zip(polar, beam, strict=True)])
        mass, lever = jnp.sum(links.slice_mass, axis=1), jnp.zeros((mass_count(tree), 3)).at[:, 0].set(heavy.sum(1))
        upper = jnp.concatenate([mass[:, None, None] * jnp.eye(3), -cross_matrix(lever)], axis=2)
        whole = links.inertia + jnp.concatenate([upper, jnp.concatenate([cross_matrix(lever), spread], axis=2)], axis=1)
        masses, centres, inertias = rigid_parts(whole)
        for link, place in (frames or {}).items():
            centres = centres.at[link].set(place)
        zero = jnp.zeros((3, 3))  # of the inverse: nobody asks how a link would move alone
        bodies = tuple(RigidBody(one, inertia, zero) for one, inertia in zip(masses, inertias, strict=True))
        return TreeBodies(tree, bodies, centres, tuple(members), first, tuple(locked))

    def columns(self) -> list[int]:
        """Return the velocity columns of its coordinates: of joints with one, then of modes."""
        _, modes, _ = self.tree.layout.columns()
        return [*self.tree.joint_columns(), *(column for own in modes for column in own)]

    def numbers(self) -> list[int]:
        """Return the numbers of its coordinates among those of all that move."""
        return [self.first + at for at in range(len(self.columns()))]

    def joints(self) -> list[LinkJoint]:
        """Return what holds each link but the first."""
        columns, _, _ = self.tree.layout.columns()
        numbers = dict(zip(self.columns(), self.numbers(), strict=True))
        return [LinkJoint(numbers.get(own[0]) if len(own) == 1 else None) for own in columns[1:]]

    def motions(self, q: Configuration, v: Row) -> tuple[JointMotion, ...]:
        """Return its coordinates with their rates, in the order of their numbers."""
        rates = [v[column] for column in self.columns()]
        return tuple(zip([*q.joints, *q.modes], rates, strict=True))

    def mass(self) -> Scalar:
        """Return the mass of all (kg)."""
        return sum((body.mass for body in self.bodies), jnp.zeros(()))

    @trace_once
    def placed(self, q: Configuration, v: Row) -> tuple[tuple[Placed, ...], TreePlace]:
        """Return the links as bodies, and where the tree is."""
        motion, attitudes = self.tree.motion(q, v), self.tree.attitudes(q)
        found = []
        each = zip(motion.position, motion.rotation, attitudes, motion.twist, self.centres, strict=True)
        for place, turn, attitude, twist, centre in each:
            rotation, arm = Matrix.of(turn), Vector.of(centre)
            speed, rate = Vector.of(twist[:3]), Vector.of(twist[3:])
            pose = Pose(Vector.of(place) + rotation @ arm, attitude)
            velocity = rotation @ (speed + rate.cross(arm))
            found.append(Placed(pose, Twist(velocity, rate), rotation, rotation @ rate))
        return tuple(found), TreePlace(q, v, motion, *self.tree.mass_and_bias(q, v, motion))


def mass_count(tree: Tree) -> int:
    """Return how many links a tree has."""
    return len(tree.layout.names)


class LinkedTree(NamedTuple):
    """A tree at an instant, for whoever asks it as a tree of bodies."""

    tree: TreeBodies
    here: TreePlace
    number: int  # among the trees of its kind

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of its bodies."""
        return self.tree.members

    def equations(self) -> TreeEquations:
        """Return its equations of motion."""
        one, mass, bias = self.tree, self.here.mass, self.here.bias
        free = np.setdiff1d(np.arange(bias.shape[0]), np.array(one.locked, int))
        own = mass if not one.locked else mass[np.ix_(free, free)]
        return TreeEquations(self, bias, jax.scipy.linalg.cho_factor(own)[0] if len(free) else own, free)

    def generalised(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> Float[Array, "n *more"]:
        """Return the generalised forces of loads on all links."""
        return self.tree.tree.generalised(self.here.motion, self.wrenches(forces, torques))

    def wrenches(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> Float[Array, "links 6 *more"]:
        """Return loads on the links in base axes and about the base's origin."""
        attitude, found = Matrix.of(self.here.motion.rotation[0]), []
        for force, torque, (turn, point) in zip(forces, torques, self.centres(), strict=True):
            push = attitude.transposed_times(force)
            moment = turn @ torque + point.cross(push)
            found.append(jnp.stack([push.x, push.y, push.z, moment.x, moment.y, moment.z]))
        return jnp.stack(found)

    def centres(self) -> list[tuple[Matrix, Vector]]:
        """Return the links' axes in those of the base, and their centres of mass from its origin."""
        found = []
        for turn, place, centre in zip(*self.here.motion.poses, self.tree.centres, strict=True):
            own = Matrix.of(turn)
            found.append((own, Vector.of(place) + own @ Vector.of(centre)))
        return found

    def coasting(self) -> list[Twist]:
        """Return the rates of the links' twists where the velocities stay."""
        motion, found = self.here.motion, []
        each = zip(motion.twist, motion.bias, motion.rotation, self.tree.centres, strict=True)
        for twist, bias, rotation, centre in each:
            speed, turning, arm, rate = map(Vector.of, (twist[:3], twist[3:], centre, bias[3:]))
            lift = Vector.of(bias[:3]) + rate.cross(arm) + turning.cross(speed + turning.cross(arm))
            found.append(Twist(Matrix.of(rotation) @ lift, rate))
        return found

    def kinetic_energies(self) -> list[Scalar]:
        """Return the kinetic energies (J) of its links, with those of their vibration."""
        tree, here = self.tree.tree, self.here
        inertia = [Inertia.of(one) for one in tree.links.inertia]
        found = [0.5 * twist @ one.momentum(twist) for one, twist in zip(inertia, here.motion.twist, strict=True)]
        for link, inside, rates in self._bent_links():
            twist = here.motion.twist[link]
            momentum = inside.inertia.momentum(twist) + 2.0 * rates @ inside.coupling
            found[link] += 0.5 * (twist @ momentum + rates @ inside.modal @ rates)
        return found

    def _bent_links(self) -> list[tuple[int, BeamLinks, Float[Array, "width"]]]:
        """Return the links that bend, by number, with the inertia of their beams and the rates of their modes."""
        tree, here = self.tree.tree, self.here
        if not len(bent := tree.bending()):
            return []
        beams, (_, rates) = tree.beams(*here[:3]), tree.modal_state(here.q, here.v)
        return [(link, _beam_of_link(beams, at), rates[at]) for at, link in enumerate(bent)]

    def needed(self, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return what each link needs, force (N, inertial) and torque about its centre of mass (N m, its axes), where the
        velocities change at these `rates`."""
        tree, here, motion = self.tree.tree, self.here, self.here.motion
        biases, v = [], rates.trees[self.number]
        for moved, (turn, place), bias in zip(
            tree.spread(motion, v), zip(*motion.poses, strict=True), motion.bias, strict=True
        ):
            rate = jnp.concatenate([turn.T @ (moved[:3] + cross_product(moved[3:], place)), turn.T @ moved[3:]])
            biases.append(rate + bias)
        inertia = [Inertia.of(one) for one in tree.links.inertia]
        loads = [one.load(a, b) for one, a, b in zip(inertia, motion.twist, biases, strict=True)]
        if len(bent := tree.bending()):
            beams = tree.beams(here.q, here.v, motion._replace(bias=tuple(biases)))
            _, growing = tree.modal_state(here.q, v)
            for at, link in enumerate(bent):
                loads[link] = loads[link] + beams.load[at] + growing[at] @ beams.coupling[at]
        found = []
        for load, turn, centre in zip(loads, motion.rotation, self.tree.centres, strict=True):
            found.append((Vector.of(turn @ load[:3]), Vector.of(load[3:] - cross_product(centre, load[:3]))))
        return found

    def bending(self) -> list[Bending]:
        """Return what each link that bends has of momentum beside what it would have straight."""
        motion, found = self.here.motion, []
        for link, inside, rates in self._bent_links():
            body, centre, turn = self.tree.bodies[link], self.tree.centres[link], motion.rotation[link]
            twist = motion.twist[link]
            whole = Inertia.of(self.tree.tree.links.inertia[link]).plus(inside.inertia)
            momentum = whole.momentum(twist) + rates @ inside.coupling
            linear = momentum[:3] - body.mass * (twist[:3] + cross_product(twist[3:], centre))
            angular = momentum[3:] - cross_product(centre, momentum[:3]) - body.inertia @ twist[3:]
            place = motion.position[link] + turn @ centre
            parts = (place, turn @ linear, turn @ angular, turn @ (whole.first - body.mass * centre))
            found.append(Bending(*map(Vector.of, parts)))
        return found

    def reflected_energy(self) -> Scalar:
        """Return the kinetic energy (J) of what motors in its joints reflect: nothing."""
        return jnp.zeros(())


class TreeEquations(NamedTuple):
    """M v̇ + h = Q of a tree at an instant."""

    place: LinkedTree
    bias: Row  # h
    factor: Float[Array, "free free"]  # Cholesky's, of M
    free: np.ndarray  # columns of the velocities that nothing holds

    def acceleration(
        self, forces: Sequence[Vector], torques: Sequence[Vector], efforts: Sequence[Scalar]
    ) -> TreeAcceleration:
        """Return what forces (N, inertial) and torques about the centres of mass (N m, body axes) and the efforts of all joints
        do."""
        return self.moved(self.rates(forces, torques, efforts), with_bias=True)

    def rates(self, forces: Sequence[Vector], torques: Sequence[Vector], efforts: Sequence[Scalar]) -> Row:
        """Return the rates of the velocities under the same loads."""
        given = self.place.generalised(forces, torques) - self.bias
        columns = np.array(self.place.tree.columns(), int)
        if len(columns):
            given = given.at[columns].add(jnp.stack([efforts[number] for number in self.place.tree.numbers()]))
        return self.solve(given)

    def change(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> TreeAcceleration:
        """Return what loads (inertial, and about the centres of mass in body axes) add to rates, or impulses to velocities.

        Their numbers may be arrays, of one load after another.
        """
        return self.moved(self.solve(self.place.generalised(forces, torques)), with_bias=False)

    def reactions(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> list[tuple[Vector, Vector]]:
        """Return what passes through the joint of each link but the first, force and moment at the joint, the link's axes. The
        loads are those that the links' motion needs less those that are known."""
        motion = self.place.here.motion
        wrenches = self.place.tree.tree.carried(list(self.place.wrenches(forces, torques)), jnp.add)
        found = []
        for wrench, (turn, place) in list(zip(wrenches, zip(*motion.poses, strict=True), strict=True))[1:]:
            moment = wrench[3:] - cross_product(place, wrench[:3])
            found.append((Vector.of(turn.T @ wrench[:3]), Vector.of(turn.T @ moment)))
        return found

    def solve(self, given: Float[Array, "n *more"]) -> Float[Array, "n *more"]:
        """Return M⁻¹ of generalised forces, none of it in velocities that are held."""
        if not self.place.tree.locked:
            return jax.scipy.linalg.cho_solve((self.factor, False), given)
        if not len(self.free):
            return jnp.zeros_like(given)
        return (
            jnp.zeros_like(given).at[self.free].set(jax.scipy.linalg.cho_solve((self.factor, False), given[self.free]))
        )

    def moved(self, v: Float[Array, "n *more"], with_bias: bool) -> TreeAcceleration:
        """Return rates of the twists where the velocities change so, with what they do at constant velocities."""
        motion, bodies = self.place.here.motion, []
        attitude = Matrix.of(motion.rotation[0])
        moving = self.place.tree.tree.spread(motion, v)
        for moved, (turn, point) in zip(moving, self.place.centres(), strict=True):
            spin = Vector.of(moved[3:])
            velocity, rate = attitude @ (Vector.of(moved[:3]) + spin.cross(point)), turn.transposed_times(spin)
            bodies.append(Twist(velocity, rate))
        if with_bias:
            both = zip(bodies, self.place.coasting(), strict=True)
            bodies = [Twist(one.velocity + more.velocity, one.rate + more.rate) for one, more in both]
        return TreeAcceleration(v, bodies)


def _beam_of_link(beams: BeamLinks, at: int) -> BeamLinks:
    """Return the beam of one link."""
    inertia = Inertia(*(part[at] for part in beams.inertia))
    return BeamLinks(inertia, *(part[at] for part in beams[1:]))


def shift_configuration(q: Configuration, by: Vector) -> Configuration:
    """Return a configuration moved `by` so much (m)."""
    return replace(q, position=q.position + by.array())
