"""How long a step may be: an estimate of its error, and the limit that keeps it below a tolerance.

Units: times s; errors dimensionless, relative to the motion.
Source: embedded pair and step control, Hairer, Nørsett and Wanner 1993, section II.4.
"""

from __future__ import annotations

from collections.abc import Callable

from dockdyn.deferred import Array, Bool, jax, jnp
from dockdyn.integrate.hybrid.mesh_point import MeshPoint, interpolate_state
from dockdyn.integrate.hybrid.runge_kutta import Flow, Step, looped_rk4, looped_tsit5
from dockdyn.integrate.model import Model, Scalar, State, pack_tree
from dockdyn.mechanics import cubic
from dockdyn.trees import leaves_of, map_leaves

BENT = 1e-3  # of a number of the signal
CHANGED = 0.1  # of it
KINKED = 0.05  # of it, in steps of fifth order: what smooth forces do not bend in steps of default tolerance
STRICT = (
    100.0  # times the error of a step in which the signal changes sharply: derivatives err by it over the step's length
)
STEEP = 2**0.5  # times as fast: a force that goes with the root of the time to its end is so half-way there
CORNER = 1e-9  # s per second of elapsed time (at least one): how long a step across a corner of the signal is
SHY = 1e-2  # of a step that ends before a corner: so far before it does, for the formula's stages err, and none may see beyond
ROUNDED = 1e-12  # m, or of a limit: what is not farther from a corner at a step's ends is taken to be there throughout
UNSEEN = 1e-6  # of a number that changes or bends by all of itself within a step: what its ends and middle may not show
FAINT = 1e-9  # of the largest number of the signal: less counts for nothing
UNRESOLVED = 1e-9  # s per second of elapsed time: what changes in shorter steps is rounding
SHORTEST = 1e-11  # s per second of elapsed time (at least one): steps are not shortened below this


def step_error(
    model: Model, tolerance: Scalar | float, point: MeshPoint, tried: MeshPoint, step: Scalar, taken: Step, flow: Flow
) -> Scalar:
    """Estimate of the error that a step makes, now and through its signal, relative to the motion.

    `flow(c, x)` is the rate at the fraction c of the step, which was `taken`, after which comes the mesh point `tried`.
    """

    def now() -> Scalar:
        return model.relative_size(tried.state, taken.missed)

    def later() -> Scalar:
        """Return what the cubic kept of the signal will do wrong one delay from now, from its error at the middle.

        Of a model that is driven by its signal that is four times the error of Simpson's rule, which the embedded formula
        does not see.

        The middle comes from the step's own formula where that tells it, else from a step of half the length: the cubic of
        the state itself would err as the signal's does. The rate there is not used; leaving it out would cost a second copy of
        the loop's program.
        """
        if taken.bend is None:
            x = take_step(model, lambda c, x: flow(c / 2, x), model.retract, point, step / 2).state
        else:
            x = interpolate_state(model, point, tried, step, 0.5, taken.bend)
        t = point.time + step / 2
        ends = point.outputs.signal, tried.outputs.signal, point.slopes.signal, tried.slopes.signal
        kept = map_leaves(lambda a, b, da, db: midpoint_value(a, b, da * step, db * step), *ends)
        both = map_leaves(lambda a, b: jnp.stack([a, b]), model.signal(t, x), kept)
        rates = jax.lax.map(lambda signal: model.flow(t, x, signal), both)
        # over the step the error goes with u² (1 − u)², whose mean is 8/15 of its middle
        missed = map_leaves(lambda rate: 8 / 15 * step * (rate[0] - rate[1]), rates)
        return model.relative_size(tried.state, missed)

    def both() -> Scalar:
        if not leaves_of(point.outputs.signal):
            return now()
        seen = step > UNRESOLVED * jnp.maximum(1.0, point.time)
        asks, sharp = model.emitting(point.state), seen & changes_sharply(model, point, tried, step)
        if model.delay is None and not model.driven:
            asks = asks & sharp
        return jnp.maximum(now(), jax.lax.cond(asks, later, lambda: jnp.zeros(())) * jnp.where(sharp, STRICT, 1.0))

    return jax.lax.cond(jnp.isfinite(tolerance), both, lambda: jnp.zeros(()))


