"""Whether contacts can be as they are stated: none begins deep inside what it touches, each has the damping it is to have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dockdyn.contact.laws.relative_damping import IMMOVABLE
from dockdyn.deferred import Array, Float, jnp, xp
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.mechanism.head_on import Damped
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

DOUBLINGS = 10  # of what is missing, in search of the distance that is enough
CLOSE = 1e-9  # of a restitution, to rounding
SHARE = 0.02  # of it, as near as it is told
DEEP = 0.2  # m: of a point, which has no radius; more overlap than that at the start is a mistake
FAR = 0.2  # m, from its seat: what a latch has caught from farther than that as the run begins was never captured


class TouchingContent(Protocol):
    """The content of a scenario whose parts may be in contact at t = 0."""

    def meetings(self) -> list[tuple[str, float]]:
        """Return what may touch, in the order of the depths: how messages name it, and the radius (m) of what touches."""

    def first_depths(self) -> Float[Array, "meetings"]:
        """Return how deep (m) each of them is at t = 0, also from traced numbers; positive is overlap."""

    def latch_keys(self) -> list[str]:
        """Return the keys of the latches, in their order."""

    def first_catches(self) -> Float[Array, "latches"]:
        """Return how far (m) from its seat each of them has caught what it holds at t = 0, zero of what is free then; also from
        traced numbers."""

    def relative_laws(self) -> list[tuple[str, str, int]]:
        """Return the laws that state damping relative to the bodies that meet: key, the key in it, the contact's number."""

    def damped_laws(self) -> list[Damped]:
        """Return what comes of the damping of each of these, also from traced numbers."""

    def relative_elements(self) -> list[tuple[str, str, float]]:
        """Return the elements that state damping relative to their bodies: key of the table, the key in it, and its value."""

    def damped_elements(self) -> list[Array]:
        """Return the damping (N s/m, N m s/rad) of each of these, also from traced numbers."""


def refuse_overlap(scenario: Scenario) -> None:
    """Raise ScenarioError where what touches begins deeper in something else than its own radius, a point than `DEEP`; where
    no damping is that which a law states by a ratio or a restitution; and where a latch begins with a striker that is farther
    than `FAR` from its seat."""
    refuse_damping(scenario)
    _refuse_far_catches(scenario)
    meetings = scenario.content.meetings() if hasattr(scenario.content, "meetings") else []
    if not meetings:
        return
    for where, depth, most in overlaps_too_deep(meetings, np.asarray(_first_depths(scenario.content))):
        remedy = _describe_remedy(scenario, depth - most)
        words = f"overlap at the start = {depth:.3g} m; must be at most {most:.3g} m: {remedy}"
        raise ScenarioError(f"{scenario.name}: {where}: {words}")


def overlaps_too_deep(
    meetings: Sequence[tuple[str, float]], depths: Float[np.ndarray, "meetings"]
) -> list[tuple[str, float, float]]:
    """Return what begins too deep (m) in something else: how messages name it, how deep it is, and how deep it may be."""
    found = zip(meetings, depths, allowed_depths(meetings), strict=True)
    return [(where, depth, float(most)) for (where, _), depth, most in found if depth > most]


def allowed_depths(meetings: Sequence[tuple[str, Scalar | float]]) -> list[Scalar | float]:
    """Return how deep (m) each may begin in what it touches: its radius; a point, which has none, as deep as `DEEP`."""
    return [xp.where(radius > 0, radius, DEEP) for _, radius in meetings]


def begins_too_deep(content: TouchingContent) -> Flag:
    """Return whether anything begins too deep in something else, or too far from what a latch has caught; from traced
    numbers."""
    meetings = content.meetings() if hasattr(content, "meetings") else []
    deep = jnp.zeros((), bool)
    if meetings:
        deep = jnp.any(content.first_depths() > jnp.stack(list(map(jnp.asarray, allowed_depths(meetings)))))
    return deep | jnp.any(content.first_catches() > FAR) if _latches_of(content) else deep


