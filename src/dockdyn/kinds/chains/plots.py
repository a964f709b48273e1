"""Figures of two chains of masses: relative velocity with its prediction, velocities of the masses, travel into a latch."""

from __future__ import annotations

import numpy as np
import xarray as xr

from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel, lines_of
from dockdyn.report.charts.time_chart import time_chart


def relative_velocity(dataset: xr.Dataset) -> Chart:
    """Relative velocity of the centres of mass, with what effective masses predict after each impact."""
    relative = dataset.system_velocity[:, 0] - dataset.system_velocity[:, 1]
    release = dataset.episode_release.values
    known = np.isfinite(release)
    after, predicted = dataset.episode_relative_after.values, dataset.episode_relative_predicted.values
    words = "after an impact, predicted by effective masses"
    lines = [
        Line(dataset.time, relative, name="simulated"),
        Line(release[known], after[known], "ink", "after an impact, simulated", marker="o", size=5, joined=False),
        Line(release, predicted, "orange", words, marker="x", size=5, joined=False),
    ]
    return time_chart(dataset, [Panel("relative velocity, m/s", lines, height=2.4, levels=[ZERO])])


def velocities(dataset: xr.Dataset) -> Chart:
    """Velocities of all masses and, where there are more than two, of the centres of mass."""
    single, time = dataset.sizes["body"] == 2, dataset.time.values
    names = ["chaser", "target"] if single else [str(name) for name in dataset.body.values]
    panels = [Panel("velocity, m/s", lines_of(time, dataset.velocity.values[:, :, 0], names), 1.9 if single else 1.7)]
    if not single:
        centres = [
            Line(time, dataset.system_velocity[:, side], "ink", f"centre of mass, {system}", dash=side)
            for side, system in enumerate(("chaser", "target"))
        ]
        panels.append(Panel("centres of mass, m/s", centres, 1.7))
    return time_chart(dataset, panels)


def forces(dataset: xr.Dataset) -> Chart:
    """Force between the masses that meet, peaks marked, and the springs inside."""
    time, held = dataset.time.values, [str(name) for name in dataset.joint.values] if "joint" in dataset.coords else []
    meeting = [
        Line(time, dataset.normal_force[:, 0], "ink", "between the masses that meet"),
        Line(dataset.episode_peak_time, dataset.episode_peak_force, "ink", marker="o", joined=False),
    ]
    panels = [Panel("force, N", meeting, 1.7 if held else 1.9)]
    if held:  # by the spring, which pushes the chaser's last mass back and the target's on
        pushed = dataset.joint_force.values[:, :, 0] * [-1.0 if name == "mass 1" else 1.0 for name in held]
        names = ["chaser" if name == "mass 1" else "target" for name in held]
        inside = lines_of(time, pushed, [f"inside the {name}" for name in names])
        panels.append(Panel("inside, N", inside, levels=[ZERO]))
    return time_chart(dataset, panels)


def latch_travel(dataset: xr.Dataset) -> Chart:
    """Travel of the probe into the latch beside the travel that latches."""
    length, depth = float(dataset.latch_length) * 1e3, dataset.depth.values[:, 0] * 1e3  # mm
    falls = Level(length, colour="green", dash=1, width=1.2, legend="the latch falls in")
    lines = [Line(dataset.time, depth, name="travel of the probe")]
    caught = float(dataset.capture_time)
    if np.isfinite(caught):
        lines.append(Line([caught], [length], "ink", "captured", marker="o", size=5, joined=False))
    limits = max(float(depth.min()), -1.2 * length), 1.25 * length
    return time_chart(dataset, [Panel("travel, mm", lines, height=2.1, levels=[falls, ZERO], limits=limits)])
