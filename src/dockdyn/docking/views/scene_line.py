"""The scene of a mechanism on a line: bodies as cubes of one density, springs between them, latches with their ramps.

Bodies are where the run has them; so that bodies without extent can be told apart, their cubes are beside their places: what
touches when their places meet, and what springs hold apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.schema.on_line_parts import LineLatchSection
from dockdyn.report.drawing import pair_labels, short_label
from dockdyn.report.scene.scene import End, Focus, RunScene, ShownForce, ShownMotion, ShownPart, ShownTie
from dockdyn.report.scene.solids import BallSolid, BoxSolid, TubeSolid
from dockdyn.report.scene.times import Sampler, shown_times
from dockdyn.scenario.made import ramp_of

if TYPE_CHECKING:
    from dockdyn.docking.schema.on_line import BodiesOnLineSection

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


def scene_on_line(dataset: Dataset, content: BodiesOnLineSection) -> RunScene:
    """Return the scene, x being the line."""
    time, at = shown_times(dataset)
    position = at(dataset.position.values[:, :, 0])
    names, masses = content.names(), np.array([content.as_heavy(body).mass for body in content.body])
    ramps = [(one, ramp_of(one.ramp)) for one in content.latch if one.ramp is not None]
    reach = max([float(np.ptp(position)) or 1.0, *(AROUND * float(ramp.length) for _, ramp in ramps)])
    sides = SHARE * reach * np.cbrt(masses / np.exp(np.log(masses).mean()))
    starts = np.array([content.begins_at(name) for name in names])
    offsets = _cube_offsets(_line_links(content, starts, LONG * SHARE * reach), sides, starts)
    motions = {name: _motion_along(row) for name, row in zip(names, position.T, strict=True)}
    parts = [
        ShownPart(f"{name}/body", [_cube(offset, side)], motions[name], "gear", name)
        for name, offset, side in zip(names, offsets, sides, strict=True)
    ]
    drawn = position + offsets
    for section, ramp in ramps:
        parts += _ramp_parts(section, ramp, [names.index(name) for name in section.between], drawn, sides)
    middle, span = float(drawn.mean()), 0.5 * float(drawn.max() - drawn.min() + sides.max() + reach)
    low = np.array([middle - 1.3 * span, -0.5 * sides.max(), -0.62 * sides.max()])
    high = np.array([middle + 1.3 * span, 0.5 * sides.max(), -0.58 * sides.max()])
    parts.append(ShownPart("track", [BoxSolid(low, high, np.eye(3))], None, "ground", None))
    return RunScene(
        title=str(dataset.attrs["title"]),
        time=time,
        bodies=motions,
        parts=parts,
        focus=Focus(None, np.array([middle, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), 0.75 * span),
        ties=_springs(content, list(motions.values()), offsets, drawn, sides),
        forces=_line_forces(dataset, content, time, at, drawn, sides),
    )


def _cube(middle: float, side: float) -> BoxSolid:
    half = 0.5 * side * np.ones(3)
    return BoxSolid(np.array([middle, 0.0, 0.0]) - half, np.array([middle, 0.0, 0.0]) + half, np.eye(3))


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


def _motion_along(place: np.ndarray) -> ShownMotion:
    """Return what is so far (times,) along the line."""
    found = ShownMotion(np.zeros((len(place), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(place), 1)))
    found.position[:, 0] = place
    return found


def _springs(
    content: BodiesOnLineSection, motions: list[ShownMotion], offsets: np.ndarray, drawn: np.ndarray, sides: np.ndarray
) -> list[ShownTie]:
    """Return coils between the faces of cubes that slides or elements hold."""
    names = content.names()
    pairs: list[tuple[str, ...]] = [
        (body.name, body.name, body.on) for body in content.body if body.joint is not None and body.on is not None
    ]
    pairs += [(one.name, *one.between) for one in content.ties() if one.kind != "latch"]
    found = []
    for name, *ends in pairs:
        first, second = sorted(map(names.index, ends), key=lambda number: drawn[0, number])
        start, end = offsets[first] + sides[first] / 2, offsets[second] - sides[second] / 2
        one, two = (End(motions[which], np.array([at, 0.0, 0.0])) for which, at in ((first, start), (second, end)))
        found.append(ShownTie(name, "spring", one, two, 0.08 * min(sides[first], sides[second])))
    return found


def _ramp_parts(
    section: Any,  # noqa: ANN401, a latch
    ramp: Any,  # noqa: ANN401, a Ramp of plain numbers
    bodies: list[int],
    drawn: np.ndarray,
    sides: np.ndarray,
) -> list[ShownPart]:
    """Return the ramp on the first body, and the pins of the latch that ride on it, pushed aside as the model says."""
    probe, latch = bodies
    length, slope = float(ramp.length), float(ramp.slope)
    faces = drawn[:, probe] + sides[probe] / 2, drawn[:, latch] - sides[latch] / 2
    travel = faces[0] - faces[1]
    aside = np.where(travel > 0, np.minimum(slope * travel, length * slope), 0.0)
    aside = np.where(travel >= length * (1 - 1e-6), 0.0, aside)  # it has fallen in behind the ramp
    thick = 0.12 * sides[bodies].min()
    wedge = TubeSolid(np.zeros(3), np.array([length, 0.0, 0.0]), thick + length * slope, thick)
    found = [ShownPart(f"{section.name}/ramp", [wedge], _motion_along(faces[0]), "gear", None)]
    for side in (1.0, -1.0):
        pin = _motion_along(faces[1])
        pin.position[:, 2] = side * (1.5 * thick + aside)
        place = "above" if side > 0 else "below"
        found.append(ShownPart(f"{section.name}/{place}", [BallSolid(np.zeros(3), 0.5 * thick)], pin, "gear", None))
    return found


def _line_forces(
    dataset: Dataset, content: BodiesOnLineSection, time: np.ndarray, at: Sampler, drawn: np.ndarray, sides: np.ndarray
) -> list[ShownForce]:
    """Return the force of each contact and latch on its first body, above where they meet; of contacts with their peaks."""
    force = at(dataset.normal_force.values).copy()
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
    for one in content.latch:
        pushed.append((one.name, one.between[0], at(dataset.element_tension.sel(element=one.name).values)))
    found = []
    for name, place, size in pushed:
        first = content.names().index(content.place(place)[0])
        tip = np.zeros((len(time), 3))
        tip[:, 0], tip[:, 2] = drawn[:, first] + sides[first] / 2, 0.75 * sides.max()
        found.append(ShownForce(name, tip, -size[:, None] * np.array([1.0, 0.0, 0.0]), None))
    return found
