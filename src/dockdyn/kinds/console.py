"""Summaries and tables on the terminal."""

from __future__ import annotations

from typing import Any

import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.table import Table

from dockdyn.kinds.berthing.report import berthing_verdict, contacts_table, impacts_table
from dockdyn.kinds.chains.report import impact_verdict, latch_verdict
from dockdyn.kinds.orbital_arm.report import impacts_table as orbital_impacts
from dockdyn.kinds.orbital_arm.report import newton, orbital_verdict
from dockdyn.kinds.rig.compare_report import comparison_verdict, ratios, warnings
from dockdyn.kinds.rig.report import budget, compared, rig_verdict
from dockdyn.report.page import Table as ReportTable
from dockdyn.report.terminal import Terminal
from dockdyn.report.wording import capture, capture_load, gains, requirement, significant, together
from dockdyn.scenario.language.printable import printable
from dockdyn.studies.margins.report import verdict

LISTED = 6  # sensitivities printed
STIFFNESSES = 5  # columns of a comparison


def show_summary(summary: dict[str, Any]) -> None:
    """A run's summary."""
    console = Terminal()
    if summary["kind"] == "berthing":
        console.print(summary["title"], markup=False)
        console.print(berthing_verdict(summary), markup=False)
        berthing_meetings(console, summary)
    elif summary["kind"] == "orbital-arm":
        console.print(summary["title"], markup=False)
        console.print(orbital_verdict(summary), markup=False)
        orbital_end(console, summary)
    elif summary["kind"] == "rig":
        console.print(summary["title"], markup=False)
        console.print(rig_verdict(summary), markup=False)
        rig_numbers(console, summary)
    elif "energy_class" in summary:
        console.print(flight_contacts(summary))
        if summary["captured"] is not None:
            console.print(capture(summary), markup=False)
            if words := capture_load(summary):
                console.print(words, markup=False)
    else:
        said = latch_verdict if summary["captured"] is not None else impact_verdict
        console.print(summary["title"], markup=False)
        console.print(said(summary), markup=False)
        if summary["captured"] is None:
            console.print(chain_impacts(summary))
    for words, key in (
        ("linear momentum error", "linear_momentum_error"),
        ("angular momentum error", "angular_momentum_error"),
        ("work–energy error", "work_energy_error"),
        ("energy error", "energy_error"),
    ):
        if summary.get(key) is not None:
            console.print(f"{words}: {summary[key]:.1e}")
    for one in summary["requirements"]:
        asked, value, margin, met = requirement(one)
        why = f" ({one['why']})" if "why" in one else ""
        console.print(f"required {asked}: {met}{why}; value {value}, margin {margin}", markup=False)
    console.print(f"{summary['integrator']}, {summary['steps']} steps, {summary['wall_time_s']:.2f} s")
    for warning in summary["warnings"]:
        console.print(f"warning: {warning}", markup=False)


def berthing_meetings(console: Terminal, summary: dict[str, Any]) -> None:
    """Impacts after that at t = 0 and contacts of a berthing, where there are any: a row each, as in the report."""
    if len(summary["impacts"]) > 1:
        show_meetings(console, impacts_table(summary), len(summary["impacts"]))
    if summary["contacts"]:
        show_meetings(console, contacts_table(summary), len(summary["contacts"]))


def orbital_end(console: Terminal, summary: dict[str, Any]) -> None:
    """Impacts of an arm in orbit, where it ends and what Newton's method took."""
    if summary["impacts"]:
        show_meetings(console, orbital_impacts(summary), len(summary["impacts"]), ("impact",))
    final = ", ".join(f"{name} {significant(value, 6)}" for name, value in summary["final"].items())
    console.print(f"at {summary['end_time_s']:g} s: {final}", markup=False)
    console.print(f"Newton's corrections a step: {newton(summary)}")


