"""The scene of an assembly on a line: bodies as cubes of one density, springs between them, latches with their ramps.

Bodies are where the run has them; so that bodies without extent can be told apart, their cubes are beside their places: what
touches when their places meet, and what springs hold apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.kinds.assembly.schema.on_line_parts import LineLatchSection
from dockdyn.report.drawing import COLOURS, pair_labels, short_label
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import seen_from
from dockdyn.report.replay.colours import ARROWS, BODIES, METAL
from dockdyn.report.replay.events import events_of_run
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Scene, SceneLine, SceneMotion, ScenePart, Signal, still_motion
from dockdyn.report.replay.shapes import ball_mesh, box_mesh, coil_points, rod_mesh
from dockdyn.scenario.made import ramp_of

if TYPE_CHECKING:
    from dockdyn.kinds.assembly.schema.on_line import BodiesOnLineSection

SHARE = 0.3  # side of a mean body's cube, over what moves
AROUND = 10.0  # what moves at least, over the length of a ramp
LONG = 1.6  # length of what holds bodies apart, over that side


class LineLink(NamedTuple):
    """Two bodies by number, the first before the second, and how far apart the middles of their cubes are drawn when both
    are at these places on the line."""

    first: int
    second: int
    apart: float  # m, between the cubes
    places: tuple[float, float]  # m: of the second less the first at this distance


def scene_on_line(dataset: Dataset, content: BodiesOnLineSection) -> Scene:
    """Return the scene, x being the line."""
    captures = [float(dataset.capture_time)] if "capture_time" in dataset else []
    time, dwell = frames.frames_of_run(dataset, [one for one in captures if np.isfinite(one)])
    position = frames.interpolate_samples(time, dataset.time.values, dataset.position.values[:, :, 0])
    names, masses = content.names(), np.array([content.as_heavy(body).mass for body in content.body])
    ramps = [(one, ramp_of(one.ramp)) for one in _line_latches(content) if one.ramp is not None]
    reach = max([float(np.ptp(position)) or 1.0, *(AROUND * float(ramp.length) for _, ramp in ramps)])
    sides = SHARE * reach * np.cbrt(masses / np.exp(np.log(masses).mean()))
    starts = np.array([content.begins_at(name) for name in names])
    offsets = _cube_offsets(_line_links(content, starts, LONG * SHARE * reach), sides, starts)
    motions = [_motion_along(row) for row in position.T]
    parts = [
        ScenePart(
            f"{name}/body",
            box_mesh([offset - side / 2, -side / 2, -side / 2], [offset + side / 2, side / 2, side / 2]),
            BODIES[index % len(BODIES)],
            motions[index],
            opacity=0.8,
            body=name,
        )
        for index, (name, offset, side) in enumerate(zip(names, offsets, sides, strict=True))
    ]
    drawn = position + offsets
    for section, ramp in ramps:
        parts += _ramp_parts(section, ramp, [names.index(name) for name in section.between], drawn, sides, motions)
    middle = np.array([float(drawn.mean()), 0.0, 0.0])
    span = 0.5 * float(drawn.max() - drawn.min() + sides.max() + reach)
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=[*parts, _track_part(middle, 1.3 * span, sides.max(), len(time))],
        lines=_spring_coils(content, drawn, sides),
        arrows=_force_arrows(dataset, content, time, drawn, sides),
        events=events_of_run(dataset, pair_labels(dataset) if dataset.sizes["contact"] else ()),
        signals=_line_signals(dataset),
        views=[
            seen_from("overview", [0.35, -1.35, 0.6], middle, 0.8 * span),
            seen_from("side", [0.0, -1.0, 0.1], middle, 0.8 * span),
            seen_from("along the line", [-1.0, -0.25, 0.35], middle, span),
            seen_from(f"with {names[0]}", [0.35, -1.35, 0.6], middle, 0.6 * span, motions[0]),
        ],
    )


def _line_links(content: BodiesOnLineSection, starts: np.ndarray, long: float) -> list[LineLink]:
    """Return which bodies are drawn beside each other, and how: what touches, then what else acts between two or holds them."""
    names = content.names()
    found = []
    for contact in content.contact:
        (first, own), (second, other) = map(content.place, contact.between)
        found.append(LineLink(names.index(first), names.index(second), 0.0, (own, other)))
    for element in content.ties():
        one, two = map(names.index, element.between)
        if isinstance(element, LineLatchSection) and element.ramp is not None:
            own, seat = element.anchor
            found.append(LineLink(one, two, 0.0, (own, seat - float(ramp_of(element.ramp).length))))
        else:
            found.append(_in_order(one, two, starts, long))
    for number, body in enumerate(content.body):
        if body.joint is not None and body.on is not None:
            apart = long if body.joint.kind == "prismatic" else 0.0
            carrier = names.index(body.on)
            found.append(_in_order(min(number, carrier), max(number, carrier), starts, apart))
    return found


def _line_latches(content: BodiesOnLineSection) -> list[LineLatchSection]:
    """Return the latches among its elements."""
    return content.latch


def _in_order(one: int, two: int, starts: np.ndarray, apart: float) -> LineLink:
    """Return a link of two bodies so far `apart` as they begin; the one that begins before, or stands before in the file, is
    first."""
    first, second = (one, two) if starts[one] <= starts[two] else (two, one)
    return LineLink(first, second, apart, (float(starts[second]) - float(starts[first]), 0.0))


def _cube_offsets(links: list[LineLink], sides: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return how far (m) the middle of each cube is drawn from its body's place; zero of one with no link."""
    offsets, known = np.zeros(len(sides)), set[int]()
    for root in np.argsort(starts, kind="stable"):
        if int(root) in known:
            continue
        known.add(int(root))
        waiting = [int(root)]
        while waiting:
            here = waiting.pop(0)
            for link in links:
                step = (sides[link.first] + sides[link.second]) / 2 + link.apart - (link.places[0] - link.places[1])
                if link.first == here and link.second not in known:
                    offsets[link.second], other = offsets[here] + step, link.second
                elif link.second == here and link.first not in known:
                    offsets[link.first], other = offsets[here] - step, link.first
                else:
                    continue
                known.add(other)
                waiting.append(other)
    return offsets


