"""Round numbers on an axis."""

from __future__ import annotations

import itertools

import numpy as np

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # of a power of ten


def round_numbers(low: float, high: float, most: int) -> np.ndarray:
    """Return multiples of a round step within `low` and `high`, at least two: of not more than `most` steps, or of as few more
    as that takes."""
    return next(found for steps in itertools.count(most) if len(found := _multiples(low, high, steps)) > 1)


def _multiples(low: float, high: float, most: int) -> np.ndarray:
    least = (high - low) / most
    power = 10.0 ** np.floor(np.log10(least))
    step = power * next(step for step in STEPS if step * power >= least * (1 - 1e-12))
    return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
