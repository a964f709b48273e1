"""The report of a berthing: the impact, and the motion and control after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.output import berthing_figures as drawn
from dockdyn.output.page import Table, pictures, render, versions
from dockdyn.output.wording import NOTHING, significant
from dockdyn.study.summarise import summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "dopri8": "Runge–Kutta of order eight (Dormand–Prince), adaptive",
    "kvaerno5": "implicit Runge–Kutta of order five (Kværnø), adaptive",
}


def render_berthing_report(dataset: xr.Dataset) -> str:
    """The report of a result of kind `berthing` as HTML, styles and figures inside."""
    summary = summarise(dataset)
    return render(
        "berthing_report.html",
        dataset,
        verdict=berthing_verdict(summary),
        warnings=summary["warnings"],
        summary=overview(dataset, summary),
        velocities=velocities_table(dataset),
        figures=pictures(figures(dataset)),
        conserved=conserved_table(summary),
        made=[
            ("Integrator", METHODS.get(summary["integrator"], summary["integrator"])),
            ("Tolerance", f"{float(dataset.attrs['tolerance']):g}"),
            ("Steps", f"{summary['steps']}"),
            ("Samples", f"{dataset.sizes['time']}"),
            ("Wall time", f"{significant(summary['wall_time_s'], 3)} s"),
            *versions(dataset),
        ],
    )


def berthing_verdict(summary: dict[str, Any]) -> str:
    """The impact and what came of it, in words."""
    impact = summary["impacts"][0]
    words = "Joined" if summary["captured"] else "Rebounded"
    loss, before = impact["energy_loss_J"], summary["kinetic_energy_start_J"]
    words += f" by the impact ({impact['law']}), which took {significant(loss)} of {significant(before)} J"
    if not summary["captured"] and impact["restitution"]["newton"] is not None:
        words += f"; restitution {significant(impact['restitution']['newton'], 3)}"
    words += ". "
    if summary["peak_tip_deflection_m"]:
        link, peak = max(summary["peak_tip_deflection_m"].items(), key=lambda item: item[1])
        words += f"The largest deflection, {significant(peak * 1e3, 3)} mm, was that of {link}. "
    if summary["remaining_rate_rad_s"] is not None:
        words += f"At the end the bodies turn at {significant(np.degrees(summary['remaining_rate_rad_s']), 3)} deg/s. "
    if summary["settling_time_s"] is not None:
        words += f"The joints came to rest after {significant(summary['settling_time_s'], 3)} s. "
    if summary["status"] != "finished":
        words = f"{summary['status'][0].upper()}{summary['status'][1:]}. {words}"
    return words.strip()


def overview(dataset: xr.Dataset, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The summary table."""
    impact = summary["impacts"][0]
    rows = [
        ("Kind", summary["kind"]),
        ("Status", summary["status"]),
        ("End", f"{summary['end_time_s']:g} s"),
        ("Impact law", impact["law"]),
        ("Normal impulse", f"{significant(impact['impulse_N_s']['normal'], 6)} N s"),
        ("Tangential impulse", f"{significant(impact['impulse_N_s']['tangential'], 6)} N s"),
        ("Energy that the impact took", f"{significant(impact['energy_loss_J'], 6)} J"),
    ]
    for name, value in impact["restitution"].items():
        if value is not None and not summary["captured"]:
            rows.append((f"Restitution, {name}", significant(value)))
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


def velocities_table(dataset: xr.Dataset) -> Table:
    """Velocities before and after the impact, by coordinate; angular ones in degrees."""
    rows = []
    for owner, names, units, before, after in (
        (
            "",
            dataset.coordinate,
            dataset.coordinate_unit,
            dataset.coordinate_rate_before,
            dataset.coordinate_rate[0],
        ),
        (
            "target ",
            dataset.target_coordinate,
            dataset.target_coordinate_unit,
            dataset.target_coordinate_rate_before,
            dataset.target_coordinate_rate[0],
        ),
    ):
        for name, old, new, kind in zip(names.values, before.values, after.values, units.values, strict=True):
            scale, unit = (np.degrees(1.0), "deg/s") if kind == "rad/s" else (1.0, str(kind))
            rows.append([f"{owner}{name}", significant(old * scale, 5), significant(new * scale, 5), unit])
    return Table([("coordinate", ""), ("before", ""), ("after", ""), ("unit", "")], rows, [], worded={0, 3})


def conserved_table(summary: dict[str, Any]) -> Table:
    """Errors of what should be conserved after the impact."""
    rows = [
        ["linear momentum", significant(summary["linear_momentum_error"], 2), "the sum of both by magnitude"],
        [
            "angular momentum, wheel included",
            significant(summary["angular_momentum_error"], 2),
            "the sum of both and the wheel’s by magnitude",
        ],
        [
            "energy of motion, bent links and springs, less the work of control",
            NOTHING if summary["energy_error"] is None else significant(summary["energy_error"], 2),
            "the largest kinetic energy" if summary["energy_error"] is not None else "nothing: dampers take energy",
        ],
    ]
    return Table([("quantity", ""), ("error", ""), ("relative to", "")], rows, [], worded={0, 2})


def figures(dataset: xr.Dataset) -> Iterator[tuple[Callable[[], Figure], str]]:
    """What to draw, and what to look for in it."""
    yield (
        partial(drawn.sketches, dataset),
        f"The links in the x–y plane{', below in the x–z plane' if drawn.spatial(dataset) else ''}, dots at joints: compare "
        "how far the arm has stretched or folded.",
    )
    for unit, words in (("rad", "angles and rates"), ("m", "travel and speeds")):
        if unit in dataset.joint_unit.values:
            yield partial(drawn.joints, dataset, unit), f"Joint {words}: the impact is at t = 0."
    yield (
        partial(drawn.bodies, dataset),
        "How far the chaser’s base has turned since the impact, and the rate of the target, each about its own axes.",
    )
    if float(dataset.tip_deflection.max()) > 0:
        yield (
            partial(drawn.deflections, dataset),
            "Deflection of the flexible links’ ends: vibration left by the impact.",
        )
    yield (
        partial(drawn.energies, dataset),
        "Energies: without control and dampers their sum is a straight line; what falls is what control took out.",
    )
    for unit, words in (("rad/s", "Torques"), ("m/s", "Forces")):
        if drawn.working(dataset, unit):
            yield partial(drawn.torques, dataset, unit), f"{words} of control: flat tops are at the limits."
    if float(abs(dataset.wheel_momentum).max()) > 0:
        yield (
            partial(drawn.momenta, dataset),
            "Angular momentum by size: what the bodies lose, the wheel (and thrusters) take up.",
        )
