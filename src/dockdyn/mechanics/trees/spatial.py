"""A tree of rigid links on a free base in space, about its common centre of mass.

Units: SI: kg, m, rad/s, J, N m s.
Source: kinetic energy about the common centre of mass, own derivation; checked against `mechanics.tree`.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.orbit import Orbit
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.trees.assembly import rigid_parts
from dockdyn.mechanics.trees.composite_bodies import Configuration, Motion, Tree
from dockdyn.mechanics.trees.screws import applied
from dockdyn.mechanics.vector import Scalar
from dockdyn.programs import trace_once

Three = Float[Array, "3"]


class SpatialTree(eqx.Module):
    """Revolute, prismatic and locked joints."""

    tree: Tree

    @trace_once
    def placed(self, joints: Float[Array, "joints"], spin: Three, rates: Float[Array, "joints"]) -> Motion:
        """All links in base axes, the base turning at `spin` (rad/s, its axes) about its resting origin."""
        still = jnp.zeros(3)
        upright = jnp.zeros(4).at[0].set(1.0)
        q = Configuration(still, upright, joints, jnp.zeros((0, 4)), jnp.zeros(0))
        return self.tree.motion(q, jnp.concatenate([still, spin, rates]))

    def momenta(self, motion: Motion) -> Float[Array, "links 6"]:
        """By link, in link axes."""
        return applied(self.tree.links.inertia, motion.twist)

    def mass(self) -> Float[Array, "links"]:
        return self.tree.links.inertia[:, 0, 0]

    def middle(self, motion: Motion) -> tuple[Scalar, Three, Three]:
        """Mass of all, and place and velocity of its centre against the base."""
        whole = jnp.sum(self.mass())
        momentum = applied(motion.rotation, self.momenta(motion)[:, :3]).sum(0)
        place = (self.mass()[:, None] * self.centres(motion)).sum(0) / whole
        return whole, place, momentum / whole

    def centres(self, motion: Motion) -> Float[Array, "links 3"]:
        """Centres of mass of the links (m)."""
        _, centre, _ = rigid_parts(self.tree.links.inertia)
        return motion.position + applied(motion.rotation, centre)

    def kinetic(self, motion: Motion) -> Scalar:
        """Kinetic energy (J) about the common centre of mass."""
        whole, _, drift = self.middle(motion)
        return 0.5 * jnp.sum(motion.twist * self.momenta(motion)) - 0.5 * whole * (drift @ drift)

    def potential(self, orbit: Orbit, t: Scalar, centre: Three, attitude: Float[Array, "4"], motion: Motion) -> Scalar:
        """Tidal potential (J) of all, their centre of mass at `centre` (m) from the reference."""
        reference = orbit.reference(t)
        turn = Quaternion.of(attitude).matrix().array()
        towards = jnp.stack([reference.x, reference.y, jnp.zeros(())]) @ turn
        mass, _, inertia = rigid_parts(self.tree.links.inertia)
        place = centre @ turn - self.middle(motion)[1] + self.centres(motion)
        along, squared = place @ towards, (place**2).sum(-1)
        energy = mass @ orbit.tidal(reference.radius, along, squared)
        if not orbit.gradient:
            return energy
        # in link axes, by the transposed rotations
        there = ((towards + place / reference.radius)[:, :, None] * motion.rotation).sum(1)
        about = (there * applied(inertia, there)).sum(-1)
        trace = jnp.trace(inertia, axis1=1, axis2=2)
        return energy + orbit.spread_out(reference.radius, along, squared, trace, about).sum()
