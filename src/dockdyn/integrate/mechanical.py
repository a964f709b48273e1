"""What variational integration asks of a mechanical system: a Lagrangian, forces, contacts, constraints, and how it jumps."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate.model import Scalar
from dockdyn.mechanics.retraction import Attitudes, inward, moved, outward

Row = Float[Array, "n"]
Numbers = Float[Array, "numbers"]


class Point(NamedTuple):
    """Where a system is in phase space, and its mode."""

    q: Numbers  # configuration: a row of numbers and unit quaternions (`mechanics.retraction`)
    p: Row  # momenta ∂L/∂v, those of attitudes in the axes in which the attitude is stated
    mode: Any  # what only jumps: phases, latches, contacts at rest; a tree of arrays


class Jump(NamedTuple):
    """What an event does."""

    impulse: Row  # generalised, in the axes of what turns
    mode: Any
    record: Float[Array, "records"]  # for the log: whatever the system has to tell, always as many numbers


class Mechanical(eqx.Module):
    """A mechanical system. Velocities v: a row, angular ones in the axes of what turns."""

    attitudes: eqx.AbstractClassVar[Attitudes]  # where angular velocities of quaternions begin in v
    holding: eqx.AbstractVar[bool]  # static: whether contacts may rest or constraints act; costs time where it is true

    @abc.abstractmethod
    def initial(self) -> tuple[Numbers, Row, Any]:
        """Configuration, velocities and mode at t = 0."""

    @abc.abstractmethod
    def lagrangian(self, t: Scalar, q: Numbers, v: Row, mode: Any) -> Scalar:
        """Kinetic less potential energy (J)."""

    def force(self, t: Scalar, q: Numbers, v: Row, mode: Any) -> Row:
        """Generalised forces that have no potential: of control, of dampers."""
        return jnp.zeros_like(v)

    def guards(self, t: Scalar, q: Numbers, mode: Any) -> Float[Array, "guards"]:
        """Depths of contacts (m) and other event functions; an event is one that rises through zero."""
        return jnp.zeros(0)

    def ties(self, q: Numbers, mode: Any) -> Float[Array, "ties"]:
        """Constraints: each zero while it acts."""
        return jnp.zeros(0)

    def acting(self, mode: Any) -> tuple[Bool[Array, "guards"], Bool[Array, "ties"]]:
        """Which guards are held at zero, as contacts at rest, and which constraints act."""
        return jnp.zeros(0, bool), jnp.zeros(0, bool)

    def jump(self, t: Scalar, q: Numbers, v: Row, mass: Float[Array, "n n"], mode: Any, fired: Int[Array, ""]) -> Jump:
        """What the event of guard `fired` does."""
        raise NotImplementedError

    def parted(self, mode: Any, pulled: Bool[Array, "guards"]) -> Any:
        """The mode once contacts at rest part that would have to pull."""
        raise NotImplementedError

    def records(self) -> int:
        """How many numbers a jump records."""
        return 0


def gradients(model: Mechanical, t: Scalar, q: Numbers, v: Row, mode: Any) -> tuple[Row, Row]:
    """∂L/∂x over displacements x of the configuration, and ∂L/∂v."""
    if not model.attitudes:
        return jax.grad(model.lagrangian, (1, 2))(t, q, v, mode)
    shifted = lambda x, v: model.lagrangian(t, moved(model.attitudes, q, x), v, mode)  # noqa: E731
    return jax.grad(shifted, (0, 1))(jnp.zeros_like(v), v)


def mass_matrix(model: Mechanical, t: Scalar, q: Numbers, mode: Any, size: int) -> Float[Array, "n n"]:
    """∂²L/∂v²."""
    return jax.hessian(lambda v: model.lagrangian(t, q, v, mode))(jnp.zeros(size))


def velocities(model: Mechanical, t: Scalar, at: Point) -> tuple[Row, Float[Array, "n n"]]:
    """Velocities that belong to the momenta, and the mass matrix."""
    size = at.p.shape[0]
    mass = mass_matrix(model, t, at.q, at.mode, size)
    offset = jax.grad(lambda v: model.lagrangian(t, at.q, v, at.mode))(jnp.zeros(size))
    return jnp.linalg.solve(mass, inward(model.attitudes, at.q, at.p) - offset), mass


def rows_of(model: Mechanical, t: Scalar, q: Numbers, mode: Any) -> Float[Array, "rows"]:
    """All that may be held at zero: guards, then ties."""
    return jnp.concatenate([model.guards(t, q, mode), model.ties(q, mode)])


def held_rows(model: Mechanical, mode: Any) -> Bool[Array, "rows"]:
    return jnp.concatenate(model.acting(mode))


def row_gradients(model: Mechanical, t: Scalar, q: Numbers, mode: Any, size: int) -> Float[Array, "rows n"]:
    """Derivatives of `rows_of` over displacements."""
    return jax.jacfwd(lambda x: rows_of(model, t, moved(model.attitudes, q, x), mode))(jnp.zeros(size))


def projected(model: Mechanical, t: Scalar, at: Point) -> Row:
    """Momenta whose velocities obey what is held: an impulse along those rows, which changes no later step."""
    held = held_rows(model, at.mode)

    def project() -> Row:
        v, mass = velocities(model, t, at)
        rows = jnp.where(held[:, None], row_gradients(model, t, at.q, at.mode, v.shape[0]), 0.0)
        drift = jax.jvp(lambda t: rows_of(model, t, at.q, at.mode), (t,), (jnp.ones(()),))[1]
        moved_by = jnp.linalg.solve(mass, rows.T)
        matrix = rows @ moved_by + jnp.diag(jnp.where(held, 0.0, 1.0))
        along = -jnp.linalg.solve(matrix, jnp.where(held, rows @ v + drift, 0.0))
        return at.p + outward(model.attitudes, at.q, rows.T @ along)

    return jax.lax.cond(jnp.any(held), project, lambda: at.p)
