"""Margins on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dockdyn.report.report import ReportBlock, Rows, Table, number_rows
from dockdyn.report.wording import NOTHING, format_gains, join_keys
from dockdyn.studies.margins.plots import measure_of, ranked_sensitivities

LISTED = 6  # sensitivities printed
MOVING = 4  # bodies named of the motion that decides


def margin_lines(margins: dict[str, Any]) -> Iterator[str | ReportBlock]:
    """Yield the figures behind a verdict, approximations beside the exact answer, and what decides it."""
    yield ReportBlock(rows=_key_numbers(margins))
    if beside := [part for part in margins.get("counted", []) if part != "delay"]:
        yield (
            f"These delays are loop.delay and loop.sensor.delay together; beside them count {', '.join(beside)}: dockdyn run "
            "says what each part of the loop delays the force by"
        )
    if mode := margins.get("mode"):
        moving = [f"{row['body']} {100 * row['energy_share']:.3g} %" for row in mode[:MOVING]]
        yield f"The motion that decides, by its kinetic energy: {', '.join(moving)}"
    if margins["pade"]:
        yield ReportBlock(table=approximation_table(margins))
        wrong = {order: found for order, found in margins["pade"].items() if found["stable"] != margins["stable"]}
        yield ReportBlock(text="\n".join(f"Padé {order} is wrong: {found['reason']}" for order, found in wrong.items()))
    measure, unit, _ = measure_of(margins)
    columns = [("most sensitive to", ""), (f"change of the {measure}, {unit}, for 10 % more", "")]
    largest = ranked_sensitivities(margins)[:LISTED]
    yield ReportBlock(table=Table(columns, [[join_keys(key), f"{value:+.4g}"] for key, value in largest], worded={0}))


def _key_numbers(margins: dict[str, Any]) -> Rows:
    """Return words, number and unit of what there is a number for."""
    real, imaginary = (margins["rightmost_roots"] or [[margins["growth_rate_1_s"], 0.0]])[0]
    named = (
        ("spectral radius of a cycle", "spectral_radius", ""),
        ("delay", "delay_s", "s"),
        ("critical delay", "critical_delay_s", "s"),
        ("delay margin", "delay_margin_s", "s"),
        ("crossing frequency", "crossing_frequency_rad_s", "rad/s"),
        ("effective mass", "effective_mass_kg", "kg"),
        ("contact stiffness", "stiffness_N_m", "N/m"),
        ("contact damping", "damping_N_s_m", "N s/m"),
        ("restitution of an undamped, uncompensated bounce", "apparent_restitution", ""),
        ("amplitude ratio to the ideal contact, per oscillation", "amplitude_ratio_per_oscillation", ""),
        ("phase error, per oscillation", "phase_error_rad_per_oscillation", "rad"),
        ("force error left by a force step", "steady_state_force_error", "N/N"),
    )
    known = [(words, margins.get(key), unit) for words, key, unit in named]
    return number_rows([("growth rate", real, "1/s"), ("frequency", abs(imaginary), "rad/s"), *known])


def approximation_table(margins: dict[str, Any]) -> Table:
    """Return the growth rate and stabilising gains: exact, and by Padé."""
    loops = {"exact": margins} | {f"Padé {order}, approx.": found for order, found in margins["pade"].items()}
    rows = [
        [
            name,
            f"{found['growth_rate_1_s']:.6g}",
            "stable" if found["stable"] else "unstable",
            NOTHING if found["stabilising_gains_N_s_m"] is None else format_gains(found["stabilising_gains_N_s_m"]),
        ]
        for name, found in loops.items()
    ]
    columns = [("loop", ""), ("growth rate, 1/s", ""), ("verdict", ""), ("stabilising gains, N s/m", "")]
    return Table(columns, rows, worded={0, 2, 3})
