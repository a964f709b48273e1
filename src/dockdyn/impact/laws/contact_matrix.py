"""What a contact feels of the bodies behind it: the contact-space matrix and effective masses.

Units: W in 1/kg (between rotations 1/(kg m²)), velocities m/s, impulses N s.
Source: Cyril et al., eqs. 9–12 replaced by contact space; Khatib 1987 (operational space).
"""

from __future__ import annotations

from dockdyn.deferred import Array, Float, jnp
from dockdyn.mechanics.dense import solve_definite


def contact_matrix(jacobian: Float[Array, "rows n"], mass_matrix: Float[Array, "n n"]) -> Float[Array, "rows rows"]:
    """Return W = J M⁻¹ Jᵀ (1/kg): acceleration of the contact per unit of contact force.

    Args:
        jacobian: J, relative velocity at the contact = J v, v the velocities of everything that moves.
        mass_matrix: M, kinetic energy = ½ vᵀ M v; block diagonal over separate bodies or mechanisms.

    For two rigid bodies it is I/m_r + P_C J_C⁻¹ P_Cᵀ + P_T J_T⁻¹ P_Tᵀ (Sazawal et al., eq. 120 without the term in r_TS,
    which has no place there: the torque is about the target's centre of mass).
    """
    return jacobian @ solve_definite(mass_matrix, jacobian.T)


def constrained_contact_matrix(
    jacobian: Float[Array, "rows n"],
    mass_matrix: Float[Array, "n n"],
    constraint_jacobian: Float[Array, "locks n"],
) -> Float[Array, "rows rows"]:
    """Return W (1/kg) while the constraints A v = 0 hold too: locked joints, latches, closed loops.

    W = J M⁻¹ Jᵀ − J M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ A M⁻¹ Jᵀ. A joint is locked by a row of A with a one in its place. The
    velocity before the impact must obey A v = 0 as well (`lock_constraints` sees to that). Rows of A must be
    independent: no finite number comes out otherwise.
    """
    return jacobian @ velocity_jump(jacobian, mass_matrix, jnp.eye(jacobian.shape[0]), constraint_jacobian)


def velocity_jump(
    jacobian: Float[Array, "rows n"],
    mass_matrix: Float[Array, "n n"],
    impulse: Float[Array, "rows *more"],
    constraint_jacobian: Float[Array, "locks n"] | None = None,
) -> Float[Array, "n *more"]:
    """Return v⁺ − v = M⁻¹ Jᵀ Λ of everything that moves, for a contact impulse Λ (N s); with constraints A v = 0 obeyed."""
    free = solve_definite(mass_matrix, jacobian.T) @ impulse
    if constraint_jacobian is None:
        return free
    return lock_constraints(mass_matrix, constraint_jacobian, free)


def lock_constraints(
    mass_matrix: Float[Array, "n n"], constraint_jacobian: Float[Array, "locks n"], velocity: Float[Array, "n *more"]
) -> Float[Array, "n *more"]:
    """Return the velocity once constraints A v = 0 have snapped shut: v − M⁻¹ Aᵀ (A M⁻¹ Aᵀ)⁻¹ A v. Keeps momentum.

    Joints locked just before an impact, or a latch that closes, act like this: a plastic impact of the rows of A.
    """
    impulse = constraint_impulses(mass_matrix, constraint_jacobian, constraint_jacobian @ velocity)
    return velocity + velocity_jump(constraint_jacobian, mass_matrix, impulse)


def constraint_impulses(
    mass_matrix: Float[Array, "n n"], constraint_jacobian: Float[Array, "locks n"], slip: Float[Array, "locks *more"]
) -> Float[Array, "locks *more"]:
    """Return −(A M⁻¹ Aᵀ)⁻¹ s: the impulses along the rows of A that end a slip s = A v, or the forces that end its rate."""
    return -solve_definite(contact_matrix(constraint_jacobian, mass_matrix), slip)


def effective_mass(matrix: Float[Array, "3 3"], direction: Float[Array, "3"]) -> Float[Array, ""]:
    """Return the mass (kg) that resists a force along a unit `direction`, free to move in all others: 1 / (nᵀ W n)."""
    return 1 / (direction @ matrix @ direction)
