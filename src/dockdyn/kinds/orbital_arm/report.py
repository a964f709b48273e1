"""The report of an arm in orbit: impacts, latch, where it ends, and how well the integrator kept what it should."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.orbital_arm import plots as drawn
from dockdyn.kinds.orbital_arm.snapshots import snapshots
from dockdyn.report.report import ENERGY, Block, Plot, Report, Table, beginning, conserved, run_report
from dockdyn.report.wording import AT_AN_INSTANT, aligned, capital, counted, significant

LISTED = 20  # impacts in the table


def orbital_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of an arm in orbit."""
    verdict, impacts = _orbital_verdict(summary), _impacts_table(summary)
    note = "The approach speed is that along the normal just before; impulses are those on the payload."
    final = ", ".join(f"{name} {significant(value, 6)}" for name, value in summary["final"].items())
    return run_report(
        dataset,
        summary,
        verdict=verdict,
        key=overview(dataset, summary),
        blocks=[
            Block("Impacts", table=impacts, notes=[note]),
            Block("At the end", table=_final_table(dataset, summary)),
            kept(summary),
        ],
        plots=figures(dataset),
        made=[
            ("Integrator", "variational: midpoint rule, impacts and latches located in time"),
            ("Step", f"{'at most ' if dataset.attrs['adaptive'] else ''}{summary['step_s']:g} s"),
            ("Newton’s tolerance", f"{float(dataset.attrs['tolerance']):g}"),
            ("Newton’s corrections a step", newton(summary)),
            ("Steps", f"{summary['steps']}"),
            ("Time a step", f"{significant(summary['microseconds_per_step'], 3)} µs"),
        ],
        terminal=[
            summary["title"],
            verdict,
            *([Block(table=impacts)] if impacts.rows else []),
            f"at {summary['end_time_s']:g} s: {final}",
            f"Newton's corrections a step: {newton(summary)}",
        ],
    )


def newton(summary: dict[str, Any]) -> str:
    return f"{significant(summary['newton_iterations_mean'], 3)} on average, {summary['newton_iterations_max']} at most"


def _orbital_verdict(summary: dict[str, Any]) -> str:
    """What the payload met, whether it was caught and let go, in words."""
    found = summary["impacts"]
    words = counted(len(found), "impact")
    if found:
        least, most = found[0]["time_s"], found[-1]["time_s"]
        when = (
            f"at {significant(least)} s"
            if len(found) == 1
            else f"between {significant(least)} and {significant(most)} s"
        )
        fastest = max(found, key=lambda impact: impact["approach_speed_m_s"])
        speed = significant(fastest["approach_speed_m_s"] * 1e3, 3)
        words += f" {when}, the fastest at {speed} mm/s on {fastest['surface']}"
    words = f"{capital(words)}. "
    if summary["captured"] is not None:
        caught, let_go = summary["capture_time_s"], summary["release_time_s"]
        words += f"Latched at {significant(caught)} s" if summary["captured"] else "Not latched"
        words += f", released at {significant(let_go)} s. " if let_go is not None else ". "
    if summary["status"] != "finished":
        words = f"{capital(summary['status'])}. {words}"
    return words.strip()


