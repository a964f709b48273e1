"""Whether a figure has the derivative that was found, judged by differences to either side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

STEPS = (1e-6, 1e-5)  # of the number: nothing may begin or end within the first; the second is for the differences
ZERO = 1e-2  # SI units: in place of a number that is zero
AGREE = 2e-3  # relative: difference and derivative, besides what rounding leaves
ROUNDING = 3e-10  # relative error of a figure
JUMP = 1e-3  # relative: a peak's time that moves further within the second step is that of another peak
BENT = (0.01, 0.5)  # a derivative that within this share of the number changes by more than this share of itself
COUNTED = {"contact_count": "the number of contacts", "captured": "whether the latch captures"}


def probes(value: float) -> Float[np.ndarray, "4"]:
    """Changes of a number at which a figure is computed: down and up by the first step, then by the second."""
    size = abs(value) or ZERO
    return np.array([side * step * size for step in STEPS for side in (-1, 1)])


def judged(
    of: str, derivative: float, steps: Float[np.ndarray, "4"], figures: Mapping[str, np.ndarray], reasons: list[str]
) -> dict[str, Any]:
    """Differences down and up, whether they agree with the derivative, and what is the matter if not.

    `figures` and `reasons` (of cases that failed) are those of the scenario itself, then at each of the steps.
    """
    values = figures[of]
    rises = (values[1:] - values[0]) / steps
    answer: dict[str, Any] = {"differences": [float(rises[2]), float(rises[3])], "differentiable": False}
    if failed := [words for words in reasons if words]:
        return answer | {"differences": None, "differentiable": None, "reason": f"not compared: {failed[0]}"}
    for name, words in COUNTED.items():
        if name in figures and np.ptp(np.nan_to_num(figures[name])) > 0:
            ends = sorted({float(value) for value in figures[name]})
            span = " or ".join("none" if value == 0 else f"{value:g}" for value in ends)
            said = f" ({span})" if name == "contact_count" else ""
            return answer | {"reason": f"not differentiable here: {words} changes within 1e-5 of the number{said}"}
    if np.isnan(rises).any():
        return answer | {"differences": None, "reason": "not differentiable here: the figure comes or goes"}
    near, far = rises[:2], rises[2:]
    sides = near + (near - far) / (
        STEPS[1] / STEPS[0] - 1
    )  # without what a curved figure adds in proportion to the step
    noise = ROUNDING * abs(values[0]) / np.abs(steps[[0, 2]])
    if (np.abs(sides - derivative) <= AGREE * max(abs(derivative), *np.abs(sides)) + 2 * noise[0]).all():
        return answer | {"differentiable": True, "reason": bend(derivative, far, noise[1])}
    when = figures.get("peak_time_s", np.zeros(1))
    if of.startswith("peak") and np.ptp(when) > JUMP * abs(when[0]):
        return answer | {"reason": "not differentiable here: two peaks are equally high"}
    words = f"differences are {sides[0]:.4g} downwards and {sides[1]:.4g} upwards, the derivative {derivative:.4g}"
    return answer | {"reason": f"not differentiable here: {words} (a contact that grazes, or the edge of a part)"}


def bend(derivative: float, sides: Float[np.ndarray, "2"], noise: float) -> str:
    """What to say of a figure whose derivative holds for small changes only."""
    change = (
        max(abs(sides[1] - sides[0]) - 4 * noise, 0.0) / STEPS[1]
    )  # of the derivative, for 100 % more of the number
    if change * BENT[0] <= BENT[1] * abs(derivative):
        return ""
    share = BENT[1] * abs(derivative) / change
    return f"holds for small changes only: it is another by {BENT[1]:.0%} after {100 * share:.2g} % of the number"
