"""Loads from outside: what pushes bodies of a mechanism without pushing back on another one, and what it has given them.

Units: SI.
Source: Newton and Euler; angular momentum about the common centre of mass, to which a force of lever r gives r × F.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.rigid_body import Placed, RigidBody
from dockdyn.mechanics.vector import Scalar, Vector

Pushes = Sequence[tuple[int, Wrench]]  # on bodies by number, about their centres of mass, inertial


class Given(NamedTuple):
    """What loads from outside have given all bodies since t = 0, or the rate of it."""

    work: Scalar  # J
    impulse: Vector  # N s, inertial
    turning_impulse: Vector  # N m s, inertial, about the common centre of mass

    @staticmethod
    def nothing() -> Given:
        return Given(jnp.zeros(()), Vector.zero(), Vector.zero())


def rate_given(pushes: Pushes, places: Sequence[Placed], centre: Vector) -> Given:
    """Return the rate of what these loads give to bodies at these places, whose common centre of mass is at `centre` (m)."""
    found = Given.nothing()
    for number, (force, moment) in pushes:
        place = places[number]
        found = Given(
            found.work + force.dot(place.twist.velocity) + moment.dot(place.rate),
            found.impulse + force,
            found.turning_impulse + moment + (place.pose.position - centre).cross(force),
        )
    return found


def with_pushes(loads: Sequence[Wrench], pushes: Pushes) -> list[Wrench]:
    """Return loads on all bodies with those from outside added."""
    found = list(loads)
    for number, push in pushes:
        found[number] = found[number].plus(push)
    return found


def applied_pushes(
    forces: Float[Array, "bodies 3"], torques: Float[Array, "bodies 3"], places: Sequence[Placed]
) -> Pushes:
    """Return what another program puts on the first of these bodies: forces (inertial axes) and torques (each body's own)."""
    return [
        (number, Wrench(Vector.of(force), place.rotation @ Vector.of(torque)))
        for number, (force, torque, place) in enumerate(zip(forces, torques, places, strict=False))
    ]


def pushed_energy(impulses: Sequence[Vector], bodies: tuple[RigidBody, ...]) -> Scalar:
    """Return the energy (J) of the motion of the common centre of mass that these impulses have made, as seen from where it
    was."""
    impulse = sum(impulses, Vector.zero())
    return 0.5 * impulse.dot(impulse) / sum(body.mass for body in bodies)
