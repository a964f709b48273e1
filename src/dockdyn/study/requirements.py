"""Requirements, judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float


def margins(
    requirement: Any, values: Float[np.ndarray, "cases"]
) -> tuple[Bool[np.ndarray, "cases"], Float[np.ndarray, "cases"]]:
    """Which `values` of its figure meet a requirement, and by which margin (in the figure's unit, positive where met).

    NaN, what did not happen, does not meet it; its margin is NaN, as is that of what is true or false.
    """
    if isinstance(requirement.limit, bool):
        return values == float(requirement.limit), np.full(values.shape, np.nan)
    away = requirement.limit - values if requirement.relation.startswith("<") else values - requirement.limit
    with np.errstate(invalid="ignore"):
        return (away >= 0 if "=" in requirement.relation else away > 0), away
