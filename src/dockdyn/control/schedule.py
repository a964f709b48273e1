"""Joint torques towards set-points that follow one another: approach, dock, release, retreat.

Units: rad, rad/s, N m, s.
Source: Gibson and Murphey, section III (PD law towards a docked configuration).
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dockdyn.control.joint_control import proportional_derivative
from dockdyn.mechanics.vector import Scalar

Row = Float[Array, "joints"]


class Schedule(eqx.Module):
    """PD control of joints with one set-point a phase, −Kp (x − reference) − Kd (ẋ − reference rate), within limits.

    The reference goes from the set-point before to that of the phase by a quintic, at rest at both ends, or at once. A
    phase ends after a time, or by an event (inf).
    """

    stiffness: Row  # Kp, N m/rad or N/m
    damping: Row  # Kd
    limit: Row  # N m or N; inf: none
    set_points: Float[Array, "phases joints"]  # rad or m
    before: Float[Array, "phases joints"]  # set-points that the references come from
    over: Float[Array, "phases"] | None  # s, that the reference takes; 0, None: at once
    lasts: Float[Array, "phases"]  # s; inf: until an event, or to the end

    def reference(self, phase: Int[Array, ""], elapsed: Scalar) -> tuple[Row, Row]:
        """Set-point and its rate, `elapsed` s after the phase began."""
        if self.over is None:
            return self.set_points[phase], jnp.zeros_like(self.before[0])
        over = self.over[phase]
        moves = over > 0
        span = jnp.where(moves, over, 1.0)
        u = jnp.clip(elapsed / span, 0.0, 1.0)
        share = jnp.where(moves, u**3 * (10 - u * (15 - 6 * u)), 1.0)
        rate = jnp.where(moves, 30 * (u * (1 - u)) ** 2 / span, 0.0)
        start, way = self.before[phase], self.set_points[phase] - self.before[phase]
        return start + share * way, rate * way

    def torques(self, phase: Int[Array, ""], elapsed: Scalar, joints: Row, rates: Row) -> Row:
        """N m or N."""
        reference, moving = self.reference(phase, elapsed)
        wanted = proportional_derivative(self.stiffness, self.damping, joints - reference, rates - moving)
        return jnp.clip(wanted, -self.limit, self.limit)
