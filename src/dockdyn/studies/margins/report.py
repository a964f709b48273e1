"""The report of the margins of a contact loop, for the page and the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from dockdyn.dataset import Dataset
from dockdyn.report.field import Key, stable_side
from dockdyn.report.report import Plot, Report, ReportBlock, Table, result_report
from dockdyn.report.wording import NOTHING, align_numbers, format_gains, format_significant, join_keys
from dockdyn.studies.margins.console import margin_lines
from dockdyn.studies.margins.first_screen import margins_advice, margins_headline, margins_tiles
from dockdyn.studies.margins.plots import (
    BARS,
    chart_figure,
    family_figure,
    measure_of,
    ranked_sensitivities,
    roots_figure,
    sensitivity_figure,
    sweep_figure,
)
from dockdyn.studies.margins.wording import (
    GAIN,
    format_restitution,
    format_windows,
    margins_verdict,
    several_windows,
    stable_at_least,
    whatever_delay,
)

LOOPS = {
    "delay": "continuous, the delay exact",
    "sampled": "sampled, one whole cycle of the rig from state to state",
}


def margins_report(dataset: Dataset) -> Report:
    """Return the report of the margins of a scenario."""
    margins = json.loads(dataset.attrs["margins"])
    return result_report(
        dataset,
        verdict=margins_verdict(margins),
        headline=margins_headline(margins),
        advice=margins_advice(margins, "growth_rate" in dataset),
        tiles=margins_tiles(margins),
        alarming=not margins["stable"],
        warnings=margins["warnings"],
        key=overview_rows(dataset, margins),
        blocks=report_blocks(margins),
        plots=report_figures(dataset, margins),
        made=_how_computed(dataset),
        terminal=[dataset.attrs["title"], margins_verdict(margins), *margin_lines(margins)],
    )


def report_blocks(margins: dict[str, Any]) -> list[ReportBlock]:
    """Return the tables of the page."""
    conditions = "; ".join(margins["pade"]["1"]["conditions"]) if margins["pade"] else ""
    return [
        ReportBlock(
            "Exact delay and Padé approximations",
            table=_pade_table(margins) if margins["pade"] else None,
            notes=[
                "A Padé approximation replaces delay and hold by fractions of polynomials, whose roots Routh’s array counts. "
                "It is shown to compare with other tools; every other number here is exact. First column of Routh’s array at "
                f"order 1, all positive for a stable loop: {conditions}."
            ],
        ),
        *_contact_blocks(margins),
        *_several_blocks(margins),
        ReportBlock(
            "The motion that decides",
            table=_mode_table(margins.get("mode")),
            notes=["How the bodies share the kinetic energy of the motion with the rightmost root."],
        ),
        ReportBlock(
            "Sensitivities",
            table=_sensitivities_table(margins),
            notes=["For 10 % more of a key, by its slope: a tenth of the derivative times its value."],
            where="after",
        ),
        ReportBlock(
            "Nominal contact",
            rows=_nominal_state(margins["nominal"] or {}),
            notes=[
                "The state about which the loop was linearised. The position is from the surface’s reference point, in the "
                "axes of the body with the surface."
            ],
            where="after",
        ),
    ]


def _contact_blocks(margins: dict[str, Any]) -> list[ReportBlock]:
    """Return how the contact moves along its axes, and its matrix."""
    matrix = Table([], [align_numbers(row) for row in margins["contact_matrix"] or []], look="matrix")
    return [
        ReportBlock(
            "Dynamics at the contact",
            table=_dynamics_table(margins),
            notes=[
                "The contact point decelerates in each direction by these numbers times the rate and depth of penetration one "
                "delay before; around the axis it is the azimuth that does, and the numbers are per metre. Only the normal "
                "direction feeds back: it decides the stability, and the others follow it."
            ],
        ),
        ReportBlock(
            "Dynamics at the contact",
            words="Contact-space matrix, 1/kg: acceleration of the contact point by the force at it, in the directions along "
            "the wall, around the docking axis and into the wall."
            if matrix.rows
            else "",
            table=matrix,
        ),
    ]


def _several_blocks(margins: dict[str, Any]) -> list[ReportBlock]:
    """Return the contacts that are closed together, and the sets that close later."""
    which = "all of them" if margins["apparent_restitution"] is None and not margins["pade"] else "the first"
    return [
        ReportBlock(
            "Several contacts",
            table=_closed_table(margins.get("closed_contacts")),
            notes=[
                "Closed together where the loop was linearised; each by itself. Roots, delays and sensitivities are those of "
                f"{which}."
            ],
        ),
        ReportBlock(
            "Several contacts",
            table=_later_table(margins.get("later_sets")),
            notes=[
                "Sets of contacts that a run closes while the first contact is still closed, as they are then, with the delay "
                "alone."
            ],
        ),
    ]


def overview_rows(dataset: Dataset, margins: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the summary table; what there is no number for is left out."""
    growth, crossing = margins["growth_rate_1_s"], margins["crossing_frequency_rad_s"]
    restitution = margins["apparent_restitution"]
    rows = [
        ("Setup", dataset.attrs["setup"]),
        ("Loop", LOOPS.get(margins["loop"], margins["loop"])),
        ("Growth rate", f"{format_significant(growth, 6)} 1/s"),
    ]
    if "counted" in margins:
        rows.append(("Counted in", ", ".join(margins["counted"]) or "the contact alone"))
    if growth:
        rows.append(
            (f"Time to {'halve' if growth < 0 else 'double'}", f"{format_significant(math.log(2) / abs(growth))} s")
        )
    if margins["spectral_radius"] is not None:
        rows.append(("Spectral radius of a cycle", format_significant(margins["spectral_radius"], 6)))
    rows += [("Loop delay", f"{margins['delay_s']:g} s"), ("Critical delay", critical_delay(margins))]
    if margins["delay_margin_s"] is not None:
        rows.append(("Delay margin", f"{format_significant(margins['delay_margin_s'], 6)} s"))
    if several_windows(margins):
        rows.append(("Stable delays", format_windows(margins)))
    if crossing is not None:
        hertz = format_significant(crossing / (2 * math.pi))
        rows.append(("Crossing frequency", f"{format_significant(crossing, 6)} rad/s ({hertz} Hz)"))
    for words, key, unit in (
        ("Effective mass", "effective_mass_kg", "kg"),
        ("Stiffness of the contact", "stiffness_N_m", "N/m"),
        ("Damping of the contact", "damping_N_s_m", "N s/m"),
    ):
        if margins[key] is not None:
            rows.append((words, f"{margins[key]:.6g} {unit}"))
    if restitution is not None:
        gain = "; above one: energy put in by the rig" if restitution > 1 + GAIN else ""
        rows.append(("Apparent restitution, undamped and uncompensated", format_restitution(restitution) + gain))
    if margins["drift_modes"]:
        rows.append(("Drift modes", f"{margins['drift_modes']}, with roots at zero, set aside"))
    return rows


