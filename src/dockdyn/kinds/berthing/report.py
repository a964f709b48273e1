"""The report of a berthing: impacts and contacts, and the motion and control after the first of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.kinds.berthing import plots as drawn
from dockdyn.report.report import ENERGY, Block, Plot, Report, Table, beginning, conserved, run_report
from dockdyn.report.wording import AT_AN_INSTANT, NOTHING, aligned, capital, counted, significant

METHODS = {
    "dopri8": "Runge–Kutta of order eight (Dormand–Prince), adaptive",
    "kvaerno5": "implicit Runge–Kutta of order five (Kværnø), adaptive",
    "located": "classical fourth-order Runge–Kutta; impacts, onsets and releases are located in time",
}
LISTED = 20  # impacts, and contacts, in their tables
# captions: of repeated impacts, of a compliant contact
MEETINGS = {
    False: "Distance between the point on the chaser and the target’s surface, close up until they meet for the last time, "
    "and the impulses of the impacts; shaded, they rest against each other, with the normal force at the bottom: compare "
    "how much of all impulse the first impact gave.",
    True: "Distance between the point on the chaser and the target’s surface, negative in contact (shaded), close up, and the "
    "normal force, peaks marked: compare the peaks with what the mechanism may bear.",
}
# of what meets once, of repeated impacts, of a compliant contact; after "Energies: without control and dampers their sum"
ENERGIES = (
    "is a level line; what falls is what control took out.",
    "is a level line that steps down at impacts.",
    "is a level line but for contacts (shaded), which hold some while they are pressed together and keep what friction and "
    "the contact’s law take.",
)


def berthing_report(dataset: xr.Dataset, summary: dict[str, Any]) -> Report:
    """The report of a berthing."""
    verdict = _berthing_verdict(summary)
    terminal = [summary["title"], verdict]
    if len(summary["impacts"]) > 1:
        terminal.append(Block(table=_impacts_table(summary)))
    if summary["contacts"]:
        terminal.append(Block(table=_contacts_table(summary)))
    return run_report(
        dataset,
        summary,
        verdict=verdict,
        key=overview(dataset, summary),
        blocks=list(blocks(dataset, summary)),
        plots=figures(dataset),
        made=[
            ("Integrator", METHODS.get(summary["integrator"], summary["integrator"])),
            ("Tolerance", f"{float(dataset.attrs['tolerance']):g}"),
            ("Fastest decay over fastest oscillation", _stiffness_words(summary["stiffness"])),
            ("Steps", f"{summary['steps']}"),
        ],
        terminal=terminal,
    )


def _stiffness_words(stiffness: float | None) -> str:
    """How stiff the equations of small motions are."""
    if stiffness is None:
        return NOTHING
    return significant(stiffness, 3) if stiffness else "0: nothing decays"


def blocks(dataset: xr.Dataset, summary: dict[str, Any]) -> Iterator[Block]:
    """Impacts, contacts, velocities, and what is conserved."""
    struck = bool(summary["impacts"])
    if dataset.attrs["again"] and struck:
        note = (
            "Each by the same law. The approach speed is that along the normal just before; impulses are those on the "
            "chaser."
        )
        yield Block("Impacts", table=_impacts_table(summary), notes=[note])
    if summary["contacts"]:
        rest = "Begun by an impact that left the two together, ended where their contact would have to pull."
        note = f"{rest if struck else 'Onset and release are at depth zero.'} The impulse is that of the normal force."
        yield Block("Spells of rest" if struck else "Contacts", table=_contacts_table(summary), notes=[note])
    jumps = (
        " Rates of modes jump with the impact as those of joints do; with flexible links the jump of a joint’s rate is that "
        "of its root alone, and depends on the number of modes."
    )
    title = "Velocities around the impact" if struck else "Velocities at the start and the end"
    note = f"Base velocities are in the axes of the base.{jumps if struck else ''}"
    yield Block(title, table=_velocities_table(dataset, struck), notes=[note])
    yield kept(summary)


def _berthing_verdict(summary: dict[str, Any]) -> str:
    """How the two met, and what came of it, in words."""
    words = met(summary)
    if summary["peak_tip_deflection_m"]:
        link, peak = max(summary["peak_tip_deflection_m"].items(), key=lambda item: item[1])
        words += f"The largest deflection, {significant(peak * 1e3, 3)} mm, was that of {link}. "
    if summary["remaining_rate_rad_s"] is not None:
        words += f"At the end the bodies turn at {significant(np.degrees(summary['remaining_rate_rad_s']), 3)} deg/s. "
    if summary["settling_time_s"] is not None:
        words += f"The joints came to rest after {significant(summary['settling_time_s'], 3)} s. "
    if summary["status"] != "finished":
        words = f"{capital(summary['status'])}. {words}"
    return words.strip()


def met(summary: dict[str, Any]) -> str:
    """The impact at t = 0, and what contact there was after it."""
    contacts, further = summary["contacts"], summary["impacts"][1:]
    if not summary["impacts"]:
        words = f"Met without an impact (compliant): {counted(len(contacts), 'contact')}"
        if contacts:
            words += f", largest normal force {significant(max(c['peak_normal_force_N'] for c in contacts))} N"
        return f"{words}, {total(summary)}. "
    impact = summary["impacts"][0]
    words = "Joined" if summary["captured"] else "Rebounded"
    loss, before = impact["energy_loss_J"], summary["kinetic_energy_start_J"]
    words += f" by the impact ({impact['law']}), which took {significant(loss)} of {significant(before)} J"
    if not summary["captured"] and impact["restitution"]["newton"] is not None:
        words += f"; restitution {significant(impact['restitution']['newton'], 3)}"
    words += ". "
    if not further and not contacts:
        return words
    rests = f" and {counted(len(contacts), 'spell')} of rest" if contacts else ""
    return f"{words}Met again: {counted(len(further), 'further impact')}{rests}, {total(summary)}. "


def total(summary: dict[str, Any]) -> str:
    """The impulse of all impacts and contacts, and since when the two are apart."""
    parted = _last_separation(summary)
    end = "in contact at the end" if parted is None else f"apart since {significant(parted)} s"
    return f"total normal impulse {significant(summary['total_normal_impulse_N_s'])} N s; {end}"


def _last_separation(summary: dict[str, Any]) -> float | None:
    """When the two parted for the last time (s); None where they touch at the end."""
    times = [contact["release_s"] for contact in summary["contacts"]]
    if None in times:
        return None
    return max([*times, *(impact["time_s"] for impact in summary["impacts"])], default=0.0)


def overview(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary table."""
    rows = [
        *beginning(summary),
        ("Impact law", str(dataset.attrs["law"])),
        *_of_impacts(dataset, summary),
    ]
    for link, peak in summary["peak_tip_deflection_m"].items():
        rows.append((f"Peak deflection of {link}", f"{significant(peak * 1e3)} mm"))
    if dataset.attrs["controlled"]:
        settled = summary["settling_time_s"]
        words = "not within the run" if settled is None else f"{significant(settled)} s"
        slides = "m" in dataset.joint_unit.values
        rows.append(("Control", str(dataset.attrs["control"])))
        rows.append((f"Joint rates below 0.05 deg/s{' and 1 mm/s' if slides else ''} after", words))
        for kind, unit, word in (("rad/s", "N m", "torque"), ("m/s", "N", "force")):
            largest = float(abs(dataset.torque[:, dataset.coordinate_unit.values == kind]).max())
            if unit == "N m" or largest > 0:
                rows.append((f"Largest {word}", f"{significant(largest)} {unit}"))
        if float(abs(dataset.wheel_momentum).max()) > 0:
            wheel = float(np.linalg.norm(dataset.wheel_momentum.values, axis=1).max())
            rows.append(("Largest momentum of the wheel", f"{significant(wheel)} N m s"))
        used = dataset.thruster_use.values[-1]
        if used.any():
            rows.append(("Thrusters have used", f"{significant(used[0])} N s, {significant(used[1])} N m s"))
    if summary["remaining_momentum_N_m_s"] is not None:
        left = significant(summary["remaining_momentum_N_m_s"])
        rows.append(("Angular momentum left to take up", f"{left} N m s"))
    return rows


