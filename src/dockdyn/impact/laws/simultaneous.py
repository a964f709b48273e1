"""Several contacts struck at once, as one complementarity problem in two phases.

Compression stops every contact: 0 ≤ Λ_n ⟂ u_n ≥ 0, with friction |Λ_t| ≤ μ Λ_n against the sliding that is left.
Expansion gives back at least e times each contact's impulse of compression: 0 ≤ Λ_n − e Λ_nᶜ ⟂ u_n ≥ 0, with friction in
the same way. (Poisson's law in the form of Glocker and Pfeiffer 1995, Nonlinear Dyn. 7:471, without elastic friction.)

With one e for all contacts no energy is created. The first phase leaves Q = ΛᶜWΛᶜ and D = −u·Λ ≥ 0, after which the
impulse e Λᶜ would bring the energy to T − (1 + e) D − ½ (1 − e²) Q. The second phase ends no higher: energy is a convex
function of the impulse, its slope there is u⁺, and u⁺·(e Λᶜ − Λ) ≥ 0 by the conditions above. With several e the proof
fails, and energy may be created.

One contact without friction is `frictionless`; one that sticks in compression is the plastic pin at e = 0. It is no path:
where sliding stops or turns, one contact comes out otherwise than in `routh`.

Units: velocities m/s, impulses N s, W in 1/kg.
Source: as named above.
"""

from __future__ import annotations

from functools import partial

from dockdyn.deferred import Array, Float, jax, jit_when_called, jnp
from dockdyn.impact.laws.result import ROUNDING, Impact, safe_root

SWEEPS = 400  # of projected Gauss–Seidel
RAMP = 20  # steps in which friction grows
POLISH = 25  # steps of Newton's method
HALVINGS = 6  # of a Newton step that does not help
TOLERANCE = 1e-10


def _onto_cone(
    wish: Float[Array, "contacts axes"], least: Float[Array, "contacts"], friction: Float[Array, "contacts"]
) -> Float[Array, "contacts axes"]:
    """Return impulses with Λ_n ≥ `least`, and friction no larger than μ Λ_n."""
    normal = jnp.maximum(wish[:, 0], least)
    across = wish[:, 1:]
    bound = friction * normal
    square = jnp.sum(across**2, axis=1)
    over = square > bound**2
    scale = jnp.where(over, bound / jnp.sqrt(jnp.where(over, square, 1.0)), 1.0)
    return jnp.concatenate([normal[:, None], across * scale[:, None]], axis=1)


