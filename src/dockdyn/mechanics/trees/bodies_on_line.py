"""Bodies that move along one line, the x axis, and do not turn: one coordinate each, and no matrix to solve.

What bodies are and how joints hold them is said as in space; joints are slides along the line. What pushes across the line
moves nothing.

Units: SI: m, m/s, N.
Source: Newton, one coordinate a body; the rest as in `moving_bodies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.lines import Lines, Rows
from dockdyn.mechanics.reflected import Reflected, coupled_rates, reflected_lines
from dockdyn.mechanics.rigid_body import Placed, Pose, RigidBody, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.bodies_in_plane import BodiesInPlane
from dockdyn.mechanics.trees.composite_bodies import Configuration, Row
from dockdyn.mechanics.trees.jointed_bodies import Joint, JointedBodies
from dockdyn.mechanics.trees.moving_bodies import Coordinates, LoadResponse, MovingBodies, Placement, Velocities
from dockdyn.mechanics.trees.partial_motion import JointMotion
from dockdyn.mechanics.trees.tree_bodies import LinkJoint
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, unit_vectors
from dockdyn.programs import trace_once
from dockdyn.trees import Module


class BodiesOnLine(Module):
    """Bodies on the x axis. Their coordinates are those of the slides, then the places of the bodies that no slide holds."""

    bodies: tuple[RigidBody, ...]
    trees: tuple[JointedBodies, ...] = ()

    attitudes = 0  # quaternions among their coordinates

    @property
    def in_space(self) -> MovingBodies:
        """Return these bodies where nothing keeps them on the line: what is known of placed bodies is the same there."""
        return MovingBodies(self.bodies, self.trees)

    def link(self, number: int) -> int:
        """Return the number of a body itself: none of these bends."""
        return number

    def frames_of(self, link: int) -> list[int]:
        """Return nothing: no link has frames."""
        return []

    def roots(self) -> list[int]:
        """Return the numbers of the bodies that no slide holds."""
        return self.in_space.roots()

    @property
    def directions(self) -> int:
        """Along how many directions they can move: one."""
        return 1

    def mass_at(self, number: int) -> Scalar:
        """Return the mass (kg) of a body."""
        return self.bodies[number].mass

    def held(self) -> list[tuple[int, Joint | LinkJoint]]:
        """Return the bodies that slides hold, by number, each with its joint."""
        return self.in_space.held()

    def _list_slides(self) -> list[tuple[int, int, Joint]]:
        """Return the slides: the numbers of the body that each holds and of its carrier, a carrier before what it carries."""
        return [
            (tree.members[place], tree.members[joint.carrier], joint)
            for tree in self.trees
            for place, joint in enumerate(tree.joints, start=1)
            if isinstance(joint, Joint)
        ]

    def begun(
        self,
        poses: Sequence[Pose],
        twists: Sequence[Twist],
        joints: Sequence[JointMotion],
        linked: Sequence[tuple[Configuration, Row]] = (),
    ) -> tuple[Coordinates, Velocities]:
        """Return the state in which the bodies are and move so; there are no trees with large beams."""
        places = [(poses[number].position.x, twists[number].velocity.x) for number in self.roots()]
        both = [*joints, *places]
        return Coordinates((), tuple(q for q, _ in both)), Velocities((), tuple(rate for _, rate in both))

    def base_position(self, q: Coordinates, base: int) -> Vector:
        """Return where places are counted from (m): the origin, as no body goes far."""
        return Vector.zero()

    def held_with(self, number: int) -> tuple[int, ...]:
        """Return the numbers of all bodies that slides hold together with one, itself among them."""
        return self.in_space.held_with(number)

    def carried_on(self, v: Velocities, number: int, more: Vector) -> Velocities:
        """Return the velocities with which a body, and all that slides hold together with it, goes on by so much more (m/s)."""
        roots = self.roots()
        place = len(v.joints) - len(roots) + roots.index(self.held_with(number)[0])
        return v._replace(joints=(*v.joints[:place], v.joints[place] + more.x, *v.joints[place + 1 :]))

    def rate(self, q: Coordinates, v: Velocities) -> Coordinates:
        """Return the rate of the coordinates of bodies that move so."""
        return q.rate(v)

    @trace_once
    def placed(self, q: Coordinates, v: Velocities) -> Placement:
        """Return all bodies where `q` and `v` put them."""
        joints, roots = tuple(zip(q.joints, v.joints, strict=True)), self.roots()
        along = dict(zip(roots, joints[len(joints) - len(roots) :], strict=True))
        for body, carrier, joint in self._list_slides():
            (place, speed), way = along[carrier], joint.mount.x + joint.arm.x
            if joint.number is not None:
                coordinate, rate = joint.motion(joints)
                way, speed = way + joint.axis.x * coordinate, speed + joint.axis.x * rate
            along[body] = (place + way, speed)
        return Placement(tuple(placed_on_line(*along[number]) for number in range(len(self.bodies))), joints)

    def respond(
        self,
        here: Placement,
        forces: Sequence[Vector],
        torques: Sequence[Vector],
        efforts: Sequence[Scalar],
        reflected: Sequence[tuple[int, int, Reflected]],
        connected: Lines | None = None,
    ) -> LoadResponse:
        """Return what loads do, as `MovingBodies.respond`; torques do nothing."""
        between = tuple((first, other) for first, other, _ in reflected)
        inertia = tuple(one for _, _, one in reflected)
        return self._respond(tuple(forces), tuple(efforts), inertia, connected, between=between)

    @partial(trace_once, static=("between",))
    def _respond(
        self,
        forces: tuple[Vector, ...],
        efforts: tuple[Scalar, ...],
        inertia: tuple[Reflected, ...],
        connected: Lines | None,
        between: tuple[tuple[int, int], ...],
    ) -> LoadResponse:
        along = [force.x for force in forces]
        for body, carrier, joint in self._list_slides():
            if joint.number is not None and joint.led is None:
                effort = joint.axis.x * efforts[joint.number]
                along[body], along[carrier] = along[body] + effort, along[carrier] - effort
        reflected = [(*numbers, one) for numbers, one in zip(between, inertia, strict=True)]
        several = [one for one in (reflected_lines(len(self.bodies), reflected), connected) if one is not None]
        free = tuple(map(_rate_along_line, self._accelerate_bodies(along)))
        bodies, pushed = coupled_rates(free, self._answer, Lines.joined(several) if several else None)
        return LoadResponse(self._rates([one.velocity.x for one in bodies]), bodies, pushed)

    def mobility(self, here: Placement) -> LineMobility:
        """Return M⁻¹, which is the same wherever they are."""
        return LineMobility(self)

    def answer(self, here: Placement, rows: Rows) -> Rows:
        """Return M⁻¹ of loads on the bodies, line by line: rates of their twists, none but along the line."""
        return self._answer(rows)

    def _answer(self, rows: Rows) -> Rows:
        moved = self._accelerate_bodies([rows[:, number, 0] for number in range(len(self.bodies))])
        return jnp.zeros_like(rows).at[:, :, 0].set(jnp.stack(moved, axis=1))

    def _accelerate_bodies(self, forces: Sequence[Float[Array, "*lines"]]) -> list[Float[Array, "*lines"]]:
        """Return how forces (N) on the bodies change their speeds (m/s²): what welds hold together moves as one."""
        welded = self._group_welded()
        pushed = {
            root: sum((forces[n] for n in members[1:]), forces[root]) / self._mass_of(members)
            for root, members in welded.items()
        }
        return [pushed[next(root for root, members in welded.items() if n in members)] for n in range(len(forces))]

    def _group_welded(self) -> dict[int, list[int]]:
        """Return what moves as one, by number: a body that no weld holds with all that welds hold on it, itself first."""
        found = {number: [number] for number in range(len(self.bodies))}
        carried = {body: carrier for body, carrier, joint in self._list_slides() if joint.number is None}
        for number in carried:
            root = number
            while root in carried:
                root = carried[root]
            found[root].append(number)
        return {root: members for root, members in found.items() if root not in carried}

    def _mass_of(self, members: Sequence[int]) -> Scalar:
        """Return the mass (kg) of bodies together."""
        return sum((self.bodies[number].mass for number in members[1:]), self.bodies[members[0]].mass)

    def _rates(self, bodies: Sequence[Scalar]) -> Velocities:
        """Return the rates of the velocities, of bodies whose own change so."""
        slides = {
            joint.number: joint.axis.x * (bodies[body] - bodies[carrier])
            for body, carrier, joint in self._list_slides()
            if joint.number is not None and joint.led is None
        }
        return Velocities((), (*(slides[number] for number in sorted(slides)), *(bodies[n] for n in self.roots())))

    def kinetic_energies(self, here: Placement) -> list[Scalar]:
        """Return the kinetic energies (J) of all bodies."""
        return [0.5 * body.mass * one.twist.velocity.x**2 for body, one in zip(self.bodies, here.bodies, strict=True)]

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
        """Return zero: motors of slides on a line reflect nothing."""
        return jnp.zeros(())

    def reactions(
        self, here: Placement, forces: Sequence[Vector], torques: Sequence[Vector]
    ) -> dict[int, tuple[Vector, Vector]]:
        """Return what passes through the slide of each body that one holds, as `MovingBodies.reactions`."""
        return self.in_space.reactions(here, forces, torques)


class LineMobility(NamedTuple):
    """M⁻¹ of bodies on a line."""

    bodies: BodiesOnLine

    def answer(self, rows: Rows) -> Rows:
        """Return rates of the bodies' twists under loads on them, line by line."""
        return self.bodies._answer(rows)

    def change(self, load: Float[Array, "bodies 6"]) -> Velocities:
        """Return what impulses (N s, inertial) on the bodies change of the velocities at once."""
        return self.bodies._rates(self.bodies._accelerate_bodies([own[0] for own in load]))


Moving = MovingBodies | BodiesInPlane | BodiesOnLine  # bodies as they may move


def placed_on_line(place: Scalar, speed: Scalar) -> Placed:
    """Return a body at a place (m) of the line with a speed (m/s)."""
    zero = jnp.zeros(())
    twist = Twist(Vector(speed, zero, zero), Vector.zero())
    return Placed(Pose(Vector(place, zero, zero), Quaternion.level()), twist, Matrix(*unit_vectors()), Vector.zero())


def _rate_along_line(rate: Scalar) -> Twist:
    """Return the rate of a twist along the line (m/s²)."""
    zero = jnp.zeros(())
    return Twist(Vector(rate, zero, zero), Vector.zero())