def _motion_along(place: np.ndarray) -> SceneMotion:
    motion = still_motion(len(place))
    motion.position[:, 0] = place
    return motion


def _spring_coils(content: BodiesOnLineSection, drawn: np.ndarray, sides: np.ndarray) -> list[SceneLine]:
    """Return coils between the faces of cubes that slides or elements hold."""
    names = content.names()
    pairs: list[tuple[str, ...]] = [
        (body.name, body.name, body.on) for body in content.body if body.joint is not None and body.on is not None
    ]
    pairs += [(one.name, *one.between) for one in content.ties() if one.kind != "latch"]
    found = []
    for name, *ends in pairs:
        first, second = sorted(map(names.index, ends), key=lambda number: drawn[0, number])
        start, end = drawn[:, first] + sides[first] / 2, drawn[:, second] - sides[second] / 2
        thick = 0.22 * min(sides[first], sides[second])
        wound = coil_points() * [1.0, thick, thick]
        found.append(
            SceneLine(f"spring {name}", wound, METAL, width=2.5, carrier=_motion_along(start), stretch=end - start)
        )
    return found


def _track_part(middle: np.ndarray, half: float, side: float, count: int) -> ScenePart:
    """Return the line that they move on."""
    low, high = np.array([-half, -0.5 * side, -0.62 * side]), np.array([half, 0.5 * side, -0.58 * side])
    return ScenePart("track", box_mesh(low, high), "#4d5661", still_motion(count, middle), opacity=0.5)


