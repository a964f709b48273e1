"""Bodies of a mechanism in orbit: what gravity does to them beside the reference that falls along it.

Units: SI.
Source: `dockdyn.mechanics.tide`.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.deferred import Array, jnp
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.rigid_body import RigidBody
from dockdyn.mechanics.tide import tidal_energy, tidal_pull
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.outside import Given, rate_given
from dockdyn.mechanism.steered_body import Seen
from dockdyn.trees import Module


class InOrbit(NamedTuple):
    """What is remembered of an orbit, or the rate of it."""

    time: Scalar  # s: it says where the reference is
    given: Given  # by gravity, to all bodies

    @staticmethod
    def begun() -> InOrbit:
        return InOrbit(jnp.zeros(()), Given.nothing())

    def observe(self) -> dict[str, Array]:
        """Return what gravity has given: impulses (N s, N m s), three components each, and work (J)."""
        return {
            "gravity_impulse": self.given.impulse.array(),
            "gravity_turning_impulse": self.given.turning_impulse.array(),
            "gravity_work": self.given.work,
        }


class Gravity(Module):
    """Gravity along an orbit."""

    orbit: Orbit
    origin: Vector  # m, from the reference, where positions of a state count from

    def act(self, now: InOrbit, seen: Seen, bodies: tuple[RigidBody, ...]) -> tuple[list[tuple[int, Wrench]], InOrbit]:
        """Return what gravity puts on each body, about its centre of mass (inertial), and the rate of what is remembered."""
        at, base = self.orbit.reference(now.time), self.origin + seen.base
        pushes = [
            (number, Wrench(*tidal_pull(self.orbit, at, body, place, place.pose.position + base)))
            for number, (body, place) in enumerate(zip(bodies, seen.places, strict=True))
        ]
        return pushes, InOrbit(jnp.ones(()), rate_given(pushes, seen.places, seen.centre))

    def potential(self, now: InOrbit, seen: Seen, bodies: tuple[RigidBody, ...]) -> Scalar:
        """Return the energy (J) of all bodies in the tide."""
        at, base = self.orbit.reference(now.time), self.origin + seen.base
        found = [
            tidal_energy(self.orbit, at, body, place, place.pose.position + base)
            for body, place in zip(bodies, seen.places, strict=True)
        ]
        return sum(found, jnp.zeros(()))
