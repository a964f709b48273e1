"""Gibson and Murphey, impact during an orbital docking: Figures 2–6, times of the impacts and of the computation.

The paper leaves out masses, lengths, initial angles and the bay. The presets `gibson-2d` (docking, the docked angles held to
the end) and `gibson-2d-retreat` (the second impact closes a latch, the payload is released, the arm moves back) have some
that give its times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dockdyn import simulate, summarise
from dockdyn.papers import reproduction
from dockdyn.papers.gibson.snapshots import LINKS, PAYLOAD, STATION, Instant, arm_places, place_of, snapshots
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.table import PaperTable, Row
from dockdyn.report.charts.chart import Chart
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.drawing import COLOURS
from dockdyn.results.store import write_result
from dockdyn.scenario.load import load

IMPACTS = (("12.50", "1250"), ("27.51", "2751"))  # s and step, as printed
SPEED, PERIOD = 7706.6, 5460.0  # m/s, s, as printed
EXECUTION = "182"  # s, of 4000 steps, as printed
CLOSE = np.array([[-4.4, -2.3], [-1.55, 2.15]])  # m, axes of the station: the bay and the way into it
AWAY = 0.5  # m from the payload, where the arm's tip is when it is shown moving away
TITLE = 0.36  # in, room for a title above a legend
ANGLES = dict(zip(LINKS, "ψαβ", strict=True))  # of joints, by the bodies that they hold
DOCKING, RETREAT = "gibson-2d", "gibson-2d-retreat"


@lru_cache(maxsize=1)
def docking() -> xr.Dataset:
    return simulate(load(DOCKING))


@lru_cache(maxsize=1)
def retreat() -> xr.Dataset:
    return simulate(load(RETREAT))


# --- what is given ----------------------------------------------------------------------------------------------------


def _check_given_numbers(progress: Progress) -> Made:
    """Return what the text gives of the model and the simulation, beside the preset."""
    content = load(DOCKING).content
    station, payload = content.named(STATION), content.named(PAYLOAD)
    control, step = content.control, content.integrator.step
    rows = [
        Row("mass of the station", "344378", station.mass, "kg"),
        Row("length of the station", "73", float(np.sqrt(12 * station.inertia[2][2] / station.mass)), "m", ROD),
        Row("mass of the payload", "100", payload.mass, "kg"),
        Row("time step", "0.01", step, "s"),
        Row("iterations", "4000", content.duration / step, "1"),
    ]
    for letter, printed, angle, stiffness, damping in zip(
        "ψαβ", ("2.932", "0.741", "0.776"), control.set_point, control.stiffness, control.damping, strict=True
    ):
        rows += [
            Row(f"docked {letter}", printed, angle, "rad"),
            Row(f"kp of {letter}", "10", stiffness, "N m/rad"),
            Row(f"kd of {letter}", "2", damping, "N m s/rad"),
        ]
    return None, rows


ROD = "Of the rod with the preset's inertia, m L²/12."


# --- the orbit: Fig. 2 -----------------------------------------------------------------------------------------------


def _on_orbit(progress: Progress) -> Made:
    """Return the speed and period by the semi-major axis, and what the printed ones would belong to."""
    section = load(DOCKING).content.orbit
    rate, radius, parameter = (
        float(section.make().mean_motion()),
        section.semi_major_axis,
        section.gravitational_parameter,
    )
    words = "The printed speed and period belong to other orbits, below."
    rows = [
        Row("orbital speed", f"{SPEED}", rate * radius, "m/s", words),
        Row("orbital period", f"{PERIOD:g}", 2 * np.pi / rate, "s"),
        Row("semi-major axis", "6731.29", radius / 1e3, "km"),
        Row("semi-major axis to which the printed speed belongs", None, parameter / SPEED**2 / 1e3, "km"),
        Row(
            "that to which the printed period belongs", None, np.cbrt(parameter * (PERIOD / 2 / np.pi) ** 2) / 1e3, "km"
        ),
    ]
    return _orbit_picture(radius), rows


def _orbit_picture(radius: float) -> Figure:
    """Return the orbit to scale, the station (far too large) as it stands along it."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    ax = figure.add_subplot()
    turn = np.linspace(0, 2 * np.pi, 361)
    earth = 6378.137  # km
    ax.fill(earth * np.cos(turn), earth * np.sin(turn), color=COLOURS["solid"], linewidth=0)
    ax.plot(radius / 1e3 * np.cos(turn), radius / 1e3 * np.sin(turn), color=COLOURS["muted"], linewidth=0.8)
    half = 600.0  # km, of the station as drawn
    for place in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        along = np.array([np.cos(place), np.sin(place)])
        ends = radius / 1e3 * along + half * np.array([[-1], [1]]) * along
        ax.plot(*ends.T, color=COLOURS["blue"], linewidth=2.5)
    ax.set(aspect="equal", xlabel="x, km", ylabel="y, km")
    return figure


