"""The report of a run on a rig: how far it is from the contact without rig, where its delay comes from, what would serve."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.report.report import Plot, Report, ReportBlock, Table, first_figures, run_report
from dockdyn.report.verdict import headline_of
from dockdyn.report.wording import NOTHING, capitalise_first, format_significant
from dockdyn.rig import plots as drawn
from dockdyn.rig.comparison.choice import NONE
from dockdyn.rig.comparison.report import settings_in_words
from dockdyn.rig.first_screen import HEADLINES, LEADS, MARGIN_COMMAND, law_in_words, rig_advice, rig_headline, rig_tiles
from dockdyn.rig.measures import find_hardest_time
from dockdyn.rig.summary import MEASURES, PARTS, describe_instability, facts_of_run

NEGLIGIBLE = 1e-9  # m, rad
OF_SENSOR = {  # errors of force that noise, bias and resolution of the sensor account for
    "peak_force_error_N": "largest force, off by the sensor’s own error",
    "end_force_error_N": "largest error of force at the end: the sensor’s own",
}


def rig_report(dataset: Dataset, summary: dict[str, Any]) -> Report:
    """Return the report of a run on a rig."""
    verdict, measures, late = _rig_verdict(dataset, summary), measure_rows(summary), _delay_table(summary)
    note = (
        "Amplitude and the errors at the end are those of the last oscillation, or of the free flight that ends the run. The "
        "speed at its last peak mixes amplitude and phase: read these two."
    )
    parts = ", ".join(f"{words} {delay} ms" for words, delay, _ in late.rows)
    return run_report(
        dataset,
        summary,
        verdict=verdict,
        headline=rig_headline(dataset, summary),
        headlines=HEADLINES,
        tiles=rig_tiles(dataset, summary),
        advice=rig_advice(dataset, summary),
        alarming=bool(describe_instability(dataset, summary)),
        moment=find_hardest_time(dataset),
        key=overview_rows(dataset, summary),
        blocks=[
            ReportBlock("What to do", words=summary["recommendation"]),
            ReportBlock("The rig beside the contact without rig", table=measures, notes=[note]),
            ReportBlock("Where the delay comes from", table=late, notes=[_budget_note(summary)]),
            ReportBlock("The compensator", rows=compensator_rows(dataset, summary)),
        ],
        plots=report_figures(dataset),
        made=[
            ("Dynamics", str(dataset.attrs["integrator"])),
            ("Step", f"{format_significant(summary['step_s'])} s"),
            ("Steps", f"{summary['steps']}"),
        ],
        terminal=[
            summary["title"],
            verdict,
            ReportBlock(table=replace(measures, columns=[("", ""), ("rig", ""), ("", "")])),
            f"delay: {parts or 'none'}",
            summary["recommendation"],
        ],
    )


def _rig_verdict(dataset: Dataset, summary: dict[str, Any]) -> str:
    """Return whether the loop is unstable, bounce, amplitude and phase, in words."""
    law, told = law_in_words(summary), headline_of(LEADS, summary) or "there is no contact to compare"
    unstable = describe_instability(dataset, summary)
    said = f"{law} {unstable}, and {told}." if unstable else f"{law} {told}."
    stopped = summary["status"]
    return said if stopped == "finished" else f"{capitalise_first(stopped)}. {said}"


def overview_rows(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary table."""
    rows = [
        *first_figures(summary, dataset.attrs["motion"]),
        ("Compensator", summary["compensator"]),
        (
            "Contact",
            f"{format_significant(summary['stiffness_N_m'])} N/m on {format_significant(summary['effective_mass_kg'])} kg",
        ),
        ("Delay, all in all", f"{format_significant(summary['delay_total_ms'], 3)} ms"),
    ]
    if summary["spectral_radius"] is not None:
        rows.append(("Spectral radius of a cycle", f"{summary['spectral_radius']:.7g}"))
    if summary["amplitude_bound"] is not None:
        rows.append(
            (
                "Amplitude in contact over the run",
                f"at most about {format_significant(summary['amplitude_bound'])} times what it was",
            )
        )
    if summary["gain_lowest_N_s_m"] is not None:
        lowest, highest = (format_significant(summary[f"gain_{end}_N_s_m"], 5) for end in ("lowest", "highest"))
        rows.append(("Gains visited", f"{lowest} to {highest} N s/m{describe_stability(summary)}"))
    return rows


def describe_stability(summary: dict[str, Any]) -> str:
    """Return whether the loop is stable at both ends of the gains visited."""
    stable = summary["gain_range_stable"]
    if stable is None:
        return ""
    said = "stable at both ends" if all(stable["exact"]) else "not stable at both ends"
    if stable["routh"] is None:
        return f"; {said}"
    agrees = stable["routh"] == stable["exact"]
    return f"; {said}, exactly and by Routh’s table" if agrees else f"; {said}, Routh’s table (Padé) differs"


