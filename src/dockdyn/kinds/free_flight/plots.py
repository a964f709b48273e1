"""Figures over time of what only a free flight has: its latch; the others are `contact_charts`."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel
from dockdyn.report.charts.time_chart import time_chart


def latch(dataset: xr.Dataset) -> Chart:
    """Travel into the latch, and the forces of its ramp and of what it holds."""
    length, time = float(dataset.latch_length) * 1e3, dataset.time.values  # mm
    travel = dataset.latch_travel.values * 1e3
    falls = Level(length, colour="green", dash=1, width=1.2, legend="the latch falls in")
    limits = max(float(travel.min()), -2 * length), max(1.25 * length, 1.05 * float(travel.max()))
    forces = [
        Line(time, np.linalg.norm(dataset[name].values, axis=1), colour, f"force of the {words}", dash)
        for name, words, colour, dash in (("latch_force", "ramp", "orange", 1), ("hold_force", "hold", "ink", 0))
    ]
    way = Panel("travel, mm", [Line(time, travel, name="travel of the tip")], levels=[falls, ZERO], limits=limits)
    return time_chart(dataset, [way, Panel("force, N", forces)])
