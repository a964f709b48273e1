"""By how much the modes of bending that a beam leaves out make its contacts too hard: an estimate, without a second run.

A contact, its law taken as a spring that stores as much under the peak force, and the modes of the links that it bends
are a small linear system, struck at the speed of the approach: what else moves is one mass, with which the modes that
there are give the peak of the run. With more modes, whose shapes and frequencies are known, its peak is lower.

Units: N, N/m, m, kg, rad/s, s.
Source: modal superposition, Meirovitch 1967, Analytical Methods in Vibrations; own construction.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.docking.linked_trees import arm_of
from dockdyn.docking.schema.bodies import BodySection
from dockdyn.docking.schema.flexible import LargeBeamSection, UniformBeamSection
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.integrate.model import State, over_rows
from dockdyn.mechanics.trees.screws import cross_product
from dockdyn.mechanics.vector import Vector
from dockdyn.results.episodes import Episode
from dockdyn.results.linear_contact import DEPTHS, ENOUGH, LATER, LateSpring, equivalent_stiffness, linear_peak
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run
from dockdyn.trees import combine, map_leaves

HALVINGS = 30
SHARED = (
    "length",
    "mass_per_length",
    "bending_stiffness",
    "torsional_stiffness",
    "polar_inertia",
    "bending_modes",
    "twist_modes",
)  # keys of both kinds of beams
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
    """Return for each contact the share by which its first peak is too large for want of modes; nothing without beams.

    Zero where no beam is bent, or where it is not known. Later peaks are of beams that vibrate already.
    """
    beams = [body.name for body in content.body if isinstance(body.flexible, UniformBeamSection | LargeBeamSection)]
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


def _excess_of_peak(content: MechanismSection, run: Run, hit: Episode, bodies: list[str]) -> float:
    """Return the share by which the peak of a contact is too large; zero where it is not known."""
    state: State = map_leaves(lambda rows: rows[hit.onset_row], run.states)
    meeting = map_leaves(np.asarray, _meeting_of_group(content, state, hit.contact))
    modes = _modes_of_bodies(content, meeting, bodies)
    speed = float(run.log.seen["depth_rate"][hit.onset_row, hit.contact])
    stiffness = equivalent_stiffness(np.asarray(_elastic_forces(content, hit.contact, meeting.normals[0])), hit.peak)
    until = LATER * (hit.peak_time - hit.onset)
    if modes.kept.all() or not (speed > 0 and until > 0 and np.isfinite(stiffness)):
        return 0.0
    kept = Modes(*(part[modes.kept] for part in modes))
    spring = LateSpring(stiffness, delay_of(content))
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


@partial(jit_once, static=("number",))
def _elastic_forces(content: MechanismSection, number: int, normal: Float[Array, "3"]) -> Float[Array, "depths"]:
    """Return the elastic force (N) of a contact's law at the `DEPTHS`."""
    section = content.contacts[number].normal
    assert section is not None
    law = section.make().along(Vector.of(jnp.asarray(normal)))
    return over_rows(lambda depth: law.force(depth, jnp.zeros(())), jnp.asarray(DEPTHS))


@jit_once
def _modes_at_point(
    section: UniformBeamSection, point: Float[Array, "3"], normal: Float[Array, "3"]
) -> tuple[Array, ...]:
    """Return shape, modal mass and frequency of all modes of a beam where it is touched."""
    seat, modes = section.deflection(point), section.link().modes()
    shape = (seat.shift + cross_product(seat.turn, jnp.broadcast_to(point - seat.place, seat.turn.shape))) @ normal
    return shape, modes.mass, modes.frequency


def _by_modes(body: BodySection) -> UniformBeamSection | None:
    """Return the beam of a link as one that bends by its modes with the root held; None of a link that has none."""
    beam = body.flexible
    if not isinstance(beam, LargeBeamSection):
        return beam if isinstance(beam, UniformBeamSection) else None
    shared = {key: getattr(beam, key) for key in SHARED if getattr(beam, key) is not None}
    root = (-arm_of(body)).array().tolist()
    return UniformBeamSection.model_validate({"root": root, "axis": [1, 0, 0], "across": [0, 1, 0], **shared})


def _modes_of_bodies(content: MechanismSection, meeting: GroupMeeting, bodies: list[str]) -> Modes:
    """Return the modes of both bodies that a contact bends, with those that the run leaves out."""
    found: list[tuple[np.ndarray, ...]] = [(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, bool))]
    for name, point, normal in zip(bodies, meeting.points, meeting.normals, strict=True):
        section = _by_modes(content.named(name))
        if section is None:
            continue
        whole = section.model_copy(update={"bending_modes": [ENOUGH, ENOUGH]})
        kept = [np.arange(ENOUGH) < count for count in section.bending_modes] + [np.ones(section.twist_modes, bool)]
        found.append((*map(np.asarray, _modes_at_point(whole, point, normal)), np.concatenate(kept)))
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
