"""What control did to the chaser in free flight."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dockdyn.study.berthing_control import SPENT, used_up


def control_totals(dataset: xr.Dataset) -> dict[str, Any]:
    """Entries of the summary; none where there is no control."""
    if "control_work" not in dataset:
        return {}
    held = dataset.attrs["control"] == "attitude-hold"
    return {
        "control_work_J": float(dataset.control_work[-1]),
        "attitude_error_end_rad": float(np.linalg.norm(dataset.attitude_error[-1])) if held else None,
        "peak_wheel_momentum_N_m_s": float(abs(dataset.wheel_momentum).max()),
        "thruster_use_N_s": float(dataset.thruster_use[-1, 0]),
        "thruster_use_N_m_s": float(dataset.thruster_use[-1, 1]),
    }


def control_used_up(dataset: xr.Dataset) -> list[str]:
    """A warning of each that can give no more."""
    if "control_work" not in dataset:
        return []
    used, budget = float(dataset.thruster_use[-1, 0]), dataset.attrs["thruster_budget_N_s"]
    found = [words for words in used_up(dataset) if words]
    if budget and used >= SPENT * budget:
        found.append(f"thrusters have used {used:.3g} of {budget:.3g} N s")
    return [f"control has run out at the end: {words}" for words in found]
