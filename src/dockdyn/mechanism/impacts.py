"""Jumps of velocities where contacts of a mechanism touch, and which of them rest then.

What touches at the same instant is struck as `at_one_instant` says. What is left without normal velocity rests if it is pressed
together.

Units: SI: m, m/s, N, N s, J.
Source: as in `strikes`; which contacts rest: the complementarity of force and parting, one after another, own construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dockdyn.contact.contact_kinematics import ContactKinematics
from dockdyn.contact.contact_modes import APART
from dockdyn.contact.group import GroupSignal, GroupState, Wrench
from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.integrate.model import Scalar, State
from dockdyn.mechanics.lines import Lines, row_of
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanism.impact_contact import OVERLAP, RESTING, TOGETHER, TOUCHED, Hit, ImpactContact
from dockdyn.mechanism.loads import act_between
from dockdyn.mechanism.simultaneous_impacts import Touching, strike_together
from dockdyn.mechanism.strikes import delassus_matrix, strike_bodies
from dockdyn.programs import trace_once
from dockdyn.trees import map_leaves

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism

STAYS = 1e-9  # m/s²: what would part more slowly stays together, as rounding may say either
NEARLY = 1e-11  # m: what is nearer, and approaches as another contact touches, touches at that instant
ALIKE = 1e-6  # of the largest pull: what pulls so nearly as much pulls as much
YIELDS = 1e-12  # of the mobility of a contact at rest: contacts that could share a load in any way share it evenly then

type Flags = Bool[Array, "impacts"]


def impacts_of(groups: Sequence[object]) -> list[tuple[int, ImpactContact]]:
    """Return the contacts with an impact law among groups, with their numbers."""
    return [(number, group) for number, group in enumerate(groups) if isinstance(group, ImpactContact)]


def first_hits(groups: Sequence[object], places: tuple[Placed, ...]) -> tuple[Hit, ...]:
    """Return what contacts with an impact law remember at t = 0: what touches then, within rounding, does so where it is."""
    zero, found = jnp.zeros(()), []
    for _, one in impacts_of(groups):
        depth = one.meeting(places[one.first], places[one.second]).depth
        touches = (depth > -TOGETHER) & (depth <= OVERLAP)
        found.append(Hit(jnp.where(touches, depth, 0.0), zero, zero, zero if one.rubs else None))
    return tuple(found)


def from_level(groups: Sequence[object], states: Sequence[GroupState], hits: Sequence[Hit]) -> tuple[GroupState, ...]:
    """Return the `states` of groups with depths as they count for impacts: from where each has touched before.

    The sign of the force is below zero of one that is `parting`.
    """
    found = list(states)
    for (number, _), hit in zip(impacts_of(groups), hits, strict=True):
        sign = jnp.where(hit.parting > 0, -1.0, 1.0)
        found[number] = found[number]._replace(depth=found[number].depth - hit.level, force_sign=sign)
    return tuple(found)


def rest_lines(model: Mechanism, x: State, places: tuple[Placed, ...]) -> Lines:
    """Return the lines of all contacts with an impact law, of which those that rest are closed."""
    yielding = YIELDS / _reduced_masses(model)
    each = zip(model.impacts, yielding, strict=True)
    return Lines.joined([one.line(x.mode[number], places, by) for (number, one), by in each])


def add_rests(
    loads: list[Wrench], impacts: Sequence[tuple[int, ImpactContact]], along: Float[Array, "impacts"], here: Placement
) -> None:
    """Add to `loads` (about centres of mass, inertial) what contacts at rest put on the bodies by these normal forces (N)."""
    for (_, contact), force in zip(impacts, along, strict=True):
        own, other = here.bodies[contact.first], here.bodies[contact.second]
        wrench = contact.load(force, own, other)
        act_between(loads, (contact.first, contact.second), wrench, contact.reference(own), here.bodies)


def rest_powers(lines: Lines, along: Float[Array, "lines"], places: tuple[Placed, ...]) -> Float[Array, "lines"]:
    """Return the power (W) of the force (N) along each line."""
    moving = jnp.stack([row_of(body.twist.velocity, body.twist.rate) for body in places])
    return along * jnp.einsum("kbi,bi->k", lines.acting, moving)


def with_resting_forces(
    model: Mechanism, x: State, states: Sequence[GroupState], rests: Float[Array, "impacts"]
) -> tuple[GroupState, ...]:
    """Return the `states` of groups with the normal forces (N) of those at rest, which stay as long as they hardly pull, and
    what their friction takes."""
    found, most, places = list(states), STAYS * _reduced_masses(model), model.placement(x).bodies
    for (number, one), force, pull in zip(model.impacts, rests, most, strict=True):
        sign = jnp.where(x.mode[number] == RESTING, force + pull, found[number].force_sign)
        rubbing = one.rest_rubbing(force, places[one.first], places[one.second])
        felt = jnp.where(jnp.abs(force) > pull, force, 0.0)  # no peaks of rounding, beside which steps would end
        found[number] = found[number]._replace(normal_force=felt, force_sign=sign, rubbing=rubbing)
    return tuple(found)


def rest_wrenches(
    model: Mechanism, here: Placement, wrenches: Sequence[GroupSignal], rests: Float[Array, "impacts"]
) -> tuple[GroupSignal, ...]:
    """Return the `wrenches` of groups with those of contacts at rest, by their normal forces (N)."""
    found = list(wrenches)
    for (number, one), force in zip(model.impacts, rests, strict=True):
        found[number] = one.load(force, here.bodies[one.first], here.bodies[one.second])
    return tuple(found)


def observed_impacts(groups: Sequence[object], hits: Sequence[Hit]) -> dict[str, Array]:
    """Return the impulse (N s) of the impacts of each group so far, along their normals; nothing without impact laws."""
    if not hits:
        return {}
    found = [jnp.zeros(()) for _ in groups]
    for (number, _), hit in zip(impacts_of(groups), hits, strict=True):
        found[number] = hit.impulse
    return {"impact_impulse": jnp.stack(found)}


@trace_once
def rest_forces(model: Mechanism, t: Scalar, x: State) -> Float[Array, "impacts"]:
    """Return the normal forces (N) of contacts with an impact law, of those that do not rest zero."""
    rests = jnp.any(jnp.stack([x.mode[number] == RESTING for number, _ in model.impacts]))

    def found() -> Float[Array, "impacts"]:
        return model.acting(x, model.placement(x), model.signal(t, x)).rests

    return jax.lax.cond(rests, found, lambda: jnp.zeros(len(model.impacts)))


def apply_impacts(model: Mechanism, t: Scalar, before: State, x: State) -> State:
    """Return the state `x`, to which an event has led from `before`, once what has touched is struck.

    So is what rested where the event has changed its velocities.
    """
    numbers = [number for number, _ in model.impacts]
    x = _touch_together(model, _come_back(model, before, x))
    struck = jnp.stack([before.mode[number] == TOUCHED for number in numbers])
    rests = jnp.stack([x.mode[number] == RESTING for number in numbers])
    parted = jnp.stack([before.mode[number] == RESTING for number in numbers]) & ~rests
    normal = _normal_velocities(model, x)
    shaken = rests & (jnp.abs(normal) > _rest_speeds(model)) | parted & (normal < 0)

    def found() -> State:
        return _state_after_impacts(model, t, x, struck | rests | parted, parted)

    x = jax.lax.cond(jnp.any(struck | shaken), found, lambda: x)
    return _remember_levels(model, x, struck | rests | parted)


def _come_back(model: Mechanism, before: State, x: State) -> State:
    """Return the state in which what was `parting` and has turned round is apart as any other, unless it overlaps already."""
    modes, hits = list(x.mode), []
    for (number, _), hit, meeting in zip(model.impacts, x.memory.impacts, _contact_meetings(model, x), strict=True):
        turned = (hit.parting > 0) & (before.mode[number] == APART) & (x.mode[number] == TOUCHED)
        apart = turned & (meeting.depth <= hit.level)
        modes[number] = jnp.where(apart, APART, x.mode[number]).astype(x.mode[number].dtype)
        hits.append(hit._replace(parting=jnp.where(turned, 0.0, hit.parting)))
    return State(x.q, x.v, tuple(modes), x.memory._replace(impacts=tuple(hits)))


def _touch_together(model: Mechanism, x: State) -> State:
    """Return the state in which, where something has touched, so has what is all but there.

    Rounding does not part an instant.
    """
    some, modes = jnp.any(jnp.stack([x.mode[number] == TOUCHED for number, _ in model.impacts])), list(x.mode)
    for (number, one), hit, meeting in zip(model.impacts, x.memory.impacts, _contact_meetings(model, x), strict=True):
        comes = (meeting.depth - hit.level > -NEARLY) & (meeting.rate > one.rest_speed) & (modes[number] == APART)
        modes[number] = jnp.where(some & comes, TOUCHED, modes[number]).astype(modes[number].dtype)
    return replace(x, mode=tuple(modes))


def _state_after_impacts(model: Mechanism, t: Scalar, x: State, touching: Flags, parts: Flags) -> State:
    """Return the state after the impacts of what is `touching`, and with those at rest that then rest: none that `parts`."""
    limits = _rest_speeds(model)
    here, contacts = model.placement(x), [contact for _, contact in model.impacts]
    rows = jnp.concatenate([contact.rows(here.bodies) for contact in contacts])
    resolve = partial(strike_together, [contact.resolve for contact in contacts], Touching(touching, limits))
    found = strike_bodies(model.moving, here, rows, resolve, model.kept_lines(x, here))
    hits = tuple(
        hit._replace(impulse=hit.impulse + own)
        for hit, own in zip(x.memory.impacts, found.impact.impulse[:: rows.shape[0] // len(contacts)], strict=True)
    )
    work = x.memory.work - found.impact.energy_loss
    losses = -0.5 * (found.before + found.impact.velocity) * found.impact.impulse  # of each row
    lost = losses.reshape(len(contacts), -1)
    taken = x.memory.taken.at[jnp.array([number for number, _ in model.impacts])].add(lost.sum(axis=1))
    hits = tuple(
        hit if hit.rubbed is None else hit._replace(rubbed=hit.rubbed + jnp.sum(own[1:]))
        for hit, own in zip(hits, lost, strict=True)
    )
    v = map_leaves(jnp.add, x.v, found.change)
    after = State(x.q, v, x.mode, x.memory._replace(work=work, impacts=hits, taken=taken))
    slow = touching & ~parts & (_normal_velocities(model, after) < limits)
    return _with_rests(model, after, touching, _resting_contacts(model, t, after, touching, slow))


def contact_space(model: Mechanism, x: State, number: int) -> tuple[Float[Array, "rows rows"], Float[Array, "rows"]]:
    """Return W (1/kg) and the velocity (m/s) before an impact of a contact by its number: what its law is given."""
    here, contact = model.placement(x), dict(model.impacts)[number]
    return delassus_matrix(model.moving, here, contact.rows(here.bodies), model.kept_lines(x, here))


def _resting_contacts(model: Mechanism, t: Scalar, x: State, touching: Flags, slow: Flags) -> Flags:
    """Return which of the `slow` contacts rest: what would have to pull most parts, then the others are asked again.

    Several that would have to pull alike part together.
    """
    most = STAYS * _reduced_masses(model)

    def fewer(_: Array, closed: Flags) -> Flags:
        force = jnp.where(closed, rest_forces(model, t, _with_rests(model, x, touching, closed)) + most, jnp.inf)
        return closed & ~((force <= (1 - ALIKE) * jnp.min(force)) & (force < 0))

    return jax.lax.fori_loop(0, len(model.impacts), fewer, slow)


def _with_rests(model: Mechanism, x: State, touching: Flags, closed: Flags) -> State:
    """Return the state in which, of what is touching, the contacts `closed` rest, and the others are apart."""
    modes = list(x.mode)
    for (number, _), touches, rests in zip(model.impacts, touching, closed, strict=True):
        after = jnp.where(rests, RESTING, APART).astype(modes[number].dtype)
        modes[number] = jnp.where(touches, after, modes[number])
    return State(x.q, x.v, tuple(modes), x.memory)


def _remember_levels(model: Mechanism, x: State, touches: Flags) -> State:
    """Return the state in which what `touches` is remembered to touch where it is now, and to part if it does so slowly."""
    hits = []
    each = zip(model.impacts, x.memory.impacts, _contact_meetings(model, x), touches, strict=True)
    for (number, one), hit, meeting, there in each:
        parting = jnp.where((x.mode[number] == APART) & (meeting.rate > -one.rest_speed), 1.0, 0.0)
        level, parting = jnp.where(there, meeting.depth, hit.level), jnp.where(there, parting, hit.parting)
        hits.append(hit._replace(level=level, parting=parting))
    return replace(x, memory=x.memory._replace(impacts=tuple(hits)))


def _contact_meetings(model: Mechanism, x: State) -> list[ContactKinematics]:
    """Return how each contact with an impact law meets."""
    places = model.placement(x).bodies
    return [one.meeting(places[one.first], places[one.second]) for _, one in model.impacts]


def _normal_velocities(model: Mechanism, x: State) -> Float[Array, "impacts"]:
    """Return the velocity (m/s) of each first body against its second along the normal; an approach is negative."""
    return -jnp.stack([meeting.rate for meeting in _contact_meetings(model, x)])


def _rest_speeds(model: Mechanism) -> Float[Array, "impacts"]:
    return jnp.stack([one.rest_speed for _, one in model.impacts])


def _reduced_masses(model: Mechanism) -> Float[Array, "impacts"]:
    """Return the reduced mass (kg) of the two bodies of each contact: the order of what it feels."""
    mass = model.moving.mass_at
    return jnp.stack([1 / (1 / mass(one.first) + 1 / mass(one.second)) for _, one in model.impacts])
