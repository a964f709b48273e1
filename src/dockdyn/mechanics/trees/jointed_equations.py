"""Equations of motion of rigid bodies joined to a tree, about their common centre of mass, in inertial axes.

Unknown are the acceleration of the common centre, that of the root's turning and those of joints and modes. The common centre
is accelerated by the sum of all forces. About it H u̇ = Q: H comes from the composite inertia of what each joint carries, and Q
from the loads on that less what the bodies need where joints and root keep their rates.

Units: SI: kg, m, N, N m; joints rad or m, N m or N.
Source: composite bodies, Featherstone 2008, Rigid Body Dynamics Algorithms, section 6.2, about the common centre: the momentum
that a joint's rate would give the centre, P, is taken away by P Pᵀ / m. Modes that move nothing of weight are no part of H.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.dense import Factors, factor_matrix, solve_factored
from dockdyn.mechanics.rigid_body import Placed, RigidBody, Twist
from dockdyn.mechanics.trees.bent_inertia import Bent
from dockdyn.mechanics.trees.bodies import Bending
from dockdyn.mechanics.trees.jointed_bodies import JointedBodies
from dockdyn.mechanics.trees.modal_frame import BentFrame, ModalFrame
from dockdyn.mechanics.trees.partial_motion import (
    JointMotion,
    Load,
    Motions,
    Rates,
    Row,
    Screw,
    product_of_each,
    times_rates,
)
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once, unit_vectors

if TYPE_CHECKING:
    from dockdyn.mechanics.trees.moving_bodies import Velocities

SPIN = 3  # unknowns of the root's turning, which come first

type Numbers = tuple[int, ...]  # of a joint's coordinate, or of those of a link's modes, which answer in rows
type ByBody[Part] = dict[int, Part]  # of what a coordinate moves: a body, or the frames of a flexible link


class JointedTree(NamedTuple):
    """A tree at an instant, for whoever asks it as a tree of bodies."""

    tree: JointedBodies
    placed: tuple[Placed, ...]
    motions: Motions | Sequence[JointMotion]  # of the joints of all trees

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of its bodies."""
        return self.tree.members

    def equations(self) -> Equations:
        """Return its equations of motion."""
        return Equations.of(self.tree, self.placed, self.motions)

    def kinetic_energies(self) -> list[Scalar]:
        """Return the kinetic energies (J) of its bodies."""
        return self.tree.kinetic_energies(self.placed, self.motions)

    def needed(self, rates: Velocities, twists: Sequence[Twist]) -> list[tuple[Vector, Vector]]:
        """Return the force (N, inertial) and torque (N m, body axes) that the motion of each body needs."""
        own, bent = [twists[number] for number in self.members], self.tree.bent(self.placed, self.motions)
        rows = self.motions.numbers if isinstance(self.motions, Motions) else ()
        outside = (number for number in range(len(self.motions)) if not any(number in own for own in rows))
        # behind them are the coordinates of trees with large beams, which have velocities of their own
        joints = dict(zip(outside, rates.joints, strict=False))
        return self.tree.needed(self.placed, bent, own, joints)

    def bending(self) -> list[Bending]:
        """Return what links that bend have beside what they would have unbent: their mean axes keep their centre of mass."""
        found = []
        for body, bent in self.tree.bent(self.placed, self.motions).items():
            more, one = bent.body.inertia - self.tree.bodies[body].inertia, self.placed[body]
            angular = one.rotation @ (Matrix.of(more) @ one.twist.rate + bent.spin)
            found.append(Bending(one.pose.position, Vector.zero(), angular, Vector.zero()))
        return found

    def reflected_energy(self) -> Scalar:
        """Return the kinetic energy (J) of what motors in its joints reflect."""
        return self.tree.reflected_energy(self.motions)


