"""How many modes a link needs, so that the peak force of what acts on it is right within a stated share.

Before a run: a contact, its law taken as a spring that stores as much at its peak, joins two trees of bodies that meet as they
coast. With all modes of their links they are a linear system whose first peak is known with any number of modes. An element
that is a spring is taken as such a contact. Where something holds rigidly, or that is not known, points are to yield under a
constant load but for the same share.

Units: N, N/m, m, kg, rad/s, s.
Source: modal superposition, Meirovitch 1967, Analytical Methods in Vibrations; own construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import Float, jnp
from dockdyn.docking.linear_trees import LinearTrees, Standing, Tied, linear_trees, standing_of
from dockdyn.docking.schema.bodies import BodySection, kind_of
from dockdyn.docking.schema.elements import BushingSection, ElementSection, PlainSpring, StrutSection
from dockdyn.docking.schema.finite_elements import MOST_MODES, FiniteElementSection
from dockdyn.docking.schema.flexible import LargeBeamSection, UniformBeamSection
from dockdyn.integrate.model import over_rows
from dockdyn.mechanics.vector import Vector
from dockdyn.results.linear_contact import (
    DEPTHS,
    FEW,
    LateSpring,
    by_unit_masses,
    equivalent_stiffness,
    first_part,
    free_motion,
    linear_force,
)
from dockdyn.results.plan import delay_of, jit_once
from dockdyn.scenario.tables.part import Part

if TYPE_CHECKING:
    from dockdyn.docking.schema.multibody import SeveralBodiesSection

Beam = UniformBeamSection | LargeBeamSection
STEADY = StrutSection | BushingSection  # elements that are springs all the time
SPEED = 0.05  # m/s, at which bodies meet that begin without moving towards each other
COASTED = 400  # places at which a contact is looked for
CAUTION = 0.8  # of a share: estimates of a peak are right to a quarter of what modes make of it
FAINT = 0.01  # of the force of a contact: what elements feel is looked at above it
SWINGS, SAMPLES = 4, 1000  # in which forces in elements are looked at after a contact, and at how many instants
COARSE = 1.2  # times as many modes: counts at which peaks are looked at first
ROUNDS = 12  # in which a law and its peak come to agree
SMALL = 1e-9  # of the largest: what of a row is rounding
type Row = Float[np.ndarray, "n"]


class FirstPeak(NamedTuple):
    """A contact between two places of trees as a linear system, and the spring between them."""

    trees: LinearTrees
    row: Row  # by how much the contact opens
    mass: float  # kg, with which both meet; NaN where nothing moves
    velocity: Row  # of a unit closing speed
    speed: float  # m/s, with which it closes
    delay: float  # s

    def kinds(self) -> list[tuple[str, int]]:
        """Return what counts of modes there are: the link, and which of its kinds of modes."""
        return [(name, n) for name, (_, bending) in self.trees.bending.items() for n in range(len(bending.kinds))]

    def numbers(self, kind: tuple[str, int]) -> np.ndarray:
        """Return the coordinates that are modes of a kind, the lowest first."""
        first, bending = self.trees.bending[kind[0]]
        found: np.ndarray = first + bending.kinds[kind[1]]
        return found

    def with_counts(self, counts: dict[tuple[str, int], int]) -> np.ndarray:
        """Return which coordinates there are with so many modes of each kind, all of those that are not named."""
        found = np.ones(len(self.row), bool)
        for kind, count in counts.items():
            found[self.numbers(kind)[count:]] = False
        return found

    def kept(self) -> np.ndarray:
        """Return which coordinates the run has."""
        found = np.ones(len(self.row), bool)
        for first, bending in self.trees.bending.values():
            found[first : first + len(bending.kept)] = bending.kept
        return found

    def peak(self, kept: np.ndarray, stiffness: float) -> float:
        """Return the first peak (N) with these coordinates."""
        return float(self._first_forces(kept, stiffness)[0].max())

    def _first_forces(self, kept: np.ndarray, stiffness: float) -> tuple[np.ndarray, float]:
        """Return forces (N) until the contact first ends, and how long that takes (s)."""
        modes = self.trees.modes()
        yielding = 1 / stiffness + float((self.row[modes] ** 2 / self.trees.stiffness.diagonal()[modes]).sum())
        until, longest = (2 * np.pi * np.sqrt(self.mass * soft) + self.delay for soft in (1 / stiffness, yielding))
        mass, springs, velocity = self._system(kept)
        while True:
            forces = linear_force(mass, springs, self.row[kept], velocity, LateSpring(stiffness, self.delay), until)
            found = first_part(forces)
            if until >= longest or len(found) < len(forces):
                last = len(found) - 1
                beyond = found[-1] / (found[-1] - forces[last + 1]) if last > 0 and len(found) < len(forces) else 0.0
                return found, until * (last + float(beyond)) / (len(forces) - 1)
            until *= 2  # it lasts longer, as the modes give way

    def _system(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, Row]:
        """Return mass, stiffness and velocities at the start of these coordinates."""
        own = np.ix_(kept, kept)
        return self.trees.mass[own], self.trees.stiffness[own], self.speed * self.velocity[kept]

    def peaks(self, kept: np.ndarray, stiffness: float) -> Float[np.ndarray, "places"]:
        """Return the first peak (N) with these coordinates, and the largest force (N) in each element that is a spring between
        the trees, until they have swung a few times after the contact; there without delay. NaN where it is not known."""
        if not np.isfinite(stiffness):
            return np.full(1 + len(self.trees.ties), np.nan)
        peak, (mass, springs, velocity) = self.peak(kept, stiffness), self._system(kept)
        if not self.trees.ties:
            return np.array([peak])
        row, lasted = self.row[kept], self._replace(delay=0.0)._first_forces(kept, stiffness)[1]
        swinging = SWINGS * max(_period(mass, tie.rows[:, kept], tie.stiffness) for tie in self.trees.ties)
        held = springs + stiffness * np.outer(row, row)
        during, moving = free_motion(mass, held, (np.zeros(len(row)), velocity), np.linspace(0, lasted, SAMPLES)[1:])
        after, _ = free_motion(mass, springs, (during[-1], moving[-1]), np.linspace(0, swinging, SAMPLES)[1:])
        moved = np.concatenate([during, after])
        forces = [tie.stiffness * (moved @ tie.rows[:, kept].T) for tie in self.trees.ties]
        return np.array([peak, *(np.linalg.norm(force, axis=1).max() for force in forces)])

    def stiffness(self, forces: Float[np.ndarray, "depths"], kept: np.ndarray) -> float:
        """Return the stiffness (N/m), up to its peak with these coordinates, of a law with such `forces` (N) at the `DEPTHS`;
        NaN of one without."""
        found = equivalent_stiffness(forces, float(forces.max()) * 1e-6)
        for _ in range(ROUNDS):
            if not np.isfinite(found * self.mass):
                return np.nan
            found = equivalent_stiffness(forces, self.peak(kept, found))
        return found

    def excess(self, forces: Float[np.ndarray, "depths"]) -> float:
        """Return the share by which the contact's peak by a law is too large with the modes that the run has, below zero too
        small; NaN where it is not known."""
        kept = self.kept(), self.with_counts({})
        few, whole = ((one, self.stiffness(forces, one)) for one in kept)
        if not all(0 < stiffness < np.inf for _, stiffness in (few, whole)):
            return float("nan")
        return self.peak(*few) / self.peak(*whole) - 1.0

    def least_count(self, kind: tuple[str, int], stiffness: float, share: float) -> int:
        """Return the least count of modes of a kind, all others being there, from which on all peaks, and how long the contact
        lasts, differ by at most this share from those with all.

        Peaks are looked at where counts differ by a fifth, and below the last that is right one by one.
        """
        whole = self.with_counts({})
        exact, time = self.peaks(whole, stiffness), self._first_forces(whole, stiffness)[1]

        def is_right(count: int) -> bool:
            kept = self.with_counts({kind: count})
            if abs(self._first_forces(kept, stiffness)[1] - time) > share * time:
                return False
            apart = np.abs(self.peaks(kept, stiffness) - exact)
            return bool((apart <= share * np.maximum(exact, FAINT * exact[0])).all())

        right = len(self.numbers(kind))
        while right > 1 and is_right(down := max(min(int(right / COARSE), right - 1), 1)):
            right = down
        while right > 1 and is_right(right - 1):
            right -= 1
        return right


def _period(mass: np.ndarray, rows: np.ndarray, stiffness: np.ndarray) -> float:
    """Return the longest period (s) in which springs swing against what they move."""
    moved = np.linalg.eigvalsh(
        np.sqrt(stiffness)[:, None] * (rows @ np.linalg.solve(mass, rows.T)) * np.sqrt(stiffness)
    )
    return float(2 * np.pi / np.sqrt(moved[moved > SMALL * moved.max()].min()))


def with_chosen_modes[Content: SeveralBodiesSection](content: Content) -> Content:
    """Return bodies and contacts with as many modes of each link as what acts on its tree needs, where it states none; the
    same where each does."""
    chosen = {body.name: body.flexible for body in content.body if _chooses(body)}
    if not chosen:
        return content
    needed: dict[str, list[tuple[int, ...]]] = {name: [] for name in chosen}
    for one in _acting_on(content, chosen):
        if one.struck is None:
            for name in chosen.keys() & one.bodies:
                needed[name].append(())
        else:
            for name, counts in _needed_by(one, one.struck, chosen).items():
                needed[name].append(counts)
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
    """Return a link with as many modes as each place needs; empty of one of which that is not known."""
    known = [counts for counts in needed if counts]
    if isinstance(flexible, FiniteElementSection):
        most = max((count for (count,) in known), default=0)
        static = flexible.static_count(flexible.peak_error) if len(known) < len(needed) or not known else 0
        return flexible.with_mode_count(min(max(most, static), MOST_MODES))
    counts = [max(counts) for counts in zip(flexible.bending_modes, *known, strict=True)]
    return flexible.model_copy(update={"bending_modes": counts})


class ActingSpring(NamedTuple):
    """What acts between two bodies, as a spring between their trees; without one of which it is not known."""

    bodies: Sequence[str]
    struck: FirstPeak | None = None
    stiffness: float = np.nan  # N/m


def _acting_on(content: SeveralBodiesSection, links: Iterable[str]) -> Iterator[ActingSpring]:
    """Yield what acts between bodies, where it is, at t = 0, on the trees of these links: contacts, then elements that none of
    them shakes."""
    joined = {name: joined_roots(content, name) for name in links}

    def moves(names: Iterable[str]) -> bool:
        roots = {content.root_of(name) for name in names}
        return any(roots & own for own in joined.values())

    sides = [[body for body, _ in content.sides(contact)] for contact in content.contacts]
    contacts = [(number, names) for number, names in enumerate(sides) if moves(names)]
    ties = [one for one in content.ties() if moves(one.between)]
    if not contacts and not ties:
        return
    standing, shaken = _standing_at_start(_without_bending(content)), set[str]()
    for number, names in contacts:
        yield _acting_contact(content, number, names, standing)
        shaken |= set().union(*(joined_roots(content, name) for name in names))
    for tie in ties:
        if not (isinstance(tie, STEADY) and shaken & {content.root_of(name) for name in tie.between}):
            yield from _acting_tie(content, tie, standing)


def joined_roots(content: SeveralBodiesSection, name: str) -> set[str]:
    """Return the roots of the trees that struts and bushings join to that of a body."""
    ends = [{content.root_of(one) for one in tie.between} for tie in content.ties() if isinstance(tie, STEADY)]
    found = {content.root_of(name)}
    while more := [one for one in ends if found & one and not one <= found]:
        found = found.union(*more)
    return found


def joined_trees(content: SeveralBodiesSection, standing: dict[str, Standing], names: Sequence[str]) -> LinearTrees:
    """Return the trees of bodies, with those that struts and bushings join to them."""
    roots = set().union(*(joined_roots(content, name) for name in names))
    trees = linear_trees(content, standing, sorted(roots, key=content.names().index))
    for tie in content.ties():
        if isinstance(tie, STEADY) and content.root_of(tie.between[0]) in roots:
            springs = list(_rows_of(trees, tie, standing))
            for row, stiffness, _ in springs:
                trees.stiffness[:] += stiffness * np.outer(row, row)
            pulling = [(row, stiffness) for row, stiffness, turns in springs if not turns]
            if pulling:
                trees.ties.append(Tied(tie.name, *(np.array(part) for part in zip(*pulling, strict=True))))
    return trees


def _acting_contact(
    content: SeveralBodiesSection, number: int, names: list[str], standing: dict[str, Standing]
) -> ActingSpring:
    contact = content.contacts[number]
    (_, feature), (_, partner) = content.sides(contact)
    if contact.normal is None:
        return ActingSpring(names)
    places = [_place_of(part) for part in (feature, partner)]
    normal, speed = _meeting(feature, partner, places, [standing[name] for name in names])
    struck = struck_at(content, standing, names, places, normal)._replace(speed=speed, delay=delay_of(content))
    along = np.asarray(standing[names[1]].turn).T @ normal
    stiffness = struck.stiffness(np.asarray(elastic_forces(contact.normal, along)), struck.with_counts({}))
    return ActingSpring(names, struck, stiffness) if np.isfinite(stiffness) else ActingSpring(names)


def _acting_tie(
    content: SeveralBodiesSection, tie: ElementSection, standing: dict[str, Standing]
) -> Iterator[ActingSpring]:
    """Yield what an element between two bodies does, along each line in which it is a spring, as if it were struck."""
    trees = linear_trees(content, standing, tie.between)
    springs = _springs_of(tie)
    if springs is None:
        yield ActingSpring(tie.between)
        return
    for row, stiffness, turns in _rows_of(trees, tie, standing):
        struck = _struck(content, trees, tie.between, row, None)
        if not turns and np.isfinite(struck.mass):
            yield ActingSpring(tie.between, struck, stiffness)


def _rows_of(
    trees: LinearTrees, tie: ElementSection, standing: dict[str, Standing]
) -> Iterator[tuple[Row, float, bool]]:
    """Yield by how much an element opens along each line in which it is a spring, its stiffness (N/m or N m), and whether that
    is one of turning."""
    own, other = (Standing(*map(np.asarray, standing[name])) for name in tie.between)
    for spring in _springs_of(tie) or []:
        far = other.place + other.turn @ np.asarray(spring.other)
        at = own.turn.T @ (far - own.place) if spring.own is None else np.asarray(spring.own)
        way = far - own.place - own.turn @ at if spring.way is None else other.turn @ np.asarray(spring.way)
        if spring.stiffness > 0 and np.linalg.norm(way) > 0:
            rows = slice(3, 6) if spring.turns else slice(0, 3)
            ends = zip(tie.between, (at, np.asarray(spring.other)), strict=True)
            first, second = (way @ trees.moved(name, place)[rows] for name, place in ends)
            yield (first - second) / np.linalg.norm(way), float(spring.stiffness), bool(spring.turns)


def struck_at(
    content: SeveralBodiesSection,
    standing: dict[str, Standing],
    names: Sequence[str],
    places: Sequence[Float[np.ndarray, "3"]],
    normal: Float[np.ndarray, "3"],
) -> FirstPeak:
    """Return what two places of bodies (m, body axes) do that meet along a `normal` (inertial, out of the second)."""
    trees = joined_trees(content, standing, names)
    first, second = (normal @ trees.moved(name, place)[:3] for name, place in zip(names, places, strict=True))
    return _struck(content, trees, names, first - second, normal)


def _struck(
    content: SeveralBodiesSection,
    trees: LinearTrees,
    names: Sequence[str],
    row: Row,
    normal: Float[np.ndarray, "3"] | None,
) -> FirstPeak:
    """Return a contact, and how it closes: as one side moves with all that elements join to it, or as it is pushed where that
    can not be, by its lowest mode where joints hold it."""
    modes, velocity = trees.modes(), np.zeros(len(row))
    rigid = np.flatnonzero(~modes)
    sides = [joined_roots(content, name) for name in names]
    if not len(rigid) or np.abs(row[rigid]).max() <= SMALL * np.abs(row).max(initial=0.0):
        soft = np.flatnonzero(modes)
        lower, own = by_unit_masses(*(part[np.ix_(soft, soft)] for part in (trees.mass, trees.stiffness)))
        ways = np.linalg.solve(lower.T, np.linalg.eigh(own)[1])
        moving = np.abs(row[soft] @ ways)
        if not len(moving) or not moving.max() > 0:
            return FirstPeak(trees, row, np.nan, velocity, SPEED, 0.0)
        lowest = int(np.argmax(moving > 1e-6 * moving.max()))
        velocity[soft] = -ways[:, lowest] / (row[soft] @ ways[:, lowest])
        return FirstPeak(trees, row, 1 / float(moving[lowest] ** 2), velocity, SPEED, 0.0)
    pushed = np.linalg.solve(trees.mass[np.ix_(rigid, rigid)], row[rigid])
    mass = 1 / float(row[rigid] @ pushed)
    velocity[rigid] = -mass * pushed
    for side, way in zip(sides, (-1.0, 1.0), strict=True):
        firsts = [first for root in side if (first := trees.roots[root]) is not None]
        if normal is not None and sides[0].isdisjoint(sides[1]) and len(firsts) == len(side):
            velocity[:] = 0.0
            for first in firsts:
                velocity[first : first + 3] = way * normal
            break
    return FirstPeak(trees, row, mass, velocity, SPEED, 0.0)


def _needed_by(acting: ActingSpring, struck: FirstPeak, chosen: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return how many modes of each kind a spring needs of the links that choose them."""
    kinds = [kind for kind in struck.kinds() if kind[0] in chosen]
    found: dict[str, list[int]] = {name: [] for name, _ in kinds}
    for kind in kinds:
        flexible = chosen[kind[0]]
        error = flexible.peak_error if isinstance(flexible, FiniteElementSection) else FEW
        found[kind[0]].append(struck.least_count(kind, acting.stiffness, CAUTION * error / len(kinds)))
    return {name: tuple(counts) for name, counts in found.items()}


