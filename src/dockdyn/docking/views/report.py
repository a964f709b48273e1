"""The report of a run of a mechanism, for the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.data import PORT_UNITS
from dockdyn.docking.missed_latches import describe_missed
from dockdyn.docking.views.ramp_report import ramp_figures, ramp_in_words, ramp_rows
from dockdyn.docking.views.shown_surface import Shown, shown_surfaces
from dockdyn.docking.views.trajectory import trajectory_chart
from dockdyn.report.charts import contact_charts as charts
from dockdyn.report.charts.chart import FLAT, ZERO, Chart, Line, Panel, Source, line_style, lines_of
from dockdyn.report.charts.joint_panels import joint_panels
from dockdyn.report.charts.time_chart import time_chart
from dockdyn.report.contact_tables import (
    FINE,
    all_struck,
    conservation_rows,
    contacts_block,
    contacts_in_words,
    hardest_impact,
    has_loads,
    loads_block,
    printed_contacts,
    seat_force,
)
from dockdyn.report.control_report import arm_rows, control_figures, control_rows
from dockdyn.report.drawing import pair_labels, short_label
from dockdyn.report.impact_table import first_impact_in_words, first_impact_rows, predicted_block
from dockdyn.report.mesh_table import meshes_of_result
from dockdyn.report.report import Plot, Report, ReportBlock, Table, first_figures, integration_rows, run_report
from dockdyn.report.tile import Tile
from dockdyn.report.verdict import headline_of, used_share, worst_first
from dockdyn.report.wording import NOTHING, capitalise_first, count_of, format_significant, name_in_words
from dockdyn.results.measures import acts_beside_contacts
from dockdyn.results.requirements import without_rounding

LABEL = 26  # letters of a contact's name on the terminal
ENDS = (("start", 1.0), ("end", -1.0))  # of a run, between which energy is taken
SURFACES = 4  # with a figure of their own
POINTS = 6  # named points in one figure of loads
LITTLE = 0.01  # share of a limit that is told as less than this
ROUNDED = 1e-12  # of the energy at the start: what a free flight changes of it
ROUNDING = 1e-6  # of the largest impulse: what presses less over a run does not press
HEADLINES = (
    (
        {"captured": True, "release_time_s": None, "held_at_end": True},
        "Captured at {capture_time_s} s, released and captured again",
    ),
    ({"captured": True, "release_time_s": None}, "Captured at {capture_time_s} s, released again"),
    ({"captured": True}, "Captured at {capture_time_s} s"),
    ({"captured": False}, "Not captured"),
)
PLACE = "where the deepest member of the contact touches, in the axes of the second body"


def mechanism_report(dataset: Dataset, summary: dict[str, Any]) -> Report:
    """Return the report of a run of a mechanism."""
    nothing = "" if acts_beside_contacts(dataset) else NOTHING
    classes = [word or nothing for word in summary["energy_class"]]
    names = pair_labels(dataset) if classes else []
    labels = [short_label(names[int(number)], LABEL) for number in dataset.episode_contact.values]
    return run_report(
        dataset,
        summary,
        verdict=_run_verdict(dataset, summary, classes),
        headline=_headline(summary, classes),
        headlines=HEADLINES if summary["captured"] is not None else (),
        tiles=_tiles(dataset, summary),
        key=_overview_rows(dataset, summary, classes),
        blocks=[
            contacts_block(dataset, summary, classes, PLACE),
            predicted_block(summary),
            loads_block(dataset, summary),
            _ports_block(dataset),
            _elements_block(dataset),
            _thrusters_block(dataset),
            _joints_block(dataset),
            _modes_block(dataset),
            _phases_block(dataset),
            meshes_of_result(dataset, summary),
            conservation_rows(dataset, summary),
        ],
        plots=_report_figures(dataset),
        made=integration_rows(summary),
        moment=None if all_struck(dataset) else summary["peak_time_s"],
        terminal=[
            ReportBlock(summary["title"], table=printed_contacts(summary, labels)),
            *_capture_in_words(dataset, summary),
            *ramp_in_words(summary),
            *first_impact_in_words(summary),
            *[f"Energy that friction took: {took}" for took in _friction_took(summary)],
        ],
    )


def _friction_took(summary: dict[str, Any]) -> list[str]:
    """Return the energy that friction took; nothing where none acts."""
    name = "contact.friction_loss_J"
    if name not in summary:
        return []
    return [f"{format_significant(without_rounding(summary[name], summary['kinetic_energy_start_J']))} J"]


def _headline(summary: dict[str, Any], classes: list[str]) -> str:
    """Return what came of a run in a few words."""
    if summary["status"] != "finished":
        return capitalise_first(summary["status"])
    if said := headline_of(HEADLINES, summary):
        return said
    active, count = classes.count("active"), len(classes)
    if active:
        return (
            f"{'All' if active == count else active} of {count} contacts gain energy"
            if count > 1
            else "The contact gains energy"
        )
    if count and classes.count("passive") == count:
        return "Every contact takes energy" if count > 1 else "The contact takes energy"
    return f"{count_of(count, 'contact')}".capitalize()


def _tiles(dataset: Dataset, summary: dict[str, Any]) -> list[Tile]:
    """Return the numbers that matter."""
    tiles: list[Tile] = []
    if all_struck(dataset):
        tiles.append(_hardest_impact_tile(dataset))
    elif dataset.sizes["episode"] or not dataset.attrs.get("impact_contacts"):
        tiles.append(_force_tile(dataset, summary))
    if summary["requirements"]:
        tiles += _tightest_limit(summary["requirements"])
    elif not all_struck(dataset) and dataset.sizes["contact"] and dataset.sizes["episode"]:
        tiles.append(_penetration_tile(dataset))
    tiles.append(_energy_tile(dataset, summary))
    delay = float(dataset.attrs["delay_s"])
    if delay and dataset.sizes["contact"]:
        told = summary["contacts"] if any(summary["energy_class"]) else []
        of = ["loop", *(f"Q{number}" for number in range(1, len(told) + 1))]
        words, number = "of the loop, which dockdyn stability judges", format_significant(1e3 * delay, 3)
        return [*tiles, Tile("Delay against its limits", number, "ms", words, limits=of)]
    return [*tiles, *_largest_approach(summary["contacts"])]


def _force_tile(dataset: Dataset, summary: dict[str, Any]) -> Tile:
    """Return the largest force of a contact, or of the latch's catch where that is larger, with its curve."""
    force, caught = summary["peak_force_N"], summary.get("latch.peak_force_N")
    of_catch = caught == force and "hold_force" in dataset
    if of_catch:
        curve = np.linalg.norm(dataset.hold_force.values, axis=-1)
        source = Source([("hold_force", axis, 1.0) for axis in range(dataset.sizes["axis"])], size=True)
    else:
        curve = dataset.normal_force.values.sum(axis=1)
        source = Source([("normal_force", contact, 1.0) for contact in range(dataset.sizes["contact"])])
    at = f"at {format_significant(summary['peak_time_s'])} s" if force else "no contact force"
    return Tile(
        "Largest normal force" if caught is None else "Peak force",
        format_significant(force),
        "N",
        f"of the catch, {at}" if of_catch else at,
        dataset.time.values,
        curve,
        "orange",
        figures=[("peak_force_N", 1.0)],
        source=source,
    )


