"""One step of the midpoint variational integrator, in configurations and momenta, on manifolds, with constraints.

The discrete Lagrangian of a step from q₀ to q₁ = q₀ ⊕ h v is h L at the time, place and velocity halfway (Marsden and West
2001, Acta Numerica 10:357; Gibson and Murphey, eqs. 1–3). Its derivatives give, with g = ∂L/∂x + F halfway and momenta
turned into the axes halfway,

    S(h v) ∂L/∂v − ½ h g = p₀ − Gᵀλ,    p₁ = p₀ − Gᵀλ + h g

where S and the half of g are the identity and ½ but for attitudes (`mechanics.retraction`). The unknown is v, not q₁:
that stays well conditioned as h → 0. Where rows of guards or ties are held, λ are impulses along their gradients G at q₀,
and they are zero at q₁.

Newton's method: each pass takes the exact Jacobian once and corrects twice with it; the second correction is the test. Of a
model that `lags` the Jacobian is kept from step to step, and taken anew where corrections do not shrink fast or something has
jumped: more corrections, each far cheaper.

Units: SI: times s, momenta N s and N m s.
Source: as named above.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, DifferentiableFunction, Float, Int, jax, jnp
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.integrate.variational.mechanical import (
    Mechanical,
    Numbers,
    PhasePoint,
    RestingContacts,
    Row,
    lagrangian_gradients,
    regularisation,
)
from dockdyn.mechanics.dense import Factors, factor_matrix, solve_factored, value_and_jacobian
from dockdyn.mechanics.retraction import (
    from_stated_axes,
    halve_force,
    retract_configuration,
    spread_momentum,
    to_stated_axes,
)
from dockdyn.mechanics.vector import once
from dockdyn.programs import trace_once
from dockdyn.trees import map_leaves

APART = 1e-6  # of the largest velocity: how far apart differences are taken
LONGER = 1.1  # times the length of the step whose Jacobian is kept, beyond which it is taken anew
SLOW = 0.1  # share of the correction before, beyond which a Jacobian that is kept is taken anew
ROUNDING = 1e-15  # of the configuration: corrections of a step below it change nothing
COARSE = 1e4  # times the rounding of the configuration: differences that it does not spoil
CHAIN = 16.0  # times that is the rounding of where what is held comes, through a chain of links


class Newton(NamedTuple):
    """When Newton's method ends."""

    tolerance: (
        Scalar | float
    )  # of the last correction, relative to the velocities, or to what forces add to them in a step
    most: Scalar | int  # corrections


class KeptJacobian(NamedTuple):
    """A Jacobian that is kept, inverted, and the impulses of the step before; empty where a model does not lag."""

    inverse: Float[Array, "unknowns unknowns"]
    masses: Row  # what of its diagonal belongs to velocities
    impulses: Float[Array, "rows"]  # a guess of the next step's
    length: Scalar  # s, of the step that it is of
    valid: Flag

    @staticmethod
    def nothing(model: Mechanical, at: PhasePoint) -> KeptJacobian:
        """Return what is known before any step."""
        size = at.p.shape[0] if model.lags else 0
        rows = RestingContacts.of(model, at.mode).acting.shape[0] if model.lags else 0
        blank, never = jnp.zeros((size + rows, size + rows)), jnp.zeros((), bool)
        return KeptJacobian(blank, jnp.ones(size), jnp.zeros(rows), jnp.zeros(()), never)

    def after(self, jumps: Flag) -> KeptJacobian:
        """Return it after a step: nothing of it holds where something has jumped at the end."""
        return self._replace(valid=self.valid & ~jumps, impulses=jnp.where(jumps, 0.0, self.impulses))

    def of_length(self, h: Scalar) -> KeptJacobian:
        """Return it for a step of another length (s); not valid for one far longer."""
        return self._replace(valid=self.valid & (h <= LONGER * self.length))


