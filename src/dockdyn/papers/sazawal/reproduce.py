"""Sazawal et al., a probe in a cone under a delayed contact force: Figures 7–14 recomputed.

Figures 7–9, the stability charts, are in `sazawal_stability`. Every number comes from the presets `sazawal-compliance` and
`sazawal-spring-dashpot` (Tables 1–3) with what a figure varies overridden. Eqs. 14 and 53 are used corrected: friction is
μ times the normal force against the sliding velocity, and D_N^T takes it from the target's to the nozzle's axes, so that
it has no part along the normal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import xarray as xr
from matplotlib.figure import Figure

from dockdyn.api import simulate, summarise
from dockdyn.papers import reproduction
from dockdyn.papers.reproduction import Made, Part, Progress
from dockdyn.papers.sazawal import pictures
from dockdyn.papers.sazawal import stability as sazawal_stability
from dockdyn.papers.table import Row, Table
from dockdyn.scenario.load import Scenario, load, parse
from dockdyn.studies.margins.answer import margins

Runs = dict[str, xr.Dataset]  # by the label of the curve
Summaries = dict[str, dict[str, Any]]

THREE_CONTACTS = {"duration": "28 s"}  # the third contact of every trajectory has begun well before
FIRST_CONTACT = {"duration": "10 s"}  # and here the last delayed force of the first has acted


def with_friction(coefficient: float) -> Scenario:
    return load("sazawal-compliance", {**THREE_CONTACTS, "contact.friction.coefficient": coefficient})


def with_stiffness(stiffness: float) -> Scenario:
    """All four springs of the compliance device, N/m."""
    springs = {f"contact.normal.springs.{i}.stiffness": stiffness for i in range(4)}
    return load("sazawal-compliance", {**THREE_CONTACTS, **springs})


def with_damping(damping: float, delay: float) -> Scenario:
    """The spring-dashpot with `damping` (N s/m) and `delay` (s)."""
    changed = {"contact.normal.damping": damping, "loop.delay": delay}
    return load("sazawal-spring-dashpot", {**FIRST_CONTACT, **changed})


def both_laws() -> dict[str, Scenario]:
    return {
        "compliance device": load("sazawal-compliance", THREE_CONTACTS),
        "spring-dashpot": load("sazawal-spring-dashpot", THREE_CONTACTS),
    }


def _frictions() -> dict[str, Scenario]:
    return {f"μ = {coefficient:g}": with_friction(coefficient) for coefficient in (0, 0.1, 0.2)}


def _stiffnesses() -> dict[str, Scenario]:
    return {f"k = {stiffness} N/m": with_stiffness(stiffness) for stiffness in (500, 1000, 2000)}


ELASTIC = "b = 0, h = 0"
IDEAL = "b = 200 N s/m, h = 0"
SHORT = "b = 200 N s/m, h = 0.016 s"
LONG = "b = 200 N s/m, h = 0.2 s"


def delays() -> dict[str, Scenario]:
    return {
        ELASTIC: with_damping(0, 0),
        IDEAL: with_damping(200, 0),
        SHORT: with_damping(200, 0.016),
        LONG: with_damping(200, 0.2),
    }


def _damped_delays() -> dict[str, Scenario]:
    return {label: scenario for label, scenario in delays().items() if label != ELASTIC}


def turned(contacts: list[dict[str, Any]]) -> float:
    """Degrees of azimuth between successive contacts, added up."""
    steps = [(after["azimuth_deg"] - before["azimuth_deg"] + 180) % 360 - 180 for before, after in pairwise(contacts)]
    return sum(map(abs, steps))


def _trajectory_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Figure 10: where and when each law makes its first three contacts."""
    rows = []
    for label, summary in summaries.items():
        for number, contact in enumerate(summary["contacts"][:3], start=1):
            name = f"{label}, Q{number}"
            rows.append(Row(f"{name}, onset", None, contact["onset_s"], "s"))
            for axis, value in zip("xyz", contact["position_m"], strict=True):
                rows.append(Row(f"{name}, {axis} from the apex", None, value, "m"))
    for (label, summary), printed in zip(summaries.items(), ("more than the other", None), strict=True):
        name = f"{label}, azimuth turned from Q1 to Q3"
        rows.append(Row(name, printed, turned(summary["contacts"][:3]), "deg"))
    return rows


def _friction_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Figure 11: the second contact as friction grows."""
    second = {label: summary["contacts"][1] for label, summary in summaries.items()}
    rows = [Row(f"Q2, azimuth, {label}", None, q2["azimuth_deg"], "deg") for label, q2 in second.items()]
    for label, q2 in second.items():
        rows.append(Row(f"Q2, peak normal force, {label}", None, q2["peak_normal_force_N"], "N"))
    least, *_, most = second.values()
    shift = most["azimuth_deg"] - least["azimuth_deg"]
    growth = most["peak_normal_force_N"] - least["peak_normal_force_N"]
    between = "from μ = 0 to 0.2"
    rows.append(Row(f"Q2, change of azimuth {between}", "shifts", shift, "deg"))
    rows.append(Row(f"Q2, change of peak normal force {between}", "increases", growth, "N"))
    return rows


def _stiffness_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Figure 12: the second contact as the springs stiffen."""
    second = {label: summary["contacts"][1]["position_m"][0] for label, summary in summaries.items()}
    rows = [Row(f"Q2, x from the apex, {label}", None, x, "m") for label, x in second.items()]
    least, *_, most = second.values()
    rows.append(Row("Q2, change of x from k = 500 to 2000 N/m", "shifts", most - least, "m"))
    return rows


