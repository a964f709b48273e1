"""A tree of rigid links that stays in the x–y plane, in closed form: what a time loop of microseconds needs.

The same numbers as in `mechanics.tree`, and the same kinetic energy (a test compares them). Quantities that every link has
are columns: of a small tree one named scalar a link, which XLA fuses into few kernels; of a large one an array, since
scalars would take XLA minutes to compile.

Units: SI: kg, m, rad, J, N m s.
Source: kinetic energy of a chain about its centre of mass, own derivation; checked against `mechanics.tree`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn import backend
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.trees.assembly import rigid_parts
from dockdyn.mechanics.trees.composite_bodies import Tree
from dockdyn.mechanics.vector import Scalar, once

SMALL, SMALL_NATIVE = 8, 32  # links up to which columns are scalars: for XLA, and for dockdyn's own machine code
Number = Any  # of JAX, or of Python where it is zero
STRETCH = 3  # of them between which sums are stored: what XLA copies into every kernel doubles with every link


@dataclass(frozen=True)
class Scalars:
    """A column of scalars that are worked one by one; the number 0 costs nothing."""

    values: tuple[Any, ...]

    def with_each(self, other: Scalars | Number, change: Callable[[Number, Number], Number]) -> Scalars:
        others = other.values if isinstance(other, Scalars) else (other,) * len(self.values)
        return Scalars(tuple(change(a, b) for a, b in zip(self.values, others, strict=True)))

    def __add__(self, other: Scalars | Number) -> Scalars:
        return self.with_each(other, lambda a, b: b if none(a) else a if none(b) else a + b)

    def __sub__(self, other: Scalars | Number) -> Scalars:
        return self.with_each(other, lambda a, b: a if none(b) else a - b)

    def __mul__(self, other: Scalars | Number) -> Scalars:
        return self.with_each(other, lambda a, b: 0 if none(a) or none(b) else a * b)

    __radd__, __rmul__ = __add__, __mul__

    def __getitem__(self, link: int) -> Number:
        return self.values[link]

    def sum(self) -> Number:
        return sum(value for value in self.values if not none(value))


def none(value: object) -> bool:
    """Whether a sum has no terms: then it is Python's zero."""
    return isinstance(value, int) and value == 0


Column = Any  # one number a link: an array or `Scalars`


