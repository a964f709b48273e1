"""How many modes a link needs, so that the peak force of its contacts is right within a stated share.

Before a run: a contact, its law taken as a spring that stores as much at its peak, joins two bodies that meet as they coast.
Along its normal they are one mass and modes, a small linear system whose first peak is known with any number of modes.
Where no such contact of a body by finite elements is known its points are to yield under a constant load but for the same
share.

Units: N, N/m, m, kg, rad/s, s.
Source: modal superposition, Meirovitch 1967, Analytical Methods in Vibrations; residual flexibility, MacNeal 1971, Computers &
Structures 1:581; own construction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float, jnp
from dockdyn.docking.linked_trees import arm_of
from dockdyn.docking.schema.bodies import BodySection, kind_of
from dockdyn.docking.schema.finite_elements import MOST_MODES, FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, UniformBeamSection
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.trees.screws import cross_product
from dockdyn.mechanics.vector import Vector
from dockdyn.results.linear_contact import (
    DEPTHS,
    ENOUGH,
    FEW,
    LateSpring,
    equivalent_stiffness,
    first_peak,
    linear_force,
)
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.scenario.tables.part import Part

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection
    from dockdyn.mechanics.rigid_body import Pose, Twist

SHARED = (
    "length",
    "mass_per_length",
    "bending_stiffness",
    "torsional_stiffness",
    "polar_inertia",
    "bending_modes",
    "twist_modes",
)  # keys of both kinds of beams
Beam = UniformBeamSection | LargeBeamSection
SPEED = 0.05  # m/s, at which bodies meet that begin without moving towards each other
COASTED = 400  # places at which a contact is looked for
ALL = (MOST_MODES, MOST_MODES)
CAUTION = 0.8  # of a share: estimates of a peak are right to a quarter of what modes make of it
COARSE = 1.2  # times as many modes: counts at which peaks are looked at first
ROUNDS = 12  # in which a law and its peak come to agree
type Row = Float[np.ndarray, "modes"]


class Side(NamedTuple):
    """The modes of a body along the normal of a contact, those that a run has first."""

    shape: Row  # m per unit of modal coordinate
    mass: Row  # kg
    frequency: Row  # rad/s


class FirstPeak(NamedTuple):
    """A contact between two bodies: one mass, the modes of both, and the spring between them."""

    mass: float  # kg, of both together, were they rigid
    sides: tuple[Side, Side]
    speed: float  # m/s
    delay: float  # s

    def peak(self, counts: tuple[int, int], stiffness: float) -> float:
        """Return the first peak (N) with so many of the modes of each body."""
        parts = [[part[:count] for part in side] for side, count in zip(self.sides, counts, strict=True)]
        shape, mass, frequency = (np.concatenate(both) for both in zip(*parts, strict=True))
        spring = LateSpring(stiffness, self.delay)
        springs = np.diag(np.concatenate([[0.0], mass * frequency**2]))
        row, velocity = np.concatenate([[1.0], -shape]), np.zeros(1 + len(mass))
        velocity[0] = -self.speed
        yielding = 1 / stiffness + float((shape**2 / (mass * frequency**2)).sum())
        until = 2 * np.pi * np.sqrt(self.mass * yielding) + self.delay
        whole = np.diag(np.concatenate([[self.mass], mass]))
        return first_peak(linear_force(whole, springs, row, velocity, spring, until))

    def stiffness(self, forces: Float[np.ndarray, "depths"]) -> float:
        """Return the stiffness (N/m), up to its peak, of a law with these `forces` (N) at the `DEPTHS`; NaN of one without."""
        found = equivalent_stiffness(forces, float(forces.max()) * 1e-6)
        for _ in range(ROUNDS):
            if not np.isfinite(found * self.mass):
                return np.nan
            found = equivalent_stiffness(forces, self.peak(ALL, found))
        return found

    def least_count(self, side: int, stiffness: float, share: float, least: int = 1) -> int:
        """Return the least count of modes of a side, from the `least` on, the other having all, from which on the first peak
        differs by at most this share from that with all.

        Peaks are looked at where counts differ by a fifth, and below the last that is right one by one.
        """
        exact = self.peak(ALL, stiffness)

        def is_right(count: int) -> bool:
            counts = (count, MOST_MODES) if side == 0 else (MOST_MODES, count)
            return abs(self.peak(counts, stiffness) - exact) <= share * exact

        right = min(len(self.sides[side].mass), MOST_MODES)
        while right > least and is_right(down := max(min(int(right / COARSE), right - 1), least)):
            right = down
        while right > least and is_right(right - 1):
            right -= 1
        return right


def with_chosen_modes[Content: SeveralBodiesSection](content: Content) -> Content:
    """Return bodies and contacts with as many modes of each link as its contacts need, where it states none; the same where
    each does."""
    chosen = {body.name: body.flexible for body in content.body if _chooses(body)}
    if not chosen:
        return content
    touching = [
        (number, names)
        for number, contact in enumerate(content.contacts)
        if chosen.keys() & (names := {name for name, _ in content.sides(contact)})
    ]
    if not touching and all(isinstance(one, Beam) for one in chosen.values()):
        return content
    needed: dict[str, list[tuple[int, ...]]] = {name: [] for name in chosen}
    starts = content.starts()
    for number, names in touching:
        found = _needed_by(content, number, starts)
        for name in names & chosen.keys():
            needed[name].append(found.get(name, ()))
    bodies = [
        body.model_copy(update={"flexible": _with_modes(chosen[body.name], needed[body.name])})
        if body.name in chosen
        else body
        for body in content.body
    ]
    return content.model_copy(update={"body": bodies})


def _chooses(body: BodySection) -> bool:
    flexible = body.flexible
    if isinstance(flexible, FiniteElementSection):
        return flexible.chooses_modes()
    return isinstance(flexible, Beam) and "bending_modes" not in flexible.model_fields_set


def _with_modes(flexible: Any, needed: list[tuple[int, ...]]) -> Any:  # noqa: ANN401, of any kind
    """Return a link with as many modes as each contact needs; empty of one of which that is not known."""
    known = [counts for counts in needed if counts]
    if isinstance(flexible, FiniteElementSection):
        if len(known) < len(needed) or not known:
            return flexible.with_mode_count(min(flexible.static_count(flexible.peak_error), MOST_MODES))
        return flexible.with_mode_count(max(count for (count,) in known))
    counts = [max(counts) for counts in zip(flexible.bending_modes, *known, strict=True)]
    return flexible.model_copy(update={"bending_modes": counts})


def _needed_by(
    content: SeveralBodiesSection, number: int, starts: dict[str, tuple[Pose, Twist]]
) -> dict[str, tuple[int, ...]]:
    """Return how many modes of each link that chooses them a contact needs, of a beam along both directions; nothing where that
    is not known."""
    contact = content.contacts[number]
    sides = content.sides(contact)
    bodies = [content.named(name) for name, _ in sides]
    if contact.normal is None:
        return {}
    places = [_place_of(part) for _, part in sides]
    poses = [starts[body.name] for body in bodies]
    normal, speed = _meeting(sides[0][1], sides[1][1], places, poses)
    along = [_array(pose.attitude.matrix().transposed_times(Vector.of(jnp.asarray(normal)))) for pose, _ in poses]
    both = sides_of(bodies, places, along)
    if any(isinstance(body.flexible, Beam) for body in bodies):
        mass = float(_rigid_masses(_without_bending(content))[number])
    else:
        mass = mass_of_two(bodies, places, along)
    if not 0 < mass < np.inf:  # both are held
        mass = _lowest_mass(both)
    struck = FirstPeak(mass, both, speed, delay_of(content))
    stiffness = struck.stiffness(np.asarray(elastic_forces(contact.normal, jnp.asarray(along[1]))))
    if not np.isfinite(stiffness):
        return {}
    share = CAUTION / sum(body.flexible is not None for body in bodies)
    found: dict[str, tuple[int, ...]] = {}
    for side, body in enumerate(bodies):
        if not _chooses(body):
            continue
        if isinstance(body.flexible, FiniteElementSection):
            found[body.name] = (struck.least_count(side, stiffness, share * body.flexible.peak_error),)
        else:
            found[body.name] = _counts_of_beam(struck, side, stiffness, share * FEW)
    return found


def _lowest_mass(sides: Sequence[Side]) -> float:
    """Return the mass (kg) that the lowest mode of two held bodies has where they touch, as one that moves freely in a short
    contact; NaN where none moves that place."""
    shape, mass, frequency = (np.concatenate(both) for both in zip(*sides, strict=True))
    moving = np.flatnonzero(np.abs(shape) > 1e-6 * np.abs(shape).max(initial=0.0))
    lowest = moving[np.argmin(frequency[moving])] if len(moving) else None
    return np.nan if lowest is None else float(mass[lowest] / shape[lowest] ** 2)


def _counts_of_beam(struck: FirstPeak, which: int, stiffness: float, share: float) -> tuple[int, int]:
    """Return how many modes a beam needs along each direction of bending; of its side all along the first come first, then
    those along the second."""
    side = struck.sides[which]
    whole, found = np.arange(len(side.mass)), [0, 0]
    for direction in (0, 1):
        own = whole // ENOUGH == direction  # twist is behind both
        order = np.concatenate([whole[~own], whole[own]])
        sides = list(struck.sides)
        sides[which] = Side(*(part[order] for part in side))
        first = int((~own).sum())
        turned = struck._replace(sides=(sides[0], sides[1]))
        found[direction] = turned.least_count(which, stiffness, share / 2, first + 1) - first
    return found[0], found[1]


def _without_bending(content: SeveralBodiesSection) -> SeveralBodiesSection:
    """Return the same bodies as rigid ones, which only touch."""
    bodies = [body.model_copy(update={"flexible": None}) for body in content.body]
    return content.model_copy(update={"body": bodies})


@jit_once
def _rigid_masses(content: SeveralBodiesSection) -> Float[Any, "contacts"]:
    """Return the effective mass (kg) of each contact at t = 0."""
    from dockdyn.mechanism.effective_mass import effective_masses

    model = content.acting_in_pairs()
    found: Float[Any, "contacts"] = effective_masses(model, model.initial())[0]
    return found


@jit_once
def elastic_forces(section: Part, normal: Float[Any, "3"]) -> Float[Any, "depths"]:
    """Return the elastic force (N) of a law at the `DEPTHS`."""
    law = section.make().along(Vector.of(normal))
    return over_rows(lambda depth: law.force(depth, jnp.zeros(())), jnp.asarray(DEPTHS))


def _array(vector: Vector) -> Float[np.ndarray, "3"]:
    return np.asarray(vector.array(), float)


def _place_of(part: Any) -> Float[np.ndarray, "3"]:  # noqa: ANN401, sections
    """Return the place (m, body axes) of a feature, or of a surface's reference."""
    if kind_of(part) == "surface":
        return _array(part.make().reference())
    return np.asarray(part.stated(), float).mean(axis=0)


