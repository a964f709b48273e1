"""Sazawal et al., a probe in a cone under a delayed contact force: Tables 1–3 and Figures 7–14 recomputed.

Figures 7–9, the stability charts, are in `stability`, Figures 13 and 14 in `energy`. Every number comes from the presets
`sazawal-compliance` and `sazawal-spring-dashpot` (Tables 1–3) with what a figure varies overridden. Eqs. 14 and 53 are used
corrected: friction is μ times the normal force against the sliding velocity, and D_N^T takes it from the target's to the
nozzle's axes, so that it has no part along the normal.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from dockdyn.papers import reproduction
from dockdyn.papers.reproduction import PaperPart, Progress
from dockdyn.papers.sazawal import energy, pictures, tables
from dockdyn.papers.sazawal import stability as sazawal_stability
from dockdyn.papers.sazawal.runs import Runs, Summaries, figure_of_runs, from_apex
from dockdyn.papers.table import PaperTable, Row
from dockdyn.scenario.load import Scenario, load

THREE_CONTACTS = {"duration": "28 s"}  # the third contact of every trajectory has begun well before


def with_friction(coefficient: float) -> Scenario:
    return load("sazawal-compliance", {**THREE_CONTACTS, "contact.probe.friction.coefficient": coefficient})


def with_stiffness(stiffness: float) -> Scenario:
    """Return all four springs of the compliance device, N/m."""
    springs = {f"contact.probe.normal.springs.{i}.stiffness": stiffness for i in range(4)}
    return load("sazawal-compliance", {**THREE_CONTACTS, **springs})


def both_laws() -> dict[str, Scenario]:
    return {
        "compliance device": load("sazawal-compliance", THREE_CONTACTS),
        "spring-dashpot": load("sazawal-spring-dashpot", THREE_CONTACTS),
    }


def _frictions() -> dict[str, Scenario]:
    return {f"μ = {coefficient:g}": with_friction(coefficient) for coefficient in (0, 0.1, 0.2)}


def _stiffnesses() -> dict[str, Scenario]:
    return {f"k = {stiffness} N/m": with_stiffness(stiffness) for stiffness in (500, 1000, 2000)}


def azimuth_turned(contacts: list[dict[str, Any]]) -> float:
    """Return degrees of azimuth between successive contacts, added up."""
    steps = [(after["azimuth_deg"] - before["azimuth_deg"] + 180) % 360 - 180 for before, after in pairwise(contacts)]
    return sum(map(abs, steps))


def _trajectory_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Return figure 10: where and when each law makes its first three contacts."""
    rows = []
    for label, summary in summaries.items():
        for number, contact in enumerate(summary["contacts"][:3], start=1):
            name = f"{label}, Q{number}"
            rows.append(Row(f"{name}, onset", None, contact["onset_s"], "s"))
            for axis, value in zip("xyz", from_apex(runs[label], contact), strict=True):
                rows.append(Row(f"{name}, {axis} from the apex", None, value, "m"))
    for (label, summary), printed in zip(summaries.items(), ("more than the other", None), strict=True):
        name = f"{label}, azimuth turned from Q1 to Q3"
        rows.append(Row(name, printed, azimuth_turned(summary["contacts"][:3]), "deg"))
    return rows


def _friction_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Return figure 11: the second contact as friction grows."""
    second = {label: summary["contacts"][1] for label, summary in summaries.items()}
    rows = [Row(f"Q2, azimuth, {label}", None, q2["azimuth_deg"], "deg") for label, q2 in second.items()]
    for label, q2 in second.items():
        rows.append(Row(f"Q2, peak normal force, {label}", None, q2["peak_force_N"], "N"))
    least, *_, most = second.values()
    shift = most["azimuth_deg"] - least["azimuth_deg"]
    growth = most["peak_force_N"] - least["peak_force_N"]
    between = "from μ = 0 to 0.2"
    rows.append(Row(f"Q2, change of azimuth {between}", "shifts", shift, "deg"))
    rows.append(Row(f"Q2, change of peak normal force {between}", "increases", growth, "N"))
    return rows


def _stiffness_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Return figure 12: the second contact as the springs stiffen."""
    second = {label: from_apex(runs[label], summary["contacts"][1])[0] for label, summary in summaries.items()}
    rows = [Row(f"Q2, x from the apex, {label}", None, x, "m") for label, x in second.items()]
    least, *_, most = second.values()
    rows.append(Row("Q2, change of x from k = 500 to 2000 N/m", "shifts", most - least, "m"))
    return rows


AS_PUBLISHED = (
    "Normal force as published (eqs. 26 and 59), friction with eqs. 14 and 53 corrected: a scalar μ times the normal "
    "force, in the plane of the wall. Delay 0.016 s."
)
FIGURES: dict[int | str, PaperPart] = {
    **tables.FIGURES,
    **sazawal_stability.FIGURES,
    10: PaperPart(
        "Sazawal et al., Fig. 10: probe tip in the cone, two contact force models",
        figure_of_runs(both_laws, pictures.in_cone, _trajectory_rows),
        AS_PUBLISHED,
    ),
    11: PaperPart(
        "Sazawal et al., Fig. 11: compliance device, friction varied",
        figure_of_runs(_frictions, pictures.draw_opening, _friction_rows),
        AS_PUBLISHED,
    ),
    12: PaperPart(
        "Sazawal et al., Fig. 12: compliance device, stiffness varied",
        figure_of_runs(_stiffnesses, pictures.draw_side, _stiffness_rows),
        AS_PUBLISHED,
    ),
    **energy.FIGURES,
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[PaperTable]:
    """Recompute one figure, or all when None: see `reproduction.reproduce`."""
    return reproduction.reproduce(FIGURES, figure, folder, progress)