def _without_bending(content: SeveralBodiesSection) -> SeveralBodiesSection:
    """Return the same bodies as rigid ones, which only touch."""
    bodies = [body.model_copy(update={"flexible": None}) for body in content.body]
    return content.model_copy(update={"body": bodies})


@jit_once
def _springs_of(tie: ElementSection) -> list[PlainSpring] | None:
    """Return the lines along which an element is a spring."""
    return tie.springs()


@jit_once
def _standing_at_start(content: SeveralBodiesSection) -> dict[str, Standing]:
    """Return all bodies as they are at t = 0."""
    return standing_of(content, *zip(*content.starts().values(), strict=True))


@jit_once
def elastic_forces(section: Part, normal: Float[Any, "3"]) -> Float[Any, "depths"]:
    """Return the elastic force (N) of a law at the `DEPTHS`."""
    law = section.make().along(Vector.of(normal))
    return over_rows(lambda depth: law.force(depth, jnp.zeros(())), jnp.asarray(DEPTHS))


def _place_of(part: Any) -> Float[np.ndarray, "3"]:  # noqa: ANN401, sections
    """Return the place (m, body axes) of a feature, or of a surface's reference."""
    if kind_of(part) == "surface":
        return np.asarray(_reference(part))
    return np.asarray(part.stated(), float).mean(axis=0)


