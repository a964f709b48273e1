"""The kinds of devices that a driven rig can have, by the name in its scenario: which file of C speaks for each."""

from __future__ import annotations

from pathlib import Path

LOOP = Path(__file__).parent / "loop"
SPEAKERS = {"plain": LOOP / "plain.c"}  # of sensors and robots alike; it has the functions of loop/exchange.h


def speaker_of(sensor: str, robot: str) -> Path:
    """The file that speaks for a sensor and a robot of these kinds; the two are of one file."""
    if sensor != robot:
        raise ValueError(f"sensor {sensor!r} with robot {robot!r}: no file speaks for both")
    return SPEAKERS[sensor]
