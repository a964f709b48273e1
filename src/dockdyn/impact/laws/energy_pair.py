"""Impact by two ratios to the plastic one: energy loss and friction impulse (Cyril et al., section 3.2).

Units: r_E and r_f dimensionless, impulses N s, velocities m/s.
Source: as named above, eqs. 44–53; closed form of the root and of the bounds, own derivation.
"""

from __future__ import annotations

from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, jit_when_called, jnp
from dockdyn.impact.laws.result import Impact, impact_of_impulse, safe_root

TOLERANCE = 1e-12  # of the ratios, at the edges of the wedge


class Wedge(NamedTuple):
    """Energy-loss ratios r_E that exist at a friction ratio r_f. Empty where `least` > `greatest`."""

    least: Float[Array, ""]  # below it e_N > 1
    greatest: Float[Array, ""]  # above it no impulse loses as much
    sliding_share: Float[Array, ""]  # κ, the part of the plastic loss that a frictionless impact cannot take


def admissible_wedge(
    matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], friction_ratio: Float[Array, ""]
) -> Wedge:
    """Return max(0, κ r_f (2 − r_f)) ≤ r_E ≤ 1 − κ (1 − r_f)², κ = 1 − u_n²/(2 W_nn ΔE_p), ΔE_p = ½ uᵀ W⁻¹ u.

    The paper omits the lower bound; it is e_N ≤ 1.
    """
    plastic_loss = 0.5 * velocity @ jnp.linalg.solve(matrix, velocity)
    share = 1 - velocity[0] ** 2 / (2 * matrix[0, 0] * plastic_loss)
    least = jnp.maximum(share * friction_ratio * (2 - friction_ratio), 0.0)
    return Wedge(least, 1 - share * (1 - friction_ratio) ** 2, share)


def is_possible(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    found: Impact,
    energy_ratio: Float[Array, ""],
    friction_ratio: Float[Array, ""],
) -> Bool[Array, ""]:
    """Return whether the ratios are in the wedge and the impact that is `found` with them does not pull."""
    bounds = admissible_wedge(matrix, velocity, friction_ratio)
    inside = (energy_ratio >= bounds.least - TOLERANCE) & (energy_ratio <= bounds.greatest + TOLERANCE)
    return inside & (found.impulse[0] >= 0)


@jit_when_called
def energy_pair(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    energy_ratio: Float[Array, ""],
    friction_ratio: Float[Array, ""],
) -> Impact:
    """Return the impulse whose loss is r_E times, and whose tangential part is r_f times, that of the plastic pin.

    The normal velocity comes out as u_n⁺ = √(2 W_nn ΔE_p (1 − r_E − κ (1 − r_f)²)): the larger root of the paper's
    eq. 49, since the smaller interpenetrates (eqs. 50 and 51 do not select it). The whole tangential impulse is scaled:
    that a component across the friction stays as it was (eqs. 29, 30) is not so in space. NaN outside the `admissible_wedge`.
    """
    plastic = -jnp.linalg.solve(matrix, velocity)
    loss = -0.5 * velocity @ plastic
    share = admissible_wedge(matrix, velocity, friction_ratio).sliding_share
    left = 1 - energy_ratio - share * (1 - friction_ratio) ** 2
    after = jnp.where(left < -TOLERANCE, jnp.nan, safe_root(2 * matrix[0, 0] * loss * left))
    across = friction_ratio * plastic[1:]
    normal = (after - velocity[0] - matrix[0, 1:] @ across) / matrix[0, 0]
    return impact_of_impulse(matrix, velocity, jnp.concatenate([normal[None], across]))
