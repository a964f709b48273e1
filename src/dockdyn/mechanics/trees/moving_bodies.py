"""Bodies in space, each free or joined to others as a tree, with inertia reflected between any of them.

Units: SI: m, rad, N, N m.
Source: Newton and Euler; trees as in `jointed_bodies`, reflected inertia as in `mechanics.reflected`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.lines import Lines, Rows, forces_along, row_of, twist_of
from dockdyn.mechanics.reflected import Reflected, alone_answer, coupled_rates, reflected_lines
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist, mean_by_mass
from dockdyn.mechanics.trees.bodies import Bending, Bodies
from dockdyn.mechanics.trees.composite_bodies import Configuration, Row, normalise_quaternions
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.jointed_equations import Acceleration, Equations, JointedTree
from dockdyn.mechanics.trees.partial_motion import JointMotion, Motions, row_of_motions
from dockdyn.mechanics.trees.tree_bodies import (
    LinkedTree,
    LinkJoint,
    TreeAcceleration,
    TreeBodies,
    TreeEquations,
    TreePlace,
    shift_configuration,
)
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.programs import trace_once
from dockdyn.trees import Module, field


class Coordinates(NamedTuple):
    """Where bodies are: roots are free bodies and, of each tree, its common centre of mass with the attitude of its root."""

    roots: tuple[Pose, ...]
    joints: tuple[Scalar, ...]  # rad or m; behind those of joints, modal coordinates of flexible links
    trees: tuple[Configuration, ...] = ()  # of links with large beams
    modes: tuple[Row, ...] = ()  # of vibrations whose modes answer each by itself

    def shifted(self, by: Vector) -> Coordinates:
        """Return all moved `by` so much (m)."""
        trees = tuple(shift_configuration(tree, by) for tree in self.trees)
        return Coordinates(tuple(pose.shifted(by) for pose in self.roots), self.joints, trees, self.modes)

    def retracted(self) -> Coordinates:
        """Return these coordinates with quaternions of unit length."""
        poses = tuple(Pose(pose.position, pose.attitude.normalised()) for pose in self.roots)
        return Coordinates(poses, self.joints, tuple(map(normalise_quaternions, self.trees)), self.modes)

    def rate(self, v: Velocities) -> Coordinates:
        """Return the rate of these coordinates of bodies that move so, but for trees of links with large beams."""
        both = zip(self.roots, v.roots, strict=True)
        poses = tuple(Pose(one.velocity, pose.attitude.rate(one.rate)) for pose, one in both)
        return Coordinates(poses, v.joints, modes=v.modes)


class Velocities(NamedTuple):
    """How they move, or the rate of that."""

    roots: tuple[Twist, ...]
    joints: tuple[Scalar, ...]  # rad/s or m/s; behind those of joints, of modal coordinates
    trees: tuple[Row, ...] = ()  # of links with large beams
    modes: tuple[Row, ...] = ()  # of vibrations whose modes answer each by itself


class Placement(NamedTuple):
    """All bodies and joints at an instant."""

    bodies: tuple[Placed, ...]
    joints: Motions | tuple[JointMotion, ...]  # behind those of jointed bodies, of trees with large beams
    trees: tuple[TreePlace, ...] = ()

    def of(self, tree: JointedBodies | TreeBodies) -> tuple[Placed, ...]:
        """Return the bodies of a tree."""
        return tuple(self.bodies[number] for number in tree.members)


class LoadResponse(NamedTuple):
    """What loads do."""

    rates: Velocities
    bodies: tuple[Twist, ...]  # rates of all bodies' twists
    along: Float[Array, "lines"]  # N, forces of reflected inertia


class MovingBodies(Module):
    """Rigid bodies, some of them joined to trees; without trees all are roots.

    Behind them are frames without mass of flexible links, the mass of which moves as the body of the link.
    """

    bodies: tuple[RigidBody, ...]
    trees: tuple[JointedBodies | TreeBodies, ...] = ()
    frames: tuple[int, ...] = field(static=True, default=())  # the link of each frame, by number

    @property
    def linked(self) -> list[TreeBodies]:
        """The trees of links with large beams."""
        return [tree for tree in self.trees if isinstance(tree, TreeBodies)]

    @property
    def jointed(self) -> list[JointedBodies]:
        """The trees of bodies that move as their common centre of mass does, and their joints and modes."""
        return [tree for tree in self.trees if isinstance(tree, JointedBodies)]

    @property
    def planar(self) -> bool:
        """Whether all stay in the x–y plane, so that nothing answers loads out of it."""
        bases = [tree.tree.layout.base == "planar" for tree in self.linked]
        return len(bases) == len(self.trees) > 0 and all(bases) and not self._bodies_outside_trees()

    @property
    def directions(self) -> int:
        """Along how many directions they can move."""
        return 2 if self.planar else 3

    @property
    def attitudes(self) -> int:
        """How many quaternions are among their coordinates, but for those of trees with large beams."""
        return len(self.roots())

    def link(self, number: int) -> int:
        """Return the body itself, or the link of a frame, by number."""
        first = len(self.bodies) - len(self.frames)
        return number if number < first else self.frames[number - first]

    def frames_of(self, link: int) -> list[int]:
        """Return the numbers of the frames of a link."""
        first = len(self.bodies) - len(self.frames)
        return [number for number, own in enumerate(self.frames, start=first) if own == link]

    def roots(self) -> list[int]:
        """Return the numbers of the bodies that no joint holds, in the order of `Coordinates.roots`."""
        held = {number for tree in self.jointed for number in tree.members[1:]}
        held |= {number for tree in self.linked for number in tree.members}
        return [number for number in range(len(self.bodies)) if number not in held]

    def mass_at(self, number: int) -> Scalar:
        """Return the mass (kg) of a body or of the link of a frame; of what has none, that of its tree."""
        link = self.link(number)
        own, tree = self.bodies[link].mass, next((one for one in self.linked if link in one.members), None)
        return own if tree is None else jnp.where(own > 0, own, tree.mass())

    def held(self) -> list[tuple[int, Joint | LinkJoint]]:
        """Return the bodies that joints hold, by number, each with its joint.

        Of a flexible link it is its frame at rest; they are in the order of the links.
        """
        found: dict[int, Joint | LinkJoint] = {
            body: joint
            for tree in self.jointed
            for body, joint in zip(tree.members[1:], tree.joints, strict=True)
            if isinstance(joint, Joint)
        }
        for tree in self.linked:
            joints = zip(tree.members[1:], tree.joints(), strict=True)
            found |= {body: joint for body, joint in joints if self.link(body) == body}
        return sorted(found.items(), key=lambda item: self.link(item[0]))

    def begun(
        self,
        poses: Sequence[Pose],
        twists: Sequence[Twist],
        joints: Sequence[JointMotion],
        linked: Sequence[tuple[Configuration, Row]] = (),
    ) -> tuple[Coordinates, Velocities]:
        """Return the state in which the bodies are and move so; `linked` are the states of trees with large beams."""
        starts = {number: (poses[number], twists[number]) for number in self.roots()}
        for tree in self.jointed:
            starts[tree.members[0]] = tree.centred(*starts[tree.members[0]], joints)
        places, speeds = tuple(q for q, _ in linked), tuple(v for _, v in linked)
        loose = self.loose_numbers()
        single = [one for number, one in enumerate(joints) if not any(number in own for own in loose)]
        modes, rates = (tuple(row_of_motions(joints, own, part) for own in loose) for part in (0, 1))
        return (
            Coordinates(tuple(pose for pose, _ in starts.values()), tuple(q for q, _ in single), places, modes),
            Velocities(tuple(twist for _, twist in starts.values()), tuple(rate for _, rate in single), speeds, rates),
        )

    def loose_numbers(self) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of the coordinates of each vibration whose modes answer each by itself."""
        return tuple(one.numbers for tree in self.jointed for one in tree.loose())

    def motions(self, q: Coordinates, v: Velocities) -> Motions:
        """Return coordinates and rates by number, but for those of trees with large beams."""
        rows = tuple(zip(q.modes, v.modes, strict=True))
        return Motions(tuple(zip(q.joints, v.joints, strict=True)), rows, self.loose_numbers() if rows else ())

    def base_position(self, q: Coordinates, base: int) -> Vector:
        """Return where the body by number is (m, from the origin); in a tree, the tree's common centre of mass, and of one with
        large beams its base."""
        for tree, own in zip(self.linked, q.trees, strict=True):
            if base in tree.members:
                return Vector.of(own.position)
        return q.roots[self.roots().index(base)].position

    def held_with(self, number: int) -> tuple[int, ...]:
        """Return the numbers of all bodies that joints hold together with one, itself among them."""
        return next((tree.members for tree in self.trees if number in tree.members), (number,))

    def coordinate_rates(self, v: Velocities) -> list[Scalar]:
        """Return the rates of all coordinates by number: of joints and modes, those of trees with large beams last."""
        found = [rate for _, rate in self.motions(Coordinates((), v.joints, modes=v.modes), v)]
        for tree, own in zip(self.linked, v.trees, strict=True):
            found += [own[column] for column in tree.columns()]
        return found

    def carried_on(self, v: Velocities, number: int, more: Vector) -> Velocities:
        """Return the velocities with which a body, and all that joints hold together with it, goes on by so much more (m/s)."""
        place = self.roots().index(self.held_with(number)[0])
        root = v.roots[place]
        faster = Twist(root.velocity + more, root.rate)
        return v._replace(roots=(*v.roots[:place], faster, *v.roots[place + 1 :]))

    def rate(self, q: Coordinates, v: Velocities) -> Coordinates:
        """Return the rate of the coordinates of bodies that move so."""
        each = zip(self.linked, q.trees, v.trees, strict=True)
        return q.rate(v)._replace(trees=tuple(one.tree.rate(a, b) for one, a, b in each))

    @trace_once
    def placed(self, q: Coordinates, v: Velocities) -> Placement:
        """Return all bodies where `q` and `v` put them; it is linear in `v`."""
        joints = self.motions(q, v)
        trees = {tree.members[0]: tree for tree in self.jointed}
        found: dict[int, Placed] = {}
        for number, pose, twist in zip(self.roots(), q.roots, v.roots, strict=True):
            if number in trees:
                found |= dict(zip(trees[number].members, trees[number].placed(pose, twist, joints), strict=True))
            else:
                found[number] = Placed.of(pose, twist)
        linked = []
        for one, own, rates in zip(self.linked, q.trees, v.trees, strict=True):
            links, place = one.placed(own, rates)
            found |= dict(zip(one.members, links, strict=True))
            joints = joints.followed_by(one.motions(own, rates))
            linked.append(place)
        return Placement(tuple(found[number] for number in range(len(self.bodies))), joints, tuple(linked))

    def respond(
        self,
        here: Placement,
        forces: Sequence[Vector],
        torques: Sequence[Vector],
        efforts: Sequence[Scalar],
        reflected: Sequence[tuple[int, int, Reflected]],
        connected: Lines | None = None,
    ) -> LoadResponse:
        """Return what loads do: forces (N, inertial) on all bodies, torques about their centres of mass (N m, their axes), and
        the efforts of joints (N m or N), together with the inertia that is reflected between two bodies and with
        connections."""
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
        """Return the same; `between` are the numbers of the bodies between which each inertia is reflected."""
        reflected = [(*numbers, one) for numbers, one in zip(between, inertia, strict=True)]
        several = [one for one in (reflected_lines(len(self.bodies), reflected), connected) if one is not None]
        lines = Lines.joined(several) if several else None
        if self.linked and len(self.linked) == len(self.trees) and not self._bodies_outside_trees():
            return self._linked_response(here, forces, torques, efforts, lines)
        moving = {
            number: self.bodies[number].acceleration(here.bodies[number].twist, forces[number], torques[number])
            for number in self._bodies_outside_trees()
        }
        equations = self._tree_equations(here)

        def accelerated(forces: Sequence[Vector], torques: Sequence[Vector]) -> list[Acceleration | TreeAcceleration]:
            found: list[Acceleration | TreeAcceleration] = []
            for tree, one in zip(self.trees, equations, strict=True):
                loads = _parts_of_bodies(tree, forces), _parts_of_bodies(tree, torques)
                found.append(one.acceleration(*loads, efforts))
            return found

        moved = accelerated(forces, torques)
        for tree, own in zip(self.trees, moved, strict=True):
            for number, rate in zip(tree.members, own.bodies, strict=True):
                moving[number] = rate
        free = tuple(moving[number] for number in range(len(self.bodies)))
        bodies, along = coupled_rates(free, lambda rows: self._answer(equations, rows), lines)
        if lines is not None and self.trees:
            pushed = jnp.einsum("k,kbi->bi", along, lines.acting)
            moved = accelerated(
                [force + Vector.of(row[:3]) for force, row in zip(forces, pushed, strict=True)],
                [torque + Vector.of(row[3:]) for torque, row in zip(torques, pushed, strict=True)],
            )
        return LoadResponse(self._rates(bodies, moved), bodies, along)

    def _linked_response(
        self,
        here: Placement,
        forces: Sequence[Vector],
        torques: Sequence[Vector],
        efforts: Sequence[Scalar],
        lines: Lines | None,
    ) -> LoadResponse:
        """Return what the same loads do to trees with large beams alone: lines are solved by velocity, which is quicker."""
        equations = [one.equations() for one in self._linked_in_place(here)]
        rates = []
        for tree, one in zip(self.linked, equations, strict=True):
            rates.append(one.rates(_parts_of_bodies(tree, forces), _parts_of_bodies(tree, torques), efforts))
        along = jnp.zeros(0)
        if lines is not None:
            counts = np.cumsum([one.shape[0] for one in rates])[:-1]
            rows = self.by_velocity(here, lines.rows)
            pushes = rows if lines.pushes is None else self.by_velocity(here, lines.pushes)
            parts = zip(equations, jnp.split(pushes, counts, axis=1), strict=True)
            answers = [one.solve(part.T) for one, part in parts]
            slip = rows @ jnp.concatenate(rates) + self.drift_by_velocity(here, lines)
            along = forces_along(lines, rows @ jnp.concatenate(answers), slip)
            rates = [rate + answer @ along for rate, answer in zip(rates, answers, strict=True)]
        moved = [one.moved(rate, with_bias=True) for one, rate in zip(equations, rates, strict=True)]
        found: dict[int, Twist] = {}
        for tree, own in zip(self.linked, moved, strict=True):
            found |= dict(zip(tree.members, own.bodies, strict=True))
        bodies = tuple(found[number] for number in range(len(self.bodies)))
        return LoadResponse(Velocities((), (), tuple(rates)), bodies, along)

    def answer(self, here: Placement, rows: Rows) -> Rows:
        """Return M⁻¹ of loads on the bodies (N, inertial; N m, body axes), line by line: rates of their twists."""
        return self.mobility(here).answer(rows)

    def change(self, here: Placement, load: Float[Array, "bodies 6"]) -> Velocities:
        """Return what impulses (N s, inertial; N m s, body axes) on the bodies change of the velocities at once."""
        return self.mobility(here).change(load)

    def mobility(self, here: Placement) -> Mobility:
        """Return M⁻¹ where the bodies are, to be asked several times."""
        return Mobility(self, self._tree_equations(here))

    def _change(self, equations: Sequence[Equations | TreeEquations], load: Float[Array, "bodies 6"]) -> Velocities:
        forces, torques = ([Vector.of(row[part]) for row in load] for part in (slice(3), slice(3, 6)))
        moved = [
            one.change(_parts_of_bodies(tree, forces), _parts_of_bodies(tree, torques))
            for tree, one in zip(self.trees, equations, strict=True)
        ]
        alone = {
            number: twist_of(alone_answer(self.bodies[number], load[None, number])[0])
            for number in self._bodies_outside_trees()
        }
        still = Twist(Vector.zero(), Vector.zero())
        return self._rates(tuple(alone.get(number, still) for number in range(len(self.bodies))), moved)

    def by_velocity(self, here: Placement, rows: Rows) -> Float[Array, "lines n"]:
        """Return rows of the bodies' twists as rows of the velocities of trees with large beams, one tree after another."""
        found = []
        for one in self._linked_in_place(here):
            loads = [rows[:, number].T for number in one.members]
            parts = [[Vector.of(load[part]) for load in loads] for part in (slice(3), slice(3, 6))]
            found.append(one.generalised(*parts))
        return jnp.concatenate(found).T

    def drift_by_velocity(self, here: Placement, lines: Lines) -> Float[Array, "lines"]:
        """Return the drift of lines where the velocities of trees with large beams stay, in place of the bodies' twists."""
        drift = lines.drift
        for one in self._linked_in_place(here):
            rates = jnp.stack([row_of(rate.velocity, rate.rate) for rate in one.coasting()])
            drift = drift + jnp.einsum("kbi,bi->k", lines.rows[:, np.array(one.members)], rates)
        return drift

    def _linked_in_place(self, here: Placement) -> list[LinkedTree]:
        return [one for one in self._in_place(here) if isinstance(one, LinkedTree)]

    def _bodies_outside_trees(self) -> list[int]:
        """Return the numbers of the bodies that are in no tree."""
        joined = {number for tree in self.trees for number in tree.members}
        return [number for number in range(len(self.bodies)) if number not in joined]

    def in_place(self, here: Placement) -> Sequence[Bodies]:
        """Return the trees where they are and as they move."""
        return self._in_place(here)

    def _in_place(self, here: Placement) -> list[JointedTree | LinkedTree]:
        places, found = iter(enumerate(here.trees)), list[JointedTree | LinkedTree]()
        for tree in self.trees:
            if isinstance(tree, JointedBodies):
                found.append(JointedTree(tree, here.of(tree), here.joints))
            else:
                number, place = next(places)
                found.append(LinkedTree(tree, place, number))
        return found

    def _tree_equations(self, here: Placement) -> list[Equations | TreeEquations]:
        """Return the equations of motion of the trees."""
        return [one.equations() for one in self._in_place(here)]

    def _answer(self, equations: Sequence[Equations | TreeEquations], rows: Rows) -> Rows:
        found = {number: alone_answer(self.bodies[number], rows[:, number]) for number in self._bodies_outside_trees()}
        for tree, one in zip(self.trees, equations, strict=True):
            loads = [rows[:, number].T for number in tree.members]
            rates = one.change([Vector.of(load[:3]) for load in loads], [Vector.of(load[3:]) for load in loads])
            for number, rate in zip(tree.members, rates.bodies, strict=True):
                found[number] = row_of(rate.velocity, rate.rate).T
        return jnp.stack([found[number] for number in range(len(self.bodies))], axis=1)

    def _rates(self, bodies: tuple[Twist, ...], moved: Sequence[Acceleration | TreeAcceleration]) -> Velocities:
        """Return rates of the velocities, of trees as they have `moved`."""
        roots = {number: bodies[number] for number in self.roots()}
        joints: dict[int, Scalar] = {}
        modes: list[Row] = []
        for tree, own in zip(self.trees, moved, strict=True):
            if isinstance(own, Acceleration):
                roots[tree.members[0]] = own.root
                joints |= own.joints
                modes += own.loose
        linked = tuple(own.v for own in moved if isinstance(own, TreeAcceleration))
        single = tuple(joints[number] for number in sorted(joints))
        return Velocities(tuple(roots.values()), single, linked, tuple(modes))

    def kinetic_energies(self, here: Placement) -> list[Scalar]:
        """Return the kinetic energies (J) of all bodies, of flexible links with that of their vibration."""
        found = [body.kinetic_energy(one.twist) for body, one in zip(self.bodies, here.bodies, strict=True)]
        for tree in self.in_place(here):
            for number, energy in zip(tree.members, tree.kinetic_energies(), strict=True):
                found[number] = energy
        return found

    def needed(self, here: Placement, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return the force (N, inertial) and torque about the centre of mass (N m, body axes) that the motion of each body
        needs.

        `rates` are those of the velocities, and `twists` those of all bodies' twists.
        """
        found = [body.needed(one.twist, rate) for body, one, rate in zip(self.bodies, here.bodies, twists, strict=True)]
        for tree in self.in_place(here):
            for number, load in zip(tree.members, tree.needed(rates, twists), strict=True):
                found[number] = load
        return found

    def centre(self, here: Placement) -> Vector:
        """Return the common centre of mass (m); links with large beams have theirs elsewhere than they would unbent."""
        straight = mean_by_mass(self.bodies, [body.pose.position for body in here.bodies])
        if not self.linked:
            return straight
        return straight + self._shift_of_centre([one for tree in self.in_place(here) for one in tree.bending()])

    def _shift_of_centre(self, parts: Sequence[Bending]) -> Vector:
        """Return by how much (m) the common centre is away from where it would be unbent."""
        return sum((one.moved for one in parts), Vector.zero()) * (1 / sum(body.mass for body in self.bodies))

    def momentum_of_bending(self, here: Placement) -> tuple[Vector, Vector]:
        """Return the linear momentum (N s) and the angular one about the common centre of mass (N m s), inertial, that flexible
        links have beside what they would have unbent."""
        linear, angular = Vector.zero(), Vector.zero()
        parts = [one for tree in self.in_place(here) for one in tree.bending()]
        if not self.linked:  # the links' mean axes keep their centres of mass
            return linear, sum((one.angular for one in parts), angular)
        centre = mean_by_mass(self.bodies, [body.pose.position for body in here.bodies])
        for one in parts:
            linear = linear + one.linear
            angular = angular + one.angular + (one.place - centre).cross(one.linear)
        straight = [body.linear_momentum(one.twist) for body, one in zip(self.bodies, here.bodies, strict=True)]
        return linear, angular - self._shift_of_centre(parts).cross(sum(straight, linear))

    def reflected_energy(self, here: Placement) -> Scalar:
        """Return the kinetic energy (J) of what motors in joints reflect."""
        return sum((tree.reflected_energy() for tree in self.in_place(here)), jnp.zeros(()))

    def reactions(
        self, here: Placement, forces: Sequence[Vector], torques: Sequence[Vector]
    ) -> dict[int, tuple[Vector, Vector]]:
        """Return what passes through the joint of each body that one holds, by the body's number: force and moment at the
        joint, the body's axes. The loads on all bodies are those that their motion needs less those that are known."""
        found: dict[int, tuple[Vector, Vector]] = {}
        for tree in self.in_place(here):
            own = [[parts[number] for number in tree.members] for parts in (forces, torques)]
            found |= dict(zip(tree.members[1:], tree.equations().reactions(*own), strict=True))
        return found


class Mobility(NamedTuple):
    """M⁻¹ of bodies at an instant."""

    moving: MovingBodies
    equations: Sequence[Equations | TreeEquations]

    def answer(self, rows: Rows) -> Rows:
        """Return rates of the bodies' twists under loads on them (N, inertial; N m, body axes), line by line."""
        return self.moving._answer(self.equations, rows)

    def change(self, load: Float[Array, "bodies 6"]) -> Velocities:
        """Return what impulses (N s, inertial; N m s, body axes) on the bodies change of the velocities at once."""
        return self.moving._change(self.equations, load)


def _parts_of_bodies[Part](tree: JointedBodies | TreeBodies, parts: Sequence[Part]) -> list[Part]:
    """Return those of the bodies of a tree."""
    return [parts[number] for number in tree.members]
