"""Figures over time of what only a free flight has: latch, control, thrusters; the others are `contact_charts`."""

from __future__ import annotations

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel, series
from dockdyn.report.charts.contact_charts import components
from dockdyn.report.charts.time_chart import time_chart

ROUND_OFF = 1e-9  # of the run, by which times differ that are the same
ROW = 0.24  # in, of a thruster
HIGH = 0.7  # of its row: how far up it goes while it fires


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


def control(dataset: xr.Dataset) -> Chart:
    """What wheel and thrusters give the chaser, and the wheel's momentum; what is zero throughout is left out."""
    words = {
        "wheel_torque": "wheel, N m",
        "wheel_momentum": "wheel, N m s",
        "thruster_torque": "thrusters, N m",
        "thruster_force": "thrusters, N",
    }
    shown = [name for name in words if np.any(dataset[name].values)] or ["wheel_torque"]
    time = dataset.time.values
    panels = [Panel(words[name], components(time, dataset[name].values), height=1.2, levels=[ZERO]) for name in shown]
    return time_chart(dataset, panels)


def thrusters(dataset: xr.Dataset) -> Chart:
    """When each thruster fires, a row each from the first at the top, and for how long it has fired."""
    names, time = [str(name) for name in dataset.thruster.values], dataset.time.values
    on_time, firing = dataset.thruster_on_time.values, dataset.thruster_firing.values > 0
    rows, sums = [], []
    for index, name in enumerate(names):
        x, y = _firing_wave(time, firing[:, index], on_time[:, index])
        foot = np.full(y.shape, len(names) - 1.0 - index)
        colour = series(index)["colour"]
        rows.append(Line(x, foot + HIGH * y, colour, name, width=1.0, read=False))
        rows.append(Line(x, foot, colour, name, reach=foot + HIGH * y, read=False))
        sums.append(Line(time, on_time[:, index], colour, name))
    ticks = [(len(names) - 1.0 - index, name) for index, name in enumerate(names)]
    limits = -0.4, len(names) - 1.0 + HIGH + 0.3
    fires = Panel("fires", rows, height=0.4 + ROW * len(names), ticks=ticks, limits=limits)
    return time_chart(dataset, [fires, Panel("on-time, s", sums, height=1.4)])


def _firing_wave(
    time: Float[np.ndarray, "samples"], firing: Bool[np.ndarray, "samples"], on_time: Float[np.ndarray, "samples"]
) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and whether a thruster fires (1 or 0) then, as a square wave.

    Its on-time says how long it fired between two samples; whether it fired at them says at which end of that.
    """
    share = np.diff(on_time)
    late = firing[1:] & ~firing[:-1]
    start = np.where(late, time[1:] - share, time[:-1])
    spans = np.stack([start, start + share], axis=1)[share > 0]
    apart = np.ones(len(spans) + 1, bool)  # before each and after the last
    apart[1:-1] = spans[1:, 0] - spans[:-1, 1] > ROUND_OFF * float(time[-1])
    begins, ends = spans[apart[:-1], 0], spans[apart[1:], 1]
    inside = np.stack([begins, begins, ends, ends], axis=1).ravel()
    wave = np.tile([0.0, 1.0, 1.0, 0.0], len(begins))
    return np.r_[time[0], inside, time[-1]], np.r_[0.0, wave, 0.0]