def _complementary_impulses(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    least: Float[Array, "contacts"],
    friction: Float[Array, "contacts"],
) -> Float[Array, "contacts axes"]:
    """Return impulses with 0 ≤ Λ_n − least ⟂ u_n⁺ ≥ 0 and Coulomb friction against u_t⁺; NaN if none is found.

    Both conditions together say that Λ = onto_cone(Λ − ρ u⁺). Newton's method solves this from three starts: what
    Gauss–Seidel reaches, a friction that grows from zero, and full stick. With much friction there may be several
    solutions; the first found counts.
    """
    contacts = least.shape[0]
    axes = velocity.shape[0] // contacts
    blocks = jnp.stack([matrix[i * axes : (i + 1) * axes, i * axes : (i + 1) * axes] for i in range(contacts)])
    across = jnp.maximum(jnp.trace(blocks[:, 1:, 1:], axis1=1, axis2=2), 1e-300)  # there may be no tangents
    pace = jnp.concatenate([1 / blocks[:, :1, 0], jnp.ones((contacts, axes - 1)) / across[:, None]], axis=1)

    def project_onto_cone(
        flat: Float[Array, "rows"], friction: Float[Array, "contacts"]
    ) -> Float[Array, "contacts axes"]:
        after = (velocity + matrix @ flat).reshape(contacts, axes)
        return _onto_cone(flat.reshape(contacts, axes) - pace * after, least, friction)

    def residual(flat: Float[Array, "rows"], friction: Float[Array, "contacts"]) -> Float[Array, "rows"]:
        return flat - project_onto_cone(flat, friction).reshape(-1)

    def sweep(_: int, flat: Float[Array, "rows"]) -> Float[Array, "rows"]:
        for i in range(contacts):
            rows = slice(i * axes, (i + 1) * axes)
            flat = flat.at[rows].set(project_onto_cone(flat, friction)[i])
        return flat

    def newton(flat: Float[Array, "rows"], friction: Float[Array, "contacts"]) -> Float[Array, "rows"]:
        now = residual(flat, friction)
        change = jnp.linalg.solve(jax.jacfwd(residual)(flat, friction), now)
        tries = flat - change * 0.5 ** jnp.arange(HALVINGS)[:, None]
        sizes = jnp.sum(jax.vmap(lambda one: residual(one, friction))(tries) ** 2, axis=1)
        sizes = jnp.where(jnp.isfinite(sizes), sizes, jnp.inf)
        best = jnp.argmin(sizes)
        return jnp.where(sizes[best] < jnp.sum(now**2), tries[best], flat)

    def grow(index: int, flat: Float[Array, "rows"]) -> Float[Array, "rows"]:
        share = friction * index / RAMP
        return newton(newton(flat, share), share)

    none = _onto_cone(jnp.zeros((contacts, axes)), least, friction).reshape(-1)
    held = -jnp.linalg.solve(matrix, velocity).reshape(contacts, axes)
    starts = (
        jax.lax.fori_loop(0, SWEEPS, sweep, none),
        jax.lax.fori_loop(0, RAMP, grow, none),
        _onto_cone(held, least, friction).reshape(-1),
    )
    polish = jax.vmap(lambda flat: newton(flat, friction))
    found = jax.lax.fori_loop(0, POLISH, lambda _, many: polish(many), jnp.stack(starts))
    misses = jnp.abs(jax.vmap(lambda flat: residual(flat, friction))(found)).max(axis=1)
    good = misses <= TOLERANCE * (jnp.abs(found).max(axis=1) + jnp.abs(pace * velocity.reshape(contacts, axes)).max())
    return jnp.where(jnp.any(good), found[jnp.argmax(good)], jnp.nan).reshape(contacts, axes)


@partial(jit_when_called, static=("contacts",))
def simultaneous_impact(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    contacts: int,
    restitution: Float[Array, " contacts"],
    friction: Float[Array, " contacts"],
) -> Impact:
    """Return impact of `contacts` contacts whose rows follow one another, each its normal and as many tangents.

    Restitution and friction are numbers, or one for each contact. In the result, stick, reversal, jam and the three
    coefficients have one entry for each contact (NaN where it has none; the energetic one counts each phase as
    straight). Reversal: some sliding velocity component changed its sign. No contact may part beforehand.
    """
    restitution = jnp.broadcast_to(jnp.asarray(restitution, float), (contacts,))
    friction = jnp.broadcast_to(jnp.asarray(friction, float), (contacts,))
    compression = _complementary_impulses(matrix, velocity, jnp.zeros(contacts), friction)
    halfway = velocity + matrix @ compression.reshape(-1)
    expansion = _complementary_impulses(matrix, halfway, restitution * compression[:, 0], friction)

    impulse = (compression + expansion).reshape(-1)
    after = velocity + matrix @ impulse
    loss = -0.5 * (velocity + after) @ impulse
    moved = jnp.abs(velocity * impulse).sum() + jnp.abs(after * impulse).sum()
    before, end = velocity.reshape(contacts, -1), after.reshape(contacts, -1)
    newton = _quotient_or_nan(-end[:, 0], before[:, 0])
    poisson = _quotient_or_nan(expansion[:, 0], compression[:, 0])
    return Impact(
        impulse=impulse,
        velocity=after,
        energy_loss=loss,
        energy_created=loss < -ROUNDING * moved,
        stick=jnp.all(jnp.abs(end[:, 1:]) <= 1e-9 * jnp.abs(velocity).max(), axis=1),
        reversal=jnp.sum(before[:, 1:] * end[:, 1:], axis=1) < -1e-12 * jnp.sum(before[:, 1:] ** 2, axis=1),
        jam=jnp.zeros(contacts, bool),
        newton=newton,
        poisson=poisson,
        energetic=safe_root(newton * poisson),
    )


def _quotient_or_nan(above: Float[Array, "contacts"], below: Float[Array, "contacts"]) -> Float[Array, "contacts"]:
    """Return `above` over `below`, NaN where that is zero."""
    return jnp.where(below == 0, jnp.nan, above / jnp.where(below == 0, 1.0, below))
