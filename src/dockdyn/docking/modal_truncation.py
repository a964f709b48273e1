"""By how much the modes that a beam, or a body by finite elements, leaves out make its contacts too hard: an estimate, without
a second run.

A contact, its law taken as a spring that stores as much under the peak force, and the modes of the links that it bends
are a small linear system, struck at the speed of the approach: what else moves is one mass, with which the modes that
there are give the peak of the run. With more modes, whose shapes and frequencies are known, its peak is another, mostly lower.

Units: N, N/m, m, kg, rad/s, s.
Source: modal superposition, Meirovitch 1967, Analytical Methods in Vibrations; own construction.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.docking.mode_choice import (
    ALL,
    Beam,
    FirstPeak,
    beam_by_modes,
    elastic_forces,
    mass_of_two,
    modes_at_point,
    sides_of,
)
from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.integrate.model import State
from dockdyn.results.episodes import Episode
from dockdyn.results.linear_contact import ENOUGH, LATER, LateSpring, equivalent_stiffness, linear_peak
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run
from dockdyn.trees import combine, map_leaves

HALVINGS = 30
KNOWN = Beam | FiniteElementSection  # links whose other modes are known
type Row = Float[np.ndarray, "modes"]


class GroupMeeting(NamedTuple):
    """Where the deepest members of a group meet, in the axes of both bodies."""

    points: Float[Array, "2 3"]  # m
    normals: Float[Array, "2 3"]


class Modes(NamedTuple):
    """Modes that a contact bends: by how much each moves it along its normal, and whether the run has it."""

    shape: Row  # m per unit of modal coordinate
    mass: Row  # kg
    frequency: Row  # rad/s
    kept: np.ndarray


def mode_excesses(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return for each contact the share by which its first peak is too large for want of modes; nothing without beams and
    bodies by finite elements.

    Zero where none is bent, or where it is not known. Later peaks are of beams that vibrate already.
    """
    beams = [body.name for body in content.body if isinstance(body.flexible, KNOWN)]
    if not beams or run.states is None:
        return {}
    found = np.zeros(len(content.contact))
    for number, contact in enumerate(content.contacts):
        bodies = [body for body, _ in content.sides(contact)]
        hits = [episode for episode in run.episodes if episode.contact == number and episode.peak > 0]
        if contact.normal is not None and hits and any(body in beams for body in bodies):
            found[number] = _excess_of_peak(content, run, hits[0], bodies)
    words = "share by which the first peak force is too large, as the links that it bends have no more modes"
    return {"mode_excess": (("contact",), found, {"units": "1", "long_name": words})}


def stated_mode_errors(content: MechanismSection) -> dict[str, str]:
    """Return what share of its peak force each contact with a body by finite elements may be off for want of modes, as an
    attribute of the result: a line each, its name and the share; nothing without such a body."""
    lines = []
    for contact in content.contacts:
        bent = [content.named(body).flexible for body, _ in content.sides(contact)]
        shares = [one.peak_error for one in bent if isinstance(one, FiniteElementSection)]
        if shares:
            lines.append(f"{contact.name}\t{min(shares)!r}")
    return {"mode_errors": "\n".join(lines)} if lines else {}


def _excess_of_peak(content: MechanismSection, run: Run, hit: Episode, bodies: list[str]) -> float:
    """Return the share by which the peak of a contact is too large, below zero too small; zero where it is not known."""
    state: State = map_leaves(lambda rows: rows[hit.onset_row], run.states)
    meeting = map_leaves(np.asarray, _meeting_of_group(content, state, hit.contact))
    section = content.contacts[hit.contact].normal
    assert section is not None
    speed = float(run.log.seen["depth_rate"][hit.onset_row, hit.contact])
    stiffness = equivalent_stiffness(np.asarray(elastic_forces(section, meeting.normals[0])), hit.peak)
    if not (speed > 0 and np.isfinite(stiffness)):
        return 0.0
    bending = [content.named(body).flexible for body in bodies]
    if any(isinstance(flexible, Beam) for flexible in bending):
        return _excess_of_beams(content, hit, meeting, bodies, LateSpring(stiffness, delay_of(content)), speed)
    where = [content.named(body) for body in bodies], list(meeting.points), list(meeting.normals)
    struck = FirstPeak(mass_of_two(*where), sides_of(*where), speed, delay_of(content))
    first, second = (0 if flexible is None else len(flexible.mode_names()) for flexible in bending)
    return struck.peak((first, second), stiffness) / struck.peak(ALL, stiffness) - 1.0


