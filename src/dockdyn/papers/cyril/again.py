"""What becomes of an impact of flexible links when they meet again, and when the contact gives way instead."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import xarray as xr

from dockdyn import simulate
from dockdyn.papers.cyril.meeting import BELOW, meet, of_law, with_modes
from dockdyn.papers.table import Row
from dockdyn.scenario.load import load

MODES = (0, 1, 2, 3)  # a link
RESTITUTION = 0.5
SPAN = {
    "duration": "1.5 s",
    "output.interval": "5 ms",
    "integrator.method": "located",
    "integrator.tolerance": 1e-9,
    **BELOW,
}
AGAIN = {"contact.hand-on-payload.impact.restitution": RESTITUTION}
STIFFNESS, DAMPING = 20e3, 60.0  # N/m, N s/m
COMPLIANT = {
    "contact.hand-on-payload.impact": None,
    "contact.hand-on-payload.normal": {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": DAMPING},
}
WAYS: dict[str, dict[str, Any]] = {"again": AGAIN, "compliant": COMPLIANT}


@lru_cache(maxsize=len(MODES) * len(WAYS))
def run(way: str, modes: int) -> xr.Dataset:
    """Return `cyril-elastic`, normal along −y, wrist locked, by one of `WAYS`."""
    return simulate(load("cyril-elastic", {**SPAN, **WAYS[way], **with_modes(modes)}))


def _first(modes: int) -> float:
    """Return the normal impulse (N s) of the first impact."""
    found = meet("cyril-elastic", {**BELOW, **with_modes(modes)})
    return float(of_law(found, "energetic", restitution=RESTITUTION, friction=0.0).impulse[0])


def _total_impulse(way: str, modes: int) -> float:
    """Return the normal impulse (N s) of the whole run."""
    return float(run(way, modes).episode_impulse.sum())


@lru_cache(maxsize=1)
def impulses() -> xr.Dataset:
    """Return normal impulses by the number of modes: of the first impact, of all, and of a compliant contact."""
    values = {
        "first": [_first(modes) for modes in MODES],
        "again": [_total_impulse("again", modes) for modes in MODES],
        "compliant": [_total_impulse("compliant", modes) for modes in MODES],
    }
    words = {
        "first": "normal impulse of the first impact",
        "again": "normal impulse of all impacts, and of rest between them",
        "compliant": "normal impulse of a compliant contact",
    }
    return xr.Dataset(
        {name: ("modes", found, {"units": "N s", "long_name": words[name]}) for name, found in values.items()},
        coords={"modes": list(MODES)},
    )


def impulse_rows(data: xr.Dataset) -> list[Row]:
    rows = []
    for modes in MODES:
        one, meetings = data.sel(modes=modes), run("again", modes)
        count = meetings.sizes["episode"]
        rests = int((meetings.episode_release.values != meetings.episode_onset.values).sum())
        said = f"{count} impact{'s' if count != 1 else ''}"
        if rests:
            said += f", {rests} spell{'s' if rests != 1 else ''} of rest between"
        rows += [
            Row(f"n = {modes}: normal impulse of the first impact", None, float(one.first), "N s"),
            Row(f"n = {modes}: of all impacts", None, float(one.again), "N s", f"{said}."),
            Row(f"n = {modes}: of a compliant contact", None, float(one.compliant), "N s"),
        ]
    spread = [float(np.ptp(data[name].values[1:]) / data[name].values[1:].mean()) for name in ("first", "again")]
    rows += [
        Row(
            "spread over n = 1 to 3, first impact", None, spread[0], "1", "Range over mean: it goes on falling with n."
        ),
        Row("spread over n = 1 to 3, all impacts", None, spread[1], "1"),
    ]
    return rows
