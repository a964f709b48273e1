"""The report of a run, for the page and the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.free_flight.captions import figures
from dockdyn.report.contact_tables import (
    contacts_block,
    contacts_in_words,
    kept,
    loads_block,
    printed_contacts,
    seat_force,
)
from dockdyn.report.control_report import control_rows
from dockdyn.report.impact_table import first_impact_rows, predicted_block
from dockdyn.report.mesh_table import meshes_of_result
from dockdyn.report.report import Block, Report, beginning, integration, run_report
from dockdyn.report.wording import NOTHING, capital, capture, capture_load, significant


def flight_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of a run of two bodies in free flight."""
    classes = [word or NOTHING for word in summary["energy_class"]]
    return run_report(
        dataset,
        summary,
        verdict=verdict(dataset, summary, classes),
        key=overview(dataset, summary, classes),
        blocks=[
            contacts_block(dataset, summary, classes),
            predicted_block(summary),
            loads_block(dataset, summary),
            meshes_of_result(dataset),
            kept(dataset, summary),
        ],
        plots=figures(dataset),
        made=integration(summary),
        terminal=[Block(summary["title"], table=printed_contacts(summary)), *_capture_lines(summary)],
    )


def verdict(dataset: xr.Dataset, summary: dict[str, Any], classes: list[str]) -> str:
    """The run in words: what came of it, the contacts, how it ended; where it stopped early that comes first."""
    finished = summary["status"] == "finished"
    ended = f"{capital(summary['status'])}."
    if finished:
        ended = f"Finished at t = {summary['end_time_s']:g} s{_parted(dataset, summary) if classes else ''}."
    words = [] if finished else [ended]
    words += [*_capture_lines(summary), *contacts_in_words(dataset, summary, classes)]
    return " ".join([*words, ended] if finished else words)


def _capture_lines(summary: dict[str, Any]) -> list[str]:
    """What came of the capture, and what it put on the latch; nothing where there is no latch."""
    if summary["captured"] is None:
        return []
    return [said for said in (capture(summary), capture_load(summary)) if said]


def _parted(dataset: xr.Dataset, summary: dict[str, Any]) -> str:
    """Where nothing can be captured: whether the two touch at the end."""
    if summary["captured"] is not None:
        return ""
    return ", touching" if np.nanmax(dataset.depth.values[-1]) > 0 else ", apart again: there is no latch"


def overview(dataset: xr.Dataset, summary: dict[str, Any], classes: list[str]) -> list[tuple[str, str]]:
    """The summary table."""
    change = [energy for energy in summary["kinetic_energy_change_J"] if energy is not None]
    rows = [
        *beginning(summary),
        ("Loop delay", f"{float(dataset.attrs['delay_s']):g} s"),
        ("Contacts", str(len(classes))),
    ]
    if classes:
        peak = int(np.argmax(dataset.episode_peak_force.values))
        at = significant(float(dataset.episode_peak_time[peak]), 6)
        free = f"{significant(float(dataset.episode_peak_force[peak]))} N (Q{peak + 1}, at {at} s)"
        seat = seat_force(dataset, summary)
        rows += [
            ("Largest normal force", f"{seat}, held on the wall; before the capture {free}" if seat else free),
            ("Largest penetration, sampled", f"{significant(float(dataset.depth.max()) * 1e3)} mm"),
        ]
    rows.append(("Kinetic energy at the start", f"{significant(summary['kinetic_energy_start_J'])} J"))
    if change:
        rows.append(("Its change after the last whole contact", f"{significant(change[-1])} J"))
    rows += first_impact_rows(summary)
    rows += control_rows(dataset, summary)
    if summary["captured"]:
        rows += _capture_rows(dataset, summary)
    return [
        *rows,
        ("Linear momentum error", significant(summary["linear_momentum_error"], 2)),
        ("Angular momentum error", significant(summary["angular_momentum_error"], 2)),
    ]


def _capture_rows(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of the summary table: what the capture had to take, and what the catch bore."""
    law = str(dataset.attrs["capture_law"])
    rows = [
        ("Impulse of the capture", f"{significant(summary['capture_impulse_along_N_s'])} N s along the docking axis"),
        ("Energy of the motion that it ends", f"{significant(summary['capture_energy_loss_J'])} J ({law})"),
    ]
    least = "" if summary["peak_force_known"] else "at least "
    if summary["capture_peak_force_N"] is None:
        return [*rows, ("Largest force of the capture", "not known: the motion ends at an instant")]
    at = significant(summary["capture_peak_time_s"], 6)
    rows.append(("Largest force of the catch", f"{least}{significant(summary['capture_peak_force_N'])} N (at {at} s)"))
    for words, key, unit, scale in (
        ("Largest moment of the catch", "capture_peak_moment_N_m", "N m", 1.0),
        ("Farthest that the catch yielded", "catch_greatest_travel_m", "mm", 1e3),
        ("Largest normal force on the wall after the capture", "seated_contact_peak_force_N", "N", 1.0),
        ("Normal force on the wall at the end, against the catch", "seated_contact_force_end_N", "N", 1.0),
        ("Energy in the catch at the end", "catch_stored_energy_J", "J", 1.0),
        ("Energy that the catch has dissipated", "catch_dissipated_energy_J", "J", 1.0),
    ):
        if summary[key] is not None:
            rows.append((words, f"{significant(summary[key] * scale)} {unit}"))
    return rows
