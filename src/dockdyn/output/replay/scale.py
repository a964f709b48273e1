"""How long arrows are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def arrow_scale(vectors: Sequence[np.ndarray], length: float) -> float:
    """Metres per unit, one, two or five times a power of ten, at which the largest of vectors (…, 3) is at most `length` m."""
    largest = max((float(np.linalg.norm(v, axis=-1).max(initial=0)) for v in vectors), default=0.0)
    if not np.isfinite(largest) or largest <= 0 or length <= 0:
        return 1.0
    exact = length / largest
    power = 10.0 ** np.floor(np.log10(exact))
    return float(power * max(step for step in (1, 2, 5) if step * power <= exact * (1 + 1e-9)))
