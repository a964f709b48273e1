"""The scene of an arm on a station: the arm, its payload and the bay, in axes of the station."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from dockdyn.contact.surfaces.combined import Union
from dockdyn.report.drawing import COLOURS
from dockdyn.report.replay import frames
from dockdyn.report.replay.arms import POINT, SLENDER, Placing, placing, tree_parts
from dockdyn.report.replay.cameras import seen_from
from dockdyn.report.replay.colours import FORCE, SIDES, SURFACE
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Event, Frame, Line, Motion, Part, Scene, Signal, View, still
from dockdyn.report.replay.shapes import ball, box, surface_in_box
from dockdyn.report.sampled_surface import normals
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.tree import FlexibleSection

if TYPE_CHECKING:
    from dockdyn.kinds.orbital_arm.schema import OrbitalArmSection
    from dockdyn.kinds.orbital_arm.schema_bay import BaySection
    from dockdyn.scenario.tables.tree import LinkSection

LASTS = 0.02  # share of a run for which the arrow of an impact stands
NEAR = 0.25  # share of the payload's way within which a surface is near
KINDS = {"impact": "impact", "latch": "capture", "release": "note", "part": "note", "phase": "note"}
WORDS = {"latch": "latched", "release": "released", "part": "parted", "phase": "next phase of control"}


def scene(dataset: xr.Dataset, content: OrbitalArmSection) -> Scene:
    end = float(dataset.time[-1])
    struck = dataset.event_time.values[dataset.what.values == "impact"]
    others = dataset.event_time.values[np.isin(dataset.what.values, ("latch", "release"))]
    time, dwell = frames.chosen(dataset, [*struck, *others])
    found = _of_arm(dataset, content, time)
    reach = extent(content)
    parts = tree_parts("arm", content.arm, found, SIDES[True], reach)
    root = content.arm.ordered()[0].name
    if content.arm.ordered()[0].look is None:
        parts = [part for part in parts if part.name != f"arm/{root}"] + station(content, found, reach)
    lines, arrows = [], []
    if content.contact is not None:
        parts = [_own_colour(part, content.contact.link) for part in parts]
        places = frames.at(time, dataset.time.values, dataset.contact_place.values)
        parts += [*bay(dataset, content.contact, content.planar, len(time)), *_contact_points(places, reach)]
        lines = [Line("path", places.mean(axis=1), COLOURS["green"], grows=True)]
        arrows = _impulses(dataset, content.contact, content.payload(), time, places, reach, LASTS * end)
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=parts,
        lines=lines,
        arrows=arrows,
        frames=[Frame("station", still(len(time)), 0.12 * reach)],
        events=events(dataset),
        signals=signals(dataset),
        views=views(dataset, content, found, reach),
        notes=["seen from the station"],
    )


def _of_arm(dataset: xr.Dataset, content: OrbitalArmSection, time: np.ndarray) -> Placing:
    """Where links are in axes of the station; a payload that was let go stays where the latch holds it."""
    joints = frames.at(time, dataset.time.values, dataset.joint_angle.values)
    count = len(time)
    q = (
        np.zeros((count, 3)),
        np.tile([1.0, 0, 0, 0], (count, 1)),
        joints,
        np.zeros((count, 0, 4)),
        np.zeros((count, 0)),
    )
    found = placing(content.arm, FlexibleSection(), content.planar, q)
    gone = dataset.event_time.values[dataset.what.values == "release"]
    if len(gone):
        name = content.payload().name
        own = found.motions[name]
        row = int(np.searchsorted(time, gone[0], side="right")) - 1
        position, attitude = own.position.copy(), own.attitude.copy()
        position[row:], attitude[row:] = position[row], attitude[row]
        found.motions[name] = Motion(position, attitude)
    return found


def extent(content: OrbitalArmSection) -> float:
    """How far the arm reaches, m: the sum of its links."""
    mounts = [np.linalg.norm(link.mount) for link in content.arm.ordered()[1:] if link.parent is not None]
    return float(sum(mounts[1:])) or 1.0


def station(content: OrbitalArmSection, found: Placing, reach: float) -> list[Part]:
    """A block under the arm's root: the station itself would fill the picture."""
    links = content.arm.ordered()
    root = links[0].name
    parts = []
    for link in links[1:]:
        if link.parent == root:
            mount, half = np.asarray(link.mount, float), 0.05 * reach
            block = box(mount - half, mount + half)
            parts.append(Part(f"station/{link.name}", block, COLOURS["muted"], found.motions[root], body=root))
    return parts


def _own_colour(part: Part, payload: str) -> Part:
    """The payload's body in the target's colour, and by its own name."""
    return replace(part, colour=SIDES[False], body=payload) if part.name == f"arm/{payload} body" else part


def _contact_points(places: np.ndarray, reach: float) -> list[Part]:
    """The payload's points that touch."""
    count = len(places)
    return [
        Part(f"point {i + 1}", ball(0.012 * reach), COLOURS["gold"], Motion(places[:, i], still(count).attitude))
        for i in range(places.shape[1])
    ]