class CompositeInertia(NamedTuple):
    """That of one body or of several, about the common centre of mass."""

    mass: Scalar
    first: Vector  # kg m
    tensor: Matrix  # kg m²

    @staticmethod
    def of(body: RigidBody, placed: Placed, place: Vector) -> CompositeInertia:
        """Return those of a body whose centre of mass is at `place` (m)."""
        turn, inertia = placed.rotation, Matrix.of(body.inertia)
        rows = [inertia @ row for row in (turn.x, turn.y, turn.z)]  # I Rᵀ, by columns
        squared, first = place.dot(place), place * body.mass
        sides = zip((turn.x, turn.y, turn.z), (first.x, first.y, first.z), unit_vectors(), strict=True)
        found = [
            Vector(*(side.dot(row) for row in rows)) + (unit * squared * body.mass - place * along)
            for side, along, unit in sides
        ]
        return CompositeInertia(body.mass, first, Matrix(*found))

    @staticmethod
    def none() -> CompositeInertia:
        """Return that of a frame without mass."""
        return CompositeInertia(jnp.zeros(()), Vector.zero(), Matrix(Vector.zero(), Vector.zero(), Vector.zero()))

    def plus(self, other: CompositeInertia) -> CompositeInertia:
        rows = [getattr(self.tensor, row) + getattr(other.tensor, row) for row in "xyz"]
        return CompositeInertia(self.mass + other.mass, self.first + other.first, Matrix(*rows))

    def momentum(self, screw: Screw) -> Load:
        """Return momenta that a screw gives it."""
        linear = screw.velocity * self.mass + screw.spin.cross(self.first)
        return Load(linear, self.tensor @ screw.spin + self.first.cross(screw.velocity))


