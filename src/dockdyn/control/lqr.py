"""Linear-quadratic regulator of the captured system, and the Riccati equation behind it.

Units: torques N m, states in SI; the cost dimensionless.
Source: Chu, Fan and Lin 2005, Linear Algebra Appl. 396:55; Kleinman 1968, IEEE Trans. Autom. Control 13:114.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.control.actuators import Actuation, Actuators, join_corners
from dockdyn.control.plant import ArmPlant, attitude_error
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module, field

DOUBLINGS = 40  # slow motions 1e12 times slower than fast ones still converge
CORRECTIONS = 4  # Newton's steps
LEAST = 1e-12  # of the largest weight: what states are scaled by at least


class Weights(NamedTuple):
    """What counts as one in the cost ∫ Σ(angle/…)² + Σ(attitude/…)² + Σ(rate/…)² + E/E₁ + Σ(torque/…)² dt."""

    angle: Scalar  # rad
    attitude: Scalar  # rad
    rate: Scalar  # rad/s, of joints and base
    energy: Scalar  # J, of vibration
    torque: Float[Array, "torques"]  # N m


class Regulator(Module):
    """Torques −K (δ, δ̇), δ what the system has left of the captured configuration at rest. A `Law`.

    δ: attitude of the base (with a wheel), joints that are not locked, modes of both trees. Where the system is, and how it
    drifts, no internal torque can change, and does not count; without a wheel neither does how it turns.

    Knows all of the state, modes included; where torques are cut off at their limits it is no longer optimal.
    """

    gain: Float[Array, "torques states"]  # K: base (with a wheel) and joints, by (δ, δ̇)
    attitude: Float[Array, "4"]  # reference of the base
    references: Float[Array, "free"]  # of joints that are not locked, rad
    free: tuple[int, ...] = field(static=True)  # those, by number
    wheel: bool = field(static=True)

    def deviation(self, plant: ArmPlant) -> Float[Array, "states"]:
        """Return (δ, δ̇)."""
        at = jnp.array(self.free, int)
        (coordinates, rates), (bent, bending) = plant.joints(), plant.modes()
        parts, moving = [coordinates[at] - self.references, bent], [rates[at], bending]
        if self.wheel:
            axes = jnp.array(plant.axes, int)
            parts = [attitude_error(self.attitude, plant.attitude())[axes], *parts]
            moving = [plant.turning()[axes], *moving]
        return jnp.concatenate([*parts, *moving])

    def act(self, plant: ArmPlant, actuators: Actuators) -> Actuation:
        wanted = -self.gain @ self.deviation(plant)
        axes = plant.axes if self.wheel else []
        torque = jnp.zeros(3).at[jnp.array(axes, int)].set(wanted[: len(axes)])
        motors = jnp.zeros_like(plant.joints()[0]).at[jnp.array(self.free, int)].set(wanted[len(axes) :])
        motors, of_motors = actuators.drive(motors)
        wheel, of_wheel = actuators.turn(torque, plant.turning(), plant.wheel)
        corners = join_corners([of_motors, of_wheel])
        return Actuation(motors, wheel, jnp.zeros(3), jnp.zeros(3), corners=corners)


def solve_riccati(
    a: Float[Array, "n n"], b: Float[Array, "n m"], q: Float[Array, "n n"], r: Float[Array, "m m"]
) -> Float[Array, "n n"]:
    """Return X ≥ 0 of aᵀX + X a − X b r⁻¹ bᵀ X + q = 0 for which a − b r⁻¹ bᵀ X is stable; traceable.

    Structured doubling (Chu, Fan and Lin, Linear Algebra and its Applications 396 (2005) 55–80, section 2) on states
    scaled by powers of two, then Newton's steps (Kleinman, IEEE Trans. Automatic Control 13 (1968) 114), which remove the
    rounding that doubling leaves where slow and fast motions meet. Not finite, or not a solution, where there is
    none: (a, b) must be stabilisable, (a, q) detectable.
    """
    weight = jnp.diagonal(q)
    size = jnp.exp2(
        jnp.round(jnp.log2(jnp.maximum(weight, LEAST * jnp.max(weight))) / 2)
    )  # so that weights are near one
    a, b, q = size[:, None] * a / size, size[:, None] * b, q / size / size[:, None]
    g = b @ jnp.linalg.solve(r, b.T)
    one = jnp.eye(a.shape[0])
    pace = jnp.sqrt(jnp.linalg.norm(a) ** 2 + jnp.linalg.norm(g) * jnp.linalg.norm(q))
    shifted = a - pace * one
    mixed = shifted.T + q @ jnp.linalg.solve(shifted, g)
    inverse = jnp.linalg.inv(mixed)
    start = (
        one + 2 * pace * inverse.T,
        2 * pace * jnp.linalg.solve(shifted, g) @ inverse,
        2 * pace * inverse @ jnp.linalg.solve(shifted.T, q).T,
    )

    def double(_: int, now: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        a, g, h = now
        left = jnp.linalg.solve(one + g @ h, jnp.concatenate([a, g], axis=1))
        next_a, next_g = left[:, : a.shape[1]], left[:, a.shape[1] :]
        more_g, more_h = a @ next_g @ a.T, a.T @ h @ next_a
        return a @ next_a, g + (more_g + more_g.T) / 2, h + (more_h + more_h.T) / 2

    def correct(_: int, x: Array) -> Array:
        k = jnp.linalg.solve(r, b.T @ x)  # first: b r⁻¹ bᵀ between two x would cancel in its last digits
        left = a.T @ x + x @ a - k.T @ r @ k + q
        return x + _solve_lyapunov(a - b @ k, (left + left.T) / 2)

    _, _, x = jax.lax.fori_loop(0, DOUBLINGS, double, start)
    return size[:, None] * jax.lax.fori_loop(0, CORRECTIONS, correct, x) * size


def _solve_lyapunov(a: Float[Array, "n n"], q: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Return X of aᵀX + X a + q = 0, as n² linear equations: accurate, where doubling mixes slow and fast motions."""
    one = jnp.eye(a.shape[0])
    found = jnp.linalg.solve(jnp.kron(a.T, one) + jnp.kron(one, a.T), -q.ravel()).reshape(a.shape)
    return (found + found.T) / 2