class VariationalStep(NamedTuple):
    """A step of length h."""

    v: Row  # constant along the step
    q: Numbers  # at its end
    p: Row
    impulses: Float[Array, "rows"]  # λ, N s, that push contacts apart and hold ties
    force: Row  # without potential, halfway
    given: Row  # momenta that came from the potential, in the axes of p
    iterations: Int[Array, ""]
    converged: Flag
    known: KeptJacobian


class StepStart(NamedTuple):
    """A step's beginning."""

    t: Scalar
    at: PhasePoint
    held: RestingContacts
    rows: Float[Array, "rows n"]  # gradients G of what is held

    @staticmethod
    def of(model: Mechanical, t: Scalar, at: PhasePoint) -> StepStart:
        held = RestingContacts.of(model, at.mode)
        return StepStart(t, at, held, held.gradient(model, t, at.q, at.mode, at.p.shape[0]))


class Halfway(NamedTuple):
    """What the residual found on its way."""

    push: Row  # ∂L/∂x + F
    force: Row  # F


def step_residual(model: Mechanical, start: StepStart, h: Scalar, unknown: Row) -> tuple[Row, Halfway]:
    """Return how far velocities and impulses are from the discrete Euler–Lagrange equations, and what is halfway."""
    size, attitudes = start.at.p.shape[0], model.attitudes
    v, impulses = unknown[:size], unknown[size:]
    t, mode = start.t + 0.5 * h, start.at.mode
    q = retract_configuration(attitudes, start.at.q, 0.5 * h * v)
    slope, momentum = lagrangian_gradients(model, t, q, v, mode)
    force = model.force(t, q, v, mode)
    push = slope + force
    before = start.at.p
    if impulses.shape[0]:
        before = before - to_stated_axes(attitudes, start.at.q, start.rows.T @ impulses)
    defect = (
        spread_momentum(attitudes, h * v, momentum)
        - 0.5 * h * halve_force(attitudes, h * v, push)
        - from_stated_axes(attitudes, q, before)
    )
    found = Halfway(push, force)
    if not impulses.shape[0]:
        return defect, found
    reached = start.held.rows(model, start.t + h, retract_configuration(attitudes, start.at.q, h * v), mode)
    return jnp.concatenate([defect, jnp.where(start.held.acting, reached / h, impulses)]), found


def _linearise_residual(model: Mechanical, start: StepStart, h: Scalar, unknown: Row) -> tuple[Row, Factors, Row]:
    """Return the residual, its Jacobian in factors, and what of its diagonal belongs to velocities: about the masses."""
    size, attitudes = start.at.p.shape[0], model.attitudes
    v, impulses = unknown[:size], unknown[size:]
    value, slopes = once(
        value_and_jacobian(lambda v: step_residual(model, start, h, jnp.concatenate([v, impulses]))[0], v)
    )
    masses = jnp.diagonal(slopes)
    if start.rows.shape[0]:
        # impulses enter linearly
        halfway = retract_configuration(attitudes, start.at.q, 0.5 * h * v)
        across = jax.vmap(lambda row: from_stated_axes(attitudes, halfway, to_stated_axes(attitudes, start.at.q, row)))(
            start.rows
        ).T
        acting = start.held.acting
        follow = jnp.sum(start.rows**2 / masses, axis=1)
        corner = jnp.diag(jnp.where(acting, -regularisation(follow, acting), 1.0))
        slopes = jnp.concatenate([slopes, jnp.concatenate([across, corner])], axis=1)
    return value, once(factor_matrix(slopes)), masses


_once_residual = trace_once(step_residual)


