"""Strikes: every jump of velocities, of an impact law on a contact's rows or of a connection that falls in.

Units: SI: u in m/s or rad/s, W in 1/kg or the like, impulses N s and N m s, energies J.
Source: contact space, Khatib 1987; W with what is held by Schur's complement, as `impact.constrained_contact_matrix`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.impact.laws.result import Impact, impact_of_impulse
from dockdyn.mechanics.dense import factor_matrix, solve_factored
from dockdyn.mechanics.lines import Lines, Rows, even_solution, forces_against, mobility_between, row_of
from dockdyn.mechanics.trees.bodies_on_line import Moving
from dockdyn.mechanics.trees.moving_bodies import Placement, Velocities

type Resolve = Callable[[Float[Array, "rows rows"], Float[Array, "rows"]], Impact]  # an impact law: of W and u


class Struck(NamedTuple):
    """What a strike did."""

    change: Velocities  # of the velocities
    impact: Impact  # along the rows that were struck
    before: Float[Array, "rows"]  # m/s, rad/s, along them, as the law was given them
    kept: Float[Array, "lines"]  # N s, N m s: impulses along the lines that were kept


def stop_motion(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
    """Return the impact that ends all motion along its rows: that of a connection that falls in."""
    return impact_of_impulse(matrix, velocity, solve_factored(factor_matrix(matrix), -velocity))


def stop_with_least_impulses(
    matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], easing: Float[Array, "rows"]
) -> Impact:
    """Return the impact that ends all motion along rows that may depend on each other, or on what is kept."""
    return impact_of_impulse(matrix, velocity, even_solution(matrix, easing)(-velocity))


def one_by_one(answer: Callable[[Rows], Rows], rows: Rows) -> Rows:
    """Return the answers to loads, one line after another: a short program for what is asked now and then."""
    return jax.lax.map(lambda row: answer(row[None])[0], rows)


def strike_bodies(bodies: Moving, here: Placement, rows: Rows, resolve: Resolve, kept: Lines | None = None) -> Struck:
    """Return what an impact along `rows` does to all velocities.

    Args:
        bodies: all bodies.
        here: where they are and how they move before.
        rows: J of what is struck: of a contact the normal, from the other body to the first, then tangents.
        resolve: the impact law; `stop_motion` lets a connection fall in.
        kept: lines of connections, of which those that are closed hold during the impact, and what slips along them is ended,
            too; and lines that reflect mass, which resists what changes along them.

    Momentum is kept: every impulse acts on both bodies of its row.
    """
    moving = jnp.stack([row_of(body.twist.velocity, body.twist.rate) for body in here.bodies])
    mobility = bodies.mobility(here)
    answers = one_by_one(mobility.answer, rows)
    if kept is None:
        velocity = jnp.einsum("kbi,bi->k", rows, moving)
        found = resolve(mobility_between(rows, answers), velocity)
        load, held = jnp.einsum("k,kbi->bi", found.impulse, rows), jnp.zeros(0)
        return Struck(mobility.change(load), found, velocity, held)
    behind = one_by_one(mobility.answer, kept.rows)
    force = forces_against(kept, mobility_between(kept.rows, behind))

    def holding(
        moved: Float[Array, "bodies 6"], own: Float[Array, "lines"]
    ) -> tuple[Float[Array, "lines"], Float[Array, "bodies 6"]]:
        """Return impulses with which `moved`, of which lines have moved by `own` before, keeps what is closed, and what then
        comes of it."""
        impulses = force(jnp.einsum("kbi,bi->k", kept.rows, moved) - own)
        return impulses, moved + jnp.einsum("k,kbi->bi", impulses, behind)

    along = jnp.einsum("kbi,bi->k", kept.rows, moving)
    settled, before = holding(moving, kept.compliance * along)  # a mass goes on as it moves
    reacting, yielding = jax.lax.map(lambda one: holding(one, jnp.zeros_like(along)), answers)
    velocity = jnp.einsum("kbi,bi->k", rows, before)
    found = resolve(mobility_between(rows, yielding), velocity)
    held = settled + found.impulse @ reacting
    load = jnp.einsum("k,kbi->bi", found.impulse, rows) + jnp.einsum("k,kbi->bi", held, kept.rows)
    return Struck(mobility.change(load), found, velocity, held)


def delassus_matrix(
    bodies: Moving, here: Placement, rows: Rows, kept: Lines | None = None
) -> tuple[Float[Array, "rows rows"], Float[Array, "rows"]]:
    """Return W and the velocities before an impact along `rows`: what `strike_bodies` gives a law."""
    found: list[tuple[Array, Array]] = []

    def note(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
        found.append((matrix, velocity))
        return impact_of_impulse(matrix, velocity, jnp.zeros_like(velocity))

    strike_bodies(bodies, here, rows, note, kept)
    return found[0]
