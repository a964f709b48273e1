"""What variational integration asks of a mechanical system: a Lagrangian, forces, contacts, constraints, and how it jumps.

Units: SI: J, N, N m, N s, kg; angles rad.
Source: Marsden and West 2001, Acta Numerica 10:357; Gibson and Murphey, eqs. 1–4.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Bool, Float, Int, PyTree, jax, jnp
from dockdyn.impact.laws.contact_matrix import contact_matrix
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.mechanics.dense import factor_matrix, solve_definite, solve_factored, value_and_jacobian
from dockdyn.mechanics.retraction import (
    Attitudes,
    change_each_attitude,
    from_stated_axes,
    retract_configuration,
    to_stated_axes,
)
from dockdyn.mechanics.vector import Vector
from dockdyn.trees import Module

PLACES = 6  # contacts that may rest at once
SOFT = 1e-9  # of W's diagonal

type Row = Float[Array, "n"]
type Numbers = Float[Array, "numbers"]


class PhasePoint(NamedTuple):
    """Where a system is in phase space, and its mode."""

    q: Numbers  # configuration: a row of numbers and unit quaternions (`mechanics.retraction`)
    p: Row  # momenta ∂L/∂v, those of attitudes in the axes in which the attitude is stated
    mode: PyTree  # what only jumps: phases, latches, contacts at rest; a tree of arrays


class Jump(NamedTuple):
    """What an event does."""

    impulse: Row  # generalised, in the axes of what turns
    mode: PyTree
    elastic: Flag  # an elastic impact: one for the discrete law, where that is asked for
    record: Float[Array, "records"]  # for the log: whatever the system has to tell, always as many numbers


class Mechanical(Module):
    """A mechanical system. Velocities v: a row, angular ones in the axes of what turns."""

    @property
    @abc.abstractmethod
    def attitudes(self) -> Attitudes:
        """Where the angular velocities of quaternions begin in v."""

    @property
    @abc.abstractmethod
    def rests(self) -> bool:
        """Whether contacts may come to rest: costs time."""

    @property
    @abc.abstractmethod
    def tied(self) -> bool:
        """Whether constraints may act: costs time."""

    @property
    def discrete(self) -> bool:
        """Whether impacts are elastic by the discrete law (`integrate.discrete_energy`)."""
        return False

    @property
    def lags(self) -> bool:
        """Whether Newton's method keeps its Jacobian from step to step: for one that takes far longer than the equations."""
        return False

    @abc.abstractmethod
    def initial(self) -> tuple[Numbers, Row, Any]:
        """Return configuration, velocities and mode at t = 0."""

    @abc.abstractmethod
    def lagrangian(self, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Scalar:
        """Return kinetic less potential energy (J)."""

    def mass_matrix(self, t: Scalar, q: Numbers, mode: PyTree, size: int) -> Float[Array, "n n"]:
        """Return the mass matrix ∂²L/∂v² of so many velocities."""
        return value_and_jacobian(lambda v: jax.grad(self.lagrangian, 2)(t, q, v, mode), jnp.zeros(size))[1]

    def force(self, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Row:
        """Return generalised forces that have no potential: of control, of dampers."""
        return jnp.zeros_like(v)

    def guards(self, t: Scalar, q: Numbers, mode: PyTree) -> Float[Array, "guards"]:
        """Return depths of contacts (m) and other event functions; an event is one that rises through zero."""
        return jnp.zeros(0)

    def ties(self, q: Numbers, mode: PyTree) -> Float[Array, "ties"]:
        """Return constraints: each zero while it acts."""
        return jnp.zeros(0)

    def acting(self, mode: PyTree) -> tuple[Bool[Array, "guards"], Bool[Array, "ties"]]:
        """Return which guards are held at zero, as contacts at rest, and which constraints act."""
        return jnp.zeros(0, bool), jnp.zeros(0, bool)

    def restable(self, guards: int) -> Sequence[int]:
        """Return which of so many guards may be held at zero."""
        return range(guards)

    def jump(
        self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: PyTree, fired: Int[Array, ""]
    ) -> Jump:
        """Return what the event of guard `fired` does; NotImplementedError where a model with guards does not say."""
        raise NotImplementedError("a model with guards says what their events do")

    def scaled(self, record: Float[Array, "records"], factor: Scalar) -> Float[Array, "records"]:
        """Return a record of a jump whose impulse the discrete law multiplies by `factor`."""
        return record

    def parted(self, mode: PyTree, pulled: Bool[Array, "guards"]) -> PyTree:
        """Return the mode once contacts at rest part that would have to pull; NotImplementedError where a model does not
        say."""
        raise NotImplementedError("a model whose contacts may rest says how they part")

    def records(self) -> int:
        """Return how many numbers a jump records."""
        return 0

    def passed(self, t: Scalar, q: Numbers, v: Row, mode: PyTree, length: Scalar) -> PyTree:
        """Return the mode after a step of that length (s), `t` and `q` being halfway: of what is remembered on the way."""
        return mode

    def stored(self, t: Scalar, q: Numbers, mode: PyTree) -> Scalar | None:
        """Return the energy (J) of those parts of `force` that have a potential; None where that is in the Lagrangian."""
        return None

    def balanced(self, mode: PyTree, factor: Scalar) -> PyTree:
        """Return the mode after a jump whose impulse the discrete law multiplies by `factor`."""
        return mode

    def told(self, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Row:
        """Return what the log keeps of the state after an event, always as many numbers."""
        return jnp.zeros(0)

    def ended(self, mode: PyTree) -> Flag | None:
        """Return whether the run ends with the event that led to this mode; None: nothing of the kind ends it."""
        return None


def lagrangian_gradients(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> tuple[Row, Row]:
    """Return ∂L/∂x over displacements x of the configuration, and ∂L/∂v."""
    if not model.attitudes:
        return jax.grad(model.lagrangian, (1, 2))(t, q, v, mode)
    shifted = lambda x, v: model.lagrangian(t, retract_configuration(model.attitudes, q, x), v, mode)  # noqa: E731
    return jax.grad(shifted, (0, 1))(jnp.zeros_like(v), v)


def generalised_momenta(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Row:
    """Return ∂L/∂v, in the axes in which attitudes are stated."""
    return to_stated_axes(model.attitudes, q, jax.grad(model.lagrangian, 2)(t, q, v, mode))


def velocities_of_momenta(model: Mechanical, t: Scalar, at: PhasePoint) -> tuple[Row, Float[Array, "n n"]]:
    """Return velocities that belong to the momenta, and the mass matrix."""
    size = at.p.shape[0]
    mass = model.mass_matrix(t, at.q, at.mode, size)
    offset = jax.grad(lambda v: model.lagrangian(t, at.q, v, at.mode))(jnp.zeros(size))
    return solve_definite(mass, from_stated_axes(model.attitudes, at.q, at.p) - offset), mass


def unconstrained_accelerations(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: PyTree) -> Row:
    """Return v̇ of a system that nothing holds, by d/dt ∂L/∂v + ω × ∂L/∂ω = ∂L/∂x + F: for explicit methods to compare with."""
    still = jnp.zeros_like(v)

    def momentum(t: Scalar, x: Row, v: Row) -> Row:
        return jax.grad(model.lagrangian, 2)(t, retract_configuration(model.attitudes, q, x), v, mode)

    slope, now = lagrangian_gradients(model, t, q, v, mode)
    drift = jax.jvp(momentum, (t, still, v), (jnp.ones(()), v, still))[1]
    parts = [slice(place, place + 3) for place in model.attitudes]
    turning = change_each_attitude(
        model.attitudes, still, lambda which, _: Vector.of(v[parts[which]]).cross(Vector.of(now[parts[which]]))
    )
    right = slope + model.force(t, q, v, mode) - drift - turning
    return solve_factored(factor_matrix(model.mass_matrix(t, q, mode, v.shape[0])), right)


class RestingContacts(NamedTuple):
    """What is kept at zero: contacts at rest, in as many places as there may be at once, then ties."""

    guards: Int[Array, "places"]  # which guard a place is for; −1: none
    acting: Bool[Array, "rows"]

    @staticmethod
    def of(model: Mechanical, mode: PyTree) -> RestingContacts:
        resting, tied = model.acting(mode)
        places = _guard_places(model, resting.shape[0])
        if not model.rests:
            guards = jnp.zeros(0, int)
        elif places is not None:
            guards = jnp.where(resting[places], places, -1)
        else:
            guards = jnp.nonzero(resting, size=PLACES, fill_value=-1)[0]
        return RestingContacts(guards, jnp.concatenate([guards >= 0, tied if model.tied else jnp.zeros(0, bool)]))

    def rows(self, model: Mechanical, t: Scalar, q: Numbers, mode: PyTree) -> Float[Array, "rows"]:
        """Return what is to be zero."""
        found = []
        if self.guards.shape[0]:
            depths = model.guards(t, q, mode)
            places = _guard_places(model, depths.shape[0])
            found.append(depths[self.guards if places is None else places])
        if model.tied:
            found.append(model.ties(q, mode))
        return jnp.concatenate(found) if found else jnp.zeros(0)

    def gradient(self, model: Mechanical, t: Scalar, q: Numbers, mode: PyTree, size: int) -> Float[Array, "rows n"]:
        """Return derivatives of the rows that act over displacements; zero for the others."""
        if not self.acting.shape[0]:
            return jnp.zeros((0, size))

        def differentiate() -> Float[Array, "rows n"]:
            _, rows = value_and_jacobian(
                lambda x: self.rows(model, t, retract_configuration(model.attitudes, q, x), mode), jnp.zeros(size)
            )
            return jnp.where(self.acting[:, None], rows, 0.0)

        blank = jnp.zeros((self.acting.shape[0], size))
        return jax.lax.cond(jnp.any(self.acting), differentiate, lambda: blank)


def _guard_places(model: Mechanical, guards: int) -> np.ndarray | None:
    """Return which guards have a place of their own among those held, so that nothing is to be looked up; None: too many."""
    found = np.array(model.restable(guards), int)
    return found if len(found) <= PLACES else None


def regularisation(size: Float[Array, "rows"], acting: Bool[Array, "rows"]) -> Float[Array, "rows"]:
    """Return what is added to the diagonal `size` of W so that rows may depend on each other; 1 for rows that do not act."""
    largest = jnp.max(jnp.where(acting, size, 0.0), initial=0.0)
    return jnp.where(acting, SOFT * jnp.where(largest > 0, largest, 1.0), 1.0)


def stopping_impulses(
    mass: Float[Array, "n n"],
    rows: Float[Array, "rows n"],
    slip: Float[Array, "rows *columns"],
    acting: Bool[Array, "rows"],
) -> Float[Array, "rows *columns"]:
    """Return impulses along rows that take a slip away. Rows may depend on each other; those that do not act are zero."""
    following = contact_matrix(rows, mass)
    matrix = following + jnp.diag(regularisation(jnp.diagonal(following), acting))
    impulse = -solve_definite(matrix, slip)
    return impulse - solve_definite(matrix, slip + following @ impulse)  # what softening left


def project_velocities(model: Mechanical, t: Scalar, at: PhasePoint) -> tuple[PhasePoint, Row, Float[Array, "n n"]]:
    """Return a point whose velocities obey what is held, these, and the mass matrix.

    Its momenta are those given but for an impulse along the rows that are held, which changes no later step: it is taken where
    velocities are asked for, at events and samples.
    """
    held = RestingContacts.of(model, at.mode)
    v, mass = velocities_of_momenta(model, t, at)
    if not held.acting.shape[0]:
        return at, v, mass

    def project() -> tuple[PhasePoint, Row]:
        rows = held.gradient(model, t, at.q, at.mode, v.shape[0])
        drift = jax.jvp(lambda t: held.rows(model, t, at.q, at.mode), (t,), (jnp.ones(()),))[1]
        slip = jnp.where(held.acting, rows @ v + drift, 0.0)
        impulse = rows.T @ stopping_impulses(mass, rows, slip, held.acting)
        return at._replace(p=at.p + to_stated_axes(model.attitudes, at.q, impulse)), v + solve_definite(mass, impulse)

    return *jax.lax.cond(jnp.any(held.acting), project, lambda: (at, v)), mass
