"""What a report says of a latch behind a ramp: how the probe came, what it takes to latch, how far it went."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.ramp_latch_data import BEHIND
from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel
from dockdyn.report.charts.time_chart import time_chart
from dockdyn.report.report import Plot
from dockdyn.report.wording import AT_AN_INSTANT, NOTHING, capture_load, format_significant

WORDS = (
    "Travel of the probe into the latch: captured where it reaches the dashed line, thrown back where it turns before; below, "
    "the force of its ramp, and that by which it holds what it has caught: its peak is the load of the capture."
)


def ramp_in_words(summary: dict[str, Any]) -> list[str]:
    """Return how the probe came to the ramp and what that takes, in a sentence; nothing without a ramp."""
    if "latch.entry_speed_m_s" not in summary:
        return []
    entry, margin, needed = (
        summary["latch.entry_speed_m_s"],
        summary["latch.speed_margin_m_s"],
        _describe_needed_speed(summary),
    )
    if entry is not None and summary.get("latch.least_speed_m_s") is not None:
        margin = entry - summary["latch.least_speed_m_s"]
    if entry is None:
        return [f"The probe did not reach the latch; {needed}."]
    came = f"The probe came at {format_significant(entry)} m/s"
    if summary["captured"]:
        above = (
            f", {format_significant(margin, 3)} m/s more than it takes" if margin is not None and margin >= 0 else ""
        )
        return [said for said in (f"{came}{above}.", capture_load(summary)) if said]
    way = f"went {format_significant(summary['latch.travel_m'] * 1e3, 5)} mm into"
    if "latch.least_speed_m_s" not in summary and margin is not None and margin >= 0:  # something else held it
        rigid = format_significant(summary["latch.least_speed_rigid_m_s"], 6)
        return [
            f"{came} and {way} the latch. Straight in, with nothing but the latch in its way, {rigid} m/s would do: what else "
            "it touched, or its tilt, took too much of the speed."
        ]
    return [f"{came} and {way} the latch; {needed}."]


def _describe_needed_speed(summary: dict[str, Any]) -> str:
    """Return in words what speed it takes to latch."""
    if "latch.least_speed_m_s" not in summary:
        return (
            f"rigid bodies that meet head on take {format_significant(summary['latch.least_speed_rigid_m_s'], 6)} m/s"
        )
    least = summary["latch.least_speed_m_s"]
    return "what it takes is not known" if least is None else f"it takes {format_significant(least, 6)} m/s"


def ramp_rows(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of the summary table; none without a ramp."""
    if BEHIND not in dataset:
        return []
    rows = [
        ("Travel into the latch", f"{format_significant(summary['latch.travel_m'] * 1e3, 5)} mm"),
        ("Travel that latches", f"{format_significant(float(dataset[BEHIND]) * 1e3)} mm"),
    ]
    if "latch.least_speed_m_s" in summary:
        least = summary["latch.least_speed_m_s"]
        said = NOTHING if least is None else f"{format_significant(least, 6)} m/s"
        rows.append(("Least speed that latches, simulated", said))
    rigid = format_significant(summary["latch.least_speed_rigid_m_s"], 6)
    rows.append(("Least speed that latches two rigid bodies, closed form", f"{rigid} m/s"))
    if not summary["captured"]:
        return rows
    if not summary["impacts"]:
        return [*rows, *_load_rows(summary)]
    lost = summary["impacts"][0]
    return [
        *rows,
        ("Relative speed at the capture", f"{format_significant(float(dataset.capture_speed))} m/s"),
        ("Impulse that ended it", f"{format_significant(lost['impulse_normal_N_s'])} N s"),
        ("Energy that it took", f"{format_significant(lost['energy_loss_J'])} J"),
        AT_AN_INSTANT,
    ]


def _load_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the capture had to take, and what the catch bore where that is told."""
    impulse, loss = summary["latch.impulse_along_N_s"], summary["latch.energy_loss_J"]
    rows = [
        ("Impulse of the capture", f"{format_significant(impulse)} N s along the docking axis"),
        ("Energy of the motion that it ends", f"{format_significant(loss)} J"),
    ]
    if summary.get("latch.peak_force_N") is None:
        return rows
    least = "" if summary["peak_force_known"] else "at least "
    at = format_significant(summary["latch.peak_time_s"], 6)
    rows.append(
        ("Largest force of the catch", f"{least}{format_significant(summary['latch.peak_force_N'])} N (at {at} s)")
    )
    for words, key, unit, scale in (
        ("Largest moment of the catch", "latch.peak_moment_N_m", "N m", 1.0),
        ("Farthest that the catch yielded", "latch.grip_travel_m", "mm", 1e3),
        ("Largest normal force on the wall after the capture", "latch.seat_peak_force_N", "N", 1.0),
        ("Normal force on the wall at the end, against the catch", "latch.seat_force_end_N", "N", 1.0),
        ("Energy in the catch at the end", "latch.grip_stored_energy_J", "J", 1.0),
        ("Energy that the catch has dissipated", "latch.grip_dissipated_energy_J", "J", 1.0),
    ):
        if summary.get(key) is not None:
            rows.append((words, f"{format_significant(summary[key] * scale)} {unit}"))
    return rows


def ramp_figures(dataset: Dataset) -> Iterator[Plot]:
    """Yield the figure of the travel; none without a ramp."""
    if BEHIND in dataset:
        yield Plot("latch-travel", partial(latch_travel, dataset), WORDS)


def latch_travel(dataset: Dataset) -> Chart:
    """Return the travel of the probe into the latch beside the travel that latches."""
    length, travel = float(dataset[BEHIND]) * 1e3, dataset.latch_travel.values * 1e3  # mm
    falls = Level(length, colour="green", dash=1, width=1.2, legend="the latch falls in")
    lines = [Line(dataset.time, travel, name="travel of the probe")]
    caught = float(dataset.capture_time)
    if np.isfinite(caught):
        lines.append(Line([caught], [length], "ink", "captured", marker="o", size=5, joined=False))
    limits = max(float(travel.min()), -1.2 * length), max(1.25 * length, 1.05 * float(travel.max()))
    forces = [
        Line(dataset.time, np.linalg.norm(dataset[name].values, axis=1), colour, f"force of the {words}", dash)
        for name, words, colour, dash in (("latch_force", "ramp", "orange", 1), ("hold_force", "hold", "ink", 0))
    ]
    way = Panel("travel, mm", lines, height=2.1, levels=[falls, ZERO], limits=limits)
    return time_chart(dataset, [way, Panel("force, N", forces, 1.4)])