def _penetration_tile(dataset: Dataset) -> Tile:
    """Return the largest depth of any contact, as sampled."""
    depth = np.maximum(dataset.depth.values.max(axis=1), 0.0) * 1e3
    return Tile(
        "Largest penetration",
        format_significant(float(depth.max())),
        "mm",
        "as sampled",
        dataset.time.values,
        depth,
        source=Source([("depth", contact, 1e3) for contact in range(dataset.sizes["contact"])], most=True),
        retold="largest",
    )


def _energy_tile(dataset: Dataset, summary: dict[str, Any]) -> Tile:
    """Return the kinetic energy that was taken, or gained."""
    kinetic = dataset.kinetic_energy.values
    change, first = float(kinetic[-1] - kinetic[0]), summary["kinetic_energy_start_J"]
    change = change if abs(change) > ROUNDED * first else 0.0
    words = "Kinetic energy taken" if change <= 0 else "Kinetic energy gained"
    return Tile(
        words,
        format_significant(abs(change)),
        "J",
        f"of {format_significant(first)} J at the start",
        dataset.time.values,
        kinetic,
        "green",
        alarming=change > 0 and "active" in summary["energy_class"],
        figures=[(f"kinetic_energy_{end}_J", sign if change <= 0 else -sign) for end, sign in ENDS],
        source=Source([("kinetic_energy", 0, 1.0)]),
    )


