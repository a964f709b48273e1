"""A tree of rigid links that stays in the x–y plane, in closed form: what a time loop of microseconds needs.

The same numbers as in `mechanics.tree`, and the same kinetic energy (a test compares them); that one works links at once
in arrays, this one writes a few named scalars a link, which XLA fuses into one kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.mechanics.assembly import rigid_parts
from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.tree import Tree
from dockdyn.mechanics.vector import Scalar, once


class Pair(NamedTuple):
    """A vector in the plane, or a turn by (cosine, sine); × turns."""

    x: Scalar
    y: Scalar

    def plus(self, other: Pair) -> Pair:
        return Pair(self.x + other.x, self.y + other.y)

    def minus(self, other: Pair) -> Pair:
        return Pair(self.x - other.x, self.y - other.y)

    def times(self, factor: Scalar) -> Pair:
        return Pair(self.x * factor, self.y * factor)

    def turned(self, other: Pair) -> Pair:
        """`other` turned by this."""
        return Pair(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def turned_back(self, other: Pair) -> Pair:
        return Pair(self.x * other.x + self.y * other.y, self.x * other.y - self.y * other.x)

    def dot(self, other: Pair) -> Scalar:
        return self.x * other.x + self.y * other.y

    def spun(self, rate: Scalar) -> Pair:
        """Velocity by turning at `rate`."""
        return Pair(-rate * self.y, rate * self.x)


def by(turn: Pair | None, vector: Pair) -> Pair:
    """`vector` turned; None: not at all, at no cost."""
    return vector if turn is None else turn.turned(vector)


class Placed(NamedTuple):
    """A link against the base, in base axes; rates count the base's turning, not its translation."""

    turn: Pair | None  # None: as the base
    rate: Scalar  # rad/s
    origin: Pair  # m
    moving: Pair  # m/s
    centre: Pair  # m, of its mass
    drifting: Pair  # m/s


class PlanarTree(eqx.Module):
    """Links with revolute, prismatic and locked joints. Vectors are as with all joints at zero, in base axes."""

    mass: Float[Array, "links"]
    inertia: Float[Array, "links"]  # kg m², about z through the centre of mass
    tensor: Float[Array, "links 3 3"]  # kg m², the whole of it
    mount: Float[Array, "links 2"]  # m, of the link's origin, from the parent's
    centre: Float[Array, "links 2"]  # m, of mass, from the link's origin
    axis: Float[Array, "links"]  # +1 or −1: sense in which a hinge turns
    slide: Float[Array, "links 2"]  # axis of a prismatic joint
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
            parents=parents,
            joints=("locked", *tree.layout.joints[1:]),
        )

    def placed(self, joints: Float[Array, "joints"], spin: Scalar, rates: Float[Array, "joints"]) -> list[Placed]:
        """All links at joint coordinates and rates, the base turning at `spin`."""
        zero = jnp.zeros(())
        found: list[Placed] = []
        at = 0
        for link, (parent, kind) in enumerate(zip(self.parents, self.joints, strict=True)):
            centre = Pair(self.centre[link, 0], self.centre[link, 1])
            if parent < 0:
                still = Pair(zero, zero)
                found.append(Placed(None, spin, still, still, centre, centre.spun(spin)))
                continue
            before = found[parent]
            arm = Pair(self.mount[link, 0], self.mount[link, 1])
            turn, rate, extra = before.turn, before.rate, None
            if kind == "prismatic":
                slide = Pair(self.slide[link, 0], self.slide[link, 1])
                arm = arm.plus(slide.times(joints[at]))
                extra = by(before.turn, slide.times(rates[at]))
            if kind == "revolute":
                angle = self.axis[link] * joints[at]
                turn = by(before.turn, Pair(jnp.cos(angle), jnp.sin(angle)))
                rate = rate + self.axis[link] * rates[at]
            at += kind != "locked"
            offset = by(before.turn, arm)
            origin, moving = before.origin.plus(offset), before.moving.plus(offset.spun(before.rate))
            if extra is not None:
                moving = moving.plus(extra)
            lever = by(turn, centre)
            found.append(Placed(turn, rate, origin, moving, origin.plus(lever), moving.plus(lever.spun(rate))))
        return found

    def middle(self, placed: list[Placed]) -> tuple[Scalar, Pair, Pair]:
        """Mass of all, and place and velocity of its centre against the base."""
        whole = jnp.sum(self.mass)
        place, drift = Pair(jnp.zeros(()), jnp.zeros(())), Pair(jnp.zeros(()), jnp.zeros(()))
        for link, body in enumerate(placed):
            share = self.mass[link] / whole
            place, drift = place.plus(body.centre.times(share)), drift.plus(body.drifting.times(share))
        return whole, place, drift

    def kinetic(self, placed: list[Placed]) -> Scalar:
        """Kinetic energy (J) about the common centre of mass."""
        whole, _, drift = self.middle(placed)
        energy = -0.5 * whole * drift.dot(drift)
        for link, body in enumerate(placed):
            energy = energy + 0.5 * self.mass[link] * body.drifting.dot(body.drifting)
            energy = energy + 0.5 * self.inertia[link] * body.rate**2
        return energy

    def potential(self, orbit: Orbit, t: Scalar, centre: Pair, attitude: Scalar, placed: list[Placed]) -> Scalar:
        """Tidal potential (J) of all, their centre of mass at `centre` (m) from the reference."""
        reference = orbit.reference(t)
        turn = Pair(jnp.cos(attitude), jnp.sin(attitude))
        towards = turn.turned_back(Pair(reference.x, reference.y))
        _, middle, _ = self.middle(placed)
        offset, towards = once((turn.turned_back(centre).minus(middle), towards))
        energy = jnp.zeros(())
        for link, body in enumerate(placed):
            place = offset.plus(body.centre)
            along, squared = towards.dot(place), place.dot(place)
            energy = energy + self.mass[link] * orbit.tidal(reference.radius, along, squared)
            if orbit.gradient:
                tensor = self.tensor[link]
                there = towards.plus(place.times(1 / reference.radius))
                there = there if body.turn is None else body.turn.turned_back(there)
                cross = 2 * tensor[0, 1] * there.x * there.y
                about = tensor[0, 0] * there.x**2 + tensor[1, 1] * there.y**2 + cross
                trace = jnp.trace(tensor)
                energy = energy + orbit.spread_out(reference.radius, along, squared, trace, about)
        return energy
