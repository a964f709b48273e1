"""Cubic Hermite polynomials on the unit interval: values, extremes, and where they rise through zero.

Arguments everywhere: values `a`, `b` at the ends, slopes `da`, `db` with respect to the unit coordinate.

Units: those of the caller; the coordinate of the interval is dimensionless.
Source: Hermite interpolation, any textbook of numerical analysis.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.mechanics.vector import once
from dockdyn.programs import trace_once

type Values = Float[Array, "..."]


@trace_once
def cubic_value(u: Values | float, a: Values, b: Values, da: Values, db: Values) -> Values:
    """Return the cubic at u."""
    return a + u * (da + u * (3 * (b - a) - 2 * da - db + u * (2 * (a - b) + da + db)))


def bent_value(u: Values | float, a: Values, b: Values, da: Values, db: Values, bend: Values) -> Values:
    """Return the polynomial of fourth degree at u with these ends, whose middle lies `bend` above that of the cubic."""
    return cubic_value(u, a, b, da, db) + 16 * (u * (1 - u)) ** 2 * bend


BENT_INTEGRAL = 8 / 15  # over the unit interval, of what a bend adds to a cubic


@trace_once
def cubic_integral(a: Values, b: Values, da: Values, db: Values) -> Values:
    """Return integral over the unit interval."""
    return (a + b) / 2 + (da - db) / 12


@trace_once
def cubic_extremes(a: Values, b: Values, da: Values, db: Values) -> tuple[Values, Values]:
    """Return coordinates of the cubic's local minimum and maximum; −1 where there is none."""
    second, third = 3 * (b - a) - 2 * da - db, 2 * (a - b) + da + db
    discriminant = second**2 - 3 * third * da
    exists = discriminant > 0
    root = jnp.sqrt(jnp.where(exists, discriminant, 1.0))

    def ratio(numerator, denominator):
        valid = exists & (denominator != 0)
        return jnp.where(valid, numerator / jnp.where(valid, denominator, 1.0), -1.0)

    # of the two ways to write each root of the derivative, the one without cancellation
    falling = second < 0
    low = jnp.where(falling, ratio(root - second, 3 * third), ratio(da, -second - root))
    high = jnp.where(falling, ratio(da, root - second), ratio(-second - root, 3 * third))
    return low, high


def tip_above(a: Values, b: Values, da: Values, db: Values) -> Values:
    """Return at which u what is below zero at both ends is above it if, as steep throughout as at its steeper end, it rises and
    falls back; infinity where it is not, or where no end tells that it does.

    A distance to a thin part that has been passed is so: neither its ends nor the cubic show it. It tells by slopes that turn,
    or, where the next part is near already, by a change that is far from what the slopes make.
    """
    steepest = jnp.maximum(jnp.abs(da), jnp.abs(db))
    turns = ((da > 0) & (db < 0)) | ((da * db > 0) & (jnp.abs(b - a) < steepest / 2))
    above = (a <= 0) & (b <= 0) & turns & (a + b + steepest > 0)
    return jnp.where(above, (1 + (b - a) / jnp.where(above, steepest, 1.0)) / 2, jnp.inf)


def rising_root(a: Values, b: Values, da: Values, db: Values) -> tuple[Bool[Array, "..."], Values]:
    """Return whether, and at which u, each cubic first rises above zero; u = 0 when it starts above and stays there.

    A cubic that starts above zero and falls through it (an event function just after its event) does not count. One
    that rises and falls again inside the interval (a grazing contact) does.
    """
    low, high = once(cubic_extremes(a, b, da, db))
    peak_inside = (high > 0) & (high < 1) & (cubic_value(high, a, b, da, db) > 0)
    fires = (b > 0) | peak_inside
    upper = jnp.where(b > 0, 1.0, high)
    dips = (low > 0) & (low < upper) & (cubic_value(low, a, b, da, db) <= 0)
    lower = jnp.where(dips, low, 0.0)
    at_once = ~dips & (a > 0)

    def unfinished(carry):
        count, _, _ = carry
        return (count < 56) & jnp.any(fires & ~at_once)

    def halve(carry):
        count, lower, upper = carry
        middle = (lower + upper) / 2
        above = cubic_value(middle, a, b, da, db) > 0
        return count + 1, jnp.where(above, lower, middle), jnp.where(above, middle, upper)

    _, lower, upper = jax.lax.while_loop(unfinished, halve, (jnp.zeros((), int), lower, upper))
    return fires, jnp.where(at_once, 0.0, upper)


def monotone_slopes(places: Float[Array, "n"], values: Float[Array, "n"]) -> Float[Array, "n"]:
    """Return slopes with which cubics through values are monotone where these are: between two pieces their weighted harmonic
    mean, zero where they do not rise or fall alike; at the ends those of the last pieces.

    Source: Fritsch and Butland 1984, SIAM J. Sci. Stat. Comput. 5:300.
    """
    widths = jnp.diff(places)
    rises = jnp.diff(values) / widths
    before, after = rises[:-1], rises[1:]
    alike = before * after > 0
    first, second = widths[1:] * 2 + widths[:-1], widths[1:] + widths[:-1] * 2
    inverse = first / jnp.where(alike, before, 1.0) + second / jnp.where(alike, after, 1.0)
    within = jnp.where(alike, (first + second) / inverse, 0.0)
    return jnp.concatenate([rises[:1], within, rises[-1:]])