class Equations(NamedTuple):
    """H u̇ = Q of a tree at an instant."""

    tree: JointedBodies
    placed: tuple[Placed, ...]
    places: list[Vector]  # of the bodies from the common centre of mass, m
    drift: list[Rates]  # of the bodies about the common centre, where u stays
    screws: dict[Numbers, ByBody[Screw]]  # of coordinates, without those of loose modes
    frames: ByBody[BentFrame]  # that loose modes move
    momenta: dict[Numbers, Load]  # that a rate of one gives all that the coordinate moves
    bent: dict[int, Bent]  # of links, by their places in the tree
    factors: Factors

    @staticmethod
    def of(tree: JointedBodies, placed: tuple[Placed, ...], motions: Motions | Sequence[JointMotion]) -> Equations:
        """Return those of a tree whose bodies are `placed`; `motions` are those of the joints of all trees."""
        middle, _ = tree.middle(placed)
        places = once([one.pose.position - middle for one in placed])
        bent = once(tree.bent(placed, motions))
        bodies = [bent[number].body if number in bent else body for number, body in enumerate(tree.bodies)]
        massless = tree.massless()
        inertia = [
            CompositeInertia.none() if number in massless else CompositeInertia.of(*one)
            for number, one in enumerate(zip(bodies, placed, places, strict=True))
        ]
        inertia = _composite_sums(tree, inertia)
        loose = {one.numbers for one in tree.loose()}
        screws: dict[Numbers, ByBody[Screw]] = {numbers: {} for numbers in tree.numbers() if numbers not in loose}
        frames: ByBody[BentFrame] = {}
        for body, joint in enumerate(tree.joints, start=1):
            there = placed[joint.carrier], placed[body], places[body], motions
            if isinstance(joint, ModalFrame) and joint.numbers in loose:
                frames[body] = once(joint.bent(*there))
            elif joint.numbers:
                screws[joint.numbers][body] = joint.screw(*there)
        given = {
            numbers: {body: inertia[body].momentum(screw) for body, screw in own.items() if tree.weighs(body)}
            for numbers, own in screws.items()
        }
        own = _momenta_of_bending(tree, bent, placed)
        for numbers, (body, load) in own.items():
            given[numbers][body] = given[numbers][body].plus(load)
        momenta = {numbers: reduce(Load.plus, own.values()) for numbers, own in given.items()}
        factors = factor_matrix(_mass_matrix(tree, inertia[0].tensor, screws, given, momenta, own))
        drift = _bias_accelerations(tree, placed, motions)
        return Equations(tree, placed, places, drift, screws, frames, once(momenta), bent, factors)

    def acceleration(
        self, forces: Sequence[Vector], torques: Sequence[Vector], efforts: Sequence[Scalar]
    ) -> Acceleration:
        """Return the accelerations under forces (N, inertial) and torques about the centres of mass (N m, body axes), and the
        efforts of all joints."""
        drift = [rates.twist(one) for rates, one in zip(self.drift, self.placed, strict=True)]
        needed = self.tree.needed(self.placed, self.bent, drift)
        bending = self._bending_efforts(drift)
        spare = [(force - f, torque - t) for force, torque, (f, t) in zip(forces, torques, needed, strict=True)]
        loads = self._gather_loads(*zip(*spare, strict=True))
        own = {
            numbers: (efforts_of(efforts, numbers) if self._in_rows(numbers) else efforts[numbers[0]])
            - bending.get(numbers, 0.0)
            for numbers in self.screws
        }
        u = self._solve_rates(loads, own, [efforts_of(efforts, one.numbers) for one in self.tree.loose()])
        bodies = [a.plus(b) for a, b in zip(self._spread_to_bodies(loads[0].force, u), self.drift, strict=True)]
        found = [rates.twist(one) for rates, one in zip(bodies, self.placed, strict=True)]
        return self._accelerate_all(loads[0].force, u, found)

    def _bending_efforts(self, rates: Sequence[Twist]) -> dict[Numbers, Row]:
        """Return efforts that modes need for what bending does to the inertia of their links, whose twists change at these
        rates."""
        return {
            one.numbers: self.bent[one.body].efforts + self.bent[one.body].by_mode.dot(rates[one.body].rate)
            for one in self.tree.vibrations
            if one.body in self.bent
        }

    def _in_rows(self, numbers: Numbers) -> bool:
        """Return whether these are the numbers of modes."""
        return self.momenta[numbers].force.x.ndim > 0

    def change(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> Acceleration:
        """Return what loads (inertial, and about the centres of mass in body axes) add to rates, or impulses to velocities.

        Their numbers may be arrays, of one load after another.
        """
        loads = self._gather_loads(forces, torques)
        none = [jnp.zeros(()) for _ in self.tree.loose()]
        u = self._solve_rates(loads, dict.fromkeys(self.screws, jnp.zeros(())), none)
        bodies = [
            one.twist(placed)
            for one, placed in zip(self._spread_to_bodies(loads[0].force, u), self.placed, strict=True)
        ]
        return self._accelerate_all(loads[0].force, u, bodies)

    def reactions(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> list[tuple[Vector, Vector]]:
        """Return what passes through the joint of each body but the root, force and moment at the joint, the body's axes. The
        loads are those that the bodies' motion needs less those that are known."""
        found = []
        loads = self._gather_loads(forces, torques)[1:]
        for joint, one, place, load in zip(self.tree.joints, self.placed[1:], self.places[1:], loads, strict=True):
            moment = load.moment - (place - one.rotation @ joint.arm).cross(load.force)
            found.append((one.rotation.transposed_times(load.force), one.rotation.transposed_times(moment)))
        return found

    def _gather_loads(self, forces: Sequence[Vector], torques: Sequence[Vector]) -> list[Load]:
        """Return loads on each body and on all that it carries."""
        loads = []
        for force, torque, one, place in zip(forces, torques, self.placed, self.places, strict=True):
            loads.append(Load(force, one.rotation @ torque + place.cross(force)))
        return _composite_sums(self.tree, loads)

    def _solve_rates(
        self, loads: Sequence[Load], efforts: dict[Numbers, Scalar | Row], loose: Sequence[Row | Scalar]
    ) -> TreeRates:
        """Return the rates of the root's angular velocity (inertial) and of those of the coordinates, by the efforts of those
        with screws and of `loose` vibrations."""
        whole, turning = self._centre(loads[0].force), loads[0].moment
        right = [jnp.stack(_vector_numbers(turning))]
        for numbers, screws in self.screws.items():
            powers = [screw.power(loads[body]) for body, screw in screws.items()]
            own = reduce(add, powers) - product_of_each((self.momenta[numbers].force,), (whole,))
            own = (own.T + efforts[numbers]).T
            right.append(own if self._in_rows(numbers) else own[None])
        u, coordinates, at = solve_factored(self.factors, jnp.concatenate(right)), {}, SPIN
        for numbers in self.screws:
            coordinates[numbers] = u[at : at + len(numbers)] if self._in_rows(numbers) else u[at]
            at += len(numbers)
        rates = []
        for one, total in zip(self.tree.loose(), loose, strict=True):
            for body in self._frames_of(one.numbers):
                total = total + self.frames[body].efforts(loads[body])
            rates.append((total.T / one.mass).T)
        return TreeRates(Vector.of(u), coordinates, rates)

    def _frames_of(self, numbers: tuple[int, ...]) -> list[int]:
        """Return the frames that these loose modes move, by their places in the tree."""
        return [body for body, one in self.frames.items() if one.frame.numbers == numbers]

    def _accelerate_all(self, force: Vector, u: TreeRates, bodies: list[Twist]) -> Acceleration:
        """Return how velocities change under a `force` on all, where the twists of the `bodies` change so."""
        spin = self.placed[0].rotation.transposed_times(u.spin)
        joints = {
            number: rate
            for numbers, own in u.coordinates.items()
            for number, rate in zip(numbers, own if self._in_rows(numbers) else [own], strict=True)
        }
        return Acceleration(Twist(self._centre(force), spin), joints, u.loose, bodies)

    def _centre(self, force: Vector) -> Vector:
        """Return the acceleration of the common centre of mass."""
        return force * (1 / self.tree.mass())

    def _spread_to_bodies(self, force: Vector, u: TreeRates) -> list[Rates]:
        """Return what a force on all and rates of u do to the bodies."""
        start = self._centre(force)
        for numbers, rate in u.coordinates.items():
            start = start - times_rates(self.momenta[numbers].force, rate / self.tree.mass())
        loose = {one.numbers: rates for one, rates in zip(self.tree.loose(), u.loose, strict=True)}
        moving = [Screw(start, u.spin)]
        for body, joint in enumerate(self.tree.joints, start=1):
            own = moving[joint.carrier]
            if body in self.frames:
                own = own.plus(self.frames[body].screw_of(loose[joint.numbers]))
            elif joint.numbers:
                own = own.plus(self.screws[joint.numbers][body].times(u.coordinates[joint.numbers]))
            moving.append(own)
        return [Rates(screw.at(place), screw.spin) for screw, place in zip(moving, self.places, strict=True)]


class TreeRates(NamedTuple):
    """Rates of what is unknown of a tree."""

    spin: Vector  # rad/s², of the root, inertial
    coordinates: dict[Numbers, Scalar | Row]  # without loose modes
    loose: list[Float[Array, "modes *loads"]]  # of each loose vibration


def efforts_of(efforts: Mapping[int, Scalar] | Sequence[Scalar], numbers: tuple[int, ...]) -> Row:
    """Return the efforts on these coordinates in a row."""
    return jnp.stack([efforts[number] for number in numbers])


def _momenta_of_bending(
    tree: JointedBodies, bent: dict[int, Bent], placed: Sequence[Placed]
) -> dict[Numbers, tuple[int, Load]]:
    """Return what the rate of one of each mode has of momentum as its link is bent, beside what it has through the link's mean
    axes: the link, and the momenta in rows, by the modes of a link."""
    found = {}
    for one in tree.vibrations:
        if one.body in bent:
            zero = jnp.zeros(len(one.numbers))
            turning = placed[one.body].rotation @ bent[one.body].by_mode
            found[one.numbers] = one.body, Load(Vector(zero, zero, zero), turning)
    return found


class Acceleration(NamedTuple):
    """How the velocities of a tree change."""

    root: Twist  # of the common centre of mass (inertial), and of the root's rate (its axes)
    joints: dict[int, Scalar]  # rad/s² or m/s², by number, of joints and of modes that are not loose
    loose: list[Row]  # m/s², of each loose vibration
    bodies: list[Twist]  # rates of the bodies' twists


class _Sum(Protocol):
    """What adds up along a tree."""

    def plus(self, other: Self) -> Self: ...


def _composite_sums[Part: _Sum](tree: JointedBodies, parts: Sequence[Part]) -> list[Part]:
    """Return the sums over each body and all that it carries."""
    found = list(parts)
    for body in range(len(found) - 1, 0, -1):
        carrier = tree.joints[body - 1].carrier
        found[carrier] = found[carrier].plus(found[body])
    return once(found)


def _bias_accelerations(
    tree: JointedBodies, placed: Sequence[Placed], motions: Motions | Sequence[JointMotion]
) -> list[Rates]:
    """Return accelerations of the bodies about their common centre where the rates of root and joints stay."""
    found = [Rates(Vector.zero(), Vector.zero())]
    for body, joint in enumerate(tree.joints, start=1):
        found.append(joint.drift(placed[joint.carrier], found[joint.carrier], placed[body], motions))
    middle = tree.mean([rates.velocity for rates in found])
    return once([Rates(rates.velocity - middle, rates.spin) for rates in found])


def _mass_matrix(
    tree: JointedBodies,
    whole: Matrix,
    screws: dict[Numbers, ByBody[Screw]],
    given: dict[Numbers, ByBody[Load]],
    momenta: dict[Numbers, Load],
    bending: dict[Numbers, tuple[int, Load]],
) -> Float[Array, "n n"]:
    """Return H: of the root's turning, and of joints and modes, with what motors reflect and what of modal mass only vibrates.

    `bending` is what `_momenta_of_bending` tells, which is in `given`, too.
    """
    total, moved = tree.mass(), tree.moved()
    beyond = {body: tree.beyond(body) for own in screws.values() for body in own}
    vibrating = {one.numbers: one.matrix() for one in tree.vibrations}

    def between(one: Numbers, other: Numbers) -> Float[Array, "one other"]:
        """Return the entries, with a row for each of one and a column for each of the other."""
        found = -product_of_each((momenta[one].force,), (momenta[other].force,)) / total
        for body, load in given[one].items():
            for at, other_load in given[other].items():
                if body in beyond[at]:
                    found += screws[other][at].power(load).T
                elif at in beyond[body]:
                    found += screws[one][body].power(other_load)
        if one == other and one in vibrating:
            found += vibrating[one]
        if one == other and one in bending:
            body, load = bending[one]
            found += screws[one][body].power(load)
        if one == other and one[0] in moved:
            found += moved[one[0]]
        return found.reshape(len(one), len(other))

    order = list(screws)
    pairs = {(one, other): between(one, other) for at, one in enumerate(order) for other in order[: at + 1]}
    pairs |= {(other, one): entries.T for (one, other), entries in pairs.items() if one != other}
    turning = [jnp.stack(_vector_numbers(momenta[one].moment)).reshape(SPIN, len(one)) for one in order]
    rows = [jnp.concatenate([whole.array(), *turning], axis=1)]
    for one, column in zip(order, turning, strict=True):
        rows.append(jnp.concatenate([column.T, *(pairs[one, other] for other in order)], axis=1))
    return jnp.concatenate(rows)


def _vector_numbers(vector: Vector) -> tuple[Scalar, Scalar, Scalar]:
    return vector.x, vector.y, vector.z
