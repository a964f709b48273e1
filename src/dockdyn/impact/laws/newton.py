"""Impact without friction.

Units: velocities m/s, impulses N s.
Source: Newton's law of restitution.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jit_when_called, jnp
from dockdyn.impact.laws.result import Impact, impact_of_impulse


@jit_when_called
def frictionless_impact(
    matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], restitution: Float[Array, ""]
) -> Impact:
    """Return Λ_n = −(1 + e) u_n / W_nn, nothing across the normal. Newton's, Poisson's and the energetic e are the same here.

    The loss is ½ (1 − e²) u_n² / W_nn.
    """
    normal = -(1 + restitution) * velocity[0] / matrix[0, 0]
    return impact_of_impulse(matrix, velocity, jnp.zeros_like(velocity).at[0].set(normal))