def _tightest_limit(requirements: list[dict[str, Any]]) -> list[Tile]:
    """Return how much of the tightest limit is used, with the others beside it; nothing where no limit has a share."""
    used = [
        (name_in_words(one["name"]), share, "< 1 %" if 0 < share < LITTLE else f"{100 * share:.0f} %")
        for one in worst_first(requirements)
        if (share := used_share(one)) is not None
    ]
    if not used:
        return []
    name, share, _ = used[0]
    number = f"{100 * share:.0f}"
    return [Tile("Share of the tightest limit", number, "%", name, bars=used[:6], alarming=share > 1, retold="limits")]


def _hardest_impact_tile(dataset: Dataset) -> Tile:
    """Return the largest normal impulse of contacts by impact laws, with the first ones beside it."""
    number, largest, onset = hardest_impact(dataset)
    bars = [
        (f"Q{place}", impulse / (largest or 1.0), format_significant(impulse, 3))
        for place, impulse in enumerate(dataset.episode_impulse.values[:6].tolist(), start=1)
    ]
    when = f"Q{number}, at {format_significant(onset)} s"
    return Tile("Largest normal impulse", format_significant(largest), "N s", when, bars=bars)


def _largest_approach(contacts: list[dict[str, Any]]) -> list[Tile]:
    """Return the largest speed at which a contact began, with the first ones beside it; nothing without contacts."""
    if not contacts:
        return []
    speeds = [1e3 * contact["approach_speed_m_s"] for contact in contacts]
    largest = max(speeds) or 1.0
    bars = [
        (f"Q{number}", speed / largest, format_significant(speed, 3))
        for number, speed in enumerate(speeds[:6], start=1)
    ]
    which = f"Q{int(np.argmax(speeds)) + 1} of {count_of(len(speeds), 'contact')}"
    return [
        Tile("Largest approach speed", format_significant(max(speeds)), "mm/s", which, bars=bars, retold="approach")
    ]


def _run_verdict(dataset: Dataset, summary: dict[str, Any], classes: list[str]) -> str:
    """Return the run in words: the contacts, and how it ended; where it stopped early that comes first."""
    words = [
        *_capture_in_words(dataset, summary),
        *ramp_in_words(summary),
        *contacts_in_words(dataset, summary, classes),
        *first_impact_in_words(summary),
    ]
    if summary["status"] != "finished":
        return " ".join([f"{capitalise_first(summary['status'])}.", *words])
    touching = [
        str(name) for name, depth in zip(dataset.contact.values, dataset.depth.values[-1], strict=True) if depth > 0
    ]
    held, latches = _held_at_end(dataset)
    which = "the latches" if held == latches else f"{held} of {latches} latches"
    apart = f", held by {which}" if held else ", all apart" if classes else ""
    end = f"; touching: {', '.join(touching)}" if touching else apart
    return " ".join([*words, f"Finished at t = {summary['end_time_s']:g} s{end}."])


def _capture_in_words(dataset: Dataset, summary: dict[str, Any]) -> list[str]:
    """Return what came of the latches, in a sentence; nothing where there is none."""
    if summary["captured"] is None:
        return []
    held, latches = _held_at_end(dataset)
    counted = f"{held} of {latches} latches {'holds' if held == 1 else 'hold'} at the end"
    if not summary["captured"]:
        return [f"Not captured: {counted}.", *describe_missed(dataset)]
    said = [f"Captured at t = {format_significant(summary['capture_time_s'], 6)} s, when {_last_latch(dataset)}."]
    if summary["release_time_s"] is not None:
        said.append(f"Released at t = {format_significant(summary['release_time_s'], 6)} s.")
    for again in summary["captures"][1:]:
        said.append(f"Captured again at t = {format_significant(again['onset_s'], 6)} s.")
        if again["release_s"] is not None:
            said.append(f"Released again at t = {format_significant(again['release_s'], 6)} s.")
    return [*said, f"{capitalise_first(counted)}."] if 0 < held < latches else said


