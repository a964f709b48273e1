"""Small motions around a state of a model: the Jacobians of the very functions that simulate it.

Units: matrices 1/s in the units of the states.
Source: Jacobians by automatic differentiation; the seen part is an observability subspace, Kalman 1963.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, Complex, Float, Int, jnp
from dockdyn.integrate.model import Model, State, jacobian_by_columns, pack_tree, unpack_tree


class Linear(NamedTuple):
    """ẋ(t) = A₀ x(t) + B C x(t − h) around a state; x are the model's continuous numbers, in the order of `names()`.

    A leading axis of all four stands for many states or models.
    """

    state: Float[Array, "n n"]  # A₀
    input: Float[Array, "n signals"]  # B
    output: Float[Array, "signals n"]  # C
    delay: Float[Array, ""]  # h, s; zero where the model's signal acts at once

    def matrices(self) -> Float[Array, "2 n n"]:
        """Return A₀ and A₁ = B C."""
        return jnp.stack([self.state, self.input @ self.output], axis=-3)

    def of(self, numbers: Int[np.ndarray, "r"]) -> Linear:
        """Return the linear form of these of the numbers alone, in their order, the others held."""
        own = self.state[..., numbers, :][..., numbers]
        return Linear(own, self.input[..., numbers, :], self.output[..., numbers], self.delay)


def linearise_model(model: Model, state: State) -> Linear:
    """Return the linear form of `model` around `state`, modes frozen.

    A₀ = ∂flow/∂x, B = ∂flow/∂delayed, C = ∂signal/∂x, where the delayed signal is that of the state itself. Configurations
    on a manifold (unit quaternions) are retracted first, so that a step off the manifold changes nothing.

    Raises what the model's functions raise.
    """
    zero = jnp.zeros(())
    moving = (state.q, state.v, state.memory)

    def at(x: Float[Array, "n"]) -> State:
        q, v, memory = unpack_tree(x, moving)
        return model.retract(State(q, v, state.mode, memory))

    here = pack_tree(moving)
    signal = model.signal(zero, state)
    level = pack_tree(signal)

    def answers(x: Float[Array, "n"]) -> Float[Array, "m"]:
        now = at(x)
        return jnp.concatenate([pack_tree(tuple(model.flow(zero, now, signal))), pack_tree(model.signal(zero, now))])

    own = jacobian_by_columns(answers, here)
    driven = jacobian_by_columns(lambda u: pack_tree(tuple(model.flow(zero, state, unpack_tree(u, signal)))), level)
    delay = zero if model.delay is None else jnp.asarray(model.delay, float)
    return Linear(own[: here.size], driven, own[here.size :], delay)


ROUNDING = 1e-12  # of the largest entry: nothing is balanced on account of smaller ones
RANK = 1e-9  # what is smaller than this, relative to what it is compared with, is rounding
DRIFT = 1e-4  # 1/s: slower motions, when no contact acts, are drift


def split_by_delayed_terms(
    matrices: Float[np.ndarray, "terms n n"],
) -> tuple[Float[np.ndarray, "terms r r"], Complex[np.ndarray, "n-r"]]:
    """Return the part of a delay equation that its delayed terms can see, and how the rest moves.

    Args: A₀, A₁ ... (1/s), shape (delays + 1, n, n).

    Returns the matrices of the seen part, shape (delays + 1, r, r), and the roots (1/s) of the part that no delayed term
    sees. A free body's place and drift are such a part: its roots are zero, whatever the delay, and a numerical search
    among the others would only be disturbed by them. The split is exact: the rows of A₁ ..., A₁ A₀, A₁ A₀² ... span a
    subspace that A₀ maps into itself.
    """
    size = balancing_scales(np.abs(matrices).sum(axis=0))
    scaled = matrices * size / size[:, None]
    motions = part_drift(scaled[0])
    fast, slow = motions.fast, motions.slow
    count = len(fast)
    rows = np.concatenate([independent_rows(part) for part in scaled[1:]]) @ motions.outward
    bases = seen_basis(fast, rows[:, :count]), seen_drift(slow, rows[:, count:], RANK * np.linalg.norm(rows, 2))
    inward, outward = _block_rows(bases) @ motions.inward, motions.outward @ _block_rows(bases).T
    within = np.array([inward @ part @ outward for part in scaled])
    rest = [
        np.linalg.eigvals(unseen @ part @ unseen.T)
        for part, basis in zip((fast, slow), bases, strict=True)
        if len(unseen := _complement(basis))
    ]
    return within, np.concatenate(rest) if rest else np.zeros(0, complex)


class PartedMotions(NamedTuple):
    """Drift and all other motions of ẋ = A x: A is outward · diag(fast, slow) · inward, each of these the other's inverse."""

    fast: Float[np.ndarray, "m m"]  # 1/s
    slow: Float[np.ndarray, "n-m n-m"]  # 1/s, of drift, with roots at zero
    inward: Float[np.ndarray, "n n"]
    outward: Float[np.ndarray, "n n"]


