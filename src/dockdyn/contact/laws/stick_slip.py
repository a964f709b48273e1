"""Friction that sticks: surfaces that give way elastically along each other before they slip, and remember by how much.

Units: lengths m, speeds m/s, forces N, torques N m, rates rad/s.
Source: Cattaneo 1938 and Mindlin 1949 for what a growing tangential force does; for any history the superposition of Jäger 1995
and Ciavarella 1998 (Popov and Heß 2015, Method of Dimensionality Reduction), here over any normal law that stiffens; for how
the direction of slipping turns, Krieg and Krieg 1977, Journal of Pressure Vessel Technology 99:510 (perfect plasticity at an
even rate).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from dockdyn.contact.laws.friction import length_of, stribeck_coefficient
from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.relative_damping import RelativeLaw
from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.contact.laws.turning_resistance import split_turning
from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar, Vector
from dockdyn.trees import Module, map_leaves

SHALLOWEST, DEEPEST = 1e-8, 0.1  # m: between these depths slices follow each other in one ratio
SLICES = 48
ROUNDING = 1e-12  # of a limit
SPINNING = 2  # the way of moving behind sliding and rolling
LONG_AGO = 1e6  # m, deeper than any contact: of what touched before the run began


class Slices(NamedTuple):
    """A normal law as springs side by side, each of which touches once the depth is that of its place: one of a law that is a
    straight line, else many."""

    places: Float[Array, "slices"]  # m
    stiffness: Float[Array, "slices"]  # N/m

    @staticmethod
    def of(law: NormalLaw) -> Slices:
        """Return the slices whose springs together are `law` at rest, a straight line from each place to the next."""
        still = jnp.zeros(())
        if isinstance(law, RelativeLaw):
            return Slices.of(law.law)
        if isinstance(law, SpringDashpot):
            return Slices(jnp.zeros(1), law.force(jnp.ones(1), still))
        places = slice_places()
        slopes = jnp.diff(jax.vmap(lambda depth: law.force(depth, still))(places)) / jnp.diff(places)
        return Slices(places[:-1], jnp.diff(slopes, prepend=0.0))


def slice_places() -> Float[Array, "places"]:
    """Return the depths (m) between which the force of a law is taken as a straight line."""
    return jnp.concatenate([jnp.zeros(1), jnp.geomspace(SHALLOWEST, DEEPEST, SLICES)])


class FrictionMemory(NamedTuple):
    """What friction remembers of a contact that slides, rolls or spins, in the axes of the second body, or the rate of it.

    All but the path are those of the last step's end; within a step they stay.
    """

    path: Vector  # m, along which the first body has moved so over the second while they touched
    begun: Vector  # m, that path
    stretches: Vector  # m, slices
    normal: Vector
    depth: Scalar  # m
    reach: Scalar  # largest stretch of a slice over how deep that was; below zero where the law pulled
    slipped: Scalar  # N, the sum of what was found in excess as steps ended

    @staticmethod
    def none(slices: int) -> FrictionMemory:
        """Return that of a contact in which nothing is stretched."""
        zero, row = jnp.zeros(()), jnp.zeros(slices)
        nowhere = Vector(zero, zero, zero)
        return FrictionMemory(nowhere, nowhere, Vector(row, row, row), nowhere, jnp.asarray(LONG_AGO), zero, zero)

    def at_rate(self, motion: Vector) -> FrictionMemory:
        """Return the rate of it at a velocity (m/s) along the path."""
        return FrictionMemory(motion, *map_leaves(jnp.zeros_like, tuple(self)[1:]))

    def between(self, start: FrictionMemory) -> FrictionMemory:
        """Return it within a step that began with `start`."""
        return start._replace(path=self.path)

    def turned_stretches(self, normal: Vector, *, spins: bool) -> Vector:
        """Return the stretches (m, slices) carried along with the surface, whose normal has turned by the least turn to
        `normal`."""
        if spins:
            return normal * self.stretches.dot(self.normal)
        cosine = 1 + self.normal.dot(normal)
        some = cosine > 0
        return self.stretches - (self.normal + normal) * (self.stretches.dot(normal) / jnp.where(some, cosine, 1.0))


class FrictionGrip(NamedTuple):
    """How the second body holds the first along its surface, by slices, in the second's axes."""

    moved: Vector  # m, by how much each is stretched, tangential
    pulled: Vector  # m, by how much it pulls: as stretched, and damped, but no more than friction lets it
    kept: Vector  # m, by how much it stays stretched: where it slips no more than friction holds without damping
    within: Float[Array, "slices"]  # m, how deep each touches; zero of what does not
    reach: Scalar  # by how much friction lets one be stretched over how deep that is; below zero where the law pulls
    normal: Vector
    excess: Scalar  # N, of the springs over the largest friction, were they to hold, since the step began

    @property
    def most(self) -> Float[Array, "slices"]:
        """By how much (m) friction lets each be stretched."""
        return most_stretch(self.reach, self.within)