def _held_at_end(dataset: Dataset) -> tuple[int, int]:
    """Return how many latches hold at the end, and how many there are."""
    if "latch_held" not in dataset:
        return 0, 0
    held = dataset.latch_held.values[-1]
    return int(np.count_nonzero(held)), len(held)


def _last_latch(dataset: Dataset) -> str:
    """Return which latch fell in last, or that all did at once."""
    names, times = list(map(str, dataset.latch.values)), dataset.latch_time.values
    if len(names) == 1:
        return "the latch fell in"
    last = [name for name, time in zip(names, times, strict=True) if time >= float(dataset.capture_time)]
    if len(last) == len(names):
        return f"all {len(names)} latches fell in at once"
    # one that had let go fell in for the first time before
    return (
        f"{', '.join(last)}, the last of {len(names)} latches, fell in" if last else "the last of the latches fell in"
    )


def _first_contact(dataset: Dataset) -> str:
    """Return when the first contact began, in words."""
    return f", the first at {format_significant(float(dataset.episode_onset.values.min()), 6)} s"


def _overview_rows(dataset: Dataset, summary: dict[str, Any], classes: list[str]) -> list[tuple[str, str]]:
    """Return the summary table."""
    change = [energy for energy in summary["contact.energy_change_J"] if energy is not None]
    rows = [
        *first_figures(summary),
        ("Bodies", ", ".join(map(str, dataset.body.values))),
        ("Loop delay", f"{float(dataset.attrs['delay_s']):g} s"),
        ("Contacts", f"{len(classes)}{_first_contact(dataset) if classes else ''}"),
    ]
    for line in str(dataset.attrs.get("stated_damping", "")).splitlines():
        contact, _, words = line.partition(": ")
        rows.append((f"Damping of {contact}", words))
    if all_struck(dataset):
        number, impulse, onset = hardest_impact(dataset)
        largest = f"{format_significant(impulse, 6)} N s (Q{number}, from {format_significant(onset, 6)} s)"
        rows.append(("Largest normal impulse", largest))
    elif classes:
        peak = int(np.argmax(dataset.episode_peak_force.values))
        at = format_significant(float(dataset.episode_peak_time[peak]), 6)
        largest = f"{format_significant(float(dataset.episode_peak_force[peak]))} N (Q{peak + 1}, at {at} s)"
        seat = seat_force(dataset, summary)
        rows += [
            ("Largest normal force", f"{seat}, held on the wall; before the capture {largest}" if seat else largest),
            ("Largest penetration, sampled", f"{format_significant(float(dataset.depth.max()) * 1e3)} mm"),
        ]
    rows.append(("Kinetic energy at the start", f"{format_significant(summary['kinetic_energy_start_J'])} J"))
    if change:
        what = "Change of energy, that stored inside included," if acts_beside_contacts(dataset) else "Its change"
        told = format_significant(without_rounding(change[-1], summary["kinetic_energy_start_J"]))
        rows.append((f"{what} after the last whole contact", f"{told} J"))
    rows += [("Energy that friction took", took) for took in _friction_took(summary)]
    rows += first_impact_rows(summary) + ramp_rows(dataset, summary)
    if "gravity_work" in dataset:
        rows.append(("Work of gravity along the orbit", f"{format_significant(float(dataset.gravity_work[-1]))} J"))
    return [
        *rows,
        *control_rows(dataset, summary),
        *arm_rows(dataset, summary),
        ("Linear momentum error", format_significant(summary["linear_momentum_error"], 2)),
        ("Angular momentum error", format_significant(summary["angular_momentum_error"], 2)),
    ]