def _latches_of(content: TouchingContent) -> list[str]:
    return content.latch_keys() if hasattr(content, "latch_keys") else []


def _refuse_far_catches(scenario: Scenario) -> None:
    """Raise ScenarioError where a latch would hold at t = 0 what is farther than `FAR` from its seat."""
    if not (latches := _latches_of(scenario.content)):
        return
    for key, far in zip(latches, np.asarray(_first_catches(scenario.content)), strict=True):
        if far > FAR:
            raise ScenarioError(
                f"{scenario.name}: {key}: would hold from t = 0 on what begins {far:.3g} m from its seat, which is no capture; "
                f"must be at most {FAR:g} m: mend its anchor, its axis (out of the seat) or its reach, or let the bodies begin "
                "outside of it"
            )


def refuse_damping(scenario: Scenario) -> None:
    """Raise ScenarioError where a law states its damping relative to bodies that do not move, or a restitution that its force
    has not even without a damper."""
    _refuse_damping_of_elements(scenario)
    if not (stated := scenario.content.relative_laws()):
        return
    for (law, key, _), found in zip(stated, damped_laws(scenario.content), strict=True):
        where = f"{scenario.name}: {law}.{key}"
        if not found.mass < IMMOVABLE:
            raise ScenarioError(
                f"{where}: neither body can move along the normal at t = 0; must be damping in its place"
            )
        if found.missing > CLOSE:
            raise ScenarioError(
                f"{where}: even without a damper the force gives back less, the restitution is smaller by {found.missing:.3g}; "
                "must be that of the force or less"
            )


def _refuse_damping_of_elements(scenario: Scenario) -> None:
    """Raise ScenarioError where an element states a damping ratio between bodies that do not move along it."""
    if not (stated := scenario.content.relative_elements()):
        return
    for (where, key, value), dashpots in zip(stated, damped_elements(scenario.content), strict=True):
        if not np.any(dashpots) and value != (0.0 if key == "damping_ratio" else 1.0):
            raise ScenarioError(
                f"{scenario.name}: {where}.{key}: its bodies cannot move along it at t = 0, or its ends are in one place; "
                "must be damping in its place"
            )


def _describe_remedy(scenario: Scenario, depth: float) -> str:
    """Return in words what moves bodies apart that overlap by a `depth` (m) too much."""
    approach = getattr(scenario.content, "approach", None)
    if approach is None:
        return f"move a body's position back, against the way it comes, by {depth:.3g} m or more"
    low, high = 0.0, depth
    for _ in range(DOUBLINGS):
        if not _overlaps_at(scenario, approach.distance + high):
            break
        low, high = high, 2 * high
    else:
        return "raise approach.distance"
    while high - low > SHARE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _overlaps_at(scenario, approach.distance + middle) else (low, middle)
    return f"raise approach.distance by {high * (1 + SHARE):.3g} m or more"


def _overlaps_at(scenario: Scenario, distance: float) -> bool:
    """Return whether anything is too deep in something else where the chaser begins at a `distance` (m)."""
    content = scenario.at({"approach.distance": distance}).content
    return bool(overlaps_too_deep(content.meetings(), np.asarray(_first_depths(content))))


@jit_once
def damped_laws(content: TouchingContent) -> list[Damped]:
    """Return what comes of the damping of the laws that state it relative to the bodies that meet, as numbers."""
    return content.damped_laws()


@jit_once
def damped_elements(content: TouchingContent) -> list[Array]:
    """Return the damping of the elements that state it relative to their bodies, an array each."""
    found: list[Array] = content.damped_elements()
    return found


@jit_once
def _first_depths(content: TouchingContent) -> Float[Array, "meetings"]:
    return content.first_depths()


@jit_once
def _first_catches(content: TouchingContent) -> Float[Array, "latches"]:
    return content.first_catches()
