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
from dockdyn.docking.linear_trees import Standing, standing_of
from dockdyn.docking.mode_choice import Beam, elastic_forces, joined_roots, struck_at
from dockdyn.docking.schema.finite_elements import FiniteElementSection
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.integrate.model import State
from dockdyn.results.episodes import Episode
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run
from dockdyn.trees import combine, map_leaves

KNOWN = Beam | FiniteElementSection  # links whose other modes are known


class GroupMeeting(NamedTuple):
    """Where the deepest members of a group meet, and how all bodies are."""

    points: Float[Array, "2 3"]  # m, axes of each body
    normal: Float[Array, "3"]  # inertial
    along: Float[Array, "3"]  # the same in axes of the second body
    standing: dict[str, Standing]


def mode_excesses(content: MechanismSection, run: Run) -> dict[str, Any]:
    """Return for each contact the share by which its first peak is too large for want of modes; nothing without beams and
    bodies by finite elements.

    Zero where none is bent, or where it is not known. Later peaks are of beams that vibrate already. Of struts and bushings
    nothing is told: links vibrate on, and estimates of what their modes do to them were far off.
    """
    if run.states is None or not any(isinstance(body.flexible, KNOWN) for body in content.body):
        return {}
    found = np.zeros(len(content.contact))
    for number, contact in enumerate(content.contacts):
        hits = [episode for episode in run.episodes if episode.contact == number and episode.peak > 0]
        if contact.normal is not None and hits and _bent(content, number):
            found[number] = _excess_of_peak(content, run, hits[0])
    words = "share by which the first peak force is too large, as the links that it bends have no more modes"
    return {"mode_excess": (("contact",), found, {"units": "1", "long_name": words})}


def _bent(content: MechanismSection, number: int) -> list[Any]:
    """Return the links with other modes that a contact bends, with what elements join to its trees."""
    roots = set().union(*(joined_roots(content, name) for name, _ in content.sides(content.contacts[number])))
    links = [body for body in content.body if isinstance(body.flexible, KNOWN)]
    return [body.flexible for body in links if content.root_of(body.name) in roots]


def stated_mode_errors(content: MechanismSection) -> dict[str, str]:
    """Return what share of its peak force each contact that bends a body by finite elements may be off for want of modes, as an
    attribute of the result: a line each, its name and the share; nothing without such a body."""
    lines = []
    for number, contact in enumerate(content.contacts):
        shares = [one.peak_error for one in _bent(content, number) if isinstance(one, FiniteElementSection)]
        if shares:
            lines.append(f"{contact.name}\t{min(shares)!r}")
    return {"mode_errors": "\n".join(lines)} if lines else {}


def _excess_of_peak(content: MechanismSection, run: Run, hit: Episode) -> float:
    """Return the share by which the peak of a contact is too large, below zero too small; zero where it is not known."""
    state: State = map_leaves(lambda rows: rows[hit.onset_row], run.states)
    meeting = map_leaves(np.asarray, _meeting_of_group(content, state, hit.contact))
    contact = content.contacts[hit.contact]
    bodies = [body for body, _ in content.sides(contact)]
    speed = float(run.log.seen["depth_rate"][hit.onset_row, hit.contact])
    struck = struck_at(content, meeting.standing, bodies, list(meeting.points), meeting.normal)
    struck = struck._replace(speed=speed, delay=delay_of(content))
    if not speed > 0 or struck.kept().all():
        return 0.0
    return float(np.nan_to_num(struck.excess(np.asarray(elastic_forces(contact.normal, meeting.along)))))


@partial(jit_once, static=("number",))
def _meeting_of_group(content: MechanismSection, state: State, number: int) -> GroupMeeting:
    model = content.model()
    group, places = model.groups[number], model.placement(state).bodies
    assert isinstance(group, ContactGroup)
    own, other = places[group.first], places[group.second]
    touches = jax.vmap(lambda member: combine(member, group.common).touch(own, other))(group.members)
    _, normal, point = map_leaves(lambda rows: rows[jnp.argmax(touches.depth)], touches)
    bodies = places[: len(content.bodies)]
    return GroupMeeting(
        jnp.stack([body.local(point).array() for body in (own, other)]),
        normal.array(),
        other.rotation.transposed_times(normal).array(),
        standing_of(content, [one.pose for one in bodies], [one.twist for one in bodies]),
    )