def _ports_block(dataset: Dataset) -> ReportBlock:
    """Return the largest loads at ports."""
    if "interface_tension" not in dataset:
        return ReportBlock("Largest loads at ports")
    parts = tuple(PORT_UNITS)
    columns = [
        ("port", ""),
        *((part.replace("_", " "), str(dataset[f"interface_{part}"].attrs["units"])) for part in parts),
    ]
    values = np.stack([dataset[f"interface_{part}"].values for part in parts], axis=1)
    largest = float(np.abs(values).max(initial=0.0))
    rows = [
        [str(name), *(format_significant(without_rounding(float(value), largest)) for value in row)]
        for name, row in zip(dataset.port.values, values, strict=True)
    ]
    note = (
        "On the body with the port, along and across its axis, out of the body; located at the steps of the integration, "
        "contact forces where they are generated, each part’s largest value, not all at the same time."
    )
    return ReportBlock("Largest loads at ports", table=Table(columns, rows, worded={0}), notes=[note], where="after")


def _elements_block(dataset: Dataset) -> ReportBlock:
    """Return what elements bore, as sampled."""
    if "element" not in dataset.coords:
        return ReportBlock("Elements")
    rows = []
    for index, name in enumerate(map(str, dataset.element.values)):
        tension, stroke = dataset.element_tension.values[:, index], [NOTHING] * 2
        if "line" in dataset.coords and name in dataset.line.values:
            lengths = dataset.line_length.sel(line=name).values * 1e3
            stroke = [format_significant(float(lengths.min())), format_significant(float(lengths.max()))]
        held = NOTHING
        if "latch" in dataset.coords and name in dataset.latch.values:
            held = "holds" if dataset.latch_held.sel(latch=name).values[-1] else "open"
        rows.append(
            [name, format_significant(float(tension.max())), format_significant(float(tension.min())), *stroke, held]
        )
    columns = [("element", ""), ("largest tension", "N"), ("least", "N"), ("shortest", "mm"), ("longest", "mm")]
    return ReportBlock(
        "Elements",
        table=Table([*columns, ("latch", "at the end")], rows, worded={0, 5}),
        notes=[
            "As sampled, with that of moved masses. Below zero it pushes; of bushings and latches it is the size of the force."
        ],
        where="after",
    )


def _thrusters_block(dataset: Dataset) -> ReportBlock:
    """Return what thrusters gave."""
    if "fixed_thruster" not in dataset.coords:
        return ReportBlock("Thrusters")
    ends = zip(dataset.thrust.values.max(axis=0), dataset.thrust_spent.values[-1], strict=True)
    rows = [
        [str(name), *(format_significant(float(value)) for value in values)]
        for name, values in zip(dataset.fixed_thruster.values, ends, strict=True)
    ]
    columns = [("thruster", ""), ("largest force", "N"), ("impulse given", "N s")]
    note = "The force as sampled. Thrusters are no load at named points; their impulses are left out of what momentum lost."
    return ReportBlock("Thrusters", table=Table(columns, rows, worded={0}), notes=[note], where="after")


def _joints_block(dataset: Dataset) -> ReportBlock:
    """Return how far joints moved and what passed through them, as sampled."""
    if "joint" not in dataset.coords:
        return ReportBlock("Joints")
    rows = []
    for index, (name, unit) in enumerate(zip(dataset.joint.values, dataset.joint_unit.values, strict=True)):
        scale, shown = {"rad": (np.degrees(1.0), "deg"), "m": (1e3, "mm")}.get(str(unit), (1.0, NOTHING))
        places = dataset.joint_angle.values[:, index] * scale
        moved = (
            [NOTHING] * 2
            if shown == NOTHING
            else [format_significant(float(end)) for end in (places.min(), places.max())]
        )
        through = (np.linalg.norm(dataset[part].values[:, index], axis=1) for part in ("joint_force", "joint_moment"))
        rows.append([str(name), *moved, shown, *(format_significant(float(size.max())) for size in through)])
    columns = [("joint of", ""), ("least", ""), ("largest", ""), ("", ""), ("largest force", "N"), ("moment", "N m")]
    note = "As sampled. Force and moment are the sizes of all that passes through the joint, at the joint; – is welded."
    return ReportBlock("Joints", table=Table(columns, rows, worded={0, 3}), notes=[note], where="after")


