"""Figures of an arm in orbit over time: joints, station, gaps, errors, torques, Newton's iterations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from dockdyn.kinds.orbital_arm.summary import STRUCK, balance
from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel, lines_of, series, stems
from dockdyn.report.charts.time_chart import run_chart
from dockdyn.report.drawing import short
from dockdyn.report.palette import HUES
from dockdyn.results.measures import departure, kept

NEAR = 0.02  # of the largest distance, that a close-up shows at least
SMALL = 0.1  # deg: angles below are drawn in thousandths


def _over_run(dataset: xr.Dataset, panels: list[Panel]) -> Chart:
    """Panels over the time of a run; lines at the latch and the release, ticks at impacts."""
    levels = [
        Level(float(time), "x", words, dash=1, width=0.8)
        for what, words in (("latch", "latched"), ("release", "released"))
        for time in dataset.event_time.values[dataset.what.values == what]
    ]
    struck = dataset.event_time.values[np.isin(dataset.what.values, STRUCK)]
    ticks = [Level(float(time), "x", colour="orange", width=0.9, share=0.05) for time in struck]
    return run_chart(dataset.time.values, panels, levels=[*levels, *ticks], instants=dataset.event_time.values)


def joints(dataset: xr.Dataset, unit: str = "rad") -> Chart:
    """Angles and rates of revolute joints, or travel and speeds of prismatic ones (`unit` m), set-points dotted."""
    turning = unit == "rad"
    scale, words = (np.degrees(1.0), ("angle, deg", "rate, deg/s")) if turning else (1.0, ("travel, m", "speed, m/s"))
    chosen = dataset.isel(joint=dataset.joint_unit.values == unit)
    names, time = [short(str(name)) for name in chosen.joint.values], dataset.time.values
    # set-points have the dots, and the colour of their joint
    places, rates = (
        [replace(line, dash=0) for line in lines_of(time, scale * chosen[name].values, names)]
        for name in ("joint_angle", "joint_rate")
    )
    if dataset.attrs["control"] != "none":
        wanted = scale * chosen.set_point.values
        places += [
            Line(time, wanted[:, index], series(index)["colour"], "set-points (dotted)", dash=2, width=0.9)
            for index in range(len(names))
        ]
    return _over_run(dataset, [Panel(words[0], places, 2.4), Panel(words[1], rates, 1.5, levels=[ZERO])])


def station(dataset: xr.Dataset) -> Chart:
    """How far the station has turned against the orbital frame."""
    planar = "theta" in dataset
    turned = np.degrees(dataset["theta" if planar else "attitude_error_orbit"].values)
    small = np.abs(turned).max() < SMALL
    label = f"{'θ' if planar else 'turned'}, {'10⁻³ ' if small else ''}deg"
    line = Line(dataset.time, turned * (1e3 if small else 1))
    return _over_run(dataset, [Panel(label, [line], 1.7, levels=[ZERO])])


def _nearest_by_surface(dataset: xr.Dataset) -> dict[str, np.ndarray]:
    """Least distance (m) of any point from each surface, over time."""
    surfaces = [str(name).partition("/")[2] for name in dataset.contact.values]
    return {
        name: dataset.gap.values[:, [other == name for other in surfaces]].min(axis=1)
        for name in dict.fromkeys(surfaces)
    }


def gaps(dataset: xr.Dataset) -> Chart:
    """Distances from the surfaces, close up between the first impact and the last, and impulses of the impacts."""
    found, time = _nearest_by_surface(dataset), dataset.time.values
    struck = dataset.isel(event=np.isin(dataset.what.values, STRUCK))
    times = struck.event_time.values
    values, names = np.stack(list(found.values()), axis=1), [short(name) for name in found]
    far = Panel("distance, m", lines_of(time, values, names), 1.7 if times.size else 1.9, levels=[ZERO])
    if not times.size:
        return _over_run(dataset, [far])
    between = values[(time >= times[0]) & (time <= times[-1])]
    size = 1e3 * max([*between.min(axis=1), NEAR * float(values.max())])
    at = Line(times, np.zeros(len(times)), "ink", marker="^", size=4, joined=False)
    near = Panel(
        "close up, mm", [*lines_of(time, 1e3 * values, names), at], levels=[ZERO], limits=(-0.1 * size, 1.5 * size)
    )
    surfaces = [list(found).index(str(dataset.contact.values[int(c)]).partition("/")[2]) for c in struck.event_contact]
    impulses = struck.impulse_normal.values
    rows = {place: np.equal(surfaces, place) for place in dict.fromkeys(surfaces)}
    drawn = [line for place, of in rows.items() for line in stems(times[of], impulses[of], HUES[place % len(HUES)])]
    return _over_run(dataset, [far, near, Panel("impulse, N s", drawn, 1.3, limits=(0, None))])


def errors(dataset: xr.Dataset) -> Chart:
    """Energy of motion, and what should stay as it was: energy and the momenta, relative to their scales."""
    time, change = dataset.time.values, (dataset.kinetic_energy - dataset.kinetic_energy[0]).values
    found = {}
    if dataset.attrs["conservative"]:
        found["energy"] = balance(dataset) / (float(dataset.kinetic_energy.max()) or 1.0)
    for name in ("linear", "angular"):
        scale = float(dataset[f"{name}_momentum_scale"].max())
        found[f"{name} momentum"] = departure(kept(dataset, name)) / (scale or 1.0)
    sizes = np.abs(np.stack(list(found.values()), axis=1))
    lines = lines_of(time, np.where(sizes == 0, np.nan, sizes), list(found), width=0.9)
    panels = [Panel("change, J", [Line(time, change, "ink")], 1.4), Panel("relative error", lines, 1.9, scale="log")]
    return _over_run(dataset, panels)


def torques(dataset: xr.Dataset, unit: str = "rad") -> Chart:
    """Torques of control on revolute joints, or forces on prismatic ones (`unit` m)."""
    chosen = dataset.isel(joint=dataset.joint_unit.values == unit)
    names = [short(str(name)) for name in chosen.joint.values]
    label = "torque, N m" if unit == "rad" else "force, N"
    lines = lines_of(dataset.time.values, chosen.torque.values, names)
    return _over_run(dataset, [Panel(label, lines, 1.9, levels=[ZERO])])


def iterations(dataset: xr.Dataset) -> Chart:
    """Newton's corrections in the steps that end at samples."""
    marks = Line(dataset.time[1:], dataset.newton_iterations[1:], marker=".", size=2, joined=False)
    return _over_run(dataset, [Panel("corrections", [marks], 1.2, limits=(0, None))])
