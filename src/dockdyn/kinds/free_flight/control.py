"""What control did to the chaser in free flight."""

from __future__ import annotations

import xarray as xr

from dockdyn.kinds.berthing.control import SPENT, used_up


def control_used_up(dataset: xr.Dataset) -> list[str]:
    """A warning of each that can give no more."""
    if "control_work" not in dataset:
        return []
    used, budget = float(dataset.thruster_use[-1, 0]), dataset.attrs["thruster_budget_N_s"]
    found = [words for words in used_up(dataset) if words]
    if budget and used >= SPENT * budget:
        found.append(f"thrusters have used {used:.3g} of {budget:.3g} N s")
    return [f"control has run out at the end: {words}" for words in found]
