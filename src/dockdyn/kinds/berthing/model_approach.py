"""What an impact law is given: the contact of two systems just before they meet.

Units: SI: velocities m/s, W in 1/kg.
Source: Cyril et al., section 3, in contact space.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from dockdyn.impact.laws.contact_matrix import constrained_contact_matrix, contact_matrix, lock
from dockdyn.integrate.model import Scalar

Row = Float[Array, "n"]


class Approach(NamedTuple):
    """The contact just before the impact, joints locked."""

    mass: Float[Array, "n n"]  # of both trees
    rows: Float[Array, "rows n"]  # contact velocities by all velocities: normal, tangents, moments
    matrix: Float[Array, "rows rows"]  # W
    velocities: Row
    lock_loss: Scalar  # J


def locked(mass: Float[Array, "n n"], rows: Float[Array, "rows n"], v: Row, locks: Float[Array, "locks n"]) -> Approach:
    """A contact once the velocities of `locks` have been stopped, momentum kept."""
    if not locks.shape[0]:
        return Approach(mass, rows, contact_matrix(rows, mass), v, jnp.zeros(()))
    after = lock(mass, locks, v)
    loss = 0.5 * (v @ mass @ v - after @ mass @ after)
    return Approach(mass, rows, constrained_contact_matrix(rows, mass, locks), after, loss)
