"""What effective masses say of the impacts of a run: the relative velocity of two bodies or trees after a contact.

Exact for a contact that is stiff beside all that swings on it, without friction and alone; for what it is not, the prediction
and the run differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.group import ContactGroup
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.deferred import Array, Bool, Float, PyTree, jax, jnp
from dockdyn.impact.formulas.contact_duration import damping_ratio, kelvin_voigt_restitution
from dockdyn.integrate.model import State, over_rows
from dockdyn.integrate.solution import Solution
from dockdyn.mechanism.effective_mass import contact_normals, effective_masses
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.results.contact_figures import stored_figure
from dockdyn.results.episodes import Episode
from dockdyn.results.key_figures import KeyFigure
from dockdyn.results.log_data import Log
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.results.run import Run, episode_variable
from dockdyn.scenario.made import model_of
from dockdyn.trees import flatten, map_leaves, unflatten

RELATIVE = "relative velocity of the centres of mass along the normal"
WHOLE = "episode_relative_predicted"  # runs with predictions have it
SEEN = ("episode_relative_before", "episode_relative_after")  # of these a log tells, too
FIGURES: tuple[KeyFigure, ...] = tuple(
    stored_figure(
        name,
        words,
        variable,
        source="log" if variable in SEEN else "run",
        each=True,
        needs=variable if variable in SEEN else WHOLE,
    )
    for name, words, variable in (
        ("contact.effective_mass_kg", "effective mass at a contact", "episode_effective_mass"),
        ("contact.mass_ratio", "that over the effective mass of the whole bodies or trees", "episode_mass_ratio"),
        ("contact.restitution", "restitution of the contact's law", "episode_restitution"),
        ("contact.velocity_before_m_s", f"{RELATIVE} before a contact", "episode_relative_before"),
        ("contact.velocity_after_m_s", f"{RELATIVE} after it", "episode_relative_after"),
        ("contact.velocity_predicted_m_s", f"{RELATIVE} after it, by effective masses", WHOLE),
    )
)


class PredictedImpact(NamedTuple):
    """A contact at its onset; numbers that are none for one within a tree."""

    mass: float  # kg, effective, at the contact
    whole: float  # kg, effective, of both bodies or trees as wholes
    restitution: float
    closing: float  # m/s, of the contact
    before: float  # m/s, of the centres of mass, positive as they approach
    after: float  # m/s, once it is over


def predicted_impacts(content: Any, run: Run) -> dict[str, Any]:  # noqa: ANN401, of a scenario with a mechanism
    """Return variables over contacts, NaN where there is no saying.

    No formula says what a contact does with a delay, with friction, with several members, or while another one acts. Where that
    is so of all, nothing is returned.
    """
    if delay_of(content) or run.states is None or not run.episodes:
        return {}
    laws = [_law_of(group) for group in model_of(content).groups]
    if not any(laws):
        return {}
    struck = _predicted_impacts(content, laws, run)
    mass, whole, restitution, closing, before, after = (
        np.array(struck, float).reshape(-1, len(PredictedImpact._fields)).T
    )
    restitution[[_acts_beside_others(one, run.episodes) for one in run.episodes]] = np.nan
    impulse = np.where(closing > 0, (1 + restitution) * mass * closing, np.nan)
    variable = episode_variable
    return {
        "episode_effective_mass": variable(mass, "kg", "effective mass at the contact, along its normal"),
        "episode_mass_ratio": variable(mass / whole, "1", "that over the effective mass of the whole bodies or trees"),
        "episode_restitution": variable(restitution, "1", "restitution of the contact's law"),
        "episode_relative_before": variable(before, "m/s", f"{RELATIVE} at onset, positive as they approach"),
        "episode_relative_after": variable(after, "m/s", f"{RELATIVE} at release"),
        WHOLE: variable(before - impulse / whole, "m/s", f"{RELATIVE} after, by effective masses"),
    }


def relative_data(model: Mechanism, solution: Solution, log: Log, delay: Array | float) -> dict[str, Array]:
    """Return the relative velocities before and after contacts from the log of a run, in the rows where they begin.

    Nothing where no contact is without friction, or with a delay: then no run tells them.
    """
    pairs = [group for group in model.groups if isinstance(group, ContactGroup) and group.friction is None]
    if not pairs or model.delay is not None:
        return {}
    normals = _normals_where(model, solution, log.began().any(axis=1))
    return dict(zip(SEEN, _relative_velocities(model, log, delay, normals), strict=True))


def _relative_velocities(
    model: Mechanism, log: Log, delay: Array | float, normals: Float[Any, "rows contacts 3"]
) -> tuple[Float[Any, "rows contacts"], Float[Array, "rows contacts"]]:
    """Return the relative velocities (m/s) of the centres of mass before and after each contact along its normal, in the row
    where it began; NaN within a tree, elsewhere, and where the run ended before."""
    xp = log.time.__array_namespace__()
    masses, apart = xp.stack([xp.asarray(body.mass) for body in model.bodies]), []
    for number in range(len(model.groups)):
        sides = _bodies_of_sides(model, number)
        first, second = (
            xp.einsum("b,rbi->ri", masses[np.array(side)], log.seen["velocity"][:, np.array(side)])
            / masses[np.array(side)].sum()
            for side in sides
        )
        apart.append(second - first if sides[0] != sides[1] else xp.full_like(first, xp.nan))
    relative, rows = xp.stack(apart, axis=1), log.settled(delay)  # rows, contacts, axes
    before = xp.where(log.began(), xp.einsum("rci,rci->rc", relative, normals), xp.nan)
    later = xp.take_along_axis(relative, xp.maximum(rows, 0)[:, :, None], axis=0)
    return before, xp.where(rows >= 0, xp.einsum("rci,rci->rc", later, normals), xp.nan)


def _normals_where(model: Mechanism, solution: Solution, asked: Bool[Array, "rows"]) -> Float[Array, "rows contacts 3"]:
    """Return the normals of all contacts at the start of a run and at its moments, where they are `asked` for; else zeros."""
    start, nothing = model.initial(), jnp.zeros((len(model.groups), 3))
    states = map_leaves(lambda first, later: jnp.concatenate([first[None], later]), start, solution.log.state)
    return over_rows(
        lambda asked, x: jax.lax.cond(asked, lambda: contact_normals(model, x), lambda: nothing), asked, states
    )


def _law_of(group: ContactGroup | ImpactContact) -> NormalLaw | None:
    """Return the law of a contact without friction, where a formula gives its restitution; None for another one."""
    if not isinstance(group, ContactGroup) or group.friction is not None:
        return None
    return group.law if isinstance(group.law, SpringDashpot) or group.law.lossless() else None


def law_restitution(law: NormalLaw | None, mass: float) -> float:
    """Return the restitution e* of a law between bodies of an effective mass (kg); NaN where no formula gives it."""
    if law is None or not np.isfinite(mass):
        return np.nan
    if law.lossless():
        return 1.0
    return float(_of_dashpot(law, np.float64(mass))) if isinstance(law, SpringDashpot) else np.nan


@jit_once
def _of_dashpot(law: SpringDashpot, mass: Float[Array, ""]) -> Float[Array, ""]:
    ratio = damping_ratio(law.damping, law.stiffness, mass)
    return kelvin_voigt_restitution(ratio, "zero-depth" if law.adhesion else "zero-force")


def _acts_beside_others(one: Episode, others: Sequence[Episode]) -> bool:
    """Return whether another contact acts while one does."""
    return any(other is not one and not (other.release <= one.onset or other.onset >= one.release) for other in others)


def _predicted_impacts(content: Any, laws: Sequence[NormalLaw | None], run: Run) -> list[PredictedImpact]:  # noqa: ANN401, of a scenario
    """Return all contacts of a run at their onsets."""
    model = model_of(content)
    masses = np.array([float(body.mass) for body in model.bodies])
    pairs = {contact: _bodies_of_sides(model, contact) for contact in {episode.contact for episode in run.episodes}}
    known: dict[tuple[int, float], float] = {}  # restitution by contact and effective mass
    rows, contacts = (np.array([getattr(one, key) for one in run.episodes]) for key in ("onset_row", "contact"))
    onsets, directions = _at_onsets(content, run)
    normals = np.zeros((len(run.log.time), len(model.groups), 3))
    normals[rows, contacts] = directions
    before, after = (one[rows, contacts] for one in _relative_velocities(model, run.log, 0.0, normals))
    found, closings = [], run.at_onset("depth_rate")
    for number, (contact, closing, mass) in enumerate(zip(contacts, closings, onsets, strict=True)):
        sides, key = pairs[contact], (int(contact), float(mass))
        if sides[0] == sides[1]:
            found.append(PredictedImpact(np.nan, np.nan, np.nan, float(closing), np.nan, np.nan))
            continue
        if key not in known:
            known[key] = law_restitution(laws[contact], key[1]) if _is_single(model, contact) else np.nan
        whole = masses[sides[0]].sum() * masses[sides[1]].sum() / (masses[sides[0]].sum() + masses[sides[1]].sum())
        found.append(
            PredictedImpact(
                key[1], float(whole), known[key], float(closing), float(before[number]), float(after[number])
            )
        )
    return found


def _is_single(model: Mechanism, contact: int) -> bool:
    """Return whether a contact has one member."""
    return bool(getattr(model.groups[contact], "single", False))


def _bodies_of_sides(model: Mechanism, contact: int) -> list[list[int]]:
    """Return the numbers of all bodies that joints hold together with either body of a contact; without frames."""
    group, moving = model.groups[contact], model.moving
    both = [moving.held_with(moving.link(number)) for number in (group.first, group.second)]
    return [sorted(one for one in side if one < len(model.body_names)) for side in both]


def _at_onsets(content: Any, run: Run) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401, of a scenario
    """Return the effective mass (kg) and the normal of each contact of a run at its onset."""
    if not run.episodes:
        return np.zeros(0), np.zeros((0, 3))
    rows = np.array([episode.onset_row for episode in run.episodes])
    leaves, structure = flatten(map_leaves(lambda leaf: np.asarray(leaf)[rows], run.states))
    masses, normals = in_pieces(lambda *rows: _effective_masses(content, unflatten(structure, rows)), *leaves)
    each, which = np.arange(len(rows)), [episode.contact for episode in run.episodes]
    return masses[each, which], normals[each, which]


@jit_once
def _effective_masses(content: Any, states: State) -> PyTree:  # noqa: ANN401, of a scenario
    """Return the effective masses and the normals of all contacts, row by row."""
    model = content.model()
    return over_rows(lambda x: effective_masses(model, x), states)
