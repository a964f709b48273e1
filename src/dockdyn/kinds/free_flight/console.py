"""The contacts of two bodies in free flight on the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from dockdyn.report.terminal import Terminal, table_of
from dockdyn.report.wording import capture, capture_load


def show_contacts(console: Terminal, summary: dict[str, Any]) -> None:
    """Print the contacts, a row each, and what came of the capture."""
    console.print(flight_contacts(summary))
    if summary["captured"] is not None:
        console.print(capture(summary), markup=False)
        if words := capture_load(summary):
            console.print(words, markup=False)


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
