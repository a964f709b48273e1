"""The scene of masses on a line: two chains that collide, or a probe and its spring latch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from dockdyn.kinds.chains.schema import LatchSection
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import seen_from
from dockdyn.report.replay.colours import FORCE, METAL, SIDES
from dockdyn.report.replay.events import events
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Line, Motion, Part, Scene, Signal, still
from dockdyn.report.replay.shapes import ball, box, coil, rod
from dockdyn.scenario.made import ramp_of

if TYPE_CHECKING:
    from dockdyn.contact.latch import Ramp
    from dockdyn.kinds.chains.schema import FourMassSection

SHARE = 0.3  # side of a mean mass, over what moves
AROUND = 10.0  # what moves at least, over the length of a latch
LONG = 1.6  # length of a relaxed spring, over that side


def scene(dataset: xr.Dataset, content: FourMassSection | LatchSection) -> Scene:
    """The masses as cubes of one density, drawn where their positions say, their springs between them."""
    marks = [float(dataset.capture_time)] if "capture_time" in dataset else []
    time, dwell = frames.chosen(dataset, marks)
    position = frames.at(time, dataset.time.values, dataset.position.values[:, :, 0])
    masses = np.array([*content.chaser.masses, *content.target.masses], float)
    first = len(content.chaser.masses)
    reach = float(np.ptp(position)) or 1.0
    ramp = ramp_of(content.latch) if isinstance(content, LatchSection) else None
    if ramp is not None:
        reach = max(reach, AROUND * float(ramp.length))
    sides = SHARE * reach * np.cbrt(masses / np.cbrt(masses.prod() ** (3 / len(masses))))
    places = _resting(sides, first, LONG * SHARE * reach)
    motions = [line(places[i] + position[:, i]) for i in range(len(masses))]
    parts = [
        Part(
            f"mass {i + 1}",
            box(-np.full(3, s / 2), np.full(3, s / 2)),
            SIDES[i < first],
            motions[i],
            opacity=0.8,
            body="chaser" if i < first else "target",
        )
        for i, s in enumerate(sides)
    ]
    lines = []
    for i in range(len(masses) - 1):
        if i == first - 1:
            continue
        lines.append(_spring(f"spring {i + 1}", motions[i], motions[i + 1], sides[i], sides[i + 1]))
    if ramp is not None:
        parts += _latch_parts(dataset, ramp, time, motions[first - 1 : first + 1], sides[first - 1 : first + 1])
    force = frames.at(time, dataset.time.values, dataset.normal_force.values[:, 0])
    for peak, when in zip(dataset.episode_peak_force.values, dataset.episode_peak_time.values, strict=True):
        row = int(np.abs(time - when).argmin())
        force[row] = max(force[row], peak)
    tip = motions[first - 1].position + np.array([sides[first - 1] / 2, 0, 0.75 * sides.max()])
    vector = -force[:, None] * np.array([1.0, 0.0, 0.0])
    scale = arrow_scale([vector], 0.9 * reach)
    what = "latch" if ramp is not None else "normal force"
    middle = np.array([float(places.mean() + position.mean()), 0.0, 0.0])
    span = 0.5 * float(places[-1] - places[0] + sides[0] + reach)
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=[*parts, track(middle, 1.3 * span, sides.max(), len(time))],
        lines=lines,
        arrows=[Arrow(what, tip, vector, FORCE, "N", scale, 0.06 * sides.mean())],
        events=events(dataset),
        signals=signals(dataset),
        views=[
            seen_from("overview", [0.35, -1.35, 0.6], middle, 0.8 * span),
            seen_from("side", [0.0, -1.0, 0.1], middle, 0.8 * span),
            seen_from("along the line", [-1.0, -0.25, 0.35], middle, span),
            seen_from("contact", [0.2, -1.0, 0.35], tip[0], 1.7 * float(sides.max()), motions[first]),
            seen_from("with the chaser", [0.35, -1.35, 0.6], middle, 0.6 * span, motions[first - 1]),
        ],
    )


def _resting(sides: np.ndarray, first: int, apart: float) -> np.ndarray:
    """Centres (m) of the cubes when the two that meet just touch, at zero, and the springs are relaxed."""
    places = np.zeros(len(sides))
    places[first - 1], places[first] = -sides[first - 1] / 2, sides[first] / 2
    for i in range(first - 2, -1, -1):
        places[i] = places[i + 1] - (sides[i] + sides[i + 1]) / 2 - apart
    for i in range(first + 1, len(sides)):
        places[i] = places[i - 1] + (sides[i] + sides[i - 1]) / 2 + apart
    return places


def line(along: np.ndarray) -> Motion:
    motion = still(len(along))
    motion.position[:, 0] = along
    return motion


def _spring(name: str, one: Motion, other: Motion, side: float, next_side: float) -> Line:
    """A coil between the faces of two cubes."""
    start, end = one.position[:, 0] + side / 2, other.position[:, 0] - next_side / 2
    wound = coil() * [1.0, 0.22 * min(side, next_side), 0.22 * min(side, next_side)]
    return Line(name, wound, METAL, width=2.5, carrier=line(start), stretch=end - start)


def track(middle: np.ndarray, half: float, side: float, count: int) -> Part:
    """The line that they move on."""
    low, high = np.array([-half, -0.5 * side, -0.62 * side]), np.array([half, 0.5 * side, -0.58 * side])
    return Part("track", box(low, high), "#4d5661", still(count, middle), opacity=0.5)


def _latch_parts(
    dataset: xr.Dataset, ramp: Ramp, time: np.ndarray, motions: list[Motion], sides: np.ndarray
) -> list[Part]:
    """The ramp on the chaser's last mass, and the pins of the latch that ride on it, pushed aside as the model says."""
    length, slope = float(ramp.length), float(ramp.slope)
    travel: Any = frames.at(time, dataset.time.values, dataset.depth.values[:, 0])
    aside: Any = (ramp.spring(travel) - ramp.preload) / ramp.stiffness
    aside = np.where(travel > 0, np.minimum(aside, length * slope), 0.0)
    aside = np.where(travel >= length * (1 - 1e-6), 0.0, aside)  # it has fallen in behind the ramp
    thick = 0.12 * sides.min()
    wedge = rod(length, thick + length * slope, thick)
    tip = Motion(motions[0].position + np.array([sides[0] / 2, 0, 0]), motions[0].attitude)
    found = [Part("probe", wedge, METAL, tip, flat=False)]
    for side in (1.0, -1.0):
        place = motions[1].position + np.array([-sides[1] / 2, 0, 0])
        place[:, 2] += side * (thick + 0.5 * thick + aside)
        pin = Motion(place, motions[1].attitude)
        found.append(Part(f"latch {'above' if side > 0 else 'below'}", ball(0.5 * thick), COLOURS["gold"], pin))
    return found


def signals(dataset: xr.Dataset) -> list[Signal]:
    """Force where the two meet, their distance, velocities."""
    time = dataset.time.values
    velocity = {str(n): 1e3 * dataset.velocity.values[:, i, 0] for i, n in enumerate(dataset.body.values)}
    return [
        Signal("force where they meet", "N", time, {"force": dataset.normal_force.values[:, 0]}),
        Signal("distance", "mm", time, {"distance": -1e3 * dataset.depth.values[:, 0]}),
        Signal("velocity", "mm/s", time, velocity),
    ]
