"""Plastic impact: what touches stays together.

Units: velocities m/s, impulses N s.
Source: Cyril et al., eq. 8, in contact space.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jit_when_called, jnp
from dockdyn.impact.laws.result import Impact, impact_of_impulse


@jit_when_called
def plastic_impact(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
    """Return λ = −W⁻¹ u: no relative velocity is left.

    With the rows of the contact force it is a pin (Cyril et al., eqs. 8–12, in contact space: the paper's Q is singular
    unless the payload's Jacobian is square); with moment rows too it is a weld. The loss is ½ uᵀ W⁻¹ u. A pin can pull.
    """
    return impact_of_impulse(matrix, velocity, -jnp.linalg.solve(matrix, velocity))
