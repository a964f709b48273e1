"""Sazawal et al., Figures 13 and 14: kinetic energy in the first contact, on the geometry stated for them and on Table 1's.

The text states θ = 30°, l₀ = 1 m and m* = 0.5 m for these two figures, the geometry of the stability charts, where Table 1
has r_CQ = 2 m and r_TS = 1 m. Both are simulated. The tip starts in the same place of the cone, so that it meets the wall
0.502 m from the apex with either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockdyn import simulate, summarise
from dockdyn.papers.reproduction import PaperPart
from dockdyn.papers.sazawal import pictures
from dockdyn.papers.sazawal.geometry import DAMPING, Geometry
from dockdyn.papers.sazawal.runs import Runs, Summaries, figure_of_runs, from_apex
from dockdyn.papers.table import Row
from dockdyn.scenario.load import Scenario, load
from dockdyn.studies.margins.answer import margins

FIRST_CONTACT = {"duration": "10 s"}  # the last delayed force of the first contact has acted, no second has begun
STATED, TABLE = "l₀ = 1 m", "Table 1"
TITLES = {
    STATED: "stated for this figure: θ = 30°, l₀ = 1 m, m* = 0.5 m",
    TABLE: "Table 1: θ = 30°, r_CQ = 2 m, r_TS = 1 m",
}
TIP = (0.533, 0.0, 0.25)  # m, r_SQ at t = 0 by Tables 1 and 3, from the apex

ELASTIC = "b = 0, h = 0"
IDEAL = "b = 200 N s/m, h = 0"
SHORT = "b = 200 N s/m, h = 0.016 s"
LONG = "b = 200 N s/m, h = 0.2 s"
LOOPS = {ELASTIC: (0.0, 0.0), IDEAL: (DAMPING, 0.0), SHORT: (DAMPING, 0.016), LONG: (DAMPING, 0.2)}  # N s/m, s


def contact(geometry: str, damping: float, delay: float) -> Scenario:
    """Return the first contact on `geometry`, STATED or TABLE, with `damping` (N s/m) and `delay` (s)."""
    at_rest = Geometry()
    changed: dict[str, Any] = {**FIRST_CONTACT, "contact.probe.normal.damping": damping, "loop.delay": delay}
    changed["stability.distance"] = at_rest.distance
    if geometry == STATED:
        across, y, z = TIP
        changed["body.chaser.feature.probe.position"] = [at_rest.probe, 0, 0]
        changed["body.chaser.position"] = [across + at_rest.probe, y, z]  # the probe points along −x
        changed["body.target.surface.cone.apex"] = [0, 0, 0]
        changed["body.target.surface.cone.half_angle"] = f"{at_rest.half_angle} deg"
    return load("sazawal-spring-dashpot", changed)


def _scenarios() -> dict[str, Scenario]:
    """Return what Figure 13 shows, by geometry and loop."""
    return {
        f"{geometry}, {loop}": contact(geometry, *numbers) for geometry in TITLES for loop, numbers in LOOPS.items()
    }


def _damped_scenarios() -> dict[str, Scenario]:
    """Return what Figure 14 shows."""
    return {label: scenario for label, scenario in _scenarios().items() if not label.endswith(ELASTIC)}


def _by_title(runs: Runs) -> dict[str, Runs]:
    """Sort the runs by the title of their geometry, then by their loop."""
    return {
        title: {label.removeprefix(f"{geometry}, "): run for label, run in runs.items() if label.startswith(geometry)}
        for geometry, title in TITLES.items()
    }


def _energy_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Return Figure 13's rows: kinetic energy, relative to t = 0, after the first contact."""
    printed = {
        ELASTIC: "elastic",
        IDEAL: "dissipates",
        SHORT: "negative: passive, stable",
        LONG: "positive: active, unstable",
    }
    rows = []
    for geometry in TITLES:
        for loop, words in printed.items():
            summary = summaries[f"{geometry}, {loop}"]
            change, kind = summary["contact.energy_change_J"][0], summary["energy_class"][0]
            rows.append(Row(f"energy after the first contact, {geometry}, {loop}", words, change, "J", f"{kind}."))
        lowest = float(pictures.energy_change(runs[f"{geometry}, {ELASTIC}"]).min())
        rows.append(Row(f"lowest energy during the contact, {geometry}, {ELASTIC}", None, lowest, "J"))
        of_ideal = f"{geometry}, {IDEAL}"
        place = from_apex(runs[of_ideal], summaries[of_ideal]["contacts"][0])
        distance = float(np.linalg.norm(place))
        printed_distance = "0.5" if geometry == STATED else None
        rows.append(Row(f"first contact from the apex, {geometry}", printed_distance, distance, "m", SAME_START))
        rows += _edges(geometry)
    return rows