def _energy_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Figure 13: kinetic energy, relative to t = 0, after the first contact."""
    printed = {
        ELASTIC: "elastic",
        IDEAL: "dissipates",
        SHORT: "negative: passive, stable",
        LONG: "positive: active, unstable",
    }
    rows = []
    for label, summary in summaries.items():
        change, kind = summary["kinetic_energy_change_J"][0], summary["energy_class"][0]
        rows.append(Row(f"energy after the first contact, {label}", printed[label], change, "J", f"{kind}."))
    lowest = float(pictures.energy_change(runs[ELASTIC]).min())
    rows.append(Row(f"lowest energy during the contact, {ELASTIC}", None, lowest, "J"))
    kept = _conserving_delay()
    rows.append(Row("delay at which the energy is kept, b = 200 N s/m", None, kept, "s", "Active from here on."))
    critical = margins(load("sazawal-spring-dashpot", {"stability.distance": 0.5}))["critical_delay_s"]
    name = "critical delay of the same contact, linearised"
    rows.append(Row(name, "where E turns positive", critical, "s", "m* = 0.5 m. " + LATER))
    return rows


LATER = "The energy of one contact turns positive before the linearised contact is unstable: E = 0 is not its boundary."


def _conserving_delay() -> float:
    """Delay (s) that leaves the kinetic energy after the first contact as it was: between those tried, by secants."""
    points = [(delay, _energy_after(delay)) for delay in (0.13, 0.16)]
    while abs(points[-1][0] - points[-2][0]) > 1e-7:
        (before, low), (last, high) = points[-2:]
        delay = last - high * (last - before) / (high - low)
        points.append((delay, _energy_after(delay)))
    return points[-1][0]


def _energy_after(delay: float) -> float:
    """Change of kinetic energy (J) over the first contact with a `delay` (s)."""
    return summarise(simulate(with_damping(200, delay)))["kinetic_energy_change_J"][0]


NEITHER = (
    "The printed pair, 7e-3 and 8e-4, cannot be had from the stated model: "
    "no mass, geometry or gating of the force gives their ratio."
)
GAIN = "The delay adds energy here too: less is lost than without delay, so the paper's “dissipation” is a gain."


def _increment_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Figure 14: what the delay adds to the energy after the first contact."""
    after = {label: summary["kinetic_energy_change_J"][0] for label, summary in summaries.items()}
    short, long = after[SHORT] - after[IDEAL], after[LONG] - after[IDEAL]
    lowest = float((pictures.energy_change(runs[SHORT]) - pictures.energy_change(runs[IDEAL])).min())
    return [
        Row("energy gained over h = 0, h = 0.2 s", "7e-3", long, "J", NEITHER),
        Row("energy gained over h = 0, h = 0.016 s", "−8e-4 (“dissipation”)", short, "J", GAIN),
        Row("lowest increment during the contact, h = 0.016 s", None, lowest, "J", "At no time the printed loss."),
    ]


def simulated(
    scenarios: Callable[[], dict[str, Scenario]],
    draw: Callable[[Runs], Figure],
    rows: Callable[[Runs, Summaries], list[Row]],
) -> Callable[[Progress], Made]:
    """What makes a figure of runs: the scenarios by the label of the curve, its picture and its rows."""

    def make(progress: Progress) -> Made:
        chosen, runs = scenarios(), Runs()
        for label, scenario in chosen.items():
            runs[label] = result(scenario.text())
            progress(len(runs) / (len(chosen) + 1))
        return draw(runs), rows(runs, {label: summarise(run) for label, run in runs.items()})

    return make


@lru_cache(maxsize=16)
def result(text: str) -> xr.Dataset:
    """The run of a resolved scenario: what several figures show is simulated once."""
    return simulate(parse(text, "sazawal"))


AS_PUBLISHED = (
    "Normal force as published (eqs. 26 and 59), friction with eqs. 14 and 53 corrected: a scalar μ times the normal "
    "force, in the plane of the wall. Delay 0.016 s."
)
AT_SETTLED = (
    "Energy is relative to t = 0 (eq. 152) and “after the contact” is release plus h, when its last delayed force has "
    "acted. Geometry of Table 1, not the one of the paper's stability charts; the force never pulls. As the delay "
    "grows, the energy turns positive before the linearised contact turns unstable: its sign tells active from "
    "passive, and no more."
)

FIGURES: dict[int, Part] = {
    **sazawal_stability.FIGURES,
    10: Part(
        "Sazawal et al., Fig. 10: probe tip in the cone, two contact force models",
        simulated(both_laws, pictures.in_cone, _trajectory_rows),
        AS_PUBLISHED,
    ),
    11: Part(
        "Sazawal et al., Fig. 11: compliance device, friction varied",
        simulated(_frictions, pictures.across, _friction_rows),
        AS_PUBLISHED,
    ),
    12: Part(
        "Sazawal et al., Fig. 12: compliance device, stiffness varied",
        simulated(_stiffnesses, pictures.along, _stiffness_rows),
        AS_PUBLISHED,
    ),
    13: Part(
        "Sazawal et al., Fig. 13: kinetic energy in the first contact, damping and delay varied",
        simulated(delays, pictures.energy, _energy_rows),
        AT_SETTLED,
    ),
    14: Part(
        "Sazawal et al., Fig. 14: kinetic energy that the delay adds in the first contact",
        simulated(_damped_delays, pictures.increments, _increment_rows),
        AT_SETTLED,
    ),
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[Table]:
    """Recompute one figure, or all when None: see `reproduction.reproduce`."""
    return reproduction.reproduce(FIGURES, figure, folder, progress)
