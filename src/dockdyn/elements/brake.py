"""A brake in series with a spring: it holds up to a force and slides at that force, dry friction without a rise.

Units: forces N, lengths m, powers W.
Source: the elasto-plastic (Jenkin) element, Iwan 1966, J. Appl. Mech. 33:893; its modes are own construction.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Bool, Float, Int, jnp
from dockdyn.mechanics.vector import Scalar
from dockdyn.trees import Module

HOLDS, SLIDES_OUT, SLIDES_IN = 0, 1, -1  # modes: the force is the spring's; it is the limit, pulling or pushing
RETURNS_IN, RETURNS_OUT = 2, -2  # holds since sliding out (or in) ended, and the spring gives way ever since


class Brake(Module):
    """What limits the force of a spring of stiffness k and stretch u, which it shares: k (u − slide).

    Where sliding ends, the force is the limit and its rate zero: it would be rounding that says whether it begins again. So
    a brake that returns cannot slide the same way before the stretch has turned.
    """

    limit: Float[Array, ""]  # N, above 0

    def slide(self, mode: Int[Array, ""], slide: Scalar, stiffness: Scalar, stretch: Scalar) -> Scalar:
        """Return the slide (m) in force: the one remembered while it holds, else the one that the limit leaves."""
        return jnp.where(self.sliding(mode), stretch - mode * (self.limit / stiffness), slide)

    def sliding(self, mode: Int[Array, ""]) -> Bool[Array, ""]:
        """Return whether it slides."""
        return jnp.abs(mode) == SLIDES_OUT

    def rate(self, mode: Int[Array, ""], rate: Scalar) -> Scalar:
        """Return the rate (m/s) of the slide at a `rate` of the stretch."""
        return jnp.where(self.sliding(mode), rate, 0.0)

    def power(self, mode: Int[Array, ""], rate: Scalar) -> Scalar:
        """Return the power (W) that it takes at a `rate` (m/s) of the stretch."""
        return self.limit * mode * self.rate(mode, rate)

    def guards(self, mode: Int[Array, ""], force: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
        """Return two event functions that rise through zero, of the `force` (N) of the spring and the stretch's `rate` (m/s).

        A limit is reached, sliding that way ends, or what returns from there has turned.
        """
        out = jnp.where(mode == SLIDES_OUT, -rate, jnp.where(mode == RETURNS_IN, rate, force - self.limit))
        into = jnp.where(mode == SLIDES_IN, rate, jnp.where(mode == RETURNS_OUT, -rate, -force - self.limit))
        return jnp.where(mode == SLIDES_IN, -1.0, out), jnp.where(mode == SLIDES_OUT, -1.0, into)

    def next_mode(
        self, mode: Int[Array, ""], fired: tuple[Bool[Array, ""], Bool[Array, ""]], rate: Scalar
    ) -> Int[Array, ""]:
        """Return the mode after the guards in `fired` have fired, at a `rate` (m/s) of the stretch."""
        for sign, at_limit in zip((1, -1), fired, strict=True):
            slides, returns = sign * SLIDES_OUT, sign * RETURNS_IN
            reached = jnp.where(sign * rate > 0, slides, returns)  # one that it only grazes lets nothing slide
            after = jnp.where(mode == slides, returns, jnp.where(mode == returns, HOLDS, reached))
            mode = jnp.where(at_limit, after, mode)
        return mode

    def settle(self, slide: Scalar, stiffness: Scalar, stretch: Scalar, rate: Scalar) -> tuple[Int[Array, ""], Scalar]:
        """Return the mode that fits a state, and the slide (m), moved until the force is within the limit."""
        force = stiffness * (stretch - slide)
        side = jnp.where(jnp.abs(force) < self.limit, 0, jnp.sign(force)).astype(int)
        mode = jnp.where(side * rate > 0, side * SLIDES_OUT, side * RETURNS_IN)
        return mode, jnp.where(side != 0, stretch - side * (self.limit / stiffness), slide)
