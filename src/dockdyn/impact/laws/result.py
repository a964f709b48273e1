"""What an impact did, the same for every law.

Units: velocities m/s, impulses N s, energies J.
Source: definitions: kinetic energy ½ uᵀ W⁻¹ u in contact space.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.trees import map_leaves

ROUNDING = 1e-11  # of the energy that the impulse moves: below this, and 1e-9 of the speed, a number counts as zero


class Impact(NamedTuple):
    """An impact in contact axes: rows are the normal, then the tangents, then moments if the law has any.

    The normal points from the second body to the first and velocities are those of the first relative to the second:
    an approach has u_n < 0, an impulse that pushes apart has Λ_n > 0. Moment rows carry N m s and rad/s.

    Coefficients of restitution are those that came out, whatever the law was given: Newton's −u_n⁺/u_n, Poisson's
    (impulse of restitution over impulse of compression) and the energetic one (Stronge: root of the work that the
    normal impulse gave back over the work that it took). Laws without an impulse path count the straight one, along
    which the three are equal. They are NaN where nothing approaches.
    """

    impulse: Float[Array, "rows"]  # Λ, N s, on the first body
    velocity: Float[Array, "rows"]  # u⁺ = u + W Λ, m/s
    energy_loss: Float[Array, ""]  # −½ (u + u⁺)·Λ, J
    energy_created: Bool[Array, ""]  # the loss is negative, beyond rounding
    stick: Bool[Array, ""]  # no sliding at the end
    reversal: Bool[Array, ""]  # sliding stopped, and went on in another direction
    jam: Bool[Array, ""]  # friction drove the bodies together faster than the impulse slowed them (for a time)
    newton: Float[Array, ""]
    poisson: Float[Array, ""]
    energetic: Float[Array, ""]


def impact_of_impulse(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    impulse: Float[Array, "rows"],
    poisson: Float[Array, ""] | None = None,
    energetic: Float[Array, ""] | None = None,
    stick: Bool[Array, ""] | None = None,
    reversal: Bool[Array, ""] | None = None,
    jam: Bool[Array, ""] | None = None,
) -> Impact:
    """Return the `Impact` of an impulse on a contact with matrix W and velocity u. What a law knows better, it hands over."""
    after = velocity + matrix @ impulse
    loss = -0.5 * (velocity + after) @ impulse
    moved = jnp.abs(velocity * impulse).sum() + jnp.abs(after * impulse).sum()
    approach = velocity[0] < 0
    newton = jnp.where(approach, -after[0] / jnp.where(approach, velocity[0], 1.0), jnp.nan)
    never = jnp.zeros((), bool)
    return Impact(
        impulse=impulse,
        velocity=after,
        energy_loss=loss,
        energy_created=loss < -ROUNDING * moved,
        stick=jnp.all(jnp.abs(after[1:]) <= 1e-9 * jnp.abs(velocity).max()) if stick is None else stick,
        reversal=never if reversal is None else reversal,
        jam=never if jam is None else jam,
        newton=newton,
        poisson=newton if poisson is None else poisson,
        energetic=newton if energetic is None else energetic,
    )


def end_slow_approach(
    found: Impact, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], rest_speed: Float[Array, ""]
) -> Impact:
    """Return `found`, or, where it would leave less than `rest_speed` (m/s) of normal velocity, an impact that leaves none.

    What the law has across the normal of an approach stays. Of what parts, if so slowly, the normal velocity alone is ended.
    """
    by_law = jnp.where(velocity[0] < 0, found.impulse, 0.0)
    left = velocity[0] + matrix[0] @ by_law
    ended = impact_of_impulse(matrix, velocity, by_law.at[0].add(-left / matrix[0, 0]))
    slow = found.velocity[0] < rest_speed
    return map_leaves(lambda a, b: jnp.where(slow, a, b), ended, found)


def safe_root(square: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return √, with its derivative; zero for what is not positive."""
    positive = ~(square <= 0)
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)
