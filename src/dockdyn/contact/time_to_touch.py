"""How long two things cannot touch yet.

Units: m, m/s, m/s², rad/s, s.
Source: uniform acceleration; triangle inequality on the motion of free bodies; own derivation, in the page of theory.
"""

from __future__ import annotations

from dockdyn.deferred import jnp
from dockdyn.mechanics.rigid_body import Placed, RigidBody
from dockdyn.mechanics.vector import Matrix, Scalar


def least_time(gap: Scalar, speed: Scalar, acceleration: Scalar | float) -> Scalar:
    """Return the time (s) in which a `gap` (m) closes at a `speed` (m/s) that grows by `acceleration` (m/s²); zero where there
    is none."""
    gap = jnp.maximum(gap, 0.0)
    # gap = speed t + acceleration t²/2
    root = jnp.sqrt(speed**2 + 2 * acceleration * gap)
    return 2 * gap / jnp.maximum(speed + root, 1e-300)


def fastest_turn(body: RigidBody, place: Placed) -> Scalar:
    """Bound of a free body's angular velocity (rad/s), whatever it does: |ω| ≤ ‖I⁻¹‖ |H|."""
    momentum = Matrix.of(body.inertia) @ place.twist.rate
    return jnp.linalg.norm(body.inverse_inertia) * momentum.norm()


def free_time(gap: Scalar, reach: Scalar, places: tuple[Placed, Placed], rates: tuple[Scalar, Scalar]) -> Scalar:
    """Return the time (s) that a feature within `reach` (m) of the first body's centre of mass needs at least to come nearer to
    the second body by `gap` (m), where both fly freely at `places`, turning at most at `rates`.

    Without forces its speed over the other body is at most V + |ω||p| + |ω'|(D + V t): V that of the centres of mass, D their
    distance and the feature's, |p| its place on its own body, ω and ω' the rates of both bodies.
    """
    (own, other), (own_rate, other_rate) = places, rates
    speed = (own.twist.velocity - other.twist.velocity).norm()
    distance = (own.pose.position - other.pose.position).norm() + reach
    return least_time(gap, speed + own_rate * reach + other_rate * distance, other_rate * speed)
