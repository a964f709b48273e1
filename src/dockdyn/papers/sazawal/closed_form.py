"""Sazawal et al., the linear theory in closed form (eqs. 89–149), corrected. The general path needs none of it.

Chaser and target at rest, the target's axes along the inertial ones, the chaser turned by half a turn about z. Vectors in
m and target axes, but for the probe, in chaser axes; inertias in kg m² about each centre of mass; angles in rad.
"""

from __future__ import annotations

import numpy as np

from dockdyn.deferred import ArrayLike, Float

type Vector = Float[np.ndarray, "3"]
type Matrix = Float[np.ndarray, "3 3"]
Pair = tuple[float, float]  # damping, stiffness

CHASER = np.diag([-1.0, -1.0, 1.0])  # attitude of the chaser (eq. 80)


def _cross(vector: ArrayLike) -> Matrix:
    """Return v×, the matrix of the cross product (eq. 10)."""
    return np.cross(np.asarray(vector, float), np.eye(3)).T


def wall_axes(half_angle: float, azimuth: float) -> Matrix:
    """Return D_T^N: columns m̂ along the wall away from the apex, t̂ around the axis, n̂ into the wall (eq. 89)."""
    along, across = np.cos(half_angle), np.sin(half_angle)
    around, up = np.sin(azimuth), np.cos(azimuth)
    return np.array([[along, 0, -across], [-across * around, up, -along * around], [across * up, around, along * up]])


def _lever_arms(probe: ArrayLike, contact: ArrayLike) -> tuple[Matrix, Matrix]:
    """Return P_C and P_T (eq. 96): velocity of the probe tip per angular velocity of each body.

    Args: `probe` r_CQ, from the chaser's centre of mass to the tip; `contact` r_TS + p*, from the target's to the contact.
    """
    return -CHASER @ _cross(probe), _cross(contact)


def contact_matrix(
    reduced_mass: float, chaser_inertia: ArrayLike, target_inertia: ArrayLike, probe: ArrayLike, contact: ArrayLike
) -> Matrix:
    """Return M = I/m_r + P_C J_C⁻¹ P_Cᵀ + P_T J_T⁻¹ P_Tᵀ, 1/kg (eq. 120 without + r_TS×).

    The torque on the target is about its centre of mass (eq. 111 likewise).
    """
    of_chaser, of_target = _lever_arms(probe, contact)
    return (
        np.eye(3) / reduced_mass
        + of_chaser @ np.linalg.solve(np.asarray(chaser_inertia, float), of_chaser.T)
        + of_target @ np.linalg.solve(np.asarray(target_inertia, float), of_target.T)
    )


def printed_contact_matrix(
    reduced_mass: float,
    chaser_inertia: ArrayLike,
    target_inertia: ArrayLike,
    probe: ArrayLike,
    contact: ArrayLike,
    apex: ArrayLike,
) -> Matrix:
    """Return M as eq. 120 prints it, with P_Tᵀ + r_TS×, for comparison only: right when `apex`, r_TS, is zero."""
    _, of_target = _lever_arms(probe, contact)
    spurious = of_target @ np.linalg.solve(np.asarray(target_inertia, float), _cross(apex))
    return contact_matrix(reduced_mass, chaser_inertia, target_inertia, probe, contact) + spurious


def normal_dynamics(damping: float, stiffness: float, matrix: Matrix, axes: Matrix) -> Pair:
    """Return b_d (1/s) and k_d (1/s²) of δd̈ = −b_d δḋ(t − h) − k_d δd(t − h) (eqs. 124–126)."""
    per_force = axes[:, 2] @ matrix @ axes[:, 2]
    return damping * per_force, stiffness * per_force


def simplified_effective_mass(
    reduced_mass: float,
    chaser_inertia: ArrayLike,
    target_inertia: ArrayLike,
    probe: float | np.ndarray,
    half_angle: float | np.ndarray,
    distance: float | np.ndarray,
    azimuth: float = 0.0,
) -> Float[np.ndarray, "..."]:
    """Return m† (kg) for principal axes, a probe of length `probe` along x and the apex at the target's centre (eqs. 145–149).

    `distance` m* (m) from the apex along the wall; inertias are the three principal ones.
    """
    (_, chaser_y, chaser_z), (_, target_y, target_z) = np.asarray(chaser_inertia), np.asarray(target_inertia)
    lever = np.square(probe * np.cos(half_angle))
    about_y = lever / chaser_y + np.square(distance) / target_y
    about_z = lever / chaser_z + np.square(distance) / target_z
    return 1 / (1 / reduced_mass + np.cos(azimuth) ** 2 * about_y + np.sin(azimuth) ** 2 * about_z)
