"""A tree of rigid links on a free base in space, about its common centre of mass.

Twists and momenta are (v, ω) and (p, L) in base axes, of and about the point of the base frame's origin: so those of links
along the way add up as they are. Links follow one another, each with a few small arrays.

Units: SI: kg, m, rad/s, J, N m s.
Source: kinetic energy about the common centre of mass and its derivatives, own derivation; checked against places and
rotations that are differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float

from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.assembly import rigid_parts
from dockdyn.mechanics.trees.composite_bodies import Configuration, Poses, Tree
from dockdyn.mechanics.trees.joints import joint_screws
from dockdyn.mechanics.trees.link_inertia import Inertia, wrench_seen
from dockdyn.mechanics.trees.screws import applied, bracket, entered, transposed
from dockdyn.mechanics.vector import Scalar
from dockdyn.programs import trace_once

Three = Float[Array, "3"]
Six = Float[Array, "6"]
Row = Float[Array, "joints"]


class Body(NamedTuple):
    """What is rigid of a link, in link axes."""

    mass: Scalar  # kg
    centre: Three  # m
    inertia: Float[Array, "3 3"]  # kg m², about the centre


class Moving(NamedTuple):
    """How links move, about the common centre of mass: without its own motion."""

    screws: tuple[Six | None, ...]  # of the joints, as in `SpatialTree.screws`
    twists: tuple[Six, ...]  # m/s, rad/s
    momenta: tuple[Six, ...]  # N s, N m s


class SpatialTree(eqx.Module):
    """Revolute, prismatic and locked joints."""

    tree: Tree

    @property
    def parents(self) -> tuple[int, ...]:
        return self.tree.layout.parents

    @trace_once
    def bodies(self) -> tuple[Body, ...]:
        return tuple(Body(*(part[0] for part in rigid_parts(one[None]))) for one in self.tree.links.inertia)

    def poses(self, joints: Row) -> Poses:
        """Of all links at joint coordinates (rad or m)."""
        upright, none = jnp.zeros(4).at[0].set(1.0), jnp.zeros(0)
        return self.tree.poses(Configuration(jnp.zeros(3), upright, joints, none.reshape(0, 4), none))

    def screws(self, poses: Poses) -> list[Six | None]:
        """The twist by which each link's joint moves it and all beyond it, at unit rate; None for what is locked."""
        kinds = ("locked", *self.tree.layout.joints[1:])
        found = (joint_screws(*given) for given in zip(*poses, self.tree.links.axis, kinds, strict=True))
        return [one[0] if one else None for one in found]

    def twists(self, screws: Sequence[Six | None], base: Six, rates: Row) -> list[Six]:
        """Of all links, the base's being given."""
        found, rate = [base], iter(rates)
        for screw, parent in list(zip(screws, self.parents, strict=True))[1:]:
            found.append(found[parent] if screw is None else found[parent] + screw * next(rate))
        return found

    def centres(self, poses: Poses) -> Float[Array, "links 3"]:
        """Centres of mass of the links (m)."""
        found = [
            place + applied(turn, body.centre)
            for turn, place, body in zip(poses.rotation, poses.position, self.bodies(), strict=True)
        ]
        return jnp.stack(found)

    def masses(self) -> Float[Array, "links"]:
        """Of the links (kg)."""
        return self.tree.links.inertia[:, 0, 0]

    def middle(self, poses: Poses) -> tuple[Scalar, Three]:
        """Mass of all, and place of their common centre against the base (m)."""
        whole = jnp.sum(self.masses())
        return whole, self.masses() @ self.centres(poses) / whole

    @trace_once
    def moving(self, poses: Poses, spin: Three, rates: Row) -> Moving:
        """The links at rates of the joints (rad/s or m/s), the base turning at `spin` (rad/s, its axes)."""
        screws, (whole, _) = self.screws(poses), self.middle(poses)
        twists = self.twists(screws, jnp.concatenate([jnp.zeros(3), spin]), rates)
        drift = sum(momentum[:3] for momentum in self.momenta(poses, twists)) / whole
        about = self.twists(screws, jnp.concatenate([-drift, spin]), rates)
        return Moving(tuple(screws), tuple(about), tuple(self.momenta(poses, about)))

    def momenta(self, poses: Poses, twists: Sequence[Six]) -> list[Six]:
        """Of each link: in its own axes, then in those of the base."""
        found = []
        for turn, place, matrix, twist in zip(*poses, self.tree.links.inertia, twists, strict=True):
            own = Inertia.of(matrix).momentum(entered(turn, place, twist))
            found.append(wrench_seen(turn, place, own))
        return found

    def kinetic(self, joints: Row, spin: Three, rates: Row) -> Scalar:
        """Kinetic energy (J) about the common centre of mass."""
        return _kinetic(self, joints, spin, rates)

    def slopes(self, joints: Row, spin: Three, rates: Row) -> tuple[Row, Three, Row]:
        """Derivatives of the kinetic energy over its arguments, by the momenta of what each joint carries.

        A joint's own turning takes all beyond it along as it moves, which changes its twists by the bracket of the joint's
        screw with its carrier's twist. The motion of the common centre counts as given: of all that could be taken off the
        twists it leaves the least energy.
        """
        found = self.moving(self.poses(joints), spin, rates)
        carried = self.tree.carried(found.momenta, jnp.add)
        over_joints, over_rates = [jnp.zeros(0)], [jnp.zeros(0)]
        for link, screw in enumerate(found.screws):
            if screw is not None:
                changing = bracket(found.twists[self.parents[link]], screw)
                over_joints.append((carried[link] @ changing)[None])
                over_rates.append((carried[link] @ screw)[None])
        return jnp.concatenate(over_joints), carried[0][3:], jnp.concatenate(over_rates)

    def potential(self, orbit: Orbit, t: Scalar, centre: Three, attitude: Float[Array, "4"], joints: Row) -> Scalar:
        """Tidal potential (J) of all, their centre of mass at `centre` (m) from the reference."""
        poses, reference = self.poses(joints), orbit.reference(t)
        turn = Quaternion.of(attitude).matrix().array()
        towards = jnp.stack([reference.x, reference.y, jnp.zeros(())]) @ turn
        place = centre @ turn - self.middle(poses)[1] + self.centres(poses)
        along, squared = place @ towards, (place**2).sum(-1)
        energy = self.masses() @ orbit.tidal(reference.radius, along, squared)
        if not orbit.gradient:
            return energy
        about, trace = [], []
        for body, rotation, one in zip(self.bodies(), poses.rotation, place, strict=True):
            there = applied(transposed(rotation), towards + one / reference.radius)
            about.append(there @ applied(body.inertia, there))
            trace.append(jnp.trace(body.inertia))
        return energy + orbit.spread_out(reference.radius, along, squared, jnp.stack(trace), jnp.stack(about)).sum()