def order_of(model: Model) -> int:
    """Return the order of the steps of a model: four where a delay, whose cubics are no better, or its signal drives it."""
    return 5 if model.delay is None and not model.driven else 4


def take_step(model: Model, flow: Flow, retract: Callable[[State], State], point: MeshPoint, step: Scalar) -> Step:
    """Return where a step from `point` leads; `flow(c, x)` is the rate at the fraction c of it."""
    method = looped_tsit5 if order_of(model) > 4 else looped_rk4
    return method(flow, retract, point.state, step, point.rate)


def midpoint_value(a: cubic.Values, b: cubic.Values, da: cubic.Values, db: cubic.Values) -> cubic.Values:
    """Return the middle of the cubic with values `a` and `b` and slopes (per step) `da` and `db`, off by what it may not show.

    From its onset on a depth d and its square lie on the cubic; their derivatives by the exponent, d ln d and d² ln d, do not.
    For the sake of derivatives steps are held short where a number changes much of its size, however smoothly.
    """
    changed = (b - a) ** 2 + (db - da) ** 2
    size = jnp.abs(a) + jnp.abs(b) + jnp.abs(da) + jnp.abs(db)
    return cubic.cubic_value(0.5, a, b, da, db) + UNSEEN * changed / jnp.maximum(size, 1e-300)


def changes_sharply(model: Model, point: MeshPoint, tried: MeshPoint, step: Scalar) -> Bool[Array, ""]:
    """Return whether a number of the signal bends within a step by over `BENT` of its own size, or changes by over `CHANGED`;
    in steps of fifth order, which are longer, by over `KINKED`.

    So does a force that grows with a power of the depth, near zero depth: where the power is no integer, Runge and Kutta's
    stages miss what it does between them, and the embedded formula, which shares them, does not see it; that of fifth order
    sees some of it, but nothing of what is decided as steps end.
    """
    a, b, da, db = (
        pack_tree(signal)
        for signal in (point.outputs.signal, tried.outputs.signal, point.slopes.signal, tried.slopes.signal)
    )
    size = jnp.abs(a) + jnp.abs(b)
    floor = FAINT * jnp.max(size, initial=0.0)
    bends, changes = step * jnp.abs(db - da), jnp.abs(b - a)
    if order_of(model) > 4 and not model.asks_for_steps:
        return jnp.any(bends > KINKED * size + floor)
    return jnp.any((bends > BENT * size + floor) | (changes > CHANGED * size + floor))


def steepens(point: MeshPoint, tried: MeshPoint, step: Scalar) -> Bool[Array, ""]:
    """Return whether a number of the signal changes over `STEEP` times as fast at the end of a step (s) as where it begins."""
    size, before, after = (
        jnp.abs(pack_tree(jax.lax.stop_gradient(signal)))
        for signal in (tried.outputs.signal, point.slopes.signal, tried.slopes.signal)
    )
    return jnp.any(step * after > STEEP * step * before + FAINT * jnp.max(size, initial=0.0))


def step_beside_corner(point: MeshPoint, tried: MeshPoint, step: Scalar) -> Scalar:
    """Return the length (s) of the step to try instead, so that none but a very short one, of `CORNER`, goes across the first
    corner of the signal or of rates between `point` and `tried`; infinite where none is there, or it is so short.

    Values bear a step across a corner. Their derivatives jump there, and err by the jump over the length of the step; so do
    those of a step before it of which one stage lies beyond. What is nearer is gone in steps that are ever shorter.
    """
    length, short = jax.lax.stop_gradient(step), _corner_width(point)
    a, b, da, db = (
        jax.lax.stop_gradient(jnp.stack(values))
        for values in (point.outputs.corners, tried.outputs.corners, point.slopes.corners, tried.slopes.corners)
    )
    sign = jnp.where(a < 0, 1.0, -1.0)
    crosses, u = cubic.rising_root(sign * a, sign * b, sign * da * length, sign * db * length)
    before = u * length - jnp.maximum(short / 2, SHY * u * length)
    flat = (jnp.abs(a) <= ROUNDED) & (jnp.abs(da) * length <= ROUNDED)  # at a corner: that it leaves another one says
    asked = crosses & (length > 1.5 * short) & (jnp.maximum(jnp.abs(a), jnp.abs(b)) > ROUNDED) & ~flat
    return jnp.min(jnp.where(asked, jnp.where(before > short / 4, before, u * length + short / 2), jnp.inf))


