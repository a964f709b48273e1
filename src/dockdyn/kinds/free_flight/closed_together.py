"""Contacts that are closed at the same time: their common linear form, and which close while the first is closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.free_flight.model_resting_contact import resting_contact
from dockdyn.kinds.free_flight.nominal import Judged, Nominal, contact_loop, rest, start_of, unlatched, until_contact
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.scenario.kinds import kind_named
from dockdyn.scenario.load import Scenario
from dockdyn.stability.linearise import Linear, linearise, seen
from dockdyn.stability.loop import Loop
from dockdyn.stability.roots import rightmost_roots

LOOKED_AT = 64  # moments of the run from the first onset on
LONGEST_LOOK = 200_000  # steps of it


class LaterSet(NamedTuple):
    """Contacts that are closed together from some time after the first onset on."""

    after: float  # s
    nominal: Nominal  # as they are then


@jit_once
def _matrices_once(content: TwoBodiesSection, nominal: Nominal) -> Float[Array, "2 n n"]:
    return linearise(*rest(content, nominal)).matrices()


def seen_matrices(content: TwoBodiesSection, nominal: Nominal) -> Float[np.ndarray, "2 n n"]:
    """A₀ and A₁ (1/s) of both bodies with all closed contacts, whose forces are one delay late; drift left out."""
    return seen(np.asarray(_matrices_once(content, nominal)))[0]


def counts_all(content: Judged, nominal: Nominal | None) -> bool:
    """Whether the loop is of several contacts: with more in it than a delay it is taken along the normal of one."""
    return (
        nominal is not None
        and bool(nominal.others)
        and not kind_named(content.kind).along_normal
        and not content.loop.beyond_delay()
    )


def delayed_loop(content: Judged, nominal: Nominal | None) -> Loop | Linear:
    """What margins are of, with its matrices and its delay (s): all closed contacts, or one normal; can be traced."""
    if nominal is not None and counts_all(content, nominal):
        return linearise(*rest(content, nominal))
    return contact_loop(content, nominal)[0]


def growth_of_linears(linears: Linear) -> Float[np.ndarray, "systems"]:
    """Growth rates (1/s) of many linear forms, drift left out; zero where no delayed force is seen."""
    parts = [seen(matrices)[0] for matrices in np.asarray(linears.matrices())]
    delays, sizes = np.asarray(linears.delay)[:, None], np.array([part.shape[-1] for part in parts])
    found = np.zeros(len(parts))
    for size in np.unique(sizes[sizes > 0]):
        these = np.flatnonzero(sizes == size)
        stack = np.stack([parts[i] for i in these])
        found[these] = rightmost_roots(stack, delays[these], count=1)[:, 0].real
    return found


@jit_once
def _slopes_once(content: TwoBodiesSection, nominal: Nominal) -> list[tuple[Array, Array, Array, Array]]:
    """Depth (m), effective mass (kg), stiffness (N/m) and damping (N s/m) of each closed contact."""
    model, state = rest(content, nominal)
    found = [(resting_contact(model, state, i), model.contacts[i].law) for i in nominal.closed]
    return [(law.depth, own.effective_mass, own.stiffness, own.damping) for own, law in found]  # type: ignore[attr-defined]


def closed_contacts(content: TwoBodiesSection, nominal: Nominal) -> list[dict[str, Any]]:
    """What each of several closed contacts is by itself, the nominal one first."""
    keys = ("depth_m", "effective_mass_kg", "stiffness_N_m", "damping_N_s_m")
    return [
        {"feature": content.contact[i].feature, "surface": content.contact[i].surface}
        | {key: float(value) for key, value in zip(keys, values, strict=True)}
        for i, values in zip(nominal.closed, _slopes_once(content, nominal), strict=True)
    ]


def names_of(content: TwoBodiesSection, nominal: Nominal) -> list[str]:
    """The closed contacts by their names, or by feature and surface."""
    sections = [content.contact[i] for i in nominal.closed]
    return [section.name or f"{section.feature}–{section.surface}" for section in sections]


@jit_once
def _from_onset(
    content: TwoBodiesSection, poses: tuple[Pose, Pose], twists: tuple[Twist, Twist], settings: located.Settings
) -> Solution:
    return located.solve(replace(unlatched(content), poses=poses, twists=twists), settings)


def later_sets(scenario: Scenario, nominal: Nominal | None) -> list[LaterSet]:
    """The sets of contacts that a run closes, one after the other, while a contact of the nominal set is still closed.

    Each once, as it is when it is first closed, without those that are part of the nominal set. None where the contact is
    placed by `[stability]` and not reached by a motion.
    """
    content = scenario.content
    if nominal is None or nominal.poses is None or len(content.contact) < 2:
        return []
    settings = replace(settings_for(content), samples=0)
    start, duration = start_of(content), content.duration
    poses, twists = start.q, start.v
    if not nominal.pressed:
        solution = until_contact(content, replace(settings, max_moments=1))
        poses, twists = nominal.poses, jax.tree.map(lambda rows: rows[0], solution.log.state.v)
        duration -= float(solution.log.time[0])
    most = min(float(settings.max_iterations), float(LONGEST_LOOK))
    settings = replace(settings, duration=np.float64(duration), max_moments=LOOKED_AT, max_iterations=np.float64(most))
    solution = jax.tree.map(np.asarray, _from_onset(content, poses, twists, settings))
    closed = np.stack(solution.log.state.mode, axis=-1)[: int(solution.moments)] != APART
    found: dict[frozenset[int], LaterSet] = {}
    begun = nominal.pressed
    for row, modes in enumerate(closed):
        now = frozenset(map(int, np.flatnonzero(modes)))
        begun = begun or bool(now & set(nominal.closed))
        if begun and not now & set(nominal.closed):
            break
        if not now <= set(nominal.closed) and now not in found:
            first, *others = [*(i for i in nominal.closed if i in now), *sorted(now - set(nominal.closed))]
            there = jax.tree.map(lambda rows, row=row: rows[row], solution.log.state.q)
            found[now] = LaterSet(float(solution.log.time[row]), Nominal(there, first, True, tuple(others)))
    return list(found.values())
