"""A contact that slides under Coulomb friction while an impulse acts on it.

Units: velocities m/s, impulses N s, angles rad.
Source: Keller 1986, J. Appl. Mech. 53:1.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, jax, jnp

SECULAR_STEPS = 12  # of Newton's method for λ; see `Sliding.after_stop`


def sliding_velocity(velocity: Float[Array, "rows"]) -> tuple[Float[Array, ""], Float[Array, "tangents"]]:
    """Return sliding speed (m/s) and its unit direction (any, at rest) in a contact velocity."""
    across = velocity[1:]
    slides = jnp.any(jnp.abs(across) > 1e-150)  # m/s; squares of less are not numbers
    across = jnp.where(slides, across, jnp.zeros_like(across).at[0].set(1.0))
    speed = jnp.sqrt(across @ across)
    return jnp.where(slides, speed, 0.0), across / speed


class ImpulsePoint(NamedTuple):
    """A point of the impulse path."""

    velocity: Float[Array, "rows"]  # u, m/s
    impulse: Float[Array, "rows"]  # Λ so far, N s
    work: Float[Array, ""]  # of the normal impulse so far, J

    def forth(self, slopes: Slopes, length: Float[Array, ""]) -> ImpulsePoint:
        """Return the point that lies straight on by a normal impulse `length` (N s)."""
        gain = slopes.velocity * length
        work = (self.velocity[0] + 0.5 * gain[0]) * length
        return ImpulsePoint(self.velocity + gain, self.impulse + slopes.impulse * length, self.work + work)


class Slopes(NamedTuple):
    """Changes per normal impulse p."""

    velocity: Float[Array, "rows"]  # du/dp, 1/kg
    impulse: Float[Array, "rows"]  # dΛ/dp


class Sliding(NamedTuple):
    """A contact with matrix W (rows: normal, one or two tangents) and friction coefficient μ."""

    matrix: Float[Array, "rows rows"]
    friction: Float[Array, ""]

    def slopes(self, direction: Float[Array, "tangents"]) -> Slopes:
        """Return the slopes while it slides along a unit `direction`: du/dp = W (1, −μ û)."""
        force = jnp.concatenate([jnp.ones(1), -self.friction * direction])
        return Slopes(self.matrix @ force, force)

    def after_stop(self) -> tuple[Slopes, Bool[Array, ""]]:
        """Return the state once sliding has stopped, and whether it starts again.

        It sticks if the friction that this takes, |W_tt⁻¹ W_tn|, is within μ. Otherwise it slides on along the one
        direction that stays, (λ + μ W_tt) û = W_tn with λ > 0, where |û| = 1 decides λ, the growth of the speed with p.
        """
        across, coupling, mu = self.matrix[1:, 1:], self.matrix[1:, 0], self.friction
        holding = -jnp.linalg.solve(across, coupling)
        slides = holding @ holding > mu**2
        # values for which the search below is harmless, where it has nothing to find
        unit = jnp.eye(coupling.shape[0])
        across, coupling = jnp.where(slides, across, unit), jnp.where(slides, coupling, unit[0])
        mu = jnp.where(slides, mu, 0.5)

        def newton(_: int, growth: Float[Array, ""]) -> Float[Array, ""]:
            # on 1/|û(λ)| − 1, which is nearly straight; from the left it does not overshoot
            inverse = jnp.linalg.inv(growth * unit + mu * across)
            aim = inverse @ coupling
            size = jnp.sqrt(aim @ aim)
            return growth + (size - 1) * size**2 / (aim @ inverse @ aim)

        least = jnp.maximum(jnp.sqrt(coupling @ coupling) - mu * jnp.trace(across), 0.0)
        growth = jax.lax.fori_loop(0, SECULAR_STEPS, newton, least)
        direction = jnp.linalg.solve(growth * unit + mu * across, coupling)
        force = jnp.where(slides, -mu * direction, holding)
        normal = self.matrix[0, 0] + self.matrix[0, 1:] @ force
        velocity = jnp.concatenate([normal[None], jnp.where(slides, growth * direction, 0.0)])
        return Slopes(velocity, jnp.concatenate([jnp.ones(1), force])), slides