def critical_delay(margins: dict[str, Any]) -> str:
    """Return the shortest delay that makes the loop unstable."""
    critical = margins["critical_delay_s"]
    if (known := stable_at_least(margins)) is not None:
        return f"more than {format_significant(known, 6)} s, or none"
    if critical is None:
        return "none: stable whatever the delay" if margins["stable"] and whatever_delay(margins) else NOTHING
    if critical > 0:
        return f"{format_significant(critical, 6)} s"
    return "0 s: unstable at short delays" if margins["stable_delays_s"] else "0 s: unstable at any delay"


def _pade_table(margins: dict[str, Any]) -> Table:
    """Return the exact growth rate beside those with the delay approximated."""
    exact = margins["growth_rate_1_s"]
    own = NOTHING if margins["stabilising_gains_N_s_m"] is None else format_gains(margins["stabilising_gains_N_s_m"])
    rows = [["exact", format_significant(exact, 6), NOTHING, own, "stable" if margins["stable"] else "unstable"]]
    wrong = set()
    for order, found in sorted(margins["pade"].items(), key=lambda item: int(item[0])):
        rate = found["growth_rate_1_s"]
        words = "stable" if found["stable"] else "unstable"
        if found["stable"] != margins["stable"]:
            words += ", which is wrong" + (f": {found['reason']}" if found.get("reason") else "")
            wrong.add(words)
        row = [f"Padé, order {order}", format_significant(rate, 6), format_significant(rate - exact, 2)]
        rows.append([*row, format_gains(found["stabilising_gains_N_s_m"]), words])
    columns = [("delay and hold", ""), ("growth rate", "1/s"), ("off by", "1/s")]
    columns += [("stabilising gains", "N s/m"), ("verdict", "")]
    return Table(columns, rows, worded={0, 3, 4}, alarming=wrong, look="heads")