def overview(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary table."""
    rows = [
        *beginning(summary),
        ("Impact law", str(dataset.attrs["law"])),
        ("Impacts", str(len(summary["impacts"]))),
    ]
    if summary["impacts"]:
        total = sum(impact["impulse_N_s"] for impact in summary["impacts"])
        taken = sum(impact["energy_loss_J"] for impact in summary["impacts"])
        rows += [
            ("Impulse, all in all", f"{significant(total)} N s"),
            ("Energy that they took", f"{significant(taken)} J"),
            AT_AN_INSTANT,
        ]
    if summary["captured"] is not None:
        for words, key in (("Latched", "capture_time_s"), ("Released", "release_time_s")):
            rows.append((words, "never" if summary[key] is None else f"{significant(summary[key], 6)} s"))
    if dataset.attrs["control"] != "none":
        for unit, word, what in (("rad", "torque", "N m"), ("m", "force", "N")):
            acting = dataset.torque.values[:, dataset.joint_unit.values == unit]
            if acting.size:
                rows.append((f"Largest {word}", f"{significant(float(np.abs(acting).max()))} {what}"))
        rows.append(("Work of control", f"{significant(float(dataset.work[-1]))} J"))
    return [*rows, ("Newton’s corrections a step", newton(summary))]


def _impacts_table(summary: dict[str, Any]) -> Table:
    """One row an impact."""
    found = summary["impacts"][:LISTED]
    times = aligned([impact["time_s"] for impact in found], 6)
    rows = [
        [
            f"{number} {impact['point']} – {impact['surface']}{' (latch)' if impact['latch'] else ''}",
            time,
            significant(impact["approach_speed_m_s"] * 1e3),
            significant(impact["impulse_N_s"]),
            significant(impact["impulse_tangential_N_s"]),
            significant(impact["energy_loss_J"]),
        ]
        for number, (impact, time) in enumerate(zip(found, times, strict=True), start=1)
    ]
    columns = [("impact", ""), ("time", "s"), ("approach speed", "mm/s"), ("impulse", "N s")]
    columns += [("impulse across", "N s"), ("energy taken", "J")]
    return Table(columns, rows, worded={0}, look="dense", left_out=len(summary["impacts"]) - len(found))


def _final_table(dataset: xr.Dataset, summary: dict[str, Any]) -> Table:
    """Where everything is at the end; angles in degrees, too."""
    units = {str(name): str(unit) for name, unit in zip(dataset.joint.values, dataset.joint_unit.values, strict=True)}
    rows = []
    for name, value in summary["final"].items():
        turns = units.get(name, "rad") == "rad"
        words = {"attitude_error_orbit": "station against its start in the orbital frame"}.get(name, name)
        rows.append(
            [words, significant(value, 6), "rad" if turns else "m", significant(np.degrees(value), 6) if turns else ""]
        )
    columns = [("coordinate", ""), ("value", ""), ("unit", ""), ("in degrees", "deg")]
    return Table(columns, rows, worded={0, 2}, look="dense")


def kept(summary: dict[str, Any]) -> Block:
    """Errors of what should be conserved."""
    energy, links = summary["energy_error"], "the sum of the links’ by magnitude"
    return conserved(
        [
            ("linear momentum, less gravity’s", summary["linear_momentum_error"], links),
            ("angular momentum, less gravity’s", summary["angular_momentum_error"], links),
            (
                "energy (in the frame that turns with a circular orbit), less the work of control, with what impacts took",
                energy,
                "nothing: an eccentric orbit keeps no energy" if energy is None else ENERGY,
            ),
        ]
    )


def figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw, and what to look for in it."""
    space = "theta" not in dataset
    above = ", below from above" if space else ""
    yield Plot(
        "snapshots",
        partial(snapshots, dataset),
        f"The arm and its payload in axes of the station{', from the side' if space else ''}{above}: see where the payload "
        "meets the bay, and how the arm stands then.",
    )
    controlled = dataset.attrs["control"] != "none"
    for unit, words in (("rad", "angles and rates"), ("m", "travel and speeds")):
        if unit in dataset.joint_unit.values:
            follow = ", and the set-points that control would hold" if controlled else ""
            yield Plot(
                "joints",
                partial(drawn.joints, dataset, unit),
                f"Joint {words}{follow}: rates jump at impacts (orange ticks).",
            )
    yield Plot(
        "station",
        partial(drawn.station, dataset),
        "Attitude of the station against the orbital frame: what the arm’s motion and the impacts do to it.",
    )
    if "gap" in dataset and len(dataset.event_time):
        yield Plot(
            "gaps",
            partial(drawn.gaps, dataset),
            "Distances of the payload from the surfaces, close up, and the impulses of the impacts in the surfaces’ colours.",
        )
    yield Plot(
        "errors",
        partial(drawn.errors, dataset),
        "Change of the energy of motion, and how far what should be conserved is from its start: energy stays bounded, momenta "
        "are those of rounding.",
    )
    for unit, words in (("rad", "Torques"), ("m", "Forces")):
        if controlled and unit in dataset.joint_unit.values:
            yield Plot(
                "torques", partial(drawn.torques, dataset, unit), f"{words} of control: flat tops are at the limits."
            )
    yield Plot(
        "iterations",
        partial(drawn.iterations, dataset),
        "Corrections of Newton’s method in the steps that end at samples: more of them where the motion turns sharply.",
    )
