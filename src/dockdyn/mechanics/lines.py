"""Lines along which two bodies feel each other's accelerations: reflected inertia, and connections that are closed.

A line is a row J of the velocities of bodies. Along one that reflects a mass m the force is λ = −m (J v̇ + J̇ v); along a closed
one λ is what keeps J v̇ + J̇ v = 0, the mass being infinite; an open one carries nothing, the mass being zero. So all are one
system, (c + s J M⁻¹ Pᵀ s) μ = −s (J M⁻¹ f + J̇ v) with λ = s μ and c/s² = 1/m, and both bodies of a line feel the same number,
which keeps momenta. The force acts along P: that is J, but where friction comes with it.

Units: SI: rows of forces N and torques N m, body axes for the latter.
Source: Lagrange multipliers, e.g. Featherstone 2008, Rigid Body Dynamics Algorithms, sections 3.2 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.mechanics.dense import factor_matrix, solve_factored
from dockdyn.mechanics.rigid_body import Twist
from dockdyn.mechanics.vector import Vector

HELD = 1e-12  # of the mobility without joints: less is rounding of lines that they hold
EVENLY = 1e-9  # of the largest mobility of forces, or of torques: lines that could share a load in any way do it evenly

type Rows = Float[
    Array, "lines bodies 6"
]  # by body: on the velocity of its centre of mass (inertial), on its rate (its axes)
type Forces = Float[Array, "lines"]


class Lines(NamedTuple):
    """Several lines at an instant."""

    rows: Rows  # J
    drift: Float[Array, "lines"]  # J̇ v
    root: Float[Array, "lines"]  # s: √m of a mass, 1 of a closed connection, 0 of an open one
    compliance: Float[Array, "lines"]  # c: 0 of a closed connection, else 1
    pushes: Rows | None = None  # P, along which a unit of force acts; None: J
    # 1/kg, 1/(kg m²), mobility of bodies that nothing holds along lines that may hold the same; else 0
    yields: Float[Array, "lines"] | None = None

    @property
    def acting(self) -> Rows:
        """Along which a unit of force acts."""
        return self.rows if self.pushes is None else self.pushes

    @staticmethod
    def of_mass(rows: Rows, drift: Float[Array, "lines"], mass: Float[Array, "lines"]) -> Lines:
        """Return lines that reflect a `mass` (kg) each."""
        return Lines(rows, drift, jnp.sqrt(mass), jnp.ones_like(mass))

    @staticmethod
    def of_connection(rows: Rows, drift: Float[Array, "lines"], closed: Bool[Array, ""]) -> Lines:
        """Return the lines of one connection, which is closed or open."""
        shut = jnp.broadcast_to(jnp.where(closed, 1.0, 0.0), drift.shape)
        return Lines(rows, drift, shut, 1.0 - shut)

    @staticmethod
    def joined(several: Sequence[Lines]) -> Lines:
        """Return all of them as one."""
        yields, pushes = None, None
        if any(one.pushes is not None for one in several):
            pushes = jnp.concatenate([one.acting for one in several])
        if any(one.yields is not None for one in several):
            yields = jnp.concatenate(
                [jnp.zeros_like(one.drift) if one.yields is None else one.yields for one in several]
            )
        rows, drift, root, compliance = map(jnp.concatenate, zip(*(one[:4] for one in several), strict=True))
        return Lines(rows, drift, root, compliance, pushes, yields)


def solve_lines(lines: Lines, answers: Rows, moved: Float[Array, "bodies 6"]) -> Forces:
    """Return the forces (N, N m) along lines, of bodies that would change by `moved` without them.

    `answers` are M⁻¹ Pᵀ, line by line. Of rates they are forces; where `moved` are velocities and the drift is zero, the
    impulses (N s, N m s) that end the motion along closed lines.
    """
    mobility = mobility_between(lines.rows, answers)
    return forces_along(lines, mobility, jnp.einsum("kbi,bi->k", lines.rows, moved) + lines.drift)


def forces_along(lines: Lines, mobility: Float[Array, "lines lines"], slip: Forces) -> Forces:
    """Return the forces (N, N m) along lines, along which the bodies would slip at this rate, drift included, without them."""
    return forces_against(lines, mobility)(slip)


def forces_against(lines: Lines, mobility: Float[Array, "lines lines"]) -> Callable[[Forces], Forces]:
    """Return what tells the forces along lines from the rate at which bodies would slip, of any number of such."""
    matrix = jnp.diag(lines.compliance) + lines.root[:, None] * mobility * lines.root
    if lines.yields is None:
        factors = factor_matrix(matrix)
        return lambda slip: lines.root * solve_factored(factors, -lines.root * slip)
    turns = ~jnp.any(lines.rows[..., :3] != 0, axis=(1, 2))
    evenly = even_solution(matrix, ease_lines(mobility, lines.yields, turns) * lines.root**2)
    return lambda slip: lines.root * evenly(-lines.root * slip)


def ease_lines(
    mobility: Float[Array, "lines lines"],
    free: Float[Array, "lines"],
    turns: Bool[Array, "lines"] | Bool[np.ndarray, "lines"],
) -> Float[Array, "lines"]:
    """Return the easing of lines that may hold the same, or what joints hold already, of which some are `turns`: a share of the
    largest mobility of forces, or of torques; of that of `free` bodies where joints hold all of it."""
    own = jnp.diagonal(mobility)
    seen = jnp.where(own > HELD * free, own, 0.0) * (free > 0)

    def largest(which: Bool[Array, "lines"] | Bool[np.ndarray, "lines"]) -> Float[Array, ""]:
        found = jnp.max(seen * which)
        return jnp.where(found > 0, found, jnp.max(free * which))

    return EVENLY * (free > 0) * jnp.where(turns, largest(turns), largest(~turns))


def even_solution(
    matrix: Float[Array, "lines lines"], easing: Float[Array, "*lines"]
) -> Callable[[Float[Array, "lines"]], Float[Array, "lines"]]:
    """Return what solves a symmetric system whose rows may depend on each other: of all solutions the one shared evenly."""
    factors = factor_matrix(matrix + jnp.diag(jnp.broadcast_to(easing, matrix.shape[:1])))

    def solve(right: Float[Array, "lines"]) -> Float[Array, "lines"]:
        first = solve_factored(factors, right)
        return first + solve_factored(factors, right - matrix @ first)  # what easing has left

    return solve


def mobility_between(rows: Rows, answers: Float[Array, "others bodies 6"]) -> Float[Array, "lines others"]:
    """Return J M⁻¹ Jᵀ: what a unit of force along one line does along another."""
    return jnp.einsum("kbi,lbi->kl", rows, answers)


def row_of(velocity: Vector, rate: Vector) -> Float[Array, "6"]:
    """Return a twist, or a force and a torque, as one row."""
    return jnp.concatenate([velocity.array(), rate.array()])


def twist_of(row: Float[Array, "6"]) -> Twist:
    """Return the twist that a row is."""
    return Twist(Vector.of(row[:3]), Vector.of(row[3:]))
