"""Trees of links as they look: rods, beams that bend, boxes at their ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.trees.assembly import Link
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.programs import Program
from dockdyn.report.replay.bus import bus_of
from dockdyn.report.replay.colours import METAL
from dockdyn.report.replay.looks import dressed
from dockdyn.report.replay.scene import Mesh, Motion, Part, along, of_matrices
from dockdyn.report.replay.shapes import ball, box, joined, placed, rod
from dockdyn.report.sampled_surface import in_pieces
from dockdyn.scenario.tables.tree import BODY, GRIP, FlexibleSection, LinkSection, TreeSection

BENDS = 6  # pieces in which a beam is drawn
Numbers = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
POINT = 1.8  # radius of the ball that a point mass is drawn as, over a rod's
SLENDER = 0.018  # radius of a rod over the tree's reach


@dataclass(frozen=True)
class Placing:
    """All links of a tree at the frames, by name, and the places along its beams."""

    motions: dict[str, Motion]
    beams: dict[str, list[Motion]]


def placing(
    section: TreeSection,
    flexible: FlexibleSection,
    planar: bool,
    numbers: Numbers,
    grip: tuple[str, list[float]] | None = None,
) -> Placing:
    """Where a tree's links are, for the numbers of a `Configuration` with leading frames, by the tree's own kinematics.

    `grip` is a link and the place on it that touches (m).
    """
    link, place = grip or ("", [])
    found = in_pieces(lambda *rows: _poses(section, flexible, place, Configuration(*rows), planar, link), *numbers)
    motions = {name: Motion(position, of_matrices(rotation)) for name, (position, rotation) in found.items()}
    places = {
        link.name: [motions[link.name], *(motions.pop(f"{link.name} at {n}") for n in range(1, BENDS + 1))]
        for link in section.link
        if link.beam is not None
    }
    return Placing(motions, places)


@partial(Program, static=("planar", "touching"))
def _poses(
    section: TreeSection,
    flexible: FlexibleSection,
    place: list[float],
    rows: Configuration,
    planar: bool,
    touching: str,
) -> dict[str, tuple[Float[Array, "frames 3"], Float[Array, "frames 3 3"]]]:
    """Position and rotation matrix of every link, and of what is mounted on the tree, by name.

    Places along beams are massless links locked there, so that they move as anything mounted there would.
    """
    marks = [
        Link(f"{link.name} at {piece}", link.name, joint="locked", at=piece / BENDS)
        for link in section.link
        if link.beam is not None
        for piece in range(1, BENDS + 1)
    ]
    beams = {link.name: link for link in section.link if link.beam is not None}
    marks += [
        Link(_seat_of(link), link.parent, joint="locked", **beams[link.parent].seat(link.mount))
        for link in section.link
        if link.parent in beams and link.at is None
    ]
    frames = [section.grip(touching, place)] if touching else []
    tree = section.tree(flexible, planar, *frames, *marks)
    still = jnp.zeros(tree.layout.columns()[2])
    position, rotation = over_rows(lambda q: tree.motion(q, still)[:2], rows)
    return dict(zip(tree.layout.names, zip(position, rotation, strict=True), strict=True))


def tree_parts(
    name: str, section: TreeSection, found: Placing, colour: str, reach: float, grip: tuple[str, Any] | None = None
) -> list[Part]:
    """The links of a tree: `grip` is a link and the place on it that touches (m)."""
    links = section.ordered()
    thick = SLENDER * reach
    parts = []
    for link in links:
        motion = found.motions[link.name]
        seats = {_seat_of(child): child.mount for child in links if child.parent == link.name and child.at is None}
        if grip is not None and grip[0] == link.name:
            seats[GRIP] = grip[1]
        bends = link.name in found.beams
        ends = [] if bends else [np.asarray(place, float) for place in seats.values()]
        if link.beam is not None and not bends:
            ends.append(np.array([link.beam.length, 0.0, 0.0]))
        if link.look is not None:
            part = Part(f"{name}/{link.name}", ball(1.35 * thick), METAL, motion, flat=False)
            parts += dressed(part, link.look)
            continue
        if bends:
            parts += _beam_parts(f"{name}/{link.name}", found.beams[link.name], colour, 0.8 * thick, name)
            parts += _bracket_parts(f"{name}/{link.name}", found, seats, thick)
            if link.mass is not None:
                solid = _leaf(link.model_copy(update={"centre": [0.0, 0.0, 0.0]}), thick)
                beside = found.motions[link.name + BODY]
                parts.append(Part(f"{name}/{link.name} body", solid, colour, beside, opacity=0.9, body=name))
        if link.parent is None:
            parts.append(Part(f"{name}/{link.name}", base(link, ends, reach), colour, motion, opacity=0.9, body=name))
            continue
        pieces = [ball(1.35 * thick)] + [stick(end, thick) for end in ends if np.any(end)]
        parts.append(Part(f"{name}/{link.name}", joined(*pieces), METAL, motion, flat=False))
        if not ends and link.beam is None and link.mass is not None:
            solid = _leaf(link, thick)
            parts.append(Part(f"{name}/{link.name} body", solid, colour, motion, opacity=0.9, body=name))
    return parts


def _beam_parts(name: str, places: list[Motion], colour: str, radius: float, body: str) -> list[Part]:
    """A beam of a body in pieces, each between two places on it."""
    parts = []
    for piece, (one, other) in enumerate(pairwise(places)):
        gap = other.position - one.position
        length = float(np.linalg.norm(gap, axis=1).max())
        motion = along(one.position, gap)
        mesh = rod(1.01 * length, radius)
        parts.append(Part(f"{name} piece {piece + 1}", mesh, colour, motion, flat=False, body=body))
    return parts


def _seat_of(link: LinkSection) -> str:
    """The name of the frame on a beam where a link is mounted."""
    return f"{link.name} seat"


def _bracket_parts(name: str, found: Placing, seats: dict[str, Any], thick: float) -> list[Part]:
    """What holds places beside a beam (m, link axes, by the name of the frame there) to its axis."""
    parts = []
    for frame, place in seats.items():
        across = -np.array([0.0, *place[1:]])
        if np.any(across):
            parts.append(Part(f"{name} {frame}", stick(across, thick), METAL, found.motions[frame], flat=False))
    return parts


def stick(end: np.ndarray, radius: float) -> Mesh:
    """Return a rod from the origin to a place (m); a ball where that is the origin, which has no direction."""
    if not np.any(end):
        return ball(0.8 * radius)
    return placed(rod(float(np.linalg.norm(end)), 0.8 * radius), np.zeros(3), end)


def base(link: LinkSection, ends: list[np.ndarray], reach: float) -> Mesh:
    """The first body of a tree by its mass and inertia, with a stub to each place where something is mounted.

    One that would swallow the arm, as a station does, is drawn as a block where the arm is mounted.
    """
    thick = SLENDER * reach
    if link.mass is None:
        return ball(2 * thick)
    stubs = [stick(end, 1.3 * thick) for end in ends if np.any(end)]
    mesh = bus_of(link.mass, np.asarray(link.inertia), ends).mesh()
    if np.ptp(mesh.vertices, axis=0).max() > 1.2 * reach:
        half = 0.07 * reach
        return joined(*(box(end - half, end + half) for end in ends or [np.zeros(3)]))
    centre = np.asarray(link.centre, float)
    return joined(Mesh(mesh.vertices + centre, mesh.faces), *stubs)


def _leaf(link: Any, thick: float) -> Mesh:  # noqa: ANN401, a section with a mass
    """The last body of a tree by its mass and inertia; a ball where it is a point."""
    inertia, centre = np.asarray(link.inertia, float), np.asarray(link.centre, float)
    if not inertia.any():
        return ball(POINT * thick, centre)
    mesh = bus_of(link.mass, inertia, []).mesh()
    return Mesh(mesh.vertices + centre, mesh.faces)