# --- the docking: Figs. 3–6 ------------------------------------------------------------------------------------------


def _released_at(run: xr.Dataset) -> float:
    """Return when the arm lets the payload go (s): as it begins to retreat."""
    return float(run.phase_began.sel(phase="retreat"))


def _station_attitude(run: xr.Dataset) -> np.ndarray:
    """Return the attitude θ (rad) of the station against the orbital frame."""
    rate = float(load(DOCKING).content.orbit.make().mean_motion())
    return run.rotation.sel(body=STATION, axis="z").values - rate * run.time.values


def _start_and_docking(progress: Progress) -> Made:
    """Return figure 3."""
    run = docking()
    progress(0.9)
    first, second = run.episode_onset.values[:2]
    chosen = [(0.0, "start"), (first, "first impact"), (second, "second impact")]
    place = place_of(run, PAYLOAD)[0]
    rows = [Row(f"payload at the start, {axis}", None, float(place[i]), "m") for i, axis in enumerate("xy")]
    return _leave_room_for_title(snapshots(run, load(DOCKING).content, chosen)), rows


def _leave_room_for_title(chart: Chart) -> Figure:
    """Return the chart on paper, with room for a title above the legend."""
    figure = print_chart(chart)
    width, height = figure.get_size_inches()
    share = height / (height + TITLE)
    figure.set_size_inches(width, height + TITLE)
    figure.subplots_adjust(top=figure.subplotpars.top * share, bottom=figure.subplotpars.bottom * share)
    for legend in figure.legends:
        legend.set_bbox_to_anchor((figure.subplotpars.left, share), transform=figure.transFigure)
    return figure


def figure_4(progress: Progress) -> Made:
    """Return figure 4."""
    run = retreat()
    progress(0.9)
    summary = summarise(run)
    caught, let_go = summary["capture_time_s"], _released_at(run)
    chosen: list[Instant] = [(caught, "latched"), (let_go, "released"), (float(run.time[-1]), "arm back")]
    starts = run.joint_angle.values[0]
    rows = [
        Row("latch closes", IMPACTS[1][0], caught, "s", "At the second impact."),
        Row("payload released", None, let_go, "s"),
        *(
            Row(
                f"{letter} at the end less that at the start",
                "back",
                float(run.joint_angle[-1, i] - starts[i]),
                "rad",
            )
            for i, letter in enumerate(ANGLES.values())
        ),
        Row("angular momentum, largest relative change", None, summary["angular_momentum_error"], "1"),
    ]
    return _leave_room_for_title(snapshots(run, load(RETREAT).content, chosen)), rows


def _close_ups(progress: Progress) -> Made:
    """Return figure 5, a to f by its caption: the payload in the bay."""
    run = retreat()
    progress(0.9)
    summary = summarise(run)
    first, caught, let_go = float(run.episode_onset[0]), summary["capture_time_s"], _released_at(run)
    gone = float(run.time[np.argmax((run.time.values > let_go) & (tip_distances(run) > AWAY))])
    chosen = [
        (0.0, "a, initial condition"),
        (first / 2, "b, brought in"),
        (first, "c, first impact"),
        (caught, "d, second impact"),
        (let_go, "e, docked"),
        (gone, "f, arm moves away"),
    ]
    printed = {"c": IMPACTS[0][0], "d": IMPACTS[1][0]}
    rows = [
        Row(f"instant of {words}", printed.get(words[0]), time, "s", SHOWN.get(words[0], "")) for time, words in chosen
    ]
    held = place_of(run, PAYLOAD)[run.time.values >= caught]
    rows += [
        Row("payload moves against the bay once latched, at most", None, float(np.ptp(held, axis=0).max()), "m"),
        Row("arm’s tip from the payload at the end", None, float(tip_distances(run)[-1]), "m"),
    ]
    return _leave_room_for_title(snapshots(run, load(RETREAT).content, chosen, CLOSE)), rows


SHOWN = {
    "b": "Halfway to the first impact: no time is printed.",
    "d": "Plastic here: a latch closes.",
    "e": "As the arm lets go.",
    "f": f"The tip {AWAY:g} m from the payload: no time is printed.",
}


def tip_distances(run: xr.Dataset) -> np.ndarray:
    """Return how far the arm's tip is from the payload at each sample (m)."""
    tip = arm_places(run, load(RETREAT).content)[:, -1]
    return np.linalg.norm(tip - place_of(run, PAYLOAD), axis=1)