def _dynamics_table(margins: dict[str, Any]) -> Table:
    """Return how the contact point answers to penetration, direction by direction."""
    rows = []
    for direction in ("normal", "radial", "tangential"):
        found = margins[f"{direction}_dynamics"]
        if found is None:
            continue
        damping, stiffness = found
        own = ["", ""]
        if direction == "normal" and stiffness > 0:
            frequency = math.sqrt(stiffness)
            own = [format_significant(frequency), format_significant(damping / (2 * frequency))]
        name = "around the axis" if direction == "tangential" else direction
        rows.append([name, format_significant(damping, 6), format_significant(stiffness, 6), *own])
    columns = [("direction", ""), ("by penetration rate", "1/s"), ("by penetration", "1/s²")]
    columns += [("natural frequency", "rad/s"), ("damping ratio", "")]
    groups = [("", 1), ("deceleration", 2), ("without delay", 2)]
    return Table(columns, rows, groups, worded={0}, look="heads")


def _sensitivities_table(margins: dict[str, Any]) -> Table:
    """Return all keys that matter, the largest effect first."""
    ranked = ranked_sensitivities(margins)
    measure, unit, _ = measure_of(margins)
    rows = [[join_keys(key), format_significant(value)] for key, value in ranked]
    return Table([("key", ""), (f"change of the {measure}", unit)], rows, worded={0}, look="heads")


def _nominal_state(nominal: dict[str, Any]) -> list[tuple[str, str]]:
    """Return where the loop was linearised."""
    rows = []
    if nominal.get("members", 1) > 1:
        rows.append(("Members in contact", f"{nominal['members_closed']} of {nominal['members']}"))
    if nominal.get("position_m") is not None:
        rows.append(("Position of the contact", f"({', '.join(align_numbers(nominal['position_m']))}) m"))
    for words, key, unit in (
        ("Azimuth", "azimuth_deg", "deg"),
        ("Distance from the reference point", "distance_m", "m"),
        ("Penetration", "depth_m", "m"),
    ):
        if nominal.get(key) is not None:
            rows.append((words, f"{format_significant(nominal[key])} {unit}"))
    return rows


def _mode_table(mode: list[dict[str, Any]] | None) -> Table:
    """Return which bodies move in the motion that decides; no rows where that is not known."""
    rows = [[row["body"], format_significant(100 * row["energy_share"], 3)] for row in mode or []]
    return Table([("body", ""), ("share of the energy", "%")], rows, worded={0}, look="heads")


def _closed_table(contacts: list[dict[str, Any]] | None) -> Table:
    """Return the contacts that are closed together, each by itself; no rows where one is closed alone."""
    keys = ("depth_m", "effective_mass_kg", "stiffness_N_m", "damping_N_s_m")
    rows = [
        [row["feature"], row["surface"], *(format_significant(row[key], 6) for key in keys)] for row in contacts or []
    ]
    columns = [("feature", ""), ("surface", ""), ("penetration", "m"), ("effective mass", "kg")]
    columns += [("stiffness", "N/m"), ("damping", "N s/m")]
    return Table(columns, rows, worded={0, 1}, look="heads")


