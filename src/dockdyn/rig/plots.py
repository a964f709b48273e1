"""Figures of a run on a rig: with and without rig over time, their difference, the end, phase, gains, the way in space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.dataset import DataArray, Dataset
from dockdyn.report.charts.chart import ZERO, Chart, Level, Line, Panel, Source, lines_of, symmetric_log_scale
from dockdyn.report.charts.time_chart import numbered_bands, run_chart
from dockdyn.rig.measures import contact_spans, find_touching_times, first_bounce, vector_size
from dockdyn.rig.rig_theory import gains_visited

SHOWN = 3  # oscillations at the end
AROUND = 0.35  # of a bounce's length, shown before and after it
IDEAL: dict[str, Any] = {"colour": "ink", "width": 1.0, "name": "without rig"}
RIG: dict[str, Any] = {"colour": "orange", "dash": 1, "name": "rig"}
ROBOT: dict[str, Any] = {"colour": "sky", "width": 0.9}


def drawn_component(values: DataArray) -> np.ndarray:
    """Return a force or velocity as it is drawn: with its sign along one direction, its size in space."""
    return values.values[:, 0] if values.shape[1] == 1 else vector_size(values.values)


def _source(values: DataArray | int, *factors: tuple[str, float]) -> Source:
    """Return where a page that computes has what `drawn_component` gives of the sum of variables, so many times each; `values`
    are of one, or their width."""
    width = values if isinstance(values, int) else values.shape[1]
    terms = [(name, axis, factor) for name, factor in factors for axis in range(width)]
    return Source(terms, size=width > 1)


def _number_of(name: str) -> Source:
    return Source([(name, 0, 1.0)])


def _over_run(dataset: Dataset, panels: list[Panel]) -> Chart:
    """Return panels over the run, its contacts shaded, opened where it touches."""
    bands = numbered_bands(*contact_spans(dataset))
    return run_chart(dataset.time.values, panels, bands, instants=find_touching_times(dataset))


def compare_runs(dataset: Dataset, ideal: str, rig: str, label: str, scale: float = 1.0) -> Chart:
    """Return a quantity with and without rig, and their difference."""
    true, shown = scale * dataset[ideal], scale * dataset[rig]
    apart = shown.values - true.values
    difference = apart[:, 0] if true.shape[1] == 1 else vector_size(apart)
    usual, time = float(np.abs(true.values).max()), dataset.time.values
    both = [
        Line(time, drawn_component(true), **IDEAL, source=_source(true, (ideal, scale))),
        Line(time, drawn_component(shown), **RIG, source=_source(true, (rig, scale))),
    ]
    of_both = _source(true, (rig, scale), (ideal, -scale))
    words = f"difference, {label.rpartition(' ')[2]}"
    panels = [
        Panel(label, both, 2.0, levels=[ZERO], scale=symmetric_log_scale(drawn_component(shown), usual)),
        Panel(
            words,
            [Line(time, difference, "purple", source=of_both)],
            1.2,
            levels=[ZERO],
            scale=symmetric_log_scale(difference, usual),
        ),
    ]
    return _over_run(dataset, panels)


def energy_chart(dataset: Dataset) -> Chart:
    """Return the kinetic energy with and without rig, and what the contact at the robot and all forces on the model have
    given."""
    time = dataset.time.values
    moving = [
        Line(time, dataset.ideal_kinetic_energy, **IDEAL, source=_number_of("ideal_kinetic_energy")),
        Line(time, dataset.kinetic_energy, **RIG, source=_number_of("kinetic_energy")),
    ]
    gained = Source([("kinetic_energy", 0, 1.0)], since_start=True)
    at_robot = "work of the contact at the robot"
    works = [
        Line(time, dataset.model_work, name="work on the model", source=gained),
        Line(time, dataset.port_work, "green", at_robot, dash=2, source=_number_of("port_work")),
    ]
    usual = float(dataset.ideal_kinetic_energy.max())
    panels = [
        Panel("kinetic energy, J", moving, 1.7, scale=symmetric_log_scale(dataset.kinetic_energy.values, usual)),
        Panel("work, J", works, 1.5, levels=[ZERO], scale=symmetric_log_scale(dataset.model_work.values, usual)),
    ]
    return _over_run(dataset, panels)


def close_window(dataset: Dataset) -> tuple[slice, str]:
    """Return what to look at closely: the first bounce, or the last oscillations of a contact that pulls, too."""
    time = dataset.time.values
    if not dataset.attrs["bilateral"]:
        spans = [first_bounce(vector_size(dataset[name].values)) for name in ("ideal_force", "total_force")]
        starts, ends = zip(*spans, strict=True)
        if min(starts) < 0:
            return slice(None), "the run"
        length = time[max(ends)] - time[min(starts)]
        first, last = np.searchsorted(time, (time[min(starts)] - AROUND * length, time[max(ends)] + AROUND * length))
        return slice(int(first), int(last) + 1), "the first bounce"
    omega = float(dataset.attrs["frequency_rad_s"])
    length = SHOWN * 2 * np.pi / omega if np.isfinite(omega) else time[-1] / 4
    return slice(int(np.searchsorted(time, time[-1] - length)), None), "the last oscillations"


def close_chart(dataset: Dataset) -> Chart:
    """Return the force and velocity in the first bounce, or at the end."""
    part = dataset.isel(time=close_window(dataset)[0])
    panels: list[Panel] = []
    for ideal, rig, label, scale in (
        ("ideal_force", "total_force", "force, N", 1.0),
        ("ideal_velocity", "velocity", "velocity, mm/s", 1e3),
    ):
        both = [
            Line(part.time, scale * drawn_component(part[ideal]), **IDEAL, source=_source(part[ideal], (ideal, scale))),
            Line(part.time, scale * drawn_component(part[rig]), **RIG, source=_source(part[rig], (rig, scale))),
        ]
        panels.append(Panel(label, both, 1.5 if panels else 1.8, levels=[ZERO]))
    force = part.contact_force
    at_robot = Line(
        part.time,
        drawn_component(force),
        name="contact at the robot",
        source=_source(force, ("contact_force", 1.0)),
        **ROBOT,
    )
    panels[0] = replace(panels[0], lines=[*panels[0].lines, at_robot])
    return Chart(panels, whole=(float(part.time[0]), float(part.time[-1])), events=True)


def phase_portrait(dataset: Dataset) -> Chart:
    """Return the velocity over position; beside it force over position in a bounce, or the last oscillations, their ends
    marked."""
    swings = bool(dataset.attrs["bilateral"])
    closer = dataset.isel(time=close_window(dataset)[0])
    solid = RIG | {"dash": 0, "width": 0.7}
    whole = _phase_plane(dataset if swings else closer, solid)
    if swings:
        near = _phase_plane(closer, RIG)
        for place, rate, style in (("ideal_position", "ideal_velocity", IDEAL), ("position", "velocity", RIG)):
            end = 1e3 * closer[place].values[-1:, 0], 1e3 * closer[rate].values[-1:, 0]
            near.append(Line(*end, style["colour"], marker="o", size=5, joined=False))
        return Chart([_plane_panel(whole, "velocity, mm/s"), _plane_panel(near, "velocity, mm/s")], columns=2)
    pairs = ("ideal_position", "ideal_force"), ("position", "total_force"), ("robot_position", "contact_force")
    styles = IDEAL, RIG, ROBOT | {"name": "contact at the robot"}
    force = [
        Line(1e3 * closer[place][:, 0], closer[name][:, 0], **style)
        for (place, name), style in zip(pairs, styles, strict=True)
    ]
    return Chart([_plane_panel(whole, "velocity, mm/s"), _plane_panel(force, "force, N")], columns=2)


def _plane_panel(lines: list[Line], label: str) -> Panel:
    return Panel(label, lines, 2.9, across="position, mm")


def _phase_plane(dataset: Dataset, style: dict[str, Any]) -> list[Line]:
    """Return the velocity over position, with and without rig."""
    return [
        Line(1e3 * dataset.ideal_position[:, 0], 1e3 * dataset.ideal_velocity[:, 0], **IDEAL),
        Line(1e3 * dataset.position[:, 0], 1e3 * dataset.velocity[:, 0], **style),
    ]


def gain_chart(dataset: Dataset) -> Chart:
    """Return the gain of the compensator over time with the range it visits, its force, and what it has found out."""
    time = dataset.time.values
    visited = [Level(float(value), dash=2, width=0.8) for value in gains_visited(dataset) or []]
    force = dataset.compensation_force
    own = _source(force, ("compensation_force", 1.0))
    panels = [
        Panel("gain, N s/m", [Line(time, dataset.gain, source=_number_of("gain"))], levels=visited),
        Panel("its force, N", [Line(time, drawn_component(force), "green", source=own)], 1.2, levels=[ZERO]),
    ]
    if "stiffness_estimate" in dataset:
        true = Level(1e-3 * float(dataset.attrs["stiffness_N_m"]), width=0.8)
        told = Source([("stiffness_estimate", 0, 1e-3)])
        found = Line(time, 1e-3 * dataset.stiffness_estimate, "purple", source=told)
        panels.append(Panel("found, kN/m", [found], 1.2, levels=[true]))
    return _over_run(dataset, panels)


def path_chart(dataset: Dataset) -> Chart:
    """Return the way of the point that touches, seen from the side and along the docking axis: without rig, model, robot."""
    panels = []
    for first, second, seen in ((0, 2, "from the side"), (1, 2, "along x")):
        lines = [
            Line(1e3 * dataset[name].values[:, first], 1e3 * dataset[name].values[:, second], **style)
            for name, style in (
                ("ideal_position", IDEAL),
                ("position", RIG | {"name": "model"}),
                ("robot_position", ROBOT | {"name": "robot"}),
            )
        ]
        up, across = (f"{'xyz'[axis]}, mm" for axis in (second, first))
        panels.append(Panel(up, lines, height=3.0, across=across, title=seen, equal=first == 1))
    return Chart(panels, columns=2)


def pose_chart(dataset: Dataset, actual: str = "model_pose", wanted: str = "ideal_pose") -> Chart:
    """Return the difference of two poses: places and rotation vectors."""
    away, time = (dataset[actual] - dataset[wanted]).values, dataset.time.values
    panels = [
        Panel(
            label,
            _pose_lines(time, factor * away[:, first : first + 3], (actual, wanted), first, factor),
            levels=[ZERO],
        )
        for label, first, factor in (("place, mm", 0, 1e3), ("attitude, deg", 3, 180 / np.pi))
    ]
    return _over_run(dataset, panels)


def _pose_lines(time: np.ndarray, values: np.ndarray, names: tuple[str, str], first: int, factor: float) -> list[Line]:
    """Return the lines of three coordinates, from the `first` on, of the difference of two poses."""
    terms = [
        [(name, first + axis, sign * factor) for name, sign in zip(names, (1, -1), strict=True)] for axis in range(3)
    ]
    drawn = lines_of(time, values, ["x", "y", "z"])
    return [replace(line, source=Source(one)) for line, one in zip(drawn, terms, strict=True)]
