"""Whether a figure has the derivative that was found, judged by differences to either side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

STEPS = (1e-6, 1e-5)  # of the number, each tried downwards and upwards
ZERO = 1e-2  # SI units: in place of a number that is zero
AGREE = 2e-3  # relative: difference and derivative, besides what rounding leaves
ROUNDING = 3e-10  # relative error of a figure
JUMP = 1e-3  # relative: a peak's time that moves further within a step is that of another peak
BENT = (0.01, 0.5)  # a derivative that within this share of the number changes by more than this share of itself
COUNTED = {"contact_count": "the number of contacts", "captured": "whether the latch captures"}
NOT = "not differentiable here"
SMOOTHED = "; --smooth 0.05 gives the derivative of its mean over a spread of the numbers"


def probes(value: float) -> Float[np.ndarray, "4"]:
    """Changes of a number at which a figure is computed: down and up by the first step, then by the second."""
    size = abs(value) or ZERO
    return np.array([side * step * size for step in STEPS for side in (-1, 1)])


def judged(
    of: str, derivative: float, steps: Float[np.ndarray, "4"], figures: Mapping[str, np.ndarray], reasons: list[str]
) -> dict[str, Any]:
    """Differences down and up, whether they agree with the derivative, and what is the matter if not.

    `figures` and `reasons` (of cases that failed) are those of the scenario itself, then at each of the steps. A side on
    which a case failed, the number being at its limit, is left out.
    """
    ran = np.array([not words for words in reasons])
    sides = (ran[1:3] & ran[3:5]) if ran[0] else np.zeros(2, bool)
    answer: dict[str, Any] = {"differences": None, "differentiable": None, "reason": ""}
    if not sides.any():
        return answer | {"reason": f"not compared: {next(words for words in reasons if words)}"}
    answer["differentiable"] = False
    some = np.r_[True, sides, sides]
    if words := _what_changes({name: values[some] for name, values in figures.items() if name in COUNTED}):
        return answer | {"reason": f"{NOT}: {words}"}
    values = figures[of]
    if np.isnan(values[some]).any():
        return answer | {"reason": f"{NOT}: the figure comes or goes within {STEPS[1]:g} of the number"}
    near, far = ((values[1:] - values[0]) / steps).reshape(2, 2)
    answer["differences"] = [float(rise) if there else None for rise, there in zip(far, sides, strict=True)]
    limits = near + (near - far) / (STEPS[1] / STEPS[0] - 1)  # without what a bend adds in proportion to the step
    noise = ROUNDING * abs(values[0]) / np.abs(steps[[0, 2]])
    if _agree(derivative, limits[sides], noise[0]):
        return answer | {"differentiable": True, "reason": _bend(derivative, far, noise[1]) if sides.all() else ""}
    when = figures.get("peak_time_s", np.zeros(5))[some]
    if of.startswith("peak") and np.ptp(when) > JUMP * abs(when[0]):
        return answer | {"reason": f"{NOT}: two peaks are equally high"}
    return answer | {"reason": f"{NOT}: {said(derivative, limits, sides)}"}


def _what_changes(counted: Mapping[str, np.ndarray]) -> str:
    """What of the things that are counted is not the same everywhere."""
    for name, values in counted.items():
        found = sorted({float(value) for value in np.nan_to_num(values)})
        if len(found) > 1:
            many = f" ({' or '.join(f'{count:g}' for count in found)})" if name == "contact_count" else ""
            return f"{COUNTED[name]} changes within {STEPS[1]:g} of the number{many}{SMOOTHED}"
    return ""


def _agree(derivative: float, limits: Float[np.ndarray, "sides"], noise: float) -> bool:
    room = AGREE * max(abs(derivative), *np.abs(limits)) + 2 * noise
    return bool((np.abs(limits - derivative) <= room).all())


def _bend(derivative: float, sides: Float[np.ndarray, "2"], noise: float) -> str:
    """What to say of a figure whose derivative holds for small changes only."""
    change = (
        max(abs(sides[1] - sides[0]) - 4 * noise, 0.0) / STEPS[1]
    )  # of the derivative, for 100 % more of the number
    if change * BENT[0] <= BENT[1] * abs(derivative):
        return ""
    share = BENT[1] * abs(derivative) / change
    return f"holds for small changes only: another by {BENT[1]:.0%} after {100 * share:.2g} % of the number"


def said(derivative: float, limits: Float[np.ndarray, "2"], sides: Bool[np.ndarray, "2"]) -> str:
    """A derivative and differences that do not agree, in words."""
    words = [
        f"{rise:.4g} {way}" for rise, way, there in zip(limits, ("downwards", "upwards"), sides, strict=True) if there
    ]
    return f"differences give {' and '.join(words)}, not {derivative:.4g} (two equal peaks, a contact that grazes, or an edge)"
