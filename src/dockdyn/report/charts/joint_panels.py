"""Joints over time: angles and rates of hinges, travel and speeds of slides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dockdyn.report.charts.chart import ZERO, Panel, lines_of


def joint_panels(
    time: np.ndarray,
    names: Sequence[str],
    places: np.ndarray,
    rates: np.ndarray,
    unit: str,
    at: Sequence[int],
) -> list[Panel]:
    """Return a panel of places and one of rates of joints with coordinates in `unit`, rad (drawn in deg) or m; a column each.

    They are those `at` these places among the run's joints.
    """
    turning = unit == "rad"
    scale, words = (np.degrees(1.0), ("angle, deg", "rate, deg/s")) if turning else (1.0, ("travel, m", "speed, m/s"))
    of = ("joint_angle", "joint_rate")
    return [
        Panel(
            label,
            lines_of(time, scale * values, list(names), of=name, at=at, factor=scale),
            1.8,
            levels=[ZERO],
        )
        for label, values, name in zip(words, (places, rates), of, strict=True)
    ]
