"""What a run of a mechanism remembers besides its motion, and what acts in it at an instant.

Units: SI.
Source: definition.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.contact.contact_memory import ContactMemory
from dockdyn.contact.group import Wrench
from dockdyn.control.steering import Steering
from dockdyn.deferred import Array, Float
from dockdyn.elements.actor import ElementMemory
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.rigid_body import Twist
from dockdyn.mechanics.trees.moving_bodies import Velocities
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.gravity import InOrbit
from dockdyn.mechanism.impact_contact import Hit
from dockdyn.mechanism.outside import Given, Pushes
from dockdyn.mechanism.phases import Clock


class Outside(NamedTuple):
    """What is remembered of what acts from outside, or the rate of it; None of what there is not."""

    thrusters: Given | None = None  # of elements
    steering: Steering | None = None  # of control
    orbit: InOrbit | None = None

    def impulses(self) -> list[Vector]:
        """Return what each of them has given (N s, inertial)."""
        found = [] if self.thrusters is None else [self.thrusters.impulse]
        found += [] if self.steering is None else [Vector.of(self.steering.effort.impulse)]
        return found + ([] if self.orbit is None else [self.orbit.given.impulse])

    def observe(self) -> dict[str, Array]:
        """Return the impulses (N s, N m s) of all thrusters, those of elements and of control, and of gravity, with its work
        (J)."""
        parts = [] if self.thrusters is None else [self.thrusters]
        if self.steering is not None:
            effort = self.steering.effort
            parts.append(Given(effort.work, Vector.of(effort.impulse), Vector.of(effort.turning_impulse)))
        found = {}
        if parts:
            impulse, turning = parts[0].impulse, parts[0].turning_impulse
            for part in parts[1:]:
                impulse, turning = impulse + part.impulse, turning + part.turning_impulse
            found = {"thruster_impulse": impulse.array(), "thruster_turning_impulse": turning.array()}
        return found | ({} if self.orbit is None else self.orbit.observe())


class Memory(NamedTuple):
    """What a run remembers besides its motion."""

    work: Scalar  # J, of the contacts, and of phases that change numbers of elements
    elements: tuple[ElementMemory, ...]
    clock: Clock | None
    outside: Outside
    taken: Float[Array, "groups"]  # J, by each contact, and what it stored at t = 0
    impacts: tuple[Hit, ...] = ()  # of contacts with an impact law
    contacts: tuple[ContactMemory, ...] = ()  # of those that remember


class Loaded(NamedTuple):
    """What acts on the bodies at an instant, whatever their accelerations."""

    loads: list[Wrench]  # of contacts and elements on each body, about its centre of mass, inertial
    efforts: list[Scalar]  # N m or N, in each joint and on each mode
    pushes: Pushes  # on bodies by what is outside
    power: Scalar  # W, of the contacts
    taking: list[Scalar]  # W, by which each contact takes energy
    memories: tuple[ElementMemory, ...]  # rates of what elements remember
    outside: Outside  # rates of what is remembered of what acts from outside


class Acting(NamedTuple):
    """What acts on the bodies at an instant, and how they move."""

    loads: list[Wrench]  # on each body by others, but by joints, about its centre of mass, inertial
    pushes: Pushes  # on bodies by what is outside
    rates: Velocities  # of the state
    bodies: tuple[Twist, ...]  # rates of all bodies' twists
    power: Scalar  # W, of the contacts
    taking: list[Scalar]  # W, by which each contact takes energy
    memories: tuple[ElementMemory, ...]  # rates of what elements remember
    outside: Outside  # rates of what is remembered of what acts from outside
    along: Float[
        Array, "lines"
    ]  # N, of all lines, those along which elements reflect inertia first: positive pushes apart
    grips: tuple[Wrench, ...]  # by which each rigid latch holds its first body, at its striker, inertial
    rests: Float[Array, "impacts"]  # N, normal force by which each contact with an impact law rests