def is_beside_corner(point: MeshPoint) -> Bool[Array, ""]:
    """Return whether a step across a corner of the signal begins or ends at a mesh point."""
    away, speed = (jnp.abs(jnp.stack(values)) for values in (point.outputs.corners, point.slopes.corners))
    return jnp.any(away <= _corner_width(point) * speed)


def _corner_width(point: MeshPoint) -> Scalar:
    return CORNER * jnp.maximum(1.0, jax.lax.stop_gradient(point.time))


def longest_step(
    model: Model, tolerance: Scalar | float, step: Scalar | float, point: MeshPoint, quiet: Bool[Array, ""]
) -> Scalar:
    """Return the longest step (s) from `point`: `step`, or longer where the tolerance chooses it, no delayed signal is left
    (`quiet`) and the model promises that nothing begins."""
    coasting = model.coasting(point.state, point.outputs)
    if coasting is None:
        return jnp.asarray(step)
    return jnp.where(quiet & (tolerance < 1), jnp.maximum(step, jax.lax.stop_gradient(coasting)), step)


def time_foreseen(model: Model, tolerance: Scalar | float, point: MeshPoint, quiet: Bool[Array, ""]) -> Scalar | None:
    """Return the time (s) from `point` for which parts of the motion are known, zero where they are not or no tolerance
    chooses steps; None of a model without such parts."""
    ahead = model.time_foreseen(point.state, point.outputs, quiet & (tolerance < 1))
    return None if ahead is None else jax.lax.stop_gradient(ahead)


GROWTH = 4.0  # a step says nothing of steps longer than this many times its own length


def control_step(
    tolerance: Scalar | float,
    longest: Scalar,
    step_limit: Scalar,
    step: Scalar,
    error: Scalar,
    judged: Bool[Array, ""],
    time: Scalar,
    order: int,
    rejected: Bool[Array, ""],
) -> tuple[Bool[Array, ""], Scalar, Scalar]:
    """Return whether a step with relative `error` is too coarse, the limit of the next steps (s), and the length
    (s) that the step shows to be fine enough.

    A step that is `judged` already (zero length, or the repetition that lands on an event) changes nothing. Estimates go with
    the `order` of the step. One of order five, after one that was `rejected` for its error, is followed by none that is longer:
    what bounds them, stiffness or a signal that changes sharply, would have it rejected again.

    Where steps end does not change with the numbers of the model, but at events and their delayed images: a rule that makes
    each step from the one before would make their derivatives grow without bound, and with them rounding.
    """
    step = jax.lax.stop_gradient(step)
    controlled = jnp.isfinite(tolerance)
    fit = jnp.where(jnp.isnan(error), 0.0, 0.9 * (tolerance / jnp.maximum(error, 1e-300)) ** (1 / order))
    if order > 4:
        fit = jnp.where(rejected, jnp.minimum(fit, 1.0), fit)
    shortest = SHORTEST * jnp.maximum(1.0, time)
    fine = jnp.maximum(step * jnp.clip(fit, 0.1, GROWTH), jnp.minimum(step, shortest))
    fine = jnp.minimum(longest, jnp.where(controlled, fine, longest))
    coarse = controlled & ~judged & ~(error <= tolerance) & (step > shortest)
    adapted = jnp.where(fit < GROWTH, fine, jnp.maximum(step_limit, fine))
    return coarse, jnp.where(judged, step_limit, adapted), fine
