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


GIVEN = {  # impulses from outside by momentum
    "linear": ("thruster_impulse", "gravity_impulse"),
    "angular": ("thruster_turning_impulse", "gravity_turning_impulse"),
}


def kept(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """The `linear` or `angular` momentum that should not change: without what thrusters and gravity gave."""
    momentum = dataset[f"{name}_momentum"]
    for impulse in GIVEN[name]:
        if impulse in dataset:
            momentum = momentum - dataset[impulse]
    return momentum


def given_by_contacts(dataset: xr.Dataset) -> xr.DataArray:
    """Change (J) since t = 0 of the energy of motion and of springs inside, less the work of control."""
    energy = dataset.kinetic_energy
    if "internal_energy" in dataset:
        energy = energy + dataset.internal_energy
    change = energy - energy[0]
    return change - dataset.control_work if "control_work" in dataset else change


def drift(momentum: xr.DataArray, scale: xr.DataArray) -> float:
    """Largest change of a momentum since t = 0, relative to the largest sum of the bodies' magnitudes."""
    return ratio(float(departure(momentum).max()), float(scale.max()))


def departure(momentum: xr.DataArray) -> np.ndarray:
    """How far a momentum is from its start at each instant, by size."""
    return np.linalg.norm((momentum.values - momentum.values[0]).reshape(momentum.sizes["time"], -1), axis=1)
