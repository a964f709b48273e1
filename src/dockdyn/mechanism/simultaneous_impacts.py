"""Contacts that are struck at one instant, with no time in between, as often as some of them still approach.

All that approach are struck together: each by its own law, from the velocities before, in a share of its own. With Λᵢ the
impulse that the law of contact i has for it alone and G the matrix of Λᵢᵀ Wᵢⱼ Λⱼ, the shares s ≥ 0 are those of G s = diag G;
what would have to pull is left to the next pass. Then the energy that is lost is Σ sᵢ lossᵢ, the losses being those of each
impact alone: elastic impacts lose none, and laws that never give energy never do so together. Shares do not depend on the
order of contacts, which keeps symmetry, and the share of one that feels no other is 1. What only touches is no part of a pass,
so that a row of balls hands motion on.

Without friction this is the generalised reflection of Smith et al., by which u_n becomes −e u_n of all that approach.

Units: SI: m/s, N s, J, W in 1/kg.
Source: Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012, Reflections on simultaneous impact, ACM Trans. Graph. 31:106; the
shares, for any laws and friction: own construction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.impact.laws.result import Impact, impact_of_impulse
from dockdyn.mechanics.dense import solve_definite

STILL = 1e-12  # m/s: slower is no motion
MOST = 200  # passes at one instant; what still approaches then is struck by the next event
EVENLY = 1e-12  # of the diagonal of G: of impulses that could be shared in any way each takes the same part

type Law = Callable[[Float[Array, "axes axes"], Float[Array, "axes"]], Impact]  # of W and u


class Touching(NamedTuple):
    """Contacts that may be struck at an instant."""

    touch: Bool[Array, "contacts"]
    rest_speed: Float[
        Array, "contacts"
    ]  # m/s: what approaches or parts more slowly is stopped once nothing else approaches


class _Passes(NamedTuple):
    """Impacts at one instant so far."""

    u: Float[Array, "rows"]  # m/s
    impulse: Float[Array, "rows"]  # N s
    passes: Int[Array, ""]


def strike_together(
    laws: Sequence[Law], touching: Touching, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]
) -> Impact:
    """Return the impact of all contacts at an instant, each of which has rows of W (1/kg) and u (m/s), as many as
    the others, its normal first, and its law.

    At its end none that touches approaches, and what moves more slowly than its `rest_speed` along its normal is still.
    """

    axes = velocity.size // len(laws)

    def slow(u: Float[Array, "rows"]) -> Float[Array, "contacts"]:
        """Return how fast contacts move along their normals that approach, or part too slowly."""
        normal = u[::axes]
        return jnp.where(touching.touch & (normal < touching.rest_speed), jnp.abs(normal), 0.0)

    def least(passes: Int[Array, ""]) -> Float[Array, ""]:
        return jnp.where(passes < len(laws), 0.0, STILL)

    def goes_on(now: _Passes) -> Bool[Array, ""]:
        return jnp.any(slow(now.u) > least(now.passes)) & (now.passes < MOST)

    def strike(now: _Passes) -> _Passes:
        moving = slow(now.u)
        hits = touching.touch & (now.u[::axes] < -touching.rest_speed)
        due = jnp.where(jnp.any(hits), hits, moving > least(now.passes))
        impulse = _shared_impulses(laws, due, matrix, now.u)
        return _Passes(now.u + matrix @ impulse, now.impulse + impulse, now.passes + 1)

    found = jax.lax.while_loop(goes_on, strike, _Passes(velocity, jnp.zeros_like(velocity), jnp.zeros((), int)))
    return impact_of_impulse(matrix, velocity, found.impulse)


def _shared_impulses(
    laws: Sequence[Law], due: Bool[Array, "contacts"], matrix: Float[Array, "rows rows"], u: Float[Array, "rows"]
) -> Float[Array, "rows"]:
    """Return the impulses (N s) of one pass, in which those `due` are struck."""
    alone, axes = [], u.size // len(laws)
    for number, law in enumerate(laws):
        own = slice(axes * number, axes * (number + 1))

        def by_law(own: slice = own, law: Law = law) -> Float[Array, "axes"]:
            return law(matrix[own, own], u[own]).impulse

        alone.append(jax.lax.cond(due[number], by_law, lambda: jnp.zeros(axes)))
    if len(laws) == 1:
        return alone[0]
    each = jnp.stack(alone)
    blocks = matrix.reshape(len(laws), axes, len(laws), axes)
    gram = jnp.einsum("ix,ixjy,jy->ij", each, blocks, each)
    return (each * _impulse_shares(gram, due)[:, None]).reshape(-1)


def _impulse_shares(gram: Float[Array, "contacts contacts"], due: Bool[Array, "contacts"]) -> Float[Array, "contacts"]:
    """Return shares s ≥ 0 with G s = diag G of those that are `due`, but zero of what would have to pull."""
    due = due & (jnp.diag(gram) > 0)
    size = jnp.sqrt(jnp.where(due, jnp.diag(gram), 1.0))
    scaled = gram / size / size[:, None]

    def solution(among: Bool[Array, "contacts"]) -> Float[Array, "contacts"]:
        both = among & among[:, None]
        known, unit = jnp.where(among, size, 0.0), jnp.eye(size.size)
        kept = jnp.where(both, scaled, unit)
        first = solve_definite(kept + EVENLY * unit, known)
        # what evenness has cost where there is one solution
        return first + solve_definite(kept + EVENLY * unit, known - kept @ first)

    def fewer(now: tuple[Bool[Array, "contacts"], Bool[Array, ""]]) -> tuple[Bool[Array, "contacts"], Bool[Array, ""]]:
        among, _ = now
        pushes = among & (solution(among) > 0)
        return pushes, jnp.any(pushes != among)

    among, _ = jax.lax.while_loop(lambda now: now[1], fewer, (due, jnp.asarray(True)))
    # a law that gives energy may leave none: then the one that moves most goes alone
    among = jnp.where(jnp.any(among), among, due & (jnp.arange(size.size) == jnp.argmax(jnp.where(due, size, 0.0))))
    return solution(among) / size
