"""Two bodies that meet head on: what a law does between them, and the dashpot by which they part as is stated.

Units: masses kg, depth m, speeds m/s, damping N s/m; restitution and damping ratio dimensionless.
Source: relative motion of two bodies, μ d̈ = −F(d, ḋ); ζ = b/(2 √(k μ)).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from dockdyn.contact.laws.normal_law import NormalLaw
from dockdyn.contact.laws.relative_damping import DampedByRatio, DampedByRestitution, RelativeLaw
from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.integrate.hybrid.runge_kutta import looped_rk4
from dockdyn.integrate.model import Rate, State, choose_tree, pack_tree, unpack_tree
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import map_leaves

ERROR = 1e-11  # of a step, relative to the speed of the impact and to the depth reached
FIRST_STEP = 1e-9  # s
MOST_STEPS = 50_000
SLACK_STEPS = 50  # at least, while bodies part without a force, which may return
MET = 1e-11  # of the restitution
MOST_TRIES = 100  # dampings


def law_between(law: NormalLaw, mass: Scalar) -> NormalLaw:
    """Return a law as it acts between bodies of an effective `mass` (kg): itself, unless its damping was stated by that."""
    if isinstance(law, DampedByRatio):
        return law.between(mass)
    if isinstance(law, DampedByRestitution):
        return replace(law.law, damping=_damping_of(law, mass))
    return law


class Rebound(NamedTuple):
    """How two bodies part."""

    restitution: Scalar  # speed of parting over that of the impact
    depth: Scalar  # m, the greatest


class Damped(NamedTuple):
    """What comes of a damping that is stated relative to the bodies that meet."""

    mass: Scalar  # kg, effective
    damping: Scalar  # N s/m
    missing: Scalar  # of the restitution that is stated: what the law has not even without a damper


def damping_between(law: RelativeLaw, mass: Scalar) -> Damped:
    """Return the damping of a law between bodies of an effective `mass` (kg)."""
    missing = jnp.zeros(())
    if isinstance(law, DampedByRestitution):
        missing = law.restitution - rebound_head_on(law.law, mass, law.speed).restitution
    found: Any = law_between(law, mass)
    return Damped(mass, found.damping, missing)


class _Touch(NamedTuple):
    """Two bodies while they touch, and how the integration goes on."""

    x: State  # depth and rate; its mode is 1 where the force acts, 0 where it would pull
    deepest: Scalar  # m, so far
    strongest: Scalar  # N, so far
    step: Scalar  # s, to be tried
    over: Bool[Array, ""]
    steps: Int[Array, ""]


class _Bracket(NamedTuple):
    """Two dampings (N s/m), the restitution of the one above and of the other below what is sought, or half of it."""

    old: Scalar
    old_excess: Scalar
    new: Scalar
    new_excess: Scalar
    steps: Int[Array, ""]


def rebound_head_on(law: NormalLaw, mass: Scalar, speed: Scalar) -> Rebound:
    """Return how bodies of an effective `mass` (kg) part that meet head on at a `speed` (m/s).

    A law that would pull is cut off at zero, unless it adheres, as in a run.
    """

    speed = jnp.asarray(speed, float)

    def flow(_: Scalar | float, x: State) -> Rate:
        return Rate(x.v, -x.mode * law.force(x.q, x.v) / mass, ())

    def advance(now: _Touch) -> _Touch:
        tried = looped_rk4(flow, lambda x: x, now.x, now.step, flow(0.0, now.x))
        wrong = tried.missed
        reached = jnp.maximum(now.deepest, now.step * speed)
        error = jnp.maximum(jnp.abs(wrong.q) / reached, jnp.abs(wrong.v) / speed)
        depth, force = tried.state.q, law.force(tried.state.q, tried.state.v)
        before, smallest = law.force(now.x.q, now.x.v), ERROR * now.strongest
        # where the depth, or the force of a law that does not adhere, changes its sign a step has to end
        out = depth < -ERROR * now.deepest
        changes = ~out & (before * force < 0) & (jnp.abs(force) > smallest) & (tried.state.v < 0)
        changes &= not law.adheres()
        to_end = jnp.where(
            out, now.x.q / jnp.where(out, now.x.q - depth, 1.0), before / jnp.where(changes, before - force, 1.0)
        )
        wished = jnp.clip(0.9 * (ERROR / jnp.maximum(error, 1e-300)) ** 0.25, 0.2, 3.0)
        factor = jnp.where((out | changes) & (error <= ERROR), jnp.maximum(to_end, 1e-3), wished)
        good = (error <= ERROR) & ~out & ~changes
        parts = (tried.state.v < 0) & (force <= smallest) & (not law.adheres())
        step = jnp.where(parts, jnp.minimum(now.step * factor, now.deepest / SLACK_STEPS / speed), now.step * factor)
        return _Touch(
            x=choose_tree(good, replace(tried.state, mode=jnp.where(parts, 0.0, 1.0)), now.x),
            deepest=jnp.where(good, jnp.maximum(now.deepest, depth), now.deepest),
            strongest=jnp.where(good, jnp.maximum(now.strongest, force), now.strongest),
            step=jax.lax.stop_gradient(step),
            over=good & (tried.state.v < 0) & (depth <= ERROR * now.deepest),
            steps=now.steps + 1,
        )

    def goes_on(now: _Touch) -> Bool[Array, ""]:
        return ~now.over & (now.steps < MOST_STEPS)

    zero, one = jnp.zeros(()), jnp.ones(())
    start = _Touch(
        State(zero, speed, one, ()), zero, zero, jnp.asarray(FIRST_STEP), jnp.asarray(False), jnp.zeros((), int)
    )
    end = jax.lax.while_loop(goes_on, advance, start)
    # at zero depth itself, also as numbers of the law move
    turning = jax.lax.stop_gradient(flow(1.0, end.x).v / end.x.v)
    return Rebound(-(end.x.v - turning * end.x.q) / speed, end.deepest)


def _damping_of(stated: DampedByRestitution, mass: Scalar) -> Scalar:
    """Return the damping (N s/m) with which a law has its restitution; zero where even without any it has less."""
    given = map_leaves(jnp.asarray, (stated, mass))
    numbers = pack_tree(given)

    def excess(damping: Scalar, numbers: Float[Array, "n"]) -> Scalar:
        """Return by how much the restitution is above what is stated."""
        law, mass = unpack_tree(numbers, given)
        return rebound_head_on(replace(law.law, damping=damping), mass, law.speed).restitution - law.restitution

    @jax.custom_jvp
    def solve(numbers: Float[Array, "n"]) -> Scalar:
        law, mass = unpack_tree(numbers, given)
        free = rebound_head_on(replace(law.law, damping=jnp.zeros(())), mass, law.speed)
        first = mass * law.speed / free.depth  # N s/m, of which the dashpot alone stops the bodies so deep

        def double(now: tuple[Scalar, Array]) -> tuple[Scalar, Array]:
            return 2 * now[0], now[1] + 1

        high, doublings = jax.lax.while_loop(
            lambda now: (excess(now[0], numbers) > 0) & (now[1] < MOST_TRIES), double, (first, jnp.zeros((), int))
        )

        def draw_nearer(now: _Bracket) -> _Bracket:
            """Return the bracket after a step of the Illinois method."""
            middle = now.new - now.new_excess * (now.new - now.old) / (now.new_excess - now.old_excess)
            found = excess(middle, numbers)
            across = found * now.new_excess < 0
            return _Bracket(
                old=jnp.where(across, now.new, now.old),
                old_excess=jnp.where(across, now.new_excess, now.old_excess / 2),
                new=middle,
                new_excess=found,
                steps=now.steps + 1,
            )

        bracket = _Bracket(jnp.zeros(()), free.restitution - law.restitution, high, excess(high, numbers), doublings)
        found = jax.lax.while_loop(
            lambda now: (jnp.abs(now.new_excess) > MET) & (now.steps < MOST_TRIES), draw_nearer, bracket
        )
        return jnp.where(free.restitution <= law.restitution, 0.0, found.new)

    @solve.defjvp
    def slopes(at: tuple[Array], moved: tuple[Array]) -> tuple[Array, Array]:
        """Return the damping and how it moves: the restitution of what moves stays what is stated."""
        damping = solve(at[0])
        by_damping = jax.jacfwd(excess)(damping, at[0])
        by_number = jax.jacfwd(excess, argnums=1)(damping, at[0])
        damped = damping > 0
        return damping, jnp.where(damped, -(by_number @ moved[0]) / jnp.where(damped, by_damping, 1.0), 0.0)

    return solve(numbers)
