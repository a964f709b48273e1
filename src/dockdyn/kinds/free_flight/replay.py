"""The scene of a free flight: two bodies, their docking gear, the forces of their contacts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from dockdyn.integrate.model import over_rows
from dockdyn.kinds.free_flight.replay_latch import latch_parts
from dockdyn.mechanics.rigid_body import Placed, Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.report.drawing import SERIES, pair_labels, short
from dockdyn.report.replay import frames
from dockdyn.report.replay.cameras import beside, seen_from, seen_whole
from dockdyn.report.replay.colours import BESIDE, FORCE, HOLD
from dockdyn.report.replay.events import events
from dockdyn.report.replay.gear import (
    MARGIN,
    along_the_axis,
    axes_length,
    body_parts,
    docking_place,
    gear_places,
    reach_with_wholes,
    surface_part,
)
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Frame, Line, Motion, Part, Scene, Signal, View
from dockdyn.report.sampled_surface import coordinates, in_pieces
from dockdyn.scenario.made import made

if TYPE_CHECKING:
    from dockdyn.kinds.free_flight.schema import FreeFlightSection

BODIES = ("chaser", "target")


class Acting(NamedTuple):
    """The force of a contact on the chaser, at the frames."""

    place: np.ndarray  # (frames, 3), m
    normal: np.ndarray  # (frames, 3), N
    friction: np.ndarray | None  # (frames, 3), N; of a contact with a friction law


def scene(dataset: xr.Dataset, content: FreeFlightSection) -> Scene:
    """The scene, in inertial axes."""
    marks = [float(dataset.capture_time)] if "capture_time" in dataset else []
    time, dwell = frames.chosen(dataset, marks)
    motions = moved(dataset, time)
    reach = met(dataset, content)
    parts: list[Part] = []
    for index, name in enumerate(BODIES):
        body = getattr(content, name)
        parts += body_parts(name, body, index == 0, motions[index], reach, panels=True)
        for section in body.surface:
            parts.append(surface_part(f"{name}/{section.name}", section, reach, motions[index]))
    parts += latch_parts(dataset, content, time, motions)
    acting = _contact_forces(dataset, content, time, motions)
    return Scene(
        title=str(dataset.attrs["title"]),
        time=time,
        dwell=dwell,
        parts=parts,
        views=views(content, motions, reach, parts),
        lines=_traces(dataset, content, time, motions),
        arrows=arrows(dataset, acting, time, motions, content, reach),
        frames=axes(content, parts, motions),
        events=events(dataset),
        signals=signals(dataset),
    )


def moved(dataset: xr.Dataset, time: np.ndarray) -> list[Motion]:
    """Chaser and target at times, s."""
    return [
        frames.motion_at(time, dataset.time.values, dataset.position.values[:, i], dataset.attitude.values[:, i])
        for i in range(2)
    ]


def axes(content: FreeFlightSection, parts: list[Part], motions: list[Motion]) -> list[Frame]:
    """Axes of both bodies."""
    hulls = [next(part.mesh for part in parts if part.name == f"{name}/body") for name in BODIES]
    return [
        Frame(name, motion, axes_length(mesh, gear_places(getattr(content, name))))
        for name, motion, mesh in zip(BODIES, motions, hulls, strict=True)
    ]


def met(dataset: xr.Dataset, content: FreeFlightSection) -> float:
    """How far (m) from surfaces' reference points matters: where they are met, or the tips' size."""
    places = dataset.episode_position.values if "episode_position" in dataset else np.zeros((0, 3))
    sizes = np.linalg.norm(places, axis=1)
    if dataset.attrs["finished"] == 0 and len(sizes) and sizes[0] > 0:
        sizes = sizes[sizes <= 3 * sizes[0]]
    radii = [float(one.radius) for side in BODIES for one in getattr(content, side).feature]
    paths = dataset.feature_position.values
    nearest = float(np.nanmin(np.linalg.norm(paths, axis=-1))) if paths.size else 0.0
    found = MARGIN * max([*sizes, 3 * max(radii, default=0.0), nearest if not len(sizes) else 0.0])
    return reach_with_wholes(content, found)


def _contact_forces(
    dataset: xr.Dataset, content: FreeFlightSection, time: np.ndarray, motions: list[Motion]
) -> list[Acting]:
    """Where and how every contact pushes: the normal force where it is generated, friction as it acts.

    Contact points and normals are those of the model's own contacts at the frames' poses. What acts was decided one loop
    delay earlier, and its part along the normal of then is no friction.
    """

    def of(poses: list[Motion]) -> tuple[np.ndarray, np.ndarray]:
        stacked = (np.stack([getattr(m, name) for m in poses], axis=1) for name in ("position", "attitude"))
        return in_pieces(lambda *rows: _contact_places(content, *rows), *stacked)

    places, normals = of(motions)
    decided = normals
    delay = content.loop.delay or 0.0
    if delay > 0:
        _, decided = of(moved(dataset, np.maximum(time - delay, 0.0)))
    pressing = frames.at(time, dataset.time.values, dataset.normal_force.values)
    acting = frames.at(time, dataset.time.values, dataset.contact_force.values)
    result = []
    for index, contact in enumerate(content.contact):
        out = normals[:, index] * (1.0 if content.pair(contact)[2] else -1.0)
        force = pressing[:, index].copy()
        for one in np.flatnonzero(dataset.episode_contact.values == index):  # a peak between samples
            row = int(np.abs(time - float(dataset.episode_peak_time[one])).argmin())
            force[row] = max(force[row], float(dataset.episode_peak_force[one]))
        across = None
        if contact.friction is not None:
            then = decided[:, index]
            across = acting[:, index] - np.sum(acting[:, index] * then, axis=1, keepdims=True) * then
        result.append(Acting(places[:, index], force[:, None] * out, across))
    return result


@Program
def _contact_places(
    content: FreeFlightSection, position: Float[Array, "n 2 3"], attitude: Float[Array, "n 2 4"]
) -> tuple[Float[Array, "n contacts 3"], Float[Array, "n contacts 3"]]:
    """Where every contact's force acts (m) and the normal there, out of the surface, at poses of both bodies."""
    groups, still = content.bodies().computed, Twist(Vector.zero(), Vector.zero())

    def one(place: Float[Array, "2 3"], turn: Float[Array, "2 4"]) -> tuple[Array, Array]:
        places = [Placed.of(Pose(Vector.of(place[i]), Quaternion.of(turn[i])), still) for i in range(2)]
        touches = [group.member().touch(places[group.first], places[group.second]) for group in groups]
        points, normals = ([getattr(touch, name).array() for touch in touches] for name in ("point", "normal"))
        return jnp.reshape(jnp.array(points), (-1, 3)), jnp.reshape(jnp.array(normals), (-1, 3))

    return over_rows(one, position, attitude)


