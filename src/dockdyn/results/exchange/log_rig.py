"""The log of a driven rig as columns: what its robot was told and where it was, what its sensor read, where the model was."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dockdyn.deferred import Int
from dockdyn.results.exchange.log_table import CommonRows, LogColumn, LogTable
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.units import convert

CYCLE = "/cycle"  # the channel with all that goes in and comes out of a rig's cycle
SCENARIO = "scenario.toml"  # the attachment
COUNT, TICK = "input_pose_count", "output_tick"  # cycles of the robot, and of the virtual spacecraft
AXES = ("x", "y", "z", "rx", "ry", "rz")
PARTS = {  # column: (field, units of places and of turns)
    "command": ("output_command", "m", "rad"),
    "actual": ("input_pose", "m", "rad"),
    "model": ("output_model_pose", "m", "rad"),
    "model_rate": ("output_model_rate", "m/s", "rad/s"),
    "reading": ("input_load", "N", "N m"),
    "measured_force": ("output_load", "N", "N m"),
    "position": ("output_position", "m", ""),
}

ENCODERS = "actual"  # what touches is there, and not where the virtual spacecraft are, in `position`


def rig_table(path: Path, messages: Sequence[Mapping[str, Any]], logged: Sequence[int], scenario: str) -> LogTable:
    """Return the cycles in which the robot said where it was, a row each, on the robot's own clock.

    The time is zero where the virtual spacecraft begin to move, or with the first cycle where they do not: that of the
    scenario's run. Columns of a robot in space are `command.x` to `command.rz`. ScenarioError for a scenario without a cycle.
    """
    period = _period_of(path, scenario)
    counts = np.array([int(message[COUNT]) for message in messages])
    new = np.diff(counts, prepend=counts[0] - 1) > 0
    kept = [message for message, fresh in zip(messages, new, strict=True) if fresh and int(message[COUNT]) >= 0]
    if not kept:
        raise ScenarioError(f"{path}: {CYCLE}: the robot never said where it was")
    moving = np.array([int(message[TICK]) for message in kept]) > 0
    ticks = _cycles_of(np.array([int(message[COUNT]) for message in kept]))
    zero = ticks[np.argmax(moving)] - kept[int(np.argmax(moving))][TICK] if moving.any() else ticks[0]
    columns = [LogColumn("time [s]", ((ticks - zero) * period).round(9))]
    for name, (field, place, turn) in PARTS.items():
        count = sum(key.startswith(f"{field}.") for key in kept[0])
        for axis in range(count):
            heading = name if count == 1 else f"{name}.{AXES[axis]}"
            cells = np.array([message[f"{field}.{axis}"] for message in kept], dtype=float)
            columns.append(
                LogColumn(f"{heading} [{place if axis < 3 else turn}]", cells, path=f"{CYCLE}.{field}.{axis}")
            )
    for field in ("output_state", "output_cause"):
        columns.append(LogColumn(field, [message[field] for message in kept], path=f"{CYCLE}.{field}"))
    numbers = np.flatnonzero(new & (counts >= 0)) + 1
    stamps = [logged[number - 1] for number in numbers.tolist()]
    stretch = CommonRows(numbers, stamps, columns[0], CYCLE)
    return LogTable(str(path), columns, [stretch], counted="message", preferred=ENCODERS)


def _cycles_of(counts: Int[np.ndarray, "n"]) -> Int[np.ndarray, "n"]:
    """Return the robot's cycles from its count, which some robots keep in milliseconds."""
    steps = np.diff(counts)
    return np.rint((counts - counts[0]) / (np.median(steps) if len(steps) else 1.0)).astype(int)


def _period_of(path: Path, scenario: str) -> float:
    """Return the cycle (s) of the rig whose scenario this is."""
    try:
        loop = tomllib.loads(scenario)["loop"]
        given = (loop.get("hold") or loop["dynamics"])["period"]
        return convert(given, "s") if isinstance(given, str) else float(given)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ScenarioError(f"{path}: its {SCENARIO} has no loop.hold.period ({error})") from None