def rig_numbers(console: Terminal, summary: dict[str, Any]) -> None:
    """What a rig makes of a contact, where its delay comes from, and what to do."""
    shown = table_of(None, ["", "rig", ""], ("", ""))
    for row in compared(summary).rows:
        shown.add_row(*row)
    console.print(shown)
    parts = ", ".join(f"{words} {late} ms" for words, late, _ in budget(summary).rows)
    console.print(f"delay: {parts}" if parts else "delay: none", markup=False)
    console.print(summary["recommendation"], markup=False)


def show_comparison(dataset: xr.Dataset) -> None:
    """A comparison of compensators: amplitude ratios over stiffness."""
    console = Terminal()
    console.print(dataset.attrs["title"], markup=False)
    found = ratios(dataset, STIFFNESSES)
    headings = ["\n".join(filter(None, [words, unit])) for words, unit in found.columns]
    shown = table_of(None, headings, (headings[0],))
    for row in found.rows:
        shown.add_row(*row)
    console.print(shown)
    console.print(comparison_verdict(dataset), markup=False)
    for warning in warnings(dataset):
        console.print(f"warning: {warning}", markup=False)


def show_meetings(console: Terminal, found: ReportTable, count: int, worded: tuple[str, ...] = ("contact",)) -> None:
    """A table of the report, and how many rows it leaves out."""
    headings = ["\n".join(filter(None, [*words.split(), unit])) for words, unit in found.columns]
    shown = table_of(None, headings, worded)
    for row in found.rows:
        shown.add_row(*row)
    console.print(shown)
    if count > len(found.rows):
        console.print(f"and {count - len(found.rows)} more")


def table_of(title: str | None, headings: list[str], worded: tuple[str, ...]) -> Table:
    """A plain table; columns in `worded` hold words and are set left."""
    title = None if title is None else printable(title)
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        side: Any = "left" if heading in worded else "right"
        table.add_column(heading, justify=side, no_wrap=heading != "contact", overflow="fold")
    return table


def flight_contacts(summary: dict[str, Any]) -> Table:
    """The contacts of two free bodies, a row each."""
    headings = ["contact", "onset\ns", "release\ns", "approach\nm/s", "peak\nN", "impulse\nN s"]
    headings += ["energy\nafter, J", "class"]
    table = table_of(summary["title"], headings, ("contact", "class"))
    rows = zip(summary["contacts"], summary["kinetic_energy_change_J"], summary["energy_class"], strict=True)
    for number, (contact, energy, sort) in enumerate(rows, start=1):
        table.add_row(
            f"{number} {contact['feature']}–{contact['surface']}",
            f"{contact['onset_s']:.4f}",
            "touching" if contact["release_s"] is None else f"{contact['release_s']:.4f}",
            f"{contact['approach_speed_m_s']:.4g}",
            f"{contact['peak_normal_force_N']:.4g}",
            f"{contact['impulse_N_s']:.4g}",
            "" if energy is None else f"{energy:+.5g}",
            sort or "",
        )
    return table


def chain_impacts(summary: dict[str, Any]) -> Table:
    """The impacts of two chains of masses, simulation and prediction beside each other."""
    headings = ["impact", "onset\ns", "release\ns", "peak\nN", "before\nm/s", "after\nm/s", "predicted\nm/s"]
    table = table_of("relative velocity of the centres of mass", headings, ("impact",))
    whens = ("before", "after", "predicted")
    speeds = zip(*(summary[f"relative_velocity_{when}_m_s"] for when in whens), strict=True)
    for number, (contact, found) in enumerate(zip(summary["contacts"], speeds, strict=True), start=1):
        table.add_row(
            str(number),
            f"{contact['onset_s']:.4f}",
            "touching" if contact["release_s"] is None else f"{contact['release_s']:.4f}",
            f"{contact['peak_normal_force_N']:.4g}",
            *("" if speed is None else f"{speed:.6f}" for speed in found),
        )
    return table


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


def show_table(table: Any) -> None:
    """A paper's table."""
    shown = Table(title=table.title, show_lines=False)
    for heading in ("quantity", "printed", "computed", "unit", "note"):
        shown.add_column(heading)
    for row in table.rows:
        shown.add_row(row.quantity, row.printed or "", f"{row.computed:.6g}", row.unit, row.note)
    Terminal().print(shown)