def _take_jacobian(model: Mechanical, start: StepStart, h: Scalar, unknown: Row, value: Row) -> KeptJacobian:
    """Return the Jacobian here, where the residual is `value`, by differences: it need not be exact; inverted."""
    size = start.at.p.shape[0]
    largest = jnp.max(jnp.abs(unknown[:size]))
    by = APART * jnp.where(largest > 0, largest, 1.0)
    by = jnp.maximum(by, COARSE * ROUNDING * jnp.max(jnp.abs(start.at.q)) / h)

    def column(direction: Row) -> Row:
        return (_once_residual(model, start, h, unknown + by * direction)[0] - value) / by

    slopes = jax.lax.map(column, jnp.eye(unknown.shape[0])).T
    acting = jnp.concatenate([jnp.zeros(size, bool), start.held.acting])
    soft = jnp.concatenate(
        [jnp.zeros(size), regularisation(jnp.sum(start.rows**2 / jnp.diagonal(slopes)[:size], 1), start.held.acting)]
    )
    slopes = slopes - jnp.diag(jnp.where(acting, soft, 0.0))
    factors = factor_matrix(slopes)
    inverse = jax.lax.map(lambda column: solve_factored(factors, column), jnp.eye(unknown.shape[0])).T
    return KeptJacobian(inverse, jnp.diagonal(slopes)[:size], unknown[size:], h, jnp.ones((), bool))


class Solved(NamedTuple):
    """A solution of the equations of a step, as far as Newton's method has come."""

    unknown: Float[Array, "unknowns"]  # velocities, then impulses
    push: Row  # ∂L/∂x + F halfway
    force: Row  # F halfway
    correction: Scalar  # the last one, of velocities
    urge: Scalar  # what forces would add to velocities in the step
    holds: Flag  # whether the equations held as closely as numbers can tell before the last correction
    corrections: Int[Array, ""]
    known: KeptJacobian


def variational_step(
    model: Mechanical, start: StepStart, h: Scalar, guess: Row, newton: Newton, known: KeptJacobian | None = None
) -> VariationalStep:
    """Return the step of length h (s) from `start`, with a guess of its velocities and what is `known` of its Jacobian."""
    known = KeptJacobian.nothing(model, start.at) if known is None else known.of_length(h)
    size, attitudes = start.at.p.shape[0], model.attitudes
    found = _solve_step(model, start, h, guess, newton, known)
    v, impulses = found.unknown[:size], found.unknown[size:]
    halfway = retract_configuration(attitudes, start.at.q, 0.5 * h * v)
    p = start.at.p + h * to_stated_axes(attitudes, halfway, found.push)
    if impulses.shape[0]:
        p = p - to_stated_axes(attitudes, start.at.q, start.rows.T @ impulses)
    converged = found.holds | (found.correction <= _newton_tolerance(start, h, newton, found.unknown, found.urge))
    given = h * to_stated_axes(attitudes, halfway, found.push - found.force)
    q = retract_configuration(attitudes, start.at.q, h * v)
    known = found.known._replace(impulses=impulses) if model.lags else found.known
    return VariationalStep(v, q, p, impulses, found.force, given, found.corrections, converged, known)


def _newton_tolerance(start: StepStart, h: Scalar, newton: Newton, unknown: Row, urge: Scalar) -> Scalar:
    """Return how small a correction of the velocities ends Newton's method."""
    speed = jnp.maximum(jnp.max(jnp.abs(unknown[: start.at.p.shape[0]])), urge)
    return newton.tolerance * speed + _velocity_rounding(start, h)


def _velocity_rounding(start: StepStart, h: Scalar) -> Scalar:
    """Return the rounding of a configuration over the step's length."""
    return ROUNDING * (CHAIN if start.rows.shape[0] else 1.0) * jnp.max(jnp.abs(start.at.q)) / h


def _is_rounding(start: StepStart, h: Scalar, residual: Row) -> Flag:
    """Return whether a residual is rounding alone. Where rows nearly depend on each other, as those of a loop of bars in line,
    the corrections that it gives may still be large, and come to nothing."""
    size = start.at.p.shape[0]
    momenta = jnp.max(jnp.abs(residual[:size])) <= ROUNDING * jnp.max(jnp.abs(start.at.p))
    return momenta & jnp.all(jnp.abs(residual[size:]) <= _velocity_rounding(start, h))