class Pair(NamedTuple):
    """A vector in the plane, or a turn by (cosine, sine); of scalars or columns."""

    x: Any
    y: Any

    def plus(self, other: Pair) -> Pair:
        return Pair(self.x + other.x, self.y + other.y)

    def minus(self, other: Pair) -> Pair:
        return Pair(self.x - other.x, self.y - other.y)

    def times(self, factor: Number) -> Pair:
        return Pair(self.x * factor, self.y * factor)

    def turned(self, other: Pair) -> Pair:
        """`other` turned by this."""
        return Pair(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def turned_back(self, other: Pair) -> Pair:
        return Pair(self.x * other.x + self.y * other.y, self.x * other.y - self.y * other.x)

    def dot(self, other: Pair) -> Column:
        return self.x * other.x + self.y * other.y

    def spun(self, rate: Column) -> Pair:
        """Velocity by turning at `rate`."""
        return Pair(self.y * rate * -1.0, self.x * rate)

    def each(self, change: Callable[[Any], Any]) -> Pair:
        return Pair(change(self.x), change(self.y))


class Placed(NamedTuple):
    """Columns of links against the base, in base axes; rates count the base's turning, not its translation."""

    turn: Pair
    rate: Column  # rad/s
    origin: Pair  # m
    centre: Pair  # m, of mass
    drifting: Pair  # m/s, of it


class PlanarTree(eqx.Module):
    """Links with revolute, prismatic and locked joints. Vectors are as with all joints at zero, in base axes."""

    mass: Float[Array, "links"]
    inertia: Float[Array, "links"]  # kg m², about z through the centre of mass
    tensor: Float[Array, "links 3 3"]  # kg m², the whole of it
    mount: Float[Array, "links 2"]  # m, of the link's origin, from the parent's
    centre: Float[Array, "links 2"]  # m, of mass, from the link's origin
    axis: Float[Array, "links"]  # +1 or −1: sense in which a hinge turns
    slide: Float[Array, "links 2"]  # axis of a prismatic joint
    still: Float[Array, "links 3 3"]  # rotation of the link's frame with all joints at zero
    parents: tuple[int, ...] = eqx.field(static=True)
    joints: tuple[str, ...] = eqx.field(static=True)  # kinds

    @staticmethod
    def of(tree: Tree) -> PlanarTree:
        """From a tree of rigid links that stays in the plane (its scenario sees to that)."""
        links, parents = tree.links, tree.layout.parents
        turns = [jnp.eye(3)]
        for link, parent in list(enumerate(parents))[1:]:
            turns.append(turns[parent] @ links.mount_turn[link])
        turn = jnp.stack(turns)
        carrier = turn[np.maximum(np.array(parents), 0)]
        mass, centre, about = rigid_parts(links.inertia)
        tensor = jnp.einsum("lij,ljk,lmk->lim", turn, about, turn)
        axis = jnp.einsum("lij,lj->li", turn, links.axis)
        return PlanarTree(
            mass=mass,
            inertia=tensor[:, 2, 2],
            tensor=tensor,
            mount=jnp.einsum("lij,lj->li", carrier, links.mount)[:, :2],
            centre=jnp.einsum("lij,lj->li", turn, centre)[:, :2],
            axis=axis[:, 2],
            slide=axis[:, :2],
            still=turn,
            parents=parents,
            joints=("locked", *tree.layout.joints[1:]),
        )

    @property
    def small(self) -> bool:
        return len(self.parents) <= (SMALL_NATIVE if backend.native() else SMALL)

    def column(self, values: Float[Array, "links"]) -> Column:
        if not self.small:
            return values
        return Scalars(tuple(values[link] for link in range(len(self.parents))))

    def columns(self, values: Float[Array, "links 2"]) -> Pair:
        return Pair(self.column(values[:, 0]), self.column(values[:, 1]))

    def of_joints(self, values: Float[Array, "joints"], kind: str) -> Column:
        """Coordinates of the joints of one kind, zero for other links."""
        moving = [link for link, joint in enumerate(self.joints) if joint != "locked"]
        if self.small:
            given = {link: values[at] for at, link in enumerate(moving) if self.joints[link] == kind}
            return Scalars(tuple(given.get(link, 0) for link in range(len(self.joints))))
        chosen = np.zeros((len(self.joints), len(moving)))
        chosen[moving, np.arange(len(moving))] = [self.joints[link] == kind for link in moving]
        return jnp.asarray(chosen) @ values

    def summed(self, column: Column) -> Column:
        """By link, the sum of a column along the way from the base to it."""
        if not self.small:
            return jnp.asarray(_paths(self.parents)) @ column
        found: list[Any] = []
        for link, parent in enumerate(self.parents):
            before = Scalars((0 if parent < 0 else found[parent],))
            reached = (before + column[link])[0]
            found.append(once(reached) if link % STRETCH == 0 and not none(column[link]) else reached)
        return Scalars(tuple(found))

    def parent(self, column: Column) -> Column:
        """By link, what its parent has; zero for the base."""
        if not self.small:
            return jnp.asarray(_parents_of(self.parents)) @ column
        return Scalars(tuple(0 if parent < 0 else column[parent] for parent in self.parents))

    def placed(self, joints: Float[Array, "joints"], spin: Scalar, rates: Float[Array, "joints"]) -> Placed:
        """All links at joint coordinates and rates, the base turning at `spin`."""
        axis, slide = self.column(self.axis), self.columns(self.slide)
        angle = self.summed(axis * self.of_joints(joints, "revolute"))
        rate = self.summed(axis * self.of_joints(rates, "revolute")) + spin
        turn = self.cosines(angle)
        carrier, carried = turn.each(self.parent), self.parent(rate)
        offset = carrier.turned(self.columns(self.mount).plus(slide.times(self.of_joints(joints, "prismatic"))))
        moving = offset.spun(carried).plus(carrier.turned(slide.times(self.of_joints(rates, "prismatic"))))
        origin, lever = offset.each(self.summed), turn.turned(self.columns(self.centre))
        drifting = moving.each(self.summed).plus(lever.spun(rate))
        return Placed(turn, rate, origin, origin.plus(lever).each(_stored), drifting.each(_stored))

    def cosines(self, angle: Column) -> Pair:
        """Turns by angles; of the base, by none."""
        if not self.small:
            return Pair(jnp.cos(angle), jnp.sin(angle))
        still = [none(value) for value in angle.values]
        cosines = (jnp.ones(()) if same else jnp.cos(value) for same, value in zip(still, angle.values, strict=True))
        sines = (0 if same else jnp.sin(value) for same, value in zip(still, angle.values, strict=True))
        return Pair(Scalars(tuple(cosines)), Scalars(tuple(sines)))

    def middle(self, placed: Placed) -> tuple[Scalar, Pair, Pair]:
        """Mass of all, and place and velocity of its centre against the base."""
        mass = self.column(self.mass)
        whole = jnp.sum(self.mass)
        place, drift = (pair.times(mass).each(_total).times(1 / whole) for pair in (placed.centre, placed.drifting))
        return whole, place, drift

    def kinetic(self, placed: Placed) -> Scalar:
        """Kinetic energy (J) about the common centre of mass."""
        whole, _, drift = self.middle(placed)
        moving = _total(self.column(self.mass) * placed.drifting.dot(placed.drifting))
        turning = _total(self.column(self.inertia) * placed.rate * placed.rate)
        return 0.5 * (moving + turning - whole * drift.dot(drift))

    def potential(self, orbit: Orbit, t: Scalar, centre: Pair, attitude: Scalar, placed: Placed) -> Scalar:
        """Tidal potential (J) of all, their centre of mass at `centre` (m) from the reference."""
        reference = orbit.reference(t)
        turn = Pair(jnp.cos(attitude), jnp.sin(attitude))
        towards = turn.turned_back(Pair(reference.x, reference.y))
        _, middle, _ = self.middle(placed)
        offset, towards = once((turn.turned_back(centre).minus(middle), towards))
        place = placed.centre.plus(offset)
        along, squared = place.dot(towards), place.dot(place)
        tidal = self.applied(lambda a, s: orbit.tidal(reference.radius, a, s), along, squared)
        energy = _total(self.column(self.mass) * tidal)
        if not orbit.gradient:
            return energy
        there = placed.turn.turned_back(place.times(1 / reference.radius).plus(towards))
        xx, yy, xy = (self.column(self.tensor[:, i, j]) for i, j in ((0, 0), (1, 1), (0, 1)))
        about = xx * there.x * there.x + yy * there.y * there.y + 2 * xy * there.x * there.y
        trace = self.column(jnp.trace(self.tensor, axis1=1, axis2=2))
        radius = reference.radius
        return energy + _total(
            self.applied(lambda *four: orbit.spread_out(radius, *four), along, squared, trace, about)
        )

    def applied(self, function: Callable[..., Any], *columns: Column) -> Column:
        """A function of numbers, link by link."""
        if not self.small:
            return function(*columns)
        return Scalars(tuple(function(*(column[link] for column in columns)) for link in range(len(self.parents))))


def _stored(column: Column) -> Column:
    """The column, worked out once for all that reads it."""
    if not isinstance(column, Scalars):
        return once(column)
    return Scalars(tuple(value if none(value) else once(value) for value in column.values))


def _total(column: Column) -> Scalar:
    """The sum over all links."""
    return column.sum()


@lru_cache
def _paths(parents: tuple[int, ...]) -> Float[np.ndarray, "links links"]:
    """1 where the second lies on the way from the base to the first."""
    found = np.eye(len(parents))
    for link, parent in enumerate(parents):
        if parent >= 0:
            found[link] += found[parent]
    return found


@lru_cache
def _parents_of(parents: tuple[int, ...]) -> Float[np.ndarray, "links links"]:
    """1 where the second is the first one's parent."""
    found = np.zeros((len(parents), len(parents)))
    for link, parent in enumerate(parents):
        if parent >= 0:
            found[link, parent] = 1.0
    return found
