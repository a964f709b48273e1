"""Joint and base torques from angles and rates: PD, rate damping, a wheel that holds the base's attitude."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.tree import BASES, Configuration, Tree


class JointControl(eqx.Module):
    """Torques −Kp (x − reference) − Kd ẋ, each within its limit: on joints by motors, on the base by a wheel.

    One gain, damping and limit for every velocity of the tree; those of the base's translation and of modes are zero. The
    wheel takes up what it gives the base: its own angular momentum grows by as much the other way.
    """

    stiffness: Float[Array, "n"]  # Kp, N m/rad
    damping: Float[Array, "n"]  # Kd, N m s/rad
    limit: Float[Array, "n"]  # N m
    attitude: Float[Array, "4"]  # reference of the base
    joints: Float[Array, "joints"]  # references, rad or m

    def torques(self, tree: Tree, q: Configuration, v: Float[Array, "n"]) -> Float[Array, "n"]:
        """Generalised forces (N m, N) at configuration and velocities of the tree."""
        error = jnp.zeros_like(v).at[jnp.array(tree.joint_columns(), int)].set(q.joints - self.joints)
        turned = (Quaternion.of(self.attitude).conjugate() * Quaternion.of(q.attitude)).logarithm().array()
        base = tree.layout.base
        if base != "fixed":
            error = error.at[BASES[base] - (3 if base == "free" else 1) : BASES[base]].set(
                turned if base == "free" else turned[2:]
            )
        return jnp.clip(-self.stiffness * error - self.damping * v, -self.limit, self.limit)

    def wheel(self, tree: Tree, torques: Float[Array, "n"]) -> Float[Array, "3"]:
        """The part that turns the base (N m, base axes)."""
        base = tree.layout.base
        if base == "free":
            return torques[3:6]
        return jnp.zeros(3).at[2].set(torques[2]) if base == "planar" else jnp.zeros(3)