def _edges(geometry: str) -> list[Row]:
    """Return the delay at which the energy turns positive, and the one at which the linearised contact turns unstable."""
    kept = _conserving_delay(geometry)
    linear = margins(contact(geometry, *LOOPS[SHORT]))
    words = "0.016 … 0.2, where E turns positive"
    return [
        Row(f"delay at which the energy is kept, {geometry}, b = 200 N s/m", None, kept, "s", "Active from here on."),
        Row(f"effective mass m† of the same contact, {geometry}", None, linear["effective_mass_kg"], "kg", AT_REST),
        Row(f"critical delay of the same contact, {geometry}", words, linear["critical_delay_s"], "s", LATER),
    ]


AT_REST = "Linearised at m* = 0.5 m."
LATER = (
    f"{AT_REST} The energy of one contact turns positive before the linearised contact is unstable: E = 0 is not its "
    "boundary."
)
SAME_START = "The tip starts where Tables 1 and 3 put it in the cone."


def _conserving_delay(geometry: str) -> float:
    """Return the delay (s) that leaves the kinetic energy after the first contact as it was, by secants."""
    points = [(delay, _energy_after(geometry, delay)) for delay in (0.13, 0.16)]
    while abs(points[-1][0] - points[-2][0]) > 1e-7:
        (before, low), (last, high) = points[-2:]
        delay = last - high * (last - before) / (high - low)
        points.append((delay, _energy_after(geometry, delay)))
    return points[-1][0]


def _energy_after(geometry: str, delay: float) -> float:
    """Return the change of kinetic energy (J) over the first contact with a `delay` (s)."""
    return summarise(simulate(contact(geometry, DAMPING, delay)))["contact.energy_change_J"][0]


NEITHER = (
    "The printed pair, 7e-3 and 8e-4, cannot be had from the stated model: "
    "no mass, geometry or gating of the force gives their ratio."
)
GAIN = "The delay adds energy here too: less is lost than without delay, so the paper's “dissipation” is a gain."


def _increment_rows(runs: Runs, summaries: Summaries) -> list[Row]:
    """Return Figure 14's rows: what the delay adds to the energy after the first contact."""
    rows = []
    for geometry in TITLES:
        ideal, short, long = (
            summaries[f"{geometry}, {loop}"]["contact.energy_change_J"][0] for loop in (IDEAL, SHORT, LONG)
        )
        during = [pictures.energy_change(runs[f"{geometry}, {loop}"]) for loop in (IDEAL, SHORT)]
        lowest = float((during[1] - during[0]).min())
        over = f"energy gained over h = 0, {geometry}"
        least = f"lowest increment during the contact, {geometry}, h = 0.016 s"
        rows += [
            Row(f"{over}, h = 0.2 s", "7e-3", long - ideal, "J", NEITHER),
            Row(f"{over}, h = 0.016 s", "−8e-4 (“dissipation”)", short - ideal, "J", GAIN),
            Row(least, None, lowest, "J", "At no time the printed loss."),
        ]
    return rows


NOTE = (
    "The text states θ = 30°, l₀ = 1 m and m* = 0.5 m for this figure, as in the stability charts (r_TS = 0), and Table 1 "
    "has r_CQ = 2 m and r_TS = 1 m: both are shown, the tip starting in the same place of the cone. Energy is relative to "
    "t = 0 (eq. 152) and “after the contact” is release plus h, when its last delayed force has acted; the force never "
    "pulls. As the delay grows, the energy turns positive before the linearised contact turns unstable: its sign tells "
    "active from passive, and no more."
)

FIGURES: dict[int | str, PaperPart] = {
    13: PaperPart(
        "Sazawal et al., Fig. 13: kinetic energy in the first contact, damping and delay varied",
        figure_of_runs(_scenarios, lambda runs: pictures.energy(_by_title(runs)), _energy_rows),
        NOTE,
    ),
    14: PaperPart(
        "Sazawal et al., Fig. 14: kinetic energy that the delay adds in the first contact",
        figure_of_runs(_damped_scenarios, lambda runs: pictures.increments(_by_title(runs)), _increment_rows),
        NOTE,
    ),
}