@jax.custom_jvp
def _kinetic(tree: SpatialTree, joints: Row, spin: Three, rates: Row) -> Scalar:
    """Half of twists times momenta."""
    found = tree.moving(tree.poses(joints), spin, rates)
    work = [twist @ momentum for twist, momentum in zip(found.twists, found.momenta, strict=True)]
    return 0.5 * jnp.sum(jnp.stack(work))


def _kinetic_changes(primals: Any, tangents: Any) -> tuple[Scalar, Scalar]:  # noqa: ANN401, of JAX
    """Value and change: in closed form over the motion, differentiated over the numbers of the tree."""
    tree, *motion = primals
    change = jnp.zeros(())
    for slope, tangent in zip(tree.slopes(*motion), tangents[1:], strict=True):
        if not isinstance(tangent, SymbolicZero):
            change = change + slope @ tangent
    numbers = jax.tree.leaves(tangents[0], is_leaf=lambda one: isinstance(one, SymbolicZero))
    if not all(isinstance(one, SymbolicZero) for one in numbers):
        full = jax.tree.map(
            lambda one, of: jnp.zeros_like(of) if isinstance(one, SymbolicZero) else one,
            tangents[0],
            tree,
            is_leaf=lambda one: isinstance(one, SymbolicZero),
        )
        change = change + jax.jvp(lambda tree: _kinetic.fun(tree, *motion), (tree,), (full,))[1]
    return _kinetic(*primals), change


_kinetic.defjvp(_kinetic_changes, symbolic_zeros=True)