def _meeting(
    feature: Any,  # noqa: ANN401, sections
    partner: Any,  # noqa: ANN401
    places: list[Float[np.ndarray, "3"]],
    poses: list[tuple[Pose, Twist]],
) -> tuple[Float[np.ndarray, "3"], float]:
    """Return the normal (inertial) with which a feature meets its partner as both coast, and how fast they do (m/s)."""
    turns = [np.asarray(pose.attitude.matrix().array()) for pose, _ in poses]
    levers = [turn @ place for turn, place in zip(turns, places, strict=True)]
    at = [_array(pose.position) + lever for (pose, _), lever in zip(poses, levers, strict=True)]
    moving = [
        _array(twist.velocity) + np.cross(turn @ _array(twist.rate), lever)
        for (_, twist), turn, lever in zip(poses, turns, levers, strict=True)
    ]
    apart, closing = at[0] - at[1], moving[0] - moving[1]
    speed = float(np.linalg.norm(closing))
    way = -closing if speed > 0 else apart
    normal = way / np.linalg.norm(way) if np.linalg.norm(way) > 0 else turns[1][0]
    if kind_of(partner) == "surface":
        until = 2 * np.linalg.norm(apart) / speed if speed > 0 else 0.0
        coasted = at[0] + np.linspace(0.0, until, COASTED)[:, None] * closing
        seen = (coasted - _array(poses[1][0].position)) @ turns[1]
        distances, normals = _distances(partner, jnp.asarray(seen))
        touching = np.flatnonzero(np.asarray(distances) <= float(np.max(getattr(feature, "radius", 0.0))))
        first = int(touching[0]) if len(touching) else int(np.argmin(np.asarray(distances)))
        normal = turns[1] @ np.asarray(normals)[first]
    approaching = abs(float(closing @ normal))
    return normal / np.linalg.norm(normal), approaching if approaching > 0 else SPEED