def _modes_block(dataset: Dataset) -> ReportBlock:
    """Return how far modes of flexible links were deflected, and the energy in the links, as sampled."""
    if "mode" not in dataset.coords:
        return ReportBlock("Flexible links")
    rows = []
    for index, (name, unit) in enumerate(zip(dataset.mode.values, dataset.mode_unit.values, strict=True)):
        scale, shown = (1e3, "mm") if unit == "m" else (np.degrees(1.0), "deg")
        places = dataset.modal_coordinate.values[:, index] * scale
        rows.append([str(name), *(format_significant(float(end)) for end in (places.min(), places.max())), shown])
    energies = zip(dataset.flexible_link.values, dataset.elastic_energy.values.max(axis=0), strict=True)
    stored = ", ".join(f"{name} {format_significant(float(energy))} J" for name, energy in energies)
    note = f"As sampled; of a beam, deflections of its tip. Largest elastic energy: {stored}."
    columns = [("mode", ""), ("least", ""), ("largest", ""), ("", "")]
    return ReportBlock("Flexible links", table=Table(columns, rows, worded={0, 3}), notes=[note], where="after")


def _phases_block(dataset: Dataset) -> ReportBlock:
    """Return when phases began."""
    if "phase" not in dataset.coords:
        return ReportBlock("Phases")
    began = zip(map(str, dataset.phase.values), dataset.phase_began.values, strict=True)
    rows = [[name, format_significant(float(time), 6) if np.isfinite(time) else "never"] for name, time in began]
    return ReportBlock("Phases", table=Table([("phase", ""), ("began at", "s")], rows, worded={0}))


def _report_figures(dataset: Dataset) -> Iterator[Plot]:
    """Yield what to draw, and what to look for in it; figures that could only show zeros are left out."""
    if dataset.sizes["contact"]:
        for surface in shown_surfaces(dataset)[:SURFACES]:
            yield Plot("trajectory", partial(trajectory_chart, dataset, surface), _path_in_words(surface))
        words = (
            "Penetration depth of each contact’s deepest member, negative while apart: contact (shaded) is above zero."
        )
        yield Plot("depth", partial(charts.depth_chart, dataset), words)
    if dataset.sizes["episode"]:
        pressed = float(dataset.episode_peak_force.max()) * float(dataset.time[-1])
        forces = not all_struck(dataset) or pressed > ROUNDING * float(dataset.episode_impulse.max())
        words = "Sum of the normal forces of each contact where they are generated: compare the peaks with what may be borne."
        if forces:
            yield Plot("normal-force", partial(charts.normal_force, dataset), words)
        if forces and charts.close_up_samples(dataset) >= FINE // 2:
            shift = (
                "the delay shows as the shift between the lines on the left, and " if dataset.attrs["delay_s"] else ""
            )
            words = f"The contact with the largest force: {shift}the energy that it takes is the area of the loop on the right."
            yield Plot("largest-contact", partial(charts.largest_contact, dataset), words)
        added = (
            ""
            if acts_beside_contacts(dataset)
            else "a contact whose mark lies above the one before it added energy, and "
        )
        words = f"Change of energy since the start: {added}the two lines should lie on each other."
        yield Plot("energy", partial(charts.energy_chart, dataset), words)
    words = "Errors of momentum: both should stay near round-off."
    yield Plot("momentum-errors", partial(charts.momentum_errors, dataset), words)
    yield from ramp_figures(dataset)
    yield from control_figures(dataset)
    if "element" in dataset.coords:
        words = "Tension of each element; below zero it pushes. Of bushings and latches, the size of the force."
        yield Plot("elements", partial(_tension_chart, dataset), words)
    if "fixed_thruster" in dataset.coords and np.any(dataset.thrust.values):
        yield Plot("thrust", partial(_thrust_chart, dataset), "Force of each thruster: on in the phases that say so.")
    for unit, words in (("rad", "Angle and rate of each hinge"), ("m", "Travel and speed of each slide")):
        if "joint" in dataset.coords and unit in dataset.joint_unit.values:
            more = ": compare with what its stops and its motor allow"
            more += ", and with the set-points (dotted)." if "set_point" in dataset else "."
            yield Plot("joints", partial(_joint_chart, dataset, unit), f"{words}{more}")
    for unit, words in (("m", "Deflection by each mode"), ("rad", "Twist by each mode")):
        if "mode" in dataset.coords and unit in dataset.mode_unit.values:
            more = " of flexible links: what still swings at the end has not been damped."
            yield Plot("modes", partial(_mode_chart, dataset, unit), f"{words}{more}")
    if np.any(np.degrees(np.abs(dataset.rotation.values)) > FLAT):
        words = "Rotation of each body since the start, as a rotation vector in body axes: its slope is the rate."
        yield Plot("attitude", partial(charts.attitude_chart, dataset), words)
    if has_loads(dataset):
        for first in range(0, dataset.sizes["point"], POINTS):
            chosen = range(first, min(first + POINTS, dataset.sizes["point"]))
            words = "Force and moment of all that acts on the body from others, at named points, in the axes of their bodies."
            yield Plot("loads", partial(charts.load_chart, dataset, chosen), words)


