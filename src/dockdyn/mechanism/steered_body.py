"""The body of a mechanism that control acts on: what control sees there, what it puts on the body, when its clock acts.

Units: SI.
Source: as `dockdyn.control`; angular impulse about the common centre of mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.group import Wrench
from dockdyn.control.actuators import Effort
from dockdyn.control.controller import Controller, FreeBody, Measured
from dockdyn.control.sampled import SampledControl
from dockdyn.control.steering import (
    AnyControl,
    Steering,
    begin_control,
    corners_of_control,
    observe_control,
    steer_body,
)
from dockdyn.deferred import Array, Bool, Int, PyTree
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.mechanism.phases import PhaseRamp
from dockdyn.trees import Module, field

Places = tuple[Placed, ...]  # of all bodies
Efforts = Sequence[tuple[int, Scalar]]  # N m or N, in joints by number


class Seen(NamedTuple):
    """All bodies as they are, for control."""

    here: Placement  # relative to where the base is
    centre: Vector  # m, of all their mass, seen from there
    base: Vector  # m, where that is, from where positions of a state count
    active: Bool[Array, ""] | None  # whether control acts in the present phase; None: in all
    held: PyTree = None  # what goes with an arm that control moves, of `steered_arm`
    phase: tuple[Int[Array, ""], PhaseRamp | None] | None = None  # the present one, of an arm with set-points

    @property
    def places(self) -> Places:
        """The bodies."""
        return self.here.bodies


class ControlAction(NamedTuple):
    """What control does at an instant, and the rate of what is remembered."""

    push: tuple[int, Wrench]  # on its body, about the centre of mass, inertial
    efforts: Efforts
    rate: Steering

    def less(self, there: ControlAction) -> ControlAction:
        """Return what is beyond what control of the same mechanism does elsewhere."""
        (body, own), (_, other) = self.push, there.push
        efforts = [(joint, one - less) for (joint, one), (_, less) in zip(self.efforts, there.efforts, strict=True)]
        return ControlAction((body, Wrench(own.force - other.force, own.moment - other.moment)), efforts, self.rate)


class SteeredBody(Module):
    """A body by number that control acts on, and the one that it sees as its target."""

    control: AnyControl
    origin: Vector  # m, from where positions of a state count: the place from which those that control sees do
    body: int = field(static=True)
    target: int = field(static=True)
    phases: tuple[int, ...] | None = field(static=True, default=None)  # in which control acts; None: in all

    def measured(self, seen: Seen, effort: Effort) -> Measured:
        """Return what control sees, once it has done so much."""
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
        """Return what is remembered as control begins, before its first sample."""
        return begin_control(self.control, lambda effort: self.measured(seen, effort))

    def act(self, now: Steering, seen: Seen) -> ControlAction:
        """Return what control does to its body, and the rate of what is remembered."""
        place = seen.places[self.body]
        found = steer_body(
            self.control,
            now,
            self.measured(seen, now.effort),
            (place.pose.position - seen.centre).array(),
            self.idles(seen),
        )
        return ControlAction((self.body, Wrench(found.force, place.rotation @ found.torque)), (), found.rate)

    def corners(self, now: Steering, seen: Seen) -> tuple[Scalar, ...]:
        """Return where what control does has corners, as `Outputs` has them."""
        if not self.control.actuators.stated:
            return ()
        found = corners_of_control(self.control, now, self.measured(seen, now.effort), self.idles(seen))
        return () if found is None else tuple(found)

    def idles(self, seen: Seen) -> Bool[Array, ""] | None:
        """Return whether continuous control does nothing in this phase; None where it always acts."""
        return None if seen.active is None or isinstance(self.control, SampledControl) else ~seen.active

    def next_tick(self, now: Steering) -> Scalar | None:
        """Return when the computer's clock acts next (s); None of control that is continuous."""
        return self.control.next_tick(now.law) if isinstance(self.control, SampledControl) else None

    def tick(self, t: Scalar, now: Steering, seen: Seen) -> Steering:
        """Return what is remembered after the clock has acted at `t` (s)."""
        if not isinstance(self.control, SampledControl):
            return now
        return now._replace(law=self.control.tick(t, now.law, self.measured(seen, now.effort), seen.active))

    def following(self, law: Controller) -> SteeredBody:
        """Return the same, whose sampled control asks this law at its samples."""
        assert isinstance(self.control, SampledControl)
        return replace(self, control=self.control.following(law))

    def observe(self, now: Steering, seen: Seen) -> dict[str, Array]:
        """Return what control does and has done."""
        return observe_control(self.control, now, self.measured(seen, now.effort), self.idles(seen))

    def wheel(self, now: Steering, places: Places) -> Vector:
        """Return the angular momentum of the wheel (N m s, inertial)."""
        return places[self.body].rotation @ Vector.of(now.effort.wheel)