@jit_once
def _distances(section: Part, places: Float[Any, "places 3"]) -> tuple[Float[Any, "places"], Float[Any, "places 3"]]:
    """Return how far (m) places are from a surface, and its normals there, body axes."""
    surface = section.make()

    def look(place: Float[Any, "3"]) -> tuple[Float[Any, ""], Float[Any, "3"]]:
        distance, normal = surface.distance_and_normal(Vector.of(place))
        return distance, normal.array()

    found: tuple[Float[Any, "places"], Float[Any, "places 3"]] = over_rows(look, places)
    return found


def mass_of_two(
    bodies: Sequence[BodySection], places: Sequence[Float[np.ndarray, "3"]], normals: Sequence[Float[np.ndarray, "3"]]
) -> float:
    """Return the effective mass (kg) of two rigid bodies along the normal of their contact, of which place (m) and normal are
    in the axes of each; infinite of two that are fixed."""
    mobility = 0.0
    for body, place, normal in zip(bodies, places, normals, strict=True):
        if not body.fixed:
            lever, inertia = np.cross(place, normal), np.asarray(body.inertia, float)
            mobility += 1 / float(body.mass)
            mobility += float(lever @ np.linalg.solve(inertia, lever)) if np.any(inertia) else 0.0
    return 1 / mobility if mobility else np.inf