def _later_table(sets: list[dict[str, Any]] | None) -> Table:
    """Return the margins of the sets of contacts that close later."""
    rows = []
    for found in sets or []:
        critical = (
            "none found" if found["critical_delay_s"] is None else format_significant(found["critical_delay_s"], 6)
        )
        margin = NOTHING if found["delay_margin_s"] is None else format_significant(found["delay_margin_s"], 6)
        verdict = "stable" if found["stable"] else "unstable"
        after, growth = format_significant(found["after_s"]), format_significant(found["growth_rate_1_s"], 6)
        rows.append([", ".join(found["contacts"]), after, growth, critical, margin, verdict])
    columns = [("contacts", ""), ("closed after", "s"), ("growth rate", "1/s"), ("critical delay", "s")]
    columns += [("delay margin", "s"), ("verdict", "")]
    return Table(columns, rows, worded={0, 5}, alarming={"unstable"}, look="heads")


def _how_computed(dataset: Dataset) -> list[tuple[str, str]]:
    """Return how the margins were computed, and from what."""
    rows = [("Source", str(dataset.attrs["source"]))] if dataset.attrs.get("source") else []
    if "growth_rate" in dataset:
        growth = dataset.growth_rate
        keys = [Key.of(dataset[dim]) for dim in reversed(growth.dims) if dataset[dim].attrs.get("long_name")]
        rows.append(("Keys swept", "; ".join(f"{key.name}, {key.values.size} values {key.range}" for key in keys)))
    return rows


def report_figures(dataset: Dataset, margins: dict[str, Any]) -> Iterator[Plot]:
    """Yield what to draw, and what to look for in it."""
    if "growth_rate" in dataset:
        yield replace(_sweep_figure(dataset), asked=True)
    if margins["rightmost_roots"]:
        words = "Roots of the loop: the rightmost one decides; left of the imaginary axis roots decay, right of it they grow."
        if margins["drift_modes"]:
            words += " Those of bodies that drift freely, which are zero, are not drawn."
        if len(roots_figure(margins).panels) > 1:
            words += " On the right are all that were found: on their scale those next to the axis lie on it."
        yield Plot("roots", partial(roots_figure, margins), words)
    if ranked_sensitivities(margins):
        measure = measure_of(margins)[0]
        blue, orange = ("widens", "narrows") if measure == "delay margin" else ("lowers", "raises")
        words = f"What 10 % more of a key would do to the {measure}, as far as its slope here tells: "
        words += f"blue {blue} it, orange {orange} it. The {BARS} largest at most."
        yield Plot("sensitivity", partial(sensitivity_figure, margins), words)


def _sweep_figure(dataset: Dataset) -> Plot:
    """Return the figure of the swept keys, with its caption."""
    x, tolerance = Key.of(dataset.x), dataset.attrs.get("boundary_tolerance")
    located = f"located to {format_significant(tolerance, 1)} of an axis" if tolerance else "located"
    if "y" not in dataset.growth_rate.dims:
        words = f"Growth rate over {x.name}: where it is below zero the loop is stable. The crossings are {located}, "
        return Plot("sweep", partial(sweep_figure, dataset), words + f"the line joins {x.values.size} computed values.")
    y = Key.of(dataset.y)
    if dataset.sizes["family"] > 1:
        side = stable_side(dataset)
        words = f"Boundaries of stability over {x.name} and {y.name}, {located}: "
        words += f"any point {side} a curve is stable, and " if side else ""
        return Plot(
            "family", partial(family_figure, dataset), words + "short strokes point into the unstable side of each."
        )
    words = f"Stability over {x.name} and {y.name}: stable where shaded. The boundary is {located}; contours of the "
    words += f"growth rate are interpolated between {x.values.size} × {y.values.size} computed values."
    return Plot("chart", partial(chart_figure, dataset), words)