def measure_rows(summary: dict[str, Any]) -> Table:
    """Return the measures, a row each."""
    rows = []
    for words, key, scale, unit in MEASURES:
        value = summary[key]
        if key in OF_SENSOR and value and abs(value) <= (summary["sensor_error_N"] or 0.0):
            words = OF_SENSOR[key]
        rows.append([words, NOTHING if value is None else format_significant(scale * value), unit])
    return Table([("quantity", ""), ("value", ""), ("unit", "")], rows, worded={0, 2})


def _delay_table(summary: dict[str, Any]) -> Table:
    """Return what each part of the loop delays the force by."""
    total = summary["delay_total_ms"]
    rows = [
        [PARTS[part], format_significant(late, 3), format_significant(100 * late / total, 2) if total else NOTHING]
        for part, late in sorted(summary["delay_budget_ms"].items(), key=lambda item: -item[1])
    ]
    if len(rows) > 1:
        rows.append(["all together", format_significant(total, 3), "100"])
    return Table([("part", ""), ("delay", "ms"), ("share", "%")], rows, worded={0})


def _budget_note(summary: dict[str, Any]) -> str:
    words = (
        "To first order, at the contact’s own frequency. A run does not seek the largest delay with which the loop is stable, "
        f"nor what is left to it: {MARGIN_COMMAND} does."
    )
    bounces = summary["delay_restitution"]
    if bounces is None:
        return words
    gain = format_significant(100 * (bounces**2 - 1), 3)
    return (
        f"{words} Under this delay and no compensation an undamped bounce would show restitution "
        f"{format_significant(bounces)}: it would end with {gain} % more energy than it began with."
    )


def compensator_rows(dataset: Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the compensator, what it is set to, and what it must know."""
    law = summary["compensator"]
    if law == NONE:
        return []
    facts = facts_of_run(dataset)
    return [
        ("Law", law),
        ("Set to", settings_in_words(json.loads(dataset.attrs["compensator_settings"]), facts["units"])),
        ("Needs, limits", facts["knows"] or NOTHING),
    ]


def report_figures(dataset: Dataset) -> Iterator[Plot]:
    """Yield what to draw, and what to look for in it."""
    space = dataset.sizes["axis"] > 1
    what = "Sizes of the contact force" if space else "Force on the model"
    yield Plot(
        "force",
        partial(drawn.compare_runs, dataset, "ideal_force", "total_force", "force, N"),
        f"{what} with and without rig: the difference below is what the rig gets wrong.",
    )
    yield Plot(
        "velocity",
        partial(
            drawn.compare_runs, dataset, "ideal_velocity", "velocity", "speed, mm/s" if space else "velocity, mm/s", 1e3
        ),
        f"{'Speed of the point that touches' if space else 'Velocity'} with and without rig.",
    )
    yield Plot(
        "energy",
        partial(drawn.energy_chart, dataset),
        "Kinetic energy, and the work of all forces on the model beside that of the contact at the robot: where the two part, "
        "the loop has given or taken energy.",
    )
    words = drawn.close_window(dataset)[1]
    yield Plot(
        "closely",
        partial(drawn.close_chart, dataset),
        f"Force and velocity in {words}, close up: see amplitude and phase apart.",
    )
    if space:
        yield Plot(
            "path",
            partial(drawn.path_chart, dataset),
            f"Way of the point that touches, seen from {dataset.attrs['standing']}: from the side, and along x.",
        )
        yield Plot(
            "poses",
            partial(drawn.pose_chart, dataset),
            f"Pose of {dataset.attrs['carried']}, the model less that without rig: what the rig has changed of the motion.",
        )
        if float(np.abs(dataset.robot_pose - dataset.model_pose).max()) > NEGLIGIBLE:
            yield Plot(
                "lag",
                partial(drawn.pose_chart, dataset, "robot_pose", "model_pose"),
                "Pose of the robot less that of the model it follows: the lag of hold and robot.",
            )
    else:
        caption = (
            f"Velocity over position in the run and, with the last instant marked, in {words}: a smaller or larger orbit is an "
            "error of amplitude, two marks at different angles one of phase."
            if dataset.attrs["bilateral"]
            else f"Velocity over position, and force over position, in {words}: the area inside the rig’s loop of force is the "
            "energy that its lateness gives."
        )
        yield Plot("portrait", partial(drawn.phase_portrait, dataset), caption)
    if dataset.attrs["compensator"] != "none" and bool(dataset.gain.values.any()):
        yield Plot(
            "gain",
            partial(drawn.gain_chart, dataset),
            "The compensator’s gain with the range it visits (dotted), and its force.",
        )