def most_stretch(reach: Scalar, within: Float[Array, "slices"]) -> Float[Array, "slices"]:
    """Return by how much (m) friction lets slices be stretched that are so deep `within` (m)."""
    return jnp.maximum(reach, 0.0) * within


def part_along(vector: Vector, normal: Vector, *, spins: bool) -> Vector:
    """Return the part of a `vector` in which a way of moving is told: along the surface, or, where it `spins`, its normal."""
    along = normal * vector.dot(normal)
    return along if spins else vector - along


def cut_to(moved: Vector, most: Scalar, cut: Bool[Array, "..."]) -> Vector:
    """Return what is stretched so far (m), of what is `cut` no further that way than it may be."""
    size = length_of(moved)
    return moved * jnp.where(cut, most / jnp.where(cut & (size > 0), size, 1.0), 1.0)


def slipping_direction(start: Vector, advance: Vector, first: Scalar, last: Scalar) -> Vector:
    """Return the direction in which stretches point at the end of a step, which slip by then.

    A stretch begins as `start` and is moved on evenly by `advance` (m), until it is as long as it may be, which goes from
    `first` to `last` (m). From then on the angle θ between it and the motion falls by d/|s| sin θ as it moves by d, so
    tan θ/2 falls exponentially. The error of a step is of third order in its length.
    """
    growth = last - first
    square = advance.dot(advance) - growth**2
    half, short = start.dot(advance) - first * growth, jnp.minimum(start.dot(start) - first**2, 0.0)
    root = _root_of(half**2 - square * short)
    outwards = half > 0
    until = jnp.where(
        outwards,
        -short / jnp.where(outwards, half + root, 1.0),
        (root - half) / jnp.where(square > 0, square, 1.0),
    )
    until = jnp.clip(until, 0.0, 1.0)
    reached, motion = direction_of(start + advance * until, advance), direction_of(advance, start)
    mean = first + growth * (1 + until) / 2
    slid = length_of(advance) * (1 - until)
    turned = jnp.exp(-slid / jnp.where(mean > 0, mean, 1.0))
    cosine = reached.dot(motion)
    ahead, behind = 1 + cosine, turned**2 * (1 - cosine)
    whole = ahead + behind
    some = whole > 0
    share = 1 / jnp.where(some, whole, 1.0)
    found = motion * ((ahead - behind) * share) + (reached - motion * cosine) * (2 * turned * share)
    return map_leaves(lambda a, b: jnp.where(some, a, b), found, reached)


def _root_of(square: Scalar) -> Scalar:
    """Return the root of what is not below zero but for rounding, without a slope at zero."""
    some = square > 0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def direction_of(vector: Vector, otherwise: Vector, short: float = 0.0) -> Vector:
    """Return a direction: of a second vector where the first is no longer than `short`, and zero where that is zero, too."""
    size, spare = length_of(vector), length_of(otherwise)
    known, some = size > short, spare > 0
    along, instead = vector / jnp.where(known, size, 1.0), otherwise / jnp.where(some, spare, 1.0)
    return map_leaves(lambda a, b: jnp.where(known, a, b), along, instead)


