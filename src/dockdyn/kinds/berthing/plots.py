"""Figures of a berthing: contact, joints, bodies, deflections, energies, and sketches of the configuration over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import xarray as xr

from dockdyn.report.charts.chart import ZERO, Band, Chart, Line, Panel, lines_of, path, stems
from dockdyn.report.charts.joint_panels import joint_panels
from dockdyn.report.charts.time_chart import run_chart
from dockdyn.report.drawing import contact_spans
from dockdyn.scenario.tables.tree import BODY

SKETCHES = 6
FALLEN, EARLY, SEEN = 0.8, 0.04, 20  # share of the energy's fall, of the run; samples that show a beginning


def _over_run(dataset: xr.Dataset, panels: list[Panel]) -> Chart:
    """Panels over the time of a run, one above the other, contacts that lasted shaded."""
    across = "time since the impact, s" if dataset.sizes["impact"] else "time since they touched, s"
    bands = [Band(float(onset), float(release)) for onset, release in contact_spans(dataset)]
    return run_chart(dataset.time.values, [replace(panel, across=across) for panel in panels], bands)


def turned(attitude: np.ndarray) -> np.ndarray:
    """Rotation (deg) since t = 0 about each of the axes the base had then, by the vector part of the quaternion."""
    w, x, y, z = attitude[0]
    back = np.array([[w, x, y, z], [-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    since = attitude @ back.T
    size = np.linalg.norm(since[:, 1:], axis=1)
    angle = np.unwrap(2 * np.arctan2(size, since[:, 0]))
    return np.degrees(since[:, 1:] * (angle / np.where(size > 0, size, 1))[:, None])


def spatial(dataset: xr.Dataset) -> bool:
    """Whether the base turns about three axes."""
    return "base.roll" in dataset.coordinate.values


def meetings(dataset: xr.Dataset) -> Chart:
    """Distance of the two and close up, impulses of impacts, normal force of what lasts: panels for what there is."""
    depth, time = dataset.depth.values, dataset.time.values
    struck, lasted = dataset.sizes["impact"] > 0, dataset.sizes["episode"] > 0
    times = dataset.impact_time.values
    # the largest distance between the first meeting and the last
    last = max([*times, *dataset.episode_onset.values], default=0.0)
    between = max(float(-depth[time <= last].min()), 0.0) if struck else 0.0
    deepest = 0.0 if struck else max(float(depth.max()), 0.0)
    apart = Line(time, -depth, name="distance")
    at = Line(times, np.zeros(len(times)), "orange", "impact", marker="^", size=4, joined=False)
    panels = [Panel("distance, m", [apart, at] if struck else [apart], levels=[ZERO])]
    if between > 0 or deepest > 0:
        size = 1e3 * max(between, deepest)
        limits = (-0.1 * size, 1.12 * size) if struck else (-1.12 * size, 0.3 * size)
        near = Line(time, -depth * 1e3, name="distance")
        panels.append(Panel("close up, mm", [near], levels=[ZERO], limits=limits))
    if struck:
        impulses = stems(times, dataset.impact_normal_impulse.values, "orange", name="impact")
        panels.append(Panel("impulse, N s", impulses, limits=(0, None)))
    if lasted:
        peaks = dataset.episode_peak_force.values
        force = [
            Line(time, dataset.normal_force, "purple"),
            Line(dataset.episode_peak_time, peaks, "ink", marker="o", joined=False),
        ]
        panels.append(Panel("normal force, N", force, limits=(0, 1.12 * float(peaks.max()) or 1.0)))
    return _over_run(dataset, panels)


def joints(dataset: xr.Dataset, unit: str = "rad") -> Chart:
    """Angles and rates of revolute joints, or travel and speeds of prismatic ones (`unit` m)."""
    names = [str(name) for name in dataset.joint.values[dataset.joint_unit.values == unit]]
    places, rates = dataset.joint_angle.sel(joint=names), dataset.coordinate_rate.sel(coordinate=names)
    return _over_run(dataset, joint_panels(dataset.time.values, names, places.values, rates.values, unit))


def turning(dataset: xr.Dataset) -> bool:
    """Whether the chaser's base or the target ever turns."""
    turns = [name.split(".")[-1] in ("roll", "pitch", "yaw") for name in map(str, dataset.target_coordinate.values)]
    return bool(
        np.ptp(dataset.base_attitude.values[:, 0], axis=0).any() or dataset.target_coordinate_rate[:, turns].any()
    )


def bodies(dataset: xr.Dataset) -> Chart:
    """How far the chaser's base has turned, and how fast the target turns."""
    axes_of = ["roll", "pitch", "yaw"] if spatial(dataset) else ["yaw"]
    first, time = 3 - len(axes_of), dataset.time.values
    about = [f"about {axis}" for axis in "xyz"[first:]]
    base = turned(dataset.base_attitude.values[:, 0])[:, first:]
    known = list(dataset.target_coordinate.values)
    rates = dataset.target_coordinate_rate.values[:, [known.index(f"base.{axis}") for axis in axes_of]]
    panels = [
        Panel("base turned, deg", lines_of(time, base, about), levels=[ZERO]),
        Panel("target, deg/s", lines_of(time, np.degrees(rates), about), levels=[ZERO]),
    ]
    return _over_run(dataset, panels)


def momenta(dataset: xr.Dataset) -> Chart:
    """Angular momentum of the wheel, and of both bodies about their common centre, by size."""
    sizes = [np.linalg.norm(dataset[name].values, axis=1) for name in ("wheel_momentum", "spin_momentum")]
    names = ["wheel", "chaser and target about their common centre"]
    lines = lines_of(dataset.time.values, np.stack(sizes, axis=1), names)
    return _over_run(dataset, [Panel("angular momentum, N m s", lines, 1.9, limits=(0, None))])