def _excess_of_beams(
    content: MechanismSection, hit: Episode, meeting: GroupMeeting, bodies: list[str], spring: LateSpring, speed: float
) -> float:
    """Return the same of a contact that bends a beam and meets it with a `speed` (m/s); zero where it is not known."""
    modes = _modes_of_bodies(content, meeting, bodies)
    until = LATER * (hit.peak_time - hit.onset)
    if modes.kept.all() or not until > 0:
        return 0.0
    kept = Modes(*(part[modes.kept] for part in modes))
    mass = _mass_of_peak(kept, spring, speed, until, hit.peak)
    fewer, more = (_peak_force(each, mass, spring, speed, until) for each in (kept, modes))
    return max(fewer / more - 1.0, 0.0)


@partial(jit_once, static=("number",))
def _meeting_of_group(content: MechanismSection, state: State, number: int) -> GroupMeeting:
    model = content.model()
    group, places = model.groups[number], model.placement(state).bodies
    assert isinstance(group, ContactGroup)
    own, other = places[group.first], places[group.second]
    touches = jax.vmap(lambda member: combine(member, group.common).touch(own, other))(group.members)
    _, normal, point = map_leaves(lambda rows: rows[jnp.argmax(touches.depth)], touches)
    return GroupMeeting(
        jnp.stack([body.local(point).array() for body in (own, other)]),
        jnp.stack([body.rotation.transposed_times(normal).array() for body in (own, other)]),
    )


def _modes_of_bodies(content: MechanismSection, meeting: GroupMeeting, bodies: list[str]) -> Modes:
    """Return the modes of both bodies that a contact bends, with those that the run leaves out."""
    found: list[tuple[np.ndarray, ...]] = [(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool))]
    for name, point, normal in zip(bodies, meeting.points, meeting.normals, strict=True):
        section = beam_by_modes(content.named(name))
        if section is None:
            continue
        whole = section.model_copy(update={"bending_modes": [ENOUGH, ENOUGH], "damping_ratio": 0.0})
        kept = [np.arange(ENOUGH) < count for count in section.bending_modes] + [np.ones(section.twist_modes, bool)]
        found.append((*map(np.asarray, modes_at_point(whole, point, normal)), np.concatenate(kept)))
    return Modes(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _peak_force(modes: Modes, mass: float, spring: LateSpring, speed: float, until: float) -> float:
    """Return the peak (N) that a `mass` (kg) has which meets the modes through a spring, before a time (s)."""
    row, velocity = np.concatenate([[1.0], -modes.shape]), np.zeros(1 + len(modes.mass))
    velocity[0] = -speed
    springs = np.diag(np.concatenate([[0.0], modes.mass * modes.frequency**2]))
    return linear_peak(np.diag(np.concatenate([[mass], modes.mass])), springs, row, velocity, spring, until)


def _mass_of_peak(modes: Modes, spring: LateSpring, speed: float, until: float, peak: float) -> float:
    """Return the mass (kg) whose peak force is `peak` (N); as much as is needed for it, or the largest that is looked at."""
    alone = peak**2 / (spring.stiffness * speed**2)  # without modes
    low, high = np.log(1e-3 * alone), np.log(1e6 * alone)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _peak_force(modes, float(np.exp(middle)), spring, speed, until) < peak:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))
