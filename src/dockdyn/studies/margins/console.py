"""Margins on the terminal."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from dockdyn.report.terminal import Terminal
from dockdyn.report.wording import gains, together
from dockdyn.studies.margins.report import verdict

LISTED = 6  # sensitivities printed


def show_margins(title: str, margins: dict[str, Any]) -> None:
    """What margins say: the verdict, the figures behind it, approximations beside the exact answer."""
    console = Terminal()
    console.print(title, markup=False)
    console.print(verdict(margins), markup=False)
    figures = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=False)
    figures.add_column()
    figures.add_column(justify="right")
    figures.add_column()
    for words, value, unit in figures_of(margins):
        figures.add_row(words, value, unit)
    console.print(figures)
    if margins["pade"]:
        console.print(approximations(margins))
        for order, found in margins["pade"].items():
            if found["stable"] != margins["stable"]:
                console.print(f"Padé {order} is wrong: {found['reason']}", markup=False, soft_wrap=True)
    measured = "delay margin, s" if margins["sensitivity_of"] == "delay_margin_s" else "growth rate, 1/s"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("most sensitive to")
    table.add_column(f"change of the {measured}, for 100 % more", justify="right")
    for key, value in list(margins["sensitivities"].items())[:LISTED]:
        table.add_row(together(key), f"{value:+.4g}")
    console.print(table)
    for warning in margins["warnings"]:
        console.print(f"warning: {warning}", markup=False)


def figures_of(margins: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Words, number and unit of what there is a number for."""
    real, imaginary = (margins["rightmost_roots"] or [[margins["growth_rate_1_s"], 0.0]])[0]
    rows: list[tuple[str, float | None, str]] = [
        ("growth rate", real, "1/s"),
        ("frequency", abs(imaginary), "rad/s"),
        ("spectral radius of a cycle", margins["spectral_radius"], ""),
        ("delay", margins["delay_s"], "s"),
        ("critical delay", margins["critical_delay_s"], "s"),
        ("delay margin", margins["delay_margin_s"], "s"),
        ("crossing frequency", margins["crossing_frequency_rad_s"], "rad/s"),
        ("effective mass", margins["effective_mass_kg"], "kg"),
        ("contact stiffness", margins["stiffness_N_m"], "N/m"),
        ("contact damping", margins["damping_N_s_m"], "N s/m"),
        ("restitution of an undamped, uncompensated bounce", margins["apparent_restitution"], ""),
        ("amplitude ratio to the ideal contact, per oscillation", margins["amplitude_ratio_per_oscillation"], ""),
        ("phase error, per oscillation", margins["phase_error_rad_per_oscillation"], "rad"),
        ("force error left by a force step", margins["steady_state_force_error"], "N/N"),
    ]
    return [(words, f"{value:.6g}", unit) for words, value, unit in rows if value is not None]


def approximations(margins: dict[str, Any]) -> Table:
    """Growth rate and stabilising gains: exact, and by Padé."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("loop")
    table.add_column("growth rate, 1/s", justify="right")
    table.add_column("verdict")
    table.add_column("stabilising gains, N s/m")

    def row(name: str, found: dict[str, Any]) -> None:
        verdict = "stable" if found["stable"] else "unstable"
        table.add_row(name, f"{found['growth_rate_1_s']:.6g}", verdict, gains(found["stabilising_gains_N_s_m"]))

    row("exact", margins)
    for order, found in margins["pade"].items():
        row(f"Padé {order}, approx.", found)
    return table
