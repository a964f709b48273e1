"""A planned sweep as a CSV file and as numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dockdyn.studies.identification.arm_path import JointChain, Path
from dockdyn.studies.identification.plan import Row, SineSweep


def sweep_csv(
    sweep: SineSweep, period: float, times: Row, commands: Row, arm: JointChain | None = None, path: Path | None = None
) -> str:
    """Return time, command and, with an arm, the joints: a log of the experiment has a column more, the actual position."""
    headings, columns = ["time [s]", "command [m]"], [times, commands]
    lines = [
        f"# sine sweep, {sweep.amplitude:g} m, {sweep.start:g} to {sweep.end:g} Hz in {sweep.duration:g} s, each command "
        f"held for {period:g} s"
    ]
    if arm is not None and path is not None:
        lines.append(f"# {arm.tip} of {arm.name} about ({', '.join(f'{x:.6f}' for x in path.tip[0])}) m in base axes")
        headings += [f"{name} [{unit}]" for name, unit in zip(arm.joints, arm.units, strict=True)]
        columns += list(path.joints.T)
    lines.append(",".join(headings))
    digits = max(6, 3 - math.floor(math.log10(period)))
    for row in zip(*columns, strict=True):
        lines.append(",".join([f"{row[0]:.{digits}f}", *(f"{value:.12g}" for value in row[1:])]))
    return "\n".join(lines) + "\n"


def sweep_answer(
    sweep: SineSweep, period: float, times: Row, commands: Row, arm: JointChain | None = None, path: Path | None = None
) -> dict[str, Any]:
    """Return what a plan asks of the robot."""
    speed = np.gradient(commands, times)
    late = times > times[-1] - max(1.0 / max(sweep.end, 1e-9), 5 * period) - sweep.easing()
    answer: dict[str, Any] = {
        "samples": len(times),
        "period_s": period,
        "duration_s": sweep.duration,
        "from_hz": sweep.start,
        "to_hz": sweep.end,
        "largest_position_m": float(np.abs(commands).max()),
        "amplitude_at_end_m": float(np.abs(commands[late]).max()),
        "largest_speed_m_s": float(np.abs(speed).max()),
        "largest_acceleration_m_s2": float(np.abs(np.gradient(speed, times)).max()),
        "ramp_s": sweep.easing(),
        "joints": None,
    }
    if arm is not None and path is not None:
        rates = np.abs(np.diff(path.joints, axis=0)).max(axis=0) / period
        answer |= {
            "arm": arm.name,
            "tip": arm.tip,
            "attitude_held": arm.holds_attitude,
            "least_singular_value": float(path.manipulability.min()),
            "joints": [
                {"name": name, "unit": unit, "from": float(low), "to": float(high), "largest_rate": float(rate)}
                for name, unit, low, high, rate in zip(
                    arm.joints, arm.units, path.joints.min(axis=0), path.joints.max(axis=0), rates, strict=True
                )
            ],
        }
    return answer