class StickSlip(Module):
    """Springs along the surface, each of which slips where its force would exceed μ times what its slice presses.

    Of a normal law that is a straight line it is one tangential spring with Coulomb's limit; of Hertz's law it is the contact
    of Cattaneo and Mindlin, whose edge slips before all does. While nothing slips the force is elastic: what rests stays.
    Against rolling and spinning the same springs hold once more, each at a lever.
    """

    coefficient: Float[Array, ""]  # μ of what slips
    stiffness_ratio: Float[Array, ""]  # of the tangential to the normal stiffness
    static_coefficient: Float[Array, ""]  # μ of what does not slip yet
    stribeck_speed: Float[Array, ""]  # m/s, at which 1/e of the difference of both is left
    retardation_time: Float[Array, ""]  # s, τ: what sticks is damped by τ times its stiffness
    levers: tuple[Scalar, Scalar] | None = None  # m, at which it holds against rolling and spinning, too
    slices: Slices | None = None  # once it is known what presses

    def with_spring(self, stiffness: Scalar) -> StickSlip:
        """Return the friction with one tangential spring of a `stiffness` (N/m), whatever presses."""
        return replace(self, stiffness_ratio=jnp.ones(()), slices=Slices(jnp.zeros(1), jnp.reshape(stiffness, 1)))

    def under(self, law: NormalLaw) -> StickSlip:
        """Return the friction of a contact that presses by a `law`."""
        return self if self.slices is not None else replace(self, slices=Slices.of(law))

    def lossless(self) -> bool:
        """Return whether it takes no energy, as where nothing sticks; asked of numbers, never while JAX traces."""
        return bool((self.coefficient == 0) & (self.static_coefficient == 0))

    def passive(self) -> bool:
        """Return whether it never gives more than it took; asked of numbers, never while JAX traces."""
        return bool((self.coefficient >= 0) & (self.static_coefficient >= 0))

    def unstretched(self) -> tuple[FrictionMemory, ...]:
        """Return what it remembers at first: of sliding, and of rolling and spinning where it resists them."""
        none = FrictionMemory.none(self._known.places.shape[0])
        return (none,) if self.levers is None else (none, none, none)

    @property
    def _known(self) -> Slices:
        assert self.slices is not None
        return self.slices

    def limit(self, speed: Scalar) -> Scalar:
        """Return μ at a sliding `speed` (m/s)."""
        return stribeck_coefficient(self.coefficient, self.static_coefficient, self.stribeck_speed, speed)

    def turns(self) -> int:
        """Return how many quantities turn where a step must end: what has slipped, for each way of moving."""
        return 1 if self.levers is None else SPINNING + 1

    def asks_for_steps(self) -> bool:
        """Return whether what it remembers is decided as steps end, however long they are: which slices have slipped is."""
        return True

    def resists_turning(self) -> bool:
        """Return whether it resists that the bodies roll or spin over each other."""
        return self.levers is not None

    def motions(self, normal: Vector, sliding: Vector, turning: Vector) -> tuple[Vector, ...]:
        """Return how fast (m/s) the first body moves over the second: it slides, and, at their levers, rolls and spins.

        `turning` is its angular velocity against the second (rad/s).
        """
        if self.levers is None:
            return (sliding,)
        parts = zip(split_turning(normal, turning), self.levers, strict=True)
        return sliding, *(part * lever for part, lever in parts)

    def grips(
        self,
        past: tuple[FrictionMemory, ...],
        normal: Vector,
        depth: Scalar,
        pressing: Scalar,
        motions: tuple[Vector, ...],
    ) -> tuple[FrictionGrip, ...]:
        """Return how it holds at a `depth` (m) under a normal force (N) by the law, for each of the `motions` (m/s)."""
        return tuple(
            self._grip(before, normal, depth, pressing, motion, spins=way == SPINNING)
            for way, (before, motion) in enumerate(zip(past, motions, strict=True))
        )

    def _grip(
        self, past: FrictionMemory, normal: Vector, depth: Scalar, pressing: Scalar, motion: Vector, *, spins: bool
    ) -> FrictionGrip:
        places = self._known.places
        within, reach = self.reach(depth, pressing, motion)
        # what has come to touch, or to press, within the step is stretched by what has been slid since
        later = (places > past.depth) & (within > 0)
        since = jnp.where(later, within / jnp.where(later, depth - past.depth, 1.0), 1.0)
        pressed = (past.reach < 0) & (reach > 0)
        since = jnp.minimum(since, jnp.where(pressed, reach / jnp.where(pressed, reach - past.reach, 1.0), 1.0))
        start = past.turned_stretches(normal, spins=spins)
        advance = part_along(past.path - past.begun, normal, spins=spins) * since
        moved, most = start + advance, most_stretch(reach, within)
        # as a step begins what slips is at its limit but for rounding: its slopes are those of what slips
        cut = length_of(moved) > most * (1 - ROUNDING)
        kept = cut_to(moved, most, cut)
        if not spins:
            first = most_stretch(past.reach, jnp.maximum(past.depth - places, 0.0))
            slipped = slipping_direction(start, advance, first, most) * most
            kept = map_leaves(lambda a, b: jnp.where(cut, a, b), slipped, moved)
        beyond = jnp.where((within > 0) & cut, length_of(moved) - most, 0.0)
        excess = self.stiffness_ratio * jnp.sum(self._known.stiffness * beyond)
        return FrictionGrip(moved, *self.held(kept, within, most, motion), within, reach, normal, excess)

    def reach(self, depth: Scalar, pressing: Scalar, motion: Vector) -> tuple[Float[Array, "slices"], Scalar]:
        """Return how deep (m) each slice touches at a `depth` (m), and the `reach` that `FrictionGrip` has under a normal force
        (N) while the first body moves over the second (m/s)."""
        places, stiffness = self._known
        within = jnp.maximum(depth - places, 0.0)
        elastic = jnp.sum(stiffness * within)
        bears = elastic > 0
        limit = self.limit(length_of(motion)) / self.stiffness_ratio
        return within, jnp.where(bears, limit * (pressing / jnp.where(bears, elastic, 1.0)), 0.0)

    def held(self, kept: Vector, within: Scalar, most: Scalar, motion: Vector) -> tuple[Vector, Vector]:
        """Return by how much (m) a slice pulls, and by how much it stays stretched, as `FrictionGrip` has them, of what is
        stretched so far (m), cut where it is; or the same of many."""
        # the stretch is cut before the damper adds to it, as it is when the step ends: else the force would turn there
        held = kept + motion * self.retardation_time
        size = length_of(held)
        slips = size > most * (1 - ROUNDING)
        share = jnp.where(slips, most / jnp.where(slips, size, 1.0), 1.0)
        # the damper's part of the force is lost, and leaves none the other way
        return held * share, kept * jnp.where(within > 0, 1.0, 0.0)

    def memory_rates(
        self,
        past: tuple[FrictionMemory, ...],
        motions: tuple[Vector, ...],
        turning_normal: Callable[[], tuple[Vector, Vector]],
        grips: Callable[[], tuple[FrictionGrip, ...]],
    ) -> tuple[FrictionMemory, ...]:
        """Return the rate of what it remembers at velocities (m/s) that are told as `motions`, however the normal turns and
        it grips."""
        return tuple(before.at_rate(motion) for before, motion in zip(past, motions, strict=True))

    def slipped(self, past: tuple[FrictionMemory, ...], grips: tuple[FrictionGrip, ...]) -> tuple[Scalar, ...]:
        """Return what has slipped (N) for each way of moving: a step must end beside its peaks."""
        return tuple(before.slipped + grip.excess for before, grip in zip(past, grips, strict=True))

    def load(self, grips: tuple[FrictionGrip, ...]) -> tuple[Vector, Vector | None]:
        """Return the force (N) and, where it resists turning, the torque (N m) on the first body, in the second's axes."""
        return self._load_of(self._pull(grip) for grip in grips)

    def _load_of(self, pulls: Iterable[Vector]) -> tuple[Vector, Vector | None]:
        force, *turning = pulls
        if self.levers is None:
            return force, None
        roll, spin = (pull * lever for pull, lever in zip(turning, self.levers, strict=True))
        return force, roll + spin

    def _pull(self, grip: FrictionGrip) -> Vector:
        pull = grip.pulled * (self.stiffness_ratio * self._known.stiffness)
        return -Vector(jnp.sum(pull.x), jnp.sum(pull.y), jnp.sum(pull.z))

    def renewed(
        self, past: tuple[FrictionMemory, ...], grips: tuple[FrictionGrip, ...], depth: Scalar, touches: Scalar
    ) -> tuple[FrictionMemory, ...]:
        """Return what it remembers where a step ends, at a `depth` (m): what has slipped is stretched no more than friction
        holds, which is nothing of springs that no longer press, whether it `touches` or not."""
        return tuple(
            FrictionMemory(
                before.path, before.path, grip.kept, grip.normal, depth, grip.reach, before.slipped + grip.excess
            )
            for before, grip in zip(past, grips, strict=True)
        )

    def energy_in(self, grips: tuple[FrictionGrip, ...]) -> Scalar:
        """Return the energy (J) of what is stretched along the surface, and by turning over it."""
        stiffness = self.stiffness_ratio * self._known.stiffness
        return sum((jnp.sum(stiffness * grip.kept.dot(grip.kept)) / 2 for grip in grips), jnp.zeros(()))

    def resting_load(
        self, depth: Scalar, pressing: Scalar, stretches: Sequence[Vector], rates: Sequence[Vector]
    ) -> tuple[Vector, Vector | None]:
        """Return the force (N) and, where it resists turning, the torque (N m) on the first body of what sticks at a `depth`
        (m), whatever presses (N), and was moved so far (m) and moves so fast (m/s) as `motions` are told."""
        both = zip(stretches, rates, strict=True)
        held = (moved + rate * self.retardation_time for moved, rate in both)
        return self._load_of(each * -self.stiffness(depth) for each in held)

    def stiffness(self, depth: Scalar) -> Scalar:
        """Return the stiffness (N/m) along the surface of what sticks at a `depth` (m)."""
        places, stiffness = self._known
        return self.stiffness_ratio * jnp.sum(jnp.where(places <= depth, stiffness, 0.0))