def bay(dataset: xr.Dataset, touched: BaySection, planar: bool, count: int) -> list[Part]:
    """The bay's surfaces together, around where the payload comes near them."""
    places = dataset.contact_place.values
    whole = max(float(np.ptp(places.reshape(-1, 3), axis=0).max()), 1e-6)
    gap = dataset.gap.values.min(axis=1)
    near = places[gap <= max(float(gap.min()) + NEAR * whole, 0)].reshape(-1, 3)
    low, high = near.min(axis=0), near.max(axis=0)
    margin = max(float(gap.min()), 0) + 0.12 * whole + 0.1 * float((high - low).max())
    low, high = low - margin, high + margin
    if planar:
        low[2], high[2] = -0.15 * whole, 0.15 * whole
    surfaces = tuple(map(made, touched.surface))
    mesh = surface_in_box(surfaces[0] if len(surfaces) == 1 else Union(surfaces), low, high)
    return [Part("bay", mesh, SURFACE, still(count), opacity=0.5, body="bay")]


def _impulses(
    dataset: xr.Dataset,
    touched: BaySection,
    payload: LinkSection,
    time: np.ndarray,
    places: np.ndarray,
    reach: float,
    lasts: float,
) -> list[Arrow]:
    """An arrow for every impact, at the point that touched, along the surface's normal; it stands for a while."""
    surfaces = [made(section) for section in touched.surface]
    vector, place = np.zeros((len(time), 3)), places[:, 0].copy()
    point_mass = not np.any(payload.inertia or 0)
    lift = POINT * SLENDER * reach if point_mass else 0.0  # out of the ball that a point is drawn as
    for when, what, contact, size in _happened(dataset):
        if contact < 0 or what not in ("impact", "latch") or not size > 0:
            continue
        point, surface = divmod(int(contact), len(surfaces))
        rows = np.flatnonzero((time >= when) & (time <= when + lasts))
        if not len(rows):
            continue
        (normal,) = normals(surfaces[surface], places[rows[:1], point])
        vector[rows] = float(size) * normal
        place[rows] = places[rows, point] + lift * normal
    if not vector.any():
        return []
    scale = arrow_scale([vector], 0.4 * reach)  # a small impact’s, too, reaches out of the payload
    return [Arrow("impulse", place, vector, FORCE, "N s", scale, 0.01 * reach)]


def events(dataset: xr.Dataset) -> list[Event]:
    """Impacts, the latch, the release, phases of control."""
    found = []
    for when, what, contact, size in _happened(dataset):
        name = str(dataset.contact.values[contact]) if contact >= 0 else ""
        words = WORDS.get(str(what), f"{what}")
        words = f"{words}: {name}, {size:.4g} N s" if what == "impact" else words
        found.append(Event(KINDS.get(str(what), "note"), words, float(when)))  # type: ignore[arg-type]
    return found


def signals(dataset: xr.Dataset) -> list[Signal]:
    """Distance of the nearest surface, joints, torques."""
    time = dataset.time.values
    found = []
    if "gap" in dataset:
        gap = dataset.gap.values.min(axis=1)
        found.append(Signal("distance of the nearest wall", "m", time, {"distance": gap}))
    units = [str(u) for u in dataset.joint_unit.values]
    names = [str(n) for n in dataset.joint.values]
    for unit, factor, words, torque in (("rad", np.degrees(1.0), "joint angles, deg", "torques of control, N m"),
                                        ("m", 1.0, "joint travel, m", "forces of control, N")):  # fmt: skip
        rows = [i for i, u in enumerate(units) if u == unit]
        if rows:
            for values, label in ((factor * dataset.joint_angle.values, words), (dataset.torque.values, torque)):
                what, shown = label.rsplit(", ", 1)
                found.append(Signal(what, shown, time, {names[i]: values[:, i] for i in rows}))
    return found


def views(dataset: xr.Dataset, content: OrbitalArmSection, found: Placing, reach: float) -> list[View]:
    every = np.concatenate([motion.position[::20] for motion in found.motions.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    middle, radius = (low + high) / 2, 0.55 * float(np.linalg.norm(high - low))
    if content.planar:
        slanted, side = [0.1, -0.35, 1.0], [0.0, -1.0, 0.12]
    else:
        slanted, side = [0.5, -1.0, 0.6], [0.0, -1.0, 0.02]
    views = [
        seen_from("overview", slanted, middle, radius),
        seen_from("from above", [0.0, -0.01, 1.0], middle, radius),
        seen_from("side", side, middle, radius),
    ]
    if content.contact is not None:
        nearest = int(dataset.gap.values.min(axis=1).argmin())
        place = dataset.contact_place.values[nearest].mean(axis=0)
        views.append(seen_from("bay", slanted, place, 0.3 * reach))
        payload = found.motions[content.contact.link]
        views.append(seen_from("with the payload", slanted, payload.position[0], 0.35 * reach, payload))
    return views


def _happened(dataset: xr.Dataset) -> Iterator[tuple[float, str, int, float]]:
    """Of every event its time (s), what it was, the contact (−1: none) and the normal impulse (N s)."""
    columns = (dataset.event_time, dataset.what, dataset.event_contact, dataset.impulse_normal)
    return zip(*(column.values for column in columns), strict=True)