@jit_once
def _reference(section: Part) -> Float[Any, "3"]:
    """Return the place (m) that stands for a surface."""
    found: Float[Any, "3"] = section.make().reference().array()
    return found


def _meeting(
    feature: Any,  # noqa: ANN401, sections
    partner: Any,  # noqa: ANN401
    places: list[Float[np.ndarray, "3"]],
    standing: list[Standing],
) -> tuple[Float[np.ndarray, "3"], float]:
    """Return the normal (inertial) with which a feature meets its partner as both coast, and how fast they do (m/s)."""
    bodies = [Standing(*map(np.asarray, one)) for one in standing]
    levers = [one.turn @ place for one, place in zip(bodies, places, strict=True)]
    at = [one.place + lever for one, lever in zip(bodies, levers, strict=True)]
    moving = [one.velocity + np.cross(one.turn @ one.rate, lever) for one, lever in zip(bodies, levers, strict=True)]
    apart, closing = at[0] - at[1], moving[0] - moving[1]
    speed = float(np.linalg.norm(closing))
    way = -closing if speed > 0 else apart
    normal = way / np.linalg.norm(way) if np.linalg.norm(way) > 0 else bodies[1].turn[0]
    if kind_of(partner) == "surface":
        until = 2 * np.linalg.norm(apart) / speed if speed > 0 else 0.0
        coasted = at[0] + np.linspace(0.0, until, COASTED)[:, None] * closing
        distances, normals = map(np.asarray, _distances(partner, (coasted - bodies[1].place) @ bodies[1].turn))
        touching = np.flatnonzero(distances <= float(np.max(getattr(feature, "radius", 0.0))))
        first = int(touching[0]) if len(touching) else int(np.argmin(distances))
        normal = bodies[1].turn @ normals[first]
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
