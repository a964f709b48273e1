"""How long steps of a mechanism may be while nothing touches.

Units: m, m/s, m/s², rad/s, s.
Source: triangle inequality on the motion of one body as seen from another; own derivation, in the page of theory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from dockdyn.contact.contact_modes import APART
from dockdyn.contact.group import ContactGroup
from dockdyn.contact.latch import HELD, ON_RAMP, OUT, Reach
from dockdyn.contact.time_to_touch import fastest_turn, free_time, least_time
from dockdyn.deferred import Array, jnp
from dockdyn.elements import ElementGroup, Latch
from dockdyn.integrate.model import TURN, Flag, Outputs, Scalar, State
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.mounts import Mount, MountedLatch, ties_among

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism

SHARE = 0.99  # of the time to a contact that may be the nearest possible
LONGEST = 20e-3  # s; longer steps gain no more than a hundredth of a run
ALLOWED = 20.0  # m/s², by which bodies may accelerate towards each other meanwhile


def time_ahead(model: Mechanism, x: State, now: Outputs) -> Scalar:
    """Return the time (s) within which no contact begins and no striker passes its latch without a sign at its ends.

    Where nothing is delayed and each contact is of one pair, the ends of any step of `LONGEST` tell where in it something may
    touch and part again, if no body turns far.
    """
    time = time_apart(model, x, now)
    pairs = all(isinstance(group, ContactGroup) and group.single for group in model.groups)
    if model.delay is not None or not pairs:
        return time
    return jnp.maximum(time, time_of_turn(model.placement(x).bodies))


def time_of_turn(places: Sequence[Placed]) -> Scalar:
    """Return the time (s) within which none of these bodies turns far at its rate, `LONGEST` at most."""
    fastest = jnp.max(jnp.stack([place.rate.norm() for place in places]))
    return jnp.minimum(LONGEST, TURN / jnp.maximum(fastest, 1e-300))


def time_apart(model: Mechanism, x: State, now: Outputs) -> Scalar:
    """Return the time (s) within which no contact begins, no striker passes its latch and no body turns far; 0 where something
    touches.

    Where nothing acts between contacts that is sure, however long. Else it is `LONGEST` at most: as seen from the second body
    of a group, no point of its first body is faster than |u| + |ω| R: u is the relative velocity where the group's wrench acts,
    ω the relative rate, and R the reach of the members from there.
    """
    if not (len(model.ramps) < len(model.elements) or model.trees or model.phases or model.gravity):
        return _time_of_free_bodies(model, x, now)
    places, quiet = model.placement(x).bodies, is_apart(model, x)
    time = time_of_turn(places)
    for one in nearings(model, x, now, places):
        fastest = bound_speed(places[one.first], places[one.second], one.place, one.reach)
        time = jnp.minimum(time, least_time(one.gap, fastest, ALLOWED))
    for ramp in model.ramps:
        own, other = places[ramp.first], places[ramp.second]
        gap, stage = -jnp.minimum(*ramp.latch.travel(own, other)), model.element_modes(x)[ramp.number].stage
        fastest = bound_speed(own, other, ramp.latch.tip(own), jnp.zeros(()))
        time = jnp.where(stage == OUT, jnp.minimum(time, least_time(gap, fastest, ALLOWED)), time)
        quiet &= stage != ON_RAMP
    return jnp.where(quiet, time, 0.0)


class Nearing(NamedTuple):
    """What does not come to act before points of its first body have moved by some way as seen from the second one."""

    first: int  # body, by number
    second: int
    place: Vector  # m, near which the first body's points lie
    gap: Scalar  # m, that way at least; none where it is zero or less
    reach: Scalar  # m, how far from the place they are at most


def nearings(model: Mechanism, x: State, now: Outputs, places: Sequence[Placed]) -> Iterator[Nearing]:
    """Yield those of all groups of contacts, then of strikers that would pass their latches unseen."""
    for group, _, depth in groups_apart(model, x, now):
        yield Nearing(group.first, group.second, group.reference(places[group.first]), -depth, group.reach)
    for tie in ties_among(model.elements):
        latch = latch_of(tie)
        if latch is not None and isinstance(latch.entry, Reach):
            width = jnp.min(jnp.minimum(latch.entry.length, latch.lateral))
            yield Nearing(tie.first, tie.second, places[tie.first].pose.position, width, striker_reach(latch))


def latch_of(one: Mount) -> Latch | None:
    """Return the latch, or the latches of one structure, that an element is; None of any other."""
    latch = one.element.members if isinstance(one.element, ElementGroup) else one.element
    return latch if isinstance(latch, Latch) else None


def striker_reach(latch: Latch) -> Scalar:
    """Return how far (m) strikers are from their body's centre of mass at most."""
    return jnp.max(jnp.linalg.norm(latch.striker, axis=-1))