def _path_in_words(surface: Shown) -> str:
    """Return what the figure of the paths around a surface shows, and what to look for in it."""
    words = (
        f"Path of the features around “{surface.name}”, from its reference point in axes of its body, each contact marked "
        "where it began: "
    )
    if surface.distance is None:
        return f"{words}the path alone, for the scenario’s own parts can no longer be imported."
    wall = "the dashed line, a tip’s radius before the wall" if surface.radius > 0 else "the wall"
    return (
        f"{words}the path should turn back at {wall}; that is a section through the reference point, and contacts beside its "
        "plane lie off it."
    )


def _joint_chart(dataset: Dataset, unit: str) -> Chart:
    """Return joints with coordinates in a unit over time."""
    chosen = dataset.isel(joint=dataset.joint_unit.values == unit)
    names = [short_label(str(name)) for name in chosen.joint.values]
    at = np.flatnonzero(dataset.joint_unit.values == unit).tolist()
    panels = joint_panels(dataset.time.values, names, chosen.joint_angle.values, chosen.joint_rate.values, unit, at)
    if "set_point" in dataset:
        held = [str(name) for name in chosen.joint.values if name in dataset.motor.values]
        aims = _set_points(dataset, held, unit, [short_label(name) for name in held], names)
        panels[0] = replace(panels[0], lines=[*panels[0].lines, *aims])
    return time_chart(dataset, panels)


def _set_points(dataset: Dataset, held: list[str], unit: str, labels: list[str], names: list[str]) -> list[Line]:
    """Return where control would have joints, dotted, each in the colour of its joint."""
    scale = np.degrees(1.0) if unit == "rad" else 1.0
    wanted = dataset.set_point.sel(motor=held).values * scale
    return [
        Line(
            dataset.time.values,
            wanted[:, place],
            line_style(names.index(label))["colour"],
            "set-points (dotted)",
            dash=2,
            width=0.9,
        )
        for place, label in enumerate(labels)
    ]


def _mode_chart(dataset: Dataset, unit: str) -> Chart:
    """Return modal coordinates in a unit over time."""
    chosen = dataset.isel(mode=dataset.mode_unit.values == unit)
    names = [short_label(str(name)) for name in chosen.mode.values]
    scale, label = (1e3, "mm") if unit == "m" else (np.degrees(1.0), "deg")
    at, values = np.flatnonzero(dataset.mode_unit.values == unit).tolist(), scale * chosen.modal_coordinate.values
    lines = lines_of(dataset.time.values, values, names, of="modal_coordinate", at=at, factor=scale)
    return time_chart(dataset, [Panel(label, lines, 1.8, levels=[ZERO])])


def _thrust_chart(dataset: Dataset) -> Chart:
    """Return the force of the thrusters over time."""
    names = [str(name) for name in dataset.fixed_thruster.values]
    return time_chart(
        dataset, [Panel("N", lines_of(dataset.time.values, dataset.thrust.values, names, of="thrust"), 1.4)]
    )


def _tension_chart(dataset: Dataset) -> Chart:
    """Return the tension of the elements over time, a panel for each that stands alone and one for each structure."""
    time, names = dataset.time.values, [str(name) for name in dataset.element.values]
    structures: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        words, _, last = name.rpartition(" ")
        structures.setdefault(words if last.isdecimal() else name, []).append(index)
    tension = dataset.element_tension.values
    panels = [
        Panel(
            "N",
            lines_of(time, tension[:, rows], [names[i] for i in rows], of="element_tension", at=rows),
            1.4,
            title=title,
        )
        for title, rows in structures.items()
    ]
    return time_chart(dataset, panels)