def arrows(
    dataset: xr.Dataset,
    acting: list[Acting],
    time: np.ndarray,
    motions: list[Motion],
    content: FreeFlightSection,
    reach: float,
) -> list[Arrow]:
    """Normal force and friction on the chaser, and the force of a latch, all to one scale."""
    hold, latch = None, content.latch if "hold_force" in dataset else None
    if latch is not None:
        feature, _, on_chaser = content.pair(latch)
        place = motions[0 if on_chaser else 1].points(np.asarray(feature.position, float))
        force = frames.at(time, dataset.time.values, (dataset.hold_force + dataset.latch_force).values)
        hold = (place, force)
    vectors = [one.normal for one in acting] + ([hold[1]] if hold else [])
    scale = arrow_scale(vectors, 2 * reach)
    found = []
    for index, one in enumerate(acting):
        tail = "" if len(acting) == 1 else f" {index + 1}"
        found.append(Arrow(f"normal force{tail}", one.place, one.normal, FORCE, "N", scale, 0.03 * reach))
        if one.friction is not None:
            found.append(Arrow(f"friction{tail}", one.place, one.friction, BESIDE, "N", scale, 0.03 * reach))
    if hold is not None:
        found.append(Arrow("latch", *hold, HOLD, "N", scale, 0.03 * reach))
    return found


def _traces(dataset: xr.Dataset, content: FreeFlightSection, time: np.ndarray, motions: list[Motion]) -> list[Line]:
    """The path of each contact's feature, in axes of the body with the surface."""
    found = []
    for index, contact in enumerate(content.contact):
        _, section, on_chaser = content.pair(contact)
        reference = coordinates(made(section).reference())
        path = frames.at(time, dataset.time.values, dataset.feature_position.values[:, index]) + reference
        carrier = motions[1 if on_chaser else 0]
        colour = SERIES[(index + 2) % len(SERIES)]
        found.append(Line(f"path/{index}", path, colour, carrier=carrier, grows=True))
    return found


def signals(dataset: xr.Dataset) -> list[Signal]:
    """Normal force, depth of what touches, closing speed, energy."""
    time = dataset.time.values
    names = pair_labels(dataset) if dataset.sizes.get("contact") else []
    force = {short(n): dataset.normal_force.values[:, i] for i, n in enumerate(names)}
    depth = {short(n): -1e3 * dataset.depth.values[:, i] for i, n in enumerate(names)}
    energy = {"both bodies": dataset.kinetic_energy.values}
    found = [Signal("normal force", "N", time, force), Signal("distance", "mm", time, depth)]
    return [*(one for one in found if one.series), Signal("kinetic energy", "J", time, energy)]


def views(content: FreeFlightSection, motions: list[Motion], reach: float, parts: list[Part]) -> list[View]:
    """Overview, along the docking axis, from the side, close on the contact, following the chaser."""
    if not content.contact:
        return [seen_whole("overview", [0.3, -1.0, 0.5], parts)]
    _, focus, axis, carrier = docking_place(content, motions, reach)
    across, up = beside(axis)
    slanted = across + 0.5 * up + 0.25 * axis
    chaser = [part for part in parts if part.motion is motions[0]]
    return [
        seen_whole("overview", slanted, parts),
        seen_whole("side", across, parts),
        along_the_axis(content, parts, motions[0], reach),
        seen_from("contact", slanted, focus, 1.2 * reach, carrier, True),
        replace(seen_whole("with the chaser", slanted, chaser), follow=motions[0]),
    ]
