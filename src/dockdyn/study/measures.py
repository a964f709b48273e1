"""Numbers of a summary: what was not reached, errors relative to a scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr


def number(value: Any) -> float | None:
    """A float, or None for what the run did not reach."""
    return float(value) if np.isfinite(value) else None


def ratio(error: float, scale: float) -> float:
    return error / scale if scale > 0 else error


def drift(momentum: xr.DataArray, scale: xr.DataArray) -> float:
    """Largest change of a momentum since t = 0, relative to the largest sum of the bodies' magnitudes."""
    change = np.linalg.norm((momentum.values - momentum.values[0]).reshape(momentum.sizes["time"], -1), axis=1)
    return ratio(float(change.max()), float(scale.max()))
