"""What control achieved after a capture: settling, the tumble that is left, what was used up."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dockdyn.results.control.budget import used_up

SETTLED = {"rad/s": np.radians(0.05), "m/s": 1e-3}  # rates below these count as rest
LEFT = 0.01  # of the momentum at the start: more was to be taken up


def settling(dataset: xr.Dataset) -> float | None:
    """When all joint rates have come below 0.05 °/s, or 1 mm/s, for good (s); None where they have not."""
    names = _joint_coordinates(dataset)
    limits = [SETTLED[str(dataset.coordinate_unit.sel(coordinate=name).item())] for name in names]
    rates = np.abs(dataset.coordinate_rate.sel(coordinate=names).values)
    moving = np.flatnonzero((rates > limits).any(axis=1))
    if not len(moving):
        return 0.0
    return float(dataset.time[moving[-1] + 1]) if moving[-1] + 1 < len(rates) else None


def _joint_coordinates(dataset: xr.Dataset) -> list[str]:
    """Names of the velocities of the chaser's joints."""
    others = {str(name) for name in dataset.mode.values}
    names = [str(name) for name in dataset.coordinate.values]
    return [name for name in names if name not in others and not name.startswith("base.")]


def _tumble(dataset: xr.Dataset) -> tuple[float, float]:
    """At the end: the larger angular velocity of the two bases (rad/s), and angular momentum (N m s) outside of the wheel."""
    rates = []
    for rate, names in (
        (dataset.coordinate_rate, dataset.coordinate),
        (dataset.target_coordinate_rate, dataset.target_coordinate),
    ):
        turning = [str(n) in ("base.roll", "base.pitch", "base.yaw") for n in names.values]
        rates.append(float(np.linalg.norm(rate.values[-1, turning])))
    return max(rates), float(np.linalg.norm(dataset.spin_momentum.values[-1]))


def detumbling(dataset: xr.Dataset) -> dict[str, float | None]:
    """Entries of the summary; None unless the law is to take up momentum."""
    rate, momentum = _tumble(dataset) if dataset.attrs["control"] == "detumble" else (None, None)
    return {"remaining_rate_rad_s": rate, "remaining_momentum_N_m_s": momentum}


def control_warnings(dataset: xr.Dataset) -> list[str]:
    """Where a budget did not suffice, or the run was too short, to stop the tumble."""
    if dataset.attrs["control"] != "detumble":
        return []
    rate, momentum = _tumble(dataset)
    spent = used_up(dataset)
    words = (
        f"the bodies still turn at {np.degrees(rate):.3g} deg/s at the end, with {momentum:.3g} N m s to be taken up"
    )
    if len(spent) == 2 and momentum > LEFT * float(np.linalg.norm(dataset.spin_momentum[0])):
        return [f"the budget does not suffice: {words}; {' and '.join(part for part in spent if part)}"]
    return [f"{words}: the run ends too early, or torques are too small"] if rate > SETTLED["rad/s"] else []