def _histories(progress: Progress) -> Made:
    """Return figure 6: attitude of the station and angles of the arm."""
    run = docking()
    progress(0.9)
    figure = Figure(figsize=(9, 8), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    rows = []
    for ax, (name, letter) in zip(axes, {STATION: "θ", **ANGLES}.items(), strict=True):
        values = _station_attitude(run) if name == STATION else run.joint_angle.sel(joint=name).values
        ax.plot(run.time, values, color=COLOURS["blue"], linewidth=1.2)
        if name != STATION:
            goal = float(run.set_point.sel(motor=name)[-1])
            ax.axhline(goal, color=COLOURS["muted"], linewidth=0.8, linestyle="--")
            rows.append(Row(f"{letter} at 40 s less its set-point", None, float(values[-1]) - goal, "rad"))
        else:
            rows.append(Row("largest θ", None, float(np.abs(values).max()), "rad", "Against the orbital frame."))
        for time in run.episode_onset.values:
            ax.axvline(time, color=COLOURS["orange"], linewidth=0.9)
        ax.set_ylabel(f"{letter}, rad")
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("time, s")
    axes[0].set_xlim(0, float(run.time[-1]))
    return figure, rows


# --- numbers ---------------------------------------------------------------------------------------------------------


def _impact_rows(progress: Progress) -> Made:
    """Return when the payload meets the bay, in seconds and in steps."""
    run = docking()
    progress(0.9)
    summary = summarise(run)
    rows = [Row("impacts within 40 s", "2", float(len(summary["contacts"])), "1")]
    for number, (impact, (time, step)) in enumerate(zip(summary["contacts"], IMPACTS, strict=False), start=1):
        name = f"impact {number}, {str(impact['surface']).rpartition('.')[2]}"
        count = np.ceil(impact["onset_s"] / summary["step_s"])
        rows += [
            Row(f"{name}: time", time, impact["onset_s"], "s", "Located inside the step."),
            Row(f"{name}: step in which it falls", step, float(count), "1"),
            Row(f"{name}: approach speed", None, impact["approach_speed_m_s"], "m/s"),
            Row(f"{name}: impulse", None, impact["impulse_N_s"], "N s"),
        ]
    rows.append(Row("energy, largest relative error", None, summary["work_energy_error"], "1"))
    return None, rows


def _time_rows(progress: Progress) -> Made:
    """Return how long 4000 steps take."""
    first = summarise(docking())["wall_time_s"]
    again = summarise(simulate(load(DOCKING)))
    took, steps = again["wall_time_s"], again["steps"]
    return None, [
        Row("time of all steps", EXECUTION, took, "s", "Compiled before, with all that is observed."),
        Row("the first time, with compilation where that was due", None, first, "s"),
        Row("a step", f"{float(EXECUTION) / 4000 * 1e6:g}", 1e6 * took / steps, "µs"),
    ]


PRESET = "`gibson-2d`: elastic, no friction, the docked angles held throughout; h = 0.01 s."
BACK = (
    "`gibson-2d-retreat`: the second impact is plastic, the payload is released 5 s later, the arm moves back in 100 s."
)

FIGURES: dict[int | str, PaperPart] = {
    "given": PaperPart(
        "Gibson and Murphey: what is given of model and simulation",
        _check_given_numbers,
        "Computed is what the preset `gibson-2d` has. Masses and lengths of the arm, its angles at the start and the bay are "
        "not given.",
    ),
    2: PaperPart(
        "Gibson and Murphey, Fig. 2: the station on its orbit",
        _on_orbit,
        "The gravitational parameter of the Earth; the paper gives G and no mass. The station is drawn far too large.",
    ),
    3: PaperPart("Gibson and Murphey, Fig. 3: start of the docking", _start_and_docking, PRESET),
    4: PaperPart("Gibson and Murphey, Fig. 4: payload docked and released, arm back", figure_4, BACK),
    5: PaperPart("Gibson and Murphey, Fig. 5: the payload in the bay", _close_ups, BACK),
    6: PaperPart("Gibson and Murphey, Fig. 6: attitude of the station, angles of the arm", _histories, PRESET),
    "impacts": PaperPart(
        "Gibson and Murphey: times of the impacts",
        _impact_rows,
        f"{PRESET} The gains do not hold a real arm: “docking” is a passage through the docked angles, not their end.",
    ),
    "time": PaperPart(
        "Gibson and Murphey: time of the computation", _time_rows, f"{PRESET} The time is that of this machine."
    ),
}
DATA: dict[int | str, tuple[str, Callable[[], xr.Dataset]]] = {
    **dict.fromkeys((3, 6, "impacts", "time"), ("docking", docking)),
    **dict.fromkeys((4, 5), ("retreat", retreat)),
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[PaperTable]:
    """Recompute one of `FIGURES`, or all when None: see `reproduction.reproduce`. Writes the runs as netCDF, too."""
    tables = reproduction.reproduce(FIGURES, figure, folder, progress)
    for stem, data in {DATA[table.name] for table in tables if table.name in DATA}:
        write_result(data(), Path(folder) / f"{stem}.nc")
    return tables
