"""What a contact feels of the bodies behind it: the contact-space matrix and effective masses."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float


def contact_matrix(jacobian: Float[Array, "rows n"], mass_matrix: Float[Array, "n n"]) -> Float[Array, "rows rows"]:
    """W = J M⁻¹ Jᵀ (1/kg): acceleration of the contact per unit of contact force.

    Args:
        jacobian: J, relative velocity at the contact = J v, v the velocities of everything that moves.
        mass_matrix: M, kinetic energy = ½ vᵀ M v; block diagonal over separate bodies or mechanisms.

    For two rigid bodies it is I/m_r + P_C J_C⁻¹ P_Cᵀ + P_T J_T⁻¹ P_Tᵀ (Sazawal et al., eq. 120 without the term in r_TS,
    which has no place there: the torque is about the target's centre of mass).
    """
    return jacobian @ jnp.linalg.solve(mass_matrix, jacobian.T)


def effective_mass(matrix: Float[Array, "3 3"], direction: Float[Array, "3"]) -> Float[Array, ""]:
    """Mass (kg) that resists a force along a unit `direction`, free to move in all others: 1 / (nᵀ W n)."""
    return 1 / (direction @ matrix @ direction)
