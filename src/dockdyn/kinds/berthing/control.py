"""What control achieved after a capture: settling, the tumble that is left, what was used up."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

SETTLED = {"rad/s": np.radians(0.05), "m/s": 1e-3}  # rates below these count as rest
SPENT = 0.99  # of a capacity or budget: it is used up
LEFT = 0.01  # of the momentum at the start: more was to be taken up


def control_attributes(control: Any) -> dict[str, Any]:
    """The law and what wheel and thrusters may take up, for a dataset; zero where there are none."""

    def most(limit: float | None, budget: float | None) -> float:
        return 0.0 if limit is None else np.inf if budget is None else float(budget)

    return {
        "controlled": int(control.law != "none"),
        "control": control.law,
        "wheel_capacity_N_m_s": most(control.base_limit, control.base_capacity),
        "thruster_budget_N_s": most(control.thruster_force, control.thruster_impulse),
        "thruster_budget_N_m_s": most(control.thruster_torque, control.thruster_angular_impulse),
    }


def settling(dataset: xr.Dataset) -> float | None:
    """When all joint rates have come below 0.05 °/s, or 1 mm/s, for good (s); None where they have not."""
    names = joint_coordinates(dataset)
    limits = [SETTLED[str(dataset.coordinate_unit.sel(coordinate=name).item())] for name in names]
    rates = np.abs(dataset.coordinate_rate.sel(coordinate=names).values)
    moving = np.flatnonzero((rates > limits).any(axis=1))
    if not len(moving):
        return 0.0
    return float(dataset.time[moving[-1] + 1]) if moving[-1] + 1 < len(rates) else None


def joint_coordinates(dataset: xr.Dataset) -> list[str]:
    """Names of the velocities of the chaser's joints."""
    others = {str(name) for name in dataset.mode.values}
    names = [str(name) for name in dataset.coordinate.values]
    return [name for name in names if name not in others and not name.startswith("base.")]


def tumble(dataset: xr.Dataset) -> tuple[float, float]:
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
    rate, momentum = tumble(dataset) if dataset.attrs["control"] == "detumble" else (None, None)
    return {"remaining_rate_rad_s": rate, "remaining_momentum_N_m_s": momentum}


def used_up(dataset: xr.Dataset) -> list[str]:
    """What of the wheel and of the thrusters' torque is used up at the end, in words; empty ones where there is none."""
    capacity, budget = dataset.attrs["wheel_capacity_N_m_s"], dataset.attrs["thruster_budget_N_m_s"]
    wheel, used = float(abs(dataset.wheel_momentum[-1]).max()), float(dataset.thruster_use[-1, 1])
    spent = []
    if wheel >= SPENT * capacity:
        spent.append(f"the wheel holds {wheel:.3g} of {capacity:.3g} N m s" if capacity else "")
    if used >= SPENT * budget:
        spent.append(f"thrusters have used {used:.3g} of {budget:.3g} N m s" if budget else "")
    return spent


def control_warnings(dataset: xr.Dataset) -> list[str]:
    """Where a budget did not suffice, or the run was too short, to stop the tumble."""
    if dataset.attrs["control"] != "detumble":
        return []
    rate, momentum = tumble(dataset)
    spent = used_up(dataset)
    words = (
        f"the bodies still turn at {np.degrees(rate):.3g} deg/s at the end, with {momentum:.3g} N m s to be taken up"
    )
    if len(spent) == 2 and momentum > LEFT * float(np.linalg.norm(dataset.spin_momentum[0])):
        return [f"the budget does not suffice: {words}; {' and '.join(part for part in spent if part)}"]
    return [f"{words}: the run ends too early, or torques are too small"] if rate > SETTLED["rad/s"] else []
