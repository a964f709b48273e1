"""The report of a run on a line: impacts of two chains of masses, or a probe and its latch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.chains import plots as chains_figures
from dockdyn.report.impact_table import first_impact_rows, predicted_block, printed_predictions
from dockdyn.report.report import ENERGY, Block, Plot, Report, beginning, conserved, integration, run_report
from dockdyn.report.wording import AT_AN_INSTANT, NOTHING, capital, significant


def chains_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of a run of the kinds `four-mass` and `latch`."""
    return (_latch_report if "latch_length" in dataset else _impacts_report)(dataset, summary)


def _impacts_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of two chains that meet."""
    verdict, printed = _impact_verdict(summary), printed_predictions(summary)
    return run_report(
        dataset,
        summary,
        verdict=verdict,
        key=_impact_overview(summary),
        blocks=[predicted_block(summary), kept(summary)],
        plots=_impact_figures(dataset),
        made=integration(summary),
        terminal=[summary["title"], verdict, Block("relative velocity of the centres of mass", table=printed)],
    )


def _latch_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of a probe and its latch."""
    return run_report(
        dataset,
        summary,
        verdict=_latch_verdict(summary),
        key=_latch_overview(dataset, summary),
        blocks=[kept(summary)],
        plots=_latch_figures(dataset),
        made=integration(summary),
    )


def _ending(summary: dict[str, Any]) -> str:
    """How the run ended, where it stopped early."""
    return "" if summary["status"] == "finished" else f"{capital(summary['status'])}. "


def _impact_verdict(summary: dict[str, Any]) -> str:
    """What the impacts did, in words."""
    count = len(summary["contacts"])
    if not count:
        return _ending(summary) + "The chaser did not reach the target within the duration."
    before, after = summary["relative_velocity_before_m_s"][0], summary["relative_velocity_after_m_s"][0]
    if after is None:
        return _ending(summary) + "The run ended during the first impact."
    course = "keep approaching" if after > 0 else "part"
    words = f"After the first impact chaser and target {course}: their relative velocity went from "
    words += f"{significant(before)} to {significant(after)} m/s"
    predicted = summary["relative_velocity_predicted_m_s"][0]
    if predicted is not None:
        words += f", where effective masses predict {significant(predicted)} m/s"
    words += f". They met {count} times." if count > 1 else ". They met once."
    return _ending(summary) + words


def _latch_verdict(summary: dict[str, Any]) -> str:
    """Whether the latch caught the probe, in words."""
    least = summary["minimum_velocity_m_s"]
    needed = f"it takes {significant(least, 6)} m/s" if least is not None else "no speed that was tried latches"
    margin = summary["capture_speed_margin_m_s"]
    if not summary["contacts"]:
        return _ending(summary) + f"The probe did not reach the latch within the duration; {needed}."
    if summary["captured"]:
        more = f", {significant(margin, 3)} m/s more than it takes" if margin is not None else ""
        words = f"Captured after {significant(summary['capture_time_s'])} s: the probe came at "
        words += f"{significant(summary['contacts'][0]['approach_speed_m_s'])} m/s{more}."
    else:
        words = (
            f"Not captured: the probe came at {significant(summary['contacts'][0]['approach_speed_m_s'])} m/s and went "
        )
        words += f"{significant(summary['greatest_travel_m'] * 1e3, 5)} mm into the latch; {needed}."
    return _ending(summary) + words


def _impact_overview(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary table of impacts."""
    rows = [*beginning(summary), ("Impacts", str(len(summary["contacts"])))]
    rows += first_impact_rows(summary) or [("Effective mass ratio", significant(summary["effective_mass_ratio"], 6))]
    if summary["restitution"] is not None:
        rows.append(("Restitution of the contact's law", significant(summary["restitution"])))
    if summary["first_order_correction_m_s"] is not None:
        words = f"{significant(summary['first_order_correction_m_s'])} m/s, to first order"
        rows.append(("What finite stiffness adds after the first impact", words))
    return [*rows, ("Largest force", f"{significant(summary['peak_normal_force_N'])} N")]


def _latch_overview(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary table of a latch."""
    rows = [*beginning(summary), ("Captured", "yes" if summary["captured"] else "no")]
    if summary["captured"]:
        lost = summary["impacts"][0]
        rows += [
            ("Capture", f"{significant(summary['capture_time_s'], 6)} s"),
            ("Relative speed then", f"{significant(float(dataset.capture_speed))} m/s"),
            ("Impulse that ended it", f"{significant(lost['impulse_normal_N_s'])} N s"),
            ("Energy that it took", f"{significant(lost['energy_loss_J'])} J"),
            AT_AN_INSTANT,
        ]
    least, rigid = summary["minimum_velocity_m_s"], summary["minimum_velocity_rigid_m_s"]
    return [
        *rows,
        ("Travel into the latch", f"{significant(summary['greatest_travel_m'] * 1e3, 5)} mm"),
        ("Travel that latches", f"{significant(float(dataset.latch_length) * 1e3)} mm"),
        ("Least speed that latches, simulated", NOTHING if least is None else f"{significant(least, 6)} m/s"),
        ("Least speed that latches two rigid bodies, closed form", f"{significant(rigid, 6)} m/s"),
        ("Largest force on the ramp", f"{significant(summary['peak_normal_force_N'])} N"),
    ]


def kept(summary: dict[str, Any]) -> Block:
    """Errors of what should be conserved."""
    rows = [("linear momentum", summary["linear_momentum_error"], "the masses’ momenta by magnitude")]
    for key, words in (
        ("energy_error", "energy of motion and springs over whole contacts"),
        ("work_energy_error", "work of the contact force against change of energy"),
    ):
        if summary[key] is not None:
            rows.append((words, summary[key], ENERGY))
    return conserved(rows)


def _impact_figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw of impacts, and what to look for in it."""
    yield Plot(
        "relative-velocity",
        partial(chains_figures.relative_velocity, dataset),
        "Relative velocity of the centres of mass: it jumps at impacts (shaded) and stays between them. Marks that lie on "
        "each other: the masses alone decide; apart: springs inside took part in the impact.",
    )
    yield Plot(
        "velocities",
        partial(chains_figures.velocities, dataset),
        "Velocities of the masses and, below, of the centres of mass: the masses that meet swing on the springs inside.",
    )
    if np.any(dataset.normal_force.values):
        yield Plot(
            "forces",
            partial(chains_figures.forces, dataset),
            "Forces: the springs inside should be far below the contact’s while the masses touch.",
        )


def _latch_figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw of a latch, and what to look for in it."""
    yield Plot(
        "latch-travel",
        partial(chains_figures.latch_travel, dataset),
        "Travel of the probe into the latch: captured where it reaches the dashed line, thrown back where it turns before.",
    )
    yield Plot(
        "velocities",
        partial(chains_figures.velocities, dataset),
        "Velocities: after capture chaser and target move as one, else they part with the velocities of an elastic impact.",
    )
    yield Plot(
        "forces",
        partial(chains_figures.forces, dataset),
        "Force of the ramp, which grows with travel, and after capture that which holds the two together.",
    )
