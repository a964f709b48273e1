"""What acts on bodies of a mechanism: delayed forces of contacts, force elements, what acts in joints and in flexible links,
thrusters; and how modes of elements change.

Units: SI.
Source: sums over the elements, each of which names its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dockdyn.contact.group import ContactGroup, GroupSignal, Wrench
from dockdyn.deferred import Array, Bool, Float, PyTree, jnp
from dockdyn.elements import Bushing
from dockdyn.elements.actor import ElementMemory
from dockdyn.elements.latch import Latch, vector_length
from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.reflected import Reflected, line_loads
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanics.vector import Vector, once
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.measured_contact import MeasuredContact
from dockdyn.mechanism.mounts import Held, Mount, Tie, on_both, ties_among
from dockdyn.trees import map_leaves

Group = ContactGroup | MeasuredContact | ImpactContact  # contacts between two bodies by number


class ElementLoads(NamedTuple):
    """What elements do at an instant."""

    loads: list[Wrench]  # of those between bodies on each, about its centre of mass, inertial
    efforts: list[Scalar]  # in each joint, N m or N, and on each mode
    pushes: list[tuple[int, Wrench]]  # of thrusters on bodies by number, about their centres of mass, inertial
    memories: tuple[ElementMemory, ...]  # rates of what they remember


def act_between(
    loads: list[Wrench], bodies: tuple[int, int], wrench: Wrench, point: Vector, places: tuple[Placed, ...]
) -> None:
    """Add to `loads` (about centres of mass, inertial) a wrench at a point (m) on the first of two bodies, and the opposite
    on the second."""
    for number, load in on_both(bodies, wrench, point, places):
        loads[number] = loads[number].plus(load)


def contact_loads(
    groups: Sequence[Group],
    places: tuple[Placed, ...],
    delayed: Sequence[GroupSignal],
) -> tuple[list[Wrench], list[Scalar]]:
    """Return what contacts put on each body now, about its centre of mass (inertial), and the power (W) of each.

    `delayed` is, for each of the `groups`, what it put on its first body one delay ago, or now where the loop has no delay.
    """
    loads, powers = [Wrench.zero() for _ in places], []
    for group, signal in zip(groups, delayed, strict=True):
        own, other = places[group.first], places[group.second]
        wrench, point = group.acts_at(signal, own, other)
        power = wrench.force.dot(own.velocity(point) - other.velocity(point))
        if isinstance(signal, Vector):
            push_between(loads, (group.first, group.second), signal, point, places)
        else:
            act_between(loads, (group.first, group.second), wrench, point, places)
            power += wrench.moment.dot(own.rate - other.rate)
        powers.append(power)
    return loads, powers


def push_between(
    loads: list[Wrench], bodies: tuple[int, int], force: Vector, point: Vector, places: tuple[Placed, ...]
) -> None:
    """Add to `loads`, as `act_between` does, a force (N, inertial) without a moment."""
    for number, side in zip(bodies, (force, -force), strict=True):
        moment = (point - places[number].pose.position).cross(side)
        loads[number] = loads[number].plus(Wrench(side, moment))


def add_late(
    loads: list[Wrench], late: Sequence[Tie], delayed: Sequence[GroupSignal], places: tuple[Placed, ...]
) -> Scalar:
    """Add to `loads` (about centres of mass, inertial) the `delayed` forces (N, inertial) of elements whose force is `late`;
    return their power (W)."""
    power = jnp.zeros(())
    for one, force in zip(late, delayed, strict=True):
        own, other = places[one.first], places[one.second]
        point = once(one.element.tip(own))
        assert isinstance(force, Vector)
        push_between(loads, (one.first, one.second), force, point, places)
        power += force.dot(own.velocity(point) - other.velocity(point))
    return power


def element_loads(
    mounts: Sequence[Mount],
    modes: Sequence[PyTree],
    memories: Sequence[ElementMemory],
    here: Placement,
    held: Sequence[Held] | None = None,
) -> ElementLoads:
    """Return what elements put on each body and joint, and the rates of what they remember; `held` is what is taken off their
    loads, for small motions around rest."""
    loads, efforts, rates = [Wrench.zero() for _ in here.bodies], [jnp.zeros(()) for _ in here.joints], []
    pushes: list[tuple[int, Wrench]] = []
    resting = [None] * len(mounts) if held is None else held
    for one, mode, memory, rest in zip(mounts, modes, memories, resting, strict=True):
        found, rate = one.load(mode, memory, here, rest)
        for number, wrench in found.wrenches:
            loads[number] = loads[number].plus(wrench)
        for number, effort in found.efforts:
            efforts[number] = effort
        if held is None:
            pushes += found.pushes
        rates.append(rate)
    return ElementLoads(loads, efforts, pushes, tuple(rates))


def held_by(
    mounts: Sequence[Mount], modes: Sequence[PyTree], memories: Sequence[ElementMemory], here: Placement
) -> tuple[Held, ...]:
    """Return what elements do in a state, for `element_loads` to take off around it."""
    known = zip(mounts, modes, memories, strict=True)
    return tuple(one.held(mode, memory, here) for one, mode, memory in known)


def reflected_inertia(mounts: Sequence[Mount], here: Placement) -> list[tuple[int, int, Reflected]]:
    """Return the inertia that elements reflect between bodies, with the two bodies of each."""
    found = [(one.first, one.second, one.element.reflected(*one.sides(here))) for one in ties_among(mounts)]
    return [(first, second, one) for first, second, one in found if one is not None]


def add_reflected(
    loads: list[Wrench],
    inertia: Sequence[tuple[int, int, Reflected]],
    along: Float[Array, "lines"],
    places: tuple[Placed, ...],
) -> None:
    """Add to `loads` (about centres of mass, inertial) what reflected inertia puts on the bodies, `along` its lines (N)."""
    for number, force, torque in line_loads(inertia, along):
        loads[number] = loads[number].plus(Wrench(force, places[number].rotation @ torque))


def bushing_turns(mounts: Sequence[Mount], here: Placement) -> tuple[Scalar, ...]:
    """Return how far each bushing is turned, as `Bushing.half_versine`."""
    bushings = [(one.element, one.sides(here)) for one in ties_among(mounts) if isinstance(one.element, Bushing)]
    return tuple(element.half_versine(*sides) for element, sides in bushings)


def bushing_count(mounts: Sequence[Mount]) -> int:
    """Return how many bushings there are."""
    return sum(isinstance(one.element, Bushing) for one in ties_among(mounts))


def settle_elements(
    mounts: Sequence[Mount], memories: Sequence[ElementMemory], here: Placement
) -> tuple[tuple[PyTree, ...], tuple[ElementMemory, ...]]:
    """Return modes and memories of elements that fit the state, as at the start or after a number of theirs has changed."""
    found = [one.element.settle(memory, *one.sides(here)) for one, memory in zip(mounts, memories, strict=True)]
    return tuple(mode for mode, _ in found), tuple(memory for _, memory in found)


def apply_element_events(
    mounts: Sequence[Mount],
    modes: Sequence[PyTree],
    memories: Sequence[ElementMemory],
    fired: tuple[Bool[Array, ""], ...],
    here: Placement,
) -> tuple[tuple[PyTree, ...], tuple[ElementMemory, ...], tuple[Bool[Array, ""], ...]]:
    """Return modes and memories after the elements' guards in `fired` have fired, and what of `fired` is not theirs."""
    after = []
    for one, mode, memory in zip(mounts, modes, memories, strict=True):
        count = len(one.element.guards(mode, memory, *one.sides(here)))
        after.append(one.element.jump(mode, fired[:count], memory, *one.sides(here)))
        fired = fired[count:]
    return tuple(mode for mode, _ in after), tuple(memory for _, memory in after), fired


