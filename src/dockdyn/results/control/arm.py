"""What control of an arm achieved: settling, and the tumble that a law which is to take it up has left."""

from __future__ import annotations

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.results.control.budget import used_up

SETTLED = {"rad": np.radians(0.05), "m": 1e-3}  # a second: rates below these count as rest
LEFT = 0.01  # of the momentum at the start: more was to be taken up


def settling_time(dataset: Dataset) -> float | None:
    """Return when all joint rates have come below 0.05 °/s, or 1 mm/s, for good (s); None where they have not."""
    moving = [index for index, unit in enumerate(dataset.joint_unit.values) if str(unit) in SETTLED]
    limits = [SETTLED[str(dataset.joint_unit.values[index])] for index in moving]
    (fast,) = np.nonzero((np.abs(dataset.joint_rate.values[:, moving]) > limits).any(axis=1))
    if not len(fast):
        return 0.0
    return float(dataset.time[fast[-1] + 1]) if fast[-1] + 1 < dataset.sizes["time"] else None


def _angular_momentum_without_wheel(dataset: Dataset, row: int) -> float:
    """Return the angular momentum about the common centre of mass outside of the wheel (N m s) at a sample."""
    base = dataset.attitude.sel(body=dataset.attrs["steered_body"]).values[row]
    wheel = Quaternion.of(base).matrix().array() @ dataset.wheel_momentum.values[row]
    return float(np.linalg.norm(dataset.angular_momentum.values[row] - wheel))


def _residual_rotation(dataset: Dataset) -> tuple[float, float]:
    """Return the largest angular velocity of a body (rad/s) at the end, and the angular momentum that is left (N m s)."""
    return float(np.linalg.norm(dataset.rate.values[-1], axis=1).max()), _angular_momentum_without_wheel(dataset, -1)


def arm_summary(dataset: Dataset) -> dict[str, float | None]:
    """Return the entries of a summary; empty without control of an arm, None of what its law is not to do."""
    if "motor_effort" not in dataset:
        return {}
    rate, momentum = _residual_rotation(dataset) if dataset.attrs["control"] == "detumble" else (None, None)
    return {
        "settling_time_s": settling_time(dataset),
        "remaining_rate_rad_s": rate,
        "remaining_momentum_N_m_s": momentum,
    }


def arm_warnings(dataset: Dataset) -> list[str]:
    """Return where a budget did not suffice, or the run was too short, to stop a tumble."""
    if dataset.attrs.get("control") != "detumble":
        return []
    rate, momentum = _residual_rotation(dataset)
    spent = used_up(dataset)
    words = (
        f"the bodies still turn at {np.degrees(rate):.3g} deg/s at the end, with {momentum:.3g} N m s to be taken up"
    )
    if len(spent) == 2 and momentum > LEFT * _angular_momentum_without_wheel(dataset, 0):
        return [f"the budget does not suffice: {words}; {' and '.join(part for part in spent if part)}"]
    return [f"{words}: the run ends too early, or torques are too small"] if rate > SETTLED["rad"] else []