def _bent(dataset: xr.Dataset) -> list[str]:
    """Names of the links whose ends deflect."""
    return [str(n) for n in dataset.link.values if float(dataset.tip_deflection.sel(link=n).max()) > 0]


def deflections(dataset: xr.Dataset) -> Chart:
    """Deflection of the ends of flexible links."""
    return _over_run(dataset, [Panel("deflection, mm", _deflected(dataset), 1.9)])


def _deflected(dataset: xr.Dataset) -> list[Line]:
    flexible = _bent(dataset)
    return lines_of(dataset.time.values, dataset.tip_deflection.sel(link=flexible).values * 1e3, flexible)


def elastic(dataset: xr.Dataset) -> bool:
    """Whether bent links or springs ever hold energy."""
    return float(dataset.potential_energy.max()) > 0


def energies(dataset: xr.Dataset) -> Chart:
    """Energy of motion, of what is bent, and both; the first alone where nothing bends."""
    total = dataset.kinetic_energy + dataset.potential_energy
    labels = ["motion", "bent links and springs", "both"] if elastic(dataset) else ["motion"]
    values = np.stack([dataset.kinetic_energy, dataset.potential_energy, total], axis=1)
    label = "energy, J" if elastic(dataset) else "energy of motion, J"
    return _over_run(dataset, [Panel(label, lines_of(dataset.time.values, values, labels), 2.0)])


def working(dataset: xr.Dataset, unit: str) -> list[str]:
    """Coordinates with rates in `unit` that control acts on."""
    names = dataset.coordinate.values[dataset.coordinate_unit.values == unit]
    return [str(name) for name in names if float(abs(dataset.torque.sel(coordinate=name)).max()) > 0]


def torques(dataset: xr.Dataset, unit: str = "rad/s") -> Chart:
    """Torques of control on the base and on joints, or forces (`unit` m/s)."""
    worked = working(dataset, unit)
    what = "N m" if unit == "rad/s" else "N"
    panels: list[Panel] = []
    first = 0
    for base, words in ((True, f"base, {what}"), (False, f"joints, {what}")):
        names = [name for name in worked if name.startswith("base.") == base]
        if names:
            values = dataset.torque.sel(coordinate=names).values
            panels.append(Panel(words, lines_of(dataset.time.values, values, names, first), levels=[ZERO]))
            first += len(names)
    return _over_run(dataset, panels)


def beginning(dataset: xr.Dataset) -> float | None:
    """How long (s) the beginning is in which control takes most energy out, where the whole run would not show it."""
    if not dataset.attrs["controlled"]:
        return None
    energy = (dataset.kinetic_energy + dataset.potential_energy).values
    at = int(np.argmax(energy[0] - energy >= FALLEN * np.ptp(energy)))
    return 2 * float(dataset.time[at]) if SEEN <= 2 * at <= 2 * EARLY * len(energy) else None


def starts(dataset: xr.Dataset) -> Chart:
    """The beginning close up: rates of joints that turn, deflections, torques."""
    near = dataset.sel(time=slice(0, beginning(dataset)))
    names = [str(name) for name in dataset.joint.values[dataset.joint_unit.values == "rad"]]
    rates = np.degrees(near.coordinate_rate.sel(coordinate=names).values)
    torque = near.torque.sel(coordinate=names).values
    panels = [Panel("rate, deg/s", lines_of(near.time.values, rates, names), levels=[ZERO])]
    if _bent(dataset):
        bent = lines_of(
            near.time.values, near.tip_deflection.sel(link=_bent(dataset)).values * 1e3, _bent(dataset), len(names)
        )
        panels.append(Panel("deflection, mm", bent))
    panels.append(Panel("joints, N m", lines_of(near.time.values, torque, names), levels=[ZERO]))
    return replace(_over_run(near, panels), over="")


def sketches(dataset: xr.Dataset) -> Chart:
    """The links at instants spread over the run, seen from above (x–y) and, in space, from the side (x–z)."""
    views = [1, 2] if spatial(dataset) else [1]
    count = SKETCHES // len(views)
    when = np.linspace(0, dataset.sizes["time"] - 1, count).astype(int)
    seen = dataset.outline.values.reshape(-1, 3)[:, [0, *views]]
    middle = (np.nanmin(seen, axis=0) + np.nanmax(seen, axis=0)) / 2
    reach = 0.54 * np.nanmax(np.ptp(seen[np.isfinite(seen).all(axis=1)], axis=0))
    panels = []
    for place, up in enumerate(views, start=1):
        for row in when:
            now = dataset.isel(time=row)
            panels.append(
                Panel(
                    f"{'xyz'[up]}, m",
                    _outlined(now, up),
                    height=1.77,  # as high as wide
                    across="x, m",
                    title=f"{float(now.time):.4g} s",
                    limits=(middle[place] - reach, middle[place] + reach),
                    across_limits=(middle[0] - reach, middle[0] + reach),
                    equal=True,
                )
            )
    return Chart(panels, columns=SKETCHES // 2, tiles=True)


def _outlined(now: xr.Dataset, up: int) -> list[Line]:
    """The links of both at one instant, over x and another axis."""
    lines = []
    for system, name, colour in ((0, "chaser", "blue"), (1, "target", "orange")):
        line = now.outline[system].values
        line = line[np.isfinite(line).all(axis=-1)]
        if system == 0:  # without the bodies on beams, which come between the last link and the grip
            line = line[[not str(link).endswith(BODY) for link in now.link.values]]
        lines.append(path(line[:, [0, up]], colour, name, width=1.4, marker=".", size=4))
    return lines
