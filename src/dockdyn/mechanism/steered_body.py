"""The body of an assembly that control acts on: what control sees there, what it puts on the body, when its clock acts.

Units: SI.
Source: as `dockdyn.control`; angular impulse about the common centre of mass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
from jaxtyping import Array

from dockdyn.contact.group import Wrench
from dockdyn.control.actuators import Effort
from dockdyn.control.controller import Controller, FreeBody, Measured
from dockdyn.control.sampled import SampledControl
from dockdyn.control.steering import AnyControl, Steering, begin_control, observe_control, steer
from dockdyn.mechanics.rigid_body import Placed, RigidBody, mean_by_mass
from dockdyn.mechanics.vector import Scalar, Vector

Places = tuple[Placed, ...]  # of all bodies


class Seen(NamedTuple):
    """All bodies as they are, for control."""

    places: Places  # relative to where the base is
    base: Vector  # m, where that is, from where positions of a state count


class SteeredBody(eqx.Module):
    """A body by number that control acts on, and the one that it sees as its target."""

    control: AnyControl
    origin: Vector  # m, from where positions of a state count: the place from which those that control sees do
    body: int = eqx.field(static=True)
    target: int = eqx.field(static=True)

    def measured(self, seen: Seen, effort: Effort) -> Measured:
        """What control sees, once it has done so much."""
        away = seen.base - self.origin
        chaser, target = (
            FreeBody(
                (place.pose.position + away).array(),
                place.twist.velocity.array(),
                place.pose.attitude.array(),
                place.twist.rate.array(),
            )
            for place in (seen.places[self.body], seen.places[self.target])
        )
        return Measured(chaser, target, effort.wheel, effort.used)

    def begin(self, seen: Seen) -> Steering:
        """What is remembered as control begins, before its first sample."""
        return begin_control(self.control, lambda effort: self.measured(seen, effort))

    def act(self, now: Steering, seen: Seen, bodies: tuple[RigidBody, ...]) -> tuple[tuple[int, Wrench], Steering]:
        """What control puts on its body, about the centre of mass (inertial), and the rate of what is remembered."""
        place = seen.places[self.body]
        lever = (place.pose.position - mean_by_mass(bodies, [one.pose.position for one in seen.places])).array()
        found = steer(self.control, now, self.measured(seen, now.effort), lever)
        return (self.body, Wrench(found.force, place.rotation @ found.torque)), found.rate

    def next_tick(self, now: Steering) -> Scalar | None:
        """When the computer's clock acts next (s); None of control that is continuous."""
        return self.control.next_tick(now.law) if isinstance(self.control, SampledControl) else None

    def tick(self, t: Scalar, now: Steering, seen: Seen) -> Steering:
        """What is remembered after the clock has acted at `t` (s)."""
        if not isinstance(self.control, SampledControl):
            return now
        return now._replace(law=self.control.tick(t, now.law, self.measured(seen, now.effort)))

    def following(self, law: Controller) -> SteeredBody:
        """The same, whose sampled control asks this law at its samples."""
        assert isinstance(self.control, SampledControl)
        return replace(self, control=self.control.following(law))

    def observe(self, now: Steering, seen: Seen) -> dict[str, Array]:
        """What control does and has done."""
        return observe_control(self.control, now, self.measured(seen, now.effort))

    def wheel(self, now: Steering, places: Places) -> Vector:
        """Angular momentum of the wheel (N m s, inertial)."""
        return places[self.body].rotation @ Vector.of(now.effort.wheel)
