"""The loop of a scenario around its nominal contact, its rightmost roots and the delays at which it is stable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.deferred import Complex, Float
from dockdyn.docking.operating_point import Judged, Nominal
from dockdyn.docking.resting import (
    counts_all,
    motion_count,
    nominal_loop,
    nominal_of,
    of_whole_model,
    whole_matrices,
)
from dockdyn.mechanism.rest import RestingContact
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.setups import setup_named
from dockdyn.stability.growth import batch_of_one, loop_roots, matrices_of
from dockdyn.stability.linearise import split_by_delayed_terms
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import contact_root, sampled_windows
from dockdyn.stability.multirate import hyperperiod_of
from dockdyn.stability.windows import Windows, moved_roots, stable_windows

ROOTS = 8  # rightmost roots reported
MANY = 12  # numbers that are seen, from which on delays are looked at only up to the first that is too long
WIDER = 3  # times that delays are looked for twice as far
UNSEEN = 1e-3  # 1/s, or of the rightmost root: growth that is more than the rounding of roots at zero
UNSURE = 1e-6  # error of the rightmost root over its size: more is told


@record
class Roots:
    """Rightmost roots and stable delays of a scenario's loop, however they were found."""

    roots: np.ndarray  # 1/s, the rightmost first
    windows: Windows
    drift: int  # motions that no force sees: free flight
    doubts: list[str]  # what makes the roots less than certain


@record
class JudgedLoop:
    """The loop of a scenario around its nominal contact, with its roots and stable delays."""

    scenario: Scenario  # with what its compensator leaves to tuning
    nominal: Nominal
    loop: Loop
    contact: RestingContact
    roots: Roots

    @property
    def several(self) -> bool:
        """Whether several contacts, or more than two free bodies, are linearised together."""
        return self.loop.behind is not None or counts_all(self.scenario.content, self.nominal)

    @property
    def delay(self) -> float:
        """The loop's own delay (s)."""
        return float(self.loop.delay)

    @property
    def growth(self) -> float:
        """Growth rate (1/s) of the slowest motion."""
        return float(self.roots.roots[0].real)

    @property
    def stable(self) -> bool:
        return self.growth < 0

    def own_root(self) -> complex | None:
        """Return the rightmost root (1/s) where it is the contact's own oscillation."""
        return None if self.several else contact_root(self.loop, self.roots.roots)


def judge_tuned_loop(stated: Scenario) -> JudgedLoop:
    """Return the loop of a scenario with what its compensator leaves to tuning. Raises ScenarioError as `judge_loop`, and where
    no numbers are found."""
    return judge_loop(setup_named(stated.setup).tuned(stated))


def judge_loop(scenario: Scenario) -> JudgedLoop:
    """Return the loop of a scenario as it stands, a compensator without numbers left out.

    Raises ScenarioError for no contact at the nominal state, one without stiffness or that moves nothing, periods that never
    meet, and motions that change too much within a cycle for floating-point numbers.
    """
    nominal = nominal_of(scenario)
    loop, contact = nominal_loop(scenario, nominal)
    roots = _roots_of(scenario, loop, nominal)
    if np.isnan(roots.roots[0]):
        words = (
            "its periods or delays are too long beside its fastest motion for floating-point numbers; must be shorter"
        )
        raise ScenarioError(f"{scenario.name}: loop: {words}")
    return JudgedLoop(scenario, nominal, loop, contact, roots)


def _roots_of(scenario: Scenario, loop: Loop, nominal: Nominal) -> Roots:
    """Return roots and stable delays: of the whole model where only a delay is stated, else of the loop along the normal."""
    if loop.sampled():
        try:
            hyperperiod_of(loop)
        except ValueError as error:
            where = scenario.content.loop.key_of_timing(error)
            raise ScenarioError(f"{scenario.name}: {where}: {error}") from None
        return Roots(loop_roots(batch_of_one(loop), ROOTS)[0], sampled_windows(loop), 0, [])
    content = scenario.content
    matrices, unseen = delay_matrices(content, loop, nominal)
    if unseen is None:
        return roots_with_delay(matrices, float(loop.delay))
    if not matrices.shape[-1]:
        raise ScenarioError(
            f"{scenario.name}: no motion of the bodies depends on the contact's force as far as floating-point numbers tell; "
            "its stiffness, or their masses, inertias and places, must be nearer to each other"
        )
    found = roots_with_delay(matrices, float(loop.delay))
    if (growth := unseen.real.max(initial=0.0)) > UNSEEN * max(1.0, abs(found.roots[0])):
        found.doubts.append(f"a motion that no contact force depends on grows at {growth:.4g} 1/s, whatever the delay")
    return replace(found, drift=motion_count(content, nominal) - len(matrices[0]) + found.drift)


def delay_matrices(
    content: Judged, loop: Loop, nominal: Nominal
) -> tuple[Float[np.ndarray, "2 n n"], Complex[np.ndarray, "unseen"] | None]:
    """Return A₀, A₁ (1/s) of a loop of which only a delay is stated, and the roots (1/s) that no force sees; None for a loop
    along a normal, which has no such."""
    if not of_whole_model(content, nominal):
        return matrices_of(loop), None
    return split_by_delayed_terms(whole_matrices(content, nominal))


def roots_with_delay(matrices: Float[np.ndarray, "2 n n"], delay: float) -> Roots:
    """Return roots and stable delays of ẋ(t) = A₀ x(t) + A₁ x(t − delay); matrices in 1/s, the delay in s."""
    delays = np.array([delay])
    roots, errors, still = moved_roots(matrices, delays, ROOTS)
    doubts = []
    if not errors[0] <= UNSURE * max(abs(roots[0]), 1 / max(delay, 1e-12)):
        doubts.append("the delay is too long beside the loop's motion for its rightmost root to be certain")
    around = delay if len(matrices[0]) >= MANY else None
    windows = stable_windows(matrices, delays, around=around)
    for _ in range(WIDER):  # a stable window that does not end where the search does
        open_end = delay >= windows.longest or (around is None and _own_window_is_open(windows, delay))
        if not (roots[0].real < 0 and windows.longest < np.inf and open_end):
            break
        windows = stable_windows(matrices, delays, longest=2 * max(windows.longest, delay), around=around)
    return Roots(roots, windows, still, doubts)


def _own_window_is_open(windows: Windows, delay: float) -> bool:
    """Return whether the search ended before the stable window of a `delay` (s) did."""
    return any(low <= delay < high == windows.longest for low, high in windows.stable)