def _ramp_parts(
    section: Any,  # noqa: ANN401, a latch
    ramp: Any,  # noqa: ANN401, a Ramp of plain numbers
    bodies: list[int],
    drawn: np.ndarray,
    sides: np.ndarray,
    motions: list[SceneMotion],
) -> list[ScenePart]:
    """Return the ramp on the first body, and the pins of the latch that ride on it, pushed aside as the model says."""
    probe, latch = bodies
    length, slope = float(ramp.length), float(ramp.slope)
    faces = drawn[:, probe] + sides[probe] / 2, drawn[:, latch] - sides[latch] / 2
    travel = faces[0] - faces[1]
    aside = np.where(travel > 0, np.minimum(slope * travel, length * slope), 0.0)
    aside = np.where(travel >= length * (1 - 1e-6), 0.0, aside)  # it has fallen in behind the ramp
    thick = 0.12 * sides[bodies].min()
    wedge = rod_mesh(length, thick + length * slope, thick)
    found = [ScenePart(f"{section.name}/ramp", wedge, METAL, _motion_along(faces[0]), flat=False)]
    for side in (1.0, -1.0):
        pin = _motion_along(faces[1])
        pin.position[:, 2] = side * (1.5 * thick + aside)
        place = "above" if side > 0 else "below"
        found.append(ScenePart(f"{section.name}/{place}", ball_mesh(0.5 * thick), COLOURS["gold"], pin))
    return found


def _force_arrows(
    dataset: Dataset, content: BodiesOnLineSection, time: np.ndarray, drawn: np.ndarray, sides: np.ndarray
) -> list[Arrow]:
    """Return the force of each contact and latch on its first body, above where they meet, all to one scale.

    Of contacts with the peaks between frames.
    """
    force = frames.interpolate_samples(time, dataset.time.values, dataset.normal_force.values)
    for which, peak, when in zip(
        dataset.episode_contact.values,
        dataset.episode_peak_force.values,
        dataset.episode_peak_time.values,
        strict=True,
    ):
        row = int(np.abs(time - when).argmin())
        force[row, which] = max(force[row, which], peak)
    names = [short_label(name) for name in pair_labels(dataset)] if dataset.sizes["contact"] else []
    pushed: list[tuple[str, str, np.ndarray]] = [
        (name, contact.between[0], force[:, index])
        for index, (name, contact) in enumerate(zip(names, content.contact, strict=True))
    ]
    for one in _line_latches(content):
        held = dataset.element_tension.sel(element=one.name).values
        pushed.append((one.name, one.between[0], frames.interpolate_samples(time, dataset.time.values, held)))
    vectors = [-size[:, None] * np.array([1.0, 0.0, 0.0]) for *_, size in pushed]
    if not vectors:
        return []
    scale, found = arrow_scale(vectors, 3 * float(sides.mean())), []
    for index, (name, place, _) in enumerate(pushed):
        first = content.names().index(content.place(place)[0])
        tip = np.zeros((len(time), 3))
        tip[:, 0], tip[:, 2] = drawn[:, first] + sides[first] / 2, 0.75 * sides.max()
        colour = ARROWS[index % len(ARROWS)]
        found.append(Arrow(f"force of {name}", tip, vectors[index], colour, "N", scale, 0.06 * float(sides.mean())))
    return found


def _line_signals(dataset: Dataset) -> list[Signal]:
    """Return forces where bodies meet, their distances, velocities."""
    time = dataset.time.values
    names = [short_label(name) for name in pair_labels(dataset)] if dataset.sizes["contact"] else []
    force = {name: dataset.normal_force.values[:, index] for index, name in enumerate(names)}
    apart = {name: -1e3 * dataset.depth.values[:, index] for index, name in enumerate(names)}
    if "latch_travel" in dataset:
        apart["ramp"] = -1e3 * dataset.latch_travel.values
    velocity = {str(name): 1e3 * dataset.velocity.values[:, i, 0] for i, name in enumerate(dataset.body.values)}
    found = [Signal("normal force", "N", time, force), Signal("distance", "mm", time, apart)]
    return [*(one for one in found if one.series), Signal("velocity", "mm/s", time, velocity)]
