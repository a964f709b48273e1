"""Margins of a loop as figures, by which it can be judged like a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.deferred import Float
from dockdyn.scenario.load import Scenario
from dockdyn.stability.growth import growth_rates
from dockdyn.stability.loop_margins import amplitude_ratio, gain_margin, phase_error, restitution_of_loop, vary_number
from dockdyn.stability.sampled_loop import SampledLoop
from dockdyn.stability.windows import Windows, rightmost_growth
from dockdyn.studies.margins.judged_loop import JudgedLoop, delay_matrices, judge_tuned_loop

LAW = ("stiffness", "damping")  # of contacts, by whose numbers what is measured grows


def margin_figures(scenario: Scenario, gain: bool = True) -> dict[str, float]:
    """Return the margins of a scenario's loop by the names that `dockdyn.margins` gives them, with `gain_margin` besides.

    Infinite where nothing is too much, NaN where there is no such figure; yes or no is 1 or 0. Where the search for a critical
    delay ended without one, it is as long as delays were looked at: the loop tolerates that or more.

    `gain_margin` is the factor by which the delayed force may grow, for a stiffer contact or a sensor that reads too much; it
    takes longest, and is NaN where no `gain` is asked for. Raises ScenarioError as `dockdyn.margins` does.
    """
    judged = judge_tuned_loop(scenario)
    loop, own = judged.loop, judged.own_root()
    critical = _tolerated_delay(judged.roots.windows, judged.delay, judged.stable)
    found = {
        "stable": float(judged.stable),
        "critical_delay_s": critical,
        "delay_margin_s": critical - judged.delay,
        "gain_margin": gain_margin(lambda factors: _growth_with(judged, factors)) if gain else None,
        "growth_rate_1_s": judged.growth,
        "spectral_radius": SampledLoop(loop).spectral_radius() if loop.sampled() else None,
        "apparent_restitution": None if judged.several else restitution_of_loop(loop),
        "amplitude_ratio_per_oscillation": amplitude_ratio(loop, own),
        "phase_error_rad_per_oscillation": phase_error(loop, own),
    }
    return {name: np.nan if value is None else float(value) for name, value in found.items()}


def _tolerated_delay(windows: Windows, delay: float, stable: bool) -> float:
    """Return the delay (s) up to which a loop with its own `delay` is known to be stable; infinite where none destabilises
    it."""
    if not stable:
        return min(windows.critical_delay, delay)
    return next((high for low, high in windows.stable if low <= delay < high), delay)


def _growth_with(judged: JudgedLoop, factors: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """Return the growth rates (1/s) of the loop with all that is measured multiplied by each of the factors."""
    loop = judged.loop
    if loop.sampled():
        both: dict[str, Any] = {name: float(getattr(loop, name)) * factors for name in LAW}
        loops = replace(vary_number(loop, "stiffness", factors), **both)
        if (behind := loops.behind) is not None:  # which has laws of its own, of all contacts
            laws: dict[str, Any] = {name: factors[:, None, None] * getattr(behind, name) for name in LAW}
            loops = replace(loops, behind=replace(behind, **laws))
        return growth_rates(loops)
    matrices, _ = delay_matrices(judged.scenario.content, loop, judged.nominal)
    scaled = np.stack([np.stack([matrices[0], *(factor * matrices[1:])]) for factor in factors])
    return rightmost_growth(scaled, np.full((len(factors), 1), judged.delay))
