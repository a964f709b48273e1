"""How a run was computed, for its report."""

from __future__ import annotations

from typing import Any

import xarray as xr

from dockdyn.report.page import versions
from dockdyn.report.wording import significant

METHODS = {
    "located": "Runge–Kutta of order four, contact events and their delayed images located",
    "fixed": "Runge–Kutta of order four with a fixed step, events not located (first order across a contact)",
}


def how_made(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """How the run was computed."""
    return [
        ("Integrator", METHODS.get(summary["integrator"], summary["integrator"])),
        ("Step", f"{summary['step_s']:.4g} s at most"),
        ("Steps", f"{summary['steps']}"),
        ("Samples", f"{dataset.sizes['time']}"),
        ("Wall time", f"{significant(summary['wall_time_s'], 3)} s"),
        *versions(dataset),
    ]
