"""Impacts and latches on the terminal: the verdict, the figures behind it, warnings."""

from __future__ import annotations

from typing import Any

from dockdyn.report.report import ReportBlock, number_rows
from dockdyn.report.terminal import show_parts
from dockdyn.report.wording import format_significant


def show_impact(answer: dict[str, Any], speed: float) -> None:
    """Print what `dockdyn impact multibody` found for a chaser that comes with `speed` (m/s)."""
    after = answer["relative_velocity_after_m_s"]
    closing = f"{format_significant(abs(after))} m/s"
    if abs(after) <= 1e-12 * abs(speed):
        verdict = "No relative velocity is left: chaser and target go on together."
    elif after > 0:
        verdict = f"Favourable for docking: after the impact the chaser still closes in on the target, at {closing}."
    else:
        verdict = f"Unfavourable for docking: after the impact chaser and target part, at {closing}."
    correction = answer["first_order_correction_m_s"]
    rows = [
        ("effective mass ratio", answer["effective_mass_ratio"], ""),
        ("relative velocity after", after, "m/s"),
        ("change of it by the stiffnesses, to first order", correction, "m/s"),
        ("velocity of the chaser after", answer["chaser_velocity_after_m_s"], "m/s"),
        ("velocity of the target after", answer["target_velocity_after_m_s"], "m/s"),
        ("impulse", answer["impulse_N_s"], "N s"),
    ]
    show_parts([verdict, ReportBlock(rows=number_rows(rows))], answer["warnings"])


def show_latch(answer: dict[str, Any], speed: float | None, reach: float | None, travel: float) -> None:
    """Print what `dockdyn impact latch` found for a chaser that comes with `speed` (m/s), if one was given.

    `reach` (m) is how far such a probe gets where nothing catches it, `travel` (m) how far it must get.
    """
    least = f"{answer['minimum_velocity_m_s']:.6g} m/s"
    if speed is None or reach is None:
        verdict = f"Latches from {least} on."
    elif answer["latched"]:
        verdict = f"Latches: {speed:.6g} m/s is enough; it takes {least}."
    else:
        verdict = (
            f"Does not latch: {speed:.6g} m/s is less than the {least} it takes; "
            f"the probe stops at {1e3 * reach:.6g} mm of {1e3 * travel:.6g} mm."
        )
    rows = [
        ("least speed that latches", answer["minimum_velocity_m_s"], "m/s"),
        ("frequency", answer["frequency_rad_s"], "rad/s"),
        ("time from first contact to latch", answer["latch_time_s"], "s"),
    ]
    show_parts([verdict, ReportBlock(rows=number_rows(rows))])