def given_by(memory: ElementMemory) -> Scalar:
    """Return the work (J) of an element's motors less what it has dissipated, or the rate of it (W)."""
    worked = jnp.zeros(()) if memory.work is None else jnp.sum(memory.work)
    return worked if memory.dissipated is None else worked - jnp.sum(memory.dissipated)


def stored_energy(
    mounts: Sequence[Mount], modes: Sequence[PyTree], memories: Sequence[ElementMemory], here: Placement
) -> Scalar:
    """Return the energy (J) that elements store."""
    known = zip(mounts, modes, memories, strict=True)
    stored = (one.element.stored_energy(mode, memory, *one.sides(here)) for one, mode, memory in known)
    return sum(stored, jnp.zeros(()))


def all_held(memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
    """Return whether every latch holds; without any, no."""
    held = [jnp.ravel(memory.holds()) for memory in memories if memory.held is not None]
    return jnp.all(jnp.concatenate(held)) if held else jnp.asarray(False)


def all_latches_hold(mounts: Sequence[Mount], memories: Sequence[ElementMemory]) -> Bool[Array, ""]:
    """Return whether every latch holds, connections left aside; without any latch, no."""
    joined = [isinstance(one.element, Latch) and one.element.joins for one in mounts]
    return all_held([memory for memory, aside in zip(memories, joined, strict=True) if not aside])


OBSERVED = {
    "length": "line_length",  # m, of those along a line
    "held": "latch_held",  # 1 or 0, of latches
    "closed": "connection_closed",  # 1 or 0, of connections
    "gap": "latch_gap",  # m, of latches
    "aside": "latch_aside",  # m, of latches
    "closing": "latch_closing",  # m/s, of latches
    "taut": "latch_taut",  # 1 at the end of its play, or 0; of latches
    "turned": "bushing_turn",  # rad
    "thrust": "thrust",  # N
    "push": "thrust_force",  # N, inertial
    "spent": "thrust_spent",  # N s
}


class TieLoad(NamedTuple):
    """What elements between two bodies put on the first of these, each of a structure by itself: fields have a leading axis."""

    force: Vector  # N, inertial
    moment: Vector  # N m, inertial, about where the element is fixed there; of the user's own about the centre of mass
    pushed: Scalar  # N, the part of the force that reflected inertia puts along the line: positive pushes the two apart


def tie_loads(
    mounts: Sequence[Mount],
    modes: Sequence[PyTree],
    memories: Sequence[ElementMemory],
    here: Placement,
    late: Sequence[GroupSignal],
    along: Float[Array, "lines"] | None,
    grips: Mapping[int, Wrench],
) -> list[TieLoad]:
    """Return what each element between two bodies puts on them, in their order, with all that is no part of `act`.

    `late` are the forces (N, inertial) that act of the elements whose force is late, `along` those (N) of reflected inertia
    along its lines, as `reflected_inertia` has them, and whatever comes behind, None: they are left out; `grips` what rigid
    latches do, by the number of the element.
    """
    found, delayed = [], iter(late)
    for number, (one, mode, memory) in enumerate(zip(mounts, modes, memories, strict=True)):
        if not isinstance(one, Tie):
            continue
        own, other = one.sides(here)
        action, _ = one.element.act_each(mode, memory, own, other)
        force, moment = action.force, action.moment
        if one.own:
            moment += (action.point - own.pose.position).cross(force)
        if one.element.delays:
            after = next(delayed)
            assert isinstance(after, Vector)
            force += after
        if number in grips:
            force, moment = force + grips[number].force, moment + grips[number].moment
        pushed = jnp.zeros_like(force.x)
        if along is not None and (line := one.element.reflected(own, other)) is not None:
            pushed, along = along[: line.mass.size].reshape(line.mass.shape), along[line.mass.size :]
            force += line.along * pushed
            if one.own:
                moment += own.rotation @ (line.own_arm * pushed)
        found.append(map_leaves(jnp.atleast_1d, TieLoad(force, moment, pushed)))
    return found


def observed_loads(loads: Sequence[TieLoad]) -> dict[str, Array]:
    """Return what elements put on their first bodies, one by one: `element_force` (N) and `element_moment` (N m), inertial."""
    if not loads:
        return {}
    return {
        "element_force": jnp.concatenate([one.force.array().T for one in loads]),
        "element_moment": jnp.concatenate([one.moment.array().T for one in loads]),
    }


def observed_elements(
    mounts: Sequence[Mount],
    modes: Sequence[PyTree],
    memories: Sequence[ElementMemory],
    here: Placement,
    loads: Sequence[TieLoad],
) -> dict[str, Array]:
    """Return what is kept of elements, members of a structure one by one: `element_tension` (N, of all but thrusters; of those
    that show none the size of their force), and what `OBSERVED` names. `loads` are as `tie_loads` has them."""
    found: dict[str, list[Array]] = {name: [] for name in ("element_tension", *OBSERVED.values())}
    each = iter(loads)
    for one, mode, memory in zip(mounts, modes, memories, strict=True):
        seen = one.observe(mode, memory, here)
        if isinstance(one, Tie):
            load, shown = next(each), seen.get("tension")
            if shown is None:
                shown = vector_length(load.force)
            elif not one.own:  # which may show what it likes
                shown = shown - load.pushed
            found["element_tension"].append(shown)
        for part in OBSERVED.keys() & seen.keys():
            found[OBSERVED[part]].append(seen[part])
    return {name: jnp.concatenate([jnp.atleast_1d(part) for part in parts]) for name, parts in found.items() if parts}