def _of_impacts(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The part of the summary table on impacts and contacts."""
    rows = []
    contacts = summary["contacts"]
    if summary["impacts"]:
        impact = summary["impacts"][0]
        first = " of the first impact" if dataset.attrs["again"] else ""
        rows += [
            (f"Normal impulse{first}", f"{significant(impact['impulse_N_s']['normal'], 6)} N s"),
            (f"Tangential impulse{first}", f"{significant(impact['impulse_N_s']['tangential'], 6)} N s"),
            (f"Energy that the {'first ' if first else ''}impact took", f"{significant(impact['energy_loss_J'], 6)} J"),
            AT_AN_INSTANT,
        ]
        for name, value in impact["restitution"].items():
            if value is not None and not summary["captured"]:
                rows.append((f"Restitution, {name}", significant(value)))
    if not dataset.attrs["again"]:
        return rows
    if summary["impacts"]:
        rows += [("Impacts", str(len(summary["impacts"]))), ("Spells of rest", str(len(contacts)))]
    else:
        rows.append(("Contacts", str(len(contacts))))
    if contacts:
        rows.append(("Largest normal force", f"{significant(max(c['peak_normal_force_N'] for c in contacts))} N"))
    parted = _last_separation(summary)
    return [
        *rows,
        ("Normal impulse, all in all", f"{significant(summary['total_normal_impulse_N_s'], 6)} N s"),
        ("Energy that contact took after t = 0", f"{significant(-float(dataset.contact_work[-1]), 6)} J"),
        ("Last separation", "none: in contact at the end" if parted is None else f"{significant(parted, 6)} s"),
        ("Distance at the end", f"{significant(-float(dataset.depth[-1]) * 1e3)} mm"),
    ]


def _impacts_table(summary: dict[str, Any]) -> Table:
    """One row an impact."""
    found = summary["impacts"][:LISTED]
    times = aligned([impact["time_s"] for impact in found], 6)
    rows = [
        [
            str(number),
            time,
            significant(impact["approach_speed_m_s"]),
            significant(impact["impulse_N_s"]["normal"]),
            significant(impact["impulse_N_s"]["tangential"]),
            significant(impact["energy_loss_J"]),
        ]
        for number, (impact, time) in enumerate(zip(found, times, strict=True), start=1)
    ]
    columns = [("impact", ""), ("time", "s"), ("approach speed", "m/s"), ("normal impulse", "N s")]
    columns += [("tangential impulse", "N s"), ("energy taken", "J")]
    return Table(columns, rows, worded={0}, look="dense", left_out=len(summary["impacts"]) - len(found))


def _contacts_table(summary: dict[str, Any]) -> Table:
    """One row a contact that lasted; a rest has no speed of approach but that of the impact before it."""
    found, compliant = summary["contacts"][:LISTED], not summary["impacts"]
    times = {name: aligned([contact[name] for contact in found], 6) for name in ("onset_s", "release_s", "peak_time_s")}
    rows = [
        [
            f"Q{index + 1}",
            times["onset_s"][index],
            times["release_s"][index] if contact["release_s"] is not None else "still touching",
            *([significant(contact["approach_speed_m_s"])] if compliant else []),
            significant(contact["peak_normal_force_N"]),
            times["peak_time_s"][index],
            significant(contact["impulse_N_s"]),
        ]
        for index, contact in enumerate(found)
    ]
    columns = [("contact", ""), ("onset", "s"), ("release", "s"), *([("approach speed", "m/s")] if compliant else [])]
    columns += [("peak force", "N"), ("at", "s"), ("impulse", "N s")]
    return Table(columns, rows, worded={0}, look="dense", left_out=len(summary["contacts"]) - len(found))


def _velocities_table(dataset: xr.Dataset, struck: bool) -> Table:
    """Velocities by coordinate, before and after the impact where there was one and at the end; angular ones in degrees."""
    rows = []
    for owner, prefix in (("", ""), ("target ", "target_")):
        rates, before = dataset[f"{prefix}coordinate_rate"].values, dataset[f"{prefix}coordinate_rate_before"].values
        units = dataset[f"{prefix}coordinate_unit"].values
        columns = [before, rates[0], rates[-1]] if struck else [rates[0], rates[-1]]
        for place, name in enumerate(dataset[f"{prefix}coordinate"].values):
            scale, unit = (np.degrees(1.0), "deg/s") if units[place] == "rad/s" else (1.0, str(units[place]))
            rows.append([f"{owner}{name}", *(significant(v[place] * scale, 5) for v in columns), unit])
    words = ["before", "after", "at the end"] if struck else ["at t = 0", "at the end"]
    columns = [("coordinate", ""), *((word, "") for word in words), ("unit", "")]
    return Table(columns, rows, worded={0, len(words) + 1}, look="dense")


def kept(summary: dict[str, Any]) -> Block:
    """Errors of what should be conserved after the impact."""
    energy = summary["energy_error"]
    return conserved(
        [
            ("linear momentum", summary["linear_momentum_error"], "the sum of both by magnitude"),
            (
                "angular momentum, wheel included",
                summary["angular_momentum_error"],
                "the sum of both and the wheel’s by magnitude",
            ),
            (
                "energy of motion, bent links and springs, less the work of control and of contact",
                energy,
                "nothing: dampers take energy" if energy is None else ENERGY,
            ),
        ]
    )


def figures(dataset: xr.Dataset) -> Iterator[Plot]:
    """What to draw, and what to look for in it."""
    compliant = not dataset.sizes["impact"]
    yield Plot(
        "sketches",
        partial(drawn.sketches, dataset),
        f"The links in the x–y plane{', below in the x–z plane' if drawn.spatial(dataset) else ''}, dots at joints: compare "
        "how far the arm has stretched or folded.",
    )
    if dataset.attrs["again"]:
        yield Plot("meetings", partial(drawn.meetings, dataset), MEETINGS[compliant])
    for unit, words in (("rad", "angles and rates"), ("m", "travel and speeds")):
        if unit in dataset.joint_unit.values:
            what = "contacts are shaded" if compliant else "the impact is at t = 0"
            if dataset.sizes["impact"] > 1:
                what = "rates jump at impacts"
            yield Plot("joints", partial(drawn.joints, dataset, unit), f"Joint {words}: {what}.")
    if drawn.turning(dataset):
        yield Plot(
            "bodies",
            partial(drawn.bodies, dataset),
            "How far the chaser’s base has turned since t = 0, and the rate of the target, each about its own axes.",
        )
    if float(dataset.tip_deflection.max()) > 0:
        yield Plot(
            "deflections",
            partial(drawn.deflections, dataset),
            "Deflection of the flexible links’ ends: vibration left by the impact."
            if not dataset.attrs["again"]
            else "Deflection of the flexible links’ ends: vibration that contact leaves.",
        )
    yield Plot(
        "energies",
        partial(drawn.energies, dataset),
        (
            "Energies: without control and dampers their sum "
            if drawn.elastic(dataset)
            else "Energy: without control it "
        )
        + ENERGIES[0 if not dataset.attrs["again"] else 2 if compliant else 1],
    )
    for unit, words in (("rad/s", "Torques"), ("m/s", "Forces")):
        if drawn.working(dataset, unit):
            yield Plot(
                "torques", partial(drawn.torques, dataset, unit), f"{words} of control: flat tops are at the limits."
            )
    if drawn.beginning(dataset) is not None:
        yield Plot(
            "starts",
            partial(drawn.starts, dataset),
            "The beginning close up: control takes most of the energy out in half that time.",
        )
    if float(abs(dataset.wheel_momentum).max()) > 0:
        yield Plot(
            "momenta",
            partial(drawn.momenta, dataset),
            "Angular momentum by size: what the bodies lose, the wheel (and thrusters) take up.",
        )