def sides_of(
    bodies: Sequence[BodySection], places: Sequence[Float[np.ndarray, "3"]], normals: Sequence[Float[np.ndarray, "3"]]
) -> tuple[Side, Side]:
    """Return the modes of two bodies along the normal of their contact; of a beam eight along each direction."""
    first, second = (_side(*each) for each in zip(bodies, places, normals, strict=True))
    return first, second


def _side(body: BodySection, place: Float[np.ndarray, "3"], normal: Float[np.ndarray, "3"]) -> Side:
    """Return the modes of a body along a `normal` at a `place` (m), both in its axes."""
    if isinstance(body.flexible, FiniteElementSection):
        modes = body.flexible.all_modes()
        shape, frequency = body.flexible.shapes_along(modes, place, normal), modes.frequency
        return Side(shape, np.full(len(frequency), modes.inertia[0, 0]), frequency)
    beam = beam_by_modes(body)
    if beam is None:
        return Side(*np.zeros((3, 0)))
    whole = beam.model_copy(update={"bending_modes": [ENOUGH, ENOUGH], "damping_ratio": 0.0})
    return Side(*map(np.asarray, modes_at_point(whole, jnp.asarray(place), jnp.asarray(normal))))


@jit_once
def modes_at_point(
    section: UniformBeamSection, point: Float[Any, "3"], normal: Float[Any, "3"]
) -> tuple[Float[Any, "modes"], ...]:
    """Return shape, modal mass and frequency of all modes of a beam where it is touched."""
    seat, modes = section.deflection(point), section.link().modes()
    shape = (seat.shift + cross_product(seat.turn, jnp.broadcast_to(point - seat.place, seat.turn.shape))) @ normal
    return shape, modes.mass, modes.frequency


def beam_by_modes(body: BodySection) -> UniformBeamSection | None:
    """Return the beam of a link as one that bends by its modes with the root held; None of a link that has none."""
    beam = body.flexible
    if not isinstance(beam, LargeBeamSection):
        return beam if isinstance(beam, UniformBeamSection) else None
    shared = {key: getattr(beam, key) for key in SHARED if getattr(beam, key) is not None}
    root = (-arm_of(body)).array().tolist()
    return UniformBeamSection.model_validate({"root": root, "axis": [1, 0, 0], "across": [0, 1, 0], **shared})
