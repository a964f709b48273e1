"""Inertia that a motor and its screw put between bodies: it moves with the distance of two points.

Units: SI: m, m/s, kg, N, N m.
Source: Lagrange's equations with ½ m L̇² added to the kinetic energy; the force along the line as unknown, as in `lines`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.lines import Lines, Rows, row_of, solve_lines, twist_of
from dockdyn.mechanics.rigid_body import Placed, RigidBody, Twist
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import map_leaves

type Numbers = Float[Array, "*lines"]


class Reflected(NamedTuple):
    """A mass that moves as the length L between a point of the first body and one of the other grows.

    L̇ = J v and L̈ = J v̇ + `drift`. Fields of several such masses have a leading axis.
    """

    mass: Numbers  # kg
    along: Vector  # unit vector from the other's point to the first body's, inertial: J on its velocity
    own_arm: Vector  # m, body axes: J on its rate
    other_arm: Vector  # m, body axes: −J on the rate of the other
    drift: Numbers  # J̇ v, m/s²
    rate: Numbers  # L̇, m/s

    @staticmethod
    def between(mass: Scalar, own: Placed, own_point: Vector, other: Placed, other_point: Vector) -> Reflected:
        """Return that of a `mass` (kg) between inertial points (m) of two bodies."""
        apart = own_point - other_point
        length = apart.norm()
        along = apart / length
        velocity = own.velocity(own_point) - other.velocity(other_point)
        rate = velocity.dot(along)
        inward = _centripetal_acceleration(own, own_point) - _centripetal_acceleration(other, other_point)
        drift = inward.dot(along) + (velocity.dot(velocity) - rate**2) / length
        return Reflected(mass, along, own.torque(own_point, along), other.torque(other_point, along), drift, rate)

    def kinetic_energy(self) -> Scalar:
        """Return the kinetic energy (J)."""
        return jnp.sum(0.5 * self.mass * self.rate**2)


def _centripetal_acceleration(body: Placed, point: Vector) -> Vector:
    return body.rate.cross(body.rate.cross(point - body.pose.position))


def coupled_acceleration(
    bodies: Sequence[RigidBody],
    twists: Sequence[Twist],
    forces: Sequence[Vector],
    torques: Sequence[Vector],
    reflected: Sequence[tuple[int, int, Reflected]],
) -> tuple[tuple[Twist, ...], Float[Array, "lines"]]:
    """Return rates of free bodies' twists with reflected inertia between them, and its force (N, positive pushes the two
    apart).

    Args:
        bodies: all bodies.
        twists: their motion.
        forces: on each, N, inertial.
        torques: on each about its centre of mass, N m, body axes.
        reflected: inertia between two bodies, by their places in the sequences, the first one's and the other's.
    """
    free = tuple(map(RigidBody.acceleration, bodies, twists, forces, torques))
    return coupled_rates(free, lambda rows: free_answer(bodies, rows), reflected_lines(len(bodies), reflected))


def coupled_rates(
    free: tuple[Twist, ...], answer: Callable[[Rows], Rows], lines: Lines | None
) -> tuple[tuple[Twist, ...], Float[Array, "lines"]]:
    """Return rates of the bodies' twists with what acts along lines between them, and its force (N, N m) along each.

    `free` are the rates without it, and `answer` gives M⁻¹ of loads on the bodies (force, inertial; torque, body axes), line
    by line.
    """
    if lines is None:
        return free, jnp.zeros(0)
    answers = answer(lines.acting)
    moved = jnp.stack([row_of(twist.velocity, twist.rate) for twist in free])
    force = solve_lines(lines, answers, moved)
    return tuple(map(twist_of, moved + jnp.einsum("k,kbi->bi", force, answers))), force


def reflected_lines(count: int, reflected: Sequence[tuple[int, int, Reflected]]) -> Lines | None:
    """Return the lines, between `count` bodies, along which inertia is reflected; None where there is none."""
    columns = [_inertia_lines(count, first, other, one) for first, other, one in reflected]
    return Lines.joined(columns) if columns else None


def free_answer(bodies: Sequence[RigidBody], rows: Rows) -> Rows:
    """Return M⁻¹ of loads on free bodies, line by line."""
    return jnp.stack([alone_answer(body, rows[:, i]) for i, body in enumerate(bodies)], axis=1)


def alone_answer(body: RigidBody, rows: Float[Array, "lines 6"]) -> Float[Array, "lines 6"]:
    """Return M⁻¹ of loads on one free body, line by line."""
    return jnp.concatenate([rows[:, :3] / body.mass, rows[:, 3:] @ body.inverse_inertia.T], axis=1)


def line_loads(
    reflected: Sequence[tuple[int, int, Reflected]], along: Float[Array, "lines"]
) -> Iterator[tuple[int, Vector, Vector]]:
    """Yield what inertia with the forces `along` its lines (N) puts on its two bodies: number, force (N, inertial), torque (N
    m, body axes)."""
    for first, other, one in reflected:
        lines = map_leaves(jnp.ravel, one)
        force, along = along[: lines.mass.size], along[lines.mass.size :]

        def total(direction: Vector, force: Float[Array, "lines"] = force) -> Vector:
            return map_leaves(lambda part: jnp.sum(part * force), direction)

        push = total(lines.along)
        yield first, push, total(lines.own_arm)
        yield other, -push, -total(lines.other_arm)


def _inertia_lines(count: int, first: int, other: int, one: Reflected) -> Lines:
    """Return the lines of one inertia or of several."""
    one = map_leaves(lambda leaf: jnp.ravel(leaf), one)
    own = jnp.concatenate([one.along.array().T, one.own_arm.array().T], axis=1)
    opposite = -jnp.concatenate([one.along.array().T, one.other_arm.array().T], axis=1)
    rows = jnp.zeros((one.mass.size, count, 6)).at[:, first].set(own).at[:, other].set(opposite)
    return Lines.of_mass(rows, one.drift, one.mass)
