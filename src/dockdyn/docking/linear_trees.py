"""Trees of bodies as they are at an instant, linearised: what small motions of joints and modes move, in NumPy.

Coordinates are the motion of each root that is not fixed (six, inertial axes), joints, and the modes of links, more than a run
has: of beams `ENOUGH` along each direction, of bodies by finite elements all. A link moves with its frame at rest, which its
joint moves; by its modes it moves against that.

Units: SI: m, rad, kg.
Source: principle of virtual work, Kane and Levinson 1985, Dynamics, section 6.1; modes in mean axes, as in
`mechanics/trees/modal_frame.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float, jnp
from dockdyn.docking.flexible_modes import deflection_of, modes_of
from dockdyn.docking.linked_trees import arm_of, links_of
from dockdyn.docking.schema.bodies import BodySection
from dockdyn.docking.schema.finite_elements import MOST_MODES, FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, ModeTableSection, UniformBeamSection
from dockdyn.docking.schema.joints import LockedSection, MimicSection
from dockdyn.results.linear_contact import ENOUGH
from dockdyn.scenario.finite_elements.component import rigid_motions

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection

SHARED = (
    "length",
    "mass_per_length",
    "bending_stiffness",
    "torsional_stiffness",
    "polar_inertia",
    "bending_modes",
    "twist_modes",
)  # keys of both kinds of beams
type Motion = Float[np.ndarray, "6 n"]  # m and rad, of a place by the coordinates


class Standing(NamedTuple):
    """Where a body is, how it moves, and what it weighs."""

    place: Float[Any, "3"]  # m
    turn: Float[Any, "3 3"]  # its axes → inertial
    velocity: Float[Any, "3"]  # m/s
    rate: Float[Any, "3"]  # rad/s, its axes
    mass: Float[Any, ""]  # kg
    inertia: Float[Any, "3 3"]  # kg m²


class LinkModes(NamedTuple):
    """The modes of a link, by what they do against its frame at rest, body axes."""

    mass: Float[np.ndarray, "modes modes"]  # kg, beside that of a rigid body in mean axes
    stiffness: Float[np.ndarray, "modes"]  # N/m
    mean: Motion  # of the mean axes, at the centre of mass
    at: Callable[[Float[np.ndarray, "3"]], Motion]  # what sits at a place
    kinds: tuple[np.ndarray, ...]  # numbers of modes whose count is chosen, the lowest first: of a beam by direction
    kept: np.ndarray  # whether the run has each


class Tied(NamedTuple):
    """An element between two trees that is a spring."""

    name: str
    rows: Float[np.ndarray, "ways n"]  # by how much it opens
    stiffness: Float[np.ndarray, "ways"]  # N/m


class LinearTrees(NamedTuple):
    """Small motions of some trees."""

    mass: Float[np.ndarray, "n n"]
    stiffness: Float[np.ndarray, "n n"]
    rest: dict[str, Motion]  # of the frames at rest, at the centres of mass, inertial axes
    bending: dict[str, tuple[int, LinkModes]]  # with the number of the first mode among all coordinates
    turns: dict[str, Float[np.ndarray, "3 3"]]
    roots: dict[str, int | None]  # the first coordinate of each root; None of one that is fixed
    ties: list[Tied]

    def moved(self, body: str, place: Float[np.ndarray, "3"]) -> Motion:
        """Return how what sits on a body at a place (m, from its centre of mass, body axes) moves, inertial axes."""
        turn = self.turns[body]
        found = shifted(self.rest[body], turn @ place)
        if body in self.bending:
            first, bending = self.bending[body]
            found[:, first : first + len(bending.stiffness)] += np.kron(np.eye(2), turn) @ bending.at(place)
        return found

    def modes(self) -> np.ndarray:
        """Return whether each coordinate is a mode."""
        found = np.zeros(len(self.mass), bool)
        for first, bending in self.bending.values():
            found[first : first + len(bending.stiffness)] = True
        return found


def shifted(motion: Motion, lever: Float[np.ndarray, "3"]) -> Motion:
    """Return the motion of a place that is a lever (m) from another on the same rigid body."""
    return rigid_motions(lever[None]) @ motion


def standing_of(content: SeveralBodiesSection, poses: Any, twists: Any) -> dict[str, Standing]:  # noqa: ANN401
    """Return all bodies by name, where they are so; also from traced numbers."""
    return {
        body.name: Standing(
            pose.position.array(),
            pose.attitude.matrix().array(),
            twist.velocity.array(),
            twist.rate.array(),
            jnp.asarray(body.body().mass),
            jnp.asarray(body.body().inertia),
        )
        for body, pose, twist in zip(content.bodies, poses, twists, strict=True)
    }


def linear_trees(content: SeveralBodiesSection, standing: dict[str, Standing], names: Iterable[str]) -> LinearTrees:
    """Return the trees of which the bodies of these names are."""
    roots = dict.fromkeys(content.root_of(name) for name in names)
    bodies = [content.named(link.name) for root in roots for link in links_of(root, content.bodies)]
    each = {body.name: bending_of(body, standing[body.name]) for body in bodies}
    bending = {name: modes for name, modes in each.items() if modes is not None}
    counted: dict[str, tuple[int, int]] = {}  # the first coordinate of each body, and how many it has without modes
    size = 0
    for body in bodies:
        own = (0 if body.fixed else 6) if body.joint is None else _coordinates(body)
        counted[body.name] = size, own
        size += own + (len(bending[body.name].stiffness) if body.name in bending else 0)
    found = LinearTrees(np.zeros((size, size)), np.zeros((size, size)), {}, {}, {}, {}, [])
    for body in bodies:
        first, own = counted[body.name]
        here = Standing(*map(np.asarray, standing[body.name]))
        if body.joint is None:
            motion = np.zeros((6, size))
            motion[:, first : first + own] = np.eye(6)[:, :own]
            found.roots[body.name] = None if body.fixed else first
        else:
            leader = body.joint.follows if isinstance(body.joint, MimicSection) else body.name
            motion = _carried(found, body, here, *counted[leader])
            stiffness = getattr(body.joint, "stiffness", None)
            reflected = getattr(body.joint, getattr(body.joint, "reflected", ""), None)
            for number in range(first, first + own):
                found.stiffness[number, number] += stiffness or 0.0
                found.mass[number, number] += reflected or 0.0
        found.turns[body.name], found.rest[body.name] = here.turn, motion
        mean = motion
        if body.name in bending:
            modes = bending[body.name]
            at = slice(first + own, first + own + len(modes.stiffness))
            found.bending[body.name] = first + own, modes
            found.mass[at, at] += modes.mass
            found.stiffness[at, at] += np.diag(modes.stiffness)
            mean = motion.copy()
            mean[:, at] += np.kron(np.eye(2), here.turn) @ modes.mean
        if not body.fixed:
            found.mass[:] += float(here.mass) * mean[:3].T @ mean[:3]
            found.mass[:] += mean[3:].T @ (here.turn @ here.inertia @ here.turn.T) @ mean[3:]
    return found


def _coordinates(body: BodySection) -> int:
    """Return how many coordinates the joint of a body has."""
    joint = body.joint
    if isinstance(joint, LockedSection | MimicSection) or joint is None or getattr(joint, "locked", False):
        return 0
    return 3 if joint.motion == "spherical" else 1


def _carried(trees: LinearTrees, body: BodySection, here: Standing, first: int, count: int) -> Motion:
    """Return how the frame at rest of a body moves that a joint holds, the `count` coordinates of which begin at `first`."""
    joint, pose = body.joint, body.start()[0]
    assert joint is not None and body.on is not None
    found = trees.moved(body.on, np.asarray(joint.place(pose).array()))
    if count:
        axis = here.turn @ np.asarray(pose.attitude.matrix().transposed_times(joint.direction()).array())
        rows = slice(0, 3) if joint.motion == "prismatic" else slice(3, 6)
        share = joint.ratio if isinstance(joint, MimicSection) else 1.0
        found[rows, first : first + count] += share * (np.eye(3) if joint.motion == "spherical" else axis[:, None])
    return shifted(found, here.turn @ np.asarray(arm_of(body).array()))


def bending_of(body: BodySection, here: Standing) -> LinkModes | None:
    """Return the modes of a link; None of one that does not bend."""
    flexible = body.flexible
    if flexible is None:
        return None
    if isinstance(flexible, FiniteElementSection):
        return _bending_of_elements(flexible)
    link = flexible if isinstance(flexible, ModeTableSection) else beam_by_modes(body)
    assert link is not None
    kept = np.ones(len(link.mode_names()), bool)
    kinds: tuple[np.ndarray, ...] = ()
    if isinstance(link, UniformBeamSection):
        counts = [max(ENOUGH, count) for count in link.bending_modes]
        kinds = np.arange(counts[0]), counts[0] + np.arange(counts[1])
        own = [np.arange(many) < few for many, few in zip(counts, link.bending_modes, strict=True)]
        kept = np.concatenate([*own, np.ones(link.twist_modes, bool)])
        link = link.model_copy(update={"bending_modes": counts, "damping_ratio": 0.0})
    modes = modes_of(link)
    mass, inertia = float(here.mass), np.asarray(here.inertia)
    shift, frequency = np.asarray(modes.translation) / mass, np.asarray(modes.frequency)
    about = np.asarray(modes.rotation) + np.cross(np.asarray(modes.root), np.asarray(modes.translation))
    turn = np.linalg.solve(inertia, about.T).T
    modal = np.asarray(modes.mass)
    beside = np.diag(modal) - mass * shift @ shift.T - turn @ inertia @ turn.T

    def at(place: Float[np.ndarray, "3"]) -> Motion:
        seat = deflection_of(link, place)
        turned: np.ndarray = np.asarray(seat.turn)
        return np.concatenate([(np.asarray(seat.shift) + np.cross(turned, place - np.asarray(seat.place))).T, turned.T])

    return LinkModes(beside, modal * frequency**2, np.concatenate([shift.T, turn.T]), at, kinds, kept)


def _bending_of_elements(flexible: FiniteElementSection) -> LinkModes:
    """Return the modes of a body by finite elements: free ones, or of a link those where its root is held."""
    modes, held, places = flexible.all_modes(), flexible.held_modes(), flexible.places()
    count = min(len(modes.frequency), MOST_MODES)
    if held is None:
        mass, mean, points = np.eye(count) * modes.inertia[0, 0], np.zeros((6, count)), modes.points
        stiffness = modes.inertia[0, 0] * modes.frequency**2
    else:
        basis, mean, points = held.basis[:, :count], held.mean[:, :count], held.points
        mass, stiffness = modes.inertia[0, 0] * basis.T @ basis, held.frequency**2
    whole = np.arange(count)

    def at(place: Float[np.ndarray, "3"]) -> Motion:
        nearest = int(np.argmin(((places - place) ** 2).sum(axis=1)))
        return shifted(points[6 * nearest : 6 * nearest + 6, :count], place - places[nearest])

    return LinkModes(mass, stiffness[:count], mean, at, (whole,), whole < len(flexible.mode_names()))


def beam_by_modes(body: BodySection) -> UniformBeamSection | None:
    """Return the beam of a link as one that bends by its modes with the root held; None of a link that has none."""
    beam = body.flexible
    if not isinstance(beam, LargeBeamSection):
        return beam if isinstance(beam, UniformBeamSection) else None
    shared = {key: getattr(beam, key) for key in SHARED if getattr(beam, key) is not None}
    root = (-arm_of(body)).array().tolist()
    return UniformBeamSection.model_validate({"root": root, "axis": [1, 0, 0], "across": [0, 1, 0], **shared})