def is_apart(model: Mechanism, x: State) -> Flag:
    """Return whether no contact touches."""
    return jnp.all(jnp.stack([jnp.asarray(True), *(mode == APART for mode in x.mode[: len(model.groups)])]))


def _time_of_free_bodies(model: Mechanism, x: State, now: Outputs) -> Scalar:
    """Return the same of bodies on which nothing acts while nothing touches."""
    places, quiet = model.placement(x).bodies, jnp.asarray(True)
    rates = [fastest_turn(body, place) for body, place in zip(model.bodies, places, strict=True)]
    time = TURN / jnp.maximum(jnp.max(jnp.stack(rates)), 1e-300)
    turn = time
    for group, mode, depth in groups_apart(model, x, now):
        both, turning = (places[group.first], places[group.second]), (rates[group.first], rates[group.second])
        time = jnp.minimum(time, free_time(-depth, Vector.of(group.place).norm() + group.reach, both, turning))
        quiet &= mode == APART
    for ramp in model.ramps:
        both, turning = (places[ramp.first], places[ramp.second]), (rates[ramp.first], rates[ramp.second])
        gap, stage = -jnp.minimum(*ramp.latch.travel(*both)), model.element_modes(x)[ramp.number].stage
        reached = free_time(gap, Vector.of(ramp.latch.striker).norm(), both, turning)
        time = jnp.where(stage >= HELD, turn, jnp.minimum(time, reached))
        quiet &= (stage == OUT) | ((stage >= HELD) & _is_still(model, ramp))
    return jnp.where(quiet, SHARE * time, 0.0)


def groups_apart(
    model: Mechanism, x: State, now: Outputs
) -> Iterator[tuple[ContactGroup | ImpactContact, Array, Scalar]]:
    """Yield each group with its mode and the first of its event functions: its depth, while it is apart; zero of one that has
    just parted from rest."""
    guards, hits = iter(now.guards), iter(x.memory.impacts)
    for group, mode in zip(model.groups, x.mode, strict=False):
        assert not isinstance(group, MeasuredContact)
        first, *_ = islice(guards, group.events)
        if isinstance(group, ImpactContact):
            first = jnp.where(next(hits).parting > 0, 0.0, first)
        yield group, mode, first


def _is_still(model: Mechanism, ramp: MountedLatch) -> Scalar:
    """Return whether no member moves over its surface once the latch holds, as rigid bodies: they are what it holds."""
    if not ramp.latch.rigid:
        return jnp.asarray(False)
    return jnp.all(jnp.stack([jnp.asarray(True), *model.seated(ramp)]))


def bound_speed(own: Placed, other: Placed, middle: Vector, reach: Scalar) -> Scalar:
    """Bound (m/s) of the speed, as seen from `other`, of points of `own` within `reach` (m) of its point `middle` (m)."""
    return (own.velocity(middle) - other.velocity(middle)).norm() + (own.rate - other.rate).norm() * reach
