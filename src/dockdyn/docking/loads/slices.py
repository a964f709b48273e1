"""Instants of a run for static analyses: those at which a load of an interface is largest, each with the reason.

Units: s, N, N m.
Source: definition; parts of a port's load as `mechanism/named_points.py` has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Float
from dockdyn.docking.loads.histories import Interface

EQUAL = 1e-12  # of the largest: what is less below it is as large, and the first of such instants is meant
ROUNDING = 1e-6  # of the largest force of a run, and of moments that force on an arm of 1 m: less is none


class TimeSlice(NamedTuple):
    """An instant, by the number of its sample, and what is largest there."""

    sample: int
    reasons: tuple[str, ...]


def worst_slices(interfaces: Sequence[Interface]) -> list[TimeSlice]:
    """Return the instants at which a load of an interface is largest, in their order, each once with all its reasons.

    Of each interface these are the resultant force and moment; of a port its parts along, across and about the axis. What is
    `ROUNDING` beside the largest force of all is none.
    """
    least = ROUNDING * max(np.linalg.norm(one.loads[:, :3], axis=1).max() for one in interfaces)
    reasons: dict[int, list[str]] = {}
    for one in interfaces:
        for words, unit, values in _judged_loads(one):
            if (largest := values.max()) > least:
                first = int((values >= (1 - EQUAL) * largest).argmax())
                reasons.setdefault(first, []).append(f"{words} at {one.name}, {largest:.4g} {unit}")
    return [TimeSlice(sample, tuple(reasons[sample])) for sample in sorted(reasons)]


def _judged_loads(one: Interface) -> Iterator[tuple[str, str, Float[np.ndarray, "time"]]]:
    """Yield what is judged of an interface: words, unit, values of which the largest decides."""
    force, moment = one.loads[:, :3], one.loads[:, 3:]
    if one.axis is None:
        yield "largest force", "N", np.linalg.norm(force, axis=1)
        yield "largest moment", "N m", np.linalg.norm(moment, axis=1)
        return
    for part, values in port_parts(one).items():
        words = part.removesuffix("_moment")
        yield f"largest {words}", "N" if words == part else "N m", values


def port_parts(port: Interface) -> dict[str, Float[np.ndarray, "time"]]:
    """Return the parts of the load at a port with an axis, as the result's `interface_…` name them (N, N m)."""
    axis = port.axis
    assert axis is not None
    force, moment = port.loads[:, :3], port.loads[:, 3:]
    along, about = force @ axis, moment @ axis
    return {
        "tension": along,
        "compression": -along,
        "shear": np.linalg.norm(force - along[:, None] * axis, axis=1),
        "torsion_moment": np.abs(about),
        "bending_moment": np.linalg.norm(moment - about[:, None] * axis, axis=1),
    }