@DifferentiableFunction
def _solve_step(
    model: Mechanical, start: StepStart, h: Scalar, guess: Row, newton: Newton, known: KeptJacobian
) -> Solved:
    """Solve the equations of a step. Its derivatives are those of the solution, whatever way Newton's method has gone."""
    size = start.at.p.shape[0]

    def going(now: Solved) -> Flag:
        far = now.correction > _newton_tolerance(start, h, newton, now.unknown, now.urge)
        return far & ~now.holds & (now.corrections < newton.most)

    def correct(now: Solved) -> Solved:
        value, factors, masses = _linearise_residual(model, start, h, now.unknown)
        unknown = once(now.unknown - solve_factored(factors, value))
        value, found = once(step_residual(model, start, h, unknown))
        correction = solve_factored(factors, value)
        urge = jnp.max(jnp.abs(h * found.push / masses))  # what forces would add to velocities that are held at zero
        by = jnp.max(jnp.abs(correction[:size]))
        holds = _is_rounding(start, h, value)
        return Solved(unknown - correction, found.push, found.force, by, urge, holds, now.corrections + 2, now.known)

    def correct_again(now: Solved) -> Solved:
        value, found = once(_once_residual(model, start, h, now.unknown))
        known = jax.lax.cond(
            now.known.valid, lambda: now.known, lambda: _take_jacobian(model, start, h, now.unknown, value)
        )
        correction = known.inverse @ value
        urge = jnp.max(jnp.abs(h * found.push / known.masses))
        by = jnp.max(jnp.abs(correction[:size]))
        known = known._replace(valid=by <= SLOW * now.correction)
        holds = _is_rounding(start, h, value)
        return Solved(now.unknown - correction, found.push, found.force, by, urge, holds, now.corrections + 1, known)

    first = jnp.concatenate([guess, known.impulses if model.lags else jnp.zeros(start.rows.shape[0])])
    blank, zero = jnp.zeros(size), jnp.zeros(())
    init = Solved(first, blank, blank, jnp.asarray(jnp.inf), zero, jnp.zeros((), bool), jnp.zeros((), int), known)
    return jax.lax.while_loop(going, correct_again if model.lags else correct, init)


@_solve_step.defjvp
def _solution_change(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Solved, Solved]:
    """Return the solution and how it changes: by the equations that hold there (implicit function theorem)."""
    found = _solve_step(*primals)
    model, start, h = primals[:3]
    (_, _), (moved_by, beside) = jax.jvp(
        lambda *at: step_residual(at[0], at[1], at[2], found.unknown), primals[:3], tangents[:3]
    )
    _, slopes = value_and_jacobian(lambda unknown: step_residual(model, start, h, unknown)[0], found.unknown)
    size = start.at.p.shape[0]
    acting = jnp.concatenate([jnp.zeros(size, bool), start.held.acting])
    follow = jnp.sum(start.rows**2 / jnp.diagonal(slopes)[:size], axis=1)
    soft = jnp.concatenate([jnp.zeros(size), regularisation(follow, start.held.acting)])
    factors = factor_matrix(slopes - jnp.diag(jnp.where(acting, soft, 0.0)))
    change = -solve_factored(factors, moved_by)
    change = change - solve_factored(factors, moved_by + slopes @ change)  # what softening left
    _, (_, along) = jax.jvp(lambda unknown: step_residual(model, start, h, unknown), (found.unknown,), (change,))

    def nothing(leaf: Array) -> Any:  # noqa: ANN401, of no type that is a number
        inexact = jnp.issubdtype(leaf.dtype, jnp.inexact)
        return jnp.zeros_like(leaf) if inexact else np.zeros(leaf.shape, jax.dtypes.float0)

    still = map_leaves(nothing, found)
    return found, still._replace(unknown=change, push=beside.push + along.push, force=beside.force + along.force)
