"""What control did in space, for the page: charts over time with what to look for in them, rows of the summary table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Bool, Float
from dockdyn.report.charts.chart import ZERO, Chart, Line, Panel, line_style
from dockdyn.report.charts.contact_charts import component_lines
from dockdyn.report.charts.time_chart import time_chart
from dockdyn.report.report import Plot
from dockdyn.report.wording import format_significant
from dockdyn.results.control.budget import steered_body, thrusters_idle

ROUND_OFF = 1e-9  # of the run, by which times differ that are the same
ROW = 0.24  # in, of a thruster
HIGH = 0.7  # of its row: how far up it goes while it fires


def control_figures(dataset: Dataset) -> Iterator[Plot]:
    """Yield what control gave, and when thrusters fired; nothing of a run without."""
    if "control_work" in dataset:
        words = f"What control gives {steered_body(dataset)}, in its axes: flat tops are at the limits."
        yield Plot("control", partial(control_chart, dataset), words)
    if "thruster_on_time" in dataset and np.any(dataset.thruster_on_time.values):
        yield Plot(
            "thrusters",
            partial(thruster_chart, dataset),
            "When each thruster fires, and for how long it has fired since the start: pulses that keep coming while nothing "
            "is wanted are a limit cycle.",
        )


def control_rows(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rows of the summary table: what control did to its body; nothing of a run without."""
    if "control_work" not in dataset:
        return []
    rows = [(f"Control of {steered_body(dataset)}", str(dataset.attrs["control"]))]
    if summary["control.attitude_error_rad"] is not None:
        rows.append(
            (
                "Attitude error at the end",
                f"{format_significant(np.degrees(summary['control.attitude_error_rad']))} deg",
            )
        )
    rows.append(("Work of control", f"{format_significant(summary['control.work_J'])} J"))
    for words, key, unit in (
        ("Largest momentum of the wheel, by axis", "control.wheel_momentum_N_m_s", "N m s"),
        ("Impulse that thrusters have used", "control.thruster_impulse_N_s", "N s"),
        ("Angular impulse that thrusters have used", "control.thruster_turning_impulse_N_m_s", "N m s"),
    ):
        if summary[key]:
            rows.append((words, f"{format_significant(summary[key])} {unit}"))
    if thrusters_idle(dataset):
        rows.append(("Impulse that thrusters have used", "none: they never fired"))
    return rows


def arm_rows(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return rows of the summary table; none without control of an arm."""
    if "settling_time_s" not in summary:
        return []
    settled = summary["settling_time_s"]
    slides = " and 1 mm/s" if "m" in dataset.joint_unit.values else ""
    words = "not within the run" if settled is None else f"{format_significant(settled)} s"
    rows = [(f"Joint rates below 0.05 deg/s{slides} after", words)]
    if summary["remaining_rate_rad_s"] is not None:
        rate = format_significant(np.degrees(summary["remaining_rate_rad_s"]), 3)
        left = format_significant(summary["remaining_momentum_N_m_s"])
        rows += [("Bodies turn at the end at", f"{rate} deg/s"), ("Angular momentum left to take up", f"{left} N m s")]
    return rows


def control_chart(dataset: Dataset) -> Chart:
    """Return what wheel and thrusters give the body, the wheel's momentum, and what motors give an arm; the body's that is zero
    throughout is left out."""
    words = {
        "wheel_torque": "wheel, N m",
        "wheel_momentum": "wheel, N m s",
        "thruster_torque": "thrusters, N m",
        "thruster_force": "thrusters, N",
    }
    shown = [name for name in words if np.any(dataset[name].values)] or ["wheel_torque"]
    time = dataset.time.values
    panels = [
        Panel(words[name], component_lines(time, dataset[name].values), height=1.2, levels=[ZERO]) for name in shown
    ]
    if "motor_effort" in dataset:
        efforts = zip(dataset.motor.values, dataset.motor_effort.values.T, strict=True)
        lines = [
            Line(time, effort, line_style(index)["colour"], str(name)) for index, (name, effort) in enumerate(efforts)
        ]
        panels.insert(0, Panel("motors, N m or N", lines, height=1.4, levels=[ZERO]))
    return time_chart(dataset, panels)


def thruster_chart(dataset: Dataset) -> Chart:
    """Return when each thruster fires, a row each from the first at the top, and for how long it has fired."""
    names, time = [str(name) for name in dataset.thruster.values], dataset.time.values
    on_time, firing = dataset.thruster_on_time.values, dataset.thruster_firing.values > 0
    rows, sums = [], []
    for index, name in enumerate(names):
        x, y = _firing_wave(time, firing[:, index], on_time[:, index])
        foot = np.full(y.shape, len(names) - 1.0 - index)
        colour = line_style(index)["colour"]
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
    """Return times (s) and whether a thruster fires (1 or 0) then, as a square wave.

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