def part_drift(state: Float[np.ndarray, "n n"]) -> PartedMotions:
    """Return drift apart from the other motions of a balanced A (1/s), by an ordered Schur form and a Sylvester equation.

    Beside fast motions a search among all would not tell drift from rounding.
    """
    import scipy.linalg  # takes long to import, and few scenarios need it

    schur, turn, count = scipy.linalg.schur(state, sort=lambda real, imaginary: np.hypot(real, imaginary) > DRIFT)
    fast, slow = schur[:count, :count], schur[count:, count:]
    mixed = np.zeros((count, len(slow)))
    if mixed.size:
        mixed = scipy.linalg.solve_sylvester(fast, -slow, -schur[:count, count:])
    inward, outward = turn.T.copy(), turn.copy()
    inward[:count] -= mixed @ inward[count:]
    outward[:, count:] += outward[:, :count] @ mixed
    return PartedMotions(fast, slow, inward, outward)


def seen_drift(
    slow: Float[np.ndarray, "n n"], rows: Float[np.ndarray, "m n"], least: float
) -> Float[np.ndarray, "r n"]:
    """Return orthonormal rows that span the places of drift (1/s) that `rows` depend on, and their velocities; what is smaller
    than `least` is rounding."""
    places, velocities = (independent_rows(part, least) for part in (rows, rows @ slow))
    return independent_rows(np.concatenate([places, velocities]))


def _block_rows(bases: Sequence[np.ndarray]) -> np.ndarray:
    """Return rows of several blocks of columns as rows of all of these."""
    import scipy.linalg  # takes long to import, and few scenarios need it

    return scipy.linalg.block_diag(*bases)


def _complement(basis: Float[np.ndarray, "r n"]) -> Float[np.ndarray, "n-r n"]:
    """Return orthonormal rows at right angles to those of a basis."""
    return np.linalg.svd(basis, full_matrices=True)[2][len(basis) :] if len(basis) else np.eye(basis.shape[-1])


def seen_basis(state: Float[np.ndarray, "n n"], rows: Float[np.ndarray, "m n"]) -> Float[np.ndarray, "r n"]:
    """Return orthonormal rows that span `rows` and their images under A (1/s)."""
    basis = newest = independent_rows(rows)
    size = 1e-300
    while 0 < len(basis) < len(state) and len(newest):  # images of those before are in it
        image = newest @ state
        size = max(size, np.linalg.norm(image, 2))
        left = _orthogonal_part(_orthogonal_part(image, basis), basis)  # the second time takes what rounding left
        more = independent_rows(left, RANK * size)
        newest = np.linalg.qr(_orthogonal_part(more, basis).T)[0].T
        basis = np.concatenate([basis, newest])
    return basis


def _orthogonal_part(rows: Float[np.ndarray, "m n"], basis: Float[np.ndarray, "r n"]) -> Float[np.ndarray, "m n"]:
    """Return what of `rows` is at right angles to an orthonormal `basis`."""
    return rows - (rows @ basis.T) @ basis


def independent_rows(rows: Float[np.ndarray, "m n"], least: float | None = None) -> Float[np.ndarray, "rank n"]:
    """Return orthonormal rows that span `rows`, leaving out what is smaller than `least`, by default `RANK` of the largest."""
    if not rows.size:
        return np.zeros((0, rows.shape[-1]))
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return right[values > (RANK * values[0] + 1e-300 if least is None else least)]


def balancing_scales(sizes: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n"]:
    """Return powers of two d that make rows and columns of |aᵢⱼ| dⱼ / dᵢ alike, so that units of the states do not matter."""
    sizes = np.where(sizes > ROUNDING * sizes.max(), sizes, 0.0)
    d = np.ones(len(sizes))
    for _ in range(20):
        off = sizes * d / d[:, None]
        np.fill_diagonal(off, 0)
        row, column = off.sum(axis=1), off.sum(axis=0)
        both = (row > 0) & (column > 0)
        step = np.exp2(np.round(np.log2(np.where(both, row, 1) / np.where(both, column, 1)) / 4))
        if (step == 1).all():
            break
        d *= step
    return d
